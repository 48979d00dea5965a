"""AWS Batch, logs, images and objects of an environment while a command runs in its rehearsal.

They are a server on this machine, and a variable that leads `gpufleet` to it, which holds in a rehearsal only
(gpufleet.aws.client).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from gpufleet.aws.client import AWS_ENDPOINT
from gpufleet_rehearsal.cloud.open_cloud import open_cloud
from gpufleet_rehearsal.loopback import serve
from gpufleet_rehearsal.workspace import Workspace

CLOUD = "aws"


@contextmanager
def aws_services(home: Workspace, environment: str) -> Iterator[dict[str, str]]:
    """The variable of the services of an environment on AWS; none for one on another cloud. Errors: UserError."""
    if home.cloud(environment) != CLOUD:
        yield {}
        return
    # botocore's models take a while to load.
    from gpufleet_rehearsal.aws_batch.rehearsed_region import RehearsedRegions
    from gpufleet_rehearsal.aws_batch.server import aws_handler

    regions = RehearsedRegions(open_cloud(CLOUD, home.root))
    with serve(aws_handler(regions.open)) as services:
        yield {AWS_ENDPOINT: services}
