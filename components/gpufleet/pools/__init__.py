"""Pools of GPU nodes, one class per service, and their schedules, labels and taints."""
