"""A team's side of `gpufleet images sync`, and what the registries have seen of it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.command_line import GPUFLEET, SECONDS
from tests.cluster.registry_program import RegistryProgram

CACHE = "Cache/_images"
"""A path that cannot be part of an image's name: capital letter, leading _."""
SCANNER = """\
#!/usr/bin/env python3
# Plays a scanner: a file called vulnerable-SEVERITY in any layer is a finding of that figure.
import json, pathlib, sys, tarfile
layout, report = map(pathlib.Path, sys.argv[1:])
[entry] = json.loads((layout / "index.json").read_text())["manifests"]
blob = lambda digest: layout / "blobs" / digest.replace(":", "/")
names = []
for layer in json.loads(blob(entry["digest"]).read_text())["layers"]:
    names += [pathlib.Path(name).name for name in tarfile.open(blob(layer["digest"])).getnames()]
found = [name.partition("-")[2] for name in names if name.startswith("vulnerable-")]
rules = [{"id": f"CVE-{n}", "properties": {"security-severity": each}} for n, each in enumerate(found)]
results = [{"ruleId": each["id"], "message": {"text": "found"}} for each in rules]
runs = [{"tool": {"driver": {"name": "played", "rules": rules}}, "results": results}]
report.write_text(json.dumps({"version": "2.1.0", "runs": runs}))
"""


class Mirror:
    """A team's side: its list in a directory, and the command."""

    def __init__(self, folder: Path, source: str, target: str, environment: dict[str, str]) -> None:
        self.folder, self.environment = folder, environment
        self.list: dict[str, Any] = {
            "to": target,
            "logins": [{"registry": source, "user": "$oauthtoken", "password_env": "NGC_API_KEY"}],
            "images": [{"from": f"{source}/nvidia/base", "tags": ["1"]}],
        }

    @property
    def image(self) -> dict[str, Any]:
        return dict(self.list["images"][0])

    def wrap(self, **words: object) -> None:
        self.list["images"][0]["wrap"] = words

    @property
    def lock(self) -> dict[str, Any]:
        file = self.folder / "images.lock.json"
        return dict(json.loads(file.read_text())["images"]) if file.exists() else {}

    def sync(self, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        (self.folder / "images.yaml").write_text(yaml.safe_dump(self.list))
        command = [GPUFLEET, "images", "sync", "images.yaml", "--cache", CACHE, *words]
        environment = os.environ | self.environment | variables
        return subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment, cwd=self.folder
        )

    def synced(self, *words: str) -> list[dict[str, Any]]:
        done = self.sync("--json", *words)
        assert done.returncode == 0, done.stderr
        return list(json.loads(done.stdout))


def path_of(mirror: Mirror) -> str:
    return str(mirror.list["to"]).partition("/")[2] + "/base"


def requests(registry: RegistryProgram, *words: str) -> int:
    """How many requests a registry has seen so far with all of these words."""
    return sum(
        all(word in line for word in words) for line in registry.log.read_text().splitlines() if "HTTP/1" in line
    )
