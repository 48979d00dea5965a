"""`gpufleet jobs` and `gpufleet check` as a user types them, against a small server that plays the API."""

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from gpufleet.cli import main
from tests.tools.fake_cluster import FakeCluster, job_object, kubeconfig, launcher, played, stamped

TEAM = "/api/v1/namespaces/team"
JOBS = "/apis/kubeflow.org/v2beta1/namespaces/team/mpijobs"
DIGEST = "sha256:" + 64 * "1"
POOL = {"types": ["g5.8xlarge"], "zones": ["use1-az1"], "network": "plain", "max": 2.0}


@pytest.fixture
def here() -> Iterator[FakeCluster]:
    cluster = FakeCluster(
        objects={
            "/apis/kubeflow.org/v2beta1": {"resources": []},
            TEAM: {"metadata": {"name": "team"}},
            f"{TEAM}/persistentvolumeclaims/shared": {"spec": {"volumeName": "pv"}, "status": {"phase": "Bound"}},
            "/api/v1/persistentvolumes/pv": {"spec": {}},
            f"{TEAM}/secrets/pull": {},
            "/api/v1": {},
            f"{TEAM}/configmaps/images": {"data": {"dev..training": f"r.invalid/t:now@{DIGEST}"}},
        },
        lists={f"{TEAM}/pods": [], f"{TEAM}/events": [], JOBS: [], "/api/v1/nodes": []},
    )
    with played(cluster):
        yield cluster


def outputs(here: FakeCluster) -> dict[str, Any]:
    jobs = {"namespace": "team", "volume_claim": "shared", "pools": {"trainers": dict(POOL)}}
    return {"kubeconfig": json.dumps(here.kubeconfig), "registry_urls": {"dev/training": "r.invalid/t"}, "jobs": jobs}


Run = Callable[..., Result]


@pytest.fixture
def run(here: FakeCluster, tmp_path: Path) -> Run:
    def invoke(*arguments: str, given: dict[str, Any] | None = None) -> Result:
        """given: the stack's outputs."""
        file = tmp_path / "outputs.json"
        file.write_text(json.dumps(outputs(here) if given is None else given))
        command, rest = arguments[: arguments.index("dev") + 1], arguments[arguments.index("dev") + 1 :]
        return CliRunner().invoke(main, [*command, "--outputs", str(file), *rest])

    return invoke


def submit(run: Run, *options: str, given: dict[str, Any] | None = None) -> Result:
    return run("jobs", "submit", "dev", "--name", "train", *options, "--", "python3", "train.py", given=given)


