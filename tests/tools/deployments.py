"""A repository with the real up.yml and deploy.yml, pushes to it, and environments that are deployed from it."""

import random
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.tools.github_machine import git
from tests.tools.github_scheduler import GitHub

ROOT = Path(__file__).parents[2]
NAMES = ("dev", "prod", "test")
VARIABLES = {"GPUFLEET_BACKEND": "file:///played", "GPUFLEET_ENVIRONMENTS": '["dev", "prod", "test"]'}
SECRETS = {name: {"PULUMI_CONFIG_PASSPHRASE": f"of {name}"} for name in (*NAMES, "plan")}
GPUFLEET = """#!/bin/bash -eu
# In place of gpufleet, for the order of things: what is deployed is a commit in a file, a plan is the way to another.
lacks() {
  [ -f "$PLAYED/$1" ] && [ ! -f "$PLAYED/$1.failed" ] || return 0
  git merge-base --is-ancestor HEAD "$(cat "$PLAYED/$1")" && return 1
  ! git diff --quiet "$(cat "$PLAYED/$1")" HEAD -- "Pulumi.$1.yaml"
}
stack="${@: -1}"
plan="$stack: from $(cat "$PLAYED/$stack" 2>/dev/null || echo nothing) to $(git rev-parse HEAD)"
case "$*" in
  "preview --list --undeployed --among "*)
    found=(); for name in $(tr -d '[],"' <<< "${@: -1}"); do if lacks "$name"; then found+=("\\"$name\\""); fi; done
    (IFS=,; echo "[${found[*]}]") ;;
  "preview --list --base "*)
    found=(); for name in dev prod test; do
      git diff --quiet "$4" HEAD -- "Pulumi.$name.yaml" || found+=("\\"$name\\""); done
    (IFS=,; echo "[${found[*]}]") ;;
  "preview --real --allow-loss --to report -- "*) mkdir report; echo "$plan" > report/report.json ;;
  "preview --real --approved "*) [ "$(cat "$4")" = "$plan" ] || { echo "$stack: not as approved"; exit 1; } ;;
  *) echo "gpufleet $*: not played"; exit 2 ;;
esac
"""
PULUMI = """#!/bin/bash -eu
stack="${@: -1}"
if [ -f "$PLAYED/fail" ]; then touch "$PLAYED/$stack.failed"; echo "error: the cloud says no"; exit 1; fi
rm -f "$PLAYED/$stack.failed"
git rev-parse HEAD > "$PLAYED/$stack"
echo "$stack $(git rev-parse HEAD)" >> "$PLAYED/log"
"""
PLAYED = "setup:\n\t@mkdir -p .venv && ln -sfn $(PROGRAMS) .venv/bin\n"


@dataclass
class Deployments:
    """folder: a clone to change and push from. state: what the programs in place of ours remember."""

    folder: Path
    github: GitHub
    state: Path

    @classmethod
    def played(
        cls, place: Path, workflow: str = "", seed: int = 1, reviewed: frozenset[str] = frozenset(NAMES)
    ) -> "Deployments":
        """With programs in place of gpufleet and Pulumi. workflow: instead of up.yml."""
        programs, state = place / "programs", place / "state"
        for folder in (programs, state):
            folder.mkdir(parents=True)
        for name, text in (("gpufleet", GPUFLEET), ("pulumi", PULUMI)):
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        made = cls.empty(place, {"PROGRAMS": str(programs), "PLAYED": str(state)}, seed, reviewed)
        (made.folder / "Makefile").write_text(PLAYED)
        (made.folder / ".gitignore").write_text("/.venv\n/report/\n")
        if workflow:
            (made.folder / ".github" / "workflows" / "up.yml").write_text(workflow)
        made.state = state
        return made

    @classmethod
    def empty(
        cls, place: Path, process: Mapping[str, str], seed: int = 1, reviewed: frozenset[str] = frozenset(NAMES)
    ) -> "Deployments":
        """A repository with our workflows only, and a host of code for it."""
        origin, folder, machines = place / "origin.git", place / "clone", place / "machines"
        git(place, "init", "--quiet", "--bare", "--initial-branch", "main", str(origin))
        git(place, "clone", "--quiet", str(origin), str(folder))
        git(folder, "switch", "--quiet", "--orphan", "main")
        shutil.copytree(ROOT / ".github" / "workflows", folder / ".github" / "workflows")
        github = GitHub(
            origin, machines, ".github/workflows/up.yml", VARIABLES, {}, SECRETS, reviewed, process, random.Random(seed)
        )
        return cls(folder, github, place)

    def deploy_by_hand(self, **changes: str) -> None:
        """Bring main, with these changes, and all environments to one commit, without a run."""
        self._push(changes)
        for name in NAMES:
            (self.state / name).write_text(self._tip() + "\n")

    def commit(self, **changes: str) -> str:
        """Change configurations (name of an environment = content; `docs` = a page), and push that to main."""
        before = self._tip()
        self._push(changes)
        self.github.pushed(self._tip(), before)
        return self._tip()

    def _push(self, changes: Mapping[str, str]) -> None:
        for name, text in changes.items():
            file = self.folder / ("README.md" if name == "docs" else f"Pulumi.{name}.yaml")
            file.write_text(text)
        git(self.folder, "add", ".")
        who = ("-c", "user.name=t", "-c", "user.email=t@invalid", "-c", "commit.gpgsign=false")
        git(self.folder, *who, "commit", "--quiet", "--allow-empty", "--message", "change")
        git(self.folder, "push", "--quiet", "origin", "main")

    def push(self, **changes: str) -> str:
        """The same, and let all happen that waits for nobody."""
        made = self.commit(**changes)
        self.github.work()
        return made

    def approve(self, *names: str) -> None:
        """Approve what waits for these environments, or for any, until nothing does."""
        while found := [job for job in self.github.waiting() if not names or job.environment in names]:
            self.github.review(found[0])
            self.github.work()

    def deployed(self, name: str) -> str:
        file = self.state / name
        return file.read_text().strip() if file.exists() else ""

    def lacking(self) -> list[str]:
        """The environments whose configuration is not deployed as main has it."""
        found = []
        for name in NAMES:
            commit = self.deployed(name)
            same = (
                commit
                and not subprocess.run(
                    ["git", "diff", "--quiet", commit, "main", "--", f"Pulumi.{name}.yaml"], cwd=self.folder
                ).returncode
            )
            if not same or (self.state / f"{name}.failed").exists():
                found.append(name)
        return found

    def ups(self) -> list[tuple[str, str]]:
        """Environment and commit of every `up` that succeeded, in order."""
        file = self.state / "log"
        return [(line.split()[0], line.split()[1]) for line in file.read_text().splitlines()] if file.exists() else []

    def _tip(self) -> str:
        done = subprocess.run(
            ["git", "rev-parse", "--quiet", "--verify", "HEAD"], cwd=self.folder, capture_output=True, text=True
        )
        return done.stdout.strip()
