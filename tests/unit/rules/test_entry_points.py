"""The validation of network, cluster, files, registry and tags: which rules a mistake breaks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufleet.rules import (
    Status,
    validate_arguments,
    validate_cluster,
    validate_network,
    validate_registry,
    validate_shared_files,
    validate_tags,
)

NETWORK = {"region": "us-east-1", "zones": ["use1-az1", "use1-az2"], "tags": {"owner": "ml"}}
CLUSTER = {**NETWORK, "version": "1.34", "public_access_cidrs": ["52.94.76.0/22"], "log_types": ["api", "audit"]}
FILES = {**NETWORK, "client_security_group_ids": {"nodes": object()}}
SECRET = "arn:aws:secretsmanager:us-east-1:123456789012:secret:ecr-pullthroughcache/hub-AbCdEf"
REGISTRY = {
    "region": "us-east-1",
    "repositories": ["training/llm"],
    "mutable_tags": ["dev*"],
    "pull_through": {"quay": "quay.io", "hub": "registry-1.docker.io"},
    "credentials": {"hub": SECRET},
}


def not_passed(findings):
    return sorted({finding.rule for finding in findings if finding.status is not Status.PASS})


@pytest.mark.parametrize(
    ("validate", "args"),
    [
        (validate_network, NETWORK),
        (validate_network, NETWORK | {"zones": ["use1-az3"]}),
        (validate_network, NETWORK | {"nat": "none"}),
        (validate_network, NETWORK | {"vpc_id": object(), "cidr": "not checked", "nat": "not checked"}),
        (validate_cluster, CLUSTER),
        (validate_shared_files, FILES),
        (validate_shared_files, {"region": "us-east-1", "zones": [], "file_system_id": "fs-1"}),
        (
            validate_shared_files,
            FILES | {"zones": ["use1-az1"], "one_zone": "use1-az1", "zone_names": {"use1-az1": "a"}},
        ),
        (validate_shared_files, FILES | {"throughput": "provisioned", "provisioned_mibps": 64}),
        (validate_registry, REGISTRY),
        (validate_registry, {"region": "us-east-1"}),
        (validate_registry, REGISTRY | {"credentials": {"hub": object()}}),
    ],
)
def test_legal_arguments_pass_every_rule(validate, args):
    assert not_passed(validate(args)) == []


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        ({"region": "us-east1"}, ["aws-region-known"]),
        ({"zones": ["us-east-1a"]}, ["aws-zone-known"]),
        ({"zones": []}, ["any-argument-not-empty"]),
        ({"zones": ["use1-az1", "use1-az1"]}, ["any-argument-distinct"]),
        ({"nat": "per_zone"}, ["any-argument-word"]),
        ({"nat": "none", "interface_endpoints": ["s3"]}, ["aws-network-way-out"]),
        ({"cidr": "10.0.0.0/8"}, ["aws-network-cidr"]),
        ({"cidr": "8.8.0.0/16"}, ["aws-network-cidr-private"]),
        ({"flow_log_retention_days": 31}, ["aws-logs-retention"]),
        ({"tags": {"expires-at": "soon"}}, ["any-tag-expiry"]),
    ],
)
def test_network_mistakes(change, rules):
    assert not_passed(validate_network(NETWORK | change)) == rules


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        ({"zones": ["use1-az1"]}, ["aws-cluster-two-zones"]),
        ({"zones": ["use1-az1", "use1-az3"]}, ["aws-cluster-zone-accepted"]),
        ({"region": "ca-central-1", "zones": ["cac1-az1", "cac1-az3"]}, ["aws-cluster-zone-accepted"]),
        ({"region": "us-west-1", "zones": ["usw1-az1", "usw1-az2"]}, ["aws-cluster-zone-accepted"]),
        ({"zones": ["use1-az1", "use1-az9"]}, ["aws-zone-known"]),
        (
            {"region": "mx-central-1", "zones": ["mxc1-az1", "mxc1-az2"]},
            ["aws-cluster-zone-accepted", "aws-region-known", "aws-zone-known"],
        ),
        ({"version": "latest"}, ["aws-cluster-version"]),
        ({"public_access_cidrs": ["0.0.0.0/0"]}, ["aws-cluster-public-cidrs"]),
        ({"public_access_cidrs": ["10.0.0.0/8"]}, ["aws-cluster-public-cidr"]),
        ({"public_access_cidrs": [], "public_endpoint": True}, ["aws-cluster-public-cidrs"]),
        ({"public_access_cidrs": [], "private_endpoint": False}, ["aws-cluster-endpoint"]),
        ({"log_types": ["apis"]}, ["any-argument-word"]),
        ({"log_retention_days": 29}, ["aws-logs-retention"]),
    ],
)
def test_cluster_mistakes(change, rules):
    assert not_passed(validate_cluster(CLUSTER | change)) == rules


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        ({"zones": []}, ["any-argument-not-empty"]),
        ({"one_zone": "use1-az1", "zone_names": {"use1-az1": "us-east-1a"}}, ["aws-files-one-zone"]),
        ({"zones": ["use1-az1"], "one_zone": "use1-az1"}, ["aws-files-zone-name"]),
        ({"client_security_group_ids": {}}, ["aws-files-clients"]),
        ({"uid": 0}, ["aws-files-user"]),
        ({"gid": 0.0}, ["aws-files-user"]),
        ({"throughput": "provisioned"}, ["aws-files-throughput"]),
        ({"provisioned_mibps": 64}, ["aws-files-throughput"]),
        ({"throughput": "max"}, ["any-argument-word"]),
        ({"infrequent_access_days": 29}, ["aws-files-lifecycle"]),
        ({"directory": "shared"}, ["aws-files-directory"]),
        ({"permissions": "rwx"}, ["aws-files-permissions"]),
    ],
)
def test_files_mistakes(change, rules):
    assert not_passed(validate_shared_files(FILES | change)) == rules


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        ({"repositories": ["LLM"]}, ["aws-registry-name"]),
        ({"repositories": ["llm"], "existing_repositories": ["llm"]}, ["any-argument-distinct"]),
        ({"mutable_tags": ["*"]}, ["aws-registry-tags-stay"]),
        ({"mutable_tags": ["a b"]}, ["aws-registry-mutable-tags"]),
        ({"untagged_days": 0}, ["any-argument-least"]),
        ({"kept_mutable": 0}, ["any-argument-least"]),
        ({"pull_through": {"ngc": "nvcr.io"}, "credentials": {}}, ["aws-registry-upstream"]),
        ({"pull_through": {"q": "quay.io"}, "credentials": {}}, ["aws-registry-name"]),
        ({"credentials": {}}, ["aws-registry-login"]),
        ({"pull_through": {"quay": "quay.io"}}, ["aws-registry-login"]),
        ({"credentials": {"hub": "arn:aws:secretsmanager:us-east-1:1:secret:hub"}}, ["aws-registry-secret"]),
    ],
)
def test_registry_mistakes(change, rules):
    assert not_passed(validate_registry(REGISTRY | change)) == rules


def test_tags_are_judged_one_by_one():
    tags = {"aws:a": "x", "b": "y;z", "expires-at": "2027-13-01", "later": object()}
    assert not_passed(validate_tags(tags)) == ["any-tag-expiry", "aws-tag-key", "aws-tag-value"]
    assert not_passed(validate_tags({f"tag-{number}": "x" for number in range(50)})) == ["aws-tag-number"]


def test_argument_that_takes_an_input_takes_anything():
    from typing import NotRequired, TypedDict

    class Args(TypedDict):
        name: str
        count: NotRequired[int]
        vpc_id: "str | object"

    assert not_passed(validate_arguments({"name": "a", "vpc_id": object()}, Args)) == []
    assert not_passed(validate_arguments({"name": 1, "count": None}, Args)) == [
        "any-argument-given",
        "any-argument-kind",
    ]


ANY = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.text(max_size=3))
FIELDS = [
    *("region", "zones", "cidr", "nat", "interface_endpoints", "flow_log_retention_days", "vpc_id", "tags", "version"),
    *("public_access_cidrs", "public_endpoint", "private_endpoint", "log_types", "log_retention_days", "uid", "gid"),
    *("client_security_group_ids", "directory", "permissions", "throughput", "provisioned_mibps", "one_zone"),
    *("infrequent_access_days", "zone_names", "repositories", "mutable_tags", "pull_through", "credentials"),
]


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), ANY | st.dictionaries(st.text(max_size=3), ANY, max_size=2)))
def test_no_door_ever_raises(args):
    for validate in (validate_network, validate_cluster, validate_shared_files, validate_registry):
        assert all(finding.line("x").isprintable() for finding in validate(args))
