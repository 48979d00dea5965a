"""Lists, locks and reports of images, and what they are built from."""

import json
from pathlib import Path
from typing import Any

import yaml

from tests.fuzz.broken_input import as_yaml
from tests.fuzz.reader import ROOT, TODAY, Reader


def _images(file: Path) -> object:
    from gpufleet.images.mirror.checks import validate_image_list
    from gpufleet.images.mirror.image_list import items, read_image_list

    wanted = read_image_list(file)
    return validate_image_list(wanted, TODAY), [*items(wanted)]


def _lock(file: Path) -> object:
    from gpufleet.images.mirror.lock import read_lock, write_lock

    return write_lock(file.with_name("other.json"), read_lock(file))


def _lock_samples() -> list[Any]:
    entry = {
        "source": "a/b:1",
        "digest": "sha256:0",
        "platform": "linux/amd64",
        "inputs": "0",
        "tag": "1",
        "pushed": "sha256:1",
    }
    return [
        {
            "version": 1,
            "images": {"r/x:1": entry, "r/y:1": {**entry, "scans": [{"format": "sarif"}], "sbom": {"a": "b"}}},
        }
    ]


def _sbom(file: Path) -> object:
    from gpufleet.images.mirror.sbom import licences

    return [*licences(file)]


def _sbom_samples() -> list[Any]:
    found = [
        json.loads((ROOT / "tests/unit/images/reports" / f"{name}.json").read_bytes())
        for name in ("syft", "cyclonedx-py")
    ]
    return [{**each, "components": each["components"][:6]} for each in found]


def _scan(file: Path) -> object:
    from gpufleet.images.mirror.scan_report import read_report

    return read_report(file)


_RULE = {"id": "CVE-1", "properties": {"security-severity": "9"}, "defaultConfiguration": {"level": "note"}}
_FOUND = {"ruleId": "CVE-1", "ruleIndex": 0, "level": "error", "suppressions": [{"status": "rejected"}]}
_RUN = {"tool": {"driver": {"name": "s", "rules": [_RULE]}}, "invocations": [{"executionSuccessful": True}]}
_VULNERABILITY = {"id": "CVE-1", "ratings": [{"severity": "low"}], "analysis": {"state": "exploitable"}}
_SCANS = (
    {"version": "2.1.0", "runs": [{**_RUN, "results": [_FOUND]}]},
    {"bomFormat": "CycloneDX", "vulnerabilities": [_VULNERABILITY]},
)


def _layout(file: Path) -> object:
    from gpufleet.images.mirror.oci_layout import OciLayout
    from gpufleet.images.mirror.secrets import secrets_in

    blobs = file.parent / "blobs" / "sha256"
    blobs.mkdir(parents=True, exist_ok=True)
    for name, content in {
        "0": {"layers": [], "config": {"digest": "sha256:1"}},
        "1": {"config": {"Env": ["A=b"]}},
    }.items():
        (blobs / name).write_text(json.dumps(content))
    return secrets_in(OciLayout(file.parent), file.parent / "memory")


def _notebook(file: Path) -> object:
    from gpufleet.images.notebook import read_notebook

    found = read_notebook(file)
    return found.advice({"a": "b"}), found.dockerfile("base")


_NOTEBOOKS = (
    {
        "nbformat": 4, "metadata": {"kernelspec": {"language": "python"}},
        "cells": [{"cell_type": "code", "metadata": {"tags": ["parameters"]}, "source": ["a = 1"]}],
    },
)  # fmt: skip


def _logins(file: Path) -> object:
    from gpufleet.images.registry_auth import user_logins, with_login

    return with_login(user_logins({"REGISTRY_AUTH_FILE": str(file), "HOME": str(file.parent)}), "r.example", "e")


def _dockerfile(file: Path) -> object:
    from gpufleet.images.dockerfile import advice, build_arguments

    return advice(file, {}), build_arguments(file)


READERS = {
    "image list": Reader(
        _images,
        ["images/mirror/image_list.py"],
        lambda: [yaml.safe_load((ROOT / "examples/images/images.yaml").read_text())],
        form=as_yaml,
    ),
    "image lock": Reader(_lock, ["images/mirror/lock.py"], _lock_samples),
    "bill of materials": Reader(_sbom, ["images/mirror/sbom.py"], _sbom_samples),
    "scan report": Reader(_scan, ["images/mirror/scan_report.py"], lambda: _SCANS),
    "OCI layout": Reader(
        _layout,
        ["images/mirror/oci_layout.py", "images/mirror/secrets.py"],
        lambda: [{"schemaVersion": 2, "manifests": [{"digest": "sha256:0", "size": 1}]}],
        name="index.json",
    ),
    "notebook": Reader(_notebook, ["images/notebook.py"], lambda: _NOTEBOOKS),
    "registry logins": Reader(
        _logins,
        ["images/registry_auth.py"],
        lambda: [{"auths": {"r.example": {"auth": "YTpi"}}, "credHelpers": {"x": "ecr"}}],
    ),
    "Dockerfile": Reader(
        _dockerfile,
        ["images/dockerfile.py"],
        texts=lambda: [b"ARG A=1\nFROM nvcr.io/nvidia/pytorch:$A AS b\nRUN a \\\n b\n"],
    ),
}
