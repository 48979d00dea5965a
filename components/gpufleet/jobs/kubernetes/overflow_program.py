"""What runs in the cluster for jobs with steps: it moves a job to its next pool when a pool's capacity does not come.

Kueue 0.19.2 does not do this: after an eviction it starts at the first flavor again (docs/decisions/0036). This
program uses what Kueue serves: it deactivates the job's Workload, which makes Kueue suspend the job and release its
quota; it gives the suspended job the node selectors of its next pool; and it activates the Workload once Kueue has
copied these into it: one that is admitted before fails for good (`conflict for nodeSelector`). In between it deletes
the launcher's Job, whose pod template the MPI operator 0.7.0 does not change (mpi_job_controller.go, syncHandler).

The image holds no gpufleet, so that this file goes there as text and imports Python's own library only. It keeps
nothing in memory: the record of a job's steps is an annotation of the job, and each pass makes at most one change.
"""

import argparse
import json
import os
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

LABEL = "gpufleet.dev/overflow"
"""Label of jobs that have steps."""
STEPS = "gpufleet.dev/steps"
"""Annotation of a job: its steps in order, in JSON; each has pool, seconds, and the patch of the job that leads to it
from the step before."""
RECORD = "gpufleet.dev/steps-tried"
"""Annotation of a job: the steps that were tried; each has pool and since, then either complete, or until and why."""
GIVEN_UP = "gpufleet.dev/step-given-up"
"""Annotation of a Workload that this program deactivated: the number of the step. Others' stay inactive."""
JOBS = "/apis/kubeflow.org/v2beta1"
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2"

Object = Mapping[str, Any]


def next_change(
    job: Object, workload: Object | None, workers: Sequence[Object], launchers: Sequence[Object], now: datetime
) -> tuple[str, Any]:
    """The next change: (`job`, patch), (`workload`, patch), (`launcher`, name to delete) or (``, None). Pure.

    workers: the job's worker pods. launchers: its launchers' Jobs, at most one. Patches are JSON merge patches (RFC
    7386).
    """
    steps = json.loads(job["metadata"]["annotations"][STEPS])
    record = tried_steps(job)
    current, number = record[-1], len(record) - 1
    if workload is None or "complete" in current or _ended(job):
        return "", None
    active = workload["spec"].get("active", True)
    placed = sum(bool(pod["spec"].get("nodeName")) for pod in workers)
    wanted = int(job["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"])
    if active and placed >= wanted:
        complete = {"pool": current["pool"], "since": current["since"], "complete": _text(now)}
        return "job", _recorded(job, [*record[:-1], complete])
    if "until" in current:
        if active:
            return "workload", {"metadata": {"annotations": {GIVEN_UP: str(number)}}, "spec": {"active": False}}
        if workers or not job["spec"]["runPolicy"].get("suspend") or _has_quota(workload):
            return "", None
        following = steps[number + 1]
        change = _recorded(job, [*record, {"pool": following["pool"], "since": _text(now)}])
        return "job", {**change, "spec": {"mpiReplicaSpecs": following["patch"]}}
    if not active:
        ours = (workload["metadata"].get("annotations") or {}).get(GIVEN_UP) == str(number - 1)
        if not ours or not _is_copied(job, workload):
            return "", None
        old = [each for each in launchers if each["metadata"]["creationTimestamp"] < current["since"]]
        return ("launcher", old[0]["metadata"]["name"]) if old else ("workload", {"spec": {"active": True}})
    over = (now - datetime.fromisoformat(current["since"])).total_seconds() >= steps[number]["seconds"]
    if not over or number + 1 >= len(steps):
        return "", None
    why = {"quota": _has_quota(workload), "placed": placed, "message": _reason(workload, workers)}
    return "job", _recorded(job, [*record[:-1], {**current, "until": _text(now), **why}])


def tried_steps(job: Object) -> list[dict[str, Any]]:
    """The record of a job's steps; before the first entry is written, the first step since the job's creation."""
    about = job["metadata"]
    annotations = about.get("annotations") or {}
    first = json.loads(annotations[STEPS])[0]["pool"]
    return list(json.loads(annotations.get(RECORD, "[]"))) or [{"pool": first, "since": about["creationTimestamp"]}]


def _recorded(job: Object, record: Sequence[Object]) -> dict[str, Any]:
    """A patch with a new record, refused with 409 if the job has changed since it was read."""
    about = {"resourceVersion": job["metadata"]["resourceVersion"], "annotations": {RECORD: json.dumps(record)}}
    return {"metadata": about}


def _ended(job: Object) -> bool:
    conditions = (job.get("status") or {}).get("conditions") or []
    return any(each["type"] in ("Succeeded", "Failed") and each["status"] == "True" for each in conditions)


def _is_copied(job: Object, workload: Object) -> bool:
    """Whether Kueue has copied the pool of the step into the Workload: steps differ in the workers' node selector."""
    wanted = job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"].get("nodeSelector")
    copies = [each["template"]["spec"] for each in workload["spec"]["podSets"] if each["name"] == "worker"]
    return [each.get("nodeSelector") for each in copies] == [wanted]


