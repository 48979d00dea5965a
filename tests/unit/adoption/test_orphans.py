"""Which resources the state has lost, and whose they are; an engine is played."""

import pytest

from gpufleet.adoption.cloud_resource import CloudResource
from gpufleet.adoption.orphans import AdoptError, Orphans, find_orphans, reject_lost_state
from tests.tools.fake_engine import OTHERS, OWNER, Cloud, FakeEngine, held, made, urn, vpc

VPC = "aws:ec2/vpc:Vpc"
ROUTE = "aws:ec2/route:Route"
TARGET = "aws:efs/mountTarget:MountTarget"
ANCHOR = held("aws:ec2/eip:Eip", "net-address", "eipalloc-1")
"""Something of ours that the state has: by it the stack's ownership is known."""


def route(to="rtb-1", **found):
    return CloudResource(ROUTE, f"{to}_0.0.0.0/0", None, inputs={"routeTableId": to}, tags=OWNER, **found)


def test_nothing_is_previewed_when_nothing_is_lost():
    engine = FakeEngine(state=[held(VPC, "net-vpc", "vpc-1")])
    assert find_orphans(engine, "dev", Cloud(vpc(1))) == Orphans()
    assert (engine.previews, engine.done) == (0, [])


def test_a_lost_thing_is_wanted_under_its_name():
    engine = FakeEngine(steps=[made(VPC, "other-vpc"), made(VPC, "net-vpc")])
    orphans = find_orphans(engine, "dev", Cloud(vpc(1)))
    assert [(found, step["urn"]) for found, step in orphans.wanted] == [(vpc(1), urn(VPC, "net-vpc"))]
    assert (orphans.unknown, orphans.foreign) == ((), ())


@pytest.mark.parametrize(
    ("found", "step"),
    [
        pytest.param(vpc(1), made(VPC, "net-vpc", op="update"), id="no creation"),
        pytest.param(vpc(1), made(ROUTE, "net-vpc"), id="another type"),
        pytest.param(vpc(1, name=""), made(VPC, "net-vpc"), id="tagged without a name"),
        pytest.param(route("rtb-1"), made(ROUTE, "net-default", {"routeTableId": "rtb-2"}), id="other inputs"),
        pytest.param(
            CloudResource("aws:dynamodb", "arn:a", "jobs", arn="arn:a", tags=OWNER), made(VPC, "jobs"), id="unread type"
        ),
    ],
)
def test_what_the_program_does_not_make_is_unknown(found, step):
    orphans = find_orphans(FakeEngine(state=[ANCHOR], steps=[step]), "dev", Cloud(found))
    assert (orphans.wanted, orphans.unknown, orphans.foreign) == ((), (found,), ())


@pytest.mark.parametrize(
    ("tags", "differences"),
    [
        pytest.param(OTHERS, ["owner=them"], id="owner"),
        pytest.param(OWNER | {"gpufleet-stack": "theirs/dev"}, ["gpufleet-stack=theirs/dev"], id="Pulumi project"),
        pytest.param(OWNER | {"project": "billing"}, ["project=billing"], id="project"),
        pytest.param({"environment": "dev"}, ["no gpufleet-stack", "no project", "no owner"], id="nothing"),
    ],
)
def test_what_is_not_certainly_ours_is_never_wanted(tags, differences):
    """Neither a thing with tags nor what hangs on one, whether the program makes one of that name or not."""
    untagged = CloudResource(TARGET, "fsmt-1", None, "fsmt-1", {"fileSystemId": "fs-1"}, tags=tags)
    steps = [made(VPC, "net-vpc"), made(TARGET, "files-mount", {"fileSystemId": "fs-1"})]
    orphans = find_orphans(FakeEngine(steps=steps), "dev", Cloud(vpc(1, tags=tags), untagged))
    assert (orphans.wanted, orphans.unknown, orphans.ambiguous) == ((), (), ())
    assert orphans.foreign == ((vpc(1, tags=tags), differences), (untagged, differences))


def test_a_step_of_another_owner_is_not_the_one():
    """A program may have things of two teams; each takes what is its own."""
    steps = [made(VPC, "net-vpc", {"tags": OTHERS}), made(VPC, "own-vpc")]
    orphans = find_orphans(FakeEngine(steps=steps), "dev", Cloud(vpc(1)))
    assert (orphans.wanted, orphans.unknown) == ((), (vpc(1),))


