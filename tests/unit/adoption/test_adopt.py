"""Orphans are told from state and program, taken over by one import, deleted by one destroy; an engine is played."""

import pytest

from gpufleet.adoption.cloud_resource import CloudResource
from gpufleet.adoption.import_resources import delete, import_resources, unlock
from gpufleet.adoption.orphans import AdoptError, find_orphans
from gpufleet.pulumi_cli import PulumiCliError
from tests.tools.fake_engine import PARENT, Adopting, Cloud, FakeEngine, held, made, urn

VPC = "aws:ec2/vpc:Vpc"
ROUTE = "aws:ec2/route:Route"
TARGET = "aws:efs/mountTarget:MountTarget"

IMPORT = ("import", "--file", "--generate-code=false", "--protect=false")
CLEAR = ("refresh", "--clear-pending-creates")


def test_nothing_is_previewed_when_nothing_is_lost():
    engine = FakeEngine(state=[held(VPC, "net-vpc", "vpc-1")])
    orphans = find_orphans(engine, "dev", Cloud(CloudResource(VPC, "vpc-1", "net-vpc", "vpc-1")))
    assert (orphans.wanted, orphans.unknown, engine.previews, engine.done) == ((), (), 0, [])


def test_a_lost_thing_is_wanted_under_its_name():
    engine = FakeEngine(steps=[made(VPC, "other-vpc"), made(VPC, "net-vpc")])
    lost = CloudResource(VPC, "vpc-1", "net-vpc", "vpc-1")
    orphans = find_orphans(engine, "dev", Cloud(lost))
    assert [(found, step["urn"]) for found, step in orphans.wanted] == [(lost, urn(VPC, "net-vpc"))]
    assert orphans.unknown == ()


@pytest.mark.parametrize(
    ("found", "step"),
    [
        pytest.param(
            CloudResource(VPC, "vpc-1", "net-vpc", "vpc-1"), made(VPC, "net-vpc", op="update"), id="no creation"
        ),
        pytest.param(CloudResource(VPC, "vpc-1", "net-vpc", "vpc-1"), made(ROUTE, "net-vpc"), id="another type"),
        pytest.param(CloudResource(VPC, "vpc-1", "", "vpc-1"), made(VPC, "net-vpc"), id="tagged without a name"),
        pytest.param(
            CloudResource(ROUTE, "rtb-1_0.0.0.0/0", None, inputs={"routeTableId": "rtb-1"}),
            made(ROUTE, "net-default", {"routeTableId": "rtb-2"}),
            id="other inputs",
        ),
        pytest.param(CloudResource("aws:dynamodb", "arn:a", "jobs", arn="arn:a"), made(VPC, "jobs"), id="unread type"),
    ],
)
def test_what_the_program_does_not_make_is_unknown(found, step):
    orphans = find_orphans(FakeEngine(steps=[step]), "dev", Cloud(found))
    assert (orphans.wanted, orphans.unknown) == ((), (found,))


def test_two_of_one_name_are_two():
    """A program that made its file system twice, because the first was lost, holds the second only."""
    first, second = CloudResource(VPC, "vpc-1", "net-vpc", "vpc-1"), CloudResource(VPC, "vpc-2", "net-vpc", "vpc-2")
    engine = FakeEngine(state=[held(VPC, "net-vpc", "vpc-2")])
    assert find_orphans(engine, "dev", Cloud(first, second)).unknown == (first,)


