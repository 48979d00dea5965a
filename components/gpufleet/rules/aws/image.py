"""Rules on the image of the nodes and the disk that it needs."""

import re
from collections.abc import Sequence

from gpufleet.rules.messages import join_words, use_one_of
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

IMAGES = ("al2023", "bottlerocket")
_AMI = re.compile(r"ami-([0-9a-f]{8}|[0-9a-f]{17})")
_AL2023_GIB = 20


@rule("aws-image-known", Severity.ERROR)
def image_known(*, image: str) -> Outcome:
    """The image is al2023, bottlerocket or the id of an image.

    Source: AmiType of botocore's model of eks; EKS published its last Amazon Linux 2 images on 26 November 2025.
    """
    if image in IMAGES or _AMI.fullmatch(image):
        return passed()
    if image.startswith("ami-"):
        fix = "an id is ami- and 17 hexadecimal digits"
        return failed("image", image, "is not the id of an image", fix)
    return failed(
        "image", image, "is not a known image", f"{use_one_of(image, IMAGES)}, or the id of your own image (ami-...)"
    )


@rule("aws-image-one-architecture", Severity.ERROR)
def one_architecture(*, types: Sequence[str], architectures: Sequence[str]) -> Outcome:
    """All types of a pool have one processor architecture, since they boot one image.

    Source: an EKS node group has one amiType, which names the architecture
    (AL2023_x86_64_NVIDIA, AL2023_ARM_64_NVIDIA).
    """
    kinds = sorted(set(architectures))
    if len(kinds) < 2:
        return passed()
    return failed("types", list(types), f"mixes {join_words(kinds, 'and')}", "make a pool for each architecture")


@rule("aws-image-disk", Severity.ERROR)
def disk_holds_image(*, image: str, disk_gib: int) -> Outcome:
    """The root disk is not smaller than the image.

    Source: awslabs/amazon-eks-ami#1581 made the snapshot of AL2023 images 20 GiB; EC2 rejects a smaller disk with
    InvalidBlockDeviceMapping: Volume of size is smaller than snapshot. On Bottlerocket the figure is the data disk's.
    """
    least = _AL2023_GIB if image == "al2023" else 1
    if disk_gib < least:
        return failed("disk_gib", disk_gib, f"is below the {least} GiB that the image needs", f"use {least} or more")
    if image.startswith("ami-") and disk_gib < _AL2023_GIB:
        return unverified("disk_gib", disk_gib, f"the size of {image} is not known", f"use {_AL2023_GIB} or more")
    return passed()
