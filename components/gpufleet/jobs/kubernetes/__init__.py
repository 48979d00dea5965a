"""MPI jobs on Kubernetes."""
