"""`make pull-request`: simulate a pull request from its first commit to its last, and show what the reviewer sees.

Real: git, the engine, our program, both policy packs, `gpufleet preview --comment`. Simulated: GitHub's comment API
(fake_github.py) and the clouds.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tools.pull_request.fake_github import FakeGitHub, fake_github
from tools.pull_request.merge_patch import merge

ROOT = Path(__file__).resolve().parents[2]
MISTAKES: Mapping[str, Mapping[str, Any]] = yaml.safe_load(Path(__file__).with_name("mistakes.yaml").read_text())
NUMBER: Mapping[str, Any] = {"pools": {"reserved": {"max": 14}}}
"""One number in Pulumi.aws-prod.yaml."""
PASSED = ["**at most $", " updated**"]
"""What the comment says in one line where nothing is refused."""
CONFIGURATIONS = Path("stacks") / "config"
ENVIRONMENT = "aws-prod"
"""What a mistake is made in where it does not say another."""


@dataclass
class Request:
    """A pull request of a repository that holds our program. runs: of CI so far."""

    folder: Path
    played: FakeGitHub
    runs: int = 0

    @classmethod
    def opened(cls, folder: Path, played: FakeGitHub) -> "Request":
        """A repository in an empty folder, with a branch for the change."""
        shutil.copy(ROOT / "Pulumi.yaml", folder)
        for name in ("stacks", "policies"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / ".venv").symlink_to(Path(sys.prefix))
        (folder / ".gitignore").write_text("/.venv\n/report/\n__pycache__/\n")
        made = cls(folder, played)
        made.git("init", "--quiet", "--initial-branch", "main")
        made.git("add", ".")
        made.git("commit", "--quiet", "--message", "what is there")
        made.git("switch", "--quiet", "--create", "change")
        return made

    def push(self, change: Mapping[str, Any], environment: str = ENVIRONMENT) -> None:
        """Make the base with this change of one environment the head of the pull request."""
        self.git("checkout", "--quiet", "main", "--", str(CONFIGURATIONS))
        file = self.folder / CONFIGURATIONS / f"Pulumi.{environment}.yaml"
        document = yaml.safe_load(file.read_text())
        config = {key.removeprefix("gpufleet:"): value for key, value in document["config"].items()}
        merge(config, change)
        document["config"] = {key if ":" in key else f"gpufleet:{key}": value for key, value in config.items()}
        file.write_text(yaml.safe_dump(document, sort_keys=False))
        self.git("commit", "--quiet", "--all", "--allow-empty", "--message", "change")
        self.played.heads[7] = self.git("rev-parse", "HEAD").strip()

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """What CI runs on it."""
        self.runs += 1
        event = self.folder.parent / "event.json"
        event.write_text(json.dumps({"pull_request": {"number": 7, "head": {"sha": self.played.heads[7]}}}))
        theirs = {"GITHUB_EVENT_PATH": str(event), "GITHUB_STEP_SUMMARY": str(self.summary), "GPUFLEET_CATALOG": ""}
        gone = ("GITHUB_", "GITLAB_", "CI_", "PULUMI_")
        env = {name: value for name, value in os.environ.items() if not name.startswith(gone)}
        program = str(Path(sys.executable).parent / "gpufleet")
        return subprocess.run(
            [program, "preview", "--base", "main", "--simulated", "--comment", *words],
            cwd=self.folder,
            env=env | self.played.environment(run=self.runs) | theirs,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def summary(self) -> Path:
        return self.folder.parent / "summary.md"

    def comments(self, environment: str = ENVIRONMENT) -> list[tuple[int, int, str]]:
        """Those on an environment: number, how often it was edited, body."""
        marker = f"<!-- gpufleet-report:gpufleet/{environment} -->"
        found = [each for each in self.played.comments if each["body"].startswith(marker)]
        return [(each["id"], self.played.edits.get(each["id"], 0), each["body"]) for each in found]

    def comment(self, environment: str = ENVIRONMENT) -> str:
        """The body of the one comment on an environment. Errors: ValueError where there is none, or more than one."""
        ((_, _, body),) = self.comments(environment)
        return body

    def git(self, *words: str) -> str:
        name = ("-c", "user.name=somebody", "-c", "user.email=somebody@invalid", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", *name, *words], cwd=self.folder, capture_output=True, text=True, check=True)
        return done.stdout


def plain(text: str) -> str:
    """Markdown without the signs that keep a text from being Markdown."""
    return text.replace("\\", "").replace("\N{ZERO WIDTH SPACE}", "")


def line_of(comment: str, says: Sequence[str]) -> str | None:
    """The one line of a comment that has all of these texts."""
    return next((line for line in plain(comment).splitlines() if all(text in line for text in says)), None)


@dataclass
class Shown:
    """One push, and what the reviewer sees of it. wrong: what is not as it should be, a line each."""

    line: str
    seconds: float
    wrong: list[str]


def pushed(request: Request, change: Mapping[str, Any], environment: str, says: Sequence[str], code: int) -> Shown:
    """Push a change, run CI on it, and look at the comment: one, edited if it was there, with what it must say."""
    before, began = request.comments(environment), time.monotonic()
    request.push(change, environment)
    done = request.run()
    after, seconds = request.comments(environment), time.monotonic() - began
    wrong = [] if done.returncode == code else [f"exit code {done.returncode} instead of {code}: {done.stderr[-500:]}"]
    if len(after) != 1:
        return Shown("", seconds, [*wrong, f"{len(after)} comments on {environment}: {done.stderr[-500:]}"])
    ((number, edits, body),) = after
    if before and before[0][:2] != (number, edits - 1):
        wrong.append(f"not the comment that was there, edited once: {before[0][:2]}, then {number, edits}")
    if f" {request.played.heads[7]} -->" not in body:
        wrong.append("the comment is about another commit")
    line = line_of(body, says)
    if line is None:
        wrong.append(f"the comment has no line with {says}:\n{body}")
    return Shown(line or "", seconds, wrong)


def mistaken(request: Request, mistake: Mapping[str, Any]) -> tuple[Shown, Shown]:
    """A mistake, and the push that repairs it: the second must pass, and say nothing of the mistake any more."""
    environment = mistake.get("environment", ENVIRONMENT)
    made = pushed(request, mistake["config"], environment, mistake["says"], mistake.get("exit", 1))
    repaired = pushed(request, mistake.get("repaired", NUMBER), environment, PASSED, 0)
    if not repaired.wrong and line_of(request.comment(environment), mistake["says"]):
        repaired.wrong.append("the comment still says the mistake")
    return made, repaired


def main() -> int:
    """Play it, and end with 1 where a verdict is not as it should be."""
    with tempfile.TemporaryDirectory(prefix="gpufleet-pull-request-") as place, fake_github() as played:
        folder = Path(place) / "repository"
        folder.mkdir()
        request = Request.opened(folder, played)
        print(f"A pull request on aws-prod, on simulated clouds; GitHub is simulated at {played.url}.\n")
        began = time.monotonic()
        first = pushed(request, NUMBER, ENVIRONMENT, PASSED, 0)
        wrong = show("one number, reserved.max from 16 to 14", [first], "comment created")
        for name, mistake in MISTAKES.items():
            wrong += show(name, mistaken(request, mistake), "repaired in the same comment")
        ((_, edits, body),) = request.comments()
        print(f"\n{time.monotonic() - began:.0f} s. The comment on {ENVIRONMENT}, edited {edits} times:\n")
        print(unfolded(body))
    return 1 if wrong else 0


def show(name: str, pushes: Sequence[Shown], well: str) -> int:
    """Print what the reviewer saw first, and return how much was wrong."""
    wrong = [each for push in pushes for each in push.wrong]
    print(f"{'BAD ' if wrong else 'ok  '} {name} ({', '.join(f'{push.seconds:.0f} s' for push in pushes)}; {well})")
    print("\n".join(f"     {each}" for each in wrong or [pushes[0].line]), flush=True)
    return len(wrong)


def unfolded(comment: str) -> str:
    """A comment as it is seen before anything in it is unfolded."""
    return re.sub(r"<details><summary>(.*?)</summary>.*?</details>", r"> \1 ...", comment, flags=re.DOTALL)


if __name__ == "__main__":
    sys.exit(main())
