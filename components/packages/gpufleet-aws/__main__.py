"""The Pulumi package gpufleet-aws: our components for AWS, for programs in every language of Pulumi."""

from gpufleet.pulumi_package.provider import serve

serve("aws")
