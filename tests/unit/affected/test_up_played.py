"""up.yml and deploy.yml, played: GitHub's scheduler (tests/tools/github_scheduler.py), bash and git.

Programs stand in for gpufleet and Pulumi here, as the order of things is what is looked at; tests/e2e/test_up_played.py
has the real ones.
"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.tools.deployments import NAMES, Deployments

pytestmark = pytest.mark.slow

OLD = """
on: {push: {branches: [main]}}
permissions: {}
concurrency: {group: up, cancel-in-progress: false}
jobs:
  touched:
    outputs: {environments: "${{ steps.touched.outputs.environments }}"}
    steps:
      - uses: actions/checkout@v4
      - run: make setup
      - id: touched
        run: |
          found="$(.venv/bin/gpufleet preview --list --base "$BEFORE" --among "$OURS")"
          echo "environments=$found" >> "$GITHUB_OUTPUT"
        env:
          BEFORE: ${{ github.event.before }}
          OURS: ${{ vars.GPUFLEET_ENVIRONMENTS }}
  up:
    needs: touched
    if: needs.touched.outputs.environments != '[]'
    strategy: {matrix: {environment: "${{ fromJSON(needs.touched.outputs.environments) }}"}}
    environment: ${{ matrix.environment }}
    env: {STACK: "${{ matrix.environment }}"}
    steps:
      - uses: actions/checkout@v4
      - run: make setup
      - run: .venv/bin/pulumi up --yes --stack "$STACK"
