"""Rules on the Kubernetes version of an EKS node group."""

from collections.abc import Mapping

from gpufleet.catalog.eks_versions import minor_of
from gpufleet.rules.aws.cluster import version_legal
from gpufleet.rules.coerce import text
from gpufleet.rules.rule import Finding, Outcome, Severity, Status, failed, passed, rule

_MOST_OLDER = 3


@rule("aws-node-group-version", Severity.ERROR)
def version_near_cluster(*, version: str, cluster: str) -> Outcome:
    """Nodes have the cluster's minor version of Kubernetes, or one of the three before; "" for one that is not known.

    Source: https://kubernetes.io/releases/version-skew-policy/#kubelet: never newer than the API server, at most three
    minor versions older; https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html, FAQ.
    """
    if not version or not cluster:
        return passed()
    older = minor_of(cluster) - minor_of(version)
    if 0 <= older <= _MOST_OLDER:
        return passed()
    what = "newer than" if older < 0 else f"{older} minor versions older than"
    fix = "leave it out: nodes then follow the cluster" if older < 0 else "raise it before the cluster's"
    return failed("version", version, f"is {what} the cluster, which has {cluster}", fix)


@rule("aws-node-group-version-image", Severity.ERROR)
def version_of_image(*, version: str, image: str) -> Outcome:
    """A node group with an image of the customer's says no Kubernetes version, which that image has; "" for none said.

    Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html (version): with a custom AMI in
    the launch template, do not specify it, or the deployment fails.
    """
    if not version or not image.startswith("ami-"):
        return passed()
    return failed("version", version, f"EKS rejects it beside {image}, which has its own", "leave it out")


def validate_node_version(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a node group's version. Reads version, cluster_version (where it is known) and image."""
    version = text(args, "version")
    if version and (form := version_legal(version=version)).status is not Status.PASS:
        return [form]
    return [
        version_near_cluster(version=version, cluster=text(args, "cluster_version")),
        version_of_image(version=version, image=text(args, "image", "al2023")),
    ]
