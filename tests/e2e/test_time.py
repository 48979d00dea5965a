"""How long `up` takes on the real cloud: never much longer than the cloud itself demands, and the figure is true."""

import pytest

from gpufleet_rehearsal.critical_path import TimeToUp, time_to_up
from tests.e2e.rehearsed_project import Project

LIMIT = 1.05
"""Estimate over lower bound that an environment of ours may cost at the most."""

CLUSTER = "    cluster = aws_parts.cluster_of(env, network)\n"
JOINING = "    joining, subnets = cluster.for_nodes(), network.for_nodes()\n"
FILES = "aws_parts.cluster_files(env, network, cluster)\n"
IMPORT = "import pulumi\n"
NEEDLESS = {
    # By an option of the component: the state then names it at the component, not at its children.
    "the files wait for the cluster": {
        FILES: "aws.SharedFiles(\n"
        '        part("files"),\n'
        "        **aws_parts.files_config(env) | network.for_files() | cluster.for_files(),\n"
        "        opts=pulumi.ResourceOptions(depends_on=[*cluster.resources]),\n"
        "    )\n",
    },
    # Its subnets are then those of nodes, which are known once these have a way out.
    "the cluster waits for the NAT gateway": {
        CLUSTER: "    network.private_subnet_ids = network.node_subnet_ids\n" + CLUSTER
    },
    # By an argument: the node group itself waits for every add-on.
    "pools wait for all of the cluster": {
        JOINING: JOINING + '    joining["cluster_name"] = with_dependencies(cluster.ready, cluster)\n',
        IMPORT: IMPORT + "from gpufleet.pulumi_outputs import with_dependencies\n",
    },
}
"""Mistakes that anybody could make: what stands in stacks/aws.py, and what would."""


def time_of(project: Project, environment: str = "aws-dev") -> TimeToUp:
    """Bring the environment up without waiting, and estimate."""
    up = project.rehearse(environment=environment)
    assert up.returncode == 0, up.stdout + up.stderr
    return time_to_up(project.cloud, project.state(environment))


def test_aws_dev_takes_no_longer_than_the_cloud_demands_and_the_figure_is_the_same_in_every_run(
    project: Project,
) -> None:
    time = time_of(project)
    # Ten minutes for the control plane alone: a bound that misses it would be a bound of nothing.
    assert time.lower_bound.seconds > 600
    assert 1.0 <= time.ratio <= LIMIT, time
    project.home.clear()
    assert time_of(project) == time


def test_aws_prod_takes_no_longer_than_the_cloud_demands(project: Project) -> None:
    time = time_of(project, "aws-prod")
    assert time.lower_bound.seconds > 600
    assert 1.0 <= time.ratio <= LIMIT, time


@pytest.mark.parametrize("mistake", NEEDLESS)
def test_one_needless_dependency_is_seen(project: Project, mistake: str) -> None:
    for old, new in NEEDLESS[mistake].items():
        project.edit("stacks/aws.py", old, new)
    assert time_of(project).ratio > LIMIT


@pytest.mark.sweep
def test_a_real_up_takes_as_long_as_estimated(project: Project) -> None:
    """At a scale at which the longest chain takes a real minute: the engine's own work counts little beside it.

    Measured from the first call that the cloud gets to the end of the last one, so without the start of engine and
    program. The engine adds some 0.05 real seconds to each step of the chain: 1.0025 and 1.0038 of the estimate, with
    other work on both of two processors. The limit leaves room for five times as much.
    """
    scale = 0.075
    up = project.run("rehearse", "aws-dev", "--latency-scale", str(scale))
    assert up.returncode == 0, up.stdout + up.stderr
    cloud = project.cloud
    estimate = time_to_up(cloud, project.state()).estimate.seconds
    calls = cloud.store.operations()
    assert {call.outcome for call in calls} == {"ok"}
    took = max(call.at + call.took for call in calls) - min(call.at for call in calls)
    assert estimate * scale >= 60, "too short: the engine's own work would count"
    assert estimate <= took <= 1.02 * estimate
