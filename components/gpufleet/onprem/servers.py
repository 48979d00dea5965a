"""What the stack's output `own_servers` holds about the servers that may join an environment's cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpufleet.errors import UserError
from gpufleet.pools.eks_pool import Taint
from gpufleet.rules.messages import use_one_of

OUTPUT = "own_servers"


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
    servers = {
        name: Server(name, str(each["pool"]), dict(each["labels"]), list(each.get("taints") or ()))
        for name, each in found["nodes"].items()
    }
    words = {key: str(found[key]) for key in ("cluster_name", "region", "kind", "nfs", "kubernetes_version", "driver")}
    words |= {f"nodeadm_{key}": str(value) for key, value in found["nodeadm"].items()}
    return OnpremServers(credentials=dict(found["credentials"]), servers=servers, **words)
