"""The Pulumi package gpufleet-azure: our components for Azure, for programs in every language of Pulumi."""

from gpufleet.package.serving import serve

serve("azure")
