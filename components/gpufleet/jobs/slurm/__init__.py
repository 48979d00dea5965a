"""Jobs on an existing Slurm cluster."""
