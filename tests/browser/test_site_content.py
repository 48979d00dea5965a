"""What the documentation's site contains; no browser is needed, but it is the site that the browser's tests open."""

import json
import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path

import pytest

from gpufleet.cli import main
from tools.website.reference import ROOT, components

pytestmark = pytest.mark.cluster


def words(text: str) -> str:
    """Letters and digits of a text, whatever marks stand between them."""
    return "".join(re.findall(r"\w+", text))


def plain(schema: Mapping[str, object], field: str) -> Mapping[str, Mapping[str, object]]:
    found = schema.get(field, {})
    assert isinstance(found, dict)
    return found


def missing_keys(site: Path) -> tuple[int, list[str]]:
    """How many keys of components Pulumi's own reader found (it wrote the schemas), and whose text a page lacks."""
    checked, missing = 0, []
    for cloud in ("aws", "azure", "kubernetes"):
        file = ROOT / "components" / "packages" / f"gpufleet-{cloud}" / "schema.json"
        schema = json.loads(file.read_text())
        inner = {f"#/types/{token}": each for token, each in plain(schema, "types").items()}
        for token, resource in plain(schema, "resources").items():
            name = token.split(":")[-1]
            (page,) = (each for each in components() if (each.cloud, each.name) == (cloud, name))
            shown = site / "reference" / f"{cloud}-{page.module.rpartition('.')[2].replace('_', '-')}.html"
            text = words(unescape(re.sub(r"<[^>]+>", " ", shown.read_text())))
            keys = [*plain(resource, "inputProperties").values(), *plain(resource, "properties").values()]
            used = [ref for ref in inner if ref in json.dumps(resource)]
            keys += [key for ref in used for key in plain(inner[ref], "properties").values()]
            for key in keys:
                described = str(key["description"])
                # A sentence that is the default alone has a column of its own.
                rest = re.sub(r"(?:^|\s)Default(?: is)?:?\s.+?\.(?=\s|$)", " ", described, flags=re.DOTALL)
                checked += 1
                if words(rest) not in text and words(described) not in text:
                    missing.append(f"{name}: {described}")
    return checked, missing


def test_every_key_component_command_and_guide_is_in_the_site(site: Path) -> None:
    checked, missing = missing_keys(site)
    assert missing == []
    assert checked > 500
    shown = {file.relative_to(site).as_posix() for file in site.rglob("*.html")}
    assert {f"reference/command-{name}.html" for name in main.commands} <= shown
    guides = [file.relative_to(ROOT).with_suffix(".html").as_posix() for file in (ROOT / "docs").rglob("*.md")]
    assert {*guides, "index.html", "CHANGELOG.html", "CONTRIBUTING.html"} <= shown
    assert len([each for each in shown if re.match(r"reference/(aws|azure|kubernetes)-", each)]) == len(components())
