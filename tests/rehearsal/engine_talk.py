"""A conversation with a provider plugin, as the engine holds it."""

import asyncio

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto.provider_pb2_grpc import ResourceProviderStub, add_ResourceProviderServicer_to_server

from gpufleet_rehearsal.provider.wire import write_struct


def urn(type_, name="n", parent=""):
    return f"urn:pulumi:s::p::{parent}{type_}::{name}"


class Engine:
    """Calls a provider as the engine would."""

    def __init__(self, stub):
        self.stub = stub

    async def configure(self, **args):
        return await self.stub.Configure(pb.ConfigureRequest(args=write_struct({"region": "us-east-1", **args})))

    async def create(self, type_, inputs, name="n", preview=False):
        request = pb.CreateRequest(urn=urn(type_, name), properties=write_struct(inputs), preview=preview)
        return await self.stub.Create(request)


async def refusal(call):
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    return error.value


class _Call:
    """What a servicer is given of a call that no wire carries."""

    async def abort(self, code, text):
        raise AssertionError(text)

    def set_trailing_metadata(self, metadata):
        pass


class _DirectStub:
    """Calls a servicer's methods with the engine's messages, without a wire; what it refuses is an AssertionError."""

    def __init__(self, servicer):
        self._servicer = servicer

    def __getattr__(self, name):
        method = getattr(self._servicer, name)
        return lambda request: method(request, _Call())


def talk_directly(conversation, servicer):
    """Run a conversation with a servicer in this process, in a third of the time that a wire takes."""
    return asyncio.run(conversation(Engine(_DirectStub(servicer))))


def talk(conversation, servicer):
    """Run a conversation with a servicer."""

    async def held():
        server = grpc.aio.server()
        add_ResourceProviderServicer_to_server(servicer, server)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            try:
                return await conversation(Engine(ResourceProviderStub(channel)))
            finally:
                await server.stop(None)

    return asyncio.run(held())
