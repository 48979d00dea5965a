"""`gpufleet.jobs.submit`, as far as it goes without a cluster; tests/cluster/test_notebooks.py has the rest."""

import subprocess
import sys
from pathlib import Path

import pytest

from gpufleet.jobs import JobError, SubmittedJob, submit
from gpufleet.jobs.client import command_in_folder
from gpufleet.jobs.events import Event, EventKind
from gpufleet.jobs.kubernetes import in_cluster
from gpufleet.jobs.settings import read_settings

JOBS = {
    "environment": "lab",
    "jobs": {
        "namespace": "vision",
        "volume_claim": "shared",
        "image_pull_secret": "registry",
        "pools": {"a10g": {"types": ["g5.12xlarge"], "zones": ["use1-az1"], "max": 2, "label": "lab-a10g"}},
        "users": {"ana": {"uid": 1501, "gid": 1500}},
    },
}


class Backend:
    """Takes what is planned; follows a job that fails."""

    sent: list[dict] = []

    def __init__(self, settings) -> None:
        from gpufleet.jobs.kubernetes.submission import build_submission

        self._planned = lambda request: build_submission(settings, request)

    def build_submission(self, request):
        from gpufleet.jobs.backend import Submission

        plan = self._planned(request)
        return Submission(plan.manifest["metadata"]["name"], plan.manifest, plan.advice)

    def submit(self, plan, note) -> str:
        note("not verified: something that a notebook may not look at")
        self.sent.append(dict(plan.document))
        return "uid"

    def follow(self, name, resume, *, logs):
        yield Event(EventKind.STATE, f"{name}: Running")
        if logs:
            yield Event(EventKind.LINE, "epoch 1")
        yield Event(EventKind.END, f"{name}: failed", 3)

    def read_log(self, name):
        yield Event(EventKind.NOTE, "no launcher has started yet")
        yield Event(EventKind.LINE, "epoch 1")

    def cancel(self, name) -> str:
        return f"{name}: cancelled"


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """A notebook's folder on the shared volume, and a back end that sends nothing."""
    folder = tmp_path / "mnt" / "home" / "ana"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GPUFLEET_SHARED", str(tmp_path / "mnt"))
    monkeypatch.setenv("GPUFLEET_USER", "ana")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("JUPYTER_IMAGE_SPEC", "registry.example.com/notebook:1")
    settings = read_settings({"kubeconfig": {"x": 1}, "jobs": JOBS["jobs"]}, "lab")
    monkeypatch.setattr(in_cluster, "in_cluster_settings", lambda: settings)
    monkeypatch.setattr("gpufleet.jobs.kubernetes.backend.KubernetesBackend", Backend)
    Backend.sent.clear()
    return folder


def sent() -> dict:
    [document] = Backend.sent
    return document


def test_folder_image_and_user_are_the_notebooks_own(home, capsys):
    job = submit("python3 train.py --note 'two words'", workers=2, gpus=4, name="digits")
    assert repr(job) == "SubmittedJob('digits')"
    spec = sent()["spec"]["mpiReplicaSpecs"]
    launcher = spec["Launcher"]["template"]["spec"]["containers"][0]
    assert launcher["command"][-5:] == [str(home), "python3", "train.py", "--note", "two words"]
    assert launcher["command"][-7:-5] == ["-c", 'cd "$0" && exec "$@"']
    worker = spec["Worker"]["template"]["spec"]
    assert worker["containers"][0]["image"] == "registry.example.com/notebook:1"
    assert worker["securityContext"]["runAsUser"] == 1501
    assert spec["Worker"]["replicas"] == 2
    # What the rules advise is said, what a notebook may not look at is not.
    assert capsys.readouterr().out.splitlines()[-1] == "digits: submitted"


def test_another_folder_and_image(home):
    (home / "other").mkdir()
    submit(["./run.sh"], folder="other", image="registry.example.com/other:2", gpus=1)
    spec = sent()["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
    assert spec["command"][-2:] == [str(home / "other"), "./run.sh"]
    assert spec["image"] == "registry.example.com/other:2"
    assert sent()["metadata"]["name"].startswith("run-")


def test_a_users_own_mpirun_is_told_the_folder():
    assert command_in_folder("/mnt/a", ["mpirun", "-np", "8", "a.out"]) == [
        "mpirun",
        "-wdir",
        "/mnt/a",
        "-np",
        "8",
        "a.out",
    ]


def test_the_command_starts_in_its_folder(tmp_path):
    command = command_in_folder(
        str(tmp_path), [sys.executable, "-c", "import os, sys; print(os.getcwd(), sys.argv)", "$HOME *"]
    )
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{tmp_path.resolve()} ['-c', '$HOME *']\n"
    missing = subprocess.run(command_in_folder(str(tmp_path / "no"), ["true"]), capture_output=True, check=False)
    assert missing.returncode != 0


@pytest.mark.parametrize(
    ("words", "options", "line"),
    [
        ("", {}, 'submit: command: nothing to run; give what each rank runs, "python3 train.py"'),
        ("python3 'x", {}, "submit: command=python3 'x: No closing quotation; give a list of words"),
        ("a", {"gpu_model": "A10G"}, "submit: gpu_model=A10G: unknown argument"),
        ("a", {"workers": "two"}, 'submit: workers="two": is not a whole number'),
        ("a", {"array": 3}, "submit: array=3: is for AWS Batch"),
        ("a", {"folder": "nowhere"}, "is not a directory; give the one that the command starts in"),
        ("a", {"folder": "/tmp"}, "submit: folder=/tmp: is in this notebook only, and a job would not find it"),
        ("a", {"gpu": "H100"}, "lab: gpu=H100: no pool has it; use A10G"),
        ("a", {"user": "eve"}, "user=eve: user not found; use ana"),
    ],
)
def test_faults_are_lines(home, words, options, line):
    with pytest.raises(JobError) as told:
        submit(words, **options)
    assert line in str(told.value)
    assert told.value._render_traceback_() == [f"JobError: {each}" for each in str(told.value).splitlines()]
    assert Backend.sent == []


def test_a_link_out_of_the_volume_leads_out_of_it(home, tmp_path):
    (home / "local").symlink_to(tmp_path)
    with pytest.raises(JobError, match="is in this notebook only"):
        submit("a", folder="local")


def test_without_the_image_known(home, monkeypatch):
    monkeypatch.delenv("JUPYTER_IMAGE_SPEC")
    with pytest.raises(JobError, match="JUPYTER_IMAGE_SPEC is not set"):
        submit("a")


def test_outside_of_a_cluster():
    with pytest.raises(JobError, match="this is not a pod in a cluster; use `gpufleet jobs submit ENVIRONMENT`"):
        submit("a")


def test_a_job_is_followed_read_and_ended(capsys):
    job = SubmittedJob("digits", Backend(None), print)
    assert job.wait() == 3
    assert capsys.readouterr().out.splitlines() == ["digits: Running", "epoch 1", "digits: failed"]
    assert job.wait(logs=False) == 3
    assert capsys.readouterr().out.splitlines() == ["digits: Running", "digits: failed"]
    assert job.logs() == "epoch 1\n"
    job.cancel()
    assert capsys.readouterr().out.splitlines() == ["no launcher has started yet", "digits: cancelled"]


def test_importing_it_imports_nothing_heavy():
    code = "import sys, gpufleet.jobs; print(sorted({'kubernetes', 'pulumi', 'yaml'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
