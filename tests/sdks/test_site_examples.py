"""The example of every component on the site, compiled against the generated SDKs. `make sdks` first."""

import shutil
from pathlib import Path

from tests.sdks.test_examples import EXAMPLES, compiled_typescript, modules, pytestmark, said
from tools import sdks
from tools.website.example_programs import arguments, programs

__all__ = ["modules", "pytestmark"]
CLOUDS = ("aws", "azure", "kubernetes")
EVERY = [(cloud, component) for cloud in CLOUDS for component in arguments(cloud)]


def test_typescript_examples_compile(tmp_path: Path, modules: Path) -> None:
    linked = tmp_path / "node_modules"
    (linked / "@gpufleet").mkdir(parents=True)
    for module in modules.iterdir():
        (linked / module.name).symlink_to(module)
    for cloud in CLOUDS:
        sdk = shutil.copytree(sdks.BUILD / f"gpufleet-{cloud}" / "nodejs", tmp_path / cloud)
        compiled_typescript(sdk, modules)
        (linked / "@gpufleet" / cloud).symlink_to(sdk)
    shutil.copy(EXAMPLES / "typescript" / "tsconfig.json", tmp_path)
    files = [tmp_path / f"{cloud}-{component}.ts" for cloud, component in EVERY]
    for file, (cloud, component) in zip(files, EVERY, strict=True):
        file.write_text(programs(cloud, component)["TypeScript"])
    config = (tmp_path / "tsconfig.json").read_text()
    assert '"index.ts"' in config
    (tmp_path / "tsconfig.json").write_text(config.replace('"index.ts"', ", ".join(f'"{each.name}"' for each in files)))
    said(["node", modules / "typescript" / "bin" / "tsc", "--preserveSymlinks", "--noEmit"], tmp_path)


def test_go_examples_compile(tmp_path: Path) -> None:
    for name in ("go.mod", "go.sum"):
        shutil.copy(EXAMPLES / "go" / name, tmp_path)
    for cloud in CLOUDS:
        shutil.copytree(sdks.BUILD / f"gpufleet-{cloud}" / "go", tmp_path / "sdks" / f"gpufleet-{cloud}")
        module = f"gpufleet.dev/sdk/go/gpufleet-{cloud}"
        said(["go", "mod", "edit", f"-require={module}@v0.0.0", f"-replace={module}=./sdks/gpufleet-{cloud}"], tmp_path)
    for cloud, component in EVERY:
        folder = tmp_path / "programs" / f"{cloud}-{component}"
        folder.mkdir(parents=True)
        (folder / "main.go").write_text(programs(cloud, component)["Go"])
    said(["go", "vet", "./programs/..."], tmp_path, GOFLAGS="-mod=mod")
    assert said(["gofmt", "-l", "programs"], tmp_path) == ""