"""
"""The trigger of up.yml before: it compares with `event.before`, in one group."""
EVERYTHING = dict.fromkeys(NAMES, "0")


def everything_deployed(place: Path, **words: object) -> Deployments:
    """All three environments at one commit."""
    made = Deployments.played(place, **words)  # type: ignore[arg-type]
    made.deploy_by_hand(**EVERYTHING)
    return made


def test_three_pushes_during_one_approval_each_of_another_environment(tmp_path: Path) -> None:
    played = everything_deployed(tmp_path)
    played.push(dev="1")
    assert [job.environment for job in played.github.waiting()] == ["dev"]
    for name in ("prod", "test", "dev"):
        played.push(**{name: "2"})
    # One approval of an environment stops no other.
    assert [job.environment for job in played.github.waiting()] == ["dev", "prod", "test"]
    played.approve()
    assert played.lacking() == []


def test_three_pushes_during_one_approval_of_the_same_environment(tmp_path: Path) -> None:
    played = everything_deployed(tmp_path)
    first = played.push(dev="1")
    pushes = [played.push(dev=text) for text in "234"]
    (job,) = played.github.waiting()
    assert job.environment == "dev"
    played.github.review(job)
    played.github.work()
    # What was approved, and then one more approval for all that came meanwhile.
    assert played.ups()[-1] == ("dev", first)
    played.approve()
    assert played.ups()[-2:] == [("dev", first), ("dev", pushes[-1])]
    assert played.lacking() == []


def test_the_old_trigger_lost_them(tmp_path: Path) -> None:
    """The same scheduler, and the workflow as it was: what only the second push touched never came up."""
    played = everything_deployed(tmp_path, workflow=OLD)
    played.push(dev="1")
    for name in ("prod", "test"):
        played.push(**{name: "2"})
    played.approve()
    assert played.lacking() == ["prod"]
    played.push(docs="later")
    played.approve()
    assert played.lacking() == ["prod"]


def test_a_push_between_preview_and_approval_is_not_what_was_approved(tmp_path: Path) -> None:
    played = everything_deployed(tmp_path)
    seen = played.push(dev="1")
    (job,) = played.github.waiting()
    later = played.push(dev="2")
    played.github.review(job)
    played.github.work()
    assert played.deployed("dev") == seen
    (again,) = played.github.waiting()
    assert again is not job
    played.approve()
    assert played.deployed("dev") == later


def test_a_state_that_has_moved_on_since_the_approval_is_refused_and_comes_again(tmp_path: Path) -> None:
    played = everything_deployed(tmp_path)
    played.push(dev="1")
    (job,) = played.github.waiting()
    # Somebody deploys by hand what no push has.
    (played.state / "dev").write_text(played.deployed("prod") + "\n")
    hand = played.push(docs="x")
    (played.state / "dev").write_text(hand + "\n")
    before = played.ups()
    played.github.review(job)
    played.github.work()
    assert job.state == "failure"
    assert "dev: not as approved" in job.log
    assert played.ups() == before


def test_a_commit_that_main_has_lost_is_refused(tmp_path: Path) -> None:
    from tests.tools.github_machine import git

    played = everything_deployed(tmp_path)
    played.push(dev="1")
    (job,) = played.github.waiting()
    git(played.folder, "reset", "--quiet", "--hard", "HEAD~1")
    git(played.folder, "push", "--quiet", "--force", "origin", "main")
    played.github.review(job)
    played.github.work()
    assert job.state == "failure"
    assert "is no longer part of main" in job.log
    assert ("dev", job.run.sha) not in played.ups()


@pytest.mark.parametrize("how", ["fails", "is rejected"])
def test_what_was_not_deployed_comes_with_the_next_push(tmp_path: Path, how: str) -> None:
    played = everything_deployed(tmp_path)
    played.push(dev="1")
    (job,) = played.github.waiting()
    if how == "fails":
        (played.state / "fail").touch()
    played.github.review(job, approve=how == "fails")
    played.github.work()
    assert job.state == "failure"
    assert played.lacking() == ["dev"]
    (played.state / "fail").unlink(missing_ok=True)
    # It touches nothing of the environment.
    played.push(docs="x")
    played.approve()
    assert played.lacking() == []


def test_a_run_that_is_started_again_deploys_nothing_older(tmp_path: Path) -> None:
    played = everything_deployed(tmp_path)
    old = played.push(dev="1")
    played.approve()
    played.push(dev="2")
    played.approve()
    ups = played.ups()
    played.github.pushed(old, "")
    played.github.work()
    assert (played.github.waiting(), played.ups()) == ([], ups)


class Newest(random.Random):
    """Of the jobs that could run, the one of the newest push goes first."""

    def choice(self, seq: Sequence[Any]) -> Any:
        return seq[-1]


def test_a_run_that_comes_late_to_its_turn_takes_what_the_newer_one_would_have(tmp_path: Path) -> None:
    """The run of an older push reaches the group after that of a newer one, and takes its place."""
    played = everything_deployed(tmp_path)
    played.push(dev="1")
    played.github.dice = Newest()
    older, newer = played.commit(dev="2"), played.commit(dev="3")
    played.github.work()
    cancelled = [job.run.sha for job in played.github.jobs() if job.state == "cancelled"]
    assert cancelled == [newer]
    played.approve()
    assert (played.ups()[-1], played.lacking()) == (("dev", newer), [])
    assert older not in [commit for _, commit in played.ups()]


def test_two_approvals_at_a_time_would_deploy_nothing_that_was_not_approved(tmp_path: Path) -> None:
    """Even if a group were free while its job waits: the second is refused, and comes again."""
    played = everything_deployed(tmp_path)
    played.github.free_while_waiting = True
    first, second = played.push(dev="1"), played.push(dev="2")
    one, two = played.github.waiting()
    for job in (one, two):
        played.github.review(job)
        played.github.work()
    assert (one.state, two.state, played.deployed("dev")) == ("success", "failure", first)
    assert "dev: not as approved" in two.log
    assert second not in [commit for _, commit in played.ups()]
    played.push(docs="x")
    played.approve()
    assert played.lacking() == []


def test_documents_deploy_nothing(tmp_path: Path) -> None:
    played = everything_deployed(tmp_path)
    played.push(docs="x")
    assert played.github.waiting() == []
    assert {job.state for job in played.github.runs[-1].scope.jobs} == {"success", "skipped"}


def test_only_the_engine_gets_the_passphrase(tmp_path: Path) -> None:
    played = everything_deployed(tmp_path)
    played.push(dev="1")
    played.approve()
    got = {script.strip().splitlines()[-1] for _, script, secrets in played.github.steps if secrets}
    assert got == {
        'gpufleet preview --real --allow-loss --to report -- "$STACK"',
        'pulumi up --yes --non-interactive --skip-preview --stack "$STACK"',
    }
    assert [script for _, script, secrets in played.github.steps if secrets and "make setup" in script] == []


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.sweep) for seed in range(3, 40))])
def test_nothing_is_lost_in_whatever_order_things_happen(tmp_path: Path, seed: int) -> None:
    """Pushes, jobs, approvals, rejections and failures in a random order; then one push of a document."""
    dice = random.Random(seed)
    played = Deployments.played(tmp_path, seed=seed)
    for number in range(7):
        played.commit(**{dice.choice(NAMES): str(number) for _ in range(dice.randrange(1, 3))})
        (played.state / "fail").touch() if dice.random() < 0.2 else (played.state / "fail").unlink(missing_ok=True)
        for _ in range(dice.randrange(8)):
            played.github.step()
            if (waiting := played.github.waiting()) and dice.random() < 0.3:
                played.github.review(dice.choice(waiting), approve=dice.random() < 0.8)
    (played.state / "fail").unlink(missing_ok=True)
    played.push(**EVERYTHING | {"docs": "the last"}) if dice.random() < 0.3 else played.push(docs="the last")
    played.approve()
    assert played.lacking() == []
    assert [
        job.name for job in played.github.runs[-1].scope.jobs if job.state not in ("success", "skipped", "cancelled")
    ] == []
