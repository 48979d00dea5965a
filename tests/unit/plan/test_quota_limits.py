"""Quotas of a configuration: what each fault is called."""

import pytest

from gpufleet.plan.quota_limits import QuotaError, QuotaLimit, families, plain_family, read_quotas

GOOD = {"family": "P", "market": "on-demand", "limit": 192}
WRITE = "write {family: P, market: on-demand, limit: 192}"


def read(*entries):
    return read_quotas(list(entries), "gpufleet:quotas")


def without(key):
    return {name: value for name, value in GOOD.items() if name != key}


FAULTS = {
    "market": (
        GOOD | {"market": "ondemand"},
        ".market=ondemand: is not a market; did you mean on-demand? (use on-demand or spot)",
    ),
    "family": (GOOD | {"family": "PP"}, ".family=PP: unknown quota family; did you mean P?"),
    "azure-family": (
        GOOD | {"family": "standardNCFamilies"},
        ".family=standardNCFamilies: unknown quota family; did you mean standardNCFamily?",
    ),
    "negative": (GOOD | {"limit": -1}, ".limit=-1: is not a number of vCPUs; give a whole number, 0 or more"),
    "negative-use": (GOOD | {"in_use": -1}, ".in_use=-1: is not a number of vCPUs; give a whole number, 0 or more"),
    "fraction": (GOOD | {"limit": 1.5}, ".limit=1.5: is not a number of vCPUs; give a whole number, 0 or more"),
    "infinite": (
        GOOD | {"limit": float("inf")},
        ".limit=inf: is not a number of vCPUs; give a whole number, 0 or more",
    ),
    "boolean": (GOOD | {"limit": True}, ".limit=true: is not a number of vCPUs; give a whole number, 0 or more"),
    "null": (GOOD | {"limit": None}, ".limit=null: is not a number of vCPUs; give a whole number, 0 or more"),
    "limit-missing": (without("limit"), f".limit: is missing; {WRITE}"),
    "family-missing": (without("family"), f".family: is missing; {WRITE}"),
    "market-missing": (without("market"), f".market: is missing; {WRITE}"),
    "unknown-key": (
        GOOD | {"inuse": 1},
        ".inuse: is not a key of a quota; did you mean in_use? (use family, market, limit, in_use or account)",
    ),
    "account": (GOOD | {"account": 4}, ".account=4: must be a string; give the name of an Azure Batch account"),
    "no-mapping": (3, f": must be a mapping; {WRITE}"),
}


@pytest.mark.parametrize(("entry", "fault"), FAULTS.values(), ids=FAULTS.keys())
def test_each_fault_is_one_line(entry, fault):
    with pytest.raises(QuotaError) as error:
        read(GOOD | {"family": "G and VT"}, entry)
    assert str(error.value) == f"gpufleet:quotas[1]{fault} [config-quota]"


def test_one_quota_twice_is_one_line():
    with pytest.raises(QuotaError) as error:
        read(GOOD | {"account": "train", "family": "standardNCFamily"}, GOOD, GOOD | {"limit": 7})
    assert str(error.value) == (
        "gpufleet:quotas[2].family=P, on-demand: is there already, as gpufleet:quotas[1]; keep one of them "
        "[config-quota]"
    )


@pytest.mark.parametrize("entries", [{}, "P", 7])
def test_what_is_no_list_is_one_line(entries):
    with pytest.raises(QuotaError) as error:
        read_quotas(entries, "zones.quotas")
    assert str(error.value) == (
        "zones.quotas: must be a list; write [{family: P, market: on-demand, limit: 192}] [config-quota]"
    )


def test_numbers_of_a_policy_pack_are_floats():
    assert read(GOOD | {"limit": 192.0, "in_use": 0.0}) == (QuotaLimit("P", "on-demand", 192, 0),)


def test_a_family_may_be_written_as_azure_writes_it_elsewhere():
    known = next(family for family in families() if " " in family and family != "G and VT")
    assert read(GOOD | {"family": plain_family(known)})[0].family == known


def test_without_quotas_there_are_none():
    assert read_quotas(None, "x") == ()
