"""The network that an image is built for: the pools', where the Dockerfile has the choice."""

from pathlib import Path

import pytest

from gpufleet.errors import UserError
from gpufleet.images import build, builder
from gpufleet.images.build import plan_build
from gpufleet.jobs.settings import JobSettings, read_settings

CHOICE = "ARG NETWORK=plain\nFROM a.io/b:1 AS plain\nFROM plain AS efa\nFROM $NETWORK\n"


def settings(**networks: str) -> JobSettings:
    pools = {name: {"types": ["g5.8xlarge"], "network": network} for name, network in networks.items()}
    outputs = {"kubeconfig": "k", "registry_urls": {"training": "127.0.0.1:5000/training"}, "jobs": {"pools": pools}}
    return read_settings(outputs, "dev")


def arguments(folder: Path, of: JobSettings, text: str = CHOICE, **given: str) -> dict[str, str]:
    (folder / "Dockerfile").write_text(text)
    return dict(plan_build(of, folder, tag="v1", build_args=given).build.build_args)


@pytest.fixture(autouse=True)
def no_builder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "find_builder", lambda: builder.PROGRAMS[0])


@pytest.mark.parametrize(
    ("networks", "network"),
    [
        ({"small": "plain"}, "plain"),
        ({"small": "plain", "large": "efa"}, "efa"),
        ({"large": "infiniband"}, "infiniband"),
        ({}, "plain"),
    ],
)
def test_image_is_built_for_the_network_of_the_pools(tmp_path: Path, networks: dict[str, str], network: str) -> None:
    assert arguments(tmp_path, settings(**networks)) == {"NETWORK": network}


def test_users_argument_wins(tmp_path: Path) -> None:
    of = settings(large="efa", other="infiniband")
    assert arguments(tmp_path, of, NETWORK="plain", A="1") == {"NETWORK": "plain", "A": "1"}


def test_dockerfile_without_the_choice_gets_no_argument(tmp_path: Path) -> None:
    assert arguments(tmp_path, settings(large="efa", other="infiniband"), "FROM a.io/b:1\n", A="1") == {"A": "1"}


def test_pools_with_both_networks_leave_it_to_the_user(tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        arguments(tmp_path, settings(large="efa", small="plain", other="infiniband"))
    assert str(refused.value) == (
        "dev: which network? use --build-arg NETWORK=efa or NETWORK=infiniband (large: efa; other: infiniband)"
    )
