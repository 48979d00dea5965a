"""`gpufleet preflight` on the output of a preview: exit codes, lines and JSON, whatever the account answers."""

import json

import pytest
from botocore import exceptions as botocore
from click.testing import CliRunner

from gpufleet.cli import main

ZONES = {"AvailabilityZones": [{"ZoneId": "use1-az1", "ZoneName": "us-east-1c"}]}
OFFERS = {"InstanceTypeOfferings": [{"InstanceType": "g5.8xlarge", "Location": "use1-az1"}]}


def step(kind, name, inputs, depends=None):
    urn = f"urn:pulumi:dev::theirs::{kind}::{name}"
    provider = "urn:pulumi:dev::theirs::pulumi:providers:aws::p::id"
    state = {"urn": urn, "type": kind, "inputs": inputs, "propertyDependencies": depends or {}, "provider": provider}
    return {"op": "create", "urn": urn, "newState": state}


@pytest.fixture
def preview(tmp_path, monkeypatch):
    """Writes the preview of a raw program with one node group in a zone that it gives by name, and returns its path."""
    monkeypatch.delenv("GPUFLEET_REHEARSAL", raising=False)

    def write(most=2, **config):
        subnet = step("aws:ec2/subnet:Subnet", "subnet", {"availabilityZone": "us-east-1c", "cidrBlock": "10.0.0.0/24"})
        nodes = step(
            "aws:eks/nodeGroup:NodeGroup",
            "nodes",
            {
                "instanceTypes": ["g5.8xlarge"],
                "subnetIds": ["04da6b54-80e4-46f7-96ec-b56ff0331ba9"],
                "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": most},
            },
            {"subnetIds": [subnet["urn"]]},
        )
        config = {"aws:region": "us-east-1"} | {f"gpufleet:{key}": json.dumps(value) for key, value in config.items()}
        file = tmp_path / "preview.json"
        file.write_text(json.dumps({"config": config, "steps": [subnet, nodes]}))
        return file

    return write


def run(file, *more):
    done = CliRunner().invoke(main, ["preflight", "dev", "--preview", str(file), *more])
    assert isinstance(done.exception, SystemExit | None), done.exception
    return done.exit_code, done.stdout.splitlines(), done.stderr


@pytest.fixture
def allowed(aws):
    """An account in which everything may be asked, with a quota of two nodes."""
    aws.answers |= {
        "DescribeAvailabilityZones": ZONES,
        "DescribeInstanceTypeOfferings": OFFERS,
        "GetServiceQuota": {"Quota": {"Value": 64.0}},
        "GetCallerIdentity": {"Account": "111111111111"},
    }
    return aws


def test_two_nodes_may_be_had_and_the_third_may_not(allowed, preview):
    assert run(preview(2), "--strict") == (0, ["dev, live account: 2 passed"], "")
    code, lines, _ = run(preview(3))
    assert code == 1
    assert lines == [
        "error: dev: pools={nodes: 3 x 32}: 96 on-demand vCPUs of family G and VT in us-east-1 at the peak are above "
        "the limit of 64; ask for 96 or more, which takes days: `aws service-quotas request-service-quota-increase "
        "--service-code ec2 --quota-code L-DB2E81BA --region us-east-1 --desired-value 96`; until then nodes.max=2 "
        "fits [any-quota-enough]",
        "dev, live account: 1 passed, 1 rejected",
    ]


def test_a_zone_given_by_name_is_the_one_of_this_account(allowed, preview):
    allowed.answers["DescribeAvailabilityZones"] = {
        "AvailabilityZones": [{"ZoneId": "use1-az3", "ZoneName": "us-east-1c"}]
    }
    code, lines, _ = run(preview())
    assert code == 1
    assert lines[0] == (
        "error: nodes: zones=use1-az3: does not offer g5.8xlarge; use use1-az1, which do [aws-type-in-zone]"
    )


def test_names_of_the_configuration_that_are_not_the_accounts_are_told(allowed, preview):
    code, lines, _ = run(preview(zone_names={"use1-az1": "us-east-1c", "use1-az2": "us-east-1d"}))
    assert code == 1
    assert lines[0] == (
        "error: dev: zone_names={use1-az2: us-east-1d}: these are not the names of this account; it has no use1-az2 "
        "[aws-zone-names-agree]"
    )


def test_what_is_suppressed_is_listed_and_refuses_nothing(allowed, preview):
    entry = {"rule": "any-quota-enough", "reason": "asked for on Monday", "expires": "2999-01-31"}
    code, lines, _ = run(preview(3, suppress=[entry]))
    assert code == 0
    assert lines[0].startswith("suppressed: dev: pools={nodes: 3 x 32}: ")
    assert lines[0].endswith("[any-quota-enough] (suppressed until 2999-01-31: asked for on Monday)")
    assert lines[1] == "dev, live account: 1 passed, 1 suppressed"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("UnauthorizedOperation", "ec2:DescribeInstances: denied by AWS; without it some of what the cloud holds "),
        ("AccessDenied", "ec2:DescribeInstances: denied by AWS; without it some of what the cloud holds "),
        (
            botocore.NoCredentialsError(),
            "AWS credentials: Unable to locate credentials; set AWS_PROFILE, or sign in with ",
        ),
        (
            botocore.EndpointConnectionError(endpoint_url="https://ec2.us-east-1.amazonaws.com"),
            'ec2:DescribeInstances: Could not connect to the endpoint URL: "https://ec2.us-east-1.amazonaws.com"',
        ),
        (
            botocore.ConnectTimeoutError(endpoint_url="https://ec2.us-east-1.amazonaws.com"),
            'ec2:DescribeInstances: Connect timeout on endpoint URL: "https://ec2.us-east-1.amazonaws.com"',
        ),
    ],
)
def test_what_cannot_be_asked_is_a_warning_and_only_strict_fails(allowed, preview, answer, reason):
    allowed.answers["DescribeInstances"] = answer
    code, lines, _ = run(preview())
    assert code == 0
    assert lines[0].startswith(f"warning: not verified: {reason}")
    assert lines[1].startswith("warning: dev: pools={nodes: 2 x 32}: not verified: 64 on-demand vCPUs ")
    assert lines[2] == "dev, live account: 1 passed, 1 not verified"
    assert run(preview(), "--strict")[0] == 1
    # The peak alone is too much: that is known without what is in use.
    assert run(preview(3))[0] == 1