def _has_quota(workload: Object) -> bool:
    return _condition(workload, "QuotaReserved").get("status") == "True"


def _reason(workload: Object, workers: Sequence[Object]) -> str:
    """What Kueue says of the quota, or the scheduler of the first worker without a node."""
    if not _has_quota(workload):
        return str(_condition(workload, "QuotaReserved").get("message", ""))
    said = (_condition(pod, "PodScheduled") for pod in workers if not pod["spec"].get("nodeName"))
    return next((str(each["message"]) for each in said if each.get("message")), "")


def _condition(found: Object, kind: str) -> Object:
    conditions = (found.get("status") or {}).get("conditions") or []
    return next((each for each in conditions if each["type"] == kind), {})


def _text(now: datetime) -> str:
    return f"{now:%Y-%m-%dT%H:%M:%SZ}"


class ClusterClient:
    """The API server as a pod sees it: address, certificate and token of its service account."""

    def __init__(self, server: str, account: Path) -> None:
        self._server, self._account = server, account
        context = ssl.create_default_context(cafile=str(account / "ca.crt"))
        no_proxy, secured = urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        self._opener = urllib.request.build_opener(no_proxy, secured)

    def items(self, path: str, selector: str) -> list[Object]:
        """The objects with a label. Errors: OSError."""
        return list(self._call("GET", f"{path}?{urllib.parse.urlencode({'labelSelector': selector})}")["items"])

    def merge(self, path: str, patch: object) -> None:
        """Apply a merge patch. Errors: OSError."""
        self._call("PATCH", path, json.dumps(patch).encode())

    def delete(self, path: str) -> None:
        """Delete an object and what it owns. Errors: OSError."""
        self._call("DELETE", f"{path}?propagationPolicy=Background")

    def _call(self, method: str, path: str, body: bytes | None = None) -> Any:  # noqa: ANN401 - the server's JSON
        # The kubelet renews the token in this file.
        token = (self._account / "token").read_text(encoding="utf-8").strip()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/merge-patch+json"}
        request = urllib.request.Request(f"{self._server}{path}", body, headers, method=method)
        with self._opener.open(request, timeout=30) as answer:
            return json.load(answer)


def look(client: ClusterClient, now: datetime) -> None:
    """One pass over all jobs that have steps. Errors: OSError.

    A job that cannot be read, or that the API server refuses to change, does not hold up the others.
    """
    for job in client.items(f"{JOBS}/mpijobs", LABEL):
        try:
            _move(client, job, now)
        except urllib.error.HTTPError as refused:
            # 409: the job changed since it was read; the next pass reads it again.
            if refused.code != 409:
                print(f"{_name(job)}: {refused.code} {refused.read(500)!r}", flush=True)
        except (AttributeError, KeyError, IndexError, TypeError, ValueError) as problem:
            print(f"{_name(job)}: its steps cannot be read: {problem!r}", flush=True)


def _name(job: Object) -> str:
    return f"{job['metadata']['namespace']}/{job['metadata']['name']}"


def _owner(found: Object) -> str:
    return next((str(each["uid"]) for each in found["metadata"].get("ownerReferences", ())), "")


def _move(client: ClusterClient, job: Object, now: datetime) -> None:
    about = job["metadata"]
    namespace, name = about["namespace"], about["name"]
    if STEPS in (about.get("annotations") or {}) and "complete" not in tried_steps(job)[-1] and not _ended(job):
        at = f"{WORKLOADS}/namespaces/{namespace}/workloads"
        found = client.items(at, f"kueue.x-k8s.io/job-uid={about['uid']}")
        selector = f"training.kubeflow.org/job-name={name},training.kubeflow.org/job-role=worker"
        workers = client.items(f"/api/v1/namespaces/{namespace}/pods", selector)
        batch = f"/apis/batch/v1/namespaces/{namespace}/jobs"
        # The operator gives a launcher's Job no label but this one.
        launchers = [each for each in client.items(batch, f"app={name}") if _owner(each) == about["uid"]]
        kind, change = next_change(job, found[0] if found else None, workers, launchers, now)
        if kind == "job":
            client.merge(f"{JOBS}/namespaces/{namespace}/mpijobs/{name}", change)
        elif kind == "workload":
            client.merge(f"{at}/{found[0]['metadata']['name']}", change)
        elif kind == "launcher":
            client.delete(f"{batch}/{change}")
        if kind:
            shown = change["metadata"]["annotations"] if kind == "job" else change
            print(f"{namespace}/{name}: {kind}: {json.dumps(shown)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=float, default=5.0)
    parser.add_argument("--account", type=Path, default=Path("/var/run/secrets/kubernetes.io/serviceaccount"))
    words = parser.parse_args()
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    client = ClusterClient(f"https://{f'[{host}]' if ':' in host else host}:{port}", words.account)
    while True:
        try:
            look(client, datetime.now(UTC))
        except OSError as problem:
            print(f"the API server: {problem}", flush=True)
        time.sleep(words.every)


if __name__ == "__main__":
    main()
