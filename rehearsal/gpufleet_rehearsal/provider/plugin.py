"""The provider plugin's process: listens, tells the engine its port, and ends when the engine does."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pulumi.runtime.proto.provider_pb2_grpc import ResourceProviderServicer

CLOUDS = ("aws", "azure-native")
"""Clouds that have a table."""
PARENT_LOOK_SECONDS = 0.2


def main(cloud: str) -> None:
    """Serve the simulated provider of `cloud` until the engine ends it."""
    _load_protocol_alone()
    # The engine puts plugins into separate process groups, so this is never somebody's Ctrl-C (then the engine says
    # Cancel): it is how the engine ends a plugin that it is done with, and it waits five seconds for who ignores it.
    signal.signal(signal.SIGINT, lambda *_: os._exit(0))
    asyncio.run(_serve(cloud))


def _load_protocol_alone() -> None:
    """Let `pulumi.runtime.proto` be imported without the SDK around it: that halves the start of every command."""
    found = importlib.util.find_spec("pulumi")
    if "pulumi" in sys.modules or found is None or found.submodule_search_locations is None:
        return
    root = Path(found.submodule_search_locations[0])
    for name, folder in (("pulumi", root), ("pulumi.runtime", root / "runtime")):
        package = types.ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package


def _servicer(cloud: str) -> ResourceProviderServicer:
    from gpufleet_rehearsal.cloud.settings import DIRECTORY

    given = os.environ.get(DIRECTORY)
    directory = Path(given) if given else None
    if cloud == "kubernetes":
        from gpufleet_rehearsal.kubernetes.servicer import KubernetesProvider

        # The engine's own address, for warnings.
        return KubernetesProvider(directory, sys.argv[1] if len(sys.argv) > 1 else None)
    from gpufleet_rehearsal.provider.servicer import Provider

    return Provider(cloud, directory)


async def _serve(cloud: str) -> None:
    # Its own words on a port that is not available help nobody.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    import grpc
    from pulumi.runtime.proto.provider_pb2_grpc import add_ResourceProviderServicer_to_server

    # Values of the engine can be large (user data, policies); the default limit is 4 MiB.
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)])
    add_ResourceProviderServicer_to_server(_servicer(cloud), server)
    try:
        port = server.add_insecure_port("127.0.0.1:0")
    except RuntimeError:
        sys.exit(f"the simulated {cloud} provider: no port of 127.0.0.1 is free")
    await server.start()
    # Read first: an engine that has the port may end at once.
    parent = os.getppid()
    print(port, flush=True)
    while os.getppid() == parent:
        await asyncio.sleep(PARENT_LOOK_SECONDS)
    # The engine was killed: what was accepted is in the store, and the cloud continues with it by itself.
    os._exit(0)
