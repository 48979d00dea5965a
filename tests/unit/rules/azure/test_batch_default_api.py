"""The API version that azure-native's classes of Batch speak is the one that the rule warns of (decision 13)."""

import importlib.metadata
import re
from pathlib import Path

import pytest

from gpufleet.rules.azure.batch_service import DEFAULT_API


@pytest.mark.parametrize("name", ["pool", "batch_account"])
def test_the_rule_knows_the_version_of_the_installed_sdk(name: str) -> None:
    """Read as text: importing the SDK takes a second. When this fails, read docs/decisions/0013 again."""
    files = importlib.metadata.files("pulumi-azure-native") or []
    (path,) = [Path(str(each.locate())) for each in files if str(each) == f"pulumi_azure_native/batch/{name}.py"]
    versions = set(re.findall(r"Uses Azure REST API version (\d{4}-\d{2}-\d{2})\.", path.read_text(encoding="utf-8")))
    assert versions == {DEFAULT_API}
