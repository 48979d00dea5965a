"""The program that looks after GPU nodes in a cluster; Python's own library only.

Its pod has these files from a ConfigMap, as the package `node_health`, and runs `python3 -m node_health`:
gpufleet.kubernetes.node_health makes both.
"""
