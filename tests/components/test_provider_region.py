"""A component of AWS and the region of its provider: its default, another one, and one that is not known."""

import pulumi
import pulumi_aws as aws
import pytest

from gpufleet.aws.network import Network
from gpufleet.validation import InvalidArguments
from tests.components.recorder import construct, refusal

WHERE = {"zones": ["euc1-az1", "euc1-az2"]}


@pytest.fixture(params=["config", "AWS_REGION", "AWS_DEFAULT_REGION"])
def frankfurt(request, monkeypatch):
    """The default provider is one of eu-central-1."""
    if request.param == "config":
        monkeypatch.setenv("PULUMI_CONFIG", '{"aws:region": "eu-central-1"}')
        monkeypatch.setenv("AWS_REGION", "us-east-1")
    else:
        monkeypatch.setenv(request.param, "eu-central-1")


def test_it_is_the_default(preview, frankfurt):
    recording = construct(lambda: Network("net", **WHERE), preview=preview)
    assert recording.result.args["region"] == "eu-central-1"
    (endpoint,) = recording.of("aws:ec2/vpcEndpoint:VpcEndpoint")
    assert endpoint.inputs["serviceName"] == "com.amazonaws.eu-central-1.s3"


def test_another_is_refused(preview, frankfurt):
    assert refusal(lambda: Network("net", region="us-east-1", zones=["use1-az1", "use1-az2"]), preview) == [
        "net: region=us-east-1: is not the region of the provider, eu-central-1; leave region out, or set aws:region "
        "to us-east-1 [aws-region-of-provider]"
    ]


def test_that_of_a_provider_that_the_program_creates_is_not_known(preview, frankfurt):
    def build(**region):
        opts = pulumi.ResourceOptions(provider=aws.Provider("other", region="us-east-1"))
        return Network("net", zones=["use1-az1", "use1-az2"], opts=opts, **region)

    construct(lambda: build(region="us-east-1"), preview=preview)
    with pytest.raises(InvalidArguments) as error:
        construct(build, preview=preview)
    assert [each.line("net") for each in error.value.findings] == MISSING


def test_without_any_it_is_missing_once(preview):
    assert refusal(lambda: Network("net", zones=["use1-az1", "use1-az2"]), preview) == MISSING


MISSING = [
    "net: region=null: is missing, and the region of the provider is not known; set aws:region, or write region "
    "where the program creates its own provider [aws-region-of-provider]"
]
