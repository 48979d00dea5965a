"""Where a notebook finds what its jobs need to know: a ConfigMap of its namespace."""

CONFIG = "gpufleet-jobs"
"""Its name; gpufleet.kubernetes.notebooks makes it."""
KEY = "jobs.json"
"""Its only key: JSON with `environment` and `jobs`, as gpufleet.jobs.stack_output.JobsOutput says."""
