"""The generated SDKs, and the examples in each language, compiled against them. `make sdks` first."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tools import sdks

pytestmark = pytest.mark.sdks
EXAMPLES = sdks.ROOT / "examples"
EVERY = pytest.mark.parametrize("package", sdks.packages())


def said(command: list[str | Path], folder: Path, **env: str) -> str:
    """What a command prints that must end well."""
    done = subprocess.run(command, cwd=folder, env=os.environ | env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def example(language: str, folder: Path, sdk: str) -> Path:
    """A copy of an example with the SDK where `pulumi package add` puts it."""
    shutil.copytree(EXAMPLES / language, folder, ignore=shutil.ignore_patterns("node_modules", "sdks", "venv"))
    shutil.copytree(sdks.BUILD / "gpufleet-aws" / sdk, folder / "sdks" / "gpufleet-aws")
    return folder


def compiled_typescript(sdk: Path, modules: Path) -> None:
    """Compile an SDK where it lies; what it needs is in `modules`."""
    (sdk / "node_modules").symlink_to(modules)
    said(["node", modules / "typescript" / "bin" / "tsc", "-p", sdk], sdk)
    (sdk / "node_modules").unlink()
    assert (sdk / "bin" / "index.d.ts").exists()


@pytest.fixture(scope="session")
def modules() -> Path:
    """`node_modules` with TypeScript and Pulumi's SDK."""
    return sdks.typescript(print)


@EVERY
def test_typescript_sdk_compiles(tmp_path: Path, modules: Path, package: str) -> None:
    sdk = shutil.copytree(sdks.BUILD / package / "nodejs", tmp_path / package)
    compiled_typescript(sdk, modules)


@EVERY
def test_python_sdk_has_types(tmp_path: Path, package: str) -> None:
    sdk = sdks.BUILD / package / "python"
    said([sys.executable, "-m", "compileall", "-q", sdk], tmp_path)
    assert (sdk / f"pulumi_{package.replace('-', '_')}" / "py.typed").exists()


@EVERY
def test_go_sdk_compiles(tmp_path: Path, package: str) -> None:
    sdk = shutil.copytree(sdks.BUILD / package / "go", tmp_path / package)
    shutil.copy(EXAMPLES / "go" / "go.sum", sdk)
    required = next(line for line in (EXAMPLES / "go" / "go.mod").read_text().splitlines() if "pulumi/sdk/v3 " in line)
    said(["go", "mod", "edit", f"-require={'@'.join(required.split())}"], sdk)
    said(["go", "vet", "./..."], sdk, GOFLAGS="-mod=mod")


def test_typescript_example_compiles(tmp_path: Path, modules: Path) -> None:
    folder = example("typescript", tmp_path / "theirs", "nodejs")
    compiled_typescript(folder / "sdks" / "gpufleet-aws", modules)
    (folder / "node_modules" / "@gpufleet").mkdir(parents=True)
    for module in modules.iterdir():
        (folder / "node_modules" / module.name).symlink_to(module)
    (folder / "node_modules" / "@gpufleet" / "aws").symlink_to(folder / "sdks" / "gpufleet-aws")
    tsc = ["node", modules / "typescript" / "bin" / "tsc", "--preserveSymlinks", "--noEmit"]
    said(tsc, folder)
    program = (folder / "index.ts").read_text()
    (folder / "index.ts").write_text(program.replace("max: 2", 'max: "two"'))
    wrong = subprocess.run(tsc, cwd=folder, capture_output=True, text=True, check=False)
    assert "Type 'string' is not assignable to type 'number'" in wrong.stdout


def test_go_example_compiles(tmp_path: Path) -> None:
    folder = example("go", tmp_path / "theirs", "go")
    said(["go", "build", "-o", tmp_path / "program", "."], folder, GOFLAGS="-mod=readonly")
    assert said(["gofmt", "-l", "main.go"], folder) == ""
    program = (folder / "main.go").read_text()
    (folder / "main.go").write_text(program.replace("SubnetIds: subnetIds", "SubnetIds: tags", 1))
    wrong = subprocess.run(["go", "build", "."], cwd=folder, capture_output=True, text=True, check=False)
    assert "cannot use tags" in wrong.stderr


def test_python_example_has_the_types_of_the_sdk(tmp_path: Path) -> None:
    folder = example("python", tmp_path / "theirs", "python")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent", "__main__.py"]
    path = str(folder / "sdks" / "gpufleet-aws")
    said(mypy, folder, MYPYPATH=path)
    program = (folder / "__main__.py").read_text()
    (folder / "__main__.py").write_text(program.replace("max=2", 'max="two"'))
    wrong = subprocess.run(
        mypy, cwd=folder, env=os.environ | {"MYPYPATH": path}, capture_output=True, text=True, check=False
    )
    assert "arg-type" in wrong.stdout + wrong.stderr or "call-overload" in wrong.stdout


@pytest.mark.parametrize("language", ["go", "python", "typescript", "yaml"])
def test_example_names_the_package(language: str) -> None:
    project = yaml.safe_load((EXAMPLES / language / "Pulumi.yaml").read_text())
    folder = (EXAMPLES / language / project["packages"]["gpufleet-aws"]).resolve()
    assert folder == sdks.PACKAGES / "gpufleet-aws"
