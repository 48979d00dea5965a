"""The workflows of a change: what each may do, that its commands are ones of ours, and that nobody can write in."""

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner

from gpufleet.cli import main

ROOT = Path(__file__).parents[3]
FILES = [
    ROOT / ".github" / "workflows" / "preview.yml",
    ROOT / ".github" / "workflows" / "up.yml",
    ROOT / ".github" / "workflows" / "drift.yml",
    ROOT / ".github" / "actions" / "preview" / "action.yml",
    ROOT / ".github" / "workflows" / "deploy.yml",
    ROOT / ".github" / "actions" / "comment" / "action.yml",
]
ACTION, DEPLOY, COMMENT = FILES[3], FILES[4], FILES[5]
HOME = "${{ steps.gpufleet.outputs.home }}"
"""Where the action's gpufleet is."""
OURS = ("$/.github/actions/preview", "$/.github/workflows/deploy.yml")
"""What is ours, at the commit of the workflow."""
ALL = [*sorted((ROOT / ".github" / "workflows").glob("*.yml")), ACTION, COMMENT]
GITLAB = [ROOT / "ci" / "gitlab.yml", ROOT / "ci" / "gitlab-anywhere.yml"]
READ = {"contents": "read"}
IDENTITY = {"contents": "read", "id-token": "write"}
PERMISSIONS = {
    "preview.yml": {
        "simulated": READ,
        "backend": IDENTITY,
        "comment": {"contents": "read", "pull-requests": "write", "security-events": "write"},
    },
    "up.yml": {"affected": IDENTITY, "deploy": IDENTITY},
    "deploy.yml": {"preview": IDENTITY, "up": IDENTITY},
    "drift.yml": {"drift": IDENTITY},
    "prices.yml": {"prices": READ},
}
SAFE = re.compile(
    r"vars\.\w+( \|\| '[\w-]+')?|secrets\.\w+|github\.token|inputs\.[\w-]+|matrix\.environment"
    r"|github\.event\.pull_request\.base\.sha|github\.ref|github\.ref_name|github\.sha|runner\.temp"
    r"|runner\.(os|arch)|hashFiles\([\w'., /*]+\)|github\.event\.pull_request\.number"
    r"|steps\.gpufleet\.outputs\.(key|home)"
    r"|steps\.(affected|undeployed)\.outputs\.(environments|commit)|needs\.preview\.outputs\.commit"
    r"|fromJSON\((needs\.affected\.outputs\.environments|vars\.GPUFLEET_ENVIRONMENTS)\)"
    r"|!cancelled\(\) && github\.event\.pull_request\.head\.repo\.full_name == github\.repository"
)
"""Expressions that hold no text of whoever opens a pull request: no title, branch, or message."""


def read(file: Path) -> dict[str, Any]:
    """All of it as texts: YAML 1.1 would read the key `on` as a truth."""
    return dict(yaml.load(file.read_text(), yaml.BaseLoader))


def steps_of(file: Path) -> list[dict[str, Any]]:
    document = read(file)
    if "runs" in document:
        return list(document["runs"]["steps"])
    return [step for job in document["jobs"].values() for step in job.get("steps", [])]


def parsed(line: str, words: dict[str, list[str]]) -> dict[str, Any]:
    """A command line as our own parser understands it. Errors: click.UsageError."""
    inside = re.search(r'="\$\((.*)\)"$', line)
    found = [new for word in shlex.split(inside[1] if inside else line) for new in words.get(word, [word])]
    start = next(number for number, word in enumerate(found) if word.endswith("gpufleet"))
    command: click.Command = main.commands[found[start + 1]]
    return command.make_context(found[start + 1], found[start + 2 :]).params


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_nothing_is_put_into_a_shells_text_and_every_action_is_pinned(file: Path) -> None:
    for step in steps_of(file):
        assert "${{" not in step.get("run", "")
        used = step.get("uses", OURS[0])
        assert used in OURS or re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", used), step
        if used.startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] == "false"
    expressions = re.findall(r"\$\{\{\s*(.*?)\s*\}\}", file.read_text())
    assert expressions
    assert [each for each in expressions if not SAFE.fullmatch(each)] == []


def test_one_pin_for_an_action_in_all_of_them() -> None:
    """A commit, and the release that it is: nobody can move it under us, and one look compares them."""
    pins: dict[str, set[str]] = {}
    for file in ALL:
        for used in re.findall(r"^\s*(?:- )?uses: (.*)$", file.read_text(), re.MULTILINE):
            if used in OURS:
                continue
            pinned = re.fullmatch(r"([\w/-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)", used)
            assert pinned, f"{file.name}: {used}"
            pins.setdefault(pinned[1], set()).add(pinned[2])
    assert len(pins) > 5
    assert {name: found for name, found in pins.items() if len(found) > 1} == {}


