"""Names from which azure-native makes names of accounts and registries."""

import re

import pytest

from gpufleet.azure.naming import RANDOM, legal_name


@pytest.mark.parametrize(
    ("name", "longest", "expected"),
    [
        ("files", 24, "files"),
        ("azure-dev-files", 24, "azuredevfiles"),
        ("Azure_Prod.Files", 24, "azureprodfiles"),
        ("a" * 16, 24, "a" * 16),
        ("azure-production-registry", 50, "azureproductionregistry"),
    ],
)
def test_letters_and_digits_are_kept(name: str, longest: int, expected: str) -> None:
    assert legal_name(name, longest) == expected


@pytest.mark.parametrize("name", ["azure-production-files", "a" * 17, "ü", "--"])
def test_what_does_not_fit_is_cut_and_still_legal(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]{1,16}", legal_name(name, 24))
    assert len(legal_name(name, 24)) + RANDOM <= 24


def test_long_names_that_begin_alike_stay_two() -> None:
    assert legal_name("azure-production-files-one", 24) != legal_name("azure-production-files-two", 24)
