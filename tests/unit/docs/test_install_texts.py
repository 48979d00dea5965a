"""gpufleet is on no package index: no text may tell anybody to install it from one, by its name."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BY_NAME = re.compile(
    r"""pip3?\ install(\ -[\w-]+)*\ ['"]?gpufleet(?!\[[\w,]*\]\ @)   # a command; a direct reference names its source
      | (?<![\w/.=])gpufleet(\[[\w,]+\])?\s*(==|>=|~=)\s*\d          # a requirement
      | ['"`]gpufleet\[[\w,]+\]['"`]                               # what a command or a requirement is made of
    """,
    re.VERBOSE,
)
MADE_HERE = ("tools/package_files.py", "tests/sdks/test_clean_environment.py", "docs/decisions/", "CHANGELOG.md")
"""Where the name and its extras are spoken of: no user is told to install it."""


def texts() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    kinds = (".py", ".md", ".txt", ".yaml", ".yml", ".toml", ".json", ".sh", ".dockerfile")
    return [each for each in listed if each.endswith(kinds) and not each.startswith(MADE_HERE)]


def test_no_text_says_to_install_gpufleet_by_its_name() -> None:
    files = [ROOT / each for each in texts() if (ROOT / each) != Path(__file__) and (ROOT / each).is_file()]
    assert len(files) > 500
    found = [f"{file.relative_to(ROOT)}: {hit[0]}" for file in files for hit in BY_NAME.finditer(file.read_text())]
    assert found == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("pip install gpufleet", True),
        ("pip install -U 'gpufleet[aws]'", True),
        ("gpufleet[aws]==0.1.0", True),
        ("gpufleet>=0.1", True),
        ("`gpufleet[jobs]`", True),
        ("pip install '.[aws]'", False),
        ("pip install '../gpufleet[aws]'", False),
        ('pip install "gpufleet[aws] @ git+https://YOUR-HOST/gpufleet@COMMIT"', False),
    ],
)
def test_what_the_search_knows(text: str, wrong: bool) -> None:
    assert bool(BY_NAME.search(text)) == wrong
