"""Shared by Slurm and plain hosts: a machine reached by ssh, and job folders on shared files."""