def test_of_two_lost_ones_of_one_name_the_program_wants_one():
    first, second = CloudResource(VPC, "vpc-1", "net-vpc", "vpc-1"), CloudResource(VPC, "vpc-2", "net-vpc", "vpc-2")
    orphans = find_orphans(FakeEngine(steps=[made(VPC, "net-vpc")]), "dev", Cloud(first, second))
    assert [found for found, _ in orphans.wanted] == [first]
    assert orphans.unknown == (second,)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        pytest.param(CloudResource(ROUTE, "rtb-1_0.0.0.0/0", None, inputs={"routeTableId": "rtb-1"}), True, id="no id"),
        pytest.param(CloudResource(TARGET, "fsmt-1", None, "fsmt-1", {"fileSystemId": "fs-1"}), True, id="id"),
        pytest.param(
            CloudResource(TARGET, "fsmt-1", None, "fsmt-1", {"fileSystemId": "fs-2"}), False, id="id, other inputs"
        ),
    ],
)
def test_what_takes_no_tags_is_known_by_its_inputs(found, wanted):
    steps = [
        made(ROUTE, "net-default", {"routeTableId": "rtb-1", "natGatewayId": "nat-1"}),
        made(TARGET, "files-mount", {"fileSystemId": "fs-1", "subnetId": "subnet-1"}),
    ]
    orphans = find_orphans(FakeEngine(steps=steps), "dev", Cloud(found))
    assert bool(orphans.wanted) is wanted
    assert bool(orphans.unknown) is not wanted


@pytest.mark.parametrize(
    ("found", "lost"),
    [
        pytest.param(
            CloudResource(ROUTE, "rtb-1_0.0.0.0/0", None, inputs={"routeTableId": "rtb-1"}), False, id="no id"
        ),
        pytest.param(
            CloudResource(ROUTE, "rtb-2_0.0.0.0/0", None, inputs={"routeTableId": "rtb-2"}), True, id="other inputs"
        ),
        pytest.param(CloudResource(ROUTE, "r-1", None, "r-1", {"routeTableId": "rtb-1"}), False, id="id"),
        pytest.param(CloudResource(ROUTE, "r-2", None, "r-2", {"routeTableId": "rtb-1"}), True, id="another id"),
    ],
)
def test_what_takes_no_tags_is_found_in_the_state(found, lost):
    engine = FakeEngine(state=[held(ROUTE, "net-default", "r-1", {"routeTableId": "rtb-1"})])
    assert bool(find_orphans(engine, "dev", Cloud(found)).unknown) is lost


def test_an_arn_in_the_state_is_enough_whatever_the_type():
    """An inventory that cannot name a type must not call a user's own table an orphan."""
    table = held("aws:dynamodb/table:Table", "jobs", "jobs-1", outputs={"arn": "arn:jobs-1"})
    seen = CloudResource("aws:dynamodb", "arn:jobs-1", "jobs", arn="arn:jobs-1")
    other = CloudResource("aws:dynamodb", "arn:jobs-2", "jobs", arn="arn:jobs-2")
    assert find_orphans(FakeEngine(state=[table]), "dev", Cloud(seen, other)).unknown == (other,)


def test_what_is_found_reads_as_name_type_and_import_id():
    assert str(CloudResource(VPC, "vpc-1", "net-vpc")) == "net-vpc (aws:ec2/vpc:Vpc vpc-1)"
    assert str(CloudResource(ROUTE, "rtb-1_0.0.0.0/0", None)) == "unnamed (aws:ec2/route:Route rtb-1_0.0.0.0/0)"


def lost_network(**engine):
    """An engine without state and the two orphans of different parents that its program wants."""
    steps = [made(VPC, "net-vpc"), made(TARGET, "files-mount", {"fileSystemId": "fs-1"}, parent="urn:files")]
    played = FakeEngine(steps=steps, **engine)
    cloud = Cloud(
        CloudResource(VPC, "vpc-1", "net-vpc", "vpc-1"),
        CloudResource(TARGET, "fsmt-1", None, inputs={"fileSystemId": "fs-1"}),
    )
    return played, find_orphans(played, "dev", cloud)


def test_taking_over_imports_under_the_programs_names_and_clears_what_was_cut_off():
    engine, orphans = lost_network()
    import_resources(engine, "dev", orphans)
    assert engine.imported == {
        "nameTable": {"parent0": PARENT, "parent1": "urn:files"},
        "resources": [
            {"type": VPC, "name": "net-vpc", "id": "vpc-1", "parent": "parent0"},
            {"type": TARGET, "name": "files-mount", "id": "fsmt-1", "parent": "parent1"},
        ],
    }
    assert engine.done == [IMPORT, CLEAR]


