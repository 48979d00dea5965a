"""The Pulumi package gpufleet-kubernetes: our components for Kubernetes, for programs in every language of Pulumi."""

from gpufleet.pulumi_package.provider import serve

serve("kubernetes")
