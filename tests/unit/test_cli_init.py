"""`gpufleet init`: what it asks, writes and refuses; and that templates and wheel hold what it writes from."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hatchling.builders.wheel import WheelBuilder
from jsonschema import Draft7Validator

from gpufleet.cli import main
from gpufleet.cli.init import CLOUDS
from gpufleet.config import new_project
from gpufleet.config.new_environment import DEFAULTS, MODELINE
from gpufleet.config.reader import read_config
from gpufleet.config.schema import FILE
from gpufleet.config.stacks import KINDS
from gpufleet.documents.yaml import read_yaml

ROOT = Path(__file__).parents[2]
GPUFLEET = Path(sys.executable).parent / "gpufleet"
WRITTEN = {".gitignore", "Pulumi.dev.yaml", "Pulumi.yaml", "__main__.py", FILE, "requirements.txt"}
FIVE = ("--region", "us-east-2", "--gpu", "H100", "--max-nodes", "4", "--budget", "60000.5")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `trial` to work in, of a user whose address Git knows."""
    trial = tmp_path / "trial"
    trial.mkdir()
    monkeypatch.chdir(trial)
    monkeypatch.setenv("LOGNAME", "jo")
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    for name, value in {"COUNT": "1", "KEY_0": "user.email", "VALUE_0": "jo@lab.example"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    return trial


def init(*words: str) -> Result:
    return CliRunner().invoke(main, ["init", *words])


def contents(folder: Path) -> dict[str, str]:
    return {str(each.relative_to(folder)): each.read_text() for each in folder.rglob("*") if each.is_file()}


def config_of(file: Path) -> dict:
    """The keys of an environment's file, which schema and reader accept."""
    document = read_yaml(file)
    modeline = file.read_text().splitlines()[0]
    schema = json.loads((file.parent / modeline.removeprefix(MODELINE)).read_text())
    assert [error.message for error in Draft7Validator(schema).iter_errors(document)] == []
    config = document["config"]
    read_config({key: each if isinstance(each, str) else json.dumps(each) for key, each in config.items()}, "dev")
    return config


@pytest.mark.parametrize("cloud", CLOUDS)
def test_with_yes_it_writes_a_project_by_the_defaults(cloud: str, folder: Path) -> None:
    done = init("--yes", "--cloud", cloud)
    assert (done.exit_code, done.stderr) == (0, "")
    assert set(contents(folder)) == WRITTEN
    assert done.stdout.splitlines()[-1] == "Next: gpufleet cost dev"
    assert {line.removeprefix("wrote ") for line in done.stdout.splitlines()[:-1]} == WRITTEN
    config = config_of(folder / "Pulumi.dev.yaml")
    assert config["gpufleet:cloud"] == cloud
    assert config[f"{KINDS[cloud].provider}:{'location' if cloud == 'azure' else 'region'}"] == DEFAULTS[cloud].region
    assert (config["gpufleet:owner"], config["gpufleet:project"]) == ("jo", "trial")
    assert config["gpufleet:budget"] == {"usd_per_month": 2000, "emails": ["jo@lab.example"]}
    assert set(read_yaml(folder / "Pulumi.yaml")) == {"name", "description", "runtime"}
    assert "$" not in (folder / "Pulumi.yaml").read_text()


def test_options_are_the_answers(folder: Path) -> None:
    done = init("prod", "--cloud", "aws", *FIVE, "--owner", "ops", "--email", "ops@our.example", "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert set(said.pop("files")) == WRITTEN - {"Pulumi.dev.yaml"} | {"Pulumi.prod.yaml"}
    assert said == {"schema": 1, "environment": "prod", "project": "trial", "next": "gpufleet cost prod"}
    config = config_of(folder / "Pulumi.prod.yaml")
    assert config["aws:region"] == "us-east-2"
    pool = config["gpufleet:pools"]["trainers"]
    assert (pool["types"], pool["max"]) == (["p5.4xlarge"], 4)
    assert len(config["gpufleet:network"]["zones"]) >= 2
    assert config["gpufleet:budget"] == {"usd_per_month": 60000.5, "emails": ["ops@our.example"]}
    assert config["gpufleet:owner"] == "ops"


def test_examples_of_the_help_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = [line.split() for line in init("--help").stdout.splitlines() if line.startswith("  gpufleet init")]
    assert len(shown) == 3
    for number, words in enumerate(shown):
        place = folder / f"example-{number}"
        place.mkdir()
        monkeypatch.chdir(place)
        done = init(*words[2:], *([] if "--yes" in words else ["--yes"]))
        assert done.exit_code == 0, done.output


def on_a_terminal(*answers: str) -> tuple[int, str]:
    """Exit code and screen of a run in which each question is answered in turn."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([GPUFLEET, "init"], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    screen = ""
    for answer in answers:
        start = len(screen)
        while not screen[start:].rstrip(" ").endswith("]:"):
            screen += os.read(ours, 1000).decode()
        os.write(ours, f"{answer}\n".encode())
    try:
        while part := os.read(ours, 1000):
            screen += part.decode()
    except OSError:
        # The other end of a terminal is closed.
        pass
    os.close(ours)
    return child.wait(), screen.replace("\r\n", "\n")


def test_on_a_terminal_it_asks_five_questions_and_again_after_a_bad_answer(folder: Path) -> None:
    answers = ("gcp", "azure", "us-east-1", "", "H10", "T4", "0", "3", "-1", "500")
    code, screen = on_a_terminal(*answers)
    assert code == 0, screen
    for line in (
        "Cloud (aws, aws-batch, azure) [aws]: gcp",
        "Error: environment: region=us-east-1: is not an Azure region; use a name such as eastus [azure-region-form]",
        "Region [eastus]: ",
        "Error: gpu=H10: is neither a type nor a GPU of azure; did you mean H100?",
        "Type of a node, or its GPU [Standard_NC4as_T4_v3]: T4",
        "Error: max-nodes=0: must be a whole number, 1 or more",
        "Nodes at most [2]: 3",
        "Budget in USD a month [2000]: 500",
    ):
        assert line in screen.splitlines()
    config = config_of(folder / "Pulumi.dev.yaml")
    pool = config["gpufleet:batch"]["pools"]["trainers"]
    assert (pool["types"], pool["max"]) == (["Standard_NC4as_T4_v3"], 3)
    assert config["gpufleet:budget"]["usd_per_month"] == 500


def test_without_a_terminal_it_wants_all_answers_or_yes(folder: Path) -> None:
    done = init("--region", "us-east-1", "--budget", "5")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == (
        "Error: there is no terminal to ask on; give --cloud, --gpu, --max-nodes, or --yes for the defaults\n"
    )
    assert contents(folder) == {}


BAD = [
    (["--region", "us-east-9"], "environment: region=us-east-9: not verified: the catalog has no facts about this "),
    (["--gpu", "p5.48xlarg"], "gpu=p5.48xlarg: is neither a type nor a GPU of aws; did you mean p5.48xlarge?"),
    (["--gpu", "x"], "gpu=x: is neither a type nor a GPU of aws; `gpufleet catalog find` lists what is known"),
    (["--gpu", "H100", "--region", "eu-west-1"], "gpu=H100: eu-west-1 has none; "),
    (["--gpu", "p4de.24xlarge", "--region", "eu-west-1"], "gpu=p4de.24xlarge: eu-west-1 has none; "),
    (["--max-nodes", "0"], "max-nodes=0: must be a whole number, 1 or more"),
    (["--budget", "0"], "environment: usd_per_month=0.0: must be above 0; "),
    (["--budget", "nan"], "environment: usd_per_month=nan: must be above 0; "),
    (["--cloud", "azure", "--budget", "-1"], "environment: usd_per_month=-1.0: must be above 0; "),
    (["--email", "jo"], "environment: emails=jo: is not an e-mail address; "),
    (["--owner", "jo!"], "environment: tags.owner=jo!: has characters that AWS rejects; "),
    (["a b"], "name=a b: Pulumi takes no such name; use 1 to 100 letters, digits, hyphens, _ or periods"),
    (["../dev"], "name=../dev: Pulumi takes no such name; "),
    (["--program", "my project"], "project=my project: Pulumi takes no such name; "),
]


@pytest.mark.parametrize(("words", "line"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_bad_answer_is_one_line_and_writes_nothing(words: list[str], line: str, folder: Path) -> None:
    done = init("--yes", *words)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Error: {line}")
    assert done.stderr.count("\n") == 1
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", sorted(WRITTEN - {FILE, "Pulumi.yaml", ".gitignore"}))
def test_file_that_is_there_is_never_overwritten(name: str, folder: Path) -> None:
    (folder / name).write_text("mine\n")
    done = init("--yes")
    assert done.exit_code == 1
    assert done.stderr == f"Error: {name}: is there already; remove it, or choose another name or folder\n"
    assert contents(folder) == {name: "mine\n"}


def test_link_that_leads_nowhere_is_not_written_through(folder: Path) -> None:
    (folder / "Pulumi.dev.yaml").symlink_to(folder.parent / "elsewhere")
    assert init("--yes").exit_code == 1
    assert not (folder.parent / "elsewhere").exists()


def test_second_environment_is_one_more_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert init("--yes").exit_code == 0
    before = contents(folder)
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    assert init("prod", "--yes", "--cloud", "azure").exit_code == 0
    after = contents(folder)
    assert {name: after.pop(name) for name in before} == before
    assert list(after) == ["Pulumi.prod.yaml"]
    assert config_of(folder / "Pulumi.prod.yaml")["gpufleet:project"] == "trial"
    assert init("prod", "--yes").exit_code == 1


def test_environment_is_written_where_the_project_has_its_configurations(folder: Path) -> None:
    (folder / "Pulumi.yaml").write_text("name: ours\nruntime: python\nmain: program\nstackConfigDir: config\n")
    (folder / "program").mkdir()
    (folder / "program" / "__main__.py").write_text(f"from {new_project.PROGRAM} import run_environment\n")
    assert init("--yes").exit_code == 0
    assert (folder / "config" / "Pulumi.dev.yaml").read_text().startswith(f"{MODELINE}../{FILE}\n")
    assert config_of(folder / "config" / "Pulumi.dev.yaml")["gpufleet:project"] == "ours"


def test_environment_of_the_checkout_names_the_schema_of_the_package() -> None:
    file = new_project.environment_file(ROOT, "new")
    (made,) = new_project.environment_files(ROOT, file, {}).values()
    ours = (file.parent / "Pulumi.aws-dev.yaml").read_text()
    assert made.splitlines()[0] == ours.splitlines()[0]


@pytest.mark.parametrize("content", ["name: billing\nruntime: python\n", "name: [", "- 1\n"])
def test_project_of_another_program_is_left_alone(content: str, folder: Path) -> None:
    (folder / "Pulumi.yaml").write_text(content)
    (folder / "__main__.py").write_text("import pulumi\n")
    before = contents(folder)
    done = init("--yes")
    assert done.exit_code == 1
    assert done.stderr == (
        f"Error: {folder / 'Pulumi.yaml'}: its program is not an environment of gpufleet; give an empty folder with "
        "--program DIR\n"
    )
    assert contents(folder) == before


def test_folder_that_cannot_be_written_is_one_line(folder: Path) -> None:
    (folder / "file").touch()
    done = init("--yes", "--program", "file/trial")
    assert done.exit_code == 1
    assert done.stderr == "Error: file/trial/.gitignore: cannot be written: Not a directory; choose another folder\n"


def test_requirements_lead_to_the_checkout_that_wrote_them(folder: Path) -> None:
    assert init("--yes").exit_code == 0
    place, _, extras = (folder / "requirements.txt").read_text().splitlines()[-1].partition("[")
    assert extras == "aws,kubernetes]"
    assert (folder / place).resolve() == ROOT


def test_requirements_of_a_wheel_name_its_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_project, "is_checkout", lambda: False)
    text = (ROOT / "templates" / "aws-gpufleet" / "requirements.txt").read_text()
    assert new_project.requirements(text, folder) == text
    monkeypatch.setattr(new_project, "repository", lambda: "https://code.example/team/gpufleet")
    changed = new_project.requirements(text, folder)
    assert changed == text.replace("YOUR-HOST/gpufleet", "code.example/team/gpufleet")


def test_templates_name_this_release() -> None:
    from importlib.metadata import version

    for cloud in CLOUDS:
        text = (ROOT / "templates" / f"{cloud}-gpufleet" / "requirements.txt").read_text()
        assert text.endswith(f" @ git+https://YOUR-HOST/gpufleet@v{version('gpufleet')}\n")


def test_wheel_holds_programs_templates_and_schema() -> None:
    held = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    for cloud in CLOUDS:
        assert {f"gpufleet/templates/{cloud}-gpufleet/{name}" for name in WRITTEN - {FILE}} <= held
    assert {f"gpufleet/stacks/{cloud.replace('-', '_')}.py" for cloud in KINDS} <= held
    assert f"gpufleet/config/{FILE}" in held


def test_the_gitignore_of_a_repository_stays(folder: Path) -> None:
    (folder / ".gitignore").write_text("mine\n")
    done = init("--yes")
    assert (done.exit_code, done.stderr) == (0, "")
    assert set(contents(folder)) == WRITTEN
    assert (folder / ".gitignore").read_text() == "mine\n"


def test_an_address_that_git_does_not_know_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "0")
    done = init("--yes", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["files"]
    line = "note: Git has no user.email; Pulumi.dev.yaml: emails: replace jo@example.com, which nobody reads\n"
    assert done.stderr == line
    assert init("other", "--yes", "--email", "ana@lab.example").stderr == ""
