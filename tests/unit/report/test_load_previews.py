"""Both forms of a preview, as the real engine has written them, and what is no preview."""

import json
from pathlib import Path

import pytest

from gpufleet.errors import UserError
from gpufleet.report.load_previews import read_preview
from gpufleet.report.preview import InvalidPreview
from gpufleet.report.preview_json import parse_preview
from tests.unit.report.written_previews import document, step, urn, written

PREVIEWS = Path(__file__).parent / "previews"
"""Of the real engine 3.253 on the rehearsal: a bucket that is replaced, a network that changes, secrets in both."""


def test_the_two_forms_say_the_same() -> None:
    plain, log = (read_preview(PREVIEWS / name) for name in ("secrets.json", "secrets.events.jsonl"))
    assert plain.name == log.name == ("billing", "dev")
    shown = {step.urn: (step.op, step.reasons and sorted(step.reasons), step.replaces) for step in plain.steps}
    # The log has the default provider as well.
    assert shown.items() <= {s.urn: (s.op, s.reasons and sorted(s.reasons), s.replaces) for s in log.steps}.items()
    assert sorted(op for op, _, _ in shown.values()) == ["replace", "same", "same", "update"]
    assert (plain.linked, log.linked) == (True, False)
    assert plain.ended
    assert log.ended


def test_what_was_parsed_already_is_the_same() -> None:
    """Of the file the rehearsal's preview has the document in hand."""
    file = PREVIEWS / "secrets.json"
    read, given = read_preview(file), parse_preview(json.loads(file.read_text()), str(file))
    assert len(read.steps) == 4
    assert read == given


@pytest.mark.parametrize("indent", [None, 2, 4])
def test_any_layout_is_read(tmp_path: Path, indent: int | None) -> None:
    said = document(
        step("create", "aws:s3/bucket:Bucket", "data", None, {"tags": {"outputs": {"a": ["\n    ]", "{"]}}})
    )
    (tmp_path / "p.json").write_text(json.dumps(said, indent=indent))
    assert read_preview(tmp_path / "p.json").steps[0].new["inputs"] == {"tags": {"outputs": {"a": ["\n    ]", "{"]}}}


def test_no_outputs_are_kept(tmp_path: Path) -> None:
    """Providers repeat secrets in outputs without their mark."""
    bucket = step("update", "aws:s3/bucket:Bucket", "data", {"a": 1}, {"a": 2}, oldStates={"outputs": {"b": "PLAIN"}})
    preview = read_preview(written(tmp_path, document(bucket)))
    assert "PLAIN" not in str(preview.steps)


def test_what_show_sames_would_show_is_counted(tmp_path: Path) -> None:
    bucket = step("create", "aws:s3/bucket:Bucket", "data", None, {})
    assert read_preview(written(tmp_path, document(bucket, changeSummary={"create": 1, "same": 7}))).left_out == 7


def test_empty_steps(tmp_path: Path) -> None:
    assert read_preview(written(tmp_path, document())).steps == []


LOG_END = '{"sequence":2,"timestamp":1,"summaryEvent":{"resourceChanges":{}}}'
BROKEN = {
    "": "is empty",
    "preview failed": "not JSON",
    "[]": "must be an object, not a list",
    "{}": "no steps in it",
    '{"steps": 7}': "steps: must be a list or null, not a whole number",
    '{"steps": [{}]}': "steps[0]: needs the key op",
    '{\n    "steps": [\n        {\n            "op": "same"': "line 4: is not JSON: it ends too early",
    '{"steps": [{"op": "same", "urn": 7}]}': "steps[0].urn: must be text, not a whole number",
    '{"config": {"a": ' + "[" * 100_000: "nested too deep",
    '{\n    "steps": [\n        {\n            "op": ,\n        }\n    ]\n}': "not JSON",
    '{"sequence":0,"timestamp":1,"preludeEvent":{}}\n': "the event log is incomplete",
    '{"sequence":0,"timestamp":1,"resourcePreEvent":{}}\n'
    + LOG_END: "line 1: resourcePreEvent: needs the key metadata",
    '{"sequence":0,"timestamp":1,"policyEvent":{"x"\n' + LOG_END: "line 1: is not JSON",
    '{"sequence":0,"timestamp":1,"resourcePreEvent":{"metadata":{"op":"same","urn":"u","old":7}}}': "old: must be an",
    "\x00\xff": "not UTF-8",
}


@pytest.mark.parametrize("text", BROKEN)
def test_broken_input_is_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "p.json"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError) as caught:
        read_preview(file)
    line = str(caught.value)
    assert line.startswith(f"{file}:")
    assert BROKEN[text] in line
    assert "\n" not in line


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(InvalidPreview, match="No such file"):
        read_preview(Path("/no/such"))


def test_ids_link_what_the_log_does_not(tmp_path: Path) -> None:
    """A subnet that was made from a network has the network's id; one that becomes unknown was made from it, too."""
    net, subnet = urn("aws:ec2/vpc:Vpc", "net"), urn("aws:ec2/subnet:Subnet", "a")
    unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
    events = [
        {
            "op": "same",
            "urn": net,
            "type": "aws:ec2/vpc:Vpc",
            "old": {"type": "t", "urn": net, "id": "vpc-1", "inputs": {}},
        },
        {
            "op": "update",
            "urn": subnet,
            "type": "aws:ec2/subnet:Subnet",
            "old": {"type": "t", "urn": subnet, "id": "subnet-1", "inputs": {"vpcId": "vpc-1"}},
            "new": {"type": "t", "urn": subnet, "inputs": {"vpcId": unknown, "cidrBlock": unknown, "x": "y"}},
        },
    ]
    lines = [json.dumps({"sequence": 0, "timestamp": 1, "resourcePreEvent": {"metadata": each}}) for each in events]
    (tmp_path / "log").write_text("\n".join([*lines, LOG_END]).replace('": ', '":').replace(', "', ',"') + "\n")
    step = read_preview(tmp_path / "log").steps[1]
    assert step.old["propertyDependencies"] == {"vpcId": [net]}
    assert step.new["propertyDependencies"] == {"vpcId": [net, ""], "cidrBlock": [""], "x": []}
