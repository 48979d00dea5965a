"""The simulated Pulumi `kubernetes` provider: backed by a real control plane, or by schema checks without one."""
