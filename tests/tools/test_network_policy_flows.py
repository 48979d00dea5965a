"""The table of flows: whose word counts under which data plane, and which rows are wrong. No program judges here."""

import pytest

from tests.network_policy import flows
from tests.network_policy.flows import DataPlane
from tools.network_policy.verdicts import Flow, Verdict

SSH, NFS = Flow("launcher", "worker", 22), Flow("worker", "NFS", 2049)
METADATA, INTRUDER = Flow("worker", "metadata", 80), Flow("other team", "worker", 22)
OPEN, CLOSED = Verdict(kubernetes=True, cilium=True), Verdict(kubernetes=False, cilium=False)


@pytest.mark.parametrize(
    ("plane", "flow", "verdict", "passes"),
    [
        pytest.param(
            DataPlane("Cilium"), SSH, Verdict(kubernetes=True, cilium=False), False, id="Cilium's own meaning"
        ),
        pytest.param(DataPlane("Cilium"), SSH, Verdict(kubernetes=False, cilium=True), True, id="no other's"),
        pytest.param(DataPlane("VPC CNI", 1), SSH, Verdict(kubernetes=True, cilium=False), True, id="Kubernetes'"),
        pytest.param(DataPlane("VPC CNI", 1), SSH, Verdict(kubernetes=False, cilium=True), False, id="not Cilium's"),
        pytest.param(DataPlane("no policies", 1), INTRUDER, CLOSED, True, id="policies that nobody enforces"),
        pytest.param(DataPlane("no policies", 1), METADATA, OPEN, False, id="one hop is the node itself"),
        pytest.param(DataPlane("VPC CNI", 1), METADATA, OPEN, False, id="one hop, whatever the policies say"),
        pytest.param(DataPlane("VPC CNI", 2), METADATA, OPEN, True, id="two hops reach a pod"),
        pytest.param(DataPlane("VPC CNI", 2), METADATA, CLOSED, False, id="two hops, and a policy"),
        pytest.param(DataPlane("VPC CNI", 1), SSH, OPEN, True, id="hops are counted to the metadata service alone"),
    ],
)
def test_whose_word_counts(plane, flow, verdict, passes):
    assert plane.passes(flow, verdict) is passes


def test_table_marks_wrong_rows(monkeypatch):
    allowed = {SSH: False, NFS: True, METADATA: False, INTRUDER: True}
    monkeypatch.setattr(flows, "ENVIRONMENTS", ("azure-dev",))
    monkeypatch.setattr(flows, "NEEDED", (SSH, NFS))
    monkeypatch.setattr(flows, "FORBIDDEN", (METADATA, INTRUDER))
    monkeypatch.setattr(flows, "stack", lambda environment: None)
    monkeypatch.setattr(flows, "team_policies", lambda made: [])
    monkeypatch.setattr(flows, "data_planes", lambda environment, made: [DataPlane("Cilium")])
    monkeypatch.setattr(
        flows, "verdicts", lambda policies, peers, asked: [Verdict(not allowed[each], allowed[each]) for each in asked]
    )
    assert flows.table().splitlines()[2:] == [
        "| azure-dev | Cilium | launcher to worker, TCP 22 | yes | no, WRONG |",
        "| azure-dev | Cilium | worker to NFS, TCP 2049 | yes | yes |",
        "| azure-dev | Cilium | worker to metadata, TCP 80 | no | no |",
        "| azure-dev | Cilium | other team to worker, TCP 22 | no | yes, WRONG |",
    ]
