"""What is said of a configuration: every fault at once, one exact line each."""

import json

import pytest

from gpufleet.config.aws import AwsConfig
from gpufleet.config.reader import ConfigError, read_config
from gpufleet.typed_dicts import fields_of

NETWORK = {"zones": ["use1-az1"]}
POOL = {"types": ["g5.8xlarge"], "max": 2, "zones": ["use1-az1"]}
LEGAL = {
    "aws:region": "us-east-1",
    "gpufleet:cloud": "aws",
    "gpufleet:owner": "team",
    "gpufleet:project": "training",
    "gpufleet:network": json.dumps(NETWORK),
    "gpufleet:pools": json.dumps({"trainers": POOL}),
}


def lines(changes: dict[str, str | None]) -> list[str]:
    """What is said of the legal configuration with these changes; None takes a key away."""
    config = {key: value for key, value in (LEGAL | changes).items() if value is not None}
    with pytest.raises(ConfigError) as error:
        read_config(config, "dev")
    return str(error.value).splitlines()


KNOWN = ", ".join(sorted(fields_of(AwsConfig)))
FAULTS = [
    (
        {"gpufleet:ownr": "x", "gpufleet:owner": None},
        "gpufleet:ownr: unknown key; did you mean owner? [config-unknown-key]",
    ),
    ({"gpufleet:zzz": "1"}, f"gpufleet:zzz: unknown key; known: {KNOWN} [config-unknown-key]"),
    (
        {"gpufleet:network": json.dumps(NETWORK | {"natt": "single"})},
        "gpufleet:network.natt: unknown key; did you mean nat? [config-unknown-key]",
    ),
    (
        {"gpufleet:pools": json.dumps({"a": POOL | {"placment": "create"}})},
        "gpufleet:pools.a.placment: unknown key; did you mean placement? [config-unknown-key]",
    ),
    (
        {"gpufleet:pools": json.dumps({"a": POOL | {"taints": [{"key": "k", "effect": "NoSchedule", "valu": "v"}]}})},
        "gpufleet:pools.a.taints.0.valu: unknown key; did you mean value? [config-unknown-key]",
    ),
    (
        {"gpufleet:pools": json.dumps({"any name": POOL | {"taints": [{"key": "k", "efect": "NoSchedule"}]}})},
        "gpufleet:pools.any name.taints.0.efect: unknown key; did you mean effect? [config-unknown-key]",
    ),
    (
        {"gpufleet:pools": json.dumps({"a": POOL | {"taints": [{"key": "k", "effect": "NoSchedule", "qqqq": "v"}]}})},
        "gpufleet:pools.a.taints.0.qqqq: unknown key; known: effect, key, value [config-unknown-key]",
    ),
    ({"gpuflet:owner": "x"}, "gpuflet:owner: unknown namespace; did you mean gpufleet:owner? [config-unknown-key]"),
    ({"other:x": "y"}, "other:x: unknown namespace; known: gpufleet, aws, pulumi [config-unknown-key]"),
    (
        {"gpufleet:region": "us-east-1"},
        "gpufleet:region: the provider has this key; set aws:region [config-region]",
    ),
    (
        {"aws:region": None},
        "aws:region: missing; set it with `pulumi config set --path 'aws:region' VALUE` [config-missing-key]",
    ),
    (
        {"gpufleet:network": "{}"},
        "gpufleet:network.zones: missing; set it with `pulumi config set --path 'gpufleet:network.zones' VALUE` "
        "[config-missing-key]",
    ),
    (
        {"gpufleet:network": '{"zones": null}'},
        "gpufleet:network.zones: missing; set it with `pulumi config set --path 'gpufleet:network.zones' VALUE` "
        "[config-missing-key]",
    ),
    (
        {"gpufleet:cloud": "awz"},
        "gpufleet:cloud='awz': must be 'aws', 'aws-batch', 'azure' or 'onprem' [config-value]",
    ),
    (
        {"gpufleet:software": '["efa-plugin", "efa"]'},
        "gpufleet:software.1='efa': must be 'device-plugin', 'efa-plugin', 'mpi-operator', 'autoscaler', "
        "'dcgm-exporter', 'node-health', 'monitoring' or 'jobset' [config-value]",
    ),
    ({"gpufleet:cluster": "x"}, "gpufleet:cluster='x': must be a mapping; write keys under it [config-value]"),
    ({"gpufleet:pools": "[1]"}, "gpufleet:pools=[1]: must be a mapping; write keys under it [config-value]"),
    ({"gpufleet:pools": '{"a": 1}'}, "gpufleet:pools.a=1: must be a mapping; write keys under it [config-value]"),
    ({"gpufleet:tags": "x"}, "gpufleet:tags='x': must be a mapping; write keys under it [config-value]"),
    ({"gpufleet:tags": '{"cost": 7}'}, "gpufleet:tags.cost=7: must be text; put it in quotes [config-value]"),
    (
        {"gpufleet:pools": json.dumps({"a": POOL | {"taints": ["team"]}})},
        "gpufleet:pools.a.taints.0='team': must be a mapping; write keys under it [config-value]",
    ),
    (
        {"gpufleet:pools": json.dumps({"a": POOL | {"taints": {"key": "k", "effect": "NoSchedule"}}})},
        "gpufleet:pools.a.taints={'key': 'k', 'effect': 'NoSchedule'}: must be a list; write [a, b] [config-value]",
    ),
    ({"gpufleet:owner": ""}, "gpufleet:owner='': must not be empty; give it a value [config-value]"),
    ({"gpufleet:owner": "[1]"}, "gpufleet:owner=[1]: must be text; put it in quotes [config-value]"),
    ({"gpufleet:owner": '{"a": 1}'}, "gpufleet:owner={'a': 1}: must be text; put it in quotes [config-value]"),
    ({"gpufleet:erase": "maybe"}, "gpufleet:erase='maybe': must be true or false [config-value]"),
    ({"gpufleet:files": '{"access_point": 1}'}, "gpufleet:files.access_point=1: must be true or false [config-value]"),
    (
        {"gpufleet:expires_at": "soon"},
        "gpufleet:expires_at='soon': must be a day like 2027-01-31, or a lifetime like 150h [config-value]",
    ),
    (
        {"gpufleet:expires_at": "9999-12-31"},
        "gpufleet:expires_at='9999-12-31': must end within 5 years; write an earlier day, or leave it out for no end "
        "[config-value]",
    ),
    (
        {"gpufleet:expires_at": "9999w"},
        "gpufleet:expires_at='9999w': must end within 5 years; write an earlier day, or leave it out for no end "
        "[config-value]",
    ),
    (
        {"gpufleet:grace": "5"},
        "gpufleet:grace='5': must be a duration; write hours, days or weeks like 150h, 6d or 2w [config-value]",
    ),
    (
        {"gpufleet:network": '{"zones": "use1-az1"}'},
        "gpufleet:network.zones='use1-az1': must be a list, not a single value; write [a, b] [config-value]",
    ),
    (
        {"gpufleet:network": '{"zones": {"use1-az1": true}}'},
        "gpufleet:network.zones={'use1-az1': True}: must be a list; write [a, b] [config-value]",
    ),
    (
        {"gpufleet:network": '{"zones": [1]}'},
        "gpufleet:network.zones.0=1: must be text; put it in quotes [config-value]",
    ),
    (
        {"gpufleet:cluster": '{"version": 1.34}'},
        "gpufleet:cluster.version=1.34: must be text; put it in quotes [config-value]",
    ),
    (
        {"gpufleet:pools": json.dumps({"a": POOL | {"max": "two"}})},
        "gpufleet:pools.a.max='two': must be a whole number [config-value]",
    ),
    (
        {"gpufleet:pools": json.dumps({"a": POOL | {"max": 1.5}})},
        "gpufleet:pools.a.max=1.5: must be a whole number [config-value]",
    ),
    (
        {"gpufleet:pools": json.dumps({"a": POOL | {"max": True}})},
        "gpufleet:pools.a.max=True: must be a whole number [config-value]",
    ),
    (
        {"gpufleet:pools": json.dumps({"a": POOL | {"max": "inf"}})},
        "gpufleet:pools.a.max='inf': must be a whole number [config-value]",
    ),
    (
        {"gpufleet:pools": json.dumps({"a": POOL | {"max": [2]}})},
        "gpufleet:pools.a.max=[2]: must be a whole number [config-value]",
    ),
]

