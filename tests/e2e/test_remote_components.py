"""Every component, constructed by the real engine from its package, with outputs of one as inputs of another."""

import json
import os
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.components import recorder
from tests.components.samples import SAMPLES, components, construct_sample
from tests.e2e.rehearsed_project import GPUFLEET
from tests.e2e.remote_program import (
    LOGIN,
    PACKAGES,
    SECRET,
    VAULT,
    WIRED,
    component,
    is_output,
    python_args,
    remote_program,
    schema,
)

event_loop_of_its_own = recorder.event_loop_of_its_own
"""Around each test here, as around those of components: one records what Python sends."""
ACCOUNT = {
    "aws": [
        {
            "type": "aws:iam/role:Role",
            "id": "platform",
            "name": "platform",
            "inputs": {
                "name": "platform",
                "assumeRolePolicy": '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": '
                '{"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}]}',
            },
        }
    ],
    "azure": [],
    "kubernetes": {"storage_classes": ["gp3", "local-path"]},
}
"""What the samples name and do not make, as rehearsal.dev.yaml says it."""


@pytest.mark.slow
@pytest.mark.parametrize("package", sorted(WIRED))
def test_every_component_is_constructed(tmp_path: Path, package: str) -> None:
    assert sorted(WIRED[package]) == sorted(SAMPLES[package])
    told = [component(package, kind) for kind in WIRED[package]]
    project = remote_program(tmp_path / "theirs", package, told, ACCOUNT[package])
    preview = project.rehearse("--", "pulumi", "preview", "-s", "dev", environment="dev")
    assert preview.returncode == 0, errors(preview.stdout)
    up = project.rehearse(environment="dev")
    assert up.returncode == 0, errors(up.stdout)
    state = project.state("dev")
    ours = [each for each in state if str(each["type"]).startswith(f"gpufleet-{package}:")]
    urns = {each["urn"] for each in ours}
    # Components that a component makes are its own.
    made = {str(each["urn"]).split("::")[-1] for each in ours if each.get("parent") not in urns}
    assert made == {kind.lower() for kind in WIRED[package]}
    # The engine keeps a secret as one wherever it went, among the component's own inputs too.
    assert SECRET not in json.dumps(state)
    opened = json.loads(project.home.engine().output_of("stack", "export", "--stack", "dev", "--show-secrets"))
    sent = {
        str(each["urn"]).split("::")[-1]: without_secrets(each.get("inputs", {}))
        for each in opened["deployment"]["resources"]
        if each["custom"] and not each["type"].startswith("pulumi:")
    }
    if package in CAME_OUT:
        sent = {name: alike(sent.get(name), inputs) for name, inputs in CAME_OUT[package].items()}
    assert sent == (CAME_OUT[package] if package in CAME_OUT else as_python_makes_it(package))


def without_secrets(value: object) -> object:
    """Inputs that the engine was asked to show, with what was secret in its place."""
    if isinstance(value, dict):
        if "plaintext" in value:
            return json.loads(value["plaintext"])
        return {key: without_secrets(inner) for key, inner in value.items()}
    return [without_secrets(inner) for inner in value] if isinstance(value, list) else value


def alike(value: object, wanted: object) -> object:
    """Of a value the part that something is wanted of: keys of mappings, in lists of as many entries too."""
    if isinstance(value, dict) and isinstance(wanted, dict):
        return {key: alike(value.get(key), inner) for key, inner in wanted.items()}
    if isinstance(value, list) and isinstance(wanted, list) and len(value) == len(wanted):
        return [alike(one, other) for one, other in zip(value, wanted, strict=True)]
    return value


def as_python_makes_it(package: str) -> dict[str, object]:
    """Inputs of all children of a package's components by name, as a Python program sends them."""
    found: dict[str, object] = {}
    for kind in WIRED[package]:
        # A package puts mappings in the order of their keys.
        args = plainly(json.loads(json.dumps(python_args(package, kind), sort_keys=True)))
        build = partial(components(package)[kind], kind.lower(), args)
        made = construct_sample(build, preview=False).resources
        found |= {each.name: plainly(each.inputs) for each in made if each.custom}
    return found


