"""How far an environment with own servers is from nothing to its first job, and what its router needs. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpufleet.errors import UserError

OUTPUT, PHASE = "link", "phase"
DONE, WAITING, LATER = "done", "waiting", "later"


@dataclass(frozen=True)
class LinkStatus:
    """phase: cloud or cluster, "" before the first `up`. down: why the cluster's API does not answer, "" where it does.
    missing: own servers that have not joined; None where nobody knows.
    """

    environment: str
    phase: str
    down: str
    missing: Sequence[str] | None

    @property
    def steps(self) -> list[tuple[str, str]]:
        """Each step and its state, in order."""
        line = "the line to the site" + (f": {self.down}" if self.phase and self.down else "")
        servers = "own servers" + (f": not joined: {', '.join(self.missing)}" if self.missing else "")
        found = [
            (bool(self.phase), "network, cluster and the cloud's end of the line (phase cloud)"),
            (bool(self.phase) and not self.down, line),
            (self.phase == "cluster", "what is installed on the cluster (phase cluster)"),
            (self.missing is not None and not self.missing, servers),
        ]
        first = next((number for number, (done, _) in enumerate(found) if not done), len(found))
        words = [DONE if number < first else WAITING if number == first else LATER for number in range(len(found))]
        return [(word, text) for word, (_, text) in zip(words, found, strict=True)]

    @property
    def next(self) -> str:
        """What to do next, with its command."""
        name = self.environment
        up = f"`pulumi up -s {name}`"
        if not self.phase:
            return f"`pulumi config set gpufleet:phase cloud -s {name}`, then {up}"
        if self.down:
            return f"configure the site's router by `gpufleet link {name} --router`, and run this at the site again"
        if self.phase != "cluster":
            return f"`pulumi config set gpufleet:phase cluster -s {name}`, then {up} at the site"
        if self.missing:
            first = self.missing[0]
            return f"`gpufleet nodes script {name} {first} | ssh root@{first} bash -s`"
        if self.missing is None:
            return f"`gpufleet nodes list {name}`"
        return f"the first job: `pulumi stack output first_job -s {name}`"

    @property
    def lines(self) -> list[str]:
        """The same for a reader."""
        return [*(f"{word:<8} {text}" for word, text in self.steps), f"next: {self.next}"]

    @property
    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        steps = [{"state": word, "step": text} for word, text in self.steps]
        return {"environment": self.environment, "phase": self.phase, "steps": steps, "next": self.next}


def phase_of(outputs: Mapping[str, object]) -> str:
    """The phase in which a stack's last `up` ended; "" before the first."""
    if not outputs.get("kubeconfig"):
        return ""
    return str(outputs.get(PHASE) or "cluster")


def router_values(outputs: Mapping[str, object], environment: str) -> dict[str, Any]:
    """What the site's router needs. Errors: UserError where the stack has no such output, or it is hidden."""
    found = outputs.get(OUTPUT)
    if found is None:
        raise UserError(
            f"{environment}: the stack's outputs have no {OUTPUT}; configure gpufleet:link or gpufleet:own_servers, "
            f"and run `pulumi up -s {environment}`"
        )
    if not isinstance(found, Mapping):
        raise UserError(
            f"{environment}: the stack's output {OUTPUT} is hidden; write the outputs with "
            f"`pulumi stack output -s {environment} --json --show-secrets`"
        )
    return dict(found)


def pod_routes(cilium_nodes: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Routes to the pods of each server, of objects CiliumNode: {node, to, via}.

    Source: docs.cilium.io/en/stable/network/concepts/ipam/cluster-pool (spec.ipam.podCIDRs, spec.addresses).
    """
    routes = []
    for node in cilium_nodes:
        spec = node.get("spec") or {}
        addresses = [each["ip"] for each in spec.get("addresses") or () if each.get("type") == "InternalIP"]
        name = str(node["metadata"]["name"])
        ranges = (spec.get("ipam") or {}).get("podCIDRs") or ()
        routes += [{"node": name, "to": str(each), "via": str(via)} for each in ranges for via in addresses[:1]]
    return sorted(routes, key=lambda route: (route["node"], route["to"]))


def router_lines(values: Mapping[str, Any], routes: Sequence[Mapping[str, str]]) -> list[str]:
    """The same for a reader. routes: of `pod_routes`."""
    lines = []
    for number, tunnel in enumerate(values.get("tunnels") or (), 1):
        lines += [
            f"tunnel {number}",
            f"  cloud's address       {tunnel['address']}",
            f"  pre-shared key        {tunnel['pre_shared_key']}",
            f"  inside, router        {tunnel['site_inside_address']}/30",
            f"  inside, cloud         {tunnel['cloud_inside_address']}/30",
        ]
        if values.get("site_asn") is not None:
            own, cloud = int(values["site_asn"]), int(float(tunnel["cloud_asn"]))
            lines.append(f"  BGP                   {own} to {cloud}, neighbour {tunnel['cloud_inside_address']}")
    if lines:
        lines.append("IKEv2, AES-GCM, groups 19 to 21; the router begins")
    announced = values.get("site_cidrs") or [*values.get("servers", ()), *values.get("pods", ())]
    lines.append(f"to the cloud: {values.get('cloud_cidr') or 'the range of the VPC'}")
    lines.append(f"announce to the cloud: {', '.join(announced)}")
    if bgp := values.get("bgp"):
        for peer in bgp["peers"]:
            lines.append(
                f"neighbours of {peer['address']} (BGP {int(peer['asn'])}): {', '.join(values['servers'])}, "
                f"BGP {int(bgp['asn'])}; accept {', '.join(values['pods'])}"
            )
    lines += [f"route to pods of {each['node']}: {each['to']} via {each['via']}" for each in routes]
    return lines
