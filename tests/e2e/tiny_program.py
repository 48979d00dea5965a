"""Another team's program: plain pulumi_aws, its own Pulumi.yaml, nothing of ours."""

from pathlib import Path
from typing import Any

import yaml

from tests.e2e.rehearsed_project import Project

NETWORK = """
import pulumi
import pulumi_aws as aws

vpc = aws.ec2.Vpc("net", cidr_block="10.0.0.0/16")
for n in range(pulumi.Config().get_int("subnets") or 0):
    aws.ec2.Subnet(f"subnet-{n}", vpc_id=vpc.id, cidr_block=f"10.0.{n}.0/24", availability_zone="us-east-1a")
pulumi.export("vpc", vpc.id)
"""


def tiny(folder: Path, source: str = NETWORK, **config: Any) -> Project:
    """A project `billing` with the environment `dev` in a new folder."""
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: billing\nruntime: python\n")
    (folder / "__main__.py").write_text(source)
    project = Project(folder)
    set_config(project, **config)
    return project


def set_config(project: Project, **config: Any) -> None:
    """Write the environment's configuration anew."""
    keys = {"aws:region": "us-east-1"} | {f"billing:{key}": value for key, value in config.items()}
    (project.folder / "Pulumi.dev.yaml").write_text(yaml.safe_dump({"config": keys}))


def ids(project: Project) -> dict[str, str]:
    """What the simulated cloud holds: logical name -> id."""
    return {resource.name: resource.id for resource in project.cloud.store.resources() if resource.owner is None}


def made(project: Project, environment: str = "dev") -> dict[str, Any]:
    """What the state holds of it: logical name -> id."""
    resources = project.state(environment)
    return {
        str(r["urn"]).split("::")[-1]: r.get("id")
        for r in resources
        if r.get("custom") and not r["type"].startswith("pulumi:")
    }