def plainly(value: object) -> object:
    """An argument or a recorded value without the marks of secrets."""
    if isinstance(value, recorder.Secret):
        return plainly(value.value)
    if is_output(value):
        return value["$secret"]
    if isinstance(value, dict):
        return {key: plainly(inner) for key, inner in value.items()}
    return [plainly(inner) for inner in value] if isinstance(value, list) else value


CAME_OUT: dict[str, dict[str, object]] = {
    "aws": {
        "cluster-cluster": {
            "enabledClusterLogTypes": ["audit", "authenticator"],
            "remoteNetworkConfig": {"remoteNodeNetworks": {"cidrs": ["10.80.0.0/24"]}},
            "vpcConfig": {"endpointPrivateAccess": False, "publicAccessCidrs": ["8.8.8.0/24"]},
        },
        "cluster-vpc-cni": {"addonVersion": "v1.20.4-eksbuild.1"},
        "cluster-system": {"instanceTypes": ["m7i.large", "m6i.large"]},
        "gpunodegroup-20-00-on-5-europe-berlin": {"maxSize": 0, "recurrence": "0 20 * * 5"},
        "registry-cache-docker-hub": {"credentialArn": LOGIN},
        "registry-tools": {"imageTagMutabilityExclusionFilters": [{"filter": "dev*"}, {"filter": "latest"}]},
        "budget-budget": {
            "notifications": [{"threshold": 50}, {"threshold": 100}, {"threshold": 90}, {"threshold": 110.5}]
        },
    },
    "azure": {
        "sharedfiles": {"networkRuleSet": {"ipRules": [{"iPAddressOrRange": "8.8.8.8"}]}},
        "sitelink-address": {"zones": ["1", "3"]},
        "sitelink-connection": {"sharedKey": f"pre-shared, {SECRET}"},
        "registry-login-quay": {
            "authCredentials": [
                {"usernameSecretIdentifier": f"{VAULT}/{SECRET}", "passwordSecretIdentifier": f"{VAULT}/password"}
            ]
        },
        "budget-budget": {"notifications": {"Forecasted_GreaterThan_110_5_Percent": {"threshold": 110.5}}},
        "batchpool-pool": {
            "deploymentConfiguration": {
                "virtualMachineConfiguration": {
                    "containerConfiguration": {
                        "containerImageNames": ["mcr.microsoft.com/training:1", f"mcr.microsoft.com/{SECRET}:1"]
                    }
                }
            }
        },
    },
}
"""Package -> child -> what of its inputs says that an argument arrived. A package that is not here has neither outputs
as arguments nor names that its cloud makes: all its children are compared with those of a Python program."""

LEFT_OUT = {
    "aws": {
        "Network.privateSubnetIds": "with vpc_id, in place of what the sample makes",
        "Network.publicSubnetIds": "with vpc_id, in place of what the sample makes",
        "SharedFiles.zoneNames": "with one_zone",
        "SiteLink.announcedCidrs": "for direct-connect",
        "DataSync.securityGroupIds": "with to=efs",
    },
    "azure": {
        "Network.subnetIds": "with vnet_id, in place of what the sample makes",
        "Network.outboundAddresses": "of an existing network or a firewall",
        "SharedFiles.clientSubnetIds": "unused with a private endpoint",
        "SharedFiles.dnsZoneIds": "in place of zones that the sample makes",
    },
    "kubernetes": {
        "TrainingPlatform.teams": "in place of team",
        **dict.fromkeys(
            (f"TrainingPlatform.autoscaler.{key}" for key in ("labels", "values")), "as those of an Autoscaler"
        ),
        "TrainingPlatform.dcgmExporter": "as those of a DcgmExporter",
        "TrainingPlatform.devicePlugin": "as those of a DevicePlugin",
        "TrainingPlatform.efaPlugin": "as those of an EfaPlugin",
        "TrainingPlatform.nodeHealth": "as those of a NodeHealth",
        "TrainingPlatform.jobset": "as those of a JobSetController",
        "TrainingPlatform.monitoring": "as those of a Monitoring",
        "TrainingPlatform.remoteWrite": "as that of a Monitoring",
        "TrainingPlatform.queue.overflow": "as that of a Queue",
        "TrainingPlatform.queue.topologyLevels": "as those of a Queue",
        **dict.fromkeys(
            (
                f"TrainingPlatform.notebooks.{key}"
                for key in ("tls", "limits", "oidc", "admins", "serviceAnnotations", "values")
            ),
            "as those of Notebooks",
        ),
    },
}
"""Inputs that hold others and that no argument here sets, and why."""


