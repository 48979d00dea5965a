"""Whether a stack is certainly an environment of gpufleet's, and certainly ends: by majority, not by one stray tag."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from gpufleet.fleet.end_tags import EndTags
from gpufleet.fleet.ownership_tags import OwnershipTags
from gpufleet.fleet.stack_state import StackState

BORN = datetime(2026, 10, 1, tzinfo=UTC)
OURS = {"gpufleet-stack": "training/dev", "environment": "dev", "project": "vision", "owner": "ana"}
PAST = {"expires-at": "2026-01-31"}
NEVER = {"expires-at": "never"}
NOBODY: Mapping[str, str] = {}
SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:hush"}
MIXED = "one-0: gpufleet-stack=other/dev, the mark of another stack"

Made = Callable[..., dict[str, Any]]


@pytest.fixture
def tags(resource: Made) -> Callable[..., OwnershipTags]:
    """The tags of a stack with so many resources of each kind of tags. default: of its provider."""

    def made(*groups: tuple[int, Mapping[str, object]], default: Mapping[str, object] = NOBODY) -> OwnershipTags:
        names = ("one", "two", "three")
        resources = [
            resource("dev", "aws:ec2/vpc:Vpc", f"{names[group]}-{number}", {"tags": dict(own)})
            for group, (count, own) in enumerate(groups)
            for number in range(count)
        ]
        return OwnershipTags(StackState("dev", "training", resources), default)

    return made


@pytest.mark.parametrize(
    ("groups", "doubt"),
    [
        ([(200, OURS)], ""),
        # The majority, and the values next to it.
        ([(101, OURS), (99, NOBODY)], ""),
        ([(100, OURS), (100, NOBODY)],
         "100 of 200 resources with tags have gpufleet-stack=training/dev, the mark of gpufleet"),
        ([(1, OURS), (199, NOBODY)],
         "1 of 200 resources with tags have gpufleet-stack=training/dev, the mark of gpufleet"),
        ([(3, NOBODY), (1, PAST)],
         "0 of 4 resources with tags have gpufleet-stack=training/dev, the mark of gpufleet"),
        # Another's mark, on one or on all.
        ([(1, OURS | {"gpufleet-stack": "other/dev"}), (199, OURS)], MIXED),
        ([(2, OURS | {"gpufleet-stack": "other/dev"}), (198, OURS)],
         MIXED.replace("one-0", "one-0 and 1 more")),
        # The name of the stack alone is not the mark.
        ([(3, OURS | {"gpufleet-stack": "dev"})],
         "one-0 and 2 more: gpufleet-stack=dev, the mark of another stack"),
        # Whose it is they must agree on.
        ([(101, OURS), (99, OURS | {"owner": "bob"})], ""),
        ([(100, OURS), (100, OURS | {"owner": "bob"})],
         "most of its 200 resources with tags have no environment, project and owner in common"),
        ([(3, {"gpufleet-stack": "training/dev"})],
         "most of its 3 resources with tags have no environment, project and owner in common"),
        # What anybody may have written cannot write on somebody's terminal.
        ([(1, OURS | {"gpufleet-stack": "a/b\x1b[2J\n"}), (3, OURS)],
         "one-0: gpufleet-stack=a/b\\x1b[2J\\n, the mark of another stack"),
    ],
)  # fmt: skip
def test_doubt(tags: Callable[..., OwnershipTags], groups: Sequence[tuple[int, Any]], doubt: str) -> None:
    assert tags(*groups).doubt == doubt


def test_what_has_no_resources_that_take_tags_is_not_certain(resource: Made) -> None:
    route = resource("dev", "aws:ec2/route:Route", "route", {})
    found = OwnershipTags(StackState("dev", "training", [route]), {})
    assert found.doubt == "0 of 0 resources with labels have gpufleet.dev/stack=training-dev, the mark of gpufleet"


def test_tags_of_the_provider_are_enough(tags: Callable[..., OwnershipTags]) -> None:
    found = tags((3, NOBODY), default=OURS | PAST)
    assert (found.doubt, EndTags.of_tags(found, BORN).doubt) == ("", "")


def test_what_the_cloud_says_counts_before_what_the_program_gave(resource: Made) -> None:
    theirs = OURS | {"gpufleet-stack": "other/dev"}
    own = [resource("dev", "aws:ec2/vpc:Vpc", f"vpc-{number}", {"tags": OURS}) for number in range(3)]
    own[2]["outputs"] = {"tags": theirs, "tagsAll": theirs}
    found = OwnershipTags(StackState("dev", "training", own), {})
    assert found.doubt == "vpc-2: gpufleet-stack=other/dev, the mark of another stack"


def test_objects_count_where_nothing_has_tags_but_not_what_patches_others(onprem: Made) -> None:
    state = StackState("lab", "training", onprem("lab", owner="ana", **{"expires-at": "2026-01-31"}))
    found = OwnershipTags(state, {})
    assert [each.name for each in found.resources] == ["team", "volume"]
    assert (found.doubt, found.ownership.stack) == ("", "training-lab")
    assert OwnershipTags(StackState("lab", "other", state.resources), {}).doubt == (
        "team and 1 more: gpufleet.dev/stack=training-lab, the mark of another stack"
    )


@pytest.mark.parametrize(
    ("groups", "end", "doubt"),
    [
        ([(200, OURS | PAST)], "2026-01-31", ""),
        ([(101, OURS | PAST), (99, OURS)], "2026-01-31", ""),
        ([(100, OURS | PAST), (100, OURS)], "2026-01-31", "expires-at is on 100 of 200 resources with the mark"),
        # The stray tag of the review.
        ([(1, OURS | PAST), (199, OURS | NEVER)], "2026-01-31", "expires-at=never on 199 of 200 resources"),
        ([(199, OURS | PAST), (1, OURS | NEVER)], "2026-01-31", "expires-at=never on 1 of 200 resources"),
        # Also on what has no mark: it would be deleted too.
        ([(199, OURS | PAST), (1, NEVER)], "2026-01-31", "expires-at=never on 1 of 200 resources"),
        ([(200, OURS | NEVER)], None, ""),
        ([(200, OURS)], None, ""),
        # Of several the last.
        ([(150, OURS | PAST), (50, OURS | {"expires-at": "2027-01-31"})], "2027-01-31", ""),
        # What makes no sense.
        ([(199, OURS | PAST), (1, OURS | {"expires-at": "2027-02-30"})], "2026-01-31",
         "expires-at=2027-02-30 on 1 of 200 resources"),
        ([(3, OURS | {"expires-at": "soon"})], None, "expires-at=soon on 3 of 3 resources"),
        ([(3, OURS | {"expires-at": "20260131"})], None, "expires-at=20260131 on 3 of 3 resources"),
        ([(3, OURS | {"expires-at": ""})], None, "expires-at=(no text) on 3 of 3 resources"),
        ([(3, OURS | {"expires-at": SECRET})], None, "expires-at=(no text) on 3 of 3 resources"),
        ([(3, OURS | {"expires-at": "0h"})], None, "expires-at=0h on 3 of 3 resources"),
        ([(2, OURS | PAST), (1, OURS | {"expires-at": "a\nb"}), (1, OURS | NEVER)], "2026-01-31",
         "expires-at=never on 1, expires-at=a\\nb on 1 of 4 resources"),
        ([(3, OURS | {"expires-at": "9999-12-31"})], "9999-12-31", ""),
    ],
)  # fmt: skip
def test_end(
    tags: Callable[..., OwnershipTags], groups: Sequence[tuple[int, Any]], end: str | None, doubt: str
) -> None:
    found = EndTags.of_tags(tags(*groups), BORN)
    assert (found.latest.text if found.latest else None, found.doubt) == (end, doubt)


def test_lifetime_without_a_beginning_is_not_certain(tags: Callable[..., OwnershipTags]) -> None:
    of = tags((3, OURS | {"expires-at": "6d"}))
    assert EndTags.of_tags(of, BORN).doubt == ""
    assert EndTags.of_tags(of, None).doubt == "expires-at=6d on 3 of 3 resources"
