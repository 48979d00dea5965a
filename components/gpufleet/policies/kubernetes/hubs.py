"""Checks of JupyterHub's releases in the plan of any program: who reaches a login that accepts any name."""

from collections.abc import Mapping

from gpufleet.plan import UNKNOWN, Plan, Resource
from gpufleet.plan.property_values import value_of
from gpufleet.policies.kubernetes.network_policies import RELEASE
from gpufleet.rules.kubernetes.jupyterhub import dummy_login_inside, validate_hub_login
from gpufleet.rules.resource_finding import ResourceFinding, findings_on
from gpufleet.rules.rule import Finding


def validate_hubs(plan: Plan) -> list[ResourceFinding]:
    """Every finding on the releases of JupyterHub's chart."""
    hubs = [each for each in plan.of_type(RELEASE) if _chart(each) == "jupyterhub"]
    return [finding for each in hubs for finding in findings_on(each, _login(each))]


def _chart(release: Resource) -> str:
    chart = value_of(release, "chart")
    return chart.rpartition("/")[2] if isinstance(chart, str) else ""


def _login(release: Resource) -> list[Finding]:
    values = value_of(release, "values")
    if values is UNKNOWN or value_of(release, "valueYamlFiles") is not None:
        # Files of values lie beside the program, and win over nothing that is known here.
        return [dummy_login_inside(dummy=None, password=False, argument="values", value=None, reach=None)]
    return validate_hub_login(values if isinstance(values, Mapping) else {})
