"""Bills of materials: what real generators write, and which licences count.

reports/cyclonedx-py.json: by cyclonedx-py 7.5.0 of an environment with PyYAML and certifi, without descriptions, links
and dependencies. reports/syft.json: by syft 1.42.3 of the layout of a small image, through `checks.sbom.command`,
without properties and dependencies.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gpufleet.errors import UserError
from gpufleet.images.mirror.sbom import licences, write_sbom

REPORTS = Path(__file__).with_name("reports")


def bill(folder: Path, *licence: dict[str, Any], **more: Any) -> Path:
    component = {"name": "pkg", "version": "1", **({"licenses": list(licence)} if licence else {}), **more}
    file = folder / "bill.json"
    file.write_text(json.dumps({"bomFormat": "CycloneDX", "components": [component]}))
    return file


def test_what_a_generator_of_python_packages_writes() -> None:
    assert list(licences(REPORTS / "cyclonedx-py.json")) == [
        ("PyYAML 6.0.2", "MIT"),
        ("certifi 2025.8.3", "MPL-2.0"),
        ("certifi 2025.8.3", "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)"),
        ("pip 23.2.1", "MIT"),
    ]


def test_what_a_generator_of_whole_images_writes() -> None:
    """Files and the system are listed too, and are no packages of which a licence would be missing."""
    assert list(licences(REPORTS / "syft.json")) == [
        ("busybox 1:1.35", "GPL-2.0-only"),
        ("ghost 1.2", "AGPL-3.0-only"),
        ("plain 2.0", "NOASSERTION"),
    ]


@pytest.mark.parametrize(
    ("stated", "found"),
    [
        ({"license": {"id": "MIT"}}, ["MIT"]),
        ({"expression": "MIT OR (AGPL-3.0-only AND BSD-3-Clause)"}, ["MIT", "AGPL-3.0-only", "BSD-3-Clause"]),
        ({"expression": "GPL-2.0-only WITH Classpath-exception-2.0"}, ["GPL-2.0-only", "Classpath-exception-2.0"]),
        ({"license": {"name": "GPL-2+ AND LGPL-3"}}, ["GPL-2+", "LGPL-3"]),
        (
            {"license": {"name": "GNU Affero General Public License v3 (AGPL)"}},
            ["GNU Affero General Public License v3 (AGPL)"],
        ),
        ({"license": {"name": "LicenseRef-NVIDIA"}}, ["LicenseRef-NVIDIA"]),
        ({"license": {}}, ["NOASSERTION"]),
    ],
    ids=str,
)
def test_licences(stated: dict[str, Any], found: list[str], tmp_path: Path) -> None:
    assert [name for _, name in licences(bill(tmp_path, stated))] == found


def test_nobody_stated_one_and_parts_count(tmp_path: Path) -> None:
    part = {"name": "part", "version": "2", "licenses": [{"license": {"id": "AGPL-3.0-only"}}]}
    assert list(licences(bill(tmp_path, components=[part]))) == [
        ("pkg 1", "NOASSERTION"),
        ("part 2", "AGPL-3.0-only"),
    ]


def writes(text: str) -> list[str]:
    return [sys.executable, "-c", f"import pathlib, sys; pathlib.Path(sys.argv[1]).write_text({text!r})"]


def test_made_by_the_lists_command(tmp_path: Path) -> None:
    file = tmp_path / "sbom" / "x.json"
    digest = write_sbom([*writes('{"bomFormat": "CycloneDX"}'), str(file)], file, tmp_path)
    assert len(digest) == 64
    assert list(licences(file)) == []


WRONG = {
    "nothing written": (
        [sys.executable, "-c", "import sys; sys.exit('no   disk')"],
        "wrote no x.json (exit code 1): no disk",
    ),
    "no JSON": (writes("<bom/>"), "line 1: is not JSON: "),
    "SPDX": (writes('{"spdxVersion": "SPDX-2.3"}'), "is not CycloneDX JSON; let the command write CycloneDX JSON"),
    "no such program": (["/nonexistent/syft"], "/nonexistent/syft: cannot be started: No such file or directory"),
}


@pytest.mark.parametrize("case", WRONG)
def test_not_made(case: str, tmp_path: Path) -> None:
    command, words = WRONG[case]
    file = tmp_path / "sbom" / "x.json"
    with pytest.raises(UserError) as error:
        write_sbom([*command, str(file)], file, tmp_path)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
