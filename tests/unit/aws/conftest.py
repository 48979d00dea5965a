"""AWS played from a table of answers, each checked against the shapes of botocore's own service models."""

from collections.abc import Callable, Mapping

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from botocore.validate import ParamValidator


@pytest.fixture
def credentials(monkeypatch):
    """Credentials of nobody, and none of the machine's own settings."""
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/nonexistent")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")


class FakeAws:
    """answers: operation -> its response, an error's code, an exception, or a function of the request.

    An operation without an answer answers empty. asked: every (operation, request) in the order of the calls.
    """

    def __init__(self):
        self.answers = {"ListRoles": {"Roles": []}}
        self.asked = []

    def call(self, client, operation, request):
        self.asked.append((operation, request))
        model = client.meta.service_model.operation_model(operation)
        _check(request, model.input_shape, operation)
        answer = self.answers.get(operation, {})
        if isinstance(answer, Callable):
            answer = answer(request)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            raise ClientError({"Error": {"Code": answer, "Message": "the words\n of AWS"}}, operation)
        assert isinstance(answer, Mapping)
        _check(answer, model.output_shape, operation)
        return answer


def _check(given, shape, operation):
    # A response may leave out what a model calls required; what it does say has to be of the model's shape.
    report = ParamValidator().validate(given, shape) if shape is not None else None
    if report is not None and report.has_errors():
        problems = [line for line in report.generate_report().splitlines() if "Missing required" not in line]
        assert not problems, (operation, problems)


class OneSession:
    """A boto3 session that makes each client once: their models take half a second to read."""

    def __init__(self):
        self._session = boto3.session.Session("testing", "testing", region_name="us-east-1")
        self._clients = {}

    def client(self, service, config):
        if service not in self._clients:
            self._clients[service] = self._session.client(service, config=config)
        return self._clients[service]


@pytest.fixture(scope="session")
def session():
    return OneSession()


@pytest.fixture
def aws(monkeypatch, credentials, session):
    """AWS that knows nothing until a test says so."""
    played = FakeAws()

    def open_session(profile_name, region_name):
        assert (profile_name, region_name) == (None, "us-east-1")
        return session

    monkeypatch.setattr(boto3.session, "Session", open_session)
    monkeypatch.setattr(BaseClient, "_make_api_call", lambda client, *call: played.call(client, *call))
    return played
