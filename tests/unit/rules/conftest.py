"""Case tables. A test module of rules holds `CASES`: rule -> [(id, arguments, status, whole line)].

Its `test_case` runs once for each case. The line is the whole text that a user sees for the resource `trainers`, and
empty for a pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from gpufleet.rules import Rule, Status


@dataclass(frozen=True)
class Case:
    rule: Rule
    arguments: Mapping[str, object]
    status: str
    line: str

    def check(self) -> None:
        """The rule gives exactly this finding, under its own name and severity."""
        finding = self.rule(**self.arguments)
        assert (finding.rule, finding.severity) == (self.rule.name, self.rule.severity)
        assert finding.status == self.status
        assert ("" if finding.status is Status.PASS else finding.line("trainers")) == self.line


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" not in metafunc.fixturenames:
        return
    table: Mapping[Rule, Sequence[tuple[str, Mapping[str, object], str, str]]] = metafunc.module.CASES
    cases = {
        f"{rule.name}-{name}": Case(rule, arguments, status, line)
        for rule, rows in table.items()
        for name, arguments, status, line in rows
    }
    metafunc.parametrize("case", cases.values(), ids=cases.keys())
