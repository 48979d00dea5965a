"""A Pulumi program that registers the objects of a JSON file, on the real engine and the stand-in provider."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpufleet_rehearsal.workspace import Workspace, write_settings

SOURCE = """
import json, pulumi

class Provider(pulumi.ProviderResource):
    def __init__(self, name, props):
        super().__init__("kubernetes", name, props)

said = json.loads(open("objects.json").read())
provider = Provider("cluster", said["provider"])
made = {}
for name, row in said["objects"].items():
    document, options = dict(row["document"]), dict(row.get("options", {}))
    group, _, version = document.get("apiVersion", "v1").rpartition("/")
    kind = row.get("type") or f"kubernetes:{group or 'core'}/{version}:{document['kind']}"
    after = [made[other] for other in options.pop("depends_on", [])]
    for secret in row.get("secrets", []):
        document[secret] = pulumi.Output.secret(document[secret])
    for key, (other, output) in row.get("from", {}).items():
        document[key] = {"value": made[other].outputs(output)}
    opts = pulumi.ResourceOptions(provider=provider, depends_on=after, **options)

    class Made(pulumi.CustomResource):
        def outputs(self, name):
            return self.metadata.apply(lambda metadata: metadata[name])

    made[name] = Made(kind, name, {"metadata": None, "status": None, **document}, opts)
"""


@dataclass
class Said:
    """How a command of the engine ended: code, and all that it said."""

    code: int
    text: str

    def line(self, part: str) -> str:
        """The only error or warning with these words; the tests' way to say that it is one line."""
        lines = [line.strip() for line in self.text.splitlines()]
        found = {line for line in lines if part in line and line.startswith(("error:", "warning:", "* "))}
        assert len(found) == 1, f"{part!r} in {len(found)} lines of:\n{self.text}"
        return found.pop()

    @property
    def unchanged(self) -> bool:
        return self.code == 0 and not any(
            f"to {verb}" in self.text for verb in ("create", "update", "replace", "delete")
        )


class Program:
    """A project in a folder of its own, with the environment `dev`."""

    def __init__(self, folder: Path, kubeconfig: str | None) -> None:
        folder.mkdir()
        (folder / "Pulumi.yaml").write_text("name: kube\nruntime: python\n")
        (folder / "__main__.py").write_text(SOURCE)
        (folder / "Pulumi.dev.yaml").write_text("config:\n  aws:region: us-east-1\n")
        self.folder = folder
        self.objects: dict[str, dict[str, Any]] = {}
        self.provider: dict[str, Any] = {"kubeconfig": kubeconfig} if kubeconfig else {}
        self.home = Workspace.of(folder)
        self.home.prepare()
        write_settings(self.home, {"latency_scale": 0})
        self.home.open_stack("dev")

    def add(self, name: str, document: dict[str, Any], **row: Any) -> None:
        """Register an object. depends_on and other options: as `options=...`."""
        self.objects[name] = {"document": document, **row}

    def document(self, name: str) -> dict[str, Any]:
        return self.objects[name]["document"]

    def run(self, *arguments: str, env: dict[str, str] | None = None) -> Said:
        done = self.begin(*arguments, env=env)
        text, _ = done.communicate(timeout=300)
        return Said(done.returncode, text)

    def begin(self, *arguments: str, env: dict[str, str] | None = None) -> "subprocess.Popen[str]":
        """Start a command of the engine."""
        (self.folder / "objects.json").write_text(json.dumps({"provider": self.provider, "objects": self.objects}))
        self.home.prepare()
        return subprocess.Popen(
            [self.home.engine().program, *arguments, "--stack", "dev", "--non-interactive"],
            cwd=self.home.mirror,
            env=self.home.environment("dev") | (env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def up(self, *arguments: str, env: dict[str, str] | None = None) -> Said:
        return self.run("up", "--yes", "--skip-preview", *arguments, env=env)

    def preview(self, *arguments: str) -> Said:
        return self.run("preview", "--diff", *arguments)

    def destroy(self, *arguments: str, env: dict[str, str] | None = None) -> Said:
        return self.run("destroy", "--yes", "--skip-preview", *arguments, env=env)

    def state(self) -> dict[str, dict[str, Any]]:
        """By logical name, without provider and stack."""
        found = self.home.engine().state("dev")
        return {r["urn"].split("::")[-1]: r for r in found if r["type"].startswith("kubernetes:")}


def configmap(namespace: str, name: str | None = None, **data: str) -> dict[str, Any]:
    about = {"namespace": namespace} | ({"name": name} if name else {})
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": data}


def deployment(
    namespace: str, name: str, replicas: int = 2, image: str = "registry/web:1", **spec: Any
) -> dict[str, Any]:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": image}], **spec},
            },
        },
    }


def definition(group: str = "example.org", kind: str = "TrainJob") -> dict[str, Any]:
    plural = f"{kind.lower()}s"
    spec = {"type": "object", "properties": {"workers": {"type": "integer", "minimum": 1}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
                }
            ],
        },
    }
