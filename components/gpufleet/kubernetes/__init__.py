"""What runs on a cluster, the same on EKS, AKS and on-premises: one component per file.

Objects are registered one by one as plain custom resources, so that no SDK is needed and each shows in the first
preview, also while the cluster does not exist yet. Give components the provider of their cluster (`cluster_provider`).
"""
