"""What the stack's output `own_servers` holds about the servers that may join an environment's cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from gpufleet.documents.json import check_shape
from gpufleet.errors import UserError
from gpufleet.pools.eks_pool import Taint
from gpufleet.rules.messages import use_one_of

OUTPUT = "own_servers"


class _NodeOutput(TypedDict):
    pool: str
    labels: dict[str, str]
    taints: NotRequired[list[Taint] | None]


class _NodeadmOutput(TypedDict):
    version: str
    sha256: str


class _OnpremServersOutput(TypedDict):
    cluster_name: str
    region: str
    kind: str
    credentials: dict[str, str]
    nfs: str
    kubernetes_version: str
    nodeadm: _NodeadmOutput
    driver: str
    nodes: dict[str, _NodeOutput]


@dataclass(frozen=True)
class Server:
    """A server of the configuration. labels, taints: what it joins with."""

    name: str
    pool: str
    labels: Mapping[str, str]
    taints: Sequence[Taint]


@dataclass(frozen=True)
class OnpremServers:
    """kind: of credentials, ssm or roles-anywhere. credentials: secret. nfs: server:/directory of the shared files."""

    cluster_name: str
    region: str
    kind: str
    credentials: Mapping[str, str]
    nfs: str
    kubernetes_version: str
    nodeadm_version: str
    nodeadm_sha256: str
    driver: str
    servers: Mapping[str, Server]

    def server(self, name: str, environment: str) -> Server:
        """Errors: UserError for a name that the configuration has not."""
        if name in self.servers:
            return self.servers[name]
        fix = use_one_of(name, sorted(self.servers)) if self.servers else "name it there and run `pulumi up`"
        raise UserError(f"{environment}: node={name}: no pool of gpufleet:own_servers names it; {fix}")


def onprem_servers_of(outputs: Mapping[str, Any], environment: str) -> OnpremServers | None:
    """None where the environment has none. Errors: UserError for secrets that are hidden."""
    found = outputs.get(OUTPUT)
    if found is None:
        return None
    if not isinstance(found, Mapping):
        raise UserError(
            f"{environment}: the stack's output {OUTPUT} is hidden; write the outputs with "
            f"`pulumi stack output -s {environment} --json --show-secrets`"
        )
    where = f"{environment}: the stack's output {OUTPUT}"
    output = check_shape(found, _OnpremServersOutput, where, f"run `pulumi up -s {environment}`")
    return OnpremServers(
        cluster_name=output["cluster_name"],
        region=output["region"],
        kind=output["kind"],
        credentials=output["credentials"],
        nfs=output["nfs"],
        kubernetes_version=output["kubernetes_version"],
        nodeadm_version=output["nodeadm"]["version"],
        nodeadm_sha256=output["nodeadm"]["sha256"],
        driver=output["driver"],
        servers={
            name: Server(name, node["pool"], node["labels"], node.get("taints") or ())
            for name, node in output["nodes"].items()
        },
    )
