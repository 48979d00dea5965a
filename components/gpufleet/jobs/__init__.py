"""Jobs: on the command line `gpufleet jobs`, in a notebook `gpufleet.jobs.submit`."""

from gpufleet.jobs.client import Job, JobError, submit

__all__ = ["Job", "JobError", "submit"]
