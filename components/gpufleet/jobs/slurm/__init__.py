"""Jobs on a Slurm cluster that is there already."""
