"""Make the documentation's site in build/site: the guides, and a reference from our components' docstrings.

Faults of the documentation (a dead link, a component or an argument without a text) end it with exit code 1.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tools.website.check_links import dead_links
from tools.website.reference import ROOT, Undocumented
from tools.website.reference_pages import reference_pages
from tools.website.stage_pages import DeadLink, staged

SITE = ROOT / "build" / "site"


class Unfit(Exception):
    """What is wrong with the site, one line each."""


def build(root: Path, site: Path, reference: Callable[[], Mapping[str, str]] = reference_pages) -> int:
    """Make the site of a checkout's documents, and return how many pages it has. Errors: Unfit."""
    stage = site.parent / f"{site.name}-pages"
    shutil.rmtree(stage, ignore_errors=True)
    shutil.rmtree(site, ignore_errors=True)
    try:
        pages = {**staged(root), **{f"reference/{name}.md": text for name, text in reference().items()}}
    except (DeadLink, Undocumented) as fault:
        raise Unfit(str(fault)) from None
    for name, text in pages.items():
        file = stage / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    if (root / "docs" / "pictures").is_dir():
        shutil.copytree(root / "docs" / "pictures", stage / "docs" / "pictures")
    configuration = str(Path(__file__).parent)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-c", configuration]
    done = subprocess.run([*command, str(stage), str(site)], capture_output=True, text=True, check=False)
    faults = [line.replace(f"{stage}/", "") for line in done.stderr.splitlines() if line.strip()]
    if done.returncode:
        raise Unfit("\n".join(faults))
    shutil.copy(site / "README.html", site / "index.html")
    # What only Sphinx reads again.
    shutil.rmtree(site / ".doctrees")
    for left in ("objects.inv", ".buildinfo"):
        (site / left).unlink()
    # GitHub's Jekyll would leave out the folders that begin with an underscore.
    (site / ".nojekyll").touch()
    if dead := dead_links(site):
        raise Unfit("\n".join(dead))
    return len(pages)


if __name__ == "__main__":
    try:
        print(f"{build(ROOT, SITE)} pages: {SITE.relative_to(ROOT)}/index.html")
    except Unfit as fault:
        sys.exit(f"site: {fault}")
