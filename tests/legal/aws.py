"""Legal configurations of environments on AWS: with a cluster, with AWS Batch, and with own servers."""

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from tests.legal.documented import (
    ARNS,
    INFREQUENT_DAYS,
    KEPT_DAYS,
    LABEL_VALUES,
    LUSTRE_STEPS,
    PATHS,
    REGIONS,
    TAINTS,
    UPSTREAMS,
    budgets,
    control_plane_zones,
    counts,
    names,
    offered,
    ownership,
    some,
    types,
    versions,
)

MOST_NODES = 20
RESERVATIONS = st.from_regex(r"cr-[0-9a-f]{17}", fullmatch=True)
FILES = st.one_of(
    some(
        throughput=st.sampled_from(["elastic", "bursting"]),
        uid=st.integers(1, 65_534),
        gid=st.integers(1, 65_534),
        directory=st.from_regex(r"/[a-z0-9_-]{1,20}(/[a-z0-9_-]{1,20}){0,3}", fullmatch=True),
        permissions=st.sampled_from(["0755", "0770", "0700", "2775"]),
        infrequent_access_days=st.sampled_from([0, *INFREQUENT_DAYS]),
        backup=st.booleans(),
        require_tls=st.booleans(),
        kms_key_arn=ARNS,
    ),
    st.fixed_dictionaries({"throughput": st.just("provisioned"), "provisioned_mibps": st.integers(1, 1024)}),
)
"""docs.aws.amazon.com/efs/latest/ug/API_CreateAccessPoint.html and API_CreateFileSystem.html"""
REGISTRY = st.fixed_dictionaries(
    {"repositories": st.lists(PATHS, min_size=1, max_size=3, unique=True)},
    optional={
        "untagged_days": st.integers(1, 365),
        "kept_mutable": st.integers(1, 500),
        "pull_through": st.dictionaries(st.sampled_from(sorted(UPSTREAMS)), st.none(), min_size=1).map(
            lambda chosen: {prefix: UPSTREAMS[prefix] for prefix in chosen}
        ),
    },
)
OUTPUTS = some(expire_days=st.integers(0, 3650), versioning=st.booleans(), kms_key_arn=ARNS)


