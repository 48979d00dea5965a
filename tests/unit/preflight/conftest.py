"""AWS as the tests of gpufleet.aws play it, and accounts that answer from a table."""

import importlib.util
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gpufleet.errors import UserError

_SPEC = importlib.util.spec_from_file_location("played_aws", Path(__file__).parents[1] / "aws" / "conftest.py")
_PLAYED = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_PLAYED)
aws, credentials, session = _PLAYED.aws, _PLAYED.credentials, _PLAYED.session


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
