"""Jobs in a rehearsed environment on its control plane, by the command line as a researcher would."""

import json
import re
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from gpufleet.jobs.kubernetes.api import KubernetesApi
from gpufleet.jobs.kubernetes.submit import create_job
from tests.cluster.workloads import pods
from tests.e2e.rehearsed_project import REPOSITORY, Project
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.programs import programs

TEAM = "training"
WORKER = "training.kubeflow.org/job-role=worker"
ENDLESS = {"rehearsal.gpufleet.dev/exit-code": "none"}


@dataclass
class Rehearsed:
    """An environment of a project that is up on the control plane of its rehearsal.

    team: whose jobs these are; where there are several teams it is said with every command on jobs.
    """

    project: Project
    environment: str
    team: str | None = None

    def of(self, team: str) -> "Rehearsed":
        """The same for the jobs of one of its teams."""
        return replace(self, team=team)

    @property
    def namespace(self) -> str:
        return self.team or TEAM

    def jobs(self, verb: str, *words: str) -> tuple[str, str, int]:
        """`gpufleet jobs <verb>` on the environment, for the team if there is one."""
        whose = ("--team", self.team) if self.team else ()
        return self.inside("gpufleet", "jobs", verb, self.environment, *whose, *words)

    @property
    def plane(self) -> ControlPlane:
        return ControlPlane(self.project.home.root / "kubernetes")

    def up(self) -> str:
        """Bring it to what its files say; what was printed."""
        done = self.project.rehearse(environment=self.environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def inside(self, *command: str) -> tuple[str, str, int]:
        """A command within the rehearsal: what it printed, what it said beside, and its exit code."""
        done = self.project.rehearse("--", *command, environment=self.environment)
        return done.stdout, done.stderr, done.returncode

    def line(self, line: str) -> tuple[str, str, int]:
        """A line of a guide, word for word, within the rehearsal; printed with what it printed."""
        printed, said, code = self.inside("sh", "-c", line)
        print(f"$ {line}\n{printed}{said}[exit code {code}]")
        return printed, said, code

    def run_first_job(self) -> None:
        """Run the printed `first_job` as it stands, to the end of its job."""
        (self.project.folder / "examples").symlink_to(REPOSITORY / "examples")
        # What `pulumi stack output first_job` prints: `up` itself cuts a long one off.
        self.run_job(str(self.project.home.engine().outputs(self.environment)["first_job"]))

    def run_job(self, line: str) -> None:
        """Run a line that submits a job and follows it to its end."""
        _, said, code = self.line(line)
        assert code == 0, f"{said}{(self.plane.logs / 'supervisor.log').read_text()[-2000:]}"
        assert re.search(r"^train-\S+: succeeded after", said, re.MULTILINE), said

    def start(self, name: str, *words: str) -> None:
        """Submit what `gpufleet jobs submit` makes of these words; its launcher runs until the job is deleted."""
        options = ("--image", "training:1", "--name", name, "--dry-run", "--json", *words)
        text, said, code = self.jobs("submit", *options, "--", "python3", "train.py")
        assert code == 0, said
        document = json.loads(text)
        launcher = document["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["metadata"]
        launcher["annotations"] = launcher.get("annotations", {}) | ENDLESS
        create_job(KubernetesApi.of(self.plane.kubeconfig.read_text(), self.environment), document, print)

    def pods(self, name: str) -> list[dict[str, Any]]:
        """All pods of a job."""
        return pods(self.plane, self.namespace, f"training.kubeflow.org/job-name={name}")

    def places(self, name: str) -> list[str]:
        """The nodes of a job's workers that run."""
        found = pods(self.plane, self.namespace, f"{WORKER},training.kubeflow.org/job-name={name}")
        running = [each for each in found if each["status"].get("phase") == "Running"]
        return sorted(str(each["spec"]["nodeName"]) for each in running)

    def placed(self, name: str, workers: int) -> list[str]:
        """Wait until all workers run."""
        wait_until(f"{name} runs", lambda: len(self.places(name)) == workers, state=lambda: self.state(name))
        return self.places(name)

    def all_ready(self, name: str) -> None:
        """Wait until all pods of a job are ready, its launcher included."""

        def ready() -> bool:
            conditions = [pod["status"].get("conditions", ()) for pod in self.pods(name)]
            states = [{each["type"]: each["status"] for each in listed}.get("Ready") for listed in conditions]
            return bool(states) and set(states) == {"True"}

        wait_until(f"all pods of {name} are ready", ready, state=lambda: self.state(name))

    def state(self, name: str) -> str:
        """Why a job does not run, for the message of a test: its workload, its pods, the nodes, the newest events."""
        looks = [
            ("get", "workloads,mpijobs,pods", "-n", self.namespace, "-o", "wide"),
            ("get", "workloads", "-n", self.namespace, "-o", "jsonpath={.items[*].status.conditions}"),
            ("get", "resourceflavors,nodes", "-o", "yaml"),
            ("get", "events", "-A", "--sort-by=.metadata.creationTimestamp"),
        ]
        return "\n".join([*self.jobs("status", name)[:2], *(self.kubectl(*look)[-6000:] for look in looks)])

    def held(self, name: str, reason: str) -> None:
        """Wait until `gpufleet jobs status` says why it does not start."""

        def told() -> bool:
            text, said, code = self.jobs("status", name)
            assert code == 0, said
            return reason in text

        wait_until(f"{name} is held", told)

    def cancel(self, *names: str) -> None:
        for name in names:
            _, said, code = self.jobs("cancel", name)
            assert code == 0, said

    def kubectl(self, *words: str) -> str:
        program = str(programs()["kubectl"].executable)
        command = [program, f"--kubeconfig={self.plane.kubeconfig}", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def drain(self, node: str) -> None:
        told = self.kubectl("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=60s")
        assert f"node/{node} drained" in told

    def node(self, name: str) -> dict[str, Any]:
        """Empty where there is none."""
        return dict(self.plane.client.find(f"/api/v1/nodes/{name}") or {})

    def labels(self, name: str) -> dict[str, str]:
        """The labels of gpufleet that a node has."""
        found = self.node(name)["metadata"]["labels"]
        return {key.partition("/")[2]: value for key, value in found.items() if key.startswith("gpufleet.dev/")}

    def quota(self, flavor: str) -> str:
        """GPUs of a flavor that the team may have."""
        path = f"/apis/kueue.x-k8s.io/v1beta2/clusterqueues/{self.environment}-queue-{self.namespace}"
        flavors = self.plane.client.get(path)["spec"]["resourceGroups"][0]["flavors"]
        (found,) = [each for each in flavors if each["name"] == f"{self.environment}-queue-{flavor}"]
        return str(found["resources"][0]["nominalQuota"])

    @property
    def servers(self) -> Path:
        """The file of the simulated account, which names the servers that stand there."""
        return self.project.folder / "stacks" / "config" / f"rehearsal.{self.environment}.yaml"

    def remove_server(self, name: str) -> None:
        rows = yaml.safe_load(self.servers.read_text())
        rows["nodes"] = [row for row in rows["nodes"] if row["name"] != name]
        self.servers.write_text(yaml.safe_dump(rows))

    def add_server(self, **row: object) -> None:
        rows = yaml.safe_load(self.servers.read_text())
        rows["nodes"].append(row)
        self.servers.write_text(yaml.safe_dump(rows))
