"""A new project from a template of `templates/`, as `pulumi new` makes one: for `gpufleet init`.

Templates: pulumi.com/docs/iac/guides/building-extending/creating-templates. Pulumi replaces `${PROJECT}` and
`${DESCRIPTION}` in every file of one, and leaves out its key `template`.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from gpufleet.config.new_environment import render_environment
from gpufleet.config.schema import FILE
from gpufleet.errors import UserError
from gpufleet.report.configuration_files import configuration_folder, main_folder, project_of
from gpufleet.repository import is_checkout, repository, shipped

ENVIRONMENT = "Pulumi.dev.yaml"
"""The environment of a template: that of `gpufleet init` with its defaults. `pulumi new` calls its first stack dev."""
PROGRAM = "gpufleet.config.program"
"""What our programs import."""


def program_folder(folder: Path) -> Path | None:
    """The gpufleet project that a folder lies in, None where there is no project. Errors: UserError for another's."""
    project = project_of(folder)
    if project is None:
        return None
    program = main_folder(project) / "__main__.py"
    if not program.is_file() or PROGRAM not in program.read_text(encoding="utf-8", errors="replace"):
        raise UserError(
            f"{project / 'Pulumi.yaml'}: its program is not an environment of gpufleet; give an empty folder with "
            "--program DIR"
        )
    return project


def project_files(cloud: str, folder: Path, project: str) -> Iterator[tuple[Path, str]]:
    """Each file of a new project but its environment, with its text. A Git repository's .gitignore stays as it is."""
    template = shipped("templates") / f"{cloud}-gpufleet"
    own, _, of_template = (template / "Pulumi.yaml").read_text(encoding="utf-8").partition("template:\n")
    about = re.findall(r"^  description: (.*)$", of_template, re.MULTILINE)[0]
    for file in sorted(template.iterdir()):
        kept = file.name == ".gitignore" and (folder / file.name).exists()
        if file.name == ENVIRONMENT or kept or not file.is_file():
            continue
        text = own if file.name == "Pulumi.yaml" else file.read_text(encoding="utf-8")
        if file.name == "requirements.txt":
            text = requirements(text, folder)
        yield folder / file.name, text.replace("${PROJECT}", project).replace("${DESCRIPTION}", about)


def requirements(text: str, folder: Path) -> str:
    """A template's requirements with the place that this gpufleet is from, where that is known."""
    place = repository()
    if is_checkout():
        checkout = Path(os.path.relpath(shipped("."), folder.resolve())).as_posix()
        return re.sub(r"^gpufleet(\[.*\]) @ .*$", rf"{checkout}\1", text, flags=re.MULTILINE)
    return text.replace("https://YOUR-HOST/gpufleet", place) if place else text


def environment_file(folder: Path, name: str) -> Path:
    """The file of a new environment. folder: the project's, or where it will be. Errors: UserError if it is there."""
    file = folder / (configuration_folder(folder) if (folder / "Pulumi.yaml").is_file() else "") / f"Pulumi.{name}.yaml"
    _check_new(file)
    return file


def environment_files(folder: Path, file: Path, config: Mapping[str, object]) -> dict[Path, str]:
    """The environment's file, and beside Pulumi.yaml the schema that it names. folder: the project's."""
    shipped_schema = Path(__file__).with_name(FILE)
    schema = folder / FILE
    files = {} if schema.exists() else {schema: shipped_schema.read_text(encoding="utf-8")}
    if is_checkout() and shipped_schema.is_relative_to(folder.resolve()):
        schema, files = shipped_schema, {}
    relative = Path(os.path.relpath(schema.resolve(), file.parent.resolve())).as_posix()
    return {**files, file: render_environment(config, relative)}


def write_files(files: Mapping[Path, str]) -> None:
    """Write new files; nothing that is there is touched. Errors: UserError, before anything is written."""
    for file in files:
        _check_new(file)
    for file, text in files.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("x", encoding="utf-8") as opened:
                opened.write(text)
        except OSError as error:
            raise UserError(f"{file}: cannot be written: {error.strerror}; choose another folder") from error


def _check_new(file: Path) -> None:
    if file.exists() or file.is_symlink():
        raise UserError(f"{file}: is there already; remove it, or choose another name or folder")