def test_claims_to_read_are_those_of_the_environment_and_of_the_job(here: FakeCluster, run: Run) -> None:
    given = outputs(here)
    given["jobs"]["read_claims"] = {"/images": "images"}
    words = ("--workers", "2", "--read-claim", "/speech=speech", "--dry-run", "--json")
    done = submit(run, *words, given=given)
    assert done.exit_code == 0, done.output
    pod = json.loads(done.stdout)["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    claims = {each["name"]: each.get("persistentVolumeClaim", {}).get("claimName") for each in pod["volumes"]}
    mounts = {each["mountPath"]: claims[each["name"]] for each in pod["containers"][0]["volumeMounts"]}
    assert (mounts["/mnt"], mounts["/images"], mounts["/speech"]) == ("shared", "images", "speech")
    done = submit(run, "--workers", "2", "--read-claim", "/mnt/speech=speech", "--dry-run", given=given)
    assert done.exit_code != 0
    assert "train: read_claims=/mnt/speech: lies in /mnt, where another volume is" in done.output


def test_what_the_outputs_know_nobody_types(here: FakeCluster, run: Run) -> None:
    done = submit(run, "--workers", "2")
    assert (done.exit_code, done.stdout) == (
        0,
        "train: submitted; follow it with `gpufleet jobs logs dev train --follow`\n",
    )
    [made] = here.created
    replicas = made["spec"]["mpiReplicaSpecs"]
    worker = replicas["Worker"]["template"]["spec"]
    assert replicas["Worker"]["replicas"] == 2
    assert worker["containers"][0]["image"] == f"r.invalid/t@{DIGEST}"
    assert worker["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "1"}
    assert worker["nodeSelector"]["gpufleet.dev/pool"] == "trainers"
    assert worker["nodeSelector"]["gpufleet.dev/zone-id"] == "use1-az1"
    assert {"name": "shared-files", "persistentVolumeClaim": {"claimName": "shared"}} in worker["volumes"]
    assert replicas["Launcher"]["template"]["spec"]["containers"][0]["command"][-2:] == ["python3", "train.py"]


def test_yaml_of_a_few_lines_is_enough_and_options_win(here: FakeCluster, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "train.yaml"
    file.write_text("workers: 1\ncommand: python3 train.py --lr 0.1\nimage: training:v2\nenv: {EPOCHS: '3'}\n")
    done = run("jobs", "submit", "dev", "--file", str(file), "--workers", "2", "--dry-run")
    assert done.exit_code == 0, done.output
    manifest = yaml.safe_load(done.stdout)
    replicas = manifest["spec"]["mpiReplicaSpecs"]
    assert replicas["Worker"]["replicas"] == 2
    launched = replicas["Launcher"]["template"]["spec"]["containers"][0]
    assert launched["image"] == "r.invalid/t:v2"
    assert launched["command"][-4:] == ["python3", "train.py", "--lr", "0.1"]
    assert {"name": "EPOCHS", "value": "3"} in launched["env"]
    assert here.asked == []


def image_of(done: Result) -> str:
    assert done.exit_code == 0, done.stderr
    template = yaml.safe_load(done.stdout)["spec"]["mpiReplicaSpecs"]["Worker"]["template"]
    return str(template["spec"]["containers"][0]["image"])


@pytest.mark.parametrize(
    ("cuda", "said"),
    [
        (
            "9.2",
            "Error: train: cuda=9.2: is older than the A10G of g5.8xlarge, which its libraries do not know; build the "
            "jobs' image with CUDA 11.0 or newer [any-image-cuda-new-gpu]\n",
        ),
        ("11.0", ""),
        ("13.0", ""),
    ],
)
def test_cuda_of_the_image_is_compared_with_the_pools_nodes(here: FakeCluster, run: Run, cuda: str, said: str) -> None:
    here.objects[f"{TEAM}/configmaps/image-cuda"] = {"data": {"dev..training": f"{DIGEST} {cuda}"}}
    done = submit(run, "--workers", "1", "--dry-run")
    assert (done.exit_code, done.stderr) == (1 if said else 0, said)
    # What nobody has built here is not known.
    assert submit(run, "--workers", "1", "--dry-run", "--image", "training:old").exit_code == 0


def test_cuda_that_the_servers_gpus_do_not_run_is_refused(here: FakeCluster, run: Run) -> None:
    here.objects[f"{TEAM}/configmaps/image-cuda"] = {"data": {"dev..training": f"{DIGEST} 13.0"}}
    given = outputs(here)
    given["jobs"]["pools"]["trainers"] = {"gpu": "V100", "gpus": 1, "max": 2.0}
    done = submit(run, "--workers", "1", "--dry-run", given=given)
    assert (done.exit_code, done.stderr) == (
        1,
        "Error: train: cuda=13.0: makes no code for the V100 of trainers any more; build the jobs' image with CUDA "
        "12.9 or older, or use a newer GPU [any-image-cuda-dropped]\n",
    )


@pytest.mark.parametrize("name", [[], ["--image", "training"], ["--image", "dev/training"]])
def test_repository_without_a_tag_is_what_was_built_last(run: Run, name: list[str]) -> None:
    assert image_of(submit(run, "--workers", "1", "--dry-run", *name)) == f"r.invalid/t@{DIGEST}"


@pytest.mark.parametrize(
    ("name", "image"),
    [
        ("training:v2", "r.invalid/t:v2"),
        (f"training@{DIGEST}", f"r.invalid/t@{DIGEST}"),
        ("quay.io/a/training:1", "quay.io/a/training:1"),
        ("127.0.0.1:5000/training:1", "127.0.0.1:5000/training:1"),
    ],
)
def test_dry_run_with_a_whole_image_asks_nobody(here: FakeCluster, run: Run, name: str, image: str) -> None:
    assert image_of(submit(run, "--workers", "1", "--dry-run", "--image", name)) == image
    assert here.asked == []


def test_image_that_is_not_clear_is_one_line(here: FakeCluster, run: Run) -> None:
    two = outputs(here) | {"registry_urls": {"dev/training": "r.invalid/t", "dev/tools": "r.invalid/o"}}
    mended = "build the image again, or correct it with `kubectl edit`"
    for options, given, line in (
        ([], two, "dev: which image? give --image; the environment's registry has dev/training and dev/tools"),
        ([], outputs(here) | {"registry_urls": {}}, "dev: which image? give --image; the environment has no registry"),
        (
            ["--image", "tools"],
            two,
            "dev: image=dev/tools: no image of it is recorded; build one with `gpufleet images build dev DIR`, or give "
            "--image dev/tools:TAG",
        ),
    ):
        done = submit(run, "--workers", "1", *options, given=given)
        assert (done.exit_code, done.stderr) == (1, f"Error: {line}\n")
    here.objects[f"{TEAM}/configmaps/images"] = {"data": {"dev..training": "r.invalid/t:v1"}}
    done = submit(run, "--workers", "1")
    line = f"dev: ConfigMap images in namespace team: dev..training is not of the form URL@sha256:...; {mended}"
    assert (done.exit_code, done.stderr) == (1, f"Error: {line}\n")
    assert here.created == []


def test_json_is_one_line_for_each_event(here: FakeCluster, run: Run) -> None:
    pod = launcher("train-launcher-x", "Failed", 5)
    here.objects |= {f"{JOBS}/train": job_object("train", ("Failed", "Bad")), f"{TEAM}/pods/train-launcher-x": pod}
    here.lists[f"{TEAM}/pods"] = [pod]
    here.logs[f"{TEAM}/pods/train-launcher-x/log"] = [(0, stamped(0, "boom"))]
    done = run("jobs", "logs", "dev", "train", "--follow", "--json")
    assert done.exit_code == 5
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["event"] for each in events] == ["state", "line", "end"]
    assert (events[1]["text"], events[2]["code"]) == ("boom", 5)


def test_log_is_on_the_standard_output_and_nothing_else(here: FakeCluster, run: Run) -> None:
    pod = launcher("train-launcher-x", "Succeeded", 0)
    here.objects |= {f"{JOBS}/train": job_object("train", ("Succeeded", "")), f"{TEAM}/pods/train-launcher-x": pod}
    here.lists[f"{TEAM}/pods"] = [pod]
    here.logs[f"{TEAM}/pods/train-launcher-x/log"] = [(0, stamped(0, "one")), (1, stamped(1, "two"))]
    for arguments in (["--follow"], []):
        done = run("jobs", "logs", "dev", "train", *arguments)
        assert (done.exit_code, done.stdout) == (0, "one\ntwo\n")


def test_list_and_status(here: FakeCluster, run: Run) -> None:
    assert run("jobs", "list", "dev").stdout == "no jobs in namespace team\n"
    here.lists[JOBS] = [job_object("train", ("Running", ""))]
    assert run("jobs", "list", "dev").stdout.split()[:6] == ["train", "Running", "2", "x", "1", "GPU"]
    here.objects[f"{JOBS}/train"] = job_object("train", ("Failed", "Bad"))
    here.lists[f"{TEAM}/pods"] = [launcher("l", "Failed", 7)]
    assert run("jobs", "status", "dev", "train").stdout == (
        "train: Failed, the launcher's exit code is 7 (Bad: train Failed)\n"
    )


def no_operator(here: FakeCluster) -> None:
    del here.objects["/apis/kubeflow.org/v2beta1"]


def no_namespace(here: FakeCluster) -> None:
    del here.objects[TEAM]


def no_claim(here: FakeCluster) -> None:
    del here.objects[f"{TEAM}/persistentvolumeclaims/shared"]


def claim_elsewhere(here: FakeCluster) -> None:
    term = {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1c"]}]}
    here.objects["/api/v1/persistentvolumes/pv"]["spec"] = {"nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}}
    here.lists["/api/v1/nodes"] = [
        {"metadata": {"name": "n", "labels": {"topology.kubernetes.io/zone": "us-east-1a"}}, "status": {}}
    ]


def name_taken(here: FakeCluster) -> None:
    here.objects[f"{JOBS}/train"] = {}


def forbidden(here: FakeCluster) -> None:
    here.answers = [403]


BROKEN = [
    (
        no_operator,
        "train: dev has no MPI operator (kubeflow.org/v2beta1 MPIJob is not installed there); install it with",
    ),
    (no_namespace, "train: namespace=team: namespace not found in dev; `pulumi up` makes it"),
    (no_claim, "train: volume_claim=shared: PersistentVolumeClaim not found in namespace team; `pulumi up`"),
    (
        claim_elsewhere,
        "train: volume_claim=shared: its volume can be mounted in us-east-1c only, and the workers run in us-east-1a "
        "(use1-az1); use a volume of that zone, or one that all zones can mount",
    ),
    (
        name_taken,
        "train: the name is already used by another job in namespace team; give another --name, or "
        "`gpufleet jobs cancel`",
    ),
    (forbidden, "dev: not allowed (403): played 403; ask the environment's owner for the right"),
]


@pytest.mark.parametrize(("broken", "line"), BROKEN, ids=[each.__name__ for each, _ in BROKEN])
def test_what_the_cluster_lacks_is_one_line(
    here: FakeCluster, run: Run, broken: Callable[[FakeCluster], None], line: str
) -> None:
    broken(here)
    done = submit(run, "--workers", "2", "--image", "training:v1")
    assert (done.exit_code, done.stdout, here.created) == (1, "", [])
    assert done.stderr.startswith(f"Error: {line}"), done.stderr
    assert done.stderr.count("\n") == 1


def test_claim_whose_zone_cannot_be_known_is_said_and_not_refused(here: FakeCluster, run: Run) -> None:
    claim_elsewhere(here)
    here.lists["/api/v1/nodes"] = []
    done = submit(run, "--workers", "2", "--image", "training:v1")
    assert done.exit_code == 0
    assert "note: not verified: volume_claim=shared can only be mounted in us-east-1c" in done.stderr


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--workers", "2", "--gpus", "9"], "train: gpus_per_worker=9: is more than the 1 of g5.8xlarge; use 1"),
        (["--workers", "3"], "train: workers=3: pool trainers has at most 2 nodes, room for 2 workers of 1 GPU"),
        (["--workers", "0"], "train: workers=0: no launcher is ever made for it; use 1 or more"),
        (["--workers", "2", "--pool", "trainer"], "dev: pool=trainer: no such pool; did you mean trainers?"),
        (["--workers", "2", "--image-pull-secret", "no"], "train: image_pull_secret=no: secret not found in"),
        (["--workers", "2", "--env", "X"], "job: env=X: is not a variable; write --env KEY=VALUE"),
        ([], "job: workers=null: is required; give a whole number"),
        (["--workers", "2", "--file", "/no/such.yaml"], "/no/such.yaml: No such file or directory"),
    ],
)
def test_what_cannot_be_is_one_line(here: FakeCluster, run: Run, options: list[str], line: str) -> None:
    done = submit(run, "--image", "training:v1", *options)
    assert (done.exit_code, here.created) == (1, [])
    assert done.stderr.splitlines()[-1].startswith(f"Error: {line}"), done.stderr


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


PLUGIN = {"apiVersion": "client.authentication.k8s.io/v1beta1", "interactiveMode": "Never"}


@pytest.mark.parametrize(
    ("config", "line"),
    [
        (
            lambda here: kubeconfig(f"http://127.0.0.1:{free_port()}", {"token": "t"}),
            "cannot be reached: connection refused; is the cluster up, and this machine allowed to reach it?",
        ),
        (
            lambda here: kubeconfig(f"http://127.0.0.1:{here.port}", {"token": "wrong"}),
            "does not accept the credentials (401 Unauthorized); sign in again, or take the kubeconfig again",
        ),
        (
            lambda here: kubeconfig("http://127.0.0.1:1", {"exec": PLUGIN | {"command": "no-such-program"}}),
            "dev: its credentials come from the program no-such-program, which is not on PATH; install it",
        ),
        (
            lambda here: kubeconfig(
                "http://127.0.0.1:1", {"exec": PLUGIN | {"command": "sh", "args": ["-c", "echo expired >&2; exit 255"]}}
            ),
            "dev: its credential program sh failed: exec: process returned 255. expired; sign in",
        ),
        (lambda here: {"kind": "Config"}, "dev: is not a kubeconfig: it needs clusters, users, contexts"),
        (lambda here: "{", "dev: is not a kubeconfig: "),
    ],
    ids=["refused", "401", "no plugin", "plugin fails", "empty", "no yaml"],
)
def test_kubeconfig_that_leads_nowhere_is_one_line(
    here: FakeCluster, run: Run, config: Callable[[FakeCluster], object], line: str
) -> None:
    done = submit(run, "--workers", "2", "--image", "training:v1", given=outputs(here) | {"kubeconfig": config(here)})
    assert done.exit_code == 1
    assert line in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({}, "dev: the stack's outputs have no kubeconfig; run `pulumi up -s dev` first"),
        ({"kubeconfig": "[secret]"}, "dev: the kubeconfig is hidden in these outputs; write them with"),
        (
            {"kubeconfig": "k", "jobs": 1},
            "dev: the stack's output jobs must be a mapping; this is not a gpufleet stack",
        ),
        (
            {"kubeconfig": "k"},
            "dev: the stack's outputs have no GPU pool (jobs.pools); add one to gpufleet:pools and run `pulumi up`",
        ),
    ],
)
def test_outputs_that_say_too_little_are_one_line(run: Run, given: dict[str, Any], line: str) -> None:
    done = submit(run, "--workers", "2", given=given)
    assert done.exit_code == 1
    assert done.stderr.startswith(f"Error: {line}")


