"""Changes of the legal Azure program, and the findings on it, behind the policy SDK's own proxies."""

from collections.abc import Callable, Mapping
from typing import Any

from gpufleet.policies.azure.feasibility import validate_azure_feasibility
from gpufleet.policies.pack import plan_of
from gpufleet.rules import Severity, Status
from tests.policies.legal_azure_program import legal_azure_program, resource
from tests.policies.raw_program import plan_from, policy_args

Program = dict[str, dict[str, Any]]
Change = Callable[[Program], None]
CONFIG = {"aks_infiniband": True}


def findings_of(program: Mapping[str, Any], config: Mapping[str, object] = CONFIG, region: str = "eastus"):
    """What does not pass, through the SDK's proxies."""
    found = validate_azure_feasibility(plan_of(policy_args(program, region=region).resources), config)
    # The same without the proxies, as cost and preflight read a plan.
    assert validate_azure_feasibility(plan_from(program, region), config) == found
    return [each for each in found if each.finding.status is not Status.PASS]


def refused(program: Program) -> set[tuple[str, str]]:
    return {(each.resource, each.finding.rule) for each in findings_of(program) if each.rejects}


def told(program: Program, status: Status, *severities: Severity) -> set[tuple[str, str]]:
    return {
        (each.resource, each.finding.rule)
        for each in findings_of(program)
        if each.finding.status is status
        and each.finding.severity in (severities or tuple(Severity))
        and not each.rejects
    }


def with_change(change: Change) -> Program:
    program = legal_azure_program()
    change(program)
    return program


def put(name: str, /, *path: str, **values: Any) -> Change:
    """Set values in a resource's inputs, at a path of objects."""

    def change(program: Program) -> None:
        place = program[name]["inputs"]
        for step in path:
            place = place.setdefault(step, {})
        place.update(values)

    return change


def add(name: str, kind: str, /, **inputs: Any) -> Change:
    return lambda program: program.update({name: resource(kind, **inputs)})


def both(*changes: Change) -> Change:
    return lambda program: [change(program) for change in changes] and None


def gateway(*ranges: str) -> Change:
    """A public cluster for these ranges, whose nodes leave through a NAT gateway of the program."""

    def change(program: Program) -> None:
        for name, kind, inputs in (
            ("address", "network:PublicIPAddress", {"publicIPAllocationMethod": "Static"}),
            ("gateway", "network:NatGateway", {"publicIpAddresses": [{"id": "${address.id}"}]}),
        ):
            program[name] = resource(kind, resourceGroupName="${group.name}", **inputs)
        put("subnet", natGateway={"id": "${gateway.id}"})(program)
        put(
            "cluster",
            networkProfile={"outboundType": "userAssignedNATGateway"},
            apiServerAccessProfile={"authorizedIPRanges": list(ranges)},
        )(program)
        program["cluster"]["inputs"]["agentPoolProfiles"][0]["vnetSubnetID"] = "${subnet.id}"

    return change


VM = ("deploymentConfiguration", "virtualMachineConfiguration")
FIXED = {"fixedScale": {"targetDedicatedNodes": 2}}
SHARE = {
    "azureFileShareConfiguration": {
        "accountName": "${store.name}",
        "accountKey": "a2V5",
        "azureFileUrl": "https://traindata01.file.core.windows.net/logs",
        "relativeMountPath": "logs",
    }
}
BLOB = {"accountName": "${store.name}", "containerName": "data", "relativeMountPath": "data"}


def blob(**credentials: Any) -> Change:
    return put("ring", mountConfiguration=[{"azureBlobFileSystemConfiguration": {**BLOB, **credentials}}])


def profile(**values: Any) -> Change:
    legal = {"name": "system", "mode": "System", "count": 2, "vmSize": "Standard_D4s_v5"}
    return put("cluster", agentPoolProfiles=[{**legal, **values}])


def endpoint(target: str, *groups: str) -> Change:
    """A private endpoint to a resource of the program."""
    connection = {"name": "one", "privateLinkServiceId": f"${{{target}.id}}", "groupIds": list(groups)}
    connections, subnet = [connection], {"id": "${subnet.id}"}
    return add("endpoint", "network:PrivateEndpoint", subnet=subnet, privateLinkServiceConnections=connections)


def deny(direction: str, port: str, priority: int = 50) -> Change:
    return add(
        "closed",
        "network:SecurityRule",
        networkSecurityGroupName="${nsg.name}",
        priority=priority,
        direction=direction,
        access="Deny",
        protocol="Tcp",
        sourceAddressPrefix="*",
        destinationAddressPrefix="*",
        destinationPortRange=port,
    )
