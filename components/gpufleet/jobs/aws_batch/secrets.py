"""Secret variables of jobs on AWS Batch: secrets of Secrets Manager or parameters of Systems Manager, by ARN.

ECS reads them by the definition's execution role when a container starts. A submission cannot override a definition's
secrets, so that a job with others runs a revision of it: see definitions.py. Sources: botocore's model of batch
(ContainerOverrides, EcsProperties), docs.aws.amazon.com/batch/latest/userguide/specifying-sensitive-data-secrets.html.
"""

import re
from collections.abc import Mapping
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.aws_batch.client import AwsBatchClient, error_code

_ARN = re.compile(r"arn:aws[\w-]*:(?:secretsmanager:[\w-]+:\d{12}:secret:\S+|ssm:[\w-]+:\d{12}:parameter/\S+)")
_NAME = re.compile(r"[\w/+=.@-]+", re.ASCII)


def secret_prefix(environment: str) -> str:
    """How the names of an environment's secrets begin: those alone may its jobs' execution roles read."""
    return f"gpufleet/{environment}/"


def secret_arns(aws: AwsBatchClient, environment: str, references: Mapping[str, str]) -> dict[str, str]:
    """The ARN of each variable's secret. references: an ARN, or a name below the environment's prefix.

    Errors: UserError with a line for each that is not there.
    """
    arns, lines = dict[str, str](), []
    for variable, reference in references.items():
        if reference.startswith("arn:"):
            arns[variable] = reference
            if not _ARN.fullmatch(reference):
                lines.append(f"secrets.{variable}: use the ARN of a secret of Secrets Manager or of an SSM parameter")
            continue
        name = secret_prefix(environment) + reference
        found = aws.ask("secretsmanager", "describe_secret", "[ARN]", SecretId=name) if _NAME.fullmatch(name) else []
        if found:
            arns[variable] = str(found[0])
        else:
            lines.append(
                f"secrets.{variable}: there is no secret {name} in {aws.region}; store it with "
                f"`gpufleet secrets put {environment} {reference}`"
            )
    if lines:
        raise UserError("\n".join(lines))
    return arns


def with_secrets(container: Mapping[str, Any], arns: Mapping[str, str]) -> dict[str, Any]:
    """A definition's container with these secrets too. A variable of the same name gives way: ECS takes one only."""
    kept = [each for each in container.get("secrets") or [] if each["name"] not in arns]
    plain = [each for each in container.get("environment") or [] if each["name"] not in arns]
    ours = [{"name": variable, "valueFrom": arn} for variable, arn in sorted(arns.items())]
    return {**container, "secrets": [*kept, *ours], **({"environment": plain} if "environment" in container else {})}


def put_secret(aws: AwsBatchClient, environment: str, tags: Mapping[str, str], name: str, value: str) -> str:
    """Store a value in Secrets Manager, under the environment's prefix. Returns where it is. Errors: UserError."""
    full = secret_prefix(environment) + name
    try:
        described = [{"Key": key, "Value": each} for key, each in tags.items()]
        aws.call("secretsmanager", "create_secret", Name=full, SecretString=value, Tags=described)
    except UserError as error:
        if error_code(error) != "ResourceExistsException":
            raise
        aws.call("secretsmanager", "put_secret_value", SecretId=full, SecretString=value)
    return f"secret {full} of Secrets Manager in {aws.region}"
