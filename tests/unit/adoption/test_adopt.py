"""Orphans are imported at once with what they lie in, or deleted but for data; nothing without a yes."""

import pytest

from gpufleet.adoption.cloud_resource import CloudResource
from gpufleet.adoption.import_resources import deletable, delete, import_resources, unlock
from gpufleet.adoption.orphans import AdoptError, find_orphans
from gpufleet.pulumi_cli import PulumiCliError
from tests.tools.fake_engine import OTHERS, OWNER, PARENT, Adopting, Cloud, FakeEngine, component, held, made, urn, vpc

VPC = "aws:ec2/vpc:Vpc"
FILES = "aws:efs/fileSystem:FileSystem"
TARGET = "aws:efs/mountTarget:MountTarget"
OTHERS_STATE = [held(VPC, f"other-{number}", f"vpc-9{number}") for number in range(3)]
"""Enough that what is lost is not most of the environment."""

IMPORT = ("import", "--file", "--generate-code=false", "--protect=true")
IMPORT_TO_DELETE = (*IMPORT[:-1], "--protect=false")
CLEAR = ("refresh", "--clear-pending-creates")
UNLOCK = ("cancel", "--yes", "--stack", "dev")
NET_VPC = f"in the cloud, not in the state: net-vpc ({VPC} vpc-1)\n"


def lost_network(**engine):
    """An engine without a part of its state, and the two orphans in it that its program wants."""
    parent = {"urn": PARENT, "type": "gpufleet-aws:index:Network", "custom": False}
    steps = [
        component("files", type_="gpufleet-aws:index:SharedFiles"),
        made(VPC, "net-vpc"),
        made(
            TARGET,
            "files-mount",
            {"fileSystemId": "fs-1"},
            parent=component("files")["urn"].replace("Network", "SharedFiles"),
        ),
    ]
    played = FakeEngine(state=[parent], steps=steps, **engine)
    target = CloudResource(TARGET, "fsmt-1", None, inputs={"fileSystemId": "fs-1"}, tags=OWNER)
    return played, find_orphans(played, "dev", Cloud(vpc(1), target))


def test_importing_brings_components_that_the_state_lacks_and_clears_what_was_cut_off():
    engine, orphans = lost_network()
    import_resources(engine, "dev", orphans)
    assert engine.imported == {
        "nameTable": {"parent0": PARENT},
        "resources": [
            {"type": "gpufleet-aws:index:SharedFiles", "name": "resource0", "logicalName": "files", "component": True},
            {"type": VPC, "name": "resource1", "logicalName": "net-vpc", "id": "vpc-1", "parent": "parent0"},
            {"type": TARGET, "name": "resource2", "logicalName": "files-mount", "id": "fsmt-1", "parent": "resource0"},
        ],
    }
    assert engine.done == [IMPORT, CLEAR]


def test_the_root_of_a_state_is_the_engines():
    root = "urn:pulumi:dev::gpufleet::pulumi:pulumi:Stack::gpufleet-dev"
    stack = {"op": "create", "urn": root, "newState": {"urn": root, "type": "pulumi:pulumi:Stack", "custom": False}}
    engine = FakeEngine(steps=[stack, made(VPC, "net-vpc", parent=root)])
    import_resources(engine, "dev", find_orphans(engine, "dev", Cloud(vpc(1))))
    entry = {"type": VPC, "name": "resource0", "logicalName": "net-vpc", "id": "vpc-1"}
    assert engine.imported == {"nameTable": {}, "resources": [entry]}


def test_the_provider_of_the_program_reads_what_is_imported():
    """Without a version the engine takes the newest one that is installed."""
    step = made(VPC, "net-vpc")
    step["newState"]["provider"] = "urn:pulumi:dev::gpufleet::pulumi:providers:aws::default_7_51_1::0a1b-2c3d"
    engine = FakeEngine(steps=[step])
    import_resources(engine, "dev", find_orphans(engine, "dev", Cloud(vpc(1))))
    assert [each["version"] for each in engine.imported["resources"]] == ["7.51.1"]


def test_with_nothing_to_import_interrupted_operations_are_cleared():
    engine = FakeEngine()
    import_resources(engine, "dev", find_orphans(engine, "dev", Cloud()))
    assert engine.done == [CLEAR]


