"""The kinds of stacks that `gpufleet:cloud` names: what declares the configuration of each."""

from dataclasses import dataclass
from importlib import import_module

CLOUDS = ("aws", "aws-batch", "azure", "onprem")


@dataclass(frozen=True)
class StackKind:
    """module, name: of the TypedDict of its configuration. provider: namespace of the keys that its provider reads.

    provider_keys: keys that come from that namespace instead of gpufleet's.
    """

    module: str
    name: str
    provider: str
    provider_keys: tuple[str, ...] = ()

    @property
    def config(self) -> type:
        """The TypedDict. Imported only here: a process never loads the SDKs of two clouds."""
        declared: type = getattr(import_module(f"gpufleet.config.{self.module}"), self.name)
        return declared


KINDS = {
    "aws": StackKind("aws", "AwsConfig", "aws", ("region",)),
    "aws-batch": StackKind("aws_batch", "AwsBatchConfig", "aws", ("region",)),
    "azure": StackKind("azure", "AzureConfig", "azure-native", ("location",)),
    "onprem": StackKind("onprem", "OnpremConfig", "kubernetes"),
}


def stack_kind(cloud: str) -> StackKind:
    """The stack that a value of `gpufleet:cloud` names; for an illegal value the first, which will say so."""
    return KINDS.get(cloud, KINDS["aws"])