def test_job_after_one_that_failed_is_not_submitted(here: FakeCluster, run: Run) -> None:
    here.objects[f"{JOBS}/first"] = job_object("first", ("Failed", "Bad"))
    done = submit(run, "--workers", "2", "--image", "training:v1", "--after", "first")
    assert (done.exit_code, here.created) == (1, [])
    assert done.stderr.endswith("Error: train: not submitted: first, which it comes after, has not succeeded\n")


def ready_node(number: int, **annotations: str) -> dict[str, Any]:
    labels = {"gpufleet.dev/zone-id": "use1-az1", "gpufleet.dev/placement": "create"}
    return {
        "metadata": {"name": f"n-{number}", "labels": labels, "annotations": annotations},
        "spec": {},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "allocatable": {"nvidia.com/gpu": "1"},
        },
    }


def test_check_says_pass_fail_or_unverified_with_the_fix(here: FakeCluster, run: Run) -> None:
    here.lists["/apis/apps/v1/daemonsets"] = []
    here.objects[f"{TEAM}/persistentvolumeclaims/shared"]["spec"]["accessModes"] = ["ReadWriteMany"]
    done = run("check", "dev", "--nodes", "2")
    assert done.exit_code == 1
    assert "fail        nodes: 0 of 2 nodes of pool trainers are Ready; " in done.stdout
    here.lists["/api/v1/nodes"] = [ready_node(number, **{"kwok.x-k8s.io/node": "fake"}) for number in (0, 1)]
    done = run("check", "dev", "--nodes", "2")
    assert done.stdout.splitlines() == [
        "pass        MPI operator: kubeflow.org/v2beta1 is served",
        "pass        nodes: 2 of 2 nodes of pool trainers are Ready",
        "pass        zone: 2 of 2 Ready nodes are in use1-az1",
        "pass        placement: the nodes are of a pool with one placement group",
        "pass        GPUs: 1 allocatable on each of 2 nodes",
        "pass        device plugin: no DaemonSet, but every node tells its GPUs: the node's image brings it",
        "pass        shared volume: claim shared is bound, ReadWriteMany",
        "unverified  bandwidth: the nodes are fake: no container runs on them; run it on real nodes",
        "dev, 2 nodes of trainers: ready; 0 failed, 1 not verified",
    ]
    assert done.exit_code == 0
    assert run("check", "dev", "--nodes", "2", "--strict").exit_code == 1
    found = json.loads(run("check", "dev", "--nodes", "2", "--json").stdout)
    assert (found["code"], len(found["checks"])) == (0, 8)
