"""What documents say is legal, for the strategies of this folder. No rule of ours is asked.

Types and where they are offered come from the catalog, whose records name their documents; the ranges below name
theirs. Where a document leaves it open, the strategies stay within what it surely allows.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

CATALOG = Path(__file__).parents[2] / "components" / "gpufleet" / "catalog"
REGIONS = ("us-east-1", "us-east-2", "us-west-2", "eu-west-1", "ap-northeast-1")
LOCATIONS = ("eastus", "southcentralus", "westeurope")
KEPT_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 3653)
"""docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html"""
INFREQUENT_DAYS = (1, 7, 14, 30, 60, 90, 180, 270, 365)
"""docs.aws.amazon.com/efs/latest/ug/API_LifecyclePolicy.html"""
LUSTRE_STEPS = {125: 38400, 250: 19200, 500: 9600, 1000: 4800}
"""MB/s for each TiB, and with EFA the sizes' step in GiB: docs.aws.amazon.com/fsx/latest/LustreGuide/
increase-storage-capacity.html; without, 1200 or multiples of 2400 (API_CreateFileSystem.html)."""
UPSTREAMS = {"quay": "quay.io", "k8s": "registry.k8s.io", "ecr-public": "public.ecr.aws"}
"""Of those that need no login: docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache.html"""


@cache
def _records(name: str) -> Sequence[Mapping[str, Any]]:
    records: list[Mapping[str, Any]] = json.loads((CATALOG / name).read_bytes())
    return records


@cache
def types(cloud: str) -> Sequence[Mapping[str, Any]]:
    """GPU types that are not retired and that the images of services are built for."""
    found = _records(f"{cloud}/instance_types.json")
    return [each for each in found if each["retired"] is None and each["architecture"] == "x86_64"]


@cache
def offered(type_: str, region: str) -> Sequence[str]:
    """Ids of the zones of a region that have the type."""
    found = [each for each in _records("aws/zone_offers.json") if (each["type"], each["region"]) == (type_, region)]
    return [zone for each in found for zone in each["zone_ids"]]


@cache
def control_plane_zones(region: str) -> Sequence[str]:
    """Ids of the zones of a region where EKS puts a control plane."""
    found = [each for each in _records("aws/zones.json") if each["region"] == region]
    return [each["zone_id"] for each in found if each["eks_control_plane"]]


def versions(cloud: str) -> list[str]:
    """Minor versions of Kubernetes that new clusters may have today, in standard support."""
    until = {"aws": "standard_until", "azure": "supported_until"}[cloud]
    since = {"aws": "released", "azure": "general_since"}[cloud]
    today = date.today().isoformat()
    found = _records(f"{cloud}/kubernetes_versions.json")
    return [each["version"] for each in found if each[since] < today[: len(each[since])] and today < each[until]]


def names(least: int, most: int) -> st.SearchStrategy[str]:
    """Lower-case letters, digits and single hyphens, a letter first, none at the end: legal in every service."""
    return st.from_regex(rf"[a-z](-?[a-z0-9]){{{least - 1},{most - 1}}}", fullmatch=True).filter(
        lambda name: least <= len(name) <= most
    )


PATHS = st.from_regex(r"[a-z0-9]{2,8}([._/-][a-z0-9]{1,6}){0,3}", fullmatch=True)
"""Repositories: docs.aws.amazon.com/AmazonECR/latest/APIReference/API_CreateRepository.html, repositoryName."""
EMAILS = st.from_regex(r"[a-z]{1,12}(\.[a-z]{1,8})?@[a-z]{2,10}\.example\.com", fullmatch=True)
VALUES = st.from_regex(r"[A-Za-z0-9 +=._:@-]{1,40}", fullmatch=True).filter(lambda text: text == text.strip())
"""Values of tags: docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html; Azure takes more."""
LABEL_VALUES = st.from_regex(r"[a-z0-9]([a-z0-9._-]{0,40}[a-z0-9])?", fullmatch=True)
"""kubernetes.io/docs/concepts/overview/working-with-objects/labels"""
TAINTS = st.fixed_dictionaries(
    {"key": names(2, 12), "effect": st.sampled_from(["NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE"])},
    optional={"value": LABEL_VALUES},
)
ARNS = st.from_regex(r"arn:aws:kms:us-east-1:[0-9]{12}:key/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", fullmatch=True)


def some(**optional: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A record of any of these keys."""
    return st.fixed_dictionaries({}, optional=optional)


@st.composite
def counts(draw: st.DrawFn, most: int) -> dict[str, int]:
    """min and max of a pool."""
    top = draw(st.integers(1, most))
    return {"max": top, **draw(some(min=st.integers(0, top)))}


@st.composite
def budgets(draw: st.DrawFn, notices: int, emails: int) -> dict[str, Any]:
    """docs.aws.amazon.com/aws-cost-management/latest/userguide/management-limits.html: 10 notices, 10 e-mails each.

    Azure: 5 notices, 50 e-mails, percentages up to 1000 (learn.microsoft.com/rest/api/consumption/budgets).
    """
    percents = draw(st.lists(st.integers(1, 300), min_size=1, max_size=notices - 1, unique=True))
    return {
        "usd_per_month": draw(st.integers(1, 900_000)),
        "emails": draw(st.lists(EMAILS, min_size=1, max_size=emails, unique=True)),
        "actual_percents": sorted(percents),
        "forecast_percents": [draw(st.integers(50, 150))],
    }


@st.composite
def ownership(draw: st.DrawFn) -> dict[str, Any]:
    """Whose the environment is, and until when."""
    own = {"owner": draw(VALUES), "project": draw(VALUES)}
    ends = st.sampled_from(["150h", "6d", "2w", "90d"])
    keys = st.sampled_from(["cost-center", "Team", "data_class"])
    more = some(purpose=VALUES, expires_at=ends, grace=ends, tags=st.dictionaries(keys, VALUES, max_size=2))
    return {f"gpufleet:{key}": value for key, value in {**own, **draw(more)}.items()}
