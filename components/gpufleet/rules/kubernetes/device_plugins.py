"""Rules on device plugins."""

import re
from collections.abc import Mapping

from gpufleet.catalog.eks_registries import eks_registries
from gpufleet.rules import coerce
from gpufleet.rules.aws.pool_arguments import TAINT_EFFECTS
from gpufleet.rules.generic import allowed_choice, at_least
from gpufleet.rules.kubernetes.name import name_form
from gpufleet.rules.kubernetes.version import version_pinned
from gpufleet.rules.labels import key_form, value_form
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

SOURCES = ("daemonset", "chart")
_REPOSITORY = re.compile(r"([A-Za-z0-9.-]+(:\d+)?/)?[a-z0-9]+([._/-]+[a-z0-9]+)*")


@rule("any-kubernetes-repository", Severity.ERROR)
def repository_form(*, argument: str, repository: str) -> Outcome:
    """An image repository is given without its tag, which is the version.

    Source: https://github.com/distribution/reference (reference.go)
    """
    if _REPOSITORY.fullmatch(repository):
        return passed()
    fix = "use host/path without a tag, such as registry.example.com/nvidia/k8s-device-plugin"
    return failed(argument, repository, "is not an image repository", fix)


@rule("any-gpu-operator-rdma", Severity.ERROR)
def rdma_of_driver(*, rdma: bool, driver: bool) -> Outcome:
    """The GPU operator turns RDMA on in its own driver.

    Source: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-operator-rdma.html:
    driver.rdma.enabled is a setting of the driver that the operator installs.
    """
    if driver or not rdma:
        return passed()
    return failed("rdma", True, "needs the operator's driver", "set driver=true and use nodes without one")


@rule("aws-efa-plugin-image", Severity.ERROR)
def efa_image_known(*, region: str, known: bool) -> Outcome:
    """The EFA plugin's image comes from EKS's own registry in the region; known: whether the catalog has that.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html, which lists one registry for each
    region; roles of a partition such as GovCloud have no rights on registries of another.
    """
    if known:
        return passed()
    fix = "give image, a repository with AWS's aws-efa-k8s-device-plugin"
    return failed("region", region, "has no registry of EKS that the catalog knows", fix)


def validate_device_plugin(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on NVIDIA's device plugin. Reads source, version, image, namespace, tolerations, labels."""
    findings = [allowed_choice(argument="source", word=coerce.text(args, "source", "daemonset"), legal=SOURCES)]
    if isinstance(args.get("version"), str):
        findings.append(version_pinned(argument="version", version=coerce.text(args, "version")))
    if isinstance(args.get("image"), str):
        findings.append(repository_form(argument="image", repository=coerce.text(args, "image")))
    if isinstance(args.get("namespace"), str):
        findings.append(name_form(argument="namespace", name=coerce.text(args, "namespace")))
    return [*findings, *_tolerations(args), *validate_object_labels(args)]


def validate_efa_plugin(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on the EFA device plugin, which has the same arguments, and region."""
    findings = validate_device_plugin(args)
    if isinstance(args.get("region"), str) and args.get("image") is None:
        region = coerce.text(args, "region")
        findings.append(efa_image_known(region=region, known=region in eks_registries()))
    return findings


def validate_dcgm_exporter(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on DCGM's exporter. Reads image, namespace, tolerations, labels."""
    return validate_device_plugin(args)


def validate_gpu_operator(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on NVIDIA's GPU operator. Reads version, driver, rdma, tolerations, labels."""
    findings = [rdma_of_driver(rdma=coerce.flag(args, "rdma", False), driver=coerce.flag(args, "driver", True))]
    if isinstance(args.get("version"), str):
        findings.append(version_pinned(argument="version", version=coerce.text(args, "version")))
    return [*findings, *_tolerations(args), *validate_object_labels(args)]


def validate_monitoring(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on Prometheus and Grafana in a cluster. Reads environment, storage_gib, version, labels."""
    findings = [at_least(argument="storage_gib", value=coerce.whole(args, "storage_gib", 1), least=1)]
    if isinstance(args.get("environment"), str):
        findings.append(value_form(argument="environment", value=coerce.text(args, "environment")))
    if isinstance(args.get("version"), str):
        findings.append(version_pinned(argument="version", version=coerce.text(args, "version")))
    return [*findings, *validate_object_labels(args)]


def validate_object_labels(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on the labels of a component's objects. Reads labels."""
    findings: list[Finding] = []
    for key, value in coerce.mapping(args, "labels").items():
        findings.append(key_form(argument="labels", key=key))
        if isinstance(value, str):
            findings.append(value_form(argument=f"labels.{key}", value=value))
    return findings


def _tolerations(args: Mapping[str, object]) -> list[Finding]:
    findings: list[Finding] = []
    taints = args.get("tolerations")
    for taint in taints if isinstance(taints, list | tuple) else ():
        if isinstance(taint, Mapping):
            findings += [
                key_form(argument="tolerations.key", key=coerce.text(taint, "key")),
                allowed_choice(argument="tolerations.effect", word=coerce.text(taint, "effect"), legal=TAINT_EFFECTS),
            ]
    return findings
