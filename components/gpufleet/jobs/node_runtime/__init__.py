"""What every node of a multi-node job runs; see the `start` of AWS Batch and of Azure Batch, which send it.

These modules are sent as one text, in a command: every byte counts, so their comments, which are not sent, stand where
other modules have docstrings; all share one namespace; and nothing but the library of Python 3.8 is there.

What differs between the services stands in `aws_place` and `azure_place`, which define the same names: the one of the
service is sent, and so what the others import from `aws_place` is Azure's on Azure.
"""
