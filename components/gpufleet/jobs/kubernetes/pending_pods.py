"""Pods of a job that do not run yet, and why, in few lines however many they are."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gpufleet.rules.messages import one_line

_WORDS = 400
"""Longest reason shown, in characters. The scheduler's words grow with the kinds of nodes in the cluster."""
_ON_ITS_WAY = frozenset({"ContainerCreating", "PodInitializing"})


@dataclass(frozen=True)
class PendingPods:
    """Pods that wait for the same: names, and the reason in Kubernetes' own words."""

    pods: tuple[str, ...]
    reason: str

    @property
    def line(self) -> str:
        many = len(self.pods)
        return f"{format_name_ranges(self.pods)} wait{'s' if many == 1 else ''}: {self.reason}"


def group_pending_pods(pods: Iterable[Mapping[str, Any]]) -> list[PendingPods]:
    """What every waiting pod waits for, pods with one reason together, in the order of their names."""
    by_reason: dict[str, list[str]] = {}
    for pod in pods:
        why = pending_reason(pod)
        if why is not None:
            by_reason.setdefault(why, []).append(str(pod["metadata"]["name"]))
    return [PendingPods(tuple(sorted(names, key=_natural)), why) for why, names in by_reason.items()]


def pending_reason(pod: Mapping[str, Any]) -> str | None:
    """Why a pod does not run yet, in one line; None when it runs, has ended, or nothing holds it up."""
    status = pod.get("status") or {}
    if status.get("phase") not in (None, "Pending"):
        return _crashing(status)
    gates = [str(gate.get("name")) for gate in (pod.get("spec") or {}).get("schedulingGates") or []]
    if gates:
        return f"for the queue ({', '.join(gates)})"
    for condition in status.get("conditions") or []:
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return _short(f"{condition.get('reason') or 'not scheduled'}: {condition.get('message') or ''}")
    for container in _containers(status):
        held = (container.get("state") or {}).get("waiting") or {}
        if held and held.get("reason") not in _ON_ITS_WAY:
            return _short(f"{held.get('reason')}: {held.get('message') or ''}")
    return None


def is_starting(pod: Mapping[str, Any]) -> bool:
    """Whether it has a node and waits for its containers: images, volumes."""
    status = pod.get("status") or {}
    held = [(each.get("state") or {}).get("waiting") or {} for each in _containers(status)]
    return status.get("phase") == "Pending" and any(each.get("reason") in _ON_ITS_WAY for each in held)


def format_name_ranges(names: Iterable[str]) -> str:
    """Names that end in a number, in ranges: train-worker-0..510, train-launcher."""
    runs: list[tuple[str, int | None, int | None]] = []
    for name in sorted(names, key=_natural):
        stem, number = _natural(name)
        if number < 0:
            runs.append((name, None, None))
        elif runs and runs[-1][0] == stem and runs[-1][2] == number - 1:
            runs[-1] = (stem, runs[-1][1], number)
        else:
            runs.append((stem, number, number))
    return ", ".join(stem if a is None else f"{stem}{a}" + (f"..{b}" if b != a else "") for stem, a, b in runs)


def _crashing(status: Mapping[str, Any]) -> str | None:
    for container in _containers(status):
        held = (container.get("state") or {}).get("waiting") or {}
        if held.get("reason") == "CrashLoopBackOff":
            return _short(f"CrashLoopBackOff: {held.get('message') or ''}")
    return None


def _containers(status: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]


def _natural(name: str) -> tuple[str, int]:
    found = re.fullmatch(r"(.*?-)(\d{1,9})", name)
    return (found[1], int(found[2])) if found else (name, -1)


def _short(text: str) -> str:
    words = one_line(" ".join(text.split())).rstrip(": ")
    return words if len(words) <= _WORDS else words[: _WORDS - 3] + "..."
