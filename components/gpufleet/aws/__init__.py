"""AWS components: the network, the EKS cluster, GPU node groups, shared files, the registry and the budget.

Import each from its own file, for instance ``from gpufleet.aws.network import Network``: this package imports no SDK.
"""
