"""The cluster autoscaler: the chart's values, refusals."""

import pytest

from gpufleet.kubernetes.autoscaler import Autoscaler
from tests.components.recorder import construct, refusal

ARGS = {"cluster_name": "train", "region": "us-east-1"}
VALUES = {
    "cloudProvider": "aws",
    "awsRegion": "us-east-1",
    "autoDiscovery": {"clusterName": "train"},
    "fullnameOverride": "cluster-autoscaler",
    "rbac": {"serviceAccount": {"create": True, "name": "cluster-autoscaler"}},
    "priorityClassName": "system-cluster-critical",
    # Not on own servers that joined the cluster.
    "nodeSelector": {"topology.kubernetes.io/region": "us-east-1"},
    "resources": {"requests": {"cpu": "100m", "memory": "600Mi"}},
    "extraArgs": {
        "expander": "least-waste",
        "max-node-provision-time": "20m",
        "scale-down-delay-after-add": "10m",
        "scale-down-unneeded-time": "10m",
        "skip-nodes-with-system-pods": False,
    },
}


def release(args, preview):
    return construct(lambda: Autoscaler("scaler", args), preview).one("kubernetes:helm.sh/v3:Release", "scaler-release")


def test_chart(preview):
    assert release(ARGS, preview).inputs == {
        "chart": "cluster-autoscaler",
        "version": "9.52.1",
        "name": "cluster-autoscaler",
        "namespace": "kube-system",
        "createNamespace": False,
        "atomic": True,
        "timeout": 600,
        "repositoryOpts": {"repo": "https://kubernetes.github.io/autoscaler"},
        "values": VALUES,
    }


def test_values_of_ones_own(preview):
    args = ARGS | {"idle_minutes": 5, "labels": {"owner": "ml"}, "values": {"replicaCount": 2, "resources": {}}}
    values = release(args, preview).inputs["values"]
    assert values["extraArgs"]["scale-down-unneeded-time"] == "5m"
    assert (values["replicaCount"], values["resources"]) == (2, {})
    assert values["additionalLabels"] == {"owner": "ml"}


def test_image_of_a_closed_network(preview):
    repository = "123456789012.dkr.ecr.us-east-1.amazonaws.com/cluster-autoscaler"
    assert release(ARGS | {"image": repository}, preview).inputs["values"] == VALUES | {
        "image": {"repository": repository}
    }


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"region": "us-east1"}, "region=us-east1: is not a region code; did you mean us-east-1? [aws-region-known]"),
        (
            {"image": "registry.example.com/autoscaler:1"},
            "image=registry.example.com/autoscaler:1: is not an image repository; use host/path without a tag, such as "
            "registry.example.com/nvidia/k8s-device-plugin [any-kubernetes-repository]",
        ),
        ({"idle_minutes": 0}, "idle_minutes=0: is below 1; use 1 or more [any-argument-least]"),
    ],
)
def test_refuses(change, line, preview):
    assert refusal(lambda: Autoscaler("scaler", ARGS | change), preview) == [f"scaler: {line}"]
