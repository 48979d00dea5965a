"""Look-ups of what AWS itself owns: images, public parameters, and the keys of its services.

Their ids change every week and differ by region, so that a rehearsal's are made up: always the same ones for the same
question. Images say so in their description.

Source: hashicorp/terraform-provider-aws, internal/service/ec2/ec2_ami_data_source.go, internal/service/ssm/
parameter_data_source.go, internal/service/kms/alias_data_source.go; the names of parameters are those of the user
guides of EKS, EC2 and Bottlerocket.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from gpufleet.aws.partition import partition
from gpufleet_rehearsal.cloud.checks import CloudError
from gpufleet_rehearsal.cloud.scope import CloudView
from gpufleet_rehearsal.table.paths import Json, json_items, json_objects
from gpufleet_rehearsal.table.templates import generated, generated_uuid

IMAGE = "aws:ec2/getAmi:getAmi"
PARAMETER = "aws:ssm/getParameter:getParameter"
ALIAS = "aws:kms/getAlias:getAlias"
KEY = "aws:kms/getKey:getKey"

STAND_IN = "stand-in of a rehearsal; the newest image that the real account finds is another one"
NO_IMAGE = "Your query returned no results. Please change your search criteria and try again."
"""Source: hashicorp/terraform-provider-aws#5996, hashicorp-education/learn-terraform-aws-asg#11."""
_DAY = "2026-11-01T00:00:00.000Z"
_AMAZON = "137112412989"
"""The account of Amazon Linux: docs.aws.amazon.com/linux/al2023/ug/ec2.html."""
_EKS = re.compile(r"/aws/service/eks/optimized-ami/(?P<version>[\d.]+)/(?P<image>.+)/recommended(/(?P<field>\w+))?")
_IMAGES = re.compile(
    r"/aws/service/("
    r"ami-amazon-linux-latest/.+|ami-windows-latest/.+|bottlerocket/.+/image_id|canonical/.+/ami-id|debian/.+|"
    r"deeplearning/ami/.+/ami-id|ecs/optimized-ami/.+/recommended/image_id|neuron/.+/image_id)"
)
_BOTTLEROCKET_VERSION = re.compile(r"/aws/service/bottlerocket/.+/image_version")
_NEWEST_OF_AMAZON_LINUX_2 = (1, 32)
"""Source: terraform-aws-modules/terraform-aws-eks#3487, scylladb/scylla-cluster-tests#12524."""


def image(cloud: CloudView, arguments: Mapping[str, Json]) -> dict[str, Json]:
    """An image that has the name that is asked for, with a word in place of each wildcard.

    Errors: CloudError, the provider's for images of the account itself, of which it has none, and the rehearsal's where
    neither name nor id is given.
    """
    filters = {str(each.get("name")): _texts(each.get("values")) for each in json_objects(arguments.get("filters"))}
    owners = [*_texts(arguments.get("owners")), *filters.get("owner-alias", []), *filters.get("owner-id", [])]
    if owners and all(owner in ("self", cloud.account) for owner in owners):
        raise CloudError("", NO_IMAGE)
    named, ids = filters.get("name", []), filters.get("image-id", [])
    expression = arguments.get("nameRegex")
    if not named and not ids and not expression:
        raise CloudError("", f"{IMAGE}: filters: a rehearsal makes an image of its name or image-id; give one of them")
    name = re.sub(r"[*?]+", "rehearsal", named[0]) if named else "rehearsal"
    asked = json.dumps([filters, owners, expression], sort_keys=True)
    arm = "arm64" in filters.get("architecture", [asked])[0] or "aarch64" in name
    owner = next((owner for owner in owners if owner.isdigit()), _AMAZON)
    image_id = ids[0] if ids else _image_id(cloud, asked)
    device = "/dev/sda1" if "ubuntu" in name.lower() else "/dev/xvda"
    return {
        "id": image_id,
        "imageId": image_id,
        "arn": f"arn:{partition(cloud.region)}:ec2:{cloud.region}::image/{image_id}",
        "architecture": "arm64" if arm else "x86_64",
        "blockDeviceMappings": [
            {"deviceName": device, "ebs": {"delete_on_termination": "true", "volume_size": "8", "volume_type": "gp3"}}
        ],
        "creationDate": _DAY,
        "description": STAND_IN,
        "enaSupport": True,
        "hypervisor": "xen",
        "imageLocation": f"{owner}/{name}",
        "imageOwnerAlias": "amazon" if owner == _AMAZON else "",
        "imageType": "machine",
        "imdsSupport": "v2.0",
        "name": name,
        "ownerId": owner,
        "platformDetails": "Linux/UNIX",
        "productCodes": [],
        "public": True,
        "region": cloud.region,
        "rootDeviceName": device,
        "rootDeviceType": "ebs",
        "rootSnapshotId": f"snap-{image_id.removeprefix('ami-')}",
        "sriovNetSupport": "simple",
        "state": "available",
        "tags": {},
        "usageOperation": "RunInstances",
        "virtualizationType": "hvm",
    }


