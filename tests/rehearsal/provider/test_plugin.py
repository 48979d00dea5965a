"""The engine's protocol, spoken to a plugin as the engine does."""

import asyncio
import json
import os
import subprocess
import sys
import textwrap

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto import status_pb2
from pulumi.runtime.proto.provider_pb2_grpc import ResourceProviderStub

from gpufleet_rehearsal.provider.servicer import Provider
from gpufleet_rehearsal.provider.wire import read_struct, write_struct
from gpufleet_rehearsal.table.loader import load_table
from tests.rehearsal.engine_talk import refusal, urn

NETWORK = "toy:net/network:Network"
POOL = "toy:run/pool:Pool"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


def test_life_of_a_resource(rehearse):
    async def conversation(engine):
        await engine.configure()
        inputs = {"cidr": "10.0.0.0/16", "count": 3, "tags": {"a": "b"}}
        checked = await engine.stub.Check(pb.CheckRequest(urn=urn(NETWORK), news=write_struct(inputs)))
        assert read_struct(checked.inputs) == inputs
        made = await engine.create(NETWORK, inputs)
        outputs = read_struct(made.properties)
        assert outputs["count"] == 3
        assert outputs["arn"].endswith(made.id)
        news = {**inputs, "count": 4}
        same = await engine.stub.Diff(
            pb.DiffRequest(id=made.id, urn=urn(NETWORK), news=write_struct(inputs), old_inputs=write_struct(inputs))
        )
        assert same.changes == pb.DiffResponse.DIFF_NONE
        differs = pb.DiffRequest(
            id=made.id, urn=urn(NETWORK), news=write_struct({"cidr": "10.1.0.0/16"}), old_inputs=write_struct(inputs)
        )
        found = await engine.stub.Diff(differs)
        assert found.changes == pb.DiffResponse.DIFF_SOME
        assert list(found.replaces) == ["cidr"]
        assert {path: change.kind for path, change in found.detailedDiff.items()} == {
            "cidr": pb.PropertyDiff.UPDATE_REPLACE,
            "count": pb.PropertyDiff.DELETE,
            "tags": pb.PropertyDiff.DELETE,
        }
        updated = await engine.stub.Update(pb.UpdateRequest(id=made.id, urn=urn(NETWORK), news=write_struct(news)))
        assert read_struct(updated.properties)["arn"] == outputs["arn"]
        read = await engine.stub.Read(pb.ReadRequest(id=made.id, urn=urn(NETWORK)))
        assert read_struct(read.inputs) == news
        assert read_struct(read.properties)["count"] == 4
        await engine.stub.Delete(pb.DeleteRequest(id=made.id, urn=urn(NETWORK)))
        assert (await engine.stub.Read(pb.ReadRequest(id=made.id, urn=urn(NETWORK)))).id == ""

    rehearse(conversation)


def test_what_has_no_inputs_does_not_change(rehearse):
    async def conversation(engine):
        await engine.configure()
        made = await engine.create(NETWORK, {})
        same = pb.DiffRequest(
            id=made.id, urn=urn(NETWORK), olds=made.properties, old_inputs=write_struct({}), news=write_struct({})
        )
        assert (await engine.stub.Diff(same)).changes == pb.DiffResponse.DIFF_NONE

    rehearse(conversation)


def test_an_import_lacks_what_the_cloud_does_not_return(rehearse):
    """A refresh keeps it, as the engine gives what it knows."""

    async def conversation(engine):
        await engine.configure()
        inputs = {"cidr": "10.0.0.0/16", "token": "t", "options": {"key": "k", "colour": "blue"}}
        made = await engine.create(NETWORK, inputs)
        imported = await engine.stub.Read(pb.ReadRequest(id=made.id, urn=urn(NETWORK)))
        assert read_struct(imported.inputs) == {"cidr": "10.0.0.0/16", "options": {"colour": "blue"}}
        assert not {"token"} & set(read_struct(imported.properties))
        known = pb.ReadRequest(id=made.id, urn=urn(NETWORK), inputs=write_struct(inputs), properties=made.properties)
        assert read_struct((await engine.stub.Read(known)).inputs) == inputs

    rehearse(conversation)


