"""Simulated clouds behind the real Pulumi engine: simulated provider plugins whose rules are data."""
