"""The MPI job as a resource: the manifest of the plain function, replaced as a whole."""

from gpufleet.jobs.kubernetes.mpi_job import mpi_job
from gpufleet.kubernetes.mpi_job import MpiJob
from tests.components.recorder import construct, refusal
from tests.components.samples import SAMPLES

JOB = "kubernetes:kubeflow.org/v2beta1:MPIJob"
ARGS = SAMPLES["kubernetes"]["MpiJob"]


def test_registers_what_the_plain_function_makes(preview):
    recording = construct(lambda: MpiJob("llm", ARGS), preview)
    assert recording.inputs(JOB) == {"llm-job": mpi_job("llm", ARGS)}
    assert recording.outputs["llm"] == {"job": "vision/llm"}


def test_a_changed_job_is_a_new_job(preview):
    job = construct(lambda: MpiJob("llm", ARGS), preview).one(JOB)
    assert (job.replace_on_changes, job.delete_before_replace) == (("spec",), True)


def test_refuses_all_faults_at_once(preview):
    args = ARGS | {"workers": 0, "gpus_per_worker": 9}
    assert refusal(lambda: MpiJob("LLM", args), preview) == [
        "LLM: name=LLM: is not a valid host name; use lower-case letters, digits and - between them, a letter first, "
        "such as "
        "resnet-1 [any-mpi-name]",
        "LLM: workers=0: no launcher is ever made for it; use 1 or more [any-mpi-workers]",
        "LLM: gpus_per_worker=9: is more than the 8 of p5.48xlarge; use 1 to 8 [any-mpi-gpus]",
    ]
