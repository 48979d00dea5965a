"""Pools of GPU nodes as their owners describe them, one class per service, and what all of them share: schedules, labels, taints."""
