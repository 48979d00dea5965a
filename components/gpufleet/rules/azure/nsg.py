"""Rules on network security groups of Azure around a pool's subnet."""

from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

MOUNT_PORTS = {"file share": 445, "NFS": 2049}
# Neighbours of one job connect to ports above all reserved ones; one that no service has.
JOB_PORT = 50000
_EVERYWHERE = ("*", "0.0.0.0/0", "any")
_INSIDE = (*_EVERYWHERE, "virtualnetwork")
_STORAGE = (*_EVERYWHERE, "storage", "internet")


def port_open(rules: Sequence[Mapping[str, object]] | None, direction: str, port: int) -> bool | None:
    """Whether a group's rules let TCP through: Inbound from the same network, or Outbound to storage.

    rules: with direction, access, priority, protocol, destinationPortRange(s) and address prefixes. None where that is
    not known: rules that are not known, or one about addresses that cannot be compared. What no rule says is open, as
    in the rules that every group begins with (AllowVnetInBound, AllowInternetOutBound).
    """
    if rules is None:
        return None
    ours = [each for each in rules if _same_word(each.get("direction"), direction) is not False]
    if any(not coerce.is_whole(each.get("priority")) for each in ours):
        return None
    for each in sorted(ours, key=lambda each: coerce.whole(each, "priority", 0)):
        through = _concerns(each, direction, port) if _same_word(each.get("direction"), direction) else None
        if through is None:
            return None
        if through:
            access = str(each.get("access", "")).lower()
            return {"allow": True, "deny": False}.get(access)
    return True


def _same_word(value: object, word: str) -> bool | None:
    """Whether a value is a word; None where it is not a text, so not known."""
    return value.lower() == word.lower() if isinstance(value, str) else None


def _concerns(entry: Mapping[str, object], direction: str, port: int) -> bool | None:
    """Whether an entry is about that traffic; None where it may be."""
    protocol = entry.get("protocol")
    if not isinstance(protocol, str):
        return None
    if protocol.lower() not in ("*", "tcp"):
        return False
    ports = _values(entry, "destinationPortRange")
    if ports is None:
        return None
    if not any(_in_range(port, each) for each in ports):
        return False
    peers = _values(entry, "sourceAddressPrefix" if direction.lower() == "inbound" else "destinationAddressPrefix")
    if not peers:
        return None
    known = _INSIDE if direction.lower() == "inbound" else _STORAGE
    if any(each.lower() in known or each.lower().startswith("storage.") for each in peers):
        return True
    tags = ("internet", "azureloadbalancer", "batchnodemanagement", "virtualnetwork")
    return False if all(each.lower().partition(".")[0] in tags for each in peers) else None


def _values(entry: Mapping[str, object], name: str) -> tuple[str, ...] | None:
    """The values of the singular and of the plural property; None where a part of it is not plain."""
    one, many = entry.get(name), entry.get(f"{name}es" if name.endswith("x") else f"{name}s")
    if (one is not None and not isinstance(one, str)) or (many is not None and not coerce.is_texts(many)):
        return None
    return tuple(each for each in (one or "", *(many or ())) if each)


def _in_range(port: int, said: str) -> bool:
    if said == "*":
        return True
    first, _, last = said.partition("-")
    return first.isdecimal() and (last or first).isdecimal() and int(first) <= port <= int(last or first)


@rule("azure-nsg-inter-node", Severity.ERROR)
def inter_node_open(*, group: str, inter_node: bool, open_inside: bool | None) -> Outcome:
    """Nodes of a job reach each other through their subnet's security group; `open_inside` is None where not known.

    Source: https://learn.microsoft.com/azure/batch/batch-virtual-network: inter-node communication needs the subnet
    open to itself; MPI and NCCL open ports as they go, and nothing but the hanging job says that they are closed.
    """
    if not inter_node or open_inside:
        return passed()
    fix = "allow Inbound from VirtualNetwork on all ports before what denies it"
    if open_inside is None:
        problem = "whether it lets nodes reach each other is not known"
        return unverified("network_security_group", group, problem, fix)
    return failed("network_security_group", group, "denies what nodes of one job send to each other", fix)


@rule("azure-nsg-mount-port", Severity.ERROR)
def mount_port_open(*, group: str, what: str, port: int, open_outside: bool | None) -> Outcome:
    """Nodes reach what they mount through their subnet's security group; `open_outside` is None where not known.

    Source: https://learn.microsoft.com/azure/batch/virtual-file-mount: 445 for file shares and CIFS, 2049 for NFS; a
    mount that fails makes the node unusable.
    """
    if open_outside:
        return passed()
    fix = f"allow Outbound TCP {port} to Storage before what denies it"
    if open_outside is None:
        problem = f"whether it lets TCP {port} out, which a mounted {what} needs, is not known"
        return unverified("network_security_group", group, problem, fix)
    return failed("network_security_group", group, f"denies TCP {port}, which a mounted {what} needs", fix)


@rule("azure-nsg-priority", Severity.ERROR)
def priority_once(*, direction: str, priority: int, names: Sequence[str]) -> Outcome:
    """A priority is used once in each direction of a security group; `names`: of the rules that have it.

    Source: SecurityRuleConflict of hashicorp/terraform-provider-azurerm#11137; both directions: #27046.
    """
    if len(names) < 2:
        return passed()
    problem = f"is that of {len(names)} {direction.lower()} rules: {join_words(names, 'and')}"
    return failed("priority", priority, problem, "give each its own priority")
