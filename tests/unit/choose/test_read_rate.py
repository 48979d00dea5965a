"""What a training reads, and the Lustre that gives it."""

import pytest

from gpufleet.choose.read_rate import Reading, least_lustre


def test_images_a_second_times_bytes() -> None:
    """ResNet-50 on ImageNet: some 110 kB an image."""
    assert Reading(gpus=8, samples_per_second=2500, sample_kb=110).mb_per_second == 2200


@pytest.mark.parametrize(
    ("wanted", "sizes"),
    [
        (0, [1200, 1200, 1200, 1200]),
        (150, [1200, 1200, 1200, 1200]),
        (151, [2400, 1200, 1200, 1200]),
        (300, [2400, 1200, 1200, 1200]),
        (2200, [19200, 9600, 4800, 2400]),
        (2401, [21600, 12000, 7200, 4800]),
    ],
)
def test_smallest_of_each_tier_of_aws(wanted: float, sizes: list[int]) -> None:
    found = least_lustre("aws", wanted)
    assert [each.size for each in found] == sizes
    assert [each.tier.split()[0] for each in found] == ["125", "250", "500", "1000"]
    assert all(each.mb_per_second >= wanted for each in found)


@pytest.mark.parametrize(("wanted", "sizes"), [(0, [48, 16, 8, 4]), (2000, [96, 16, 8, 4]), (2200, [96, 32, 16, 8])])
def test_smallest_of_each_sku_of_azure(wanted: float, sizes: list[int]) -> None:
    found = least_lustre("azure", wanted)
    assert [each.size for each in found] == sizes
    assert all(each.mb_per_second >= wanted for each in found)


def test_own_servers_have_no_lustre_of_a_cloud() -> None:
    assert least_lustre("own", 100) == []
