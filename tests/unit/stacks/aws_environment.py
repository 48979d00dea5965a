"""The program of an AWS environment `dev`."""

from tests.unit.stacks.stack_programs import Program

POOL = {"types": ["p5.48xlarge"], "max": 12, "zones": ["use1-az3"], "network": "efa", "placement": "create"}
CONFIG = {
    "aws:region": "us-east-1",
    "gpufleet:cloud": "aws",
    "gpufleet:owner": "team",
    "gpufleet:project": "training",
    "gpufleet:network": {"zones": ["use1-az1", "use1-az2", "use1-az3"]},
    "gpufleet:pools": {"trainers": POOL},
    "gpufleet:registry": {"repositories": ["training"]},
}
program = Program("dev", CONFIG)
