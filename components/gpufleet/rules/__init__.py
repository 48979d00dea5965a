"""Rules: plain facts in, findings out. Imports neither pulumi nor a cloud SDK.

Doors: `judge_pool`, `judge_network`, `judge_cluster`, `judge_shared_files`, `judge_registry`, `judge_tags`. Each takes
plain values and returns every finding, passes included.
"""

from gpufleet.rules.rule import Finding, Rule, Severity, Status, all_rules

__all__ = [
    "Finding",
    "Rule",
    "Severity",
    "Status",
    "all_rules",
]
