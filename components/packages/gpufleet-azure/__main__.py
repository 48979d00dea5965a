"""The Pulumi package gpufleet-azure: our components for Azure, for programs in every language of Pulumi."""

from gpufleet.pulumi_package.provider import serve

serve("azure")