@st.composite
def disks(draw: st.DrawFn) -> dict[str, Any]:
    """docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html: 500 IOPS for a GiB, 4 for each MiB/s."""
    disk = draw(some(disk_gib=st.integers(100, 16_384)))
    if draw(st.booleans()):
        iops = draw(st.integers(3_000, 16_000))
        disk |= {
            "disk_type": "gp3",
            "disk_iops": iops,
            "disk_throughput": draw(st.integers(125, min(1_000, iops // 4))),
        }
    return disk


@st.composite
def pools(
    draw: st.DrawFn, region: str, zones: Sequence[str], capacities: Sequence[str], without: str = "-"
) -> dict[str, Any]:
    """A pool of one type, or of several on Spot.

    A cluster placement group and EFA stay in one zone: docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies
    .html and efa.html.
    """
    kinds = [each for each in types("aws") if not each["type"].startswith(without)]
    here = [each for each in kinds if set(offered(each["type"], region)) & set(zones)]
    chosen = draw(st.sampled_from(here))
    lying = [zone for zone in zones if zone in offered(chosen["type"], region)]
    pool: dict[str, Any] = {"types": [chosen["type"]], **draw(counts(MOST_NODES)), **draw(disks())}
    capacity = draw(st.sampled_from(capacities))
    if capacity != "on-demand":
        pool["capacity"] = capacity
    if capacity == "reservation":
        return {**pool, "zones": lying[:1], "reservation_id": draw(RESERVATIONS), **draw(_fabric(chosen))}
    if draw(st.booleans()):
        pool |= {"zones": [draw(st.sampled_from(lying))], **draw(_fabric(chosen)), **draw(_placement())}
    else:
        pool["zones"] = draw(st.lists(st.sampled_from(lying), min_size=1, unique=True))
    return pool


def _fabric(chosen: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return some(network=st.sampled_from(["plain", *(["efa"] if chosen["efa_interfaces"] else [])]))


def _placement() -> st.SearchStrategy[dict[str, Any]]:
    return some(placement=st.sampled_from(["none", "create"]))


KUBERNETES = some(
    labels=st.dictionaries(names(2, 20), LABEL_VALUES, max_size=2),
    taints=st.lists(TAINTS, max_size=2, unique_by=lambda taint: taint["key"]),
    image=st.just("al2023"),
)


@st.composite
def _networks(draw: st.DrawFn, region: str) -> dict[str, Any]:
    zones = control_plane_zones(region)
    chosen = draw(st.lists(st.sampled_from(zones), min_size=2, max_size=min(3, len(zones)), unique=True))
    network: dict[str, Any] = {"zones": chosen, "nat": draw(st.sampled_from(["single", "per-zone"]))}
    network |= draw(some(cidr=st.sampled_from(["10.0.0.0/16", "172.16.0.0/16", "192.168.0.0/16", "10.42.0.0/17"])))
    if draw(st.booleans()):
        network |= {"flow_logs": True, "flow_log_retention_days": draw(st.sampled_from(KEPT_DAYS))}
    return network


@st.composite
def _account(draw: st.DrawFn, cloud: str) -> tuple[str, dict[str, Any]]:
    region = draw(st.sampled_from(REGIONS))
    config = {"aws:region": region, "gpufleet:cloud": cloud, **draw(ownership())}
    # Jobs of AWS Batch need an image when their definition is made.
    parts = {"network": draw(_networks(region)), "registry": draw(REGISTRY)}
    parts |= draw(some(files=FILES, budget=budgets(10, 10)))
    parts |= draw(some(erase=st.booleans(), access_logs=st.booleans()))
    return draw(names(2, 24)), {**config, **{f"gpufleet:{key}": value for key, value in parts.items()}}


@st.composite
def _lustre(draw: st.DrawFn, zones: list[str]) -> dict[str, Any]:
    throughput, efa = draw(st.sampled_from(list(LUSTRE_STEPS))), draw(st.booleans())
    plain = st.just(1200) | st.integers(1, 40).map(lambda steps: 2400 * steps)
    gib = st.integers(1, 4).map(lambda steps: LUSTRE_STEPS[throughput] * steps) if efa else plain
    lustre: dict[str, Any] = {
        "zone": draw(st.sampled_from(zones)),
        "throughput": throughput,
        "gib": draw(gib),
        "efa": efa,
    }
    directories = st.lists(names(2, 12).map(lambda name: f"/{name}"), min_size=1, max_size=3, unique=True)
    if draw(st.booleans()):
        lustre["buckets"] = {
            directory: f"s3://images-of{directory.replace('/', '-')}" for directory in draw(directories)
        }
        lustre["export"] = draw(st.booleans())
    return lustre


@st.composite
def clusters(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Name and configuration of an environment with an EKS cluster."""
    name, config = draw(_account("aws"))
    region, zones = config["aws:region"], config["gpufleet:network"]["zones"]
    kinds = ["on-demand", "spot", "reservation"]
    made = {
        each: {**draw(pools(region, zones, kinds)), **draw(KUBERNETES)}
        for each in draw(st.lists(names(1, 10), max_size=3, unique=True))
    }
    cluster = draw(
        some(
            version=st.sampled_from(versions("aws")),
            log_retention_days=st.sampled_from(KEPT_DAYS),
            deletion_protection=st.booleans(),
            public_access_cidrs=st.lists(st.sampled_from(["11.22.33.0/24", "11.22.44.7/32"]), unique=True),
            service_cidr=st.sampled_from(["10.100.0.0/16", "172.20.0.0/20"]),
            support=st.sampled_from(["STANDARD", "EXTENDED"]),
            system_max=st.integers(3, 8),
        )
    )
    if draw(st.booleans()):
        # In place of EFS.
        config.pop("gpufleet:files", None)
        config["gpufleet:lustre"] = draw(_lustre(zones))
    return name, {**config, "gpufleet:pools": made, "gpufleet:cluster": cluster}


@st.composite
def batch(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Name and configuration of an environment on AWS Batch."""
    name, config = draw(_account("aws-batch"))
    region, zones = config["aws:region"], config["gpufleet:network"]["zones"]
    kinds = ["on-demand", "spot"]
    # A queue takes at most three environments: docs.aws.amazon.com/batch/latest/userguide/service_limits.html
    chosen = draw(st.lists(names(1, 10), min_size=1, max_size=3, unique=True))
    # The image has NVIDIA's open kernel module, and V100 is too old for it: github.com/NVIDIA/open-gpu-kernel-modules
    made = {each: draw(pools(region, zones, kinds, without="p3")) for each in chosen}
    queue = draw(
        some(
            priority=st.integers(1, 100),
            shares=st.dictionaries(st.from_regex(r"[a-z]{1,12}", fullmatch=True), st.integers(1, 9), min_size=1),
            runnable_minutes=st.integers(10, 1440),
        )
    )
    return name, {**config, "gpufleet:pools": made, "gpufleet:queue": queue, "gpufleet:outputs": draw(OUTPUTS)}


@st.composite
def hybrid(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Name and configuration of a cluster that own servers join over a VPN."""
    name, config = draw(clusters())
    site = draw(st.integers(64, 95))
    config["gpufleet:network"].pop("cidr", None)
    # One endpoint, private or public: docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-prereqs.html
    for key in ("service_cidr", "public_access_cidrs"):
        config["gpufleet:cluster"].pop(key, None)
    servers = {
        "networks": {"nodes": [f"10.{site}.0.0/24"], "pods": [f"10.{site + 32}.0.0/16"]},
        "nfs": f"10.{site}.0.5:/export/shared",
        "nodeadm": {"version": "v1.0.19", "sha256": "1" * 64},
        "cilium": {"static_routes": True},
        "pools": {"v100": {"gpu": "V100", "gpus": draw(st.sampled_from([1, 2, 4, 8])), "nodes": ["gpu-1", "gpu-2"]}},
    }
    link = {"kind": "vpn", "customer_address": "203.0.113.9", "customer_asn": draw(st.integers(64_513, 65_534))}
    own = {"own_servers": servers, "link": link, "phase": draw(st.sampled_from(["cloud", "cluster"]))}
    for key in ("files", "lustre"):
        config.pop(f"gpufleet:{key}", None)
    return name, {**config, **{f"gpufleet:{key}": value for key, value in own.items()}}
