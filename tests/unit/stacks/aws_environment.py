"""The stack of an AWS environment `dev` as a program, and what it registers."""

import json

from recorder import construct

from on_aws import build
from settings import read

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


def program(**changes):
    """The stack `dev` as a program, with these keys of the configuration changed."""
    config = CONFIG | {f"gpufleet:{key}": value for key, value in changes.items()}
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
    return lambda: build("dev", read(texts, "dev"))


def recording(**changes):
    return construct(program(**changes), preview=False)
