"""The Services of a control plane, as the stand-in of EKS's service controller reads and changes them."""

import pytest

from gpufleet_rehearsal.kubernetes.load_balancers import FINALIZER
from gpufleet_rehearsal.kubernetes.service_table import ControlPlaneServices

UID = "0a1b2c3d-0000-4000-8000-00000000beef"
WEB = {"metadata": {"name": "web", "namespace": "team", "uid": UID}, "spec": {"type": "LoadBalancer"}}


class Refused(Exception):
    def __init__(self, code):
        self.code = code


class Client:
    """Notes what is asked of it, and answers with a code where it has one."""

    def __init__(self, code=None):
        self.code, self.asked = code, []

    def get(self, path, **query):
        return {"items": [WEB] if path == "/api/v1/services" else []}

    def request(self, method, path, body=None, content="", **query):
        self.asked.append((method, path, body, content))
        if self.code:
            raise Refused(self.code)
        return {}

    def apply(self, document, manager=""):
        self.asked.append(document)
        return {}


def test_changes_of_finalizer_and_address_as_they_are_asked_for():
    table = ControlPlaneServices(client := Client(), Refused)
    (web,) = table.all()
    assert table.hold(web)
    assert table.let_go(web)
    assert table.set_address(web, "a.invalid")
    path, patch = "/api/v1/namespaces/team/services/web", "application/strategic-merge-patch+json"
    assert client.asked == [
        ("PATCH", path, {"metadata": {"finalizers": [FINALIZER]}}, patch),
        ("PATCH", path, {"metadata": {"$deleteFromPrimitiveList/finalizers": [FINALIZER]}}, patch),
        (
            "PATCH",
            f"{path}/status",
            {"status": {"loadBalancer": {"ingress": [{"hostname": "a.invalid"}]}}},
            "application/merge-patch+json",
        ),
    ]
    table.warn(web, "why")
    event = client.asked[-1]
    assert (event["reason"], event["message"]) == ("SyncLoadBalancerFailed", "why")
    assert event["involvedObject"]["uid"] == UID


def test_only_answers_of_others_changes_are_passed_over():
    assert not ControlPlaneServices(Client(404), Refused).hold(WEB)
    with pytest.raises(Refused):
        ControlPlaneServices(Client(500), Refused).hold(WEB)
