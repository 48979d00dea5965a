"""A fresh machine of GitHub's on which one job runs: actions are played, scripts are run by bash."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.tools.github_expressions import evaluate, fill

NOTHING = ("actions/setup-python", "aws-actions/configure-aws-credentials")
"""Actions of which nothing is seen here."""


@dataclass
class Machine:
    """origin: the repository's bare git repository. folder: of this machine, below one for all of a test.

    commit: of the run. process: variables of every script.
    """

    origin: Path
    folder: Path
    commit: str
    process: Mapping[str, str]
    good: bool = True
    log: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    scripts: list[tuple[str, frozenset[str]]] = field(default_factory=list)
    """The scripts that ran, each with the names of the secrets that it could read."""

    def run(self, job: Mapping[str, Any], workflow: Mapping[str, Any], contexts: Mapping[str, Any]) -> None:
        work, temporary = self.folder / "work", self.folder / "temp"
        for each in (work, temporary):
            each.mkdir(parents=True)
        found: dict[str, Any] = {}
        now = {**contexts, "runner": {"temp": str(temporary)}, "steps": found}
        for step in job["steps"]:
            said = step.get("if", "success()").removeprefix("${{").removesuffix("}}")
            functions = {"success": lambda: self.good, "always": lambda: True}
            if not ((self.good or "always()" in said) and evaluate(said, now, functions)):
                continue
            if "uses" in step:
                self._act(step, work, now)
                continue
            env = {n: fill(v, now) for each in (workflow, job, step) for n, v in each.get("env", {}).items()}
            self.scripts.append(
                (step["run"], frozenset(n for n, v in env.items() if v and v in now["secrets"].values()))
            )
            found[step.get("id", "")] = {"outputs": self._script(step["run"], work, temporary, env)}
        self.outputs = {name: fill(value, now) for name, value in job.get("outputs", {}).items()}
        shutil.rmtree(work)

    def _act(self, step: Mapping[str, Any], work: Path, contexts: Mapping[str, Any]) -> None:
        action = step["uses"].partition("@")[0]
        given = {name: fill(value, contexts) for name, value in step.get("with", {}).items()}
        artifacts = self.folder.parent / "artifacts"
        if action == "actions/checkout":
            ref = given.get("ref", self.commit)
            git(work, "clone", "--quiet", str(self.origin), ".")
            # A branch is what it is now, a commit stays.
            git(work, "checkout", "--quiet", "--detach", ref.replace("refs/heads/", "origin/"))
        elif action == "actions/upload-artifact":
            shutil.copytree(work / given["path"], artifacts / self._artifact(given), dirs_exist_ok=True)
        elif action == "actions/download-artifact":
            shutil.copytree(artifacts / self._artifact(given), given["path"])
        else:
            assert action in NOTHING, action

    def _artifact(self, given: Mapping[str, str]) -> str:
        """Artifacts are of a run; one commit has one run here."""
        return f"{self.commit}-{given['name']}"

    def _script(self, script: str, work: Path, temporary: Path, env: Mapping[str, str]) -> dict[str, str]:
        output = temporary / "output"
        output.write_text("")
        theirs = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(temporary / "summary.md"),
            "RUNNER_TEMP": str(temporary),
        }
        gone = ("GITHUB_", "GITLAB_", "CI_", "PULUMI_")
        machine = {name: value for name, value in os.environ.items() if not name.startswith(gone)}
        # As GitHub runs a script where `shell` is not said: without pipefail.
        done = subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=work,
            env={**machine, **self.process, **theirs, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.log += done.stdout
        self.good = self.good and done.returncode == 0
        return dict(line.split("=", 1) for line in output.read_text().splitlines())


def git(folder: Path, *words: str) -> str:
    """What a command of git prints."""
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
