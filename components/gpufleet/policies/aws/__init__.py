"""Checks of the AWS resources in a plan."""
