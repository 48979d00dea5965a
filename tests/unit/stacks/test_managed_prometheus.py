"""A workspace of Amazon's Prometheus, from the configuration of an environment."""

from tests.unit.stacks.aws_environment import program
from tests.unit.stacks.test_platform import CLOSED, MONITORED, chart

WORKSPACE = "aws:amp/workspace:Workspace"


def test_prometheus_writes_to_the_environments_workspace():
    made = program(software=MONITORED, managed_prometheus={"retention_days": 400})
    assert made.one(WORKSPACE).protect is True
    (entry,) = chart(made)["prometheus"]["prometheusSpec"]["remoteWrite"]
    assert entry["url"] == "https://aps-workspaces.invalid/workspaces/dev-prometheus-workspace/api/v1/remote_write"
    assert entry["sigv4"] == {"region": "us-east-1"}
    # Its rights are there before it, and until it is gone.
    release = made.one("kubernetes:helm.sh/v3:Release", "dev-monitoring-release")
    assert "dev-prometheus-association" in release.property_dependencies["values"]
    assert made.result["prometheus_workspace"] == "dev-prometheus-workspace-id"
    erased = program(software=MONITORED, managed_prometheus={}, erase=True)
    assert erased.one(WORKSPACE).protect is False
    assert program(software=MONITORED).of(WORKSPACE) == []


def test_a_workspace_that_nothing_reaches_is_refused():
    [line] = program.refusal(managed_prometheus={})
    assert line.endswith("nothing writes to the workspace; add monitoring [aws-prometheus-written]")
    lines = program.refusal(software=MONITORED, managed_prometheus={}, network=CLOSED)
    assert [line for line in lines if line.endswith("[aws-prometheus-reached]")] != []
