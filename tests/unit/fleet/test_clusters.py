"""What clusters tell of their jobs: exporters' figures, jobs of pods, contexts, and one that does not answer."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gpufleet.cli import main
from gpufleet.errors import UserError
from gpufleet.fleet.clusters import query_clusters
from gpufleet.fleet.gpu_jobs import GpuJob, running_jobs
from gpufleet.fleet.gpu_metrics import GpuUse, gpu_uses
from gpufleet.fleet.idle_history import IdleHistory
from gpufleet.fleet.kubeconfig import host_of, select_contexts
from gpufleet.fleet.pool_jobs import job_words, jobs_on_pools
from gpufleet.jobs.settings import read_settings
from tests.unit.fleet.cluster_api import DCGM, START, Api, exporter, pod

NVML = 'nvidia_smi_utilization_gpu_ratio{uuid="4a"} 0.31\nnvidia_smi_utilization_gpu_ratio{uuid="5b"} 0\nbroken {\n'
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_figures_of_both_exporters_are_percent() -> None:
    assert list(gpu_uses(DCGM)) == [GpuUse(97, "t", "one-worker-0"), GpuUse(0, "t", "two-worker-0"), GpuUse(4, "", "")]
    assert list(gpu_uses(NVML)) == [GpuUse(31, "", ""), GpuUse(0, "", "")]


def test_labels_of_other_versions_and_of_any_text() -> None:
    # Newer ones say `hostname` and the PCI address; --use-old-namespace says pod_name; a text may hold anything.
    text = """DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-8f1f",pci_bus_id="00000000:00:04.0",device="nvidia0",""" \
        """modelName="Tesla T4",hostname="a",container="w",namespace="t",pod="one"} 12
DCGM_FI_DEV_GPU_UTIL{gpu="1",container_name="w",pod_namespace="t",pod_name="two"} 0
DCGM_FI_DEV_GPU_UTIL{gpu="2",err_msg="a \\"quoted\\" } 99, pod=none",namespace="t",pod="three"} 7
"""  # fmt: skip
    assert list(gpu_uses(text)) == [GpuUse(12, "t", "one"), GpuUse(0, "t", "two"), GpuUse(7, "t", "three")]


def test_jobs_are_pods_of_one_label_with_their_busiest_gpu() -> None:
    pods = [
        pod("one-worker-0", "one"), pod("one-worker-1", "one", node="b", gpus=4), pod("one-launcher", "one", gpus=0),
        pod("two-worker-0", "two"), pod("waits", "three", phase="Pending"), pod("alone", node="c"),
    ]  # fmt: skip
    uses = {"a": list(gpu_uses(DCGM)), "b": list(gpu_uses(NVML))}
    found = [(job.name, job.gpus, job.pods, job.percent) for job in running_jobs(pods, uses)]
    # A node without an exporter tells nothing; one that knows no pods tells of its busiest GPU.
    assert found == [("alone", 1, 1, None), ("one", 5, 2, 97), ("two", 1, 1, 0)]
    # Of its second node the utilization is below what a job that waits has.
    assert [job.activity for job in running_jobs(pods, uses)] == [None, "computing", "idle"]


def test_pod_that_nobody_tells_about_leaves_the_job_unknown() -> None:
    pods = [pod("two-worker-0", "two"), pod("two-worker-1", "two", node="dark")]
    (job,) = running_jobs(pods, {"a": list(gpu_uses(DCGM))})
    assert job.percent is None
    assert not job.hung


