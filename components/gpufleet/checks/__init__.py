"""Checks of a whole environment: what no component sees by itself. Each raises, or reports to `gathering`."""
