"""The image mirror of an AWS environment: its repositories are those that the list of images pushes to."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pulumi

from aws_account_settings import AwsAccountSettings
from aws_parts import registry_of
from gpufleet.aws.image_mirror import ImageMirror, ImageMirrorArgs
from gpufleet.errors import UserError
from gpufleet.images.mirror.wanted import Wanted, items, read_wanted
from gpufleet.rules.aws.image_mirror import judge_image_mirror, judge_mirror_file, judge_mirror_list
from gpufleet.rules.rule import Finding
from parts import tags
from settings import given

PROJECT = Path(__file__).resolve().parents[1]
"""Where Pulumi.yaml lies."""


def judge_mirror(environment: str, settings: AwsAccountSettings) -> list[Finding]:
    """Every finding on the mirror and on its list; nothing where there is none."""
    if settings.image_mirror is None:
        return []
    try:
        wanted = _list(settings)
    except UserError as error:
        # The finding names the file already.
        file = f"{PROJECT / settings.image_mirror.list}: "
        lines = [line.removeprefix(file) for line in str(error).splitlines()]
        return judge_mirror_file(settings.image_mirror.list, lines)
    args = _args(environment, settings, wanted) | {"region": settings.region}
    return [*judge_mirror_list(wanted.to, wanted.unique_tags, settings.region), *judge_image_mirror(args)]


def mirror_of(environment: str, settings: AwsAccountSettings) -> dict[str, Any]:
    """Make the mirror, and return the stack's output `image_mirror`; nothing where there is none."""
    if settings.image_mirror is None:
        return {}
    args = _args(environment, settings, _list(settings))
    args |= {"region": settings.region, "tags": tags(environment, settings), "erase": settings.erase}
    made = ImageMirror(f"{environment}-mirror", cast(ImageMirrorArgs, args))
    told: Mapping[str, pulumi.Output[Any]] = {
        "repository_urls": made.repository_urls,
        "push_role_arn": made.push_role_arn,
        "look_role_arn": made.look_role_arn,
    }
    return {"image_mirror": told}


def _list(settings: AwsAccountSettings) -> Wanted:
    assert settings.image_mirror is not None
    return read_wanted(PROJECT / settings.image_mirror.list)


def _args(environment: str, settings: AwsAccountSettings, wanted: Wanted) -> dict[str, Any]:
    """What the list pushes to is made here, but for what is a repository of the environment's registry already."""
    own = {key: value for key, value in given(settings.image_mirror).items() if key != "list"}
    names = list(dict.fromkeys(item.target.url.partition("/")[2] for item in items(wanted)))
    made = [*registry_of(environment, settings)["repositories"], *(settings.registry.existing_repositories or ())]
    return own | {
        "repositories": [name for name in names if name not in made],
        "existing_repositories": [name for name in names if name in made],
    }
