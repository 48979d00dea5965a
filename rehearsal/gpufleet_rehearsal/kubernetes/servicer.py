"""The engine's protocol for the `kubernetes` provider, spoken for a real control plane, or for none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import plugin_pb2
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto.provider_pb2_grpc import ResourceProviderServicer

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.change import Diff, has_unknown
from gpufleet_rehearsal.cloud.clock import Clock
from gpufleet_rehearsal.cloud.settings import DIRECTORY
from gpufleet_rehearsal.kubernetes.cluster import SimulatedCluster
from gpufleet_rehearsal.kubernetes.configuration import configuration_problems, leads_elsewhere, read_configuration
from gpufleet_rehearsal.kubernetes.diff import changes
from gpufleet_rehearsal.kubernetes.engine_log import EngineLog
from gpufleet_rehearsal.kubernetes.object_identity import document_of
from gpufleet_rehearsal.kubernetes.package_schema import package_schema
from gpufleet_rehearsal.kubernetes.release import release_diff as release_changed
from gpufleet_rehearsal.kubernetes.resource_type import ONE_BY_ONE, RELEASE, resource_type_of
from gpufleet_rehearsal.provider.responses import KINDS, Context, abort, plugin_version, type_of, with_user_errors
from gpufleet_rehearsal.provider.wire import read_struct, write_struct

UNSEEN = (
    "kubernetes: the kubeconfig is only known once its cluster exists; until then no preview checks the objects of "
    "this provider"
)
THREADS = 32
"""Requests to the API server at a time; more would only wait there."""


class KubernetesProvider(ResourceProviderServicer):
    """A simulated kubernetes provider plugin. directory: the rehearsal's. engine: its address, for warnings."""

    def __init__(self, directory: Path | None, engine: str | None = None) -> None:
        self._directory = directory
        self._log = EngineLog(engine)
        self._clock = Clock(1.0)
        self._cluster: SimulatedCluster | None = None

    @property
    def cluster(self) -> SimulatedCluster:
        """What the program's objects go to; the engine always configures it first."""
        if self._cluster is None:
            raise UserError("kubernetes: the engine asked for a resource before it configured the provider")
        return self._cluster

    async def GetPluginInfo(self, request: Empty, context: Context) -> plugin_pb2.PluginInfo:
        """The version of the provider whose place this one takes is in its directory's name."""
        return plugin_pb2.PluginInfo(version=plugin_version())

    @with_user_errors
    async def GetSchema(self, request: pb.GetSchemaRequest, context: Context) -> pb.GetSchemaResponse:
        """Enough of a schema for `pulumi import`."""
        return pb.GetSchemaResponse(schema=json.dumps(package_schema(plugin_version())))

    @with_user_errors
    async def CheckConfig(self, request: pb.CheckRequest, context: Context) -> pb.CheckResponse:
        """Reject a configuration that leads nowhere, or to a real cluster."""
        config = read_struct(request.news)
        found = _failures(configuration_problems(config))
        if has_unknown(config.get("kubeconfig")):
            # Of a provider that is not configured yet the engine asks nothing in a preview: neither Check nor Create.
            await self._log.warn(UNSEEN, request.urn)
        if self._directory is None or not self._directory.is_dir():
            found.append(pb.CheckFailure(reason=self._no_rehearsal()))
        return pb.CheckResponse(inputs=request.news, failures=found)

    def _no_rehearsal(self) -> str:
        return (
            f"{DIRECTORY}={self._directory or ''}: the simulated kubernetes provider only works in a "
            "rehearsal; run `gpufleet rehearse`"
        )

    @with_user_errors
    async def DiffConfig(self, request: pb.DiffRequest, context: Context) -> pb.DiffResponse:
        """Another cluster replaces the provider, and so everything on it; nothing else does."""
        olds = read_struct(request.old_inputs) or read_struct(request.olds)
        if leads_elsewhere(olds, read_struct(request.news)):
            return pb.DiffResponse(changes=pb.DiffResponse.DIFF_SOME, replaces=["kubeconfig"], diffs=["kubeconfig"])
        return pb.DiffResponse(changes=pb.DiffResponse.DIFF_UNKNOWN)

    @with_user_errors
    async def Configure(self, request: pb.ConfigureRequest, context: Context) -> pb.ConfigureResponse:
        """Take note of the cluster; it is looked for when the first object needs it."""
        if self._directory is None or not self._directory.is_dir():
            raise UserError(self._no_rehearsal())
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS))
        configuration = read_configuration(read_struct(request.args))
        self._cluster = SimulatedCluster(self._directory, configuration, self._clock, self._log)
        return pb.ConfigureResponse(supportsPreview=True)

    async def _reach(self, preview: bool) -> None:
        """A preview continues where the cluster does not answer."""
        if not preview:
            await self.cluster.reach()

    @with_user_errors
    async def Check(self, request: pb.CheckRequest, context: Context) -> pb.CheckResponse:
        """Name the object, fill in its place, and tell what is wrong with it as far as that is seen here."""
        type_, news, olds = type_of(request.urn), read_struct(request.news), read_struct(request.olds)
        name = request.urn.rpartition("::")[2]
        if type_ == RELEASE:
            inputs, found = self.cluster.releases.check(name, news, olds, request.randomSeed)
        else:
            inputs, found = await self.cluster.check(type_, name, news, olds, request.randomSeed)
        return pb.CheckResponse(inputs=write_struct(inputs), failures=_failures(found))

    @with_user_errors
    async def Diff(self, request: pb.DiffRequest, context: Context) -> pb.DiffResponse:
        """What changes, property by property, and what replaces the object."""
        type_, news = type_of(request.urn), read_struct(request.news)
        olds = read_struct(request.old_inputs) or read_struct(request.olds)
        if type_ == RELEASE:
            found = release_changed(olds, news)
        else:
            kind = resource_type_of(type_, news)
            mutable = self.cluster.configuration.mutable
            found = changes(kind, document_of(kind, olds), document_of(kind, news), mutable=mutable)
        kept = tuple(change for change in found.changes if not _within(change.path, request.ignoreChanges))
        seen = Diff(kept, found.delete_first)
        return pb.DiffResponse(
            changes=pb.DiffResponse.DIFF_SOME if kept else pb.DiffResponse.DIFF_NONE,
            replaces=seen.replaces,
            diffs=seen.changed,
            deleteBeforeReplace=seen.delete_first and bool(seen.replaces),
            hasDetailedDiff=True,
            detailedDiff={c.path: pb.PropertyDiff(kind=KINDS[c.kind, c.replaces], inputDiff=True) for c in kept},
        )

    @with_user_errors
    async def Create(self, request: pb.CreateRequest, context: Context) -> pb.CreateResponse:
        """Apply an object that is new, and wait for it."""
        type_, inputs = type_of(request.urn), read_struct(request.properties)
        if type_ == RELEASE:
            await self._reach(request.preview)
            id_, outputs = await self.cluster.releases.create(request.urn, inputs, preview=request.preview)
        elif request.preview:
            id_, outputs = "", await self.cluster.foresee(type_, request.urn, inputs, None)
        else:
            id_, outputs = await self.cluster.create(type_, request.urn, inputs, request.timeout)
        return pb.CreateResponse(id=id_, properties=write_struct(outputs))

    @with_user_errors
    async def Update(self, request: pb.UpdateRequest, context: Context) -> pb.UpdateResponse:
        """Apply an object that is there, and wait for it."""
        type_, inputs, olds = type_of(request.urn), read_struct(request.news), read_struct(request.olds)
        if type_ == RELEASE:
            await self._reach(request.preview)
            outputs = await self.cluster.releases.update(request.urn, request.id, inputs, preview=request.preview)
        elif request.preview:
            outputs = await self.cluster.foresee(type_, request.urn, inputs, olds)
        else:
            outputs = await self.cluster.update(
                type_, request.urn, request.id, inputs, olds, request.timeout, request.ignoreChanges
            )
        return pb.UpdateResponse(properties=write_struct(outputs))

    @with_user_errors
    async def Read(self, request: pb.ReadRequest, context: Context) -> pb.ReadResponse:
        """Refresh, import and `.get`; an empty id says that the object is gone."""
        type_, inputs, olds = type_of(request.urn), read_struct(request.inputs), read_struct(request.properties)
        if type_ == RELEASE:
            await self._reach(False)
            found = self.cluster.releases.read(request.id)
        else:
            found = await self.cluster.read(type_, request.urn, request.id, inputs, olds)
        if found is None:
            return pb.ReadResponse()
        new_inputs, outputs = found
        return pb.ReadResponse(id=request.id, properties=write_struct(outputs), inputs=write_struct(new_inputs))

    @with_user_errors
    async def Delete(self, request: pb.DeleteRequest, context: Context) -> Empty:
        """Delete an object and wait until it is gone."""
        type_, olds = type_of(request.urn), read_struct(request.properties)
        if type_ == RELEASE:
            await self._reach(False)
            self.cluster.releases.delete(request.id)
        else:
            inputs = read_struct(request.old_inputs)
            await self.cluster.delete(type_, request.urn, request.id, inputs, olds, request.timeout)
        return Empty()

    async def Invoke(self, request: pb.InvokeRequest, context: Context) -> pb.InvokeResponse:
        """`yaml.ConfigFile` and `helm.v3.Chart` ask the provider to render; it does not here."""
        return await _refuse_rendering(context, request.tok)

    async def StreamInvoke(self, request: pb.InvokeRequest, context: Context) -> NoReturn:
        """Watching lists of objects is not part of a rehearsal."""
        await abort(context, f"{request.tok}: not supported in a rehearsal; use the `kubernetes` client")

    async def Call(self, request: pb.CallRequest, context: Context) -> pb.CallResponse:
        """The real provider has no methods."""
        return await abort(context, f"{request.tok}: the kubernetes provider has no methods")

    async def Construct(self, request: pb.ConstructRequest, context: Context) -> pb.ConstructResponse:
        """`yaml.v2`, `helm.v4` and `kustomize.v2` are components of the real provider."""
        return await _refuse_rendering(context, request.type)

    async def Cancel(self, request: Empty, context: Context) -> Empty:
        """Ctrl-C: end every wait."""
        self._clock.interrupt()
        return Empty()


def _failures(found: Iterable[tuple[str, str]]) -> list[pb.CheckFailure]:
    """Each with its reason alone: of a property the engine would show the value, a token of a kubeconfig included."""
    return [pb.CheckFailure(reason=why) for _, why in found]


async def _refuse_rendering(context: Context, token: str) -> NoReturn:
    await abort(context, f"{token}: {ONE_BY_ONE}")


def _within(path: str, ignored: Sequence[str]) -> bool:
    return any(path == held or path.startswith((f"{held}.", f"{held}[")) for held in ignored)
