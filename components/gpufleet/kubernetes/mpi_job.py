"""MpiJob: a training job as a resource of a stack, for jobs that belong to an environment."""

from typing import Unpack

import pulumi

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.jobs.kubernetes.mpi_job import MpiJobArgs, mpi_job
from gpufleet.kubernetes.objects import kubernetes_object
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.kubernetes.mpi_job import validate_mpi_job

__all__ = ["MpiJob", "MpiJobArgs"]


class MpiJob(Component):
    """One MPIJob, named after the component. A changed job is a new job: the old one is deleted first.

    For a run now and then `gpufleet jobs submit` is the better way: it makes the same manifest without an `up`.
    """

    job: pulumi.Output[str]
    """Namespace and name of the job, as vision/resnet."""

    def __init__(
        self, name: str, args: MpiJobArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[MpiJobArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: MpiJobArgs) -> list[Finding]:
        return validate_mpi_job(name, args)

    def create(self, name: str, args: MpiJobArgs) -> None:
        # The operator looks at a job's spec when it makes pods; what changes later would hold for some of them only.
        once = self.child(replace_on_changes=["spec"], delete_before_replace=True)
        job = kubernetes_object(f"{name}-job", mpi_job(name, args), once)
        self.job = with_dependencies(pulumi.Output.from_input(f"{args['namespace']}/{name}"), job)
