"""One control plane for all tests of this folder; it ends with the test run."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.kubernetes.control_plane import OPERATOR_FOR_MANY_WORKERS, ControlPlane
from tools.kubernetes.nodes import Nodes
from tools.kubernetes.processes import Identity


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.cluster)


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    made = ControlPlane(tmp_path_factory.mktemp("control-plane") / "home", print)
    made.start(owner=Identity.of(os.getpid()))
    yield made
    made.stop()


@pytest.fixture(scope="session")
def operator(plane: ControlPlane) -> ControlPlane:
    """The same, with the real MPI operator."""
    plane.install_mpi_operator(OPERATOR_FOR_MANY_WORKERS)
    return plane


@pytest.fixture(scope="session")
def nodes(plane: ControlPlane) -> Nodes:
    return Nodes(plane.client)


@pytest.fixture
def namespace(plane: ControlPlane, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of the test's own."""
    name = f"test-{abs(hash(request.node.nodeid)):x}"[:40]
    plane.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    plane.client.delete(f"/api/v1/namespaces/{name}")
