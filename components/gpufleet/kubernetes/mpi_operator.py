"""MpiOperator: what turns an MPIJob into pods, keys and a hostfile."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict, Unpack

import pulumi

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.documents.json import read_json
from gpufleet.errors import UserError
from gpufleet.kubernetes.helm_release import chart_release
from gpufleet.kubernetes.objects import kubernetes_objects, labelled
from gpufleet.kubernetes.remote_manifest import ManifestNotFetched, read_manifest
from gpufleet.played_endpoint import is_state_rehearsed
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding, validate_arguments
from gpufleet.rules.kubernetes.operator import validate_mpi_operator

Flavour = Literal["mpi-operator", "trainer"]
Implementation = Literal["OpenMPI", "Intel", "MPICH"]

VERSION = "v0.7.0"
"""The version whose manifest's checksum is known here and that the tests run."""
IMAGE = "docker.io/mpioperator/mpi-operator"
"""The image's repository in its manifest."""
TRAINER_VERSION = "2.3.0"
TRAINER_CHART = "oci://ghcr.io/kubeflow/charts/kubeflow-trainer"
LIMITS = (
    "--kube-api-qps=300",
    "--kube-api-burst=600",
    "--controller-queue-rate-limit=1000",
    "--controller-queue-burst=10000",
)
"""Arguments for jobs of hundreds of workers. By itself the operator sends 5 requests a second, one for each worker, and
puts off every event of a pod by a bucket of 10 a second: 512 workers took 157 s to be placed, 85 s with these, and
other jobs waited for minutes behind their events. Measured with v0.7.0 on a control plane with fake nodes."""
POD_SECURITY: Mapping[str, Any] = {
    "runAsNonRoot": True,
    "runAsUser": 65532,
    "runAsGroup": 65532,
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""Of the operator's pod, where its manifest says nothing: it needs no root and writes no file, its logs go to standard
error. 65532 is the user nonroot of its base image. Source: kubeflow/mpi-operator v0.7.0, Dockerfile (distroless) and
cmd/mpi-operator/main.go (klog v2); kubernetes.io/docs/concepts/security/pod-security-standards (restricted)."""
_HEALTH = {"path": "/healthz", "port": 8080}
CONTAINER: Mapping[str, Any] = {
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    },
    "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}},
    "livenessProbe": {"httpGet": _HEALTH, "initialDelaySeconds": 15, "periodSeconds": 20, "timeoutSeconds": 5},
    "readinessProbe": {"httpGet": _HEALTH, "periodSeconds": 10, "timeoutSeconds": 5},
}
"""Of the operator's container, where its manifest says nothing. Its health: whether it holds its lease or waits for it.
The requests are a choice and not a measurement; there are no limits, as its memory grows with the pods of the cluster.
Source: kubeflow/mpi-operator v0.7.0, cmd/mpi-operator/app/server.go (healthCheckPort)."""
_ADDRESS = "https://raw.githubusercontent.com/kubeflow/mpi-operator/{version}/deploy/v2beta1/mpi-operator.yaml"


class MpiOperatorConfig(TypedDict):
    """Which operator, of which version, from where."""

    flavour: NotRequired[Flavour]
    """mpi-operator, which runs MPIJobs and so what `gpufleet jobs` submits; or trainer, Kubeflow Trainer, which runs
    TrainJobs of OpenMPI. Default mpi-operator."""
    version: NotRequired[str]
    """Version, for instance v0.7.0. Default v0.7.0, or 2.3.0 of trainer."""
    manifest: NotRequired[str]
    """https address or path of the operator's manifest, for instance in a closed network. Default: upstream's of the
    version."""
    sha256: NotRequired[str]
    """Checksum of the manifest, 64 hexadecimal digits. Default: the known one; other versions need it."""
    image: NotRequired[str]
    """Image of the operator instead of the manifest's, with a tag or digest, for your own registry."""
    implementations: NotRequired[Sequence[Implementation]]
    """MPI implementations that jobs use: OpenMPI, Intel, MPICH. Default [OpenMPI]."""


class MpiOperatorArgs(MpiOperatorConfig):
    """The same, and how its objects are marked."""

    labels: NotRequired[Mapping[str, str]]
    """Labels of the objects."""


@cache
def known_checksums() -> dict[str, str]:
    """Version to the checksum of its manifest."""
    records = read_json(Path(__file__).with_name("mpi_operator_manifests.json"))
    return {version: record["sha256"] for version, record in records.items()}


def plan_operator(args: MpiOperatorArgs) -> list[dict[str, Any]]:
    """The objects of the operator. `args` has passed the rules. Errors: UserError if the manifest cannot be had."""
    version = args.get("version", VERSION)
    checksum = args.get("sha256") or known_checksums()[version]
    documents = read_manifest(args.get("manifest") or _ADDRESS.format(version=version), checksum)
    return [labelled(_prepared(document, args.get("image")), args.get("labels", {})) for document in documents]


def _prepared(document: Mapping[str, Any], image: str | None) -> Mapping[str, Any]:
    """The controller with limits for many workers, without root, with probes, and with an image of the customer's own.

    All else is as it is, but for the rules of a role that is put together from others: they are the cluster's to
    write, and `rules: []` of the manifest claims them, so that each later change of the role is refused
    (kubernetes/website#56495).
    """
    if "aggregationRule" in document:
        return {key: value for key, value in document.items() if key != "rules"}
    if document["kind"] != "Deployment":
        return document
    pod = document["spec"]["template"]["spec"]
    own = {"image": image} if image else {}
    containers = [{**CONTAINER, **each, **own, "args": [*each.get("args", []), *LIMITS]} for each in pod["containers"]]
    spec = {"securityContext": dict(POD_SECURITY), **pod, "containers": containers}
    template = {**document["spec"]["template"], "spec": spec}
    return {**document, "spec": {**document["spec"], "template": template}}


def _objects(args: MpiOperatorArgs) -> list[dict[str, Any]] | ManifestNotFetched:
    """The same; in a rehearsal, the reason why there are none, where the network is missing.

    Nothing is put in their place, and a real cluster does not get here: it would be without its operator.
    """
    try:
        return plan_operator(args)
    except ManifestNotFetched as missing:
        if is_state_rehearsed():
            return missing
        raise


@contextmanager
def _faults_named(name: str) -> Iterator[None]:
    """A block whose UserError ends the program with one line about the component `name`."""
    try:
        yield
    except UserError as error:
        raise pulumi.RunError(f"{name}: {error}") from error


class MpiOperator(Component):
    """Kubeflow's MPI operator: custom resource definition, namespace, roles and controller.

    It gets what its own manifest asks for, cluster-wide: pods, secrets, config maps, services and jobs.

    A rehearsal that cannot fetch the manifest continues without these objects, and warns.

    Errors: RunError if the manifest cannot be had, has another checksum, or holds what the SDK cannot register.
    """

    api_version: pulumi.Output[str]
    """kubeflow.org/v2beta1, or trainer.kubeflow.org/v1alpha1: for those who need the operator to be there."""

    def __init__(
        self, name: str, args: MpiOperatorArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[MpiOperatorArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: MpiOperatorArgs) -> list[Finding]:
        findings = validate_mpi_operator(args, tuple(known_checksums()))
        refused = any(each.rejects for each in [*validate_arguments(args, MpiOperatorArgs), *findings])
        if not refused and args.get("flavour") != "trainer":
            # Here and not in `create`: a manifest that cannot be had ends the program before anything is registered.
            with _faults_named(name):
                _objects(args)
        return findings

    def create(self, name: str, args: MpiOperatorArgs) -> None:
        if args.get("flavour") == "trainer":
            version = args.get("version", TRAINER_VERSION)
            release = chart_release(f"{name}-release", TRAINER_CHART, version, "kubeflow-system", {}, self.child())
            self.api_version = with_dependencies(pulumi.Output.from_input("trainer.kubeflow.org/v1alpha1"), release)
            return
        with _faults_named(name):
            planned = _objects(args)
            if isinstance(planned, ManifestNotFetched):
                without = "this rehearsal is without the operator's objects, until it runs once with a network"
                pulumi.log.warn(f"{name}: {without}: {planned}", self)
                planned = []
            made = kubernetes_objects(name, planned, self)
        self.api_version = with_dependencies(pulumi.Output.from_input("kubeflow.org/v2beta1"), *made)
