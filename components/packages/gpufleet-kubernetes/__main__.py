"""The Pulumi package gpufleet-kubernetes: our components for Kubernetes, for programs in every language of Pulumi."""

from gpufleet.package.serving import serve

serve("kubernetes")
