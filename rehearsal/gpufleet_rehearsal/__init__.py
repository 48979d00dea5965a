"""Simulated clouds behind the real Pulumi engine: stand-in provider plugins whose rules are data."""
