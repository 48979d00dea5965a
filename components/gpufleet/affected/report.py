"""The report on a change: previews of its environments, each compared with the state before."""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from gpufleet.affected.git import write_tree
from gpufleet.affected.previews import PolicyPacks, failed_preview, run_previews
from gpufleet.errors import UserError
from gpufleet.pulumi_cli import PulumiCli
from gpufleet.report.build import build_report
from gpufleet.report.configuration_files import project_name, virtual_environment
from gpufleet.report.model import Report
from gpufleet.report.preview import Preview

_STAND_INS = "Previewed on simulated clouds, without credentials: what only the real account and state know is missing."


def report_change(
    project: Path,
    start: str | None,
    environments: Sequence[str],
    real: bool,
    commit: str | None,
    say: Callable[[str], None],
) -> tuple[Report, dict[str, str]]:
    """The report, and the environments that could not be previewed with the reasons, which are in the report too.

    start: the commit to compare with on simulated clouds, None for nothing. real: against the stacks' own states and
    clouds. say: called with progress messages. Errors: UserError.
    """
    name = project_name(project)
    packs = {(name, each): PolicyPacks.of(project, each) for each in environments}
    configs = {each: found.values() for each, found in packs.items()}
    unseen: dict[str, str] = {}
    with _tree(project, start if environments and not real else None) as before:

        def look(stack: tuple[str, str]) -> list[Preview]:
            say(f"{stack[1]}: previewing {'on its backend' if real else 'on simulated clouds'}")
            try:
                return _real(project, stack, packs[stack]) if real else _played(project, before, stack, packs[stack])
            except UserError as error:
                unseen[stack[1]] = str(error)
                return [failed_preview(stack, str(error))]

        # A preview keeps two processors busy: the engine, the program, providers and policy packs.
        with ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 2)) as pool:
            seen = [preview for found in pool.map(look, packs) for preview in found]
    return build_report(seen, policy_configs=configs, commit=commit), unseen


@contextmanager
def _tree(project: Path, commit: str | None) -> Iterator[Path | None]:
    """The project as it is at a commit, with the program's Python of today; None without a commit."""
    if commit is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="gpufleet-base-") as folder:
        tree = write_tree(project, commit, Path(folder))
        python = virtual_environment(project)
        if python and (project / python).exists() and not (tree / python).exists() and tree.is_dir():
            (tree / python).symlink_to((project / python).resolve())
        yield tree if (tree / "Pulumi.yaml").is_file() else None


def _real(project: Path, name: tuple[str, str], packs: PolicyPacks) -> list[Preview]:
    with tempfile.TemporaryDirectory(prefix="gpufleet-preview-") as folder:
        return run_previews(PulumiCli(project), name, packs, Path(folder))


def _played(project: Path, before: Path | None, name: tuple[str, str], packs: PolicyPacks) -> list[Preview]:
    from gpufleet_rehearsal.base_and_change import preview_against_base

    def look(engine: PulumiCli, folder: Path) -> list[Preview]:
        return run_previews(engine, name, packs, folder)

    seen, log, reason = preview_against_base(project, before, name[1], look)
    how = "Compared with the base, brought up on them." if log is not None else f"From nothing, as {reason}."
    for each in seen:
        each.notes, each.from_nothing, each.base_log = (f"{_STAND_INS} {how}",), log is None, log
    return seen