@pytest.mark.parametrize(
    "tags", [{"environment": "dev", "owner": "us"}, OWNER | {"gpufleet-stack": "other/dev"}], ids=["none", "another's"]
)
def test_a_program_without_its_own_mark_takes_nothing(tags):
    """Even where the cloud's thing has the very same tags."""
    orphans = find_orphans(FakeEngine(steps=[made(VPC, "net-vpc", {"tags": tags})]), "dev", Cloud(vpc(1, tags=tags)))
    assert (orphans.wanted, len(orphans.foreign)) == ((), 1)


def test_tags_that_the_provider_adds_count():
    there = held("aws:ec2/eip:Eip", "net-address", "eipalloc-1", {}, {"tagsAll": OWNER})
    engine = FakeEngine(state=[there], steps=[made(VPC, "net-vpc", {})])
    assert len(find_orphans(engine, "dev", Cloud(vpc(1))).wanted) == 1


def test_two_of_one_name_are_two():
    """A program that made its network twice, because the first was lost, holds the second only."""
    engine = FakeEngine(state=[held(VPC, "net-vpc", "vpc-2")])
    assert find_orphans(engine, "dev", Cloud(vpc(1), vpc(2))).unknown == (vpc(1),)


def test_of_two_lost_ones_of_one_name_none_is_guessed():
    orphans = find_orphans(FakeEngine(steps=[made(VPC, "net-vpc")]), "dev", Cloud(vpc(1), vpc(2)))
    assert (orphans.wanted, orphans.unknown) == ((), ())
    assert orphans.ambiguities == [
        f"net-vpc ({VPC}): may be any of vpc-1, vpc-2; delete what is not, or `pulumi import` what is"
    ]


@pytest.mark.parametrize(
    ("found", "lost"),
    [
        pytest.param(route("rtb-1"), False, id="no id"),
        pytest.param(route("rtb-2"), True, id="other inputs"),
        pytest.param(route("rtb-1", id="r-1"), False, id="id"),
        pytest.param(route("rtb-1", id="r-2"), True, id="another id"),
    ],
)
def test_what_takes_no_tags_is_found_in_the_state(found, lost):
    engine = FakeEngine(state=[ANCHOR, held(ROUTE, "net-default", "r-1", {"routeTableId": "rtb-1"})])
    assert bool(find_orphans(engine, "dev", Cloud(found)).unknown) is lost


def test_an_arn_in_the_state_is_enough_whatever_the_type():
    """An inventory that cannot name a type must not call a user's own table an orphan."""
    there = held("aws:dynamodb/table:Table", "jobs", "jobs-1", outputs={"arn": "arn:jobs-1"})
    seen = CloudResource("aws:dynamodb", "arn:jobs-1", "jobs", arn="arn:jobs-1", tags=OWNER)
    other = CloudResource("aws:dynamodb", "arn:jobs-2", "jobs", arn="arn:jobs-2", tags=OWNER)
    assert find_orphans(FakeEngine(state=[there]), "dev", Cloud(seen, other)).unknown == (other,)


def test_what_is_found_reads_as_name_type_and_import_id():
    assert str(vpc(1)) == "net-vpc (aws:ec2/vpc:Vpc vpc-1)"
    assert str(route()) == "unnamed (aws:ec2/route:Route rtb-1_0.0.0.0/0)"


@pytest.mark.parametrize(("present", "rejected"), [(0, True), (1, True), (2, False), (9, False)])
def test_most_of_an_environment_is_another_states(present, rejected):
    state = [held(VPC, f"other-{number}", f"vpc-9{number}") for number in range(present)]
    # What lies in clusters is in no inventory of the cloud.
    objects = [made("kubernetes:core/v1:Namespace", f"team-{number}", {}) for number in range(9)]
    steps = [made(VPC, "net-vpc"), made(VPC, "more-vpc"), *objects]
    orphans = find_orphans(FakeEngine(state, steps), "dev", Cloud(vpc(1), vpc(2, "more-vpc")))
    assert (len(orphans.wanted), orphans.declared) == (2, present + 2)
    if not rejected:
        reject_lost_state("dev", orphans)
        return
    with pytest.raises(AdoptError) as error:
        reject_lost_state("dev", orphans)
    assert str(error.value) == (
        f"dev: 2 of {present + 2} resources are in the cloud and not in this state, as if they were kept in another "
        "backend; compare with `pulumi whoami --verbose`, and if the state is lost, add --lost-state"
    )
