"""What the stand-in for the kubernetes provider sends to an API server, and what it makes of the answers."""

import asyncio
import json

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto import status_pb2
from pulumi.runtime.proto.provider_pb2_grpc import ResourceProviderStub, add_ResourceProviderServicer_to_server

from gpufleet_rehearsal.kubernetes.servicer import KubernetesProvider
from gpufleet_rehearsal.provider.wire import read_struct, write_struct
from tests.rehearsal.fake_api import FakeApi, fake_api

CONFIGMAP, DEPLOYMENT = "kubernetes:core/v1:ConfigMap", "kubernetes:apps/v1:Deployment"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
PATH = "/api/v1/namespaces/ns/configmaps/a"


def urn(type_, name="a"):
    return f"urn:pulumi:s::p::{type_}::{name}"


def configmap(**data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "ns"}, "data": data}


def kubeconfig(server):
    return json.dumps(
        {
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "users": [{"name": "u", "user": {"token": "t"}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
    )


@pytest.fixture
def api():
    with fake_api() as made:
        yield made


@pytest.fixture
def talk(tmp_path, api: FakeApi):
    """Runs a conversation with a provider whose kubeconfig leads to the fake API server."""

    def run(conversation, **config):
        async def speak():
            server = grpc.aio.server()
            add_ResourceProviderServicer_to_server(KubernetesProvider(tmp_path), server)
            port = server.add_insecure_port("127.0.0.1:0")
            await server.start()
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                stub = ResourceProviderStub(channel)
                try:
                    args = {"kubeconfig": kubeconfig(api.server), **config}
                    await stub.Configure(pb.ConfigureRequest(args=write_struct(args)))
                    return await conversation(stub)
                finally:
                    await server.stop(None)

        return asyncio.run(speak())

    return run


def create(stub, type_, inputs, **words):
    return stub.Create(pb.CreateRequest(urn=urn(type_), properties=write_struct(inputs), **words))


async def refusal(call):
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    return error.value


def test_create_applies_server_side_with_a_manager_of_its_own(talk, api):
    async def conversation(stub):
        made = await create(stub, CONFIGMAP, configmap(x="1"))
        assert made.id == "ns/a"
        outputs = read_struct(made.properties)
        assert outputs["metadata"]["uid"] == "u"
        assert outputs["__initialApiVersion"] == "v1"
        (query,) = api.queries("PATCH")
        assert query == {"fieldManager": outputs["__fieldManager"], "force": "false", "fieldValidation": "Warn"}

    talk(conversation)
    assert [request[3] for request in api.requests if request[0] == "PATCH"] == ["application/apply-patch+yaml"]


def test_preview_is_a_dry_run_that_tells_what_comes_later(talk, api):
    async def conversation(stub):
        seen = read_struct((await create(stub, CONFIGMAP, configmap(x="1"), preview=True)).properties)
        assert seen["metadata"]["uid"] == UNKNOWN
        assert seen["status"] == UNKNOWN
        assert api.queries("PATCH")[0]["dryRun"] == "All"

    talk(conversation)
    assert api.objects == {}


@pytest.mark.parametrize(
    "inputs",
    [configmap(x=UNKNOWN), {"apiVersion": "v1", "kind": "Lamp", "metadata": {"name": "a", "namespace": "ns"}}],
    ids=["value-not-known", "kind-not-known"],
)
def test_preview_without_what_a_dry_run_needs_asks_nothing(talk, api, inputs):
    async def conversation(stub):
        type_ = f"kubernetes:core/v1:{inputs['kind']}"
        seen = read_struct((await create(stub, type_, inputs, preview=True)).properties)
        assert seen["metadata"]["name"] == "a"

    talk(conversation)
    assert api.queries("PATCH") == []


def test_preview_in_a_namespace_that_is_not_there_yet_is_judged_by_the_schema(talk, api):
    missing = {"reason": "NotFound", "message": 'namespaces "ns" not found'}

    async def conversation(stub):
        api.refusals.append((404, missing))
        assert (await create(stub, CONFIGMAP, configmap(x="1"), preview=True)).id == ""
        api.refusals.append((404, missing))
        error = await refusal(create(stub, CONFIGMAP, configmap(x="1") | {"date": {}}, preview=True))
        assert error.details().startswith("unknown field date; legal are: apiVersion, binaryData, data")

    talk(conversation)


def test_replacement_in_preview_is_tried_under_another_name(talk, api):
    async def conversation(stub):
        api.refusals.append((422, {"reason": "Invalid", "message": "spec.selector: Invalid value: field is immutable"}))
        seen = read_struct((await create(stub, CONFIGMAP, configmap(x="1"), preview=True)).properties)
        assert seen["metadata"]["name"] == "a"
        assert [path for verb, path, *_ in api.requests if verb == "PATCH"] == [PATH, f"{PATH}-new"]

    talk(conversation)


def test_message_of_the_api_server_comes_on_one_line(talk, api):
    async def conversation(stub):
        api.refusals.append((422, {"reason": "Invalid", "message": 'ConfigMap "a" is invalid:\n  data: too long'}))
        error = await refusal(create(stub, CONFIGMAP, configmap(x="1")))
        assert error.details() == 'ConfigMap "a" is invalid: data: too long'
        api.refusals.append((500, {}))
        assert (await refusal(create(stub, CONFIGMAP, configmap(x="1")))).details() == "the API server answered 500"

    talk(conversation)


def test_create_before_its_namespace_is_tried_again(talk, api, monkeypatch):
    monkeypatch.setattr("gpufleet_rehearsal.kubernetes.objects.FIRST_PAUSE", 0.01)

    async def conversation(stub):
        api.refusals += [(404, {"reason": "NotFound", "message": "no namespace"})] * 4
        assert (await create(stub, CONFIGMAP, configmap(x="1"))).id == "ns/a"
        api.refusals += [(404, {"reason": "NotFound", "message": "no namespace"})] * 5
        assert (await refusal(create(stub, CONFIGMAP, configmap(x="1")))).details() == "no namespace"

    talk(conversation)


def conflict(manager):
    cause = {"reason": "FieldManagerConflict", "message": f'conflict with "{manager}" using v1', "field": ".data.x"}
    return 409, {"reason": "Conflict", "message": "Apply failed", "details": {"causes": [cause]}}


def test_fields_of_kubectl_are_taken_over_and_of_others_told(talk, api):
    async def conversation(stub):
        api.refusals.append(conflict("kubectl-client-side-apply"))
        await create(stub, CONFIGMAP, configmap(x="1"))
        assert [query["force"] for query in api.queries("PATCH")] == ["false", "true"]
        api.refusals.append(conflict("somebody"))
        error = await refusal(create(stub, CONFIGMAP, configmap(x="1")))
        assert error.details() == (
            "ConfigMap ns/a: data.x: also set by somebody, which wants another value; leave the field to it "
            '(ignore_changes), or take it with the annotation pulumi.com/patchForce: "true"'
        )

    talk(conversation)


def test_field_that_the_program_ignores_is_left_to_its_owner(talk, api):
    async def conversation(stub):
        made = await create(stub, CONFIGMAP, configmap(x="1", y="1"))
        api.refusals.append(conflict("somebody"))
        request = pb.UpdateRequest(
            id=made.id, urn=urn(CONFIGMAP), olds=made.properties, news=write_struct(configmap(x="1", y="2")),
            ignoreChanges=["data.x"],
        )  # fmt: skip
        await stub.Update(request)
        assert api.requests[-1][4]["data"] == {"y": "2"}

    talk(conversation)


def test_update_of_what_is_gone_asks_for_a_refresh(talk):
    async def conversation(stub):
        request = pb.UpdateRequest(id="ns/a", urn=urn(CONFIGMAP), news=write_struct(configmap(x="1")))
        assert "run `pulumi up --refresh`" in (await refusal(stub.Update(request))).details()

    talk(conversation)


def test_wait_that_is_interrupted_keeps_the_id(talk):
    deployment = {"metadata": {"name": "a", "namespace": "ns", "generation": 1}, "spec": {"replicas": 1}}

    async def conversation(stub):
        work = asyncio.ensure_future(create(stub, DEPLOYMENT, deployment))
        await asyncio.sleep(0.5)
        await stub.Cancel(Empty())
        error = await refusal(work)
        detail = pb.ErrorResourceInitFailed()
        packed = dict(error.trailing_metadata())["grpc-status-details-bin"]
        assert status_pb2.Status.FromString(packed).details[0].Unpack(detail)
        assert detail.id == "ns/a"
        assert read_struct(detail.inputs)["spec"] == {"replicas": 1}
        reason = "interrupted before Deployment ns/a was ready; the next `pulumi up` continues with it"
        assert list(detail.reasons) == [reason]

    talk(conversation)


def test_delete_is_in_the_foreground_and_of_what_is_gone_is_fine(talk, api):
    async def conversation(stub):
        made = await create(stub, CONFIGMAP, configmap(x="1"))
        request = pb.DeleteRequest(id=made.id, urn=urn(CONFIGMAP), properties=made.properties)
        await stub.Delete(request)
        await stub.Delete(request)
        assert [r[4] for r in api.requests if r[0] == "DELETE"] == [{"propagationPolicy": "Foreground"}] * 2
        assert (await stub.Read(pb.ReadRequest(id=made.id, urn=urn(CONFIGMAP)))).id == ""

    talk(conversation)


def test_refresh_shows_what_changed_and_not_how_it_is_written(talk, api):
    async def conversation(stub):
        api.objects[PATH] = configmap(x="theirs", memory="1Gi", more="left alone")
        olds = configmap(x="1", memory="1Gi", more="left alone")
        request = pb.ReadRequest(
            id="ns/a",
            urn=urn(CONFIGMAP),
            properties=write_struct(olds),
            inputs=write_struct(configmap(x="1", memory="1024Mi")),
        )
        inputs = read_struct((await stub.Read(request)).inputs)
        assert inputs["data"] == {"x": "theirs", "memory": "1024Mi"}

    talk(conversation)


def test_import_leaves_out_what_the_api_server_set(talk, api):
    async def conversation(stub):
        live = configmap(x="1")
        live["metadata"] |= {"uid": "u", "resourceVersion": "7", "creationTimestamp": "t", "managedFields": [{}]}
        api.objects[PATH] = live | {"status": {}}
        found = await stub.Read(pb.ReadRequest(id="ns/a", urn=urn(CONFIGMAP)))
        assert read_struct(found.inputs) == configmap(x="1")
        assert "managedFields" not in read_struct(found.properties)["metadata"]

    talk(conversation)


def test_api_server_that_is_gone_is_one_line(talk, api):
    async def conversation(stub):
        lost = kubeconfig("http://127.0.0.1:1")
        await stub.Configure(pb.ConfigureRequest(args=write_struct({"kubeconfig": lost})))
        words = "the Kubernetes API server http://127.0.0.1:1 cannot be reached (connection refused); see that the "
        assert (await refusal(create(stub, CONFIGMAP, configmap(x="1")))).details().startswith(words)
        request = pb.DeleteRequest(id="ns/a", urn=urn(CONFIGMAP), properties=write_struct(configmap(x="1")))
        assert "PULUMI_K8S_DELETE_UNREACHABLE=true forgets" in (await refusal(stub.Delete(request))).details()
        args = {"kubeconfig": lost, "deleteUnreachable": "true"}
        await stub.Configure(pb.ConfigureRequest(args=write_struct(args)))
        await stub.Delete(request)
        # A preview goes on, by the schemas.
        assert (await create(stub, CONFIGMAP, configmap(x="1"), preview=True)).id == ""

    talk(conversation)
