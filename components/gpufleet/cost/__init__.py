"""What a plan costs: floor, steady and ceiling, in USD an hour and a month. No pulumi, no cloud SDK, no network.

`estimate.py` prices a `gpufleet.plan.Plan` by the catalog and by assumptions (`usage_assumptions.py`), and
lists them. A missing price is unknown, never zero. Nothing is imported here: programs need only the assumptions.
"""
