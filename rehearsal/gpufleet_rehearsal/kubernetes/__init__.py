"""The stand-in for the Pulumi `kubernetes` provider: a real control plane behind it, or schema checks without one."""