@pytest.mark.parametrize("file", [file for file in ALL if file.name != "action.yml"], ids=lambda file: file.name)
def test_a_workflow_may_nothing_but_what_its_jobs_say(file: Path) -> None:
    document = read(file)
    assert document["permissions"] == {}
    assert [name for name, job in document["jobs"].items() if "permissions" not in job] == []
    assert "pull_request_target" not in document["on"]
    assert "workflow_run" not in document["on"]
    assert [step for step in steps_of(file) if "${{" in step.get("run", "")] == []


@pytest.mark.parametrize("name", PERMISSIONS)
def test_each_job_may_do_little(name: str) -> None:
    document = read(ROOT / ".github" / "workflows" / name)
    assert {job: each["permissions"] for job, each in document["jobs"].items()} == PERMISSIONS[name]


def test_a_fork_gets_no_identity_no_secret_and_no_comment() -> None:
    document = read(FILES[0])
    assert set(document["on"]) == {"pull_request"}
    jobs = document["jobs"]
    own = "github.event.pull_request.head.repo.full_name == github.repository"
    assert own in jobs["backend"]["if"]
    # Where previews read the real state is opted in to: its secrets can be read by them.
    assert "vars.GPUFLEET_PREVIEW == 'backend'" in jobs["backend"]["if"]
    assert "vars.GPUFLEET_PREVIEW != 'backend'" in jobs["simulated"]["if"]
    assert own in jobs["comment"]["if"]
    assert own not in jobs["simulated"]["if"]
    assert "secrets." not in yaml.safe_dump(jobs["simulated"])
    assert "github.token" not in yaml.safe_dump(jobs["simulated"])
    # The one that may write runs no code of the pull request's, nor what its other jobs could put into a cache.
    says = jobs["comment"]["steps"]
    assert says[0]["with"]["ref"] == "${{ github.event.pull_request.base.sha }}"
    assert [step["uses"] for step in says if step.get("uses", "").startswith(("$/", "./", "actions/cache@"))] == []
    # The change is there to be compared: nothing is run in it.
    (change,) = [step["with"] for step in says if step.get("with", {}).get("path") == "change"]
    assert change == {"path": "change", "fetch-depth": "2", "persist-credentials": "false"}
    assert not [step for step in says if "working-directory" in step or "cd " in step.get("run", "")]
    assert ".venv/bin/gpufleet comment report --change change" in " ".join(step.get("run", "") for step in says)
    checkouts = [s for job in ("simulated", "backend") for s in jobs[job]["steps"] if "checkout" in s.get("uses", "")]
    assert [step["with"]["fetch-depth"] for step in checkouts] == ["2", "2"]


def test_one_deployment_of_an_environment_at_a_time_and_its_reviewers_see_the_preview() -> None:
    """What comes of it: tests/unit/affected/test_up_played.py."""
    document = read(FILES[1])
    assert document["on"] == {"push": {"branches": ["main"]}}
    calls = document["jobs"]["deploy"]
    assert calls["concurrency"] == {"group": "up-${{ matrix.environment }}", "cancel-in-progress": "false"}
    assert calls["strategy"]["fail-fast"] == "false"
    assert calls["uses"] == OURS[1]
    preview, up = read(DEPLOY)["jobs"].values()
    assert (preview["environment"], up["environment"]) == ("plan", "${{ inputs.environment }}")
    assert up["needs"] == "preview"
    checkouts = [step["with"]["ref"] for job in (preview, up) for step in job["steps"] if "checkout" in str(step)]
    assert checkouts == ["${{ github.ref }}", "${{ needs.preview.outputs.commit }}"]
    last = up["steps"][-1]["run"].splitlines()
    assert "--allow-loss" not in "\n".join(step.get("run", "") for step in up["steps"])
    assert [line.split()[:2] for line in last[1:]] == [["gpufleet", "preview"], ["pulumi", "up"]]


def jobs_with_trust() -> list[tuple[str, dict[str, Any]]]:
    """The jobs that have an identity, a secret, or a token that writes."""
    found = []
    for file in ALL:
        for name, job in read(file).get("jobs", {}).items():
            trusted = set(job["permissions"].items()) - set(READ.items()) or "secrets." in yaml.safe_dump(job)
            if trusted and "steps" in job:
                found.append((f"{file.name}: {name}", job))
    return found


