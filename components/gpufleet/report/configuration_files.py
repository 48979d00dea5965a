"""The configuration files of stacks; code scanning shows findings there."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from gpufleet.documents.content import DocumentError
from gpufleet.documents.yaml import read_yaml
from gpufleet.errors import UserError


def configuration_files(program: Path, stacks: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Name of a report's stack -> its Pulumi.<stack>.yaml, relative to the current directory, with slashes.

    program: the Pulumi project, or a folder in it. Where there is none, the file has no folder.
    """
    project = _project(program.resolve())
    folder = project / configuration_folder(project) if project else Path()
    here = Path.cwd()
    place = folder.relative_to(here) if folder.is_relative_to(here) else Path(folder.name if project else "")
    return {name: (place / f"Pulumi.{stack}.yaml").as_posix() for name, stack in stacks}


def project_name(program: Path) -> str:
    """The name of the Pulumi project that a folder lies in; the folder's own name where there is none."""
    folder = _project(program.resolve())
    return str(_content(folder / "Pulumi.yaml").get("name") or folder.name) if folder else program.resolve().name


def project_folder(program: Path) -> Path:
    """The folder of the Pulumi project that a folder lies in. Errors: UserError."""
    found = _project(program.resolve())
    if found is None:
        raise UserError(f"{program}: no Pulumi.yaml here or above; give a Pulumi project with --program DIR")
    return found


def configuration_folder(project: Path) -> str:
    """Where the project's stack configurations are, relative to it."""
    return str(_content(project / "Pulumi.yaml").get("stackConfigDir") or "")


def main_folder(project: Path) -> Path:
    """The folder of the project's program."""
    return project / str(_content(project / "Pulumi.yaml").get("main") or "")


def environment_names(project: Path) -> list[str]:
    """Names of the environments that the project has a configuration for, sorted."""
    found = (project / configuration_folder(project)).glob("Pulumi.*.yaml")
    return sorted(file.name.removeprefix("Pulumi.").removesuffix(".yaml") for file in found)


def virtual_environment(project: Path) -> str:
    """The folder of the program's Python, as the project says it; empty where it says none."""
    runtime = _content(project / "Pulumi.yaml").get("runtime")
    options = runtime.get("options") if isinstance(runtime, dict) else None
    return str(options.get("virtualenv") or "") if isinstance(options, dict) else ""


def project_of(program: Path) -> Path | None:
    """The folder of the Pulumi project that a folder lies in, None where there is none."""
    return _project(program.resolve())


def _project(start: Path) -> Path | None:
    return next((folder for folder in (start, *start.parents) if (folder / "Pulumi.yaml").is_file()), None)


def _content(file: Path) -> Mapping[str, object]:
    try:
        content = read_yaml(file)
    except DocumentError:
        # The engine has its own word to say on such a file.
        return {}
    return content if isinstance(content, dict) else {}
