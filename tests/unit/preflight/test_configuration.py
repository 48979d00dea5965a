"""What a preflight reads of a stack's configuration."""

import json
from datetime import date

import pytest

from gpufleet.errors import UserError
from gpufleet.plan.preview import config_of, read_preview
from gpufleet.plan.quota_limits import QuotaLimit
from gpufleet.preflight.configuration import read_configuration, values_in_file
from gpufleet.rules.suppression import Suppression

TODAY = date(2026, 11, 21)
FILE = """
config:
  aws:region: us-east-1
  gpufleet:zone_names: {use1-az1: us-east-1c}
  gpufleet:quotas:
    - {family: P, market: spot, limit: 96}
  gpufleet:suppress:
    - {rule: any-quota-enough, reason: raised on Monday, expires: 2027-01-31}
"""


def test_a_stack_file_and_a_preview_say_the_same(tmp_path):
    file, preview = tmp_path / "Pulumi.dev.yaml", tmp_path / "preview.json"
    file.write_text(FILE)
    texts = {
        "gpufleet:zone_names": '{"use1-az1":"us-east-1c"}',
        "gpufleet:quotas": '[{"family":"P","limit":96,"market":"spot"}]',
        "gpufleet:suppress": '[{"rule":"any-quota-enough","reason":"raised on Monday",'
        '"expires":"2027-01-31 00:00:00 +0000 UTC"}]',
    }
    preview.write_text(json.dumps({"config": texts, "steps": []}))
    for values in (values_in_file(file), config_of(read_preview(preview))):
        configuration = read_configuration(values, "here", TODAY)
        assert configuration.zone_names == {"use1-az1": "us-east-1c"}
        assert configuration.limits == (QuotaLimit("P", "spot", 96),)
        expected = Suppression("any-quota-enough", "raised on Monday", date(2027, 1, 31))
        assert configuration.suppressions == (expected,)


@pytest.mark.parametrize("text", ["", "config:", "config: []", "- 1"])
def test_a_file_without_configuration_says_nothing(tmp_path, text):
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text(text)
    configuration = read_configuration(values_in_file(file), "here", TODAY)
    assert (configuration.zone_names, configuration.limits, configuration.suppressions) == ({}, (), ())


def test_all_faults_come_at_once():
    values = {
        "gpufleet:quotas": [{"family": "P", "market": "x", "limit": 1}],
        "gpufleet:suppress": [{"rule": "any-quota-enough", "reason": "r", "expires": "2026-11-20"}],
    }
    with pytest.raises(UserError) as error:
        read_configuration(values, "Pulumi.dev.yaml", TODAY)
    assert [line.partition("=")[0] for line in str(error.value).splitlines()] == [
        "Pulumi.dev.yaml: gpufleet:quotas[0].market",
        "Pulumi.dev.yaml: gpufleet:suppress[0].expires",
    ]


def test_text_that_only_looks_like_json_is_text():
    assert read_configuration({"gpufleet:owner": "[team"}, "here", TODAY).values["gpufleet:owner"] == "[team"


def test_an_unreadable_file_is_one_line(tmp_path):
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text("a: [")
    for path in (file, tmp_path / "none.yaml"):
        with pytest.raises(UserError) as error:
            values_in_file(path)
        assert str(error.value).startswith(f"{path}: ")
        assert "\n" not in str(error.value)
