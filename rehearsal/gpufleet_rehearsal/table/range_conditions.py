"""Operators for ranges of numbers that together must cover all of them, and for numbers that go in steps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpufleet_rehearsal.table.conditions import Condition, PathText, values_at
from gpufleet_rehearsal.table.paths import Scope, plain

_RANGE = re.compile(r"(?P<first>\d*):(?P<last>\d*)|(?P<only>\d+)")


class Uncovered(Condition, operator="uncovered"):
    """`uncovered: {by: ranges[*].targetNodes, of: numNodes}`: some number from 0 to one less than `of` is in none of
    the texts at `by`: `first:last` (both included; left out, the first or last of all) or one number. A text of
    another form covers nothing."""

    by: PathText
    of: PathText

    def holds(self, scope: Scope) -> bool:
        ranges = [plain(value) for value in values_at(self.by, scope)]
        for count in values_at(self.of, scope):
            if not isinstance(count, (int, float)):
                continue
            following = 0
            for first, last in sorted(_spans(ranges, int(count))):
                if first > following:
                    return True
                following = max(following, last + 1)
            if following < count:
                return True
        return False


class OffStep(Condition, operator="off_step"):
    """`off_step: {of: storageCapacity, by: 2400}`: some number there is no multiple of the step."""

    of: PathText
    by: int

    def holds(self, scope: Scope) -> bool:
        return any(float(plain(value)) % self.by != 0 for value in values_at(self.of, scope))


def _spans(ranges: list[str], count: int) -> Iterator[tuple[int, int]]:
    for text in ranges:
        found = _RANGE.fullmatch(text)
        if found is None:
            continue
        if found["only"]:
            yield int(found["only"]), int(found["only"])
        else:
            yield int(found["first"] or 0), int(found["last"] or count - 1)
