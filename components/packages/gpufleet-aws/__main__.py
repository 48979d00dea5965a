"""The Pulumi package gpufleet-aws: our components for AWS, for programs in every language of Pulumi."""

from gpufleet.package.serving import serve

serve("aws")
