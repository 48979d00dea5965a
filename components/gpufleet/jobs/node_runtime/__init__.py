"""What every node of a multi-node job runs; see `entrypoint` of aws_batch and of azure_batch, which send it.

These modules are sent as one text, in a command: every byte counts, so their comments, which are not sent, stand where
other modules have docstrings; all share one namespace; and nothing but the library of Python 3.8 is there.

What differs between the services is in `aws_context` and `azure_context`, which define the same names: only the
service's own module is sent, and so what the others import from `aws_context` is Azure's on Azure. What differs between
launchers is, likewise, in `mpi_ranks`, `mpi_worker` and `mpi_main`, and in their counterparts of torchrun.
"""
