"""Following a job against a small server that plays the API: logs that break, states, and an API server that goes."""

import pytest

from gpufleet.errors import UserError
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.events import Event, EventKind
from gpufleet.jobs.kubernetes.api import KubernetesApi
from gpufleet.jobs.kubernetes.follow import KubernetesJobFollower
from tests.tools.fake_cluster import FakeCluster, job_object, launcher, played, stamped

JOB = "/apis/kubeflow.org/v2beta1/namespaces/team/mpijobs/train"
PODS = "/api/v1/namespaces/team/pods"
LOG = f"{PODS}/train-launcher-x/log"
RESUME = "gpufleet jobs logs dev train --follow"


def cluster(*conditions: tuple[str, str], exit_code: int | None = 0, **more: object) -> FakeCluster:
    phase = {None: "Running", 0: "Succeeded"}.get(exit_code, "Failed")
    pod = launcher("train-launcher-x", phase, exit_code)
    return FakeCluster(
        objects={JOB: job_object("train", *conditions), f"{PODS}/train-launcher-x": pod}, lists={PODS: [pod]}, **more
    )


def follow(here: FakeCluster, **more: object) -> list[Event]:
    api = KubernetesApi.of(here.kubeconfig, "dev")
    return list(KubernetesJobFollower(api, "team", "train", RESUME, shortest=0.01, longest=0.02, **more).events())


def lines_of(events: list[Event]) -> list[str]:
    return [event.text for event in events if event.kind is EventKind.LINE]


@pytest.mark.parametrize("gap", [1, 100_000, 700_000_000])
def test_ten_thousand_lines_arrive_once_and_in_order_though_the_stream_is_cut_twice(gap: int) -> None:
    texts = [f"line {number}" for number in range(10_000)]
    log = [(number * gap, stamped(number * gap, text)) for number, text in enumerate(texts)]
    size = sum(len(line) for _, line in log)
    here = cluster(("Running", "MPIJobRunning"), ("Succeeded", "MPIJobSucceeded"), logs={LOG: log})
    here.cuts = [size // 3 + 7, size // 3 + 11]
    with played(here):
        events = follow(here)
    assert lines_of(events) == texts
    assert here.cuts == []
    assert len([path for path in here.asked if "/log?" in path]) == 3
    assert events[-1] == Event(EventKind.END, "train: succeeded after 2 min 5 s", 0)


@pytest.mark.parametrize("code", [1, 3, 137])
def test_launchers_exit_code_comes_through(code: int) -> None:
    here = cluster(("Failed", "BackoffLimitExceeded"), exit_code=code, logs={LOG: [(0, stamped(0, "boom"))]})
    with played(here):
        events = follow(here)
    assert lines_of(events) == ["boom"]
    said = f"train: failed after 2 min 5 s: the launcher's exit code is {code} (BackoffLimitExceeded: train Failed)"
    assert events[-1] == Event(EventKind.END, said, code)


def test_job_that_failed_without_an_exit_code_ends_with_1() -> None:
    here = cluster(("Failed", "DeadlineExceeded"), exit_code=None, logs={LOG: []})
    here.lists = {PODS: []}
    with played(here):
        end = follow(here)[-1]
    assert (end.code, end.text) == (
        1,
        "train: failed after 2 min 5 s: the launcher has no exit code (DeadlineExceeded: train Failed)",
    )


def test_every_try_of_the_launcher_is_read() -> None:
    here = cluster(("Succeeded", "MPIJobSucceeded"), logs={LOG: [(0, stamped(0, "second try"))]})
    first = launcher("train-launcher-w", "Failed", 9, made="2026-09-21T12:00:00Z")
    here.lists[PODS].append(first)
    here.objects[f"{PODS}/train-launcher-w"] = first
    here.logs[f"{PODS}/train-launcher-w/log"] = [(5, stamped(5, "first try"))]
    with played(here):
        events = follow(here)
    assert lines_of(events) == ["first try", "second try"]
    assert Event(EventKind.NOTE, "the launcher was started again: train-launcher-x") in events


def test_log_that_cannot_be_read_is_said_once_and_the_job_followed() -> None:
    here = cluster(("Succeeded", "MPIJobSucceeded"))
    with played(here):
        events = follow(here)
    notes = [event.text for event in events if event.kind is EventKind.NOTE]
    assert len(notes) == 1
    assert "no preferred addresses found" in notes[0]
    assert events[-1].code == 0


def test_states_and_what_pods_wait_for_are_told_when_they_change_only() -> None:
    here = cluster(("Created", "MPIJobCreated"))
    waiting = {
        "metadata": {"name": "train-worker-1", "uid": "w1", "creationTimestamp": "t"},
        "status": {
            "phase": "Pending",
            "conditions": [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "Unschedulable",
                    "message": "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.",
                }
            ],
        },
    }
    here.lists[PODS] = [waiting]
    here.lists["/api/v1/namespaces/team/events"] = []
    said: list[str] = []
    with played(here):
        api = KubernetesApi.of(here.kubeconfig, "dev")
        for event in KubernetesJobFollower(api, "team", "train", RESUME, False, 0.001, 0.001).events():
            said.append(f"{event.kind}: {event.text}")
            if event.kind is EventKind.WAITING:
                # Twenty more looks find the same; then it runs, then it ends.
                looks = len([path for path in here.asked if path == JOB])
                here.lists[PODS] = _Change(here, looks + 20, [waiting])
            if event.text == "train: Running":
                here.objects[JOB] = job_object("train", ("Running", ""), ("Succeeded", ""))
    assert said == [
        "state: train: Created",
        "waiting: train-worker-1 waits: Unschedulable: 0/2 nodes are available: 2 Insufficient nvidia.com/gpu.",
        "state: train: Running",
        "state: train: Succeeded",
        "end: train: succeeded after 2 min 5 s",
    ]


