"""Checks of the Kubernetes objects in a plan."""