def test_with_nothing_to_take_over_interrupted_operations_are_cleared():
    engine = FakeEngine()
    import_resources(engine, "dev", find_orphans(engine, "dev", Cloud()))
    assert engine.done == [CLEAR]


def test_deleting_destroys_just_what_was_imported():
    engine, orphans = lost_network(state=[held(VPC, "kept-vpc", "vpc-9")])
    delete(engine, "dev", orphans)
    targets = (f"--target={urn(VPC, 'net-vpc')}", f"--target={urn(TARGET, 'files-mount')}")
    assert engine.done == [IMPORT, CLEAR, ("destroy", "--target-dependents", *targets)]


def test_with_nothing_to_delete_nothing_is_destroyed():
    engine = FakeEngine(state=[held(VPC, "net-vpc", "vpc-1")])
    delete(engine, "dev", find_orphans(engine, "dev", Cloud()))
    assert engine.done == [CLEAR]


@pytest.mark.parametrize(
    ("act", "fails", "message"),
    [
        (import_resources, "import", "dev: the engine could not import the resources; its output is above"),
        (import_resources, "refresh", "dev: the engine could not clear interrupted operations; its output is above"),
        (delete, "import", "dev: the engine could not import the resources; its output is above"),
        (delete, "destroy", "dev: the engine could not delete the resources; its output is above"),
    ],
)
def test_an_engine_that_refuses_ends_it(act, fails, message):
    engine, orphans = lost_network(fails=[fails])
    with pytest.raises(AdoptError) as error:
        act(engine, "dev", orphans)
    assert str(error.value) == message
    assert engine.done[-1][0] == fails


def test_unlocking_cancels_the_dead_engines_update():
    engine = FakeEngine()
    unlock(engine, "dev")
    assert engine.done == [("cancel", "--yes", "--stack", "dev")]


def test_unlocking_says_what_the_engine_says():
    with pytest.raises(PulumiCliError, match=r"^no stack named 'dev' found$"):
        unlock(FakeEngine(fails=["output_of"]), "dev")


@pytest.fixture
def command(monkeypatch):
    return Adopting(monkeypatch)


@pytest.mark.parametrize(
    ("config", "looked_at"),
    [
        ({"aws:region": "eu-west-1", "aws:profile": "team"}, ("eu-west-1", "team")),
        ({"gpufleet:owner": "me"}, (None, None)),
    ],
)
def test_the_account_and_region_of_the_stack_are_looked_at(command, config, looked_at):
    code, output = command.run(FakeEngine(), config=config)
    assert (code, command.inventories) == (0, [looked_at])
    assert output == "dev: 0 taken over, 0 left; go on with `pulumi up`\n"


def test_the_command_lists_and_takes_over(command):
    found = [
        CloudResource(VPC, "vpc-1", "net-vpc", "vpc-1"),
        CloudResource("aws:dynamodb", "arn:jobs", "jobs", arn="arn:jobs"),
    ]
    lines = (
        "in the cloud, not in the state: net-vpc (aws:ec2/vpc:Vpc vpc-1)\n"
        "in the cloud, not in the state, not in the program: jobs (aws:dynamodb arn:jobs); its tags say whose it is\n"
    )
    engine = FakeEngine(steps=[made(VPC, "net-vpc")])
    assert command.run(engine, "--list", config={}, found=found) == (0, lines)
    assert engine.done == []
    code, output = command.run(engine, "--unlock", config={}, found=found)
    assert (code, output) == (0, lines + "dev: 1 taken over, 1 left; go on with `pulumi up`\n")
    assert engine.done == [("cancel", "--yes", "--stack", "dev"), IMPORT, CLEAR]


def test_the_command_ends_with_one_line_when_the_engine_refuses(command):
    engine = FakeEngine(steps=[made(VPC, "net-vpc")], fails=["import"])
    code, output = command.run(engine, "--delete", config={}, found=[CloudResource(VPC, "vpc-1", "net-vpc", "vpc-1")])
    assert code == 1
    assert output.splitlines()[1:] == ["Error: dev: the engine could not import the resources; its output is above"]
