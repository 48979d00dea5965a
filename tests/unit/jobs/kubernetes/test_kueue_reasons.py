"""Kueue's words, shortened. The messages are Kueue 0.19.2's, as tests/cluster/test_queue.py gets them from it."""

import pytest

from gpufleet.jobs.kubernetes.kueue_reasons import kueue_reason_text

BEGIN = "couldn't assign flavors to pod set worker: "


def too_large(flavor: str, most: int, before: int = 0) -> str:
    return (
        f"insufficient quota for nvidia.com/gpu in flavor {flavor}, previously considered podsets requests ({before}) "
        f"+ current podset request (12) > maximum capacity ({most})"
    )


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("", ""),
        ("LocalQueue gpu doesn't exist", "LocalQueue gpu doesn't exist"),
        (
            BEGIN + ", ".join([too_large("gpus-cpu", 0), too_large("gpus-far", 0), too_large("gpus-near", 8)]),
            BEGIN + "it needs 12 nvidia.com/gpu and the quota of flavor gpus-near is 8",
        ),
        (
            BEGIN + ", ".join([too_large("gpus-near", 8, before=4), too_large("gpus-cpu", 0)]),
            BEGIN + "it needs 16 nvidia.com/gpu and the quota of flavor gpus-near is 8",
        ),
        (
            BEGIN + ", ".join([too_large("gpus-cpu", 0), too_large("gpus-near", 0)]),
            BEGIN
            + "it needs 12 nvidia.com/gpu and the quota of flavor gpus-cpu is 0, "
            + "it needs 12 nvidia.com/gpu and the quota of flavor gpus-near is 0",
        ),
        (
            BEGIN + 'Flavor "placed-cpu" does not support TopologyAwareScheduling',
            BEGIN + "no place of the topology has room for all of it",
        ),
        (
            BEGIN
            + too_large("gpus-cpu", 0)
            + ", insufficient unused quota for nvidia.com/gpu in flavor gpus-near, 4 more needed",
            BEGIN + "insufficient unused quota for nvidia.com/gpu in flavor gpus-near, 4 more needed",
        ),
        (
            BEGIN + "untolerated taint {gpufleet.dev/stopped true NoSchedule <nil>} in flavor gpus-near, untolerated "
            "taint {own true NoSchedule <nil>} in flavor gpus-far",
            BEGIN + "flavor gpus-near is stopped (`gpufleet stop ENV --undo`), untolerated "
            "taint {own true NoSchedule <nil>} in flavor gpus-far",
        ),
    ],
)
def test_queue_words(message: str, words: str) -> None:
    assert kueue_reason_text(message) == words
