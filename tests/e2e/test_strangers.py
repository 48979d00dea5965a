"""Programs of other teams in regions that none of our environments is in: their cost, the packs, and the report.

Nothing of our stacks: components imported as a library. One preview of each by the real engine, with both packs, gives
what `gpufleet cost` and the report are made of.
"""

import json
from datetime import date, timedelta
from pathlib import Path

import pytest

from gpufleet.report.build import build_report
from gpufleet.report.load_previews import read_preview
from tests.e2e.rehearsed_project import REPOSITORY, Project

FRANKFURT = """
import pulumi

from gpufleet.aws import Cluster, GpuNodeGroup, Network, SharedFiles
from gpufleet.validation import gathering

# The region is that of the provider.
place = {"tags": {"owner": "speech", "project": "speech", "expires-at": "UNTIL"}}
zones = ["euc1-az2", "euc1-az3"]
with gathering():
    network = Network("net", zones=zones, **place)
    cluster = Cluster(
        "speech", admins={"platform": "arn:aws:iam::000000000000:role/platform"}, **network.for_cluster(), **place
    )
    SharedFiles("files", zones=zones, **network.for_files(), **cluster.for_files(), **place)
    GpuNodeGroup(
        "trainers", types=["g6.12xlarge"], max=1, zones=zones[:1], **cluster.for_nodes(), **network.for_nodes(), **place
    )
"""
DUBLIN = """
import pulumi

from gpufleet.azure import Cluster, GpuNodeGroup, Network, NfsShare, ResourceGroup
from gpufleet.validation import gathering

tags = {"owner": "speech", "project": "speech", "expires-at": "UNTIL"}
with gathering():
    place = ResourceGroup("speech", region="northeurope", tags=tags).for_parts()
    network = Network("net", cidr="10.64.0.0/16", **place)
    cluster = Cluster(
        "speech",
        version="1.34",
        admins={"platform": "11111111-2222-3333-4444-555555555555"},
        **network.for_cluster(),
        **place,
    )
    NfsShare("files", gib=200, **network.for_clients(nodes=True), **place)
    GpuNodeGroup(
        "trainers", types=["Standard_NC24ads_A100_v4"], max=1, **cluster.for_nodes(), **network.for_nodes(), **place
    )
"""
PROGRAMS = {
    # USD a month by the lists, of g6.12xlarge, files and their backups, and of everything at most.
    "frankfurt": (FRANKFURT, "aws:region", "eu-central-1", {"trainers": 4210.15, "backups of shared files": 30.0}),
    "dublin": (DUBLIN, "azure-native:location", "northeurope", {"trainers": 3237.55}),
}
PACKS = " ".join(f"--policy-pack {REPOSITORY / 'policies' / pack}" for pack in ("zones", "cost"))
ENGINE = "PULUMI_DEBUG_COMMANDS=1 pulumi preview -s dev --json --show-sames"
PREVIEW = f"{ENGINE} --event-log {{folder}}/log {PACKS} > {{folder}}/plain"


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_strangers_program_has_all_prices(tmp_path: Path, name: str) -> None:
    source, key, region, most = PROGRAMS[name]
    folder = tmp_path / name
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text(f"name: {name}\nruntime: python\n")
    (folder / "__main__.py").write_text(source.replace("UNTIL", str(date.today() + timedelta(days=365))))
    (folder / "Pulumi.dev.yaml").write_text(f"config: {{'{key}': {region}}}\n")
    project = Project(folder)
    project.rehearse("--", "sh", "-c", PREVIEW.format(folder=folder), environment="dev")

    cost = project.run("cost", "--preview", "plain", "--json")
    assert cost.returncode == 0, cost.stderr
    found = json.loads(cost.stdout)
    assert found["unknown"] == []
    assert found["not_priced"] == {}
    lines = {line["what"]: line["usd_per_month"]["ceiling"] for line in found["other"]}
    pools = {pool["name"]: pool["totals"]["ceiling"]["usd_per_month"] for pool in found["pools"]}
    assert {what: round((lines | pools)[what], 2) for what in most} == most

    # The packs themselves, and the report: nothing about a price, and nothing is refused but a missing budget.
    (stack,) = build_report([read_preview(folder / each) for each in ("plain", "log")], today=date.today()).stacks
    assert {each.rule for each in stack.issues if each.severity == "error" and not each.known} == {"any-cost-budget"}
    assert [each.line for each in stack.issues if "price" in each.line] == []
    assert stack.unpriced == []
    assert stack.cost is not None
    assert stack.cost.ceiling.complete
