"""Merges what a cloud's own models demand into the shapes of a resource type's properties (generator only)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from gpufleet_rehearsal.inputs.call_table import CallRow, MatchResult, Shape, call_table

Call = TypeVar("Call")
Member = TypeVar("Member")


class ModelMerge(ABC, Generic[Call, Member]):
    """Walks the properties of one type, and finds the member of a call that each goes into."""

    cloud: str

    def __init__(self, row: CallRow) -> None:
        self.row = row
        self.result = MatchResult(unused={*row.rename, *row.local, *row.documents})

    @abstractmethod
    def find_member(self, call: Call, name: str) -> Member | None:
        """The member of a call that is called `name`, without regard to case; None if it has none."""

    @abstractmethod
    def merge_value(self, shape: Shape, call: Call, member: Member, path: str) -> None:
        """Merge one member into the shape of one property; a mismatch goes into `result.loose`."""

    def merge_structure(self, properties: Mapping[str, Shape], calls: Sequence[Call], above: str = "") -> MatchResult:
        """Merge the members of `calls` into the properties below the path `above`. The first call that fits wins."""
        everywhere = call_table(self.cloud).everywhere
        for name, shape in properties.items():
            path = f"{above}.{name}" if above else name
            self.result.unused.discard(path)
            if path in self.row.local or (not above and name in everywhere):
                continue
            wanted = self.row.rename.get(path, name)
            found = ((call, self.find_member(call, wanted)) for call in calls)
            call, member = next(((call, member) for call, member in found if member is not None), (None, None))
            if call is None or member is None:
                self.result.loose.append(path)
            else:
                self.merge_value(shape, call, member, path)
        return self.result
