"""AWS as the tests of gpufleet.aws play it, and accounts that answer from a table."""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from gpufleet.errors import UserError
from gpufleet.preflight.azure.arm import ArmClient
from tests.unit.aws.conftest import aws, credentials, session

__all__ = ["aws", "credentials", "session"]


class Denied(UserError):
    """What an account says that does not want to be asked."""


@dataclass
class FakeAws:
    """An AWS account; a value that is an exception is raised when asked for. asked: names of the questions."""

    names: object = field(default_factory=lambda: {"use1-az1": "us-east-1c"})
    offers: object = field(default_factory=dict)
    limits: object = field(default_factory=dict)
    used: object = field(default_factory=dict)
    reservations: object = field(default_factory=dict)
    groups: object = field(default_factory=dict)
    resource_limits: object = field(default_factory=dict)
    held: object = field(default_factory=dict)
    asked: list = field(default_factory=list)

    def _answer(self, question, value, *key):
        self.asked.append((question, *key))
        if isinstance(value, Exception):
            raise value
        return value

    def zone_names(self):
        return self._answer("zones", self.names)

    def zones_with(self, types):
        return self._answer("offers", self.offers, tuple(types))

    def limit(self, family, market):
        return self._get("limit", self.limits, (family, market))

    def in_use(self, market):
        return self._get("use", self.used, market, {})

    def reservation(self, reservation_id):
        return self._get("reservation", self.reservations, reservation_id)

    def placement_group(self, name):
        return self._get("group", self.groups, name)

    def resource_limit(self, counted):
        return self._get("resource limit", self.resource_limits, counted)

    def network_use(self, counted):
        return self._get("network use", self.held, counted, {})

    def _get(self, question, table, key, default=None):
        answer = self._answer(question, table, key)
        answer = answer.get(key, default)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def fake_aws():
    return FakeAws()


@pytest.fixture
def denied():
    return Denied("ec2: denied")


class Azure:
    """answers: path -> list of (status, headers, body), given one after the other, the last one for ever."""

    def __init__(self):
        self.answers = {}
        self.asked = []
        azure = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                url = urlsplit(self.path)
                azure.asked.append((url.path, parse_qs(url.query), self.headers["Authorization"]))
                queue = azure.answers.get(url.path, [(404, {}, {"error": {"code": "NotFound", "message": "no"}})])
                status, headers, body = queue.pop(0) if len(queue) > 1 else queue[0]
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def says(self, path, *pages):
        self.answers[path] = [page if isinstance(page, tuple) else (200, {}, page) for page in pages]


@pytest.fixture
def azure():
    served = Azure()
    yield served
    served.server.shutdown()
    served.server.server_close()


@pytest.fixture
def waits():
    return []


@pytest.fixture
def arm(azure, waits):
    return ArmClient("00000000-0000-0000-0000-000000000001", lambda: "secret", azure.base, waits.append)
