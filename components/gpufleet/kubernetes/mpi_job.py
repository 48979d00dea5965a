"""MpiJob: a training job as a resource of a stack, for jobs that belong to an environment."""

import pulumi

from gpufleet.jobs.kubernetes.mpi_job import MpiJobArgs, mpi_job
from gpufleet.kubernetes.objects import kubernetes_object
from gpufleet.ordering import after
from gpufleet.refusal import refuse_or_warn
from gpufleet.rules import judge_arguments
from gpufleet.rules.kubernetes.mpi_job import judge_mpi_job

__all__ = ["MpiJob", "MpiJobArgs"]


class MpiJob(pulumi.ComponentResource):
    """One MPIJob, called like the component. A changed job is a new job: the old one is deleted first.

    For a run now and then `gpufleet jobs submit` is the better way: it makes the same manifest without an `up`.

    Raises :class:`gpufleet.refusal.Refused` with every fault of ``args`` before anything is registered.
    """

    job: pulumi.Output[str]
    """Namespace and name of the job, as vision/resnet."""

    def __init__(self, name: str, args: MpiJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        refuse_or_warn(name, [*judge_arguments(args, MpiJobArgs), *judge_mpi_job(name, args)])
        super().__init__("gpufleet-kubernetes:index:MpiJob", name, {}, opts)
        # The operator looks at a job's spec when it makes pods; what changes later would hold for some of them only.
        opts = pulumi.ResourceOptions(parent=self, replace_on_changes=["spec"], delete_before_replace=True)
        job = kubernetes_object(f"{name}-job", mpi_job(name, args), opts)
        self.job = after(pulumi.Output.from_input(f"{args['namespace']}/{name}"), job)
        self.register_outputs({"job": self.job})
