"""Every role and policy that the programs register on AWS, out of configurations that together ask for all of them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from tests.components import gpu_pools, test_cluster, test_mountpoint_driver
from tests.components.certificates import certificate
from tests.components.recorder import Recording, Registered
from tests.unit.stacks import test_aws_mirror, test_data_sync, test_own_servers
from tests.unit.stacks.aws_environment import program as kubernetes_program
from tests.unit.stacks.stack_programs import Program
from tests.unit.stacks.test_aws_batch import program as batch_program

KEY = "arn:aws:kms:us-east-1:000000000000:key/1"
SECRET = "arn:aws:secretsmanager:us-east-1:000000000000:secret:wandb-AbCdEf"
PARAMETER = "arn:aws:ssm:us-east-1:000000000000:parameter/team/key"
ROLE, INLINE, ATTACHED = (
    "aws:iam/role:Role",
    "aws:iam/rolePolicy:RolePolicy",
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
)
OF_RESOURCES = {"aws:s3/bucketPolicy:BucketPolicy": "policy", "aws:efs/fileSystemPolicy:FileSystemPolicy": "policy"}
"""Policies of what is used, in place of who uses it: type to the property with the document."""


ARNS = {
    "aws:amp/workspace:Workspace": {
        "prometheusEndpoint": "https://aps-workspaces.invalid/workspaces/{name}/",
        "arn": "arn:aws:aps:us-east-1:000000000000:workspace/{name}",
    },
    "aws:s3/bucket:Bucket": {"bucket": "{name}-1234567", "arn": "arn:aws:s3:::{name}"},
    "aws:cloudwatch/logGroup:LogGroup": {"arn": "arn:aws:logs:us-east-1:000000000000:log-group:{name}"},
    "aws:efs/fileSystem:FileSystem": {
        "dnsName": "{name}.efs.invalid",
        "arn": "arn:aws:elasticfilesystem:us-east-1:000000000000:file-system/{name}",
    },
}
"""ARNs as AWS's are, by which a linter knows what they name."""


def _with_arns(program: Program) -> Program:
    return replace(program, computed={**program.computed, **ARNS})


kubernetes, batch = _with_arns(kubernetes_program), _with_arns(batch_program)


@dataclass
class RecordedRole:
    """A role: its key (component and what is left of its name), who takes it, and what it may do.

    managed: names of AWS's own policies. statements: of its own.
    """

    key: str
    trust: list[Mapping[str, Any]] = field(default_factory=list)
    managed: set[str] = field(default_factory=set)
    statements: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def actions(self) -> set[str]:
        return {action for statement in self.statements for action in listed(statement["Action"])}


def listed(value: object) -> list[Any]:
    """A policy's value, which may be one or several, as several."""
    return value if isinstance(value, list) else [value]


@cache
def recordings() -> tuple[Recording[Any], ...]:
    with TemporaryDirectory() as folder:
        images = Path(folder) / "images.yaml"
        images.write_text(yaml.safe_dump(test_aws_mirror.LIST))
        mirror = {"list": str(images), "github_repository": "lab/images"}
        return (
            kubernetes(
                network={"zones": ["use1-az1", "use1-az2", "use1-az3"], "flow_logs": True},
                registry={"repositories": ["training"], "pull_through": {"quay": "quay.io"}},
                software=["device-plugin", "efa-plugin", "mpi-operator", "autoscaler", "monitoring"],
                managed_prometheus={"retention_days": 400},
            ),
            kubernetes(**test_own_servers.changed()),
            test_data_sync.program(data_sync=test_data_sync.SYNC),
            test_data_sync.program(
                **test_own_servers.changed(credentials="roles-anywhere", certificate_authority=certificate()),
                data_sync=test_data_sync.SYNC | {"to": "s3", "bucket_arn": test_data_sync.BUCKET},
            ),
            batch(
                outputs={"kms_key_arn": KEY},
                access_logs=True,
                job={"secrets": {"A": SECRET, "B": PARAMETER}},
                registry={"repositories": ["training"], "pull_through": {"quay": "quay.io"}},
            ),
            _with_arns(test_aws_mirror.program)(image_mirror=mirror),
            test_mountpoint_driver.build(False, kms_key_arns=[KEY]),
        )


@cache
def apart() -> tuple[Recording[Any], ...]:
    """Components that no program here makes so: a pool on a cluster of others, and the driver that notebooks need."""
    return gpu_pools.build(False, node_role_arn=None), test_cluster.build(False, ebs_driver=True)


@cache
def recorded_roles() -> Mapping[str, RecordedRole]:
    """Each role, and each policy of a resource, by its key; of several that are alike, all statements."""
    found: dict[str, RecordedRole] = {}
    for made in (*recordings(), *apart()):
        others = set(found) if made in apart() else set()
        for role in made.of(ROLE):
            if _key(made, role) in others:
                continue
            known = found.setdefault(_key(made, role), RecordedRole(_key(made, role)))
            _extend(known.trust, _statements(role.inputs["assumeRolePolicy"]))
            for each in made.of(ATTACHED):
                if each.inputs["role"] == role.name:
                    known.managed.add(str(each.inputs["policyArn"]).rpartition("/")[2])
            for each in made.of(INLINE):
                if each.inputs["role"] == role.name:
                    _extend(known.statements, _statements(each.inputs["policy"]))
        for kind, document in OF_RESOURCES.items():
            for each in made.of(kind):
                known = found.setdefault(_key(made, each), RecordedRole(_key(made, each)))
                _extend(known.statements, _statements(each.inputs[document]))
    return dict(sorted(found.items()))


def documents() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each policy of an identity as it is registered: the role's key and the document."""
    for made in recordings():
        roles = {role.name: _key(made, role) for role in made.of(ROLE)}
        for each in made.of(INLINE):
            yield roles[str(each.inputs["role"])], json.loads(str(each.inputs["policy"]))


def _key(made: Recording[Any], resource: Registered) -> str:
    [parent] = [each for each in made.resources if each.name == resource.parent and each.type.startswith("gpufleet")]
    return f"{parent.type.rpartition(':')[2]}{resource.name.removeprefix(parent.name)}"


def _statements(document: object) -> list[Mapping[str, Any]]:
    statements: list[Mapping[str, Any]] = json.loads(str(document))["Statement"]
    return statements


def _extend(known: list[Mapping[str, Any]], more: list[Mapping[str, Any]]) -> None:
    known.extend(each for each in more if each not in known)
