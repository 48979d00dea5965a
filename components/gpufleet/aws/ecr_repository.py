"""Repositories of ECR: with their lifecycle, as Registry and ImageMirror make them, and in pull-through caches."""

# Signatures stay text: evaluated, they would load a whole service of the SDK.
from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pulumi
from pulumi_aws import ecr

from gpufleet.aws.partition import partition
from gpufleet.component import Component


def lifecycle_policy(mutable_tags: Sequence[str], untagged_days: int, kept_mutable: int) -> str:
    """Lifecycle policy (JSON) of a repository: untagged images age out, each mutable pattern keeps its newest.

    Images with an immutable tag are never expired: a finished job's record may name them.
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/lifecycle_policy_parameters.html
    """
    untagged = {
        "rulePriority": 1,
        "description": f"untagged images go after {untagged_days} days",
        "selection": {
            "tagStatus": "untagged",
            "countType": "sinceImagePushed",
            "countUnit": "days",
            "countNumber": untagged_days,
        },
        "action": {"type": "expire"},
    }
    mutable = [
        {
            "rulePriority": priority,
            "description": f"the newest {kept_mutable} of {pattern} stay",
            "selection": {
                "tagStatus": "tagged",
                "tagPatternList": [pattern],
                "countType": "imageCountMoreThan",
                "countNumber": kept_mutable,
            },
            "action": {"type": "expire"},
        }
        for priority, pattern in enumerate(mutable_tags, start=2)
    ]
    return json.dumps({"rules": [untagged, *mutable]})


def cache_statement(region: str, prefixes: Iterable[str]) -> dict[str, Any]:
    """The right to pull through caches what they do not hold yet: ECR makes its repository in the caller's name.

    AmazonEC2ContainerRegistryPullOnly has ecr:BatchImportUpstreamImage only, older policies neither. The account is
    left open: repositories are its own, and nothing here knows its number.
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache-iam.html
    """
    repositories = f"arn:{partition(region)}:ecr:{region}:*:repository"
    return {
        "Sid": "Caches",
        "Effect": "Allow",
        "Action": ["ecr:BatchImportUpstreamImage", "ecr:CreateRepository"],
        "Resource": [f"{repositories}/{prefix}/*" for prefix in prefixes],
    }


def ecr_repository(
    parent: Component,
    child: str,
    repository: str,
    *,
    mutable: Sequence[str],
    policy: str,
    key: pulumi.Input[str] | None,
    erase: bool,
) -> ecr.Repository:
    """One repository with its lifecycle. Its name is the one asked for: people type it into docker push."""
    # A name of our own is taken until the old repository is gone.
    kept = parent.child(protect=not erase, delete_before_replace=True)
    made = ecr.Repository(
        child,
        name=repository,
        image_tag_mutability="IMMUTABLE_WITH_EXCLUSION" if mutable else "IMMUTABLE",
        image_tag_mutability_exclusion_filters=[
            ecr.RepositoryImageTagMutabilityExclusionFilterArgs(filter=pattern, filter_type="WILDCARD")
            for pattern in mutable
        ]
        or None,
        image_scanning_configuration=ecr.RepositoryImageScanningConfigurationArgs(scan_on_push=True),
        encryption_configurations=[
            ecr.RepositoryEncryptionConfigurationArgs(encryption_type="AES256")
            if key is None
            else ecr.RepositoryEncryptionConfigurationArgs(encryption_type="KMS", kms_key=key)
        ],
        # Without it ECR refuses to delete a repository that holds images.
        force_delete=erase,
        tags=parent.tags(child),
        opts=kept,
    )
    ecr.LifecyclePolicy(f"{child}-lifecycle", repository=made.name, policy=policy, opts=kept)
    return made