def test_trusted_jobs_never_run_an_installer_from_the_network_and_take_no_cache() -> None:
    found = jobs_with_trust()
    assert len(found) >= 10
    for name, job in found:
        document = read(ROOT / ".github" / "workflows" / name.partition(":")[0])
        for step in job["steps"]:
            assert not step.get("uses", "").startswith("actions/cache@"), name
            if "make setup" in step.get("run", ""):
                env = document.get("env", {}) | job.get("env", {}) | step.get("env", {})
                assert env["GPUFLEET_PULUMI"] == "path,build", name
            assert "curl" not in step.get("run", ""), name
    setup = next(step for step in steps_of(ACTION) if step.get("run", "").endswith(" setup"))
    assert setup["env"] == {"GPUFLEET_PULUMI": "path,build", "GPUFLEET_HOME": HOME}
    (cache,) = [step for step in steps_of(ACTION) if "actions/cache@" in step.get("uses", "")]
    assert cache["if"] == "inputs.where == 'simulated'"


@pytest.mark.parametrize("file", ALL, ids=lambda file: file.name)
def test_secrets_are_in_the_steps_that_need_them(file: Path) -> None:
    """Not in a job's or a workflow's environment, where set-up and every action would see them."""
    document = read(file)
    for each in (document, *document.get("jobs", {}).values()):
        assert "secrets." not in yaml.safe_dump(each.get("env", {}))
    for step in steps_of(file):
        if "PULUMI_CONFIG_PASSPHRASE" in step.get("env", {}):
            assert re.search(r"(gpufleet|pulumi) (reap|up|preview)", step["run"]), step


def test_drift_only_looks() -> None:
    job = read(FILES[2])["jobs"]["drift"]
    (line,) = [line for step in job["steps"] for line in step.get("run", "").splitlines() if "pulumi " in line]
    assert {"preview", "--refresh", "--expect-no-changes"} <= set(line.split())


WORDS = {
    "$STACK": ["aws-dev"],
    "$OURS": ['["aws-dev"]'],
    '["$STACK"]': ['["aws-dev"]'],
    "$RUNNER_TEMP/approved/report.json": ["report.json"],
    "${words[@]}": ["--real", "--to", "out", "--fail-on", "warning", "--base", "main"],
    "${names[@]}": ["aws-dev", "aws-prod"],
}


def test_command_lines_are_ours() -> None:
    lines = [line for file in FILES for step in steps_of(file) for line in step.get("run", "").splitlines()]
    for file in GITLAB:
        lines += [line for job in read(file).values() for line in job["script"]]
    found = [parsed(line.strip(), WORDS) for line in lines if re.search('gpufleet"? (?!setup)', line)]
    assert len(found) == 11
    composite = next(each for each in found if each.get("environments") == ("aws-dev", "aws-prod"))
    assert (composite["real"], composite["fail_on"], composite["base"]) == (True, "warning", "main")
    assert [each["if_denied"] for each in found if "if_denied" in each] == ["go-on", "go-on", "fail", "fail"]
    lists = [(each["undeployed"], each["among"]) for each in found if each.get("listing")]
    assert lists == [(True, '["aws-dev"]')] * 2
    (approved,) = [each for each in found if each.get("approved")]
    assert (approved["environments"], approved["real"], approved["allow_loss"]) == (("aws-dev",), True, False)
    with pytest.raises(click.UsageError, match="No such option"):
        parsed("gpufleet preview --forever", WORDS)


@pytest.mark.parametrize("file", GITLAB, ids=lambda file: file.name)
def test_gitlabs_token_is_not_in_the_job_that_runs_the_change(file: Path) -> None:
    gitlab = read(file)
    preview, comment = gitlab["gpufleet-preview"], gitlab["gpufleet-comment"]
    assert "GITLAB_TOKEN" not in yaml.safe_dump(preview)
    assert "environment" not in preview
    assert comment["environment"]["name"] == "gpufleet-comment"
    assert comment["needs"] == [{"job": "gpufleet-preview", "artifacts": "true"}]
    assert comment["cache"] == []
    # Set-up gets no token, and is not the change's.
    (setup,) = [line for line in comment["script"] if " setup" in line]
    assert setup.startswith("env -u GITLAB_TOKEN make")
    if file == GITLAB[0]:
        assert comment["script"].index('cd "$base"') < comment["script"].index(setup)
    else:
        assert '-C "$work/gpufleet"' in setup


def test_the_action_that_comments_runs_nothing_of_the_change() -> None:
    """It is for a job that may write: see the guide's. The change and its base are data."""
    steps = steps_of(COMMENT)
    places = [step["with"] for step in steps if "checkout@" in step.get("uses", "")]
    assert [place["path"] for place in places] == ["base", "change"]
    assert places[0]["ref"] == "${{ github.event.pull_request.base.sha }}"
    assert [step for step in steps if "cache@" in step.get("uses", "") or "working-directory" in step] == []
    setup, comment = [step for step in steps if "run" in step]
    assert setup["run"] == 'make -C "$GITHUB_ACTION_PATH/../../.." setup'
    assert setup["env"] == {"GPUFLEET_PULUMI": "path,build"}
    assert comment["env"] == {"PROGRAM": "${{ inputs.program }}", "GITHUB_TOKEN": "${{ github.token }}"}


