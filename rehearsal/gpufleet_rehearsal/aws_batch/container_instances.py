"""The part of Amazon ECS by which the instance type of a job's node is known: its container instances.

Sources: docs.aws.amazon.com/AmazonECS/latest/developerguide/task-placement-constraints.html (ecs.instance-type), and
docs.aws.amazon.com/AmazonECS/latest/APIReference/API_DescribeContainerInstances.html; that what is gone is a failure of
reason MISSING: docs.aws.amazon.com/AmazonECS/latest/developerguide/api_failures_messages.html.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gpufleet_rehearsal.aws_batch.rejection import AwsRejection

Data = dict[str, Any]


@dataclass(frozen=True)
class PlayedContainerInstances:
    """clusters: ARNs of the account's. running: id and type of each instance of EC2 by the ARN that ECS has for it."""

    clusters: Iterable[str]
    running: Mapping[str, tuple[str, str]]

    def describe_container_instances(self, containerInstances: list[str], cluster: str = "default") -> Data:
        """DescribeContainerInstances, of one cluster by name or ARN."""
        name = cluster.rpartition("/")[2]
        if name not in {each.rpartition("/")[2] for each in self.clusters}:
            raise AwsRejection("ClusterNotFoundException", "Cluster not found.")
        own = {arn: each for arn, each in self.running.items() if arn.split("/")[1] == name}
        return {
            "containerInstances": [
                {
                    "containerInstanceArn": arn,
                    "ec2InstanceId": own[arn][0],
                    "status": "ACTIVE",
                    "attributes": [{"name": "ecs.instance-type", "value": own[arn][1]}],
                }
                for arn in containerInstances
                if arn in own
            ],
            "failures": [{"arn": arn, "reason": "MISSING"} for arn in containerInstances if arn not in own],
        }
