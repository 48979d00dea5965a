"""Checks of the Azure resources in a plan."""
