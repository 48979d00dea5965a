"""Rules on where the workers of a job run."""

import re
from collections.abc import Mapping

from gpufleet.rules import coerce
from gpufleet.rules.kubernetes.file_access import validate_job_file_access
from gpufleet.rules.labels import key_form, value_form
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

_ZONE_NAME = re.compile(r"[a-z]{2}(-[a-z]+)+-\d[a-z]")
_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")


@rule("any-mpi-zone", Severity.ERROR)
def one_zone(*, zone: str) -> Outcome:
    """The workers of a job are in one zone, given by its id.

    Source: traffic between zones is slower and is billed on both sides (0.01 USD per GB each); EFA does not cross
    them: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html#efa-limits. Nodes are labelled with zone ids.
    """
    if _ZONE_NAME.fullmatch(zone):
        problem = "is a zone name, which means another zone in another account"
        return failed("zone", zone, problem, "use the zone's id, such as use1-az1")
    if not _VALUE.fullmatch(zone):
        return failed("zone", zone, "is not a zone id", "use one zone id, such as use1-az1, or leave it out")
    return passed()


@rule("any-mpi-volume-zone", Severity.ERROR)
def volume_zone(*, volume_zone: str, zone: str | None) -> Outcome:
    """The workers of a job with a volume of one zone run in that zone.

    Source: kubernetes-sigs/aws-efs-csi-driver#228: without a mount target in the node's zone a pod stays
    ContainerCreating, MountVolume.SetUp failed, until its time is up.
    """
    if zone == volume_zone:
        return passed()
    where = f"the workers run in {zone}" if zone else "the workers may run in any zone"
    return failed("volume_zone", volume_zone, f"is where the volume is, and {where}", f"set zone={volume_zone}")


@rule("any-mpi-topology", Severity.ERROR)
def topology_queued(*, argument: str, topology: str, queue: str | None) -> Outcome:
    """A job that requests one topology domain has a queue, because only the queue reads the request.

    Source: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/: without Kueue the annotation does
    nothing.
    """
    if queue:
        return passed()
    problem = "is read only by Kueue, and the job has no queue"
    return failed(argument, topology, problem, "give the queue, or use zone")


@rule("any-mpi-topology-once", Severity.ERROR)
def one_topology(*, topology: str, prefer: str) -> Outcome:
    """A job either needs one domain of a topology, or prefers one.

    Source: pkg/controller/jobframework/tas_validation.go of github.com/kubernetes-sigs/kueue v0.19.2: at most one
    annotation of a topology.
    """
    if not topology or not prefer:
        return passed()
    return failed("prefer_topology", prefer, f"has no effect with topology={topology}", "leave one of them out")


@rule("any-mpi-prefer", Severity.ERROR)
def preference_free(*, prefer: str, place: str, queue: str | None) -> Outcome:
    """A job prefers a place only if it may run in any and no queue places it: `place` is empty for any.

    Source: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#flavors-and-resources: Kueue takes the first flavor
    with room, in the order of the ClusterQueue, and pins the pods to its labels.
    """
    if place:
        return failed("prefer", prefer, f"has no effect with place={place}", "leave one of them out")
    if queue:
        return failed("prefer", prefer, f"has no effect in queue {queue}, whose flavors have an order", "leave it out")
    return passed()


def validate_placement(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a job's place.

    Reads zone, volume_zone, topology, prefer_topology, queue, gpu, place, prefer_place, neighbours,
    volume_claim, unreached_places, files_place.
    """
    findings = validate_job_file_access(args)
    zone = coerce.text(args, "zone") or None
    if isinstance(args.get("zone"), str):
        findings.append(one_zone(zone=coerce.text(args, "zone")))
    if of_volume := coerce.text(args, "volume_zone"):
        findings.append(volume_zone(volume_zone=of_volume, zone=zone))
    queue = coerce.text(args, "queue") or None
    for argument in ("topology", "prefer_topology"):
        if topology := coerce.text(args, argument):
            findings.append(topology_queued(argument=argument, topology=topology, queue=queue))
            findings.append(key_form(argument=argument, key=topology))
    both = {"topology": coerce.text(args, "topology"), "prefer": coerce.text(args, "prefer_topology")}
    findings.append(one_topology(**both))
    if neighbours := coerce.text(args, "neighbours"):
        findings.append(key_form(argument="neighbours", key=neighbours))
    for argument in ("gpu", "place", "prefer_place"):
        if isinstance(args.get(argument), str):
            findings.append(value_form(argument=argument, value=coerce.text(args, argument)))
    if prefer := coerce.text(args, "prefer_place"):
        place = coerce.text(args, "place")
        findings.append(preference_free(prefer=prefer, place=place, queue=queue))
    return findings
