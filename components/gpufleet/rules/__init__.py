"""Rules: plain facts in, findings out. Imports neither pulumi nor a cloud SDK.

The doors take a component's arguments, judge what is plain in them, and return every finding, passes included:
`judge_arguments` names and kinds of any component's arguments, the others the subject they name.
"""

from gpufleet.rules.arguments import judge_arguments
from gpufleet.rules.aws.batch_environment import judge_batch_environment
from gpufleet.rules.aws.batch_queue import judge_batch_queue
from gpufleet.rules.aws.cluster import judge_cluster
from gpufleet.rules.aws.network import judge_network
from gpufleet.rules.aws.outputs_bucket import judge_outputs_bucket
from gpufleet.rules.aws.registry import judge_registry
from gpufleet.rules.aws.shared_files import judge_shared_files
from gpufleet.rules.aws.training_job import judge_training_job
from gpufleet.rules.budget import judge_budget
from gpufleet.rules.listing import rules_table_markdown
from gpufleet.rules.pool import judge_pool
from gpufleet.rules.rule import Finding, Rule, Severity, Status, all_rules
from gpufleet.rules.tags import judge_tags

__all__ = [
    "Finding",
    "Rule",
    "Severity",
    "Status",
    "all_rules",
    "judge_arguments",
    "judge_batch_environment",
    "judge_batch_queue",
    "judge_budget",
    "judge_cluster",
    "judge_network",
    "judge_outputs_bucket",
    "judge_pool",
    "judge_registry",
    "judge_shared_files",
    "judge_tags",
    "judge_training_job",
    "rules_table_markdown",
]
