"""The image mirror of an AWS environment: repositories out of the list, roles, and what is wrong with a list."""

import json
from pathlib import Path

import pytest
import yaml

from tests.unit.stacks.stack_programs import PROJECT, Program

CONFIG = {
    "aws:region": "us-east-1",
    "gpufleet:cloud": "aws-batch",
    "gpufleet:owner": "team",
    "gpufleet:project": "training",
    "gpufleet:network": {"zones": ["use1-az1"]},
    "gpufleet:pools": {"trainers": {"types": ["g5.8xlarge"], "max": 1, "zones": ["use1-az1"]}},
    "gpufleet:registry": {"repositories": ["training"]},
}
LIST = {
    "to": "123456789012.dkr.ecr.us-east-1.amazonaws.com/dev",
    "unique_tags": True,
    "images": [
        {"from": "nvcr.io/nvidia/pytorch", "tags": ["25.10-py3", "25.09-py3"], "to": "training"},
        {"from": "nvcr.io/nvidia/cuda", "tags": ["13.0.1-base-ubuntu24.04"]},
    ],
}


program = Program("dev", CONFIG)


def mirror(file: Path | str, **more: object) -> dict[str, object]:
    return {"list": str(file), **more}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "images.yaml").write_text(yaml.safe_dump(LIST))
    return tmp_path / "images.yaml"


def test_the_lists_repositories_are_made_once_and_ci_may_push_to_them(file: Path) -> None:
    made = program(image_mirror=mirror(file, github_repository="lab/images"))
    repositories = made.inputs("aws:ecr/repository:Repository")
    assert {name: each["name"] for name, each in repositories.items()} == {
        "dev-registry-dev/training": "dev/training",
        "dev-mirror-dev/cuda": "dev/cuda",
    }
    assert repositories["dev-mirror-dev/cuda"]["tags"]["environment"] == "dev"
    rights = made.one("aws:iam/rolePolicy:RolePolicy", "dev-mirror-push-rights").inputs["policy"]
    [push] = [each for each in json.loads(rights)["Statement"] if each["Sid"] == "Push"]
    assert push["Resource"] == [f"arn:aws:ecr:us-east-1:*:repository/dev/{name}" for name in ("cuda", "training")]
    assert set(made.result["image_mirror"]) == {"repository_urls", "push_role_arn", "look_role_arn"}


def test_an_environment_without_a_mirror_says_nothing_of_one() -> None:
    made = program()
    assert "image_mirror" not in made.result
    assert [each.name for each in made.resources if "mirror" in each.name] == []


def test_the_example_is_legal_but_for_its_account() -> None:
    made = program(image_mirror=mirror("examples/images/images.yaml"))
    assert (PROJECT / "examples/images/images.yaml").is_file()
    # dev/training is made by the registry.
    assert [each.name for each in made.resources if each.name.startswith("dev-mirror")] == ["dev-mirror"]


WRONG: dict[str, tuple[dict[str, object], list[str]]] = {
    "another registry, and tags that move": (
        {"to": "registry.lab:5000/dev", "unique_tags": False},
        [
            "dev-mirror: list.to=registry.lab:5000/dev: is not an ECR registry, so no repository can be created for "
            "it; write <account>.dkr.ecr.us-east-1.amazonaws.com/<environment> [aws-mirror-list-registry]",
            "dev-mirror: list.unique_tags=false: the repositories keep tags immutable; write unique_tags: true in the "
            "list [aws-mirror-list-tags]",
        ],
    ),
    "a list with two faults": (
        {"too": 1, "images": []},
        [
            "images.yaml: images=[]: Tuple should have at least 1 item after validation, not 0; fix it; "
            "`gpufleet images sync <list> --dry-run` reads it in the same way [aws-mirror-list-legal]",
            "images.yaml: too: unknown key; see docs/images.md for the known ones; fix it; "
            "`gpufleet images sync <list> --dry-run` reads it in the same way [aws-mirror-list-legal]",
        ],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_refuses(case: str, file: Path) -> None:
    changes, expected = WRONG[case]
    file.write_text(yaml.safe_dump(LIST | changes))
    lines = program.refusal(image_mirror=mirror(file))
    found = [line.replace(f"dev-mirror: list={file}:", "images.yaml:") for line in lines]
    assert found == expected


def test_a_list_that_is_not_there(tmp_path: Path) -> None:
    [line] = program.refusal(image_mirror=mirror(tmp_path / "none.yaml"))
    assert line.startswith(f"dev-mirror: list={tmp_path}/none.yaml: No such file or directory; ")
