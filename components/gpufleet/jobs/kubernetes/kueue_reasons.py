"""Why Kueue keeps a job waiting, in fewer words than its own. Pure."""

import re

_TOO_LARGE = re.compile(
    r"insufficient quota for (?P<resource>\S+) in flavor (?P<flavor>\S+), "
    r"previously considered podsets requests \((?P<before>\d+)\) \+ current podset request \((?P<now>\d+)\) > "
    r"maximum capacity \((?P<most>\d+)\)(?:, (?=[a-z])|$)"
)
"""As Kueue 0.19.2 says it of whole numbers, such as GPUs (pkg/scheduler/flavorassigner/flavorassigner.go)."""


_NO_PLACE = re.compile(r'(?P<who>pod set \S+): Flavor "\S+" does not support TopologyAwareScheduling$')
"""All that is left to say when every flavor with a topology was tried before: Kueue forgets why these did not fit."""

_STOPPED = re.compile(r"untolerated taint \{gpufleet[.]dev/stopped [^}]*\} in flavor ([^\s,]+)")
"""By the taint that `gpufleet stop` gives to the flavor of a pool."""


def kueue_reason_text(message: str) -> str:
    """What a workload's condition QuotaReserved says, without the flavors of which the team has nothing at all.

    A demand that can never fit is a sum with the quota, and a stopped pool as such; all else stays as Kueue has
    it.
    """
    message = _STOPPED.sub(r"flavor \1 is stopped (`gpufleet stop ENV --undo`)", message)
    message = _NO_PLACE.sub(r"\g<who>: no place of the topology has room for all of it", message)
    some = _shortened(message, with_nothing=False)
    return _shortened(message, with_nothing=True) if some.endswith(":") else some


def _shortened(message: str, *, with_nothing: bool) -> str:
    def say(found: re.Match[str]) -> str:
        return _sum(found) + ", " if with_nothing or found["most"] != "0" else ""

    return _TOO_LARGE.sub(say, message).rstrip(", ")


def _sum(found: re.Match[str]) -> str:
    wanted = int(found["before"]) + int(found["now"])
    return f"it needs {wanted} {found['resource']} and the quota of flavor {found['flavor']} is {found['most']}"
