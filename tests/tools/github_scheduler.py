"""GitHub's scheduler, played for workflows that are pushed to: which job runs when, with what; scripts really run.

Played: `needs`, matrices, reusable workflows, concurrency groups (one runs, one waits, and a newer one cancels the one
that waits, unless `queue: max`), required reviewers of environments, outputs, variables and secrets of the repository
and of environments, artifacts, and the shells of steps. Sources, below docs.github.com/en/actions/:
reference/workflows-and-actions/workflow-syntax, reference/workflows-and-actions/contexts,
how-tos/write-workflows/choose-when-workflows-run/control-workflow-concurrency,
how-tos/reuse-automations/reuse-workflows (a secret of a called workflow is empty unless the caller passes it by name;
then the job's environment has the say).
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.tools.github_expressions import evaluate, fill
from tests.tools.github_machine import Machine, git

DONE = ("success", "failure", "cancelled", "skipped")


@dataclass
class Job:
    """One job of a run. state: new, queued (for its group), waiting (for approval), ready, calling, or one of DONE."""

    run: "Run"
    name: str
    key: str
    text: Mapping[str, Any]
    matrix: Mapping[str, str]
    scope: "Scope"
    state: str = "new"
    group: str = ""
    environment: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    called: "Scope | None" = None
    log: str = ""


@dataclass
class Scope:
    """The jobs of one workflow file in a run: of the run itself, or of a call."""

    workflow: Mapping[str, Any]
    inputs: Mapping[str, str]
    secrets: frozenset[str] | None
    jobs: list[Job] = field(default_factory=list)

    def of(self, key: str) -> list[Job]:
        return [job for job in self.jobs if job.key == key]


@dataclass
class Run:
    """One run, for one push."""

    number: int
    sha: str
    before: str
    scope: Scope
    state: str = "new"
    group: str = ""


@dataclass
class GitHub:
    """A repository at a code host. origin: its bare git repository. machines: an empty folder for jobs' files.

    reviewed: environments with required reviewers. process: variables of every script. free_while_waiting:
    whether a call whose job waits for reviewers leaves its group to others, which no page says. dice: which of several
    jobs that could run goes first.
    """

    origin: Path
    machines: Path
    workflow: str
    variables: Mapping[str, str]
    secrets: Mapping[str, str] = field(default_factory=dict)
    environment_secrets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    reviewed: frozenset[str] = frozenset()
    process: Mapping[str, str] = field(default_factory=dict)
    dice: random.Random = field(default_factory=lambda: random.Random(1))
    free_while_waiting: bool = False
    runs: list[Run] = field(default_factory=list)
    steps: list[tuple[str, str, frozenset[str]]] = field(default_factory=list)
    """Job, script, and the secrets in its environment, of every script that ran."""

    def pushed(self, sha: str, before: str) -> Run:
        """A push to main: the run of the workflow as it is in that commit."""
        run = Run(len(self.runs) + 1, sha, before, Scope(self._file(sha, self.workflow), {}, None))
        self.runs.append(run)
        run.group = fill(_group(run.scope.workflow), self._contexts(run, run.scope))
        self._expand(run, run.scope, "")
        return run

    def step(self) -> bool:
        """Let one thing happen, and say whether there was one: otherwise everything waits for people, or is done."""
        before = self._states()
        for run in self.runs:
            self._enter(run, run.group, [each for each in self.runs if each is not run])
        for job in list(self.jobs()):
            self._advance(job)
        ready = [job for job in self.jobs() if job.state == "ready"]
        if ready:
            job = self.dice.choice(ready)
            self._execute(job)
            return True
        return before != self._states()

    def work(self) -> None:
        """Until everything waits for people, or is done."""
        while self.step():
            pass

    def waiting(self) -> list[Job]:
        """The jobs that wait for reviewers."""
        return [job for job in self.jobs() if job.state == "waiting"]

    def review(self, job: Job, *, approve: bool = True) -> None:
        assert job.state == "waiting"
        job.state = "ready" if approve else "failure"

    def _states(self) -> list[str]:
        return [*(run.state for run in self.runs), *(f"{job.name} {job.state}" for job in self.jobs())]

    def jobs(self) -> Iterator[Job]:
        for run in self.runs:
            for job in run.scope.jobs:
                yield job
                yield from job.called.jobs if job.called else ()

    def _enter(self, thing: Run | Job, group: str, others: list[Any]) -> bool:
        """Whether something runs in its concurrency group: one runs, one waits, and a newer takes that one's place."""
        if thing.state not in ("new", "queued"):
            return thing.state in ("running", "calling")
        same = [each for each in others if group and each.group == group and each.state not in DONE]
        waits = [each for each in same if each.state == "queued"]
        if thing.state == "new" and waits and _queue(thing) != "max":
            for each in waits:
                each.state = "cancelled"
                for job in each.scope.jobs if isinstance(each, Run) else ():
                    job.state = "cancelled"
        if any(each.state not in ("new", "queued") and not self._leaves(each) for each in same) or (
            thing.state == "queued" and waits and _queue(thing) == "max" and min(map(_order, waits)) < _order(thing)
        ):
            thing.state = "queued"
            return False
        thing.state = "running"
        return True

    def _leaves(self, thing: Run | Job) -> bool:
        called = thing.called if isinstance(thing, Job) else None
        return self.free_while_waiting and called is not None and any(job.state == "waiting" for job in called.jobs)

    def _advance(self, job: Job) -> None:
        """What happens to a job that runs no script."""
        if job.run.state == "queued":
            return
        if job.state == "new":
            self._begin(job)
        elif job.state == "queued":
            self._enter(job, job.group, [each for each in self.jobs() if each is not job])
        if job.state == "running":
            self._start(job)
        if job.state == "calling":
            assert job.called is not None
            ends = [each.state for each in job.called.jobs]
            if all(end in DONE for end in ends):
                job.state = "failure" if "failure" in ends else "cancelled" if "cancelled" in ends else "success"
        run = job.run
        if run.state == "running" and all(each.state in DONE for each in run.scope.jobs):
            run.state = "success" if all(each.state in ("success", "skipped") for each in run.scope.jobs) else "failure"

    def _begin(self, job: Job) -> None:
        needs = [needed for key in _list(job.text.get("needs")) for needed in job.scope.of(key)]
        if not all(needed.state in DONE for needed in needs):
            return
        contexts = self._contexts(job.run, job.scope, job)
        condition = job.text.get("if", "success()")
        good = all(needed.state == "success" for needed in needs)
        if not (good and evaluate(condition, contexts, {"success": lambda: True})):
            job.state = "skipped"
        elif "matrix" in job.text.get("strategy", {}) and not job.matrix:
            job.scope.jobs.remove(job)
            self._expand(job.run, job.scope, job.key)
        elif group := fill(_group(job.text), contexts):
            job.group = group
            self._enter(job, group, [each for each in self.jobs() if each is not job])
        else:
            job.state = "running"

    def _start(self, job: Job) -> None:
        """From the group's turn on: a call of another workflow, reviewers, or a machine."""
        contexts = self._contexts(job.run, job.scope, job)
        if used := job.text.get("uses"):
            text = self._file(job.run.sha, used.removeprefix("$/"))
            inputs = {name: fill(value, contexts) for name, value in job.text.get("with", {}).items()}
            assert set(inputs) == set(text["on"]["workflow_call"]["inputs"])
            passed = frozenset(job.text.get("secrets", {}))
            assert passed <= set(text["on"]["workflow_call"]["secrets"])
            job.called = Scope(text, inputs, passed)
            self._expand(job.run, job.called, "")
            job.state = "calling"
            return
        said = job.text.get("environment", "")
        job.environment = fill(said["name"] if isinstance(said, dict) else said, contexts)
        job.state = "waiting" if job.environment in self.reviewed else "ready"

    def _expand(self, run: Run, scope: Scope, only: str) -> None:
        for key, text in scope.workflow["jobs"].items():
            if only and key != only:
                continue
            axes = text.get("strategy", {}).get("matrix", {}) if only else {}
            if not axes:
                scope.jobs.append(Job(run, key, key, text, {}, scope))
            for axis, values in axes.items():
                said = values.strip().removeprefix("${{").removesuffix("}}")
                probe = Job(run, key, key, text, {}, scope)
                for value in evaluate(said, self._contexts(run, scope, probe), {}):
                    scope.jobs.append(Job(run, f"{key} ({value})", key, text, {axis: value}, scope))

    def _contexts(self, run: Run, scope: Scope, job: Job | None = None) -> dict[str, Any]:
        own = self.environment_secrets.get(job.environment, {}) if job else {}
        secrets = {
            name: own.get(name, self.secrets.get(name, ""))
            for name in {*own, *self.secrets}
            if scope.secrets is None or name in scope.secrets
        }
        needs = {key: scope.of(key) for key in _list(job.text.get("needs"))} if job else {}
        return {
            "github": {
                "sha": run.sha,
                "ref": "refs/heads/main",
                "ref_name": "main",
                "event_name": "push",
                "event": {"before": run.before},
            },
            "vars": self.variables,
            "secrets": secrets,
            "inputs": scope.inputs,
            "matrix": job.matrix if job else {},
            "needs": {key: {"outputs": jobs[-1].outputs} for key, jobs in needs.items() if jobs},
            "steps": {},
        }

    def _file(self, sha: str, path: str) -> Mapping[str, Any]:
        text = git(self.origin, "show", f"{sha}:{path}")
        # All of it as texts: YAML 1.1 would read the key `on` as a truth.
        return dict(yaml.load(text, yaml.BaseLoader))

    def _execute(self, job: Job) -> None:
        machine = Machine(self.origin, self.machines / str(len(self.steps)), job.run.sha, self.process)
        machine.run(job.text, job.scope.workflow, self._contexts(job.run, job.scope, job))
        job.state, job.log, job.outputs = "success" if machine.good else "failure", machine.log, machine.outputs
        self.steps += [(job.name, script, secrets) for script, secrets in machine.scripts]


def _group(text: Mapping[str, Any]) -> str:
    said = text.get("concurrency", {})
    return str(said if isinstance(said, str) else said.get("group", ""))


def _queue(thing: Run | Job) -> str:
    said = (thing.scope.workflow if isinstance(thing, Run) else thing.text).get("concurrency", {})
    return "" if isinstance(said, str) else str(said.get("queue", ""))


def _order(thing: Run | Job) -> int:
    return thing.number if isinstance(thing, Run) else thing.run.number


def _list(said: str | list[str] | None) -> list[str]:
    return [said] if isinstance(said, str) else said or []
