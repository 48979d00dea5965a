"""The Services of a control plane, as the simulated service controller of EKS reads and changes them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

from gpufleet_rehearsal.kubernetes.load_balancers import FINALIZER, Service

MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
CONTROLLER = "service-controller"
"""Who the events come from, as of the real one."""
PASSED = (403, 404, 409, 422)
"""Answers to a change of a Service that somebody else has changed or deleted meanwhile, or whose namespace goes (403,
for an event): the next look sees it."""


class ServiceClient(Protocol):
    """What tools/kubernetes/api_client.py offers."""

    def get(self, path: str, **query: str) -> dict[str, Any]: ...

    def request(self, method: str, path: str, body: object = None, content: str = ..., **query: str) -> object: ...

    def apply(self, document: Mapping[str, Any], manager: str = ...) -> object: ...


class ControlPlaneServices:
    """Those that `client` talks of. rejected: what it raises, with the status code as its `code`."""

    def __init__(self, client: ServiceClient, refused: type[Exception]) -> None:
        self._client, self._refused = client, refused

    def all(self) -> Sequence[Service]:
        return list(self._client.get("/api/v1/services")["items"])

    def hold(self, service: Service) -> bool:
        return self._changed(_path(service), {"metadata": {"finalizers": [FINALIZER]}}, STRATEGIC)

    def let_go(self, service: Service) -> bool:
        change = {"metadata": {"$deleteFromPrimitiveList/finalizers": [FINALIZER]}}
        return self._changed(_path(service), change, STRATEGIC)

    def set_address(self, service: Service, hostname: str) -> bool:
        balancer = {"ingress": [{"hostname": hostname}] if hostname else None}
        return self._changed(f"{_path(service)}/status", {"status": {"loadBalancer": balancer}}, MERGE)

    def warn(self, service: Service, text: str) -> None:
        metadata, moment = service["metadata"], datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        named = hashlib.blake2b(f"{metadata['uid']} {text}".encode(), digest_size=8).hexdigest()
        who = {"apiVersion": "v1", "kind": "Service", "name": metadata["name"], "uid": metadata["uid"]}
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{metadata['name']}.{named}", "namespace": metadata["namespace"]},
            "involvedObject": {**who, "namespace": metadata["namespace"]},
            "type": "Warning",
            "reason": "SyncLoadBalancerFailed",
            "message": text,
            "source": {"component": CONTROLLER},
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
        }
        self._passed(lambda: self._client.apply(event, CONTROLLER))

    def _changed(self, path: str, change: Mapping[str, object], content: str) -> bool:
        return self._passed(lambda: self._client.request("PATCH", path, change, content))

    def _passed(self, ask: Callable[[], object]) -> bool:
        try:
            ask()
        except self._refused as refused:
            if getattr(refused, "code", 0) not in PASSED:
                raise
            return False
        return True


def _path(service: Service) -> str:
    return f"/api/v1/namespaces/{service['metadata']['namespace']}/services/{service['metadata']['name']}"