def parameter(cloud: CloudView, arguments: Mapping[str, Json]) -> dict[str, Json] | None:
    """A public parameter with the id of an image, or what else is known of it. None: it is the account's own.

    Errors: CloudError in the provider's words for a version of EKS that has none.
    """
    name = str(arguments.get("name"))
    if not name.startswith("/aws/"):
        return None
    value = _public_value(cloud, name)
    if value is None:
        raise CloudError("", f"reading SSM Parameter ({name}): couldn't find resource")
    arn = f"arn:{partition(cloud.region)}:ssm:{cloud.region}::parameter{name}"
    answer: dict[str, Json] = {"id": name, "name": name, "arn": arn, "type": "String", "version": 1}
    return answer | {"value": value, "insecureValue": value, "region": cloud.region, "withDecryption": True}


def _public_value(cloud: CloudView, name: str) -> str | None:
    if eks := _EKS.fullmatch(name):
        return _of_eks(cloud, eks["version"], eks["image"], eks["field"])
    if _BOTTLEROCKET_VERSION.fullmatch(name):
        return "1.50.0"
    return _image_id(cloud, name) if _IMAGES.fullmatch(name) else None


def _of_eks(cloud: CloudView, version: str, kind: str, field: str | None) -> str | None:
    from gpufleet.catalog.eks_versions import eks_versions

    known = eks_versions()
    if version not in known:
        return None
    newer = tuple(int(part) for part in version.split(".")) > _NEWEST_OF_AMAZON_LINUX_2
    if newer and kind in ("amazon-linux-2", "amazon-linux-2-gpu", "amazon-linux-2-arm64"):
        return None
    facts = {
        "image_id": _image_id(cloud, f"eks {version} {kind}"),
        "image_name": f"amazon-eks-{kind.replace('/', '-')}-{version}-rehearsal",
        "release_version": f"{version}.0-20261101",
    }
    return facts.get(field) if field else json.dumps({"schema_version": "2.0", **facts}, separators=(",", ":"))


def managed_alias(cloud: CloudView, arguments: Mapping[str, Json]) -> dict[str, Json] | None:
    """The alias of a key that AWS itself manages in each account. None: it is the account's own."""
    name = str(arguments.get("name"))
    if not name.startswith("alias/aws/"):
        return None
    key = generated_uuid(cloud.account, cloud.region, name)
    start = f"arn:{partition(cloud.region)}:kms:{cloud.region}:{cloud.account}:"
    arn = f"{start}{name}"
    target = f"{start}key/{key}"
    return {"id": arn, "arn": arn, "name": name, "targetKeyId": key, "targetKeyArn": target, "region": cloud.region}


def managed_key(cloud: CloudView, arguments: Mapping[str, Json]) -> dict[str, Json] | None:
    """The key behind such an alias. None: it is the account's own."""
    alias = managed_alias(cloud, {"name": arguments.get("keyId")})
    if alias is None:
        return None
    return {
        "id": alias["targetKeyId"],
        "arn": alias["targetKeyArn"],
        "awsAccountId": cloud.account,
        "customerMasterKeySpec": "SYMMETRIC_DEFAULT",
        "description": "Default key that AWS itself manages",
        "enabled": True,
        "keyManager": "AWS",
        "keySpec": "SYMMETRIC_DEFAULT",
        "keyState": "Enabled",
        "keyUsage": "ENCRYPT_DECRYPT",
        "multiRegion": False,
        "multiRegionConfigurations": [],
        "origin": "AWS_KMS",
        "region": cloud.region,
        "xksKeyConfigurations": [],
    }


def _image_id(cloud: CloudView, asked: str) -> str:
    return f"ami-{generated('hex', 17, cloud.region, asked)}"


def _texts(values: Json) -> list[str]:
    return [str(value) for value in json_items(values)]
