"""Registry: a container registry (ACR) for a team's images, with caches of the public registries it builds on."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict, cast

import pulumi
from pulumi_azure_native import containerregistry

from gpufleet.azure.legal_name import legal_name
from gpufleet.azure.private_endpoint import Within, dns_zone, private_endpoint
from gpufleet.azure.role_assignment import assign_role
from gpufleet.refusal import refuse_or_warn
from gpufleet.rules import judge_arguments
from gpufleet.rules.azure.registry import judge_azure_registry

NAME_LENGTH = 50
CACHE_NAME_LENGTH = 50
"""Characters of the name of a cache rule or a credential set, 5 to so many (azure-mgmt-containerregistry)."""


class UpstreamLogin(TypedDict):
    """Where the login for an upstream registry is kept."""

    username_secret: pulumi.Input[str]
    """Address of the key vault's secret with the name: https://VAULT.vault.azure.net/secrets/NAME."""
    password_secret: pulumi.Input[str]
    """Address of the secret with the password or token."""
    key_vault_id: NotRequired[pulumi.Input[str]]
    """Id of that key vault: the registry is given the role Key Vault Secrets User there. Default: somebody else sees
    to it."""


class RegistryArgs(TypedDict):
    """Where images are kept, who pulls them, and which public registries are cached."""

    region: str
    """Region of the registry: the nodes', since every node pulls gigabytes."""
    resource_group_name: pulumi.Input[str]
    """The resource group."""
    registry_name: NotRequired[str]
    """Name of the registry, 5 to 50 letters and digits, unique in the world. Default: made by Azure from the
    component's. A change replaces the registry, which a protected one refuses."""
    sku: NotRequired[str]
    """Basic, Standard or Premium; Premium pulls faster and can be closed to the internet. Default Standard."""
    repositories: NotRequired[Sequence[str]]
    """Names of repositories that jobs use, for instance [training/llm]. ACR makes each with its first push."""
    pull_principal_ids: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Who pulls: a short name of your choice to the principal of an identity."""
    pull_through: NotRequired[Mapping[str, str]]
    """Prefix of the cached names to the public registry, for instance {"quay": "quay.io"}, or to a part of one
    ("mcr.microsoft.com/dotnet"). Azure does not document nvcr.io: mirror its images into a repository."""
    credentials: NotRequired[Mapping[str, UpstreamLogin]]
    """Prefix of ``pull_through`` to a login, for instance for Docker Hub, whose pulls are limited without."""
    public: NotRequired[bool]
    """Reached over the internet, with a login. Default true. False: only through a private address in
    ``endpoint_subnet_id``, with sku=Premium."""
    endpoint_subnet_id: NotRequired[pulumi.Input[str]]
    """With public=false: the subnet of the private address."""
    vnet_id: NotRequired[pulumi.Input[str]]
    """With public=false: the virtual network that finds the registry by its name."""
    erase: NotRequired[bool]
    """True: destroy deletes the registry with its images, once an up has recorded it. Default false: it is
    protected."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


def part_name(kind: str, prefix: str) -> str:
    """The name of a cache rule or credential set: `kind` and prefix where that is legal, else cut, with a digest."""
    name = f"{kind}-{prefix}"
    if len(name) <= CACHE_NAME_LENGTH and re.fullmatch("[a-zA-Z0-9-]+", name):
        return name
    digest = hashlib.sha256(prefix.encode()).hexdigest()[:6]
    return f"{re.sub('[^a-zA-Z0-9]+', '-', name)[: CACHE_NAME_LENGTH - 7]}-{digest}"


