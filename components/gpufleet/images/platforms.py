"""The platform that an image is built for: that of the nodes that run it, whatever machine builds it."""

import platform
from collections.abc import Iterable

from gpufleet.errors import UserError
from gpufleet.jobs.pool_info import PoolInfo
from gpufleet.rules.messages import join_words

_OF_ARCHITECTURE = {"x86_64": "linux/amd64", "arm64": "linux/arm64"}
"""The catalog's words to those of images."""
_OF_MACHINE = {"x86_64": "linux/amd64", "amd64": "linux/amd64", "aarch64": "linux/arm64", "arm64": "linux/arm64"}
"""What this machine calls itself (uname -m, Windows, macOS)."""


def platform_for(pools: Iterable[PoolInfo], wanted: str | None, environment: str) -> str | None:
    """The platform to build for; None leaves it to the builder, where the catalog knows none of the pools' types.

    wanted: what the user asked for. Errors: UserError when it is not that of any pool, or pools differ and none is
    given.
    """
    of_pools = {pool.name: sorted({_OF_ARCHITECTURE[record.architecture] for record in pool.records}) for pool in pools}
    known = sorted({each for platforms in of_pools.values() for each in platforms})
    if wanted is None:
        if len(known) > 1:
            each = "; ".join(f"{name}: {join_words(platforms)}" for name, platforms in of_pools.items() if platforms)
            raise UserError(f"{environment}: which platform? use --platform {join_words(known)} ({each})")
        return known[0] if known else None
    if known and wanted not in known:
        raise UserError(
            f"{environment}: platform={wanted}: the nodes of its pools ({join_words(of_pools, 'and')}) are "
            f"{join_words(known, 'and')}, so that no program of the image would start there; use {join_words(known)}"
        )
    return wanted


def advice(chosen: str | None, machine: str | None = None) -> list[str]:
    """What to expect of a build for another platform than this machine's. machine: as uname -m says it."""
    own = _OF_MACHINE.get((machine or platform.machine()).lower())
    if chosen is None or own is None or chosen == own:
        return []
    return [
        f"platform={chosen}: this machine is {own}, so that RUN lines are emulated, slowly, and need QEMU "
        "(Debian: qemu-user-static and binfmt-support); a machine of that platform builds faster"
    ]
