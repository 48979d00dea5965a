"""Every program of the corpus comes up, changes and goes in the simulated cloud: nothing is refused, nothing left."""

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from gpufleet_rehearsal.cloud.open_cloud import open_cloud
from gpufleet_rehearsal.cloud.seed_resources import seed_account
from gpufleet_rehearsal.provider.servicer import Provider
from tests.corpus.life import Change, Life
from tests.corpus.programs import SAMPLE, programs
from tests.rehearsal.engine_talk import talk_directly

GUIDE = Path(__file__).parents[2] / "docs" / "rehearsal.md"
SOURCE = re.compile(r"[\w.-]+/[\w.-]+/[\w./-]+")


def test_sixty_programs_or_more_of_two_clouds() -> None:
    counted = Counter(program.cloud for program in programs())
    assert counted["aws"] >= 40
    assert counted["azure-native"] >= 20
    assert len({program.source for program in programs()}) >= 50
    assert len({program.name for program in programs()}) == len(programs())


def test_each_kind_has_a_sample() -> None:
    kinds = {program.name: program.kind for program in programs()}
    assert {kind: kinds.get(name) for kind, name in SAMPLE.items()} == {kind: kind for kind in SAMPLE}


def test_the_guide_counts_the_programs() -> None:
    counted = Counter(program.cloud for program in programs())
    made = sum(len(program.resources) for program in programs())
    page = GUIDE.read_text()
    said = f"It has {len(programs())} programs, {counted['aws']} on AWS and {counted['azure-native']} on Azure, with "
    said += f"{made} resources."
    assert said in " ".join(page.split())
    rows = {}
    for program in programs():
        number, resources = rows.get(program.kind, (0, 0))
        rows[program.kind] = (number + 1, resources + len(program.resources))
    table = "".join(f"| {kind} | {number} | {resources} |\n" for kind, (number, resources) in rows.items())
    assert f"| kind | programs | resources |\n|---|---|---|\n{table}\n" in page


@pytest.mark.parametrize("program", programs(), ids=lambda program: program.name)
def test_program_lives_and_goes(program, tmp_path: Path) -> None:
    assert SOURCE.fullmatch(program.source)
    if program.holds:
        (tmp_path / "holds.yaml").write_text(yaml.safe_dump(list(program.holds)))
        account = open_cloud(program.cloud, tmp_path, {"region": program.region})
        seed_account(account, tmp_path / "holds.yaml")
        account.store.close()
    provider = Provider(program.cloud, tmp_path)

    def held() -> list[str]:
        return sorted(f"{each.name} {each.type}" for each in provider.cloud.store.resources())

    async def life(engine) -> None:
        await engine.configure(region=program.region)
        before = held()
        stack = Life(engine, program)
        await stack.preview()
        assert held() == before
        assert await stack.up(program.resources) == Change(made=set(program.resources))
        changed = await stack.up(program.changed)
        assert changed.replaced == program.replaces
        assert changed.updated == program.updates
        assert changed.made == set(program.changed) - set(program.resources)
        assert changed.deleted == set(program.resources) - set(program.changed)
        assert changed != Change()
        # What nobody has changed since does not change.
        assert await stack.up(program.changed) == Change()

        await stack.destroy()
        left = Counter(held()) - Counter(before)
        assert sorted(each.split()[1] for each in left.elements()) == sorted(program.leaves)

    talk_directly(life, provider)
