"""Images of the simulated cloud's registries, at http://127.0.0.1:PORT/HOST: what was named last, and by which digest.

No image is kept: a played build (gpufleet.images.build) puts a manifest that names it. All else is refused. Sources:
github.com/Azure/acr, docs/AAD-OAuth.md; github.com/opencontainers/distribution-spec (PUT of a manifest, whose digest is
that of its bytes); the list of manifests as in gpufleet.jobs.azure_batch.latest_image.
"""

import hashlib
import json
import re
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from threading import Lock
from urllib.parse import urlsplit

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.resource import SimulatedResource
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.loopback import LoopbackHandler
from gpufleet_rehearsal.table.paths import Json

REGISTRY = "azure-native:containerregistry:Registry"
_PUSH = re.compile(r"/v2/(?P<name>.+)/manifests/(?P<tag>[\w.-]+)")
_LIST = re.compile(r"/acr/v1/(?P<name>.+)/_manifests")
_TOKENS = {"/oauth2/exchange": "refresh_token", "/oauth2/token": "access_token"}

Answer = tuple[int, Json]


def registry_handler(held: Store) -> type[BaseHTTPRequestHandler]:
    """A handler for the registries of a simulated cloud."""

    class Handler(RegistryHandler):
        store, lock = held, Lock()

    return Handler


class RegistryHandler(LoopbackHandler):
    """One connection of a client."""

    store: Store
    lock: Lock

    def answer(self, sent: bytes) -> None:
        _, host, below = [*urlsplit(self.path).path.split("/", 2), ""][:3]
        try:
            with self.lock:
                status, content = self._answered(host, f"/{below}", sent)
        except UserError as error:
            status, content = _refused(507, "UNKNOWN", str(error))
        self.send(status, {"Content-Type": "application/json; charset=utf-8"}, json.dumps(content).encode())

    def _answered(self, host: str, below: str, sent: bytes) -> Answer:
        registry = next((each for each in self.store.resources(REGISTRY) if each.view.get("loginServer") == host), None)
        if registry is None:
            return _refused(404, "NAME_UNKNOWN", f"the simulated cloud has no registry {host}")
        if self.command == "POST" and below in _TOKENS:
            return 200, {_TOKENS[below]: "none"}
        if self.command == "PUT" and (pushed := _PUSH.fullmatch(below)):
            return self._push(registry, pushed["name"], pushed["tag"], sent)
        if self.command == "GET" and (listed := _LIST.fullmatch(below)):
            return self._list(registry, listed["name"])
        return _refused(501, "UNSUPPORTED", f"a rehearsal does not play {self.command} {below} of a registry")

    def _push(self, registry: SimulatedResource, name: str, tag: str, sent: bytes) -> Answer:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        digest = f"sha256:{hashlib.sha256(sent).hexdigest()}"
        manifest = {"digest": digest, "createdTime": now, "lastUpdateTime": now, "tags": [tag]}
        # A tag names one manifest: the newer one.
        self.store.put_file(registry, f"{name}:{tag}", json.dumps(manifest).encode())
        return 201, {}

    def _list(self, registry: SimulatedResource, name: str) -> Answer:
        files = self.store.files(registry).items()
        found = [json.loads(content) for path, content in files if path.rpartition(":")[0] == name]
        if not found:
            return _refused(404, "NAME_UNKNOWN", "repository name not known to registry")
        newest = sorted(found, key=lambda each: str(each["lastUpdateTime"]), reverse=True)
        return 200, {"registry": str(registry.view["loginServer"]), "imageName": name, "manifests": newest}


def _refused(status: int, code: str, words: str) -> Answer:
    return status, {"errors": [{"code": code, "message": words}]}
