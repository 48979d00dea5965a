"""Jobs: on the command line `gpufleet jobs`, in a notebook `gpufleet.jobs.submit`."""

from gpufleet.jobs.client import JobError, SubmittedJob, submit

__all__ = ["JobError", "SubmittedJob", "submit"]