class Registry(pulumi.ComponentResource):
    """A registry without an admin user: identities pull from it, and it caches public registries.

    Data outlives compute: the registry is protected, so that ``pulumi destroy --exclude-protected`` keeps it in the
    state and the next ``up`` goes on with the same images. Tags can be overwritten in ACR: jobs name images by digest.

    Raises :class:`gpufleet.refusal.Refused` with every fault of ``args`` before anything is registered.
    """

    login_server: pulumi.Output[str]
    """What docker login takes: NAME.azurecr.io."""
    registry_id: pulumi.Output[str]
    """What further roles are given on."""
    repository_urls: pulumi.Output[Mapping[str, str]]
    """Repository name to the name under which images are pushed and pulled."""
    cache_prefixes: pulumi.Output[Mapping[str, str]]
    """Public registry to what replaces it in image names, for instance quay.io to NAME.azurecr.io/quay."""

    def __init__(self, name: str, args: RegistryArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        refuse_or_warn(name, [*judge_arguments(args, RegistryArgs), *judge_azure_registry(args)])
        # No inputs: a component's children wait until every value that the component registers with is known.
        super().__init__("gpufleet-azure:index:Registry", name, {}, opts)
        public = bool(args.get("public", True))
        registry = containerregistry.Registry(
            legal_name(name, NAME_LENGTH),
            registry_name=args.get("registry_name"),
            resource_group_name=args["resource_group_name"],
            location=args["region"],
            sku=containerregistry.SkuArgs(name=args.get("sku", "Standard")),
            # One password for everybody, who could then not be told apart.
            admin_user_enabled=False,
            public_network_access="Enabled" if public else "Disabled",
            tags=dict(args.get("tags", {})),
            opts=pulumi.ResourceOptions(parent=self, protect=not args.get("erase", False)),
        )
        for client, principal in args.get("pull_principal_ids", {}).items():
            assign_role(f"{name}-pull-of-{client}", self, "AcrPull", registry.id, principal)
        upstreams = args.get("pull_through", {})
        for prefix, upstream in upstreams.items():
            self._cache(name, args, registry, prefix, upstream)
        if not public:
            self._private(name, args, registry)
        self.login_server = registry.login_server
        self.registry_id = registry.id
        urls = {each: pulumi.Output.concat(registry.login_server, "/", each) for each in args.get("repositories", ())}
        caches = {
            upstream: pulumi.Output.concat(registry.login_server, "/", prefix) for prefix, upstream in upstreams.items()
        }
        # from_input also waits for what is inside a mapping; only its type does not say so.
        self.repository_urls = pulumi.Output.from_input(cast("Mapping[str, str]", urls))
        self.cache_prefixes = pulumi.Output.from_input(cast("Mapping[str, str]", caches))
        self.register_outputs(
            {
                "login_server": self.login_server,
                "registry_id": self.registry_id,
                "repository_urls": self.repository_urls,
                "cache_prefixes": self.cache_prefixes,
            }
        )

    def _cache(
        self, name: str, args: RegistryArgs, registry: "containerregistry.Registry", prefix: str, upstream: str
    ) -> None:
        """All that lies below an upstream, kept under a prefix once somebody has pulled it."""
        login = args.get("credentials", {}).get(prefix)
        credentials = None if login is None else self._login(name, args, registry, prefix, upstream, login)
        containerregistry.CacheRule(
            f"{name}-cache-{prefix}",
            cache_rule_name=part_name("cache", prefix),
            registry_name=registry.name,
            resource_group_name=args["resource_group_name"],
            source_repository=f"{upstream}/*",
            target_repository=f"{prefix}/*",
            credential_set_resource_id=credentials,
            # A name of our own, and a target that no second rule may overlap.
            opts=pulumi.ResourceOptions(parent=self, delete_before_replace=True),
        )

    def _login(
        self,
        name: str,
        args: RegistryArgs,
        registry: "containerregistry.Registry",
        prefix: str,
        upstream: str,
        login: UpstreamLogin,
    ) -> pulumi.Output[str]:
        """The id of a credential set, which reads the key vault's secrets as an identity of its own."""
        made = containerregistry.CredentialSet(
            f"{name}-login-{prefix}",
            credential_set_name=part_name("login", prefix),
            registry_name=registry.name,
            resource_group_name=args["resource_group_name"],
            login_server=upstream.partition("/")[0],
            auth_credentials=[
                containerregistry.AuthCredentialArgs(
                    name=containerregistry.CredentialName.CREDENTIAL1,
                    username_secret_identifier=login["username_secret"],
                    password_secret_identifier=login["password_secret"],
                )
            ],
            identity=containerregistry.IdentityPropertiesArgs(
                type=containerregistry.ResourceIdentityType.SYSTEM_ASSIGNED
            ),
            opts=pulumi.ResourceOptions(parent=self, delete_before_replace=True),
        )
        vault = login.get("key_vault_id")
        if vault is not None:
            principal = made.identity.apply(lambda identity: identity and identity.principal_id)
            role = "Key Vault Secrets User"
            # Azure makes the identity with the set: its type alone says that there may be none.
            assign_role(f"{name}-secrets-of-{prefix}", self, role, vault, cast("pulumi.Output[str]", principal))
        return made.id

    def _private(self, name: str, args: RegistryArgs, registry: "containerregistry.Registry") -> None:
        """A private address. ``args`` has passed the rules."""
        within = Within(
            region=args["region"],
            resource_group_name=args["resource_group_name"],
            subnet_id=args.get("endpoint_subnet_id", ""),
            vnet_id=args.get("vnet_id", ""),
            tags=args.get("tags", {}),
        )
        zone, _ = dns_zone(f"{name}-registry", self, within, "registry")
        private_endpoint(f"{name}-registry", self, within, "registry", registry.id, zone)
