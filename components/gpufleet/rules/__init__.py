"""Rules: plain facts in, findings out. Imports neither pulumi nor a cloud SDK.

The `validate_...` functions take a component's arguments, check the plain values in them, and return every finding,
passes included: `validate_arguments` names and kinds of any component's arguments, the others the subject they name.
"""

from gpufleet.rules.arguments import validate_arguments
from gpufleet.rules.aws.batch_environment import validate_batch_environment
from gpufleet.rules.aws.batch_queue import validate_batch_queue
from gpufleet.rules.aws.cluster import validate_cluster
from gpufleet.rules.aws.gpu_pool import validate_pool
from gpufleet.rules.aws.network import validate_network
from gpufleet.rules.aws.outputs_bucket import validate_outputs_bucket
from gpufleet.rules.aws.registry import validate_registry
from gpufleet.rules.aws.shared_files import validate_shared_files
from gpufleet.rules.aws.training_job import validate_training_job
from gpufleet.rules.budget import validate_budget
from gpufleet.rules.rule import Finding, Rule, Severity, Status, all_rules
from gpufleet.rules.rules_table import rules_table_markdown
from gpufleet.rules.tags import validate_tags

__all__ = [
    "Finding",
    "Rule",
    "Severity",
    "Status",
    "all_rules",
    "rules_table_markdown",
    "validate_arguments",
    "validate_batch_environment",
    "validate_batch_queue",
    "validate_budget",
    "validate_cluster",
    "validate_network",
    "validate_outputs_bucket",
    "validate_pool",
    "validate_registry",
    "validate_shared_files",
    "validate_tags",
    "validate_training_job",
]
