"""The ConfigMap in a notebook's namespace with the settings of its jobs."""

NAME = "gpufleet-jobs"
"""Its name; gpufleet.kubernetes.notebooks makes it."""
KEY = "jobs.json"
"""Its only key: JSON with `environment` and `jobs`, as gpufleet.jobs.stack_output.JobsOutput says."""