SUPPRESSION = {"rule": "any-capacity-spot-choice", "reason": "one zone has them", "expires": "2999-01-31"}


def suppress(*entries: object) -> dict[str, str]:
    return {"gpufleet:suppress": json.dumps(entries)}


FAULTS += [
    (
        {"gpufleet:suppress": "x"},
        "gpufleet:suppress: must be a list; write [{rule: ..., reason: ..., expires: 2027-01-31}] [config-suppression]",
    ),
    (
        suppress(SUPPRESSION, SUPPRESSION | {"rule": "any-capacity-spot-choise"}),
        "gpufleet:suppress[1].rule=any-capacity-spot-choise: unknown rule; did you mean "
        "any-capacity-spot-choice? [config-suppression]",
    ),
    (
        suppress(SUPPRESSION | {"expires": "2026-01-31"}),
        "gpufleet:suppress[0].expires=2026-01-31: has passed; fix what the rule reports, or give a later "
        "date [config-suppression]",
    ),
    (
        suppress(SUPPRESSION | {"expires": 29990131}),
        "gpufleet:suppress.0.expires=29990131: must be text; put it in quotes [config-value]",
    ),
    (
        {"gpufleet:quotas": json.dumps([{"family": "P", "market": "spots", "limit": 192}])},
        "gpufleet:quotas[0].market=spots: is not a market; did you mean spot? (use on-demand or spot) [config-quota]",
    ),
    (
        {"gpufleet:usage": json.dumps({"nat_gbs": 5})},
        "gpufleet:usage.nat_gbs: unknown key; did you mean nat_gb? [cost-usage]",
    ),
    (
        {"gpufleet:budget": json.dumps({"usd_per_month": "much", "emails": ["ml@example.com"]})},
        "gpufleet:budget.usd_per_month='much': must be a number [config-value]",
    ),
    (
        {"gpufleet:budget": json.dumps({"usd_per_month": True, "emails": ["ml@example.com"]})},
        "gpufleet:budget.usd_per_month=True: must be a number [config-value]",
    ),
    (
        {"gpufleet:budget": json.dumps({"usd_per_month": 100})},
        "gpufleet:budget.emails: missing; set it with `pulumi config set --path 'gpufleet:budget.emails' VALUE` "
        "[config-missing-key]",
    ),
    (
        {"gpufleet:cluster": json.dumps({"zones": "use1-az1"})},
        "gpufleet:cluster.zones='use1-az1': must be a list, not a single value; write [a, b] [config-value]",
    ),
]