def test_preview_makes_nothing(rehearse, toy):
    async def conversation(engine):
        await engine.configure()
        answer = await engine.create("toy:net/subnet:Subnet", {"networkId": UNKNOWN}, preview=True)
        assert read_struct(answer.properties)["networkId"] == UNKNOWN
        assert read_struct(answer.properties)["cidrOfNetwork"] == UNKNOWN

    rehearse(conversation)
    assert toy.store.resources() == []


def test_engine_is_left_to_keep_secrets(rehearse):
    async def conversation(engine):
        answer = await engine.configure()
        assert answer.supportsPreview
        assert not answer.acceptSecrets

    rehearse(conversation)


def test_refusal_is_one_line(rehearse):
    async def conversation(engine):
        await engine.configure()
        error = await refusal(engine.create(POOL, {"name": "p", "size": 10}))
        assert error.details() == "TooLarge: 10 is more than 9"

    rehearse(conversation)


def test_failure_after_acceptance_keeps_the_id(rehearse):
    async def conversation(engine):
        await engine.configure()
        error = await refusal(engine.create(POOL, {"name": "p", "network": "closed"}))
        packed = dict(error.trailing_metadata())["grpc-status-details-bin"]
        detail = pb.ErrorResourceInitFailed()
        assert status_pb2.Status.FromString(packed).details[0].Unpack(detail)
        assert detail.id == "p"
        assert list(detail.reasons) == ["CREATE_FAILED: NeverJoined: p did not join"]
        assert read_struct(detail.inputs) == {"name": "p", "network": "closed"}

    rehearse(conversation)


def test_problem_of_inputs_and_type_of_a_child(rehearse):
    async def conversation(engine):
        await engine.configure()
        request = pb.CheckRequest(urn=urn(NETWORK, parent="my:own:Component$"), news=write_struct({"x": 1}))
        checked = await engine.stub.Check(request)
        assert [failure.reason for failure in checked.failures] == ["x=1: bad"]
        unknown = await engine.stub.Check(pb.CheckRequest(urn=urn("toy:net/gate:Gate")))
        assert "add a row to toy/types/net.yaml" in unknown.failures[0].reason

    rehearse(conversation)


def test_region_and_default_tags_of_the_configuration(rehearse):
    async def conversation(engine):
        await engine.configure(region="eu-west-1", defaultTags=json.dumps({"tags": {"project": "x"}}))
        outputs = read_struct((await engine.create(NETWORK, {"tags": {"owner": "y"}})).properties)
        assert outputs["region"] == "eu-west-1"
        assert outputs["tagsAll"] == {"project": "x", "owner": "y"}

    rehearse(conversation)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ('{"latency_scale": -1}', "rehearsal.json: latency_scale: "),
        ('{"speed": 1}', "rehearsal.json: speed: Extra inputs"),
        ("{", "rehearsal.json: the file: "),
        ('{"faults": ["nonsense"]}', "fault 'nonsense': cannot be read"),
    ],
)
def test_unusable_settings_are_one_line(rehearse, tmp_path, settings, words):
    (tmp_path / "rehearsal.json").write_text(settings)

    async def conversation(engine):
        answer = await engine.stub.CheckConfig(pb.CheckRequest(news=write_struct({"region": "us-east-1"})))
        (failure,) = answer.failures
        assert words in failure.reason
        assert "\n" not in failure.reason

    rehearse(conversation)


def test_missing_region_is_one_line(rehearse):
    async def conversation(engine):
        answer = await engine.stub.CheckConfig(pb.CheckRequest())
        assert [f.reason for f in answer.failures] == [
            "toy:region: not set; give the region, `pulumi config set toy:region us-east-1`"
        ]

    rehearse(conversation)


