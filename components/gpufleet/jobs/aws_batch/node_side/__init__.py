"""Programs that run inside the containers of AWS Batch jobs, with nothing but Python's standard library."""