def test_gitlabs_comment_is_written_by_the_bases_code(tmp_path: Path) -> None:
    """The second job's script in a repository: set-up and gpufleet are the base's, and set-up has no token."""
    folder = tmp_path / "project"
    folder.mkdir()
    setup = "setup:\n\t@mkdir -p .venv/bin; cp program .venv/bin/gpufleet; echo setup $$GITLAB_TOKEN >> $(LOG)\n"
    program = '#!/bin/sh\necho {name} $GITLAB_TOKEN "$@" >> $LOG\n'

    def commit(name: str) -> str:
        (folder / "Makefile").write_text(setup if name == "base" else "setup:\n\t@echo $$GITLAB_TOKEN >> $(LOG)\n")
        (folder / "program").write_text(program.replace("{name}", name))
        (folder / "program").chmod(0o755)
        for words in (["add", "."], ["-c", "user.name=t", "-c", "user.email=t@invalid", "commit", "-qm", name]):
            subprocess.run(["git", *words], cwd=folder, check=True)
        return subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=folder, text=True).strip()

    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    base = commit("base")
    commit("change")
    log = tmp_path / "log"
    given = {"LOG": str(log), "CI_PROJECT_DIR": str(folder), "CI_MERGE_REQUEST_DIFF_BASE_SHA": base}
    script = "\n".join(read(ROOT / "ci" / "gitlab.yml")["gpufleet-comment"]["script"])
    for token, lines in (("", []), ("glpat", ["setup", f"base glpat comment {folder}/report --change {folder}"])):
        env = os.environ | given | {"GITLAB_TOKEN": token, "TMPDIR": str(tmp_path)}
        done = subprocess.run(["bash", "-e", "-c", script], cwd=folder, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert (log.read_text().split("\n")[:-1] if log.exists() else []) == lines


def test_every_input_of_the_action_is_one_of_the_command() -> None:
    action = read(ACTION)
    step = action["runs"]["steps"][-1]
    assert set(step["env"].values()) == {HOME, *(f"${{{{ inputs.{name} }}}}" for name in action["inputs"])}
    assert all(f"${name}" in step["run"] for name in step["env"].keys() - {"PULUMI_CONFIG_PASSPHRASE"})
    for job in read(FILES[0])["jobs"].values():
        for step in job["steps"]:
            if step.get("uses") == OURS[0]:
                assert set(step["with"]) <= set(action["inputs"])
                assert step["with"]["where"] in ("simulated", "real")


@pytest.mark.parametrize(
    ("names", "base", "words"),
    [
        ("", "", "preview --program . --real --to out --fail-on never --"),
        (
            "aws-dev  aws-prod",
            "main",
            "preview --program . --real --to out --fail-on never --base main -- aws-dev aws-prod",
        ),
        ("$(id) *", "", "preview --program . --real --to out --fail-on never -- $(id) *"),
    ],
)
def test_the_actions_script_in_its_shell(tmp_path: Path, names: str, base: str, words: str) -> None:
    program = tmp_path / ".venv" / "bin" / "gpufleet"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$*"\n')
    program.chmod(0o755)
    given = {
        "ENVIRONMENTS": names, "BASE": base, "WHERE": "real", "TO": "out", "FAIL_ON": "never", "PROGRAM": ".",
        "GPUFLEET_HOME": str(tmp_path),
    }  # fmt: skip
    done = in_its_shell(steps_of(ACTION)[-1], tmp_path, given | {"PULUMI_CONFIG_PASSPHRASE": ""})
    assert (done.returncode, done.stdout.strip()) == (0, words)


def in_its_shell(step: dict[str, Any], folder: Path, given: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a step's script as GitHub does; where `shell: bash` is not said, it is without pipefail."""
    assert set(step["env"]) <= set(given)
    options = ["--noprofile", "--norc", "-eo", "pipefail"] if "shell" in step else ["-e"]
    command = ["bash", *options, "-c", step["run"]]
    return subprocess.run(command, cwd=folder, env=os.environ | given, capture_output=True, text=True, check=False)


def test_among_is_for_a_list() -> None:
    done = CliRunner().invoke(main, ["preview", "--among", "[]"])
    assert done.exit_code == 2
    assert "--among is for --list" in done.output
    done = CliRunner().invoke(main, ["preview", "--undeployed"])
    assert (done.exit_code, "--undeployed is for --list" in done.output) == (2, True)
