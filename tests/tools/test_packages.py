"""Which plugins the language host asks the engine for."""

import json
from pathlib import Path

import pytest

from tools.pulumi.language_host.packages import program_dependencies, required_packages, site_directories


@pytest.fixture
def sites(tmp_path: Path) -> list[Path]:
    """Installed SDKs: two with a plugin, one without."""
    manifests = {
        "pulumi_aws": {"resource": True, "name": "aws", "version": "7.51.1"},
        "pulumi_azure_native": {"resource": True, "version": "v3.1.0", "server": "where.example"},
        "pulumi_policy": {"resource": False},
    }
    for module, manifest in manifests.items():
        (tmp_path / "site" / module).mkdir(parents=True)
        (tmp_path / "site" / module / "pulumi-plugin.json").write_text(json.dumps(manifest))
    return [tmp_path / "empty", tmp_path / "site"]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("from pulumi_aws import ec2\n", ["aws"]),
        ("import pulumi_aws.ec2 as ec2\n    import pulumi_azure_native\n", ["aws", "azure-native"]),
        ("import pulumi\nimport pulumi_policy\n", []),
        ("# from pulumi_aws import ec2\nname = 'import pulumi_aws'\n", []),
        ("import pulumi_unheard_of\n", []),
    ],
    ids=["from", "module-and-indented", "no-plugin", "not-an-import", "not-installed"],
)
def test_required_packages_are_those_that_the_program_imports(
    tmp_path: Path, sites: list[Path], source: str, names: list[str]
) -> None:
    program = tmp_path / "program"
    (program / "inner").mkdir(parents=True)
    (program / "inner" / "pool.py").write_text(source)
    assert [package["name"] for package in required_packages(program, sites)] == names


def test_required_packages_carry_version_and_server(tmp_path: Path, sites: list[Path]) -> None:
    (tmp_path / "__main__.py").write_text("import pulumi_azure_native\n")
    expected = {"name": "azure-native", "kind": "resource", "version": "3.1.0", "server": "where.example"}
    assert required_packages(tmp_path, sites) == [expected]


def test_required_packages_do_not_look_into_virtual_environments(tmp_path: Path, sites: list[Path]) -> None:
    for folder in (".hidden", "environment"):
        (tmp_path / folder / "lib").mkdir(parents=True)
        (tmp_path / folder / "lib" / "sdk.py").write_text("import pulumi_aws\n")
    (tmp_path / "environment" / "pyvenv.cfg").touch()
    assert required_packages(tmp_path, sites) == []


def test_program_dependencies_name_the_installed_sdk(tmp_path: Path) -> None:
    import sys

    assert "pulumi" in dict(program_dependencies(site_directories(sys.executable)))
