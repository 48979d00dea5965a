"""Which pools of an environment reach its shared files: findings for the stack, and what its jobs are told."""

from collections.abc import Mapping
from typing import Any

from gpufleet.node_labels import CLOUD
from gpufleet.rules.judged import Judged
from gpufleet.rules.kubernetes.reach import judge_reach, unreached_places

Told = Mapping[str, Mapping[str, Any]]
"""Every pool as jobs are told of it, by name."""


def judge(environment: str, pools: Told, files_place: str, *, link: bool) -> list[Judged]:
    """Findings on the whole. files_place: of the shared files. link: whether a line leads there from other places."""
    return [Judged(environment, finding) for finding in judge_reach(_reach(pools, files_place, link))]


def marked(pools: Told, files_place: str, *, link: bool) -> dict[str, dict[str, Any]]:
    """The pools, those from which the shared files are not reached with `reaches_files` false."""
    unreached = unreached_places(_reach(pools, files_place, link))
    return {
        name: {**pool, "reaches_files": False} if _place(pool) in unreached else dict(pool)
        for name, pool in pools.items()
    }


def _reach(pools: Told, files_place: str, link: bool) -> dict[str, Any]:
    return {"places": [_place(pool) for pool in pools.values()], "files_place": files_place, "link": link}


def _place(pool: Mapping[str, Any]) -> str:
    return str(pool.get("place", CLOUD))
