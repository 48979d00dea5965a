"""One crash, by its seed: what is run and killed when, how the environment recovers, and what is wrong afterwards."""

import os
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpufleet.cli import main
from tests.crashes.crash import OF_DESTROY, VICTIMS, Crash, NoCrash, crash, keep_orphans, wait_for_all
from tests.crashes.scene import CHANGE, CHANGES, DESTROY, KEEP, UP, Rehearsed, Scene, Snapshot

ROUND = [(environment, operation) for operation in (UP, UP, CHANGE, DESTROY, KEEP) for environment in CHANGES]
"""What seeds in a row go through: `up` from nothing counts most."""
ALONE, ADOPTED, FAILED = "the command again", "adopt, then the command", "failed"


@dataclass(frozen=True)
class Case:
    """A seed's environment, operation and victim, which take turns; the moment is drawn from those of the scene."""

    seed: int

    @property
    def environment(self) -> str:
        return ROUND[self.seed % len(ROUND)][0]

    @property
    def operation(self) -> str:
        return ROUND[self.seed % len(ROUND)][1]

    @property
    def victim(self) -> str:
        victims = OF_DESTROY if self.operation in (DESTROY, KEEP) else VICTIMS
        return victims[sum(divmod(self.seed, len(ROUND))) % len(victims)]

    def crash(self, scene: Scene) -> Crash:
        draw = random.Random(self.seed)
        moment = draw.choice(scene.moments)
        recorded = moment.startswith("after") and self.victim in ("engine", "all") and draw.random() < 0.5
        return Crash(self.victim, moment, recorded)


@dataclass(frozen=True)
class Outcome:
    """How a case went. how: ALONE, ADOPTED or FAILED. wrong: a line for each thing that is not as it should be."""

    how: str
    crash: str
    wrong: Sequence[str] = ()


class Unrecovered(Exception):
    """The environment is not as it was to be; a line for each argument."""


def play(case: Case, scene: Scene, end: Snapshot, folder: Path) -> Outcome:
    """Crash and recover in `folder`, whose `log` takes all output. end: what is left after a destroy, undisturbed."""
    planned = case.crash(scene)
    keep_orphans()
    rehearsed = scene.before.copy(folder / "project")
    (folder / "tmp").mkdir()
    # What a killed process leaves behind is looked for here.
    os.environ["TMPDIR"], tempfile.tempdir = str(folder / "tmp"), None
    os.chdir(rehearsed.project.folder)
    arguments = rehearsed.command(case.operation)
    how = ALONE
    try:
        print(f"=== {case}: {planned}", flush=True)
        crash(rehearsed.project.home, case.environment, arguments, planned)
        crashed = rehearsed.seen()
        print(f"=== after the crash: {crashed.orphans=} {crashed.pending=} {crashed.locks=}", flush=True)
        if crashed.locks or crashed.orphans or crashed.pending:
            how = ADOPTED
            adopt(rehearsed)
        run("rehearse", *arguments)
        expect(rehearsed.seen(), scene.result, scene.before.seen())
        if case.operation in (UP, CHANGE):
            run("rehearse", *rehearsed.command(DESTROY))
            expect(rehearsed.seen(), end, end)
        wait_for_all()
        if left := [f"temporary file: {each}" for each in (folder / "tmp").rglob("*") if each.is_file()]:
            raise Unrecovered(*left)
    except Unrecovered as error:
        return Outcome(FAILED, str(planned), error.args)
    except NoCrash as error:
        return Outcome(FAILED, str(planned), [f"no crash: {error}"])
    return Outcome(how, str(planned))


def adopt(rehearsed: Rehearsed) -> None:
    """Recover as docs/adopt.md says."""
    os.environ["GPUFLEET_REHEARSAL"] = str(rehearsed.project.home.root)
    run("adopt", rehearsed.environment, "--unlock", "--yes")
    known = {f"{each['type']} {each['urn'].rpartition('::')[2]}" for each in rehearsed.checkpoint["resources"]}
    if known & set(rehearsed.seen().orphans):
        # A replacement that was interrupted: the state has what it was to replace.
        run("adopt", rehearsed.environment, "--delete", "--yes")
    del os.environ["GPUFLEET_REHEARSAL"]
    # Those that are left are what a cloud accepts a second time: `up` makes them again, which changes nothing.
    print(f"=== not adopted: {rehearsed.seen().orphans}")


def run(*arguments: str) -> None:
    """`gpufleet ...` in this process. Errors: Unrecovered when it fails."""
    print(f"=== gpufleet {' '.join(arguments)}", flush=True)
    try:
        main(arguments)
    except SystemExit as end:
        sys.stdout.flush()
        if end.code:
            raise Unrecovered(f"gpufleet {' '.join(arguments)}: exit code {end.code}") from end


def expect(found: Snapshot, reference: Snapshot, before: Snapshot) -> None:
    """Compare with an undisturbed run. Errors: Unrecovered."""
    wrong = [
        f"{what}: {sign}{count} {name}"
        for what, here, there in (
            ("in the cloud", found.held, reference.held),
            ("in the cluster", found.objects, reference.objects),
        )
        for sign, more in (("+", here - there), ("-", there - here))
        for name, count in sorted(more.items())
    ]
    wrong += [f"not in the state: {name}" for name in found.orphans]
    wrong += [f"in the state alone: {name}" for name in found.gone]
    wrong += [f"replaced, not deleted: {urn}" for urn in found.stale]
    wrong += [f"still pending: {urn}" for urn in found.pending]
    wrong += [f"lock: {file}" for file in found.locks]
    wrong += [f"file: {file}" for file in sorted(found.files - reference.files)]
    same = {name for name, id_ in before.ids.items() if reference.ids.get(name) == id_}
    wrong += [f"made anew: {name}" for name in sorted(same) if found.ids.get(name) != before.ids[name]]
    if wrong:
        raise Unrecovered(*wrong)
