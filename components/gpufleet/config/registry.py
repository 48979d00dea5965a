"""The registry of an AWS environment, and its mirror of other registries' images."""

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import pulumi

from gpufleet.aws.image_mirror import ImageMirror, ImageMirrorConfig
from gpufleet.aws.registry import RegistryConfig
from gpufleet.config.aws_account import AwsAccountConfig
from gpufleet.config.environment import Environment
from gpufleet.errors import UserError
from gpufleet.report.configuration_files import project_folder
from gpufleet.rules.aws.image_mirror import validate_mirror_file, validate_mirror_list
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.typed_dicts import pick
from gpufleet.validation import validate_stack

if TYPE_CHECKING:
    from gpufleet.images.mirror.image_list import ImageList


class MirroredRepositories(TypedDict):
    """What the mirror pushes to: made for it, or there already."""

    repositories: list[str]
    existing_repositories: list[str]


def registry_config(env: Environment[AwsAccountConfig]) -> RegistryConfig:
    """The registry's arguments. Repository names are shared by the whole account: the environment's goes in front."""
    registry = env.config["registry"]
    own: RegistryConfig = {**registry, "repositories": [f"{env.name}/{n}" for n in registry.get("repositories", [])]}
    return own


def all_repositories(registry: RegistryConfig) -> list[str]:
    """Those that the registry makes, then those that exist."""
    return [*registry.get("repositories", ()), *registry.get("existing_repositories", ())]


def image_mirror(env: Environment[AwsAccountConfig]) -> None:
    """The mirror, if there is one, and the stack's output `image_mirror`: its repositories are those of its list.

    The list's path is from Pulumi.yaml, in or above the folder in which the engine runs the program.
    """
    config = env.config.get("image_mirror")
    if config is None:
        return
    # Reading lists of images takes pydantic, which programs without a mirror need not load.
    from gpufleet.images.mirror.image_list import read_image_list

    region, file, project = env.config["region"], config["list"], project_folder(Path.cwd())
    try:
        wanted = read_image_list(project / file)
    except UserError as error:
        # The finding names the file already.
        lines = [line.removeprefix(f"{project / file}: ") for line in str(error).splitlines()]
        validate_stack(ResourceFinding(env.part("mirror"), each) for each in validate_mirror_file(file, lines))
        return
    findings = validate_mirror_list(wanted.to, wanted.unique_tags, region)
    validate_stack(ResourceFinding(env.part("mirror"), each) for each in findings)
    mirror = ImageMirror(
        env.part("mirror"),
        **pick(ImageMirrorConfig, config),
        **_repositories(env, wanted),
        region=region,
        tags=env.tags,
        erase=env.config["erase"],
    )
    outputs = {
        "repository_urls": mirror.repository_urls,
        "push_role_arn": mirror.push_role_arn,
        "look_role_arn": mirror.look_role_arn,
    }
    pulumi.export("image_mirror", outputs)


def _repositories(env: Environment[AwsAccountConfig], wanted: "ImageList") -> MirroredRepositories:
    from gpufleet.images.mirror.image_list import items

    names = list(dict.fromkeys(item.target.url.partition("/")[2] for item in items(wanted)))
    known = all_repositories(registry_config(env))
    return {
        "repositories": [name for name in names if name not in known],
        "existing_repositories": [name for name in names if name in known],
    }
