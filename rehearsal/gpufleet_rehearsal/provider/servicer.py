"""The Pulumi provider protocol for a simulated cloud.

Built on the raw servicer, because the SDK's base class hides what a strict simulation needs: old inputs in Diff, the id
of a resource whose creation failed, errors without a traceback. Secrets and outputs are left to the engine, which
marks the same properties secret again in what comes back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import plugin_pb2
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto.provider_pb2_grpc import ResourceProviderServicer

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.interpreter import Cloud, ProvisioningFailed, logical_name
from gpufleet_rehearsal.cloud.lookups import answer_invoke
from gpufleet_rehearsal.cloud.open_cloud import RehearsalMissing, config_problems, open_cloud
from gpufleet_rehearsal.provider.responses import (
    KINDS,
    Context,
    ResourceInitFailed,
    abort,
    plugin_version,
    type_of,
    with_user_errors,
)
from gpufleet_rehearsal.provider.wire import read_struct, without, write_struct
from gpufleet_rehearsal.table.paths import Json


@contextmanager
def _half_made() -> Iterator[None]:
    """What the simulated cloud accepted and failed at later, in the form that the engine gets."""
    try:
        yield
    except ProvisioningFailed as error:
        made = error.resource
        raise ResourceInitFailed(made.id, properties=made.shown, inputs=made.inputs, reasons=error.reasons) from error


class Provider(ResourceProviderServicer):
    """A simulated provider plugin of one cloud. The cloud is opened when the engine configures it."""

    def __init__(self, cloud: str, directory: Path | None) -> None:
        self._name = cloud
        self._directory = directory
        self._cloud: Cloud | None = None

    @property
    def cloud(self) -> Cloud:
        """The simulated cloud; the engine always configures it first."""
        if self._cloud is None:
            raise RehearsalMissing(f"{self._name}: the engine asked for a resource before it configured the provider")
        return self._cloud

    async def GetPluginInfo(self, request: Empty, context: Context) -> plugin_pb2.PluginInfo:
        """The version of the provider whose place this one takes is in its directory's name."""
        return plugin_pb2.PluginInfo(version=plugin_version())

    @with_user_errors
    async def GetSchema(self, request: pb.GetSchemaRequest, context: Context) -> pb.GetSchemaResponse:
        """Enough of a schema for `pulumi import`."""
        from gpufleet_rehearsal.provider.package_schema import package_schema

        return pb.GetSchemaResponse(schema=json.dumps(package_schema(self._name, plugin_version())))

    @with_user_errors
    async def CheckConfig(self, request: pb.CheckRequest, context: Context) -> pb.CheckResponse:
        """Reject a rehearsal that cannot be opened here, where nothing has begun."""
        config = read_struct(request.news)
        try:
            cloud = open_cloud(self._name, self._directory, config)
        except UserError as error:
            # As an error of the call the engine would show it behind words of its protocol.
            return pb.CheckResponse(inputs=request.news, failures=[pb.CheckFailure(reason=str(error))])
        cloud.store.close()
        failures = [pb.CheckFailure(reason=reason) for reason in config_problems(self._name, config, cloud.settings)]
        return pb.CheckResponse(inputs=request.news, failures=failures)

    async def DiffConfig(self, request: pb.DiffRequest, context: Context) -> pb.DiffResponse:
        """A change of the provider's configuration replaces nothing."""
        return pb.DiffResponse(changes=pb.DiffResponse.DIFF_NONE)

    @with_user_errors
    async def Configure(self, request: pb.ConfigureRequest, context: Context) -> pb.ConfigureResponse:
        """Open the cloud in the region that the program configures."""
        self._cloud = open_cloud(self._name, self._directory, read_struct(request.args))
        return pb.ConfigureResponse(supportsPreview=True)

    @with_user_errors
    async def Check(self, request: pb.CheckRequest, context: Context) -> pb.CheckResponse:
        """What the provider finds wrong with inputs; and the name it makes when none is given."""
        news, olds = read_struct(request.news), read_struct(request.olds)
        inputs, failures = self.cloud.check(
            type_of(request.urn), logical_name(request.urn), news, olds, request.randomSeed
        )
        found = [pb.CheckFailure(property=failure.property, reason=failure.reason) for failure in failures]
        return pb.CheckResponse(inputs=write_struct(inputs), failures=found)

    @with_user_errors
    async def Diff(self, request: pb.DiffRequest, context: Context) -> pb.DiffResponse:
        """What changes, property by property, and what replaces the resource."""
        # A resource may have no inputs at all; only what an older engine leaves out is read from the outputs.
        olds = read_struct(request.old_inputs if request.HasField("old_inputs") else request.olds)
        found = self.cloud.diff(type_of(request.urn), logical_name(request.urn), olds, read_struct(request.news))
        return pb.DiffResponse(
            changes=pb.DiffResponse.DIFF_SOME if found.changes else pb.DiffResponse.DIFF_NONE,
            replaces=found.replaces,
            diffs=found.changed,
            deleteBeforeReplace=found.delete_first,
            hasDetailedDiff=True,
            detailedDiff={
                c.path: pb.PropertyDiff(kind=KINDS[c.kind, c.replaces], inputDiff=True) for c in found.changes
            },
        )

    @with_user_errors
    async def Create(self, request: pb.CreateRequest, context: Context) -> pb.CreateResponse:
        """Make a resource."""
        inputs = read_struct(request.properties)
        if request.preview:
            return pb.CreateResponse(properties=write_struct(self._preview(request.urn, inputs)))
        with _half_made():
            resource = await self.cloud.create(type_of(request.urn), request.urn, inputs)
        return pb.CreateResponse(id=resource.id, properties=write_struct(resource.shown))

    def _preview(self, urn: str, inputs: Mapping[str, Json]) -> Mapping[str, Json]:
        return self.cloud.preview(type_of(urn), urn, inputs)

    @with_user_errors
    async def Update(self, request: pb.UpdateRequest, context: Context) -> pb.UpdateResponse:
        """Change a resource, or make one again that had failed."""
        type_, inputs = type_of(request.urn), read_struct(request.news)
        if request.preview:
            outputs = self.cloud.preview_update(type_, request.id, request.urn, inputs)
            return pb.UpdateResponse(properties=write_struct(outputs))
        with _half_made():
            resource = await self.cloud.update(type_, request.id, request.urn, inputs)
        return pb.UpdateResponse(properties=write_struct(resource.shown))

    @with_user_errors
    async def Read(self, request: pb.ReadRequest, context: Context) -> pb.ReadResponse:
        """Refresh, import and `.get`; an empty id says that the resource is gone."""
        resource = self.cloud.read(type_of(request.urn), request.id)
        if resource is None:
            return pb.ReadResponse()
        # Without inputs of before it is an import: what the cloud does not return is nowhere then.
        unread = [] if request.inputs.fields else self.cloud.row(resource.type).unread
        outputs, inputs = without(resource.shown, unread), without(resource.inputs, unread)
        return pb.ReadResponse(id=resource.id, properties=write_struct(outputs), inputs=write_struct(inputs))

    @with_user_errors
    async def Delete(self, request: pb.DeleteRequest, context: Context) -> Empty:
        """Delete a resource."""
        await self.cloud.delete(type_of(request.urn), request.id, request.urn)
        return Empty()

    @with_user_errors
    async def Invoke(self, request: pb.InvokeRequest, context: Context) -> pb.InvokeResponse:
        """Look-ups of a live account are not simulated, but for the few that the table lists (keys, credentials)."""
        answer = answer_invoke(self.cloud, request.tok, read_struct(request.args))
        response = pb.InvokeResponse()
        # `return` is a word of Python's.
        getattr(response, "return").CopyFrom(write_struct(answer))
        return response

    async def Call(self, request: pb.CallRequest, context: Context) -> pb.CallResponse:
        """Methods of resources are not simulated."""
        return await abort(context, f"{request.tok}: methods of resources are not simulated by the rehearsal")

    async def Construct(self, request: pb.ConstructRequest, context: Context) -> pb.ConstructResponse:
        """The provider whose place this is has no components."""
        return await abort(context, f"{request.type}: the {self._name} provider has no components")

    async def Cancel(self, request: Empty, context: Context) -> Empty:
        """Ctrl-C: end every wait."""
        if self._cloud is not None:
            self._cloud.clock.interrupt()
        return Empty()
