"""What goes wrong in a rehearsal, on request.

A fault is one line of text:

    create:aws:eks/cluster:Cluster         the 1st create of this type fails; also update: and delete:
    create:aws:eks/cluster:Cluster:2       the 2nd one
    create:@trainers-nodes                 the create of the resource of this logical name
    create:#7                              the 7th create of all
    create:*                               every create (of a type: create:aws:eks/nodeGroup:NodeGroup:*)
    share:0.1                              each create fails with this probability, drawn from the seed
    slow:aws:efs/mountTarget:MountTarget:5 every operation of this type takes five times as long; slow:*:2 of all types
    die:aws:eks/cluster:Cluster            the plugin dies when the cloud has made it and before it answers; also
                                           die:aws:...:2, die:@name, die:#7
    capacity:g5.8xlarge:use1-az1           no capacity for this instance type in this zone, the 1st time that it is
                                           asked for; capacity:g5.8xlarge:use1-az1:* for ever; on Azure
                                           capacity:Standard_NC24ads_A100_v4:eastus-1, or :eastus without zones

Counting begins when the fault is first among the settings; a fault that has struck does not strike again (but for `*`,
`share` and `slow`), so that the next `up` converges. The counts are in the store and survive every process.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.table.cloud_rows import UNKNOWN_ERROR, ErrorMessage

EVERY = 0
"""The ordinal of a fault that strikes each time."""

_OPERATION = re.compile(
    r"(?P<kind>create|update|delete|die):"
    r"(?:(?P<any>\*)|#(?P<ordinal>\d+)|@(?P<name>[^:@#]+)|(?P<type>[\w-]+:[\w/-]+:\w+))(?::(?P<n>\d+|\*))?"
)
_SHARE = re.compile(r"share:(?P<share>0?\.\d+|[01](?:\.0+)?)")
_SLOW = re.compile(r"slow:(?P<type>\*|[\w-]+:[\w/-]+:\w+):(?P<factor>\d+(?:\.\d+)?)")
_CAPACITY = re.compile(r"capacity:(?P<type>[a-z0-9-]+\.[a-z0-9-]+|Standard_\w+):(?P<zone>[a-z0-9-]+)(?::(?P<n>\*))?")


class FaultError(UserError):
    """A fault that cannot be read; the text is one line."""


class InjectedError(Exception):
    """A injected fault: the cloud rejects with `code` and `text`, and has done nothing."""

    def __init__(self, spec: str, said: ErrorMessage) -> None:
        self.code, self.text = said.code, f"{said.text} (injected fault {spec})"
        super().__init__(f"{self.code}: {self.text}")


@dataclass(frozen=True)
class InjectedFault:
    """One fault, read. kind: create, update, delete, die, share, slow, capacity; empty fields match everything."""

    spec: str
    kind: str
    type: str = ""
    name: str = ""
    n: int = 1
    number: float = 0.0
    """The share, or the factor of slowness."""
    zone: str = ""


def parse_fault(spec: str) -> InjectedFault:
    """Read a fault. FaultError says what a legal one looks like."""
    if match := _OPERATION.fullmatch(spec):
        n = match["n"] or match["ordinal"] or ("*" if match["any"] else "1")
        return InjectedFault(
            spec, match["kind"], match["type"] or "", match["name"] or "", EVERY if n == "*" else int(n)
        )
    if match := _SHARE.fullmatch(spec):
        return InjectedFault(spec, "share", number=float(match["share"]), n=EVERY)
    if match := _SLOW.fullmatch(spec):
        return InjectedFault(
            spec, "slow", type="" if match["type"] == "*" else match["type"], number=float(match["factor"])
        )
    if match := _CAPACITY.fullmatch(spec):
        return InjectedFault(spec, "capacity", match["type"], zone=match["zone"], n=EVERY if match["n"] else 1)
    raise FaultError(
        f"fault {spec!r}: cannot be read; write create:<type>[:<n>], create:@<name>, create:#<n> (also update, delete "
        "and die), share:<0..1>, slow:<type>:<factor> or capacity:<instance type>:<zone id>"
    )


class Faults:
    """The faults of the settings, with their counts in the store. said: the cloud's words for what fails."""

    def __init__(self, specs: Sequence[str], store: Store, seed: int, said: ErrorMessage = UNKNOWN_ERROR) -> None:
        self.faults = [parse_fault(spec) for spec in specs]
        self._store = store
        self._seed = seed
        self._said = said
        self._met: set[str] = set()
        if self.faults or store.fact("faults"):
            store.forget_counters("fault ", [f"fault {spec} " for spec in specs])
            store.remember("faults", "\n".join(specs))

    def slowness(self, type_: str) -> float:
        """The factor by which operations of a type are slowed down."""
        factor = 1.0
        for fault in self.faults:
            if fault.kind == "slow" and fault.type in ("", type_):
                factor *= fault.number
        return factor

    def before(self, operation: str, type_: str, urn: str, name: str) -> bool:
        """Count an operation that begins; return whether the plugin has to die after it. Raises InjectedError."""
        dying = [f for f in self._of("die", type_, name) if self._strikes(f)] if operation == "create" else []
        struck = [fault for fault in self._of(operation, type_, name) if self._strikes(fault)]
        if operation == "create":
            struck += [fault for fault in self.faults if fault.kind == "share" and self._drawn(fault, urn)]
        if struck:
            raise InjectedError(struck[0].spec, self._said)
        return bool(dying)

    def _of(self, kind: str, type_: str, name: str) -> Iterator[InjectedFault]:
        return (f for f in self.faults if f.kind == kind and f.type in ("", type_) and f.name in ("", name))

    def _strikes(self, fault: InjectedFault) -> bool:
        # A fault without a type and a name counts every operation of its kind.
        return self._store.count(f"fault {fault.spec} ") == fault.n or fault.n == EVERY

    def _drawn(self, fault: InjectedFault, urn: str) -> bool:
        attempt = self._store.count(f"fault {fault.spec} {urn}")
        return random.Random(f"{self._seed} {urn} {attempt}").random() < fault.number

    def no_capacity(self, instance_type: str, zone: str) -> bool:
        """Whether a fault says that there is no capacity; `met_capacity` then says that somebody was told so."""
        for fault in self.faults:
            if fault.kind == "capacity" and fault.type == instance_type and fault.zone == zone:
                key = f"fault {fault.spec} "
                if fault.n == EVERY or self._store.counted(key) == 0:
                    self._met.add(key)
                    return True
        return False

    def forget_met(self) -> None:
        """Begin to look at another request."""
        self._met.clear()

    def met_capacity(self) -> None:
        """The request looked at was rejected: the faults of capacity that it met have struck."""
        for key in sorted(self._met):
            self._store.count(key)
        self._met.clear()
