"""Words to the user by way of the engine: warnings that stay, and how a wait stands."""

from __future__ import annotations

from typing import Any

import grpc
from pulumi.runtime.proto import engine_pb2
from pulumi.runtime.proto.engine_pb2_grpc import EngineStub


class EngineLog:
    """Speaks to the engine at `address`; without one it is silent, as in tests of the servicer alone."""

    def __init__(self, address: str | None) -> None:
        self._address = address
        self._stub: Any = None
        self._said: set[str] = set()

    async def warn(self, text: str, urn: str = "") -> None:
        """A warning; the same text is printed once."""
        if text not in self._said:
            self._said.add(text)
            await self._say(engine_pb2.WARNING, text, urn, ephemeral=False)

    async def stand(self, text: str, urn: str) -> None:
        """How a resource stands, shown until the next such line."""
        await self._say(engine_pb2.INFO, text, urn, ephemeral=True)

    async def _say(self, severity: engine_pb2.LogSeverity.ValueType, text: str, urn: str, *, ephemeral: bool) -> None:
        if self._address is None:
            return
        if self._stub is None:
            self._stub = EngineStub(grpc.aio.insecure_channel(self._address))
        request = engine_pb2.LogRequest(severity=severity, message=text, urn=urn, ephemeral=ephemeral)
        try:
            await self._stub.Log(request)
        except grpc.aio.AioRpcError:
            # An engine that is going away; what it does not hear, it does not need.
            self._address = None
