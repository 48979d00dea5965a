"""Responses of a simulated provider: errors in one line, the id of a partly created resource, the version."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto import status_pb2
from pulumi.runtime.proto.provider_pb2_grpc import ResourceProviderServicer

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.clock import Interrupted
from gpufleet_rehearsal.provider.wire import write_struct
from gpufleet_rehearsal.table.paths import Json

KINDS: Mapping[tuple[Literal["add", "delete", "update"], bool], pb.PropertyDiff.Kind.ValueType] = {
    ("add", False): pb.PropertyDiff.ADD,
    ("add", True): pb.PropertyDiff.ADD_REPLACE,
    ("delete", False): pb.PropertyDiff.DELETE,
    ("delete", True): pb.PropertyDiff.DELETE_REPLACE,
    ("update", False): pb.PropertyDiff.UPDATE,
    ("update", True): pb.PropertyDiff.UPDATE_REPLACE,
}
"""How the engine names a change of a property, and whether it replaces the resource."""

Context = grpc.aio.ServicerContext[Any, Any]
Servicer = TypeVar("Servicer", bound=ResourceProviderServicer)
Request = TypeVar("Request")
Response = TypeVar("Response")


class ResourceInitFailed(Exception):
    """A resource exists and is not as it should be: the state keeps it, and the next `up` calls Update on it."""

    def __init__(
        self, id_: str, *, properties: Mapping[str, Json], inputs: Mapping[str, Json], reasons: Sequence[str]
    ) -> None:
        self.id, self.properties, self.inputs, self.reasons = id_, properties, inputs, reasons
        super().__init__("; ".join(reasons))


async def abort(context: Context, text: str) -> NoReturn:
    """End a call with a line for the user."""
    await context.abort(grpc.StatusCode.UNKNOWN, text)
    raise AssertionError("abort does not return")


def with_user_errors(
    call: Callable[[Servicer, Request, Context], Coroutine[Any, Any, Response]],
) -> Callable[[Servicer, Request, Context], Coroutine[Any, Any, Response]]:
    """Turn errors that are meant for the user into one line of the engine's; nothing else may escape a call."""

    @wraps(call)
    async def answer(self: Servicer, request: Request, context: Context) -> Response:
        try:
            return await call(self, request, context)
        except UserError as error:
            await abort(context, str(error))
        except Interrupted:
            await abort(context, "interrupted while the cloud was working; run the command again")
        except ResourceInitFailed as error:
            detail = pb.ErrorResourceInitFailed(
                id=error.id,
                properties=write_struct(error.properties),
                inputs=write_struct(error.inputs),
                reasons=error.reasons,
            )
            packed = AnyMessage()
            packed.Pack(detail)
            status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=str(error), details=[packed])
            context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
            await abort(context, str(error))

    return answer


def type_of(urn: str) -> str:
    """The type of a resource; its URN names the types of its parents as well."""
    return urn.split("::")[2].rpartition("$")[2]


def plugin_version() -> str:
    """The version in the name of the directory that the plugin was started from; empty elsewhere."""
    return Path(sys.argv[0]).resolve().parent.name.rpartition("-v")[2]
