"""Checks of a whole environment on an own cluster: how it is reached, and its nodes together."""

from gpufleet.config.environment import Environment
from gpufleet.config.onprem import OnpremConfig
from gpufleet.kubernetes.kubeconfig_portability import kubeconfig_faults
from gpufleet.platform.pool import PlatformPool
from gpufleet.platform.pools import needed_software
from gpufleet.rules.access_logs import validate_access_logs
from gpufleet.rules.kubernetes.onprem_nodes import validate_onprem_cluster
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.validation import validate_stack


def check_onprem(env: Environment[OnpremConfig], pools: dict[str, PlatformPool]) -> None:
    """Findings on the environment as a whole."""
    config = env.config
    nodes = {name: pool["nodes"] for name, pool in config["pools"].items()}
    software = config.get("software") or needed_software(pools, autoscaler=False)
    findings = validate_onprem_cluster(nodes, kubeconfig_faults(config["kubeconfig"]), list(software))
    findings += validate_access_logs(config["access_logs"], ["nfs"])
    validate_stack(ResourceFinding(env.name, each) for each in findings)
