"""The policy pack gpufleet-zones: `pulumi preview --policy-pack policies/zones`.

Needs a Python that has gpufleet installed with the extra `policies`; configure it with --policy-pack-config.
"""

from pulumi_policy import PolicyPack

from gpufleet.policies.feasibility import DESCRIPTION, NAME, PROPERTIES, validate_feasibility
from gpufleet.policies.pack import StackPolicy, policies_of

PolicyPack(NAME, policies_of(StackPolicy("zones", DESCRIPTION, validate_feasibility, PROPERTIES)))
