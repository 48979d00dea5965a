"""A block that gathers the errors of all components, and raises them at its end."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date

import pulumi
import pytest
from pulumi.errors import RunError

from gpufleet.rules import Finding, Severity, Status
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.validation import InvalidArguments, gathering, validate, validate_stack


def fault(argument: str = "zones", value: object = "x", severity: Severity = Severity.ERROR) -> Finding:
    return Finding("aws-type-in-zone", severity, Status.FAIL, argument, value, "is wrong", "use b")


Step = Callable[[], object]


def of(resource: str, *findings: Finding) -> Step:
    """A step that validates a component."""
    return lambda: validate(resource, findings)


def raising(error: Exception) -> Step:
    def step() -> None:
        raise error

    return step


def run(*steps: Step, shared: tuple[str, ...] = ("region", "tags")) -> None:
    """A block with these steps."""
    with gathering(shared):
        for step in steps:
            step()


def gathered(*steps: Step, shared: tuple[str, ...] = ("region", "tags")) -> list[str]:
    """The lines that such a block raises, without what is wrong."""
    with pytest.raises(RunError) as error:
        run(*steps, shared=shared)
    return [line.partition(": is wrong")[0] for line in str(error.value).splitlines()]


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lines.append)
    monkeypatch.setattr(pulumi.log, "info", lines.append)
    return lines


def test_a_block_raises_the_errors_of_all_components_at_its_end(logged):
    made = []
    lines = gathered(
        lambda: made.append(validate("a", [fault(), fault("types")])),
        lambda: made.append(validate("b", [replace(fault(), status=Status.PASS), fault(severity=Severity.WARNING)])),
        lambda: validate_stack([ResourceFinding("dev", fault())]),
        lambda: made.append(validate("c", [fault()])),
    )
    assert lines == ["a: zones=x", "a: types=x", "dev: zones=x", "c: zones=x"]
    assert made == [False, True, False]
    assert logged == ["b: zones=x: is wrong; use b [aws-type-in-zone]"]


def test_a_block_without_errors_raises_nothing(logged):
    run(of("a", fault(severity=Severity.WARNING)), of("b", replace(fault(), status=Status.PASS)))
    assert len(logged) == 1


def test_after_a_block_each_component_raises_for_itself_again():
    assert gathered(of("a", fault())) == ["a: zones=x"]
    with pytest.raises(InvalidArguments):
        validate("a", [fault()])
    with pytest.raises(KeyError):
        run(raising(KeyError("zones")))
    with pytest.raises(InvalidArguments):
        validate("a", [fault()])


def test_the_outer_block_raises_what_an_inner_one_gathers():
    went_on = []
    inner = [lambda: run(of("b", fault())), lambda: went_on.append("after the inner block")]
    assert gathered(of("a", fault()), *inner, of("c", fault())) == ["a: zones=x", "b: zones=x", "c: zones=x"]
    assert went_on


def test_what_all_components_share_is_reported_once():
    lines = gathered(
        of("a", fault("region"), fault("tags.owner", "y"), fault("region")),
        of("b", fault("region"), fault("zones")),
        lambda: validate_stack(
            [ResourceFinding("c", fault("tags.owner", "y")), ResourceFinding("c", fault("tags.owner", "z"))]
        ),
        of("d", fault("cidr"), fault("cidr", "v")),
        of("e", fault("cidr", "v")),
        shared=("region", "tags", "cidr"),
    )
    # One component may find two things wrong with the same value.
    assert lines == ["a: region=x", "a: tags.owner=y", "a: region=x", "b: zones=x", "c: tags.owner=z", "d: cidr=v"]


def test_warnings_of_what_all_components_share_are_logged_once(logged):
    warnings = [fault("region", severity=Severity.WARNING), fault(severity=Severity.WARNING)]
    run(of("a", *warnings), of("b", *warnings))
    assert [line.partition("=")[0] for line in logged] == ["a: region", "a: zones", "b: zones"]


def test_a_warning_hides_no_error_on_the_same_value(logged, monkeypatch):
    # Without its line the block would end well, and the component that was not made would be missing.
    assert gathered(of("a", fault("region", severity=Severity.WARNING)), of("b", fault("region"))) == ["b: region=x"]
    expires = date.today().replace(day=1, month=1, year=date.today().year + 1).isoformat()
    only_a = [{"rule": "aws-type-in-zone", "reason": "new there", "expires": expires, "resource": "a"}]
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps({"gpufleet:suppress": json.dumps(only_a)}))
    assert gathered(of("a", fault("region")), of("b", fault("region"))) == ["b: region=x"]
    assert len(logged) == 2


def test_a_run_error_in_a_block_is_told_with_the_others():
    lines = gathered(of("a", fault()), raising(RunError("one\ntwo")), of("b", fault()))
    assert lines == ["a: zones=x", "one", "two"]
    assert gathered(raising(InvalidArguments("c", [fault()]))) == ["c: zones=x"]


def test_an_exception_after_errors_is_their_cause():
    error = KeyError("an output of a placeholder")
    with pytest.raises(RunError) as raised:
        run(of("a", fault()), raising(error))
    assert str(raised.value) == "a: zones=x: is wrong; use b [aws-type-in-zone]"
    assert raised.value.__cause__ is error


def test_an_exception_without_errors_is_the_programs_own():
    error = KeyError("a fault of the program")
    with pytest.raises(KeyError) as raised:
        run(raising(error))
    assert raised.value is error