def test_without_credentials_nothing_is_verified_and_nothing_breaks(preview, credentials, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    code, lines, _ = run(preview())
    assert code == 0
    assert [line.partition(";")[0] for line in lines if "credentials" in line.partition(";")[0]] == [
        "warning: not verified: AWS credentials: Unable to locate credentials"
    ]
    assert run(preview(), "--strict")[0] == 1


def test_json(allowed, preview):
    code, lines, _ = run(preview(3), "--json")
    report = json.loads("\n".join(lines))
    assert (code, report["code"], report["environment"]) == (1, 1, "dev")
    assert [(each["rule"], each["status"]) for each in report["findings"]] == [
        ("aws-type-in-zone", "pass"),
        ("any-quota-enough", "fail"),
    ]


@pytest.mark.parametrize(
    ("config", "line"),
    [
        (
            {"quotas": [{"family": "P", "market": "spott", "limit": 1}]},
            (
                "gpufleet:quotas[0].market=spott: is not a market; did you mean spot? (use on-demand or spot) "
                "[config-quota]"
            ),
        ),
        (
            {"suppress": [{"rule": "any-quota", "reason": "r", "expires": "2999-01-31"}]},
            "gpufleet:suppress[0].rule=any-quota: unknown rule; did you mean any-quota-enough? [config-suppression]",
        ),
    ],
)
def test_a_bad_configuration_is_one_line(allowed, preview, config, line):
    file = preview(**config)
    assert run(file) == (1, [], f"Error: {file}: {line}\n")


def test_a_file_that_is_no_preview_is_one_line(tmp_path):
    file = tmp_path / "x.json"
    file.write_text("{")
    code, _, error = run(file)
    assert code == 1
    assert error.count("\n") == 1
    assert error.startswith(f"Error: {file}: line 1: is not JSON")


def network(tmp_path, monkeypatch):
    """A preview that makes two addresses anew, and nothing else."""
    monkeypatch.delenv("GPUFLEET_REHEARSAL", raising=False)
    steps = [step("aws:ec2/eip:Eip", name, {"domain": "vpc"}) for name in ("a", "b")]
    file = tmp_path / "preview.json"
    file.write_text(json.dumps({"config": {"aws:region": "us-east-1"}, "steps": steps}))
    return file


def test_addresses_are_counted_without_any_gpu_pool(aws, tmp_path, monkeypatch):
    aws.answers["GetServiceQuota"] = {"Quota": {"Value": 5.0}}
    aws.answers["DescribeAddresses"] = {"Addresses": [{"AllocationId": f"eipalloc-{n}"} for n in range(3)]}
    file = network(tmp_path, monkeypatch)
    assert run(file, "--strict") == (0, ["dev, live account: 1 passed"], "")
    aws.answers["DescribeAddresses"]["Addresses"].append({"AllocationId": "eipalloc-3"})
    code, lines, _ = run(file)
    assert code == 1
    assert lines[0].startswith(
        "error: dev: elastic_ips=2: 2 new Elastic IPs in us-east-1 and 4 in use make 6, which is above the limit of 5; "
    )
    assert lines[1] == "dev, live account: 0 passed, 1 rejected"


@pytest.mark.parametrize(
    ("call", "permission"),
    [("DescribeAddresses", "ec2:DescribeAddresses"), ("GetServiceQuota", "servicequotas:GetServiceQuota")],
)
def test_addresses_that_may_not_be_asked_for_are_not_verified(aws, tmp_path, monkeypatch, call, permission):
    aws.answers["GetServiceQuota"] = {"Quota": {"Value": 5.0}}
    aws.answers[call] = "AccessDeniedException"
    file = network(tmp_path, monkeypatch)
    code, lines, _ = run(file)
    assert code == 0
    assert lines[0].startswith(f"warning: not verified: {permission}: denied by AWS")
    assert lines[1].startswith("warning: dev: elastic_ips=2: not verified: 2 new Elastic IPs in us-east-1 are needed, ")
    assert lines[2] == "dev, live account: 0 passed, 1 not verified"
    assert run(file, "--strict")[0] == 1


def test_pools_without_gpus_are_nobodys_business(aws, tmp_path, monkeypatch):
    monkeypatch.delenv("GPUFLEET_REHEARSAL", raising=False)
    nodes = step(
        "aws:eks/nodeGroup:NodeGroup", "nodes", {"instanceTypes": ["m7i.large"], "scalingConfig": {"maxSize": 3}}
    )
    file = tmp_path / "preview.json"
    file.write_text(json.dumps({"config": {"aws:region": "us-east-1"}, "steps": [nodes]}))
    assert run(file, "--strict") == (0, ["dev, live account: no GPU pools and no new networks to check"], "")
    assert aws.asked == []