def looked(file: Path, percents: dict[int, float | None], up: int = -600) -> list[tuple[int, bool]]:
    """Idle minutes and hung at each look: minute -> percent. up: minute in which the job has begun."""
    start = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
    found = []
    for minute, percent in percents.items():
        now, history = start + timedelta(minutes=minute), IdleHistory(file)
        activity = None if percent is None else "idle" if percent == 0 else "computing"
        job = GpuJob("t", "one", 1, 1, start + timedelta(minutes=up), percent, activity)
        (judged,) = history.update("cluster", [job], now)
        history.save(now)
        found.append((int(judged.idle.total_seconds() // 60), judged.hung))
    return found


@pytest.mark.parametrize(
    ("percents", "wanted"),
    [
        ({0: 0}, [(0, False)]),
        ({0: 0, 15: 0, 29: 0}, [(0, False), (15, False), (29, False)]),
        ({0: 0, 15: 0, 30: 0}, [(0, False), (15, False), (30, True)]),
        ({0: 0, 16: 0, 31: 0}, [(0, False), (0, False), (15, False)]),
        ({0: 0, 15: 3, 20: 0, 35: 0}, [(0, False), (0, False), (0, False), (15, False)]),
        ({0: 0, 15: None, 25: 0}, [(0, False), (0, False), (0, False)]),
    ],
    ids=["once", "29 minutes", "30 minutes", "a gap", "computed meanwhile", "unknown meanwhile"],
)
def test_hung_is_half_an_hour_of_zero_at_every_look(
    tmp_path: Path, percents: dict[int, float | None], wanted: list[tuple[int, bool]]
) -> None:
    assert looked(tmp_path / "deep" / "looks.json", percents) == wanted


def test_job_of_the_same_name_that_began_anew_is_another(tmp_path: Path) -> None:
    file = tmp_path / "looks.json"
    assert looked(file, {0: 0, 15: 0}) == [(0, False), (15, False)]
    assert looked(file, {20: 0, 30: 0}, up=18) == [(0, False), (10, False)]


def test_looks_that_are_damaged_begin_anew(tmp_path: Path) -> None:
    (tmp_path / "looks.json").write_text('{"cluster t/one": {"last": 3}, "x": []}')
    assert looked(tmp_path / "looks.json", {0: 0}) == [(0, False)]


def test_cluster_tells_its_gpus_and_jobs(busy: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(busy.kubeconfig(tmp_path / "config", "lab")))
    (cluster,) = query_clusters(select_contexts("all"))
    assert (cluster.fault, cluster.gpus, cluster.exporters, cluster.silent) == ("", 8, 2, 0)
    assert [(job.name, job.percent) for job in cluster.jobs] == [("one", 97), ("two", 0)]


def test_jobs_of_a_pool_are_those_on_its_nodes(busy: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = {"a": "dev-trainers", "b": "dev-other", "own": None}
    busy.answers["/api/v1/nodes"] = {
        "items": [
            {"metadata": {"name": name, "labels": {"gpufleet.dev/pool": pool} if pool else None}}
            for name, pool in nodes.items()
        ]
    }
    busy.answers["/api/v1/pods"] = {
        "items": [
            pod("one-0", "one", "a", gpus=8), pod("one-1", "one", "a", gpus=8), pod("two-0", "two", "b"),
            pod("three-0", "three", "own"), pod("four-0", "four", "a", phase="Pending"),
        ]
    }  # fmt: skip
    monkeypatch.setenv("KUBECONFIG", str(busy.kubeconfig(tmp_path / "config", "lab")))
    settings = read_settings(
        {"kubeconfig": select_contexts("lab")["lab"], "jobs": {"namespace": "t", "pools": {}}}, "dev"
    )
    assert [job_words(job) for job in jobs_on_pools(settings, {"dev-trainers"}, NOW)] == ["t/one, 16 GPUs"]
    assert jobs_on_pools(settings, frozenset(), NOW) == []
    busy.answers["/api/v1/nodes"] = {"items": [{}]}
    with pytest.raises(UserError, match=r"^dev: does not answer like Kubernetes: KeyError 'metadata'$"):
        jobs_on_pools(settings, {"dev-trainers"}, NOW)


def test_exporter_that_fails_is_counted_and_its_jobs_unknown(
    busy: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del busy.answers["/api/v1/namespaces/t/pods/dcgm-a:9400/proxy/metrics"]
    monkeypatch.setenv("KUBECONFIG", str(busy.kubeconfig(tmp_path / "config", "lab")))
    (cluster,) = query_clusters(select_contexts("lab"))
    assert (cluster.silent, [job.percent for job in cluster.jobs]) == (1, [None, None])


def test_silent_cluster_holds_nobody_up(busy: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    busy.silent.clear()
    monkeypatch.setenv("KUBECONFIG", str(busy.kubeconfig(tmp_path / "config", "lab")))
    (cluster,) = query_clusters(select_contexts("all"), seconds=0.3)
    assert (cluster.context, cluster.host, cluster.fault) == ("lab", "127.0.0.1", "did not answer within 0.3 s")


def test_ps_shows_a_hung_job_and_whose_cluster_it_is_on(
    busy: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: Any, eks: Any
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "160")
    resources = eks("dev")
    resources[1]["outputs"]["endpoint"] = "https://127.0.0.1"
    backend.put("dev", resources)
    monkeypatch.setenv("KUBECONFIG", str(busy.kubeconfig(tmp_path / "config", "lab")))
    before = datetime.now(UTC)
    for minutes in (40, 30, 20, 10):
        history, now = IdleHistory(tmp_path / "home" / "gpufleet" / "gpu-use.json"), before - timedelta(minutes=minutes)
        since = datetime.fromisoformat(START)
        looks = (("one", 50, "computing"), ("two", 0, "idle"))
        history.update("127.0.0.1", [GpuJob("t", name, 1, 1, since, *look) for name, *look in looks], now)
        history.save(now)
    found = CliRunner().invoke(main, ["ps", "--backend", backend.url, "--contexts", "lab", "--json"])
    assert found.exit_code == 0, found.output
    content = json.loads(found.output)
    assert content["environments"][0]["gpus"] == {"now": 8, "at_last_update": 8, "at_most": 12}
    assert [(each["name"], each["hung"]) for each in content["clusters"][0]["jobs"]] == [("one", False), ("two", True)]
    shown = CliRunner().invoke(main, ["ps", "--backend", backend.url, "--contexts", "lab"])
    assert "8/12" in shown.output
    (line,) = [line for line in shown.output.splitlines() if "t/two" in line]
    assert "hung: idle for 40 min" in line


def test_ps_tells_jobs_that_compute_are_stuck_and_idle(
    busy: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job's line has its highest utilization: by that alone, the one that is stuck would look the busiest."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("KUBECONFIG", str(busy.kubeconfig(tmp_path / "config", "lab")))
    jobs = [pod(f"{name}-worker-0", name, gpus=2) for name in ("trains", "waits", "sleeps")]
    busy.answers["/api/v1/pods"] = {"items": [*jobs, exporter("a")]}
    metrics = Path(__file__).parent / "metrics" / "dcgm_h100.txt"
    busy.answers["/api/v1/namespaces/t/pods/dcgm-a:9400/proxy/metrics"] = metrics.read_text(encoding="utf-8")
    (tmp_path / "states").mkdir()
    command = ["ps", "--backend", f"file://{tmp_path}/states", "--contexts", "lab"]
    shown = CliRunner().invoke(main, command)
    assert shown.exit_code == 0, shown.output
    rows = [line.split() for line in shown.stdout.splitlines() if line.startswith("lab ")]
    assert [(row[1], row[-3], row[-1]) for row in sorted(rows)] == [
        ("t/sleeps", "0", "idle"),
        ("t/trains", "99", "computing"),
        ("t/waits", "100", "stuck"),
    ]


def test_contexts_that_are_not_there_are_said(api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = api.kubeconfig(tmp_path / "config", "lab", "prod")
    monkeypatch.setenv("KUBECONFIG", str(file))
    assert [host_of(each) for each in select_contexts("prod, lab").values()] == ["127.0.0.1", "127.0.0.1"]
    with pytest.raises(UserError) as caught:
        select_contexts("prd")
    assert str(caught.value) == f"{file}: has no context prd; did you mean prod?"
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    with pytest.raises(UserError, match="kubeconfig not found; set KUBECONFIG, or leave out --contexts"):
        select_contexts("all")
    (tmp_path / "none").write_text("[1, 2]")
    with pytest.raises(UserError, match="none: must be an object, not a list"):
        select_contexts("all")


def test_nodes_of_a_shared_cluster_are_no_teams(busy: Api, outputs: Path) -> None:
    node = {"metadata": {"name": "a", "labels": {"gpufleet.dev/pool": "lab-v100"}}, "spec": {}}
    busy.answers["/api/v1/nodes"] = {"items": [{**node, "status": {"capacity": {"nvidia.com/gpu": "4"}}}]}
    done = CliRunner().invoke(main, ["nodes", "list", "lab", "--outputs", str(outputs)])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-1].split()[0] == "a"


def test_status_of_a_running_job_says_what_its_gpus_do(busy: Api, outputs: Path) -> None:
    running = {"type": "Running", "status": "True", "lastTransitionTime": START}
    worker = {"replicas": 1, "template": {"spec": {"containers": []}}}
    metadata = {"name": "two", "namespace": "t", "creationTimestamp": START}
    job = {"metadata": metadata, "spec": {"mpiReplicaSpecs": {"Worker": worker}}, "status": {"conditions": [running]}}
    pods = busy.answers["/api/v1/pods"]
    busy.answers |= {"/apis/kubeflow.org/v2beta1/namespaces/t/mpijobs/two": job, "/api/v1/namespaces/t/pods": pods}
    status = ["jobs", "status", "lab", "two", "--outputs", str(outputs), "--team", "t"]
    done = CliRunner().invoke(main, status)
    assert done.stdout.splitlines() == ["two: Running", "  GPUs: idle (0 % utilization)"], done.output
    found = json.loads(CliRunner().invoke(main, [*status, "--json"]).stdout)
    assert (found["activity"], found["gpuPercent"]) == ("idle", 0)
    # Who may not list the pods of all namespaces is told the rest.
    del busy.answers["/api/v1/pods"]
    assert CliRunner().invoke(main, status).stdout == "two: Running\n"