def test_deleting_destroys_just_what_was_imported():
    engine, orphans = lost_network()
    delete(engine, "dev", orphans)
    targets = (f"--target={urn(VPC, 'net-vpc')}", f"--target={urn(TARGET, 'files-mount')}")
    assert engine.done == [IMPORT_TO_DELETE, CLEAR, ("destroy", *targets)]


@pytest.mark.parametrize(
    ("type_", "protect", "erase", "deleted"),
    [
        (VPC, False, False, True),
        (VPC, True, False, False),
        (VPC, True, True, False),
        (FILES, False, False, False),
        (FILES, True, False, False),
        (FILES, False, True, True),
        (FILES, True, True, False),
        ("aws:ecr/repository:Repository", False, False, False),
        ("aws:s3/bucket:Bucket", False, False, False),
        ("aws:ebs/volume:Volume", False, False, False),
        ("azure-native:storage:StorageAccount", False, False, False),
        ("azure-native:storage:FileShare", False, False, False),
        ("azure-native:containerregistry:Registry", False, False, False),
        ("azure-native:resources:ResourceGroup", False, False, False),
    ],
)
def test_data_is_deleted_by_nothing_but_the_configurations_own_word(type_, protect, erase, deleted):
    thing = CloudResource(type_, "thing-1", "thing", "thing-1", tags=OWNER)
    engine = FakeEngine(steps=[made(type_, "thing", protect=protect)])
    orphans = find_orphans(engine, "dev", Cloud(thing))
    assert len(orphans.wanted) == 1
    assert bool(deletable(orphans, erase=erase).wanted) is deleted


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
    assert engine.done == [UNLOCK]


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
    assert output == "dev: 0 imported, 0 left; continue with `pulumi up`\n"


FOUND = [
    vpc(1),
    vpc(2, "theirs-vpc", OTHERS),
    CloudResource("aws:dynamodb", "arn:jobs", "jobs", arn="arn:jobs", tags=OWNER),
]
LINES = NET_VPC + (
    "in the cloud, not in the state, not in the program: jobs (aws:dynamodb arn:jobs); left alone\n"
    f"in the cloud, not certainly this stack's: theirs-vpc ({VPC} vpc-2): owner=them; left alone\n"
)


@pytest.mark.parametrize("options", [(), ("--unlock",), ("--delete",)])
def test_without_a_yes_it_only_shows(command, options):
    engine = FakeEngine(OTHERS_STATE, [made(VPC, "net-vpc")], interrupted=2)
    verb = "delete" if "--delete" in options else "import"
    lock = "remove the lock, " if options == ("--unlock",) else ""
    question = f"dev: {lock}{verb} 1 resource, clear 2 interrupted operations"
    refused = f"Error: {question}: nothing has been changed; add --yes to do it, or --dry-run to only show it\n"
    assert command.run(engine, *options, config={}, found=FOUND) == (1, LINES + refused)
    assert command.run(engine, *options, "--dry-run", config={}, found=FOUND) == (0, LINES)
    assert engine.done == []


def test_with_a_yes_it_imports(command):
    engine = FakeEngine(OTHERS_STATE, [made(VPC, "net-vpc")])
    code, output = command.run(engine, "--unlock", "--yes", config={}, found=FOUND)
    summary = "dev: 1 imported, 1 left, 1 of other owners; continue with `pulumi up`\n"
    assert (code, output) == (0, LINES + summary)
    assert engine.done == [UNLOCK, IMPORT, CLEAR]


@pytest.mark.parametrize("options", [("--unlock",), ()])
def test_a_lock_and_interrupted_operations_are_enough_to_do(command, options):
    engine = FakeEngine(interrupted=0 if options else 1)
    code, output = command.run(engine, *options, "--yes", config={})
    assert (code, output) == (0, "dev: 0 imported, 0 left; continue with `pulumi up`\n")
    assert engine.done == ([UNLOCK, CLEAR] if options else [CLEAR])


@pytest.mark.parametrize("options", [("--yes",), ("--delete", "--yes"), ("--dry-run",)])
def test_most_of_an_environment_is_not_taken_from_another_state(command, options):
    engine = FakeEngine(steps=[made(VPC, "net-vpc")])
    code, output = command.run(engine, *options, config={}, found=[vpc(1)])
    assert (code, engine.done) == (1, [])
    assert output.startswith(f"{NET_VPC}Error: dev: 1 of 1 resources are in the cloud and not in this state, as if ")


