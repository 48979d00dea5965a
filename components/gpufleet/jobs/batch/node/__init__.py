"""What every node of a multi-node job runs as its first process; see `gpufleet.jobs.batch.start`, which sends it.

These modules are sent as one text, in a container's command: every byte counts, so their comments, which are not sent,
stand where other modules have docstrings; all share one namespace; and nothing but the library of Python 3.8 is there.
"""
