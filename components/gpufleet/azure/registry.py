"""Registry: a container registry (ACR) for a team's images, with caches of the public registries it builds on."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict, Unpack, cast

import pulumi
from pulumi_azure_native import containerregistry

from gpufleet.azure.links import EndpointLink, GroupLink, PullersLink, RegistryLink
from gpufleet.azure.naming import legal_name
from gpufleet.azure.private_endpoint import dns_zone, private_endpoint
from gpufleet.azure.role_assignment import assign_role
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.rules import Finding
from gpufleet.rules.azure.registry import validate_azure_registry

NAME_LENGTH = 50
CACHE_NAME_LENGTH = 50
"""Characters of the name of a cache rule or a credential set, 5 to so many (azure-mgmt-containerregistry)."""
Sku = Literal["Basic", "Standard", "Premium"]


class UpstreamLogin(TypedDict):
    """Where the login for an upstream registry is kept."""

    username_secret: pulumi.Input[str]
    """Address of the key vault's secret with the name: https://VAULT.vault.azure.net/secrets/NAME."""
    password_secret: pulumi.Input[str]
    """Address of the secret with the password or token."""
    key_vault_id: NotRequired[pulumi.Input[str]]
    """Id of that key vault: the registry is given the role Key Vault Secrets User there. Default: somebody else sees
    to it."""


class RegistryConfig(TypedDict):
    """Where images are kept, and which public registries are cached."""

    registry_name: NotRequired[str]
    """Name of the registry, 5 to 50 letters and digits, unique in the world. Default: made by Azure from the
    component's. A change replaces the registry; a protected one cannot be replaced."""
    sku: NotRequired[Sku]
    """Basic, Standard or Premium; Premium pulls faster and can be closed to the internet. Default Standard."""
    repositories: NotRequired[Sequence[str]]
    """Names of repositories that jobs use, for instance [training/llm]. ACR makes each with its first push."""
    pull_through: NotRequired[Mapping[str, str]]
    """Prefix of the cached names to the public registry, for instance {"quay": "quay.io"}, or to a part of one
    ("mcr.microsoft.com/dotnet"). Azure does not document nvcr.io: mirror its images into a repository."""
    credentials: NotRequired[Mapping[str, UpstreamLogin]]
    """Prefix of ``pull_through`` to a login, for instance for Docker Hub, whose pulls are limited without."""
    public: NotRequired[bool]
    """Reached over the internet, with a login. Default true. False: only through a private address in
    ``endpoint_subnet_id``, with sku=Premium."""


class RegistryArgs(RegistryConfig, GroupLink, EndpointLink, PullersLink):
    """The same, where it is made, and who pulls."""

    erase: NotRequired[bool]
    """True: destroy deletes the registry with its images, once an up has recorded it. Default false: it is
    protected."""


def part_name(kind: str, prefix: str) -> str:
    """The name of a cache rule or credential set: `kind` and prefix where that is legal, else cut, with a digest."""
    name = f"{kind}-{prefix}"
    if len(name) <= CACHE_NAME_LENGTH and re.fullmatch("[a-zA-Z0-9-]+", name):
        return name
    digest = hashlib.sha256(prefix.encode()).hexdigest()[:6]
    return f"{re.sub('[^a-zA-Z0-9]+', '-', name)[: CACHE_NAME_LENGTH - 7]}-{digest}"


class Registry(Component):
    """A container registry without an admin user, with pull access for identities and caches of public registries.

    Data outlives compute: the registry is protected, so that ``pulumi destroy --exclude-protected`` keeps it in the
    state and the next ``up`` continues with the same images. Tags can be overwritten in ACR: jobs name images by
    digest.
    """

    login_server: pulumi.Output[str]
    """What docker login takes: NAME.azurecr.io."""
    registry_id: pulumi.Output[str]
    """What further roles are given on."""
    repository_urls: pulumi.Output[Mapping[str, str]]
    """Repository name to the name under which images are pushed and pulled."""
    cache_prefixes: pulumi.Output[Mapping[str, str]]
    """Public registry to what replaces it in image names, for instance quay.io to NAME.azurecr.io/quay."""

    def __init__(
        self, name: str, args: RegistryArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[RegistryArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: RegistryArgs) -> list[Finding]:
        return validate_azure_registry(args)

    def create(self, name: str, args: RegistryArgs) -> None:
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
            tags=args.get("tags", {}),
            opts=self.child(protect=not args.get("erase", False)),
        )
        for client, principal in args.get("pull_principal_ids", {}).items():
            assign_role(f"{name}-pull-of-{client}", self, "AcrPull", registry.id, principal)
        upstreams = args.get("pull_through", {})
        for prefix, upstream in upstreams.items():
            self._cache(name, args, registry, prefix, upstream)
        if not public:
            zone, _ = dns_zone(f"{name}-registry", self, args, "registry")
            private_endpoint(f"{name}-registry", self, args, "registry", registry.id, zone)
        self.login_server = registry.login_server
        self.registry_id = registry.id
        urls = {each: pulumi.Output.concat(registry.login_server, "/", each) for each in args.get("repositories", ())}
        caches = {
            upstream: pulumi.Output.concat(registry.login_server, "/", prefix) for prefix, upstream in upstreams.items()
        }
        # from_input also waits for what is inside a mapping; only its type does not say so.
        self.repository_urls = pulumi.Output.from_input(cast("Mapping[str, str]", urls))
        self.cache_prefixes = pulumi.Output.from_input(cast("Mapping[str, str]", caches))

    def for_pool(self) -> RegistryLink:
        """From where the nodes of a `BatchPool` pull."""
        return {"registry_servers": [self.login_server]}

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
            # A name that we choose, and a target that no second rule may overlap.
            opts=self.child(delete_before_replace=True),
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
        """The id of a credential set, which reads the key vault's secrets as its own identity."""
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
            opts=self.child(delete_before_replace=True),
        )
        vault = login.get("key_vault_id")
        if vault is not None:
            principal = made.identity.apply(lambda identity: identity and identity.principal_id)
            role = "Key Vault Secrets User"
            # Azure makes the identity with the set: its type alone says that there may be none.
            assign_role(f"{name}-secrets-of-{prefix}", self, role, vault, cast("pulumi.Output[str]", principal))
        return made.id
