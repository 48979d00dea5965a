"""JobSetController: the chart's values, refusals."""

import pytest

from gpufleet.kubernetes.jobset_controller import JobSetController
from tests.components.recorder import construct, refusal


def release(preview, **args):
    return construct(lambda: JobSetController("jobset", args), preview).one("kubernetes:helm.sh/v3:Release").inputs


def test_chart(preview):
    assert release(preview) == {
        "chart": "oci://registry.k8s.io/jobset/charts/jobset",
        "version": "0.12.0",
        "name": "jobset",
        "namespace": "jobset-system",
        "createNamespace": True,
        "atomic": True,
        "timeout": 600,
        "values": {},
    }


def test_where_it_runs_and_comes_from(preview):
    region = {"topology.kubernetes.io/region": "us-east-1"}
    made = release(
        preview, version="0.13.0", image="registry.example.com/jobset", node_selector=region, labels={"a": "b"}
    )
    assert made["version"] == "0.13.0"
    assert made["values"] == {
        "image": {"repository": "registry.example.com/jobset"},
        "controller": {"nodeSelector": region},
        "commonLabels": {"a": "b"},
    }


def test_the_kind_is_there_when_its_controller_is(preview):
    recording = construct(lambda: JobSetController("jobset"), preview)
    assert recording.outputs["jobset"] == {"api_version": "jobset.x-k8s.io/v1alpha2"}


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (
            {"version": "v0.12"},
            "version=v0.12: is not one version; use three numbers, such as 0.20.0 [any-kubernetes-version-pinned]",
        ),
        (
            {"image": "registry.example.com/jobset:1"},
            "image=registry.example.com/jobset:1: is not an image repository; use host/path without a tag, such as "
            "registry.example.com/nvidia/k8s-device-plugin [any-kubernetes-repository]",
        ),
    ],
)
def test_refuses(args, line, preview):
    assert refusal(lambda: JobSetController("jobset", args), preview) == [f"jobset: {line}"]
