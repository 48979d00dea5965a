"""Rules on file systems of FSx for Lustre, as a component and as a program's resources make them."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from gpufleet.rules import coerce
from gpufleet.rules.aws.zones import validate_zones
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule, unverified
from gpufleet.rules.tags import validate_tags

LEAST_GIB, STEP_GIB = 1200, 2400
EFA_STEPS: Mapping[int, int] = {125: 38400, 250: 19200, 500: 9600, 1000: 4800}
"""MB/s for each TiB -> step in GiB of a file system with EFA."""
THROUGHPUTS = tuple(EFA_STEPS)
_LNET = 988


@rule("aws-lustre-size", Severity.ERROR)
def lustre_size(*, argument: str, gib: int) -> Outcome:
    """A file system of FSx for Lustre on SSD has 1200 GiB or a multiple of 2400.

    Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html (StorageCapacity);
    aws-samples/amazon-eks-autonomous-driving-data-service#12.
    """
    if gib == LEAST_GIB or (gib > 0 and gib % STEP_GIB == 0):
        return passed()
    lower = max(LEAST_GIB, gib // STEP_GIB * STEP_GIB)
    fix = f"use {join_words(map(str, dict.fromkeys((lower, _next(gib, STEP_GIB)))))}"
    return failed(argument, gib, f"is neither {LEAST_GIB} GiB nor a multiple of {STEP_GIB}", fix)


@rule("aws-lustre-throughput", Severity.ERROR)
def lustre_throughput(*, argument: str, throughput: int) -> Outcome:
    """A file system of deployment type PERSISTENT_2 has 125, 250, 500 or 1000 MB/s for each TiB.

    Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
    (PerUnitStorageThroughput); hashicorp/terraform-provider-aws#24341.
    """
    if throughput in EFA_STEPS:
        return passed()
    fix = f"use {join_words(map(str, THROUGHPUTS))}"
    return failed(argument, throughput, "is not a throughput tier of PERSISTENT_2", fix)


@rule("aws-lustre-efa-size", Severity.ERROR)
def lustre_efa_size(*, argument: str, gib: int, throughput: int) -> Outcome:
    """A file system with EFA has a size in the steps of its throughput tier.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/increase-storage-capacity.html: multiples of 38400 GiB at
    125 MB/s for each TiB, 19200 at 250, 9600 at 500, 4800 at 1000.
    """
    step = EFA_STEPS.get(throughput)
    if step is None or (gib > 0 and gib % step == 0):
        # Another tier breaks the rule of tiers.
        return passed()
    problem = f"is not a multiple of {step}, which EFA needs at {throughput} MB/s for each TiB"
    return failed(argument, gib, problem, f"use {_next(gib, step)}, or leave EFA out")


def _next(gib: int, step: int) -> int:
    return max(1, -(-gib // step)) * step


@rule("aws-lustre-efa-metadata", Severity.ERROR)
def lustre_efa_metadata(*, deployment_type: str, metadata: bool) -> Outcome:
    """A file system with EFA is of deployment type PERSISTENT_2 and has a metadata configuration.

    Source: hashicorp/terraform-provider-aws#40568; awslabs/awsome-distributed-ai#1124.
    """
    if deployment_type != "PERSISTENT_2":
        return failed("efa_enabled", True, f"is not supported by {deployment_type}", "use PERSISTENT_2")
    if not metadata:
        fix = "add metadata_configuration with mode AUTOMATIC"
        return failed("efa_enabled", True, "needs a metadata configuration", fix)
    return passed()


@rule("aws-lustre-bucket-path", Severity.ERROR)
def lustre_bucket_path(*, argument: str, path: str, deployment_type: str) -> Outcome:
    """A file system of deployment type PERSISTENT_2 is linked to a bucket by a data repository association.

    Source: kubernetes-sigs/aws-fsx-csi-driver#412 and #367; AutoImportPolicy, ExportPath and ImportPath of
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html.
    """
    if deployment_type != "PERSISTENT_2":
        return passed()
    fix = "leave it out, and add a data repository association"
    return failed(argument, path, "is not supported by PERSISTENT_2", fix)


@rule("aws-lustre-port", Severity.ERROR)
def lustre_port(*, opened: bool | None, clients: Collection[str]) -> Outcome:
    """The security groups of a file system let TCP 988 in: from each other, or FSx makes none, and from its clients.

    `opened`: None where not known. `clients`: the groups that mount it, empty for the file system's own.
    Source: aws/aws-parallelcluster#6181; kubernetes-sigs/aws-fsx-csi-driver#32;
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
    """
    if opened:
        return passed()
    who = join_words(sorted(clients), "or") if clients else "itself"
    fix = f"add ingress rules of TCP {_LNET} and 1018 to 1023"
    if opened is None:
        problem = f"whether TCP {_LNET} is open from {who} is not known from the program"
        return unverified("security_group_ids", sorted(clients), problem, fix)
    return failed("security_group_ids", sorted(clients), f"TCP {_LNET} is not open from {who}", fix)


@rule("aws-lustre-clients", Severity.ERROR)
def lustre_clients(*, groups: Sequence[str]) -> Outcome:
    """At least one security group may mount a file system.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html: TCP 988 and 1018 to
    1023 from the clients' groups.
    """
    if groups:
        return passed()
    problem = f"lets nobody mount: TCP {_LNET} would be open from the file system itself only"
    return failed("client_security_group_ids", {}, problem, "give the security group of the nodes")


@rule("aws-lustre-zone", Severity.WARNING)
def lustre_zone(*, zone: str, node_zones: Sequence[str]) -> Outcome:
    """A file system lies in the zone of the GPU nodes that mount it.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html: a file system lies in one zone;
    https://aws.amazon.com/fsx/lustre/pricing/: data between zones is paid; awslabs/awsome-distributed-ai#920: from
    another zone Lustre falls back to TCP.
    """
    others = sorted(set(node_zones) - {zone})
    if not others or not zone:
        return passed()
    problem = f"is not that of the nodes in {join_words(others, 'and')}, which read over TCP and pay for each byte"
    return failed("zone", zone, problem, "put the pools and the file system into one zone")


@rule("aws-lustre-efa-used", Severity.WARNING)
def lustre_efa_used(*, efa: bool, networks: Sequence[str]) -> Outcome:
    """A file system with EFA has nodes that read over EFA: `networks` are those of the pools.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/increase-storage-capacity.html: larger steps with EFA;
    aws/aws-parallelcluster-cookbook#3251: Lustre falls back to TCP where LNet has no EFA.
    """
    if not efa or not networks or "efa" in networks:
        return passed()
    problem = "is used by no node: no pool has network=efa, and other nodes read over TCP"
    return failed("efa", efa, problem, "leave efa out, which allows smaller file systems, or give a pool network=efa")


@rule("aws-lustre-buckets", Severity.ERROR)
def lustre_bucket(*, directory: str, bucket: str) -> Outcome:
    """A linked bucket is written s3://bucket or s3://bucket/prefix, its directory as an absolute path.

    Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html
    (DataRepositoryPath, FileSystemPath).
    """
    if not directory.startswith("/") or (directory != "/" and directory.endswith("/")) or "//" in directory:
        return failed("buckets", directory, "is not an absolute path", "write a directory such as /imagenet")
    name = bucket.removeprefix("s3://").split("/")[0]
    if not bucket.startswith("s3://") or not name:
        return failed(f"buckets.{directory}", bucket, "is not a path of S3", "write s3://bucket or s3://bucket/prefix")
    return passed()


@rule("aws-lustre-bucket-overlap", Severity.ERROR)
def lustre_buckets_apart(*, directories: Sequence[str]) -> Outcome:
    """The directories of linked buckets do not lie in one another.

    Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html
    (FileSystemPath): paths of two associations cannot overlap.
    """
    for outer, inner in combinations(sorted(directories), 2):
        if inner == outer or inner.startswith(f"{outer.rstrip('/')}/"):
            return failed("buckets", inner, f"lies in {outer}, which is linked too", "link directories beside it")
    return passed()


@rule("aws-lustre-alone", Severity.ERROR)
def lustre_alone(*, others: Sequence[str]) -> Outcome:
    """An environment has its shared files in one place: `others` are keys of other places.

    Source: gpufleet's own configuration: gpufleet:lustre takes the place of gpufleet:files (EFS), and on-prem servers
    read gpufleet:own_servers.nfs.
    """
    if not others:
        return passed()
    problem = "would be second places of the shared files, beside lustre"
    return failed("keys", list(others), problem, "leave out either these or lustre")


def validate_lustre_environment(
    args: Mapping[str, object], node_zones: Sequence[str], networks: Sequence[str], others: Sequence[str]
) -> list[Finding]:
    """Findings on Lustre in its environment, passes included. Reads zone, efa.

    node_zones, networks: of all pools. others: keys of the configuration for files elsewhere.
    """
    return [
        lustre_zone(zone=coerce.text(args, "zone"), node_zones=node_zones),
        lustre_efa_used(efa=args.get("efa") is True, networks=networks),
        lustre_alone(others=others),
    ]


def validate_lustre_files(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a file system of FSx for Lustre.

    Reads region, zone, gib, throughput, efa, buckets, client_security_group_ids, tags.
    """
    gib, throughput = coerce.whole(args, "gib", LEAST_GIB), coerce.whole(args, "throughput", THROUGHPUTS[0])
    buckets = coerce.mapping(args, "buckets")
    size = lustre_size(argument="gib", gib=gib)
    findings = [
        *validate_zones(coerce.text(args, "region"), [coerce.text(args, "zone")]),
        lustre_throughput(argument="throughput", throughput=throughput),
        *(lustre_bucket(directory=at, bucket=each) for at, each in buckets.items() if isinstance(each, str)),
        lustre_buckets_apart(directories=tuple(buckets)),
        lustre_clients(groups=tuple(coerce.mapping(args, "client_security_group_ids"))),
        *validate_tags(coerce.mapping(args, "tags")),
    ]
    efa = args.get("efa") is True
    return [*findings, lustre_efa_size(argument="gib", gib=gib, throughput=throughput) if efa else size]