def test_misspelt_key_of_the_configuration_is_one_line(rehearse, tmp_path):
    async def conversation(engine):
        answer = await engine.stub.CheckConfig(
            pb.CheckRequest(news=write_struct({"region": "us-east-1", "regoin": "x"}))
        )
        (failure,) = answer.failures
        assert failure.reason.startswith("aws:regoin: no such key of the provider's configuration; ")
        assert "region" in failure.reason

    rehearse(conversation, Provider("aws", tmp_path))


def test_look_up_methods_and_components_are_refused(rehearse):
    async def conversation(engine):
        await engine.configure()
        error = await refusal(engine.stub.Invoke(pb.InvokeRequest(tok="toy:index/getX:getX")))
        assert error.details().startswith("toy:index/getX:getX: the rehearsal cannot answer this look-up; ")
        for call in (engine.stub.Call(pb.CallRequest(tok="t")), engine.stub.Construct(pb.ConstructRequest(type="t"))):
            assert (await refusal(call)).details().startswith("t: ")

    rehearse(conversation)


def test_interrupt_ends_waiting_and_the_next_update_goes_on(rehearse, tmp_path):
    (tmp_path / "rehearsal.json").write_text('{"latency_scale": 10000}')

    async def conversation(engine):
        await engine.configure()
        work = asyncio.ensure_future(engine.create(NETWORK, {}))
        await asyncio.sleep(0.1)
        await engine.stub.Cancel(Empty())
        # Uninterrupted, it would wait for hours.
        error = await asyncio.wait_for(refusal(work), timeout=120)
        assert (
            "interrupted while the cloud was at work on it; the next `pulumi up` continues with it" in error.details()
        )
        assert "grpc-status-details-bin" in dict(error.trailing_metadata())

    rehearse(conversation)


def test_no_rehearsal_is_one_line(rehearse, tmp_path):
    async def conversation(engine):
        error = await refusal(engine.configure())
        assert "run `gpufleet rehearse`" in error.details()

    rehearse(conversation, Provider("toy", None))
    rehearse(conversation, Provider("toy", tmp_path / "nowhere"))


def test_wire_keeps_every_kind_of_value():
    values = {"s": "x", "i": 3, "f": 0.5, "t": True, "l": [1, "a", {"k": []}], "o": {"p": None}}
    assert read_struct(write_struct(values)) == {**values, "o": {}}


def test_schema_for_import_names_every_type():
    from gpufleet_rehearsal.provider.package_schema import package_schema

    schema = package_schema("aws", "7.51.1")
    network = schema["resources"]["aws:ec2/vpc:Vpc"]
    assert network["inputProperties"]["cidrBlock"] == {"type": "string"}
    assert schema["version"] == "7.51.1"
    assert set(schema["resources"]) == {token for token, row in load_table("aws").types.items() if not row.hidden}


@pytest.fixture
def plugin(tmp_path):
    """The command that starts a plugin of aws as the engine does."""
    script = (
        f"import sys; sys.path[:0] = {sys.path!r}; from gpufleet_rehearsal.provider.plugin import main; main('aws')"
    )
    return [sys.executable, "-c", script], {**os.environ, "GPUFLEET_REHEARSAL": str(tmp_path)}


def test_process_tells_its_port_and_answers_without_the_sdk(plugin):
    command, environment = plugin
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        port = int(process.stdout.readline())
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub = ResourceProviderStub(channel)
            stub.Configure(pb.ConfigureRequest(args=write_struct({"region": "us-east-1"})))
            made = stub.Create(
                pb.CreateRequest(urn=urn("aws:ec2/vpc:Vpc"), properties=write_struct({"cidrBlock": "10.0.0.0/16"}))
            )
        process.kill()
    assert made.id.startswith("vpc-")


def test_process_ends_with_its_engine(plugin):
    command, environment = plugin
    engine = """
        import subprocess, sys
        plugin = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
        print(plugin.stdout.readline())
    """
    # The plugin holds the other end of stderr, so this only returns when the plugin has ended as well.
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(engine), *command],
        env=environment, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert int(done.stdout) > 0
    assert done.stderr == ""