@pytest.mark.parametrize(("changes", "line"), FAULTS, ids=[line.split(": ")[0] for _, line in FAULTS])
def test_each_fault_is_one_exact_line(changes, line):
    assert lines(changes) == [f"Pulumi.dev.yaml: {line}"]


def test_all_faults_are_told_at_once():
    told = lines({"gpuflet:x": "y", "gpufleet:region": "r", "gpufleet:erase": "perhaps", "gpufleet:project": None})
    assert [line.rsplit("[", 1)[1] for line in told] == [
        "config-unknown-key]",
        "config-region]",
        "config-missing-key]",
        "config-value]",
    ]


@pytest.mark.parametrize("cloud", ["Azure", "__main__", "aws_batch", "", None])
def test_without_a_known_cloud_nothing_is_said_of_the_other_keys(cloud):
    told = lines(
        {"gpufleet:cloud": cloud, "azure-native:location": "eastus", "gpufleet:batch": "{}", "aws:region": None}
    )
    (line,) = told
    assert line.startswith("Pulumi.dev.yaml: gpufleet:cloud")


def test_a_key_that_is_called_like_the_cloud_hides_no_other_fault():
    assert [line.split("; ")[0] for line in lines({"gpufleet:clouds": "x", "gpufleet:owner": ""})] == [
        "Pulumi.dev.yaml: gpufleet:owner='': must not be empty",
        "Pulumi.dev.yaml: gpufleet:clouds: unknown key",
    ]


def test_a_broken_suppression_is_told_beside_the_other_faults():
    told = lines(suppress(SUPPRESSION | {"reason": "", "rle": "x"}) | {"gpufleet:project": None})
    assert [line.rsplit("[", 1)[1] for line in told] == [
        "config-missing-key]",
        "config-suppression]",
        "config-suppression]",
    ]


def test_a_suppression_that_has_ended_is_a_fault():
    assert "has passed" in lines(suppress(SUPPRESSION | {"expires": "2026-01-31"}))[0]


def test_a_misspelt_key_is_not_also_missing():
    pool = {("typs" if key == "types" else key): value for key, value in POOL.items()}
    told = lines({"gpufleet:pools": json.dumps({"a": pool})})
    assert told == ["Pulumi.dev.yaml: gpufleet:pools.a.typs: unknown key; did you mean types? [config-unknown-key]"]


BY_HOURS = json.dumps({"a": {"schedule": [{"at": "20:00", "max": 0}]}})
STOP = (
    "only pools on EKS have sizes by the hours: let cron run `gpufleet stop dev --yes` and `gpufleet stop dev --undo`"
)
LEAVE = "own servers are not rented by the hour: leave it out"


@pytest.mark.parametrize(
    ("cloud", "section", "hint"),
    [
        ("aws", "own_servers", LEAVE),
        ("aws-batch", None, STOP),
        ("azure", None, STOP),
        ("azure", "batch", STOP),
        ("onprem", None, LEAVE),
    ],
)
def test_sizes_by_the_hours_of_other_pools_have_another_way(cloud: str, section: str | None, hint: str) -> None:
    pools = f'{{"pools": {BY_HOURS}}}' if section else BY_HOURS
    told = lines({"gpufleet:cloud": cloud, f"gpufleet:{section or 'pools'}": pools})
    key = f"{section}.pools" if section else "pools"
    assert f"Pulumi.dev.yaml: gpufleet:{key}.a.schedule: unknown key; {hint} [config-unknown-key]" in told
