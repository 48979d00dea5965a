"""Outputs of stacks, kubeconfigs, manifests, logins and users."""

import base64
import json
from pathlib import Path
from typing import Any

from tests.fuzz.broken_input import as_yaml
from tests.fuzz.reader import ROOT, Reader, run_command, try_all

KUBECONFIG = {
    "apiVersion": "v1",
    "clusters": [{"name": "lab", "cluster": {"server": "https://10.0.0.2:6443", "insecure-skip-tls-verify": True}}],
    "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "admin", "namespace": "vision"}}],
    "current-context": "lab",
    "users": [
        {
            "name": "admin",
            "user": {"token": "t", "client-certificate-data": "Y2E=", "client-key-data": "Y2E=", "tokenFile": "t"},
        }
    ],
}


def _outputs() -> list[Any]:
    pool = {"types": ["p5.48xlarge"], "zones": ["use1-az1"], "network": "efa", "max": 2, "label": "p5", "gpus": 8}
    taints = [{"key": "a", "value": "b", "effect": "NO_SCHEDULE"}]
    team = {
        "namespace": "vision",
        "pools": {"p5": {**pool, "taints": taints}, "lab": {"gpu": "V100", "gpus": 4, "place": "onprem"}},
        "users": {"ana": {"uid": 1501, "gid": 100}},
        "gid": 2000,
        "usd_per_gpu_hour": {"lab": 0.4},
        "budgets": {"users": {"ana": {"usd_per_month": 100, "at_end": "warn"}}, "ledger": "/srv/l"},
    }
    batch = {"on": "batch", "region": "eu-west-1", "queue": "q", "definition": "d", "bucket": "b", "prefix": "/runs/"}
    azure = {
        "account_endpoint": "a.westeurope.batch.azure.com", "subscription_id": "s", "resource_group": "g",
        "account_name": "a", "region": "westeurope", "identity_id": "/i",
        "pools": {"gpu": {**pool, "pool_id": "p", "min": 0, "task_nodes": 2, "mounts": ["scripts"]}},
        "storage": {"account_name": "s", "blob_endpoint": "https://s", "file_endpoint": "f", "containers": ["x"]},
    }  # fmt: skip
    slurm = {
        "login": "me@login",
        "ssh": "-p 22",
        "directory": "/srv",
        "pools": {"train": {"gpus": 4, "options": ["--a=b"]}},
    }
    hosts = {"login": "me@head", "directory": "/srv", "hosts": [{"name": "a", "slots": 4}, "b"], "interface": "eth0"}
    own = {
        "cluster_name": "c", "region": "r", "kind": "ssm", "nfs": "h:/d", "kubernetes_version": "1.33", "driver": "580",
        "nodeadm": {"version": "1", "sha256": "0"}, "credentials": {"a": "b"},
        "nodes": {"n1": {"pool": "lab", "labels": {"a": "b"}, "taints": taints}},
    }  # fmt: skip
    names = {"registry_urls": {"train": "r.example/train"}, "kubeconfig": json.dumps(KUBECONFIG), "own_servers": own}
    return [
        {"jobs": team, **names},
        {"jobs": {"teams": {"vision": team, "audio": {"namespace": "audio"}}, "pools": {"p5": pool}}, **names},
        {
            "jobs": {
                **batch,
                "multinode": {"definition": "d", "queue": "q", "nodes": 4, "gpus": 8},
                "pools": {"p5": pool},
            }
        },
        {"jobs": {"on": "azure-batch", "azure_batch": azure}},
        {"jobs": {"on": "slurm", "slurm": slurm, "usd_per_gpu_hour": {"train": 1}}},
        {"jobs": {"on": "hosts", "hosts": hosts}},
    ]


def _read_outputs(file: Path) -> object:
    from gpufleet.cli.stack_options import any_team, outputs_of
    from gpufleet.cli.usage import _rates
    from gpufleet.jobs.settings import read_settings
    from gpufleet.onprem.servers import onprem_servers_of
    from gpufleet.usage.budgets import budgets_for
    from gpufleet.usage.rows import prices

    told = outputs_of("lab", file.parent, file)
    onprem_servers_of(told, "lab")
    settings = read_settings(told, "lab", None, any_team(told))
    for pool in settings.pools.values():
        pool.gpu, pool.gpus, pool.network_gbps, pool.efa, pool.gpu_models  # noqa: B018
    prices(_rates("lab", told.get("jobs") or {}, settings, []))
    budgets_for(settings.budgets, "ana", "lab")
    return settings.on


