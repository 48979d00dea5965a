"""Environments in one account: none takes another's names, one ends without the other, and a third finds no room."""

from tests.e2e.rehearsed_project import Project


def test_aws_dev_and_aws_prod_in_one_account(project: Project) -> None:
    for environment in ("aws-dev", "aws-prod"):
        up = project.rehearse(environment=environment)
        assert up.returncode == 0, up.stdout + up.stderr
    # The four addresses of their NAT gateways leave one, and this one's need three: told before it is met.
    told = project.rehearse("--", "gpufleet", "preflight", "aws-batch-prod", environment="aws-batch-prod")
    assert told.returncode == 1, told.stdout + told.stderr
    (error,) = [line for line in told.stdout.splitlines() if line.startswith("error: ")]
    assert error.startswith(
        "error: aws-batch-prod: elastic_ips=3: 3 new Elastic IPs in us-east-1 and 4 in use make 7, which is above the "
        "limit of 5; release addresses that nobody uses, make one NAT gateway for all zones (nat=single), use a VPC"
    )
    met = project.rehearse(environment="aws-batch-prod")
    assert met.returncode == 1, met.stdout + met.stderr
    assert "AddressLimitExceeded: The maximum number of addresses has been reached." in met.stdout
    # Its own are not held against an environment that is up.
    again = project.rehearse("--", "gpufleet", "preflight", "aws-prod", environment="aws-prod")
    assert again.returncode == 0, again.stdout + again.stderr
    destroy = project.rehearse("--destroy")
    assert destroy.returncode == 0, destroy.stdout + destroy.stderr
    # As aws-prod's program says, in the clouds as well as in the state.
    look = ("pulumi", "preview", "--refresh", "--expect-no-changes", "--stack", "aws-prod")
    there = project.rehearse("--", *look, environment="aws-prod")
    assert there.returncode == 0, there.stdout + there.stderr
