"""The lists of words.yaml."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal, cast

import yaml


@cache
def word_list(of: Literal["kinds_without_namespace", "provider_keys", "release_arguments"]) -> frozenset[str]:
    """One list of words.yaml."""
    document = cast("dict[str, list[str]]", yaml.safe_load(Path(__file__).with_name("words.yaml").read_text()))
    return frozenset(document[of])
