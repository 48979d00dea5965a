"""Rules on the MPI operator."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.generic import allowed_choice
from gpufleet.rules.kubernetes.device_plugins import validate_object_labels
from gpufleet.rules.kubernetes.mpi_image import validate_image
from gpufleet.rules.kubernetes.version import version_pinned
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

FLAVOURS = ("mpi-operator", "trainer")
IMPLEMENTATIONS = ("OpenMPI", "Intel", "MPICH")
_CHECKSUM = re.compile(r"[0-9a-f]{64}")


@rule("any-operator-checksum-known", Severity.ERROR)
def checksum_given(*, version: str, sha256: str | None, known: Sequence[str]) -> Outcome:
    """The checksum of the operator's manifest is known, or given as 64 hexadecimal digits.

    Source: the manifest holds a ClusterRole over pods and secrets of every namespace: anyone who can change what an
    address serves owns the cluster.
    """
    if sha256 is not None:
        if _CHECKSUM.fullmatch(sha256):
            return passed()
        return failed(
            "sha256", sha256, "is not a SHA-256 checksum", "give 64 hexadecimal digits, as sha256sum writes them"
        )
    if version in known:
        return passed()
    fix = f"give sha256, or use {join_words(known)}"
    return failed("version", version, "has a manifest whose checksum is not known", fix)


@rule("any-operator-manifest", Severity.ERROR)
def manifest_place(*, manifest: str) -> Outcome:
    """The manifest is a file, or is fetched over https.

    Source: over http anybody on the way changes it.
    """
    if manifest.startswith("https://") or (manifest and "://" not in manifest):
        return passed()
    return failed("manifest", manifest, "must be a file or an https address", "use a path or https://...")


@rule("any-operator-trainer", Severity.ERROR)
def trainer_runs(*, implementations: Sequence[str], given: Sequence[str]) -> Outcome:
    """Kubeflow Trainer is asked for OpenMPI only, and is installed from its chart; `given` are arguments of the
    manifest that it does not have.

    Source: https://www.kubeflow.org/docs/components/trainer/operator-guides/runtime/ (mlPolicy.mpi: OpenMPI); v2.3 is
    v1alpha1 and comes as the chart oci://ghcr.io/kubeflow/charts/kubeflow-trainer.
    """
    others = [each for each in implementations if each != "OpenMPI"]
    if others:
        problem = f"has no runtime for {join_words(others, 'and')}"
        return failed("flavour", "trainer", problem, "use flavour=mpi-operator, or implementations=[OpenMPI]")
    if given:
        fix = f"leave {join_words(given, 'and')} out, or use flavour=mpi-operator"
        return failed("flavour", "trainer", "comes as a chart, not as a manifest", fix)
    return passed()


@rule("any-operator-jobs", Severity.WARNING)
def runs_mpi_jobs(*, flavour: str) -> Outcome:
    """The operator runs MPIJobs, which are what this project submits.

    Source: Kubeflow Trainer v2 has TrainJob in place of MPIJob: github.com/kubeflow/trainer.
    """
    if flavour != "trainer":
        return passed()
    problem = "runs TrainJobs, and `gpufleet jobs` submits MPIJobs"
    return failed("flavour", flavour, problem, "use flavour=mpi-operator, or submit TrainJobs yourself")


def validate_mpi_operator(args: Mapping[str, object], known: Sequence[str]) -> list[Finding]:
    """Every finding on the operator; `known` are the versions whose manifest's checksum is known.

    Reads flavour, version, manifest, sha256, image, implementations, labels.
    """
    flavour = coerce.text(args, "flavour", "mpi-operator")
    implementations = coerce.texts(args, "implementations")
    findings = [
        allowed_choice(argument="flavour", word=flavour, legal=FLAVOURS),
        runs_mpi_jobs(flavour=flavour),
        *(allowed_choice(argument="implementations", word=each, legal=IMPLEMENTATIONS) for each in implementations),
        *validate_image(args),
        *validate_object_labels(args),
    ]
    version = coerce.text(args, "version", known[0] if known else "")
    if isinstance(args.get("version"), str):
        findings.append(version_pinned(argument="version", version=version))
    if flavour == "trainer":
        given = [each for each in ("manifest", "sha256", "image") if args.get(each) is not None]
        return [*findings, trainer_runs(implementations=implementations, given=given)]
    sha256 = coerce.text(args, "sha256") if args.get("sha256") is not None else None
    findings.append(checksum_given(version=version, sha256=sha256, known=known))
    if isinstance(args.get("manifest"), str):
        findings.append(manifest_place(manifest=coerce.text(args, "manifest")))
    return findings
