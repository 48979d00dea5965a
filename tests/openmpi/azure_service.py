"""Plays what Azure Batch does with one multi-instance task on Spot nodes: tries, retries and requeues.

A try that ends with another code than 0 uses up one of the task's retries. A try whose primary's node is taken has no
code; the task goes back into the queue, without using one up. Every try begins with the coordination command on all
nodes, on nodes without local files. Sources: learn.microsoft.com/azure/batch/batch-spot-vms,
learn.microsoft.com/rest/api/batchservice/task/add (maxTaskRetryCount; workingDirectory of containers, which is the
task's by default), .../task/get (retryCount, requeueCount).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.openmpi.azure_nodes import AzureNodes, container_user
from tests.openmpi.job_run import DIRECTORY
from tests.openmpi.pod import Pod

_MOST_TRIES = 6


@dataclass(frozen=True)
class Try:
    """code: of the application command, None where its node was taken. text: its output, as far as it came."""

    code: int | None
    text: str


@dataclass
class FakeService:
    """The service with the nodes of one task. task: JSON of Batch's REST API. retries, requeues: as it counts them."""

    nodes: AzureNodes
    task: Mapping[str, Any]
    seconds: float
    retries: int = 0
    requeues: int = 0
    tries: list[Try] = field(default_factory=list)

    def run(self, meanwhile: Callable[[int, list[Pod]], int | None]) -> int | None:
        """Try the task until it succeeds or no retry is left; the last try's code.

        meanwhile: gets the number of a try, from 1, and its pods, and returns which node it has taken, if any.
        """
        settings = self.task["multiInstanceSettings"]
        environment = {each["name"]: each["value"] for each in self.task["environmentSettings"]}
        container = self.task["containerSettings"]
        self.nodes.uid = container_user(container["containerRunOptions"])
        directory = DIRECTORY if container.get("workingDirectory") == "containerImageDefault" else ""
        for number in range(1, _MOST_TRIES + 1):
            commands = settings["coordinationCommandLine"], self.task["commandLine"]
            with self.nodes.task(*commands, directory, **environment) as pods:
                taken = meanwhile(number, pods)
                code = None if taken == 0 else pods[0].wait(self.seconds)
            self.tries.append(Try(code, pods[0].text()))
            if code is None:
                self.requeues += 1
            elif code == 0 or self.retries == self.task["constraints"]["maxTaskRetryCount"]:
                return code
            else:
                self.retries += 1
        raise AssertionError(f"the task has not ended after {_MOST_TRIES} tries")
