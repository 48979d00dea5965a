"""Every failure of reading an account is one line that says what to do."""

import pytest
from botocore import exceptions as botocore

from gpufleet.aws.client import AwsClient, AwsClientError

REGION = "us-east-1"


def ask(account):
    return account.ask("resourcegroupstaggingapi", "get_resources", "ResourceTagMappingList[]")


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ("ExpiredTokenException", "AWS credentials: expired; sign in again, for instance with `aws sso login`"),
        (
            "UnrecognizedClientException",
            "AWS credentials: not accepted (UnrecognizedClientException); check them, and that the region is "
            "enabled in the account",
        ),
        ("InternalServiceException", "tag:GetResources: InternalServiceException: the words of AWS"),
        (
            botocore.NoCredentialsError(),
            "AWS credentials: Unable to locate credentials; set AWS_PROFILE, or sign in with `aws configure` or "
            "`aws sso login`",
        ),
        (
            botocore.UnauthorizedSSOTokenError(),
            "AWS credentials: The SSO session associated with this profile has expired or is otherwise invalid. To "
            "refresh this SSO session run aws sso login with the corresponding profile.; sign in again, for instance "
            "with `aws sso login`",
        ),
        (
            botocore.EndpointConnectionError(endpoint_url="https://tagging.us-east-1.amazonaws.com"),
            'tag:GetResources: Could not connect to the endpoint URL: "https://tagging.us-east-1.amazonaws.com"',
        ),
    ],
)
def test_a_failure_is_one_line(aws, answer, line):
    aws.answers["GetResources"] = answer
    with pytest.raises(AwsClientError) as error:
        ask(AwsClient(REGION))
    assert str(error.value) == line


def test_a_missing_region_is_one_line(credentials):
    with pytest.raises(AwsClientError) as error:
        ask(AwsClient())
    assert str(error.value) == "aws:region: not set; `pulumi config set aws:region us-east-1`, for instance"


def test_a_missing_profile_is_one_line(credentials):
    with pytest.raises(AwsClientError) as error:
        ask(AwsClient(REGION, "nobody"))
    assert str(error.value) == "tag:GetResources: The config profile (nobody) could not be found"