def _kubeconfig(file: Path) -> object:
    from gpufleet.fleet.kubeconfig import host_of, select_contexts
    from gpufleet.jobs.kubernetes.connection import connect
    from gpufleet.kubernetes.kubeconfig_portability import kubeconfig_faults

    text = file.read_bytes().decode("utf-8", "replace")
    return try_all(
        lambda: kubeconfig_faults(text),
        lambda: [(host_of(each), connect(each, "lab")) for each in select_contexts("all").values()],
        lambda: connect(text, "lab"),
    )


def _aks(file: Path) -> object:
    from gpufleet.azure.kubeconfig import kubeconfig

    return kubeconfig(base64.b64encode(file.read_bytes()).decode())


def _manifest(file: Path) -> object:
    from gpufleet.kubernetes.remote_manifest import parse_manifest

    return parse_manifest(file.read_bytes(), str(file))


def _manifest_samples() -> list[bytes]:
    return [b"\n---\n".join((ROOT / "tests/components/operator.yaml").read_bytes().split(b"\n---\n")[:3])]


_PASSWD = b"root:x:0:0::/root:/bin/sh\nana:x:1501:1501:Ana:/home/ana:/bin/bash\nben:x:1502:1502::/home/ben:/bin/sh\n"


_LDIF = (
    b"# search result\ndn: uid=ana,dc=x\nuid: ana\nuidNumber: 1501\ngidNumber: 1501\n\n"
    b"dn:: dWlkPWJlbg==\nuid:: YmVu\nuidNumber: 1502\ngidNumber: 1501\ncn: Ben\n  B.\n\ndn: x\nsAMAccountName: PC$\n"
)


def _users(file: Path) -> object:
    return run_command("users", "read", str(file))


def _docker_config(file: Path) -> object:
    from gpufleet.kubernetes.pull_secret import merged
    from gpufleet.rules.kubernetes.team import validate_team

    text = file.read_bytes().decode("utf-8", "replace")
    findings = validate_team({"name": "vision", "docker_config": text, "ngc_key": "nvapi-" + "a" * 64})
    return None if any(each.rejects for each in findings) else merged(text, "key")


def _health(file: Path) -> object:
    from gpufleet.fleet.bad_nodes import bad_nodes
    from gpufleet.node_health.decisions import record_of
    from gpufleet.node_health.gpu_faults import gpu_faults

    text = file.read_bytes().decode("utf-8", "replace")
    node = {"metadata": {"name": "n", "annotations": {"gpufleet.dev/unhealthy": text}}}
    return try_all(lambda: gpu_faults(text), lambda: record_of(node), lambda: list(bad_nodes([node])))


def _health_samples() -> list[bytes]:
    metrics = (ROOT / "tests/unit/node_health/metrics/rtx3090.txt").read_bytes()
    return [metrics, metrics.replace(b"} 0", b"} 79"), b'{"since": "2026-11-28", "faults": ["xid-79-gpu-0"]}']


READERS = {
    "outputs": Reader(
        _read_outputs,
        ["cli/stack_options.py", "cli/usage.py", "jobs/stack_output.py", "jobs/settings.py", "onprem/servers.py"],
        _outputs,
    ),
    "outputs by hand": Reader(_read_outputs, ["cli/stack_options.py"], _outputs, form=as_yaml, name="lab.yaml"),
    "kubeconfig": Reader(
        _kubeconfig,
        ["fleet/kubeconfig.py", "jobs/kubernetes/connection.py", "kubernetes/kubeconfig_portability.py"],
        lambda: [KUBECONFIG],
        form=as_yaml,
        variables=lambda file: {"KUBECONFIG": str(file)},
    ),
    "kubeconfig of AKS": Reader(
        _aks,
        ["azure/kubeconfig.py", "jobs/kubernetes/kubeconfig.py"],
        lambda: [
            {"clusters": [{"name": "a", "cluster": {"server": "https://a", "certificate-authority-data": "Y2E="}}]}
        ],
        form=as_yaml,
    ),
    "manifest": Reader(_manifest, ["kubernetes/remote_manifest.py"], texts=_manifest_samples),
    "node health": Reader(
        _health, ["node_health/gpu_faults.py", "node_health/decisions.py", "fleet/bad_nodes.py"], texts=_health_samples
    ),
    "users": Reader(_users, ["users/directory_import.py", "cli/users.py"], texts=lambda: [_PASSWD, _LDIF]),
    "docker_config": Reader(
        _docker_config,
        ["kubernetes/pull_secret.py", "rules/kubernetes/team.py", "rules/kubernetes/ngc.py"],
        lambda: [{"auths": {"r.example": {"auth": "YTpi"}}, "credHelpers": {"x": "ecr"}}],
    ),
}
