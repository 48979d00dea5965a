"""Cases of gpufleet.rules.kubernetes.ngc, and that nothing of a key is ever shown."""

import json

import pytest

from gpufleet.rules.kubernetes.ngc import key_form, key_problem, login_once, validate_ngc

FIX = "copy it from org.ngc.nvidia.com/setup/api-keys: nvapi- and what follows, in one piece [any-ngc-key-form]"
CASES = {
    key_form: [
        ("right", {"seen": ""}, "pass", ""),
        (
            "short",
            {"seen": "it has 12 characters"},
            "fail",
            f"trainers: ngc_key=[secret]: does not look like an API key of NGC, it has 12 characters; {FIX}",
        ),
    ],
    login_once: [
        ("once", {"in_docker_config": False}, "pass", ""),
        (
            "twice",
            {"in_docker_config": True},
            "fail",
            (
                "trainers: ngc_key=[secret]: docker_config has a login for nvcr.io too; leave one of them out "
                "[any-ngc-login-once]"
            ),
        ),
    ],
}
PERSONAL, LEGACY = f"nvapi-{'aB3_-' * 12}wxyz", "bGVnYWN5" * 10 + "ab=="


def test_case(case) -> None:
    case.check()


@pytest.mark.parametrize("key", [PERSONAL, LEGACY, f"nvapi-{'a' * 40}", "a" * 40])
def test_keys(key: str) -> None:
    assert key_problem(key) == ""


@pytest.mark.parametrize(
    ("key", "seen"),
    [
        ("", "it is empty"),
        (" \n", "it is empty"),
        ("$oauthtoken", "it is the user's name"),
        ("'$oauthtoken'", "it is the user's name"),
        (f"{PERSONAL}\n", "it holds a space or a line's end"),
        (f"nvapi-{'a' * 39}", "it has 45 characters"),
        ("a" * 39, "it has 39 characters"),
        (f"{'a' * 60}_b", "it does not begin with nvapi-"),
        (f'"{PERSONAL}"', "it holds other characters than letters, digits, _ and -"),
        (f"{PERSONAL}ü", "it holds other characters than letters, digits, _ and -"),
    ],
)
def test_what_is_seen_of_others(key: str, seen: str) -> None:
    assert key_problem(key) == seen
    assert len(key.strip()) < 3 or key.strip() == "$oauthtoken" or key.strip() not in seen


def login(*hosts: str) -> str:
    return json.dumps({"auths": {host: {"username": "u", "password": "p"} for host in hosts}})


@pytest.mark.parametrize(
    ("args", "rules"),
    [
        ({}, []),
        ({"ngc_key": object()}, []),
        ({"ngc_key": PERSONAL}, []),
        ({"ngc_key": PERSONAL, "docker_config": login("registry.lab:5000")}, []),
        ({"ngc_key": PERSONAL, "docker_config": "no JSON"}, []),
        ({"ngc_key": PERSONAL, "docker_config": login("nvcr.io")}, ["any-ngc-login-once"]),
        (
            {"ngc_key": "wrong", "docker_config": login("https://nvcr.io/v2")},
            ["any-ngc-key-form", "any-ngc-login-once"],
        ),
    ],
)
def test_judge_ngc(args: dict[str, object], rules: list[str]) -> None:
    findings = [each for each in validate_ngc(args) if each.status.value == "fail"]
    assert [each.rule for each in findings] == rules
    assert not [each for each in findings if "wrong" in each.line("team") or PERSONAL in each.line("team")]
