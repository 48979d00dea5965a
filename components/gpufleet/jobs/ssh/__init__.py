"""What Slurm and plain hosts have in common: a machine that is spoken to by ssh, and folders on shared files."""