@pytest.mark.parametrize("package", sorted(WIRED))
def test_every_input_that_holds_others_goes_through_the_engine(package: str) -> None:
    """Mappings, lists and objects, also inside of others. A plain text, number or truth value goes as its like does."""
    whole = schema(package)
    unset: set[str] = set()
    for kind in WIRED[package]:
        told = component(package, kind)
        held = dict(holding(told["args"], whole["resources"][told["token"]]["inputProperties"], whole.get("types", {})))
        unset |= {f"{kind}.{path}" for path, given in held.items() if not given}
    assert unset == set(LEFT_OUT[package])


def holding(value: object, fields: dict[str, Any], types: dict[str, Any], at: str = "") -> Iterator[tuple[str, bool]]:
    """Path and whether it is set, of all fields of an object that hold others; what is in an output is not known."""
    args = value if isinstance(value, dict) else {}
    for key, declared in fields.items():
        if not declared.keys() & {"$ref", "items", "additionalProperties"}:
            continue
        yield at + key, key in args
        inner = declared.get("items") or declared.get("additionalProperties") or declared
        of = types.get(str(inner.get("$ref")).removeprefix("#/types/"))
        given = args.get(key)
        if of is None or given is None or is_output(given):
            continue
        every = given if isinstance(given, list) else list(given.values()) if inner is not declared else [given]
        found = [pair for each in every for pair in holding(each, of["properties"], types, f"{at}{key}.")]
        yield from {path: any(given for other, given in found if other == path) for path, _ in found}.items()


def errors(output: str) -> str:
    """The lines of the engine's diagnostics."""
    return output[output.find("Diagnostics:") :]


REFUSED = {
    "aws": (
        "Network",
        {"cidr": "10.0.0.0/30", "max_zones": 7.5},
        ["network: cidr=10.0.0.0/30: ", "network: maxZones=7.5: "],
    ),
    "azure": ("ResourceGroup", {"tags": {"a<b": ""}}, ["resourcegroup: tags"]),
    "kubernetes": ("Queue", {"quotas": {"vision": {"h200": 1}}}, ["queue: quotas"]),
}
"""Package -> component, what is wrong with it, how the lines on it begin."""


@pytest.mark.parametrize("package", sorted(REFUSED))
def test_refusal_is_a_line(tmp_path: Path, package: str) -> None:
    """The engine may add a traceback of its own (a race when it shuts down): the lines count."""
    kind, changes, lines = REFUSED[package]
    project = remote_program(tmp_path / "theirs", package, [component(package, kind, **changes)])
    preview = project.rehearse("--", "pulumi", "preview", "-s", "dev", environment="dev")
    assert preview.returncode != 0
    for line in lines:
        assert any(said.strip().startswith(line) for said in preview.stdout.splitlines()), errors(preview.stdout)


@pytest.mark.parametrize("package", sorted(WIRED))
def test_engine_gets_the_committed_schema(package: str) -> None:
    folder = PACKAGES / f"gpufleet-{package}"
    engine = GPUFLEET.with_name("pulumi")
    environment = os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true"}
    command = [engine, "package", "get-schema", str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert without_empty(json.loads(done.stdout)) == without_empty(schema(package))


def without_empty(value: object) -> object:
    """The engine leaves out empty lists and mappings, and adds others."""
    if isinstance(value, dict):
        kept = {key: without_empty(inner) for key, inner in value.items()}
        return {key: inner for key, inner in kept.items() if inner not in ({}, [])}
    return value