class _Change(list):
    """A list of pods that lets the job run when the job was looked at so often."""

    def __init__(self, here: FakeCluster, looks: int, pods: list) -> None:
        super().__init__(pods)
        self._here, self._looks = here, looks

    def __iter__(self):
        if len([path for path in self._here.asked if path == JOB]) >= self._looks:
            self._here.objects[JOB] = job_object("train", ("Created", ""), ("Running", ""))
        return super().__iter__()


def quick(limit: float) -> Backoff:
    return Backoff(first=0.01, longest=0.02, limit=limit)


@pytest.mark.parametrize("away", [[0, 0, 0], [503, 500, 429]])
def test_api_server_that_comes_back_is_waited_for(away: list[int]) -> None:
    here = cluster(("Succeeded", "MPIJobSucceeded"))
    here.answers = list(away)
    with played(here):
        events = follow(here, logs=False, backoff=quick(60))
    notes = [event.text for event in events if event.kind is EventKind.NOTE]
    assert len(notes) == 2
    assert notes[0].endswith("; trying again for 1 min")
    assert notes[1] == f"http://127.0.0.1:{here.port} answers again"
    assert events[-1].code == 0


def test_api_server_that_stays_away_ends_in_one_line_that_says_how_to_go_on() -> None:
    here = cluster(("Running", "MPIJobRunning"), exit_code=None)
    said: list[Event] = []
    with played(here):
        api = KubernetesApi.of(here.kubeconfig, "dev")
        events = KubernetesJobFollower(api, "team", "train", RESUME, False, 0.01, 0.01, quick(0.2)).events()
        said.append(next(events))
    with pytest.raises(UserError) as caught:  # noqa: PT012 - what comes before counts, too
        for event in events:
            said.append(event)
    assert [event.kind for event in said] == [EventKind.STATE, EventKind.NOTE]
    line = str(caught.value)
    assert "\n" not in line
    assert line == (
        f"dev: http://127.0.0.1:{here.port} cannot be reached: connection refused; is the cluster up, and this machine "
        f"allowed to reach it?; gave up after 0 s, the job is not touched; continue with `{RESUME}`"
    )


def test_job_that_is_deleted_meanwhile_is_said_in_one_line() -> None:
    here = cluster(("Running", "MPIJobRunning"), exit_code=None)
    with played(here):
        api = KubernetesApi.of(here.kubeconfig, "dev")
        events = KubernetesJobFollower(api, "team", "train", RESUME, False, 0.01, 0.01).events()
        next(events)
        del here.objects[JOB]
        with pytest.raises(UserError, match=r"^train: was deleted in the meantime; see `gpufleet jobs list`$"):
            list(events)


def test_pauses_grow_and_end() -> None:
    now = [0.0]
    backoff = Backoff(first=1, longest=8, limit=30, clock=lambda: now[0], sleep=lambda _: None)
    pauses = []
    while (pause := backoff.next_pause()) is not None:
        pauses.append(pause)
        now[0] += pause
    assert pauses == [1, 2, 4, 8, 8, 7]
    backoff.worked()
    assert backoff.next_pause() == 1
