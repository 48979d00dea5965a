"""Whatever is read from outside: the end is a result or our own error, within a bound of time and of memory."""

import ast
import resource
from pathlib import Path
from typing import TypeGuard

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz.reader import ROOT, Reader, is_own
from tests.fuzz.readers import READERS

CASES = 500
MANY_CASES = 10_000
MIB = 400
"""Memory that a reader's cases may add to the process."""


def check(reader: Reader, cases: int, folder: Path) -> None:
    """Read so many broken inputs."""

    @settings(
        max_examples=cases, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(reader.inputs())
    def read(content: bytes) -> None:
        try:
            reader.read(content, folder)
        except Exception as error:
            if not is_own(error):
                raise
            text = str(error)
            assert text.strip(), "an error without a word"
            assert all(line.isprintable() for line in text.split("\n")), repr(text)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    read()
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < MIB


@pytest.mark.parametrize("name", READERS)
def test_samples_are_read(name: str, tmp_path: Path) -> None:
    """What is broken below was right before: otherwise the first fault would hide all others."""
    for content in READERS[name].samples():
        READERS[name].read(content, tmp_path)


@pytest.mark.parametrize("name", READERS)
def test_broken_input(name: str, tmp_path: Path) -> None:
    check(READERS[name], -(-CASES // len(READERS)), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_much_broken_input(name: str, tmp_path: Path) -> None:
    check(READERS[name], -(-MANY_CASES // len(READERS)), tmp_path)


PACKAGE = ROOT / "components" / "gpufleet"
ANSWERS = {
    "aws/inventory.py": "its own table",
    "aws/operator_roles.py": "its own table",
    "fleet/retained_data.py": "its own table",
    "azure/arm_types.py": "its own table",
    "catalog/interconnect.py": "its own table",
    "catalog/network_layers.py": "its own table",
    "catalog/refresh/aws_services.py": "its own table",
    "catalog/refresh/azure_services.py": "its own table",
    "choose/model_fit.py": "its own table",
    "cost/charges.py": "its own table",
    "dashboards/grafana.py": "its own table",
    "dashboards/rules.py": "its own table",
    "fleet/gpu_activity.py": "its own table",
    "images/mirror/error_messages.py": "its own table",
    "jobs/slurm/pending_reasons.py": "its own table",
    "kubernetes/mpi_operator.py": "its own table",
    "kubernetes/team_role.py": "its own table",
    "plan/aws/role_rights.py": "its own table",
    "report/changes.py": "its own table",
    "report/parts.py": "its own table",
    "secret_patterns.py": "its own table",
    "pulumi_package/provider.py": "its own schema",
    "pulumi_package/schema.py": "its own schema",
    "images/mirror/apptainer.py": "a Dockerfile that it has written itself",
    "adoption/releases.py": "what the engine has written",
    "affected/deployment.py": "the engine's answer",
    "cli/adopt.py": "the engine's answer",
    "config/plain_text.py": "what the engine has read before; faults are left to it",
    "fleet/engine_backend.py": "the engine's answer",
    "fleet/state_program.py": "the engine's answer",
    "fleet/state_program_run.py": "what state_program has written",
    "pulumi_cli.py": "the engine's answer",
    "catalog/refresh/azure_management.py": "Azure's answer",
    "catalog/refresh/downloads.py": "a price list's answer",
    "preflight/azure/arm.py": "Azure's answer",
    "images/cuda.py": "the builder's answer",
    "images/mirror/skopeo.py": "skopeo's answer",
    "comments/http.py": "the code host's answer",
    "fleet/clusters.py": "Kubernetes' answer",
    "jobs/kubernetes/api.py": "Kubernetes' answer",
    "jobs/kubernetes/in_cluster.py": "Kubernetes' answer",
    "jobs/kubernetes/pod_exec.py": "Kubernetes' answer",
}
"""Modules that read nothing that a user or a stranger has written, and what they read."""


def test_every_reader_is_tried() -> None:
    """A module that reads a document has a sample here, or a reason why not."""
    reading = {
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if file.parent.name != "documents" and _reads(ast.parse(file.read_text(encoding="utf-8")))
    }
    tried = {module for reader in READERS.values() for module in reader.modules}
    assert not tried & set(ANSWERS)
    assert reading - tried - set(ANSWERS) == set()
    assert set(ANSWERS) - reading == set(), "a reason for a module that reads nothing"
    assert {module for module in tried if not (PACKAGE / module).is_file()} == set()


def _reads(tree: ast.Module) -> bool:
    names = (alias.name for node in ast.walk(tree) if _is_documents(node) for alias in node.names)
    return any(name.startswith(("read_", "parse_", "check_")) for name in names)


def _is_documents(node: ast.AST) -> TypeGuard[ast.ImportFrom]:
    return isinstance(node, ast.ImportFrom) and str(node.module).startswith("gpufleet.documents")
