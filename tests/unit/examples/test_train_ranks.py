"""examples/train/ranks.py: a rank's place and meeting point. The rest of the example needs PyTorch: tests/openmpi."""

import importlib.util
import socket
import sys
import types
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "train"


@pytest.fixture(scope="module")
def ranks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("train_example_ranks", EXAMPLE / "ranks.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def told(rank: str = "3", size: str = "4", local_rank: str = "1", local_size: str = "2") -> dict[str, str]:
    name = "OMPI_COMM_WORLD_"
    return {
        f"{name}RANK": rank,
        f"{name}SIZE": size,
        f"{name}LOCAL_RANK": local_rank,
        f"{name}LOCAL_SIZE": local_size,
    }


def test_place_that_mpirun_tells(ranks):
    place = ranks.place_in_job({"PATH": "/bin", **told()})
    assert (place.rank, place.size, place.local_rank, place.local_size) == (3, 4, 1, 2)
    assert place.several_hosts
    assert not ranks.place_in_job(told(size="2", rank="1")).several_hosts


def test_place_that_torchrun_tells(ranks):
    names = {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}
    place = ranks.place_in_job({**names, "TORCHELASTIC_RUN_ID": "none"})
    assert (place.rank, place.size, place.local_rank, place.local_size) == (3, 4, 1, 2)
    assert ranks.place_in_job(names) == ranks.ALONE, "of a shell, or of srun"
    with pytest.raises(ranks.TrainingError, match="WORLD_SIZE is missing; start train"):
        ranks.place_in_job({"RANK": "0", "TORCHELASTIC_RUN_ID": "none"})


def test_without_mpirun_the_rank_is_alone(ranks):
    assert ranks.place_in_job({"PATH": "/bin"}) == ranks.ALONE


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        (
            {"OMPI_COMM_WORLD_RANK": "0"},
            "OMPI_COMM_WORLD_SIZE is missing; start train.py with OpenMPI's mpirun, torchrun, or alone",
        ),
        (
            told(local_rank="x"),
            "OMPI_COMM_WORLD_LOCAL_RANK=x: must be a whole number; "
            "start train.py with OpenMPI's mpirun, torchrun, or alone",
        ),
        (
            told(size="-1"),
            "OMPI_COMM_WORLD_SIZE=-1: must be a whole number; start train.py with OpenMPI's mpirun, torchrun, or alone",
        ),
    ],
)
def test_place_half_told(ranks, environment, message):
    with pytest.raises(ranks.TrainingError) as refused:
        ranks.place_in_job(environment)
    assert str(refused.value) == message


def test_meeting_point_of_the_job(ranks):
    place = ranks.place_in_job(told())
    host = "digits-worker-0.digits.research.svc"
    assert ranks.meeting_point({"MASTER_ADDR": host, "MASTER_PORT": "23456"}, place) == (host, 23456)
    assert ranks.meeting_point({"MASTER_ADDR": host}, place) == (host, 29500)


@pytest.mark.parametrize("port", ["0", "65536", "http", ""])
def test_meeting_point_with_a_port_that_is_none(ranks, port):
    with pytest.raises(ranks.TrainingError) as refused:
        ranks.meeting_point({"MASTER_ADDR": "a", "MASTER_PORT": port}, ranks.ALONE)
    assert str(refused.value) == f"MASTER_PORT={port}: must be a port from 1 to 65535"


def test_nothing_to_meet_by(ranks, monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(ranks.TrainingError, match="MASTER_ADDR is not set and mpi4py does not load"):
        ranks.meeting_point({}, ranks.place_in_job(told()))


def test_rank_0_whose_host_name_has_no_address_lets_nobody_wait(ranks, monkeypatch):
    def no_address(name):
        raise socket.gaierror("Name or service not known")

    sent = []
    world = types.SimpleNamespace(bcast=lambda offer, root: sent.append(offer) or offer)
    mpi = types.SimpleNamespace(COMM_WORLD=world, Finalize=lambda: None)
    monkeypatch.setitem(sys.modules, "mpi4py", types.SimpleNamespace(MPI=mpi))
    monkeypatch.setattr(ranks.socket, "gethostbyname", no_address)
    with pytest.raises(ranks.TrainingError) as refused:
        ranks.meeting_point({}, ranks.place_in_job(told("0", local_rank="0")))
    assert str(refused.value) == "rank 0's host name has no address; set MASTER_ADDR, or add the name to /etc/hosts"
    assert [address for address, _ in sent] == [""]