def test_a_lost_state_is_brought_back_on_request(command):
    engine = FakeEngine(steps=[made(VPC, "net-vpc")])
    code, output = command.run(engine, "--lost-state", "--yes", config={}, found=[vpc(1)])
    assert (code, output) == (0, f"{NET_VPC}dev: 1 imported, 0 left; continue with `pulumi up`\n")
    assert engine.done == [IMPORT, CLEAR]


def test_a_lost_state_is_no_reason_to_delete(command):
    code, output = command.run(FakeEngine(), "--lost-state", "--delete", "--yes", config={})
    assert code == 2
    assert "--delete and --lost-state contradict each other; import, then `pulumi destroy`" in output


@pytest.mark.parametrize(("config", "erased"), [({}, False), ({"gpufleet:erase": True}, True)])
def test_deleting_leaves_data_unless_it_is_to_be_erased(command, config, erased):
    steps = [made(VPC, "net-vpc"), made(FILES, "files")]
    engine = FakeEngine(OTHERS_STATE, steps)
    found = [vpc(1), CloudResource(FILES, "fs-1", "files", "fs-1", tags=OWNER)]
    code, output = command.run(engine, "--delete", "--yes", config=config, found=found)
    kept = "" if erased else "; holds data or is protected: not deleted"
    files = f"in the cloud, not in the state: files ({FILES} fs-1){kept}\n"
    count = "2 deleted, 0 left" if erased else "1 deleted, 1 left"
    assert (code, output) == (0, f"{NET_VPC}{files}dev: {count}; continue with `pulumi up`\n")
    targets = [f"--target={urn(VPC, 'net-vpc')}", *([f"--target={urn(FILES, 'files')}"] if erased else [])]
    assert engine.done == [IMPORT_TO_DELETE, CLEAR, ("destroy", *targets)]


def test_what_the_next_up_would_replace_is_named(command):
    """EKS, for instance, does not return all that a cluster was made with."""
    replaced = made(VPC, "net-vpc", op="replace") | {"replaceReasons": ["cidrBlock"]}
    changed = made(VPC, "other-0", op="replace")
    engine = FakeEngine(OTHERS_STATE, [made(VPC, "net-vpc"), replaced, changed])
    code, output = command.run(engine, "--yes", config={}, found=[vpc(1)])
    assert code == 1
    assert output.splitlines()[1:] == [
        "dev: 1 imported, 0 left; continue with `pulumi up`",
        f"Error: dev: net-vpc ({VPC}): the next `up` would replace it, for cidrBlock; set in the program what the "
        "cloud has, or ignore_changes, before you run it",
    ]


@pytest.mark.parametrize("options", [("--yes",), ("--delete", "--yes")])
def test_a_replacement_that_was_interrupted_is_named_and_deleted_on_request(command, options):
    """The state has what it was to replace, under its URN."""
    engine = FakeEngine([*OTHERS_STATE, held(VPC, "net-vpc", "vpc-0")], [made(VPC, "net-vpc", op="replace")])
    code, output = command.run(engine, "--unlock", *options, config={}, found=[vpc(1)])
    assert code == 0
    delete = "--delete" in options
    what = "to be deleted" if delete else "delete it with --delete, or by hand if it holds data"
    assert output.splitlines() == [
        f"in the cloud, not in the state: net-vpc ({VPC} vpc-1): a replacement that was interrupted; {what}",
        f"dev: {'1 deleted, 0' if delete else '0 imported, 1'} left; continue with `pulumi up`",
    ]
    if delete:
        assert engine.done[-1] == ("destroy", f"--target={urn(VPC, 'net-vpc-interrupted')}")
    else:
        assert engine.imported is None


def test_the_command_ends_with_one_line_when_the_engine_refuses(command):
    engine = FakeEngine(OTHERS_STATE, steps=[made(VPC, "net-vpc")], fails=["import"])
    code, output = command.run(engine, "--delete", "--yes", config={}, found=[vpc(1)])
    assert code == 1
    assert output.splitlines()[1:] == ["Error: dev: the engine could not import the resources; its output is above"]
