"""Rules on container registries of Azure (ACR)."""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from gpufleet.rules import coerce
from gpufleet.rules.arguments import argument_given, argument_known
from gpufleet.rules.azure.location import validate_azure_location
from gpufleet.rules.azure.names import registry_name
from gpufleet.rules.azure.private_endpoint import endpoint_place
from gpufleet.rules.azure.tags import MOST, MOST_ON_DNS
from gpufleet.rules.generic import allowed_choice, distinct
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule, unverified

SKUS = ("Basic", "Standard", "Premium")
SECRETS = ("username_secret", "password_secret")
"""What a login for an upstream is made of."""

UPSTREAMS = (
    "docker.io",
    "mcr.microsoft.com",
    "public.ecr.aws",
    "ghcr.io",
    "quay.io",
    "registry.k8s.io",
    "gcr.io",
)
_WIRE = "public_network_access"
_REPOSITORY = re.compile(r"[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*")
_SECRET = re.compile(r"https://[a-zA-Z0-9-]{3,24}\.vault\.azure\.net/secrets/[0-9a-zA-Z-]+(/[0-9a-f]{32})?")


@rule("azure-registry-public", Severity.ERROR)
def public_access(*, sku: str, access: str, argument: str = _WIRE) -> Outcome:
    """A container registry that is closed to the internet is of the tier Premium; `argument` is what closes it.

    Source: Azure-Samples/dotNET-Frontend-AB-Testing-on-Azure-Container-Apps#5:
    DisablingPublicNetworkAccessNotSupported, Disabling public network access is not supported for the SKU Basic.
    """
    if access != "Disabled" or sku == "Premium":
        return passed()
    problem = f"is not supported for the SKU {sku}"
    if argument != _WIRE:
        return failed(argument, False, problem, f"use sku=Premium, or leave {argument} out")
    return failed(argument, access, problem, "use sku.name=Premium, or leave the access on")


@rule("azure-registry-upstream", Severity.ERROR)
def upstream(*, repository: str, argument: str = "source_repository") -> Outcome:
    """ACR can cache the upstream registry of a cache rule; `argument` is what names it.

    Source: https://learn.microsoft.com/azure/container-registry/artifact-cache-overview, whose list lacks nvcr.io;
    goharbor/harbor#20174, where ACR's own rejection of another registry lists nvcr.io (UpstreamNotSupported, 2024).
    """
    host = repository.removeprefix("https://").partition("/")[0].lower()
    if host in UPSTREAMS or host.endswith(".azurecr.io"):
        return passed()
    if host == "nvcr.io":
        problem = "ACR's documentation does not list NVIDIA's registry, and its error text does"
        fix = "try it, or copy the images into this registry with az acr import"
        return unverified(argument, repository, problem, fix)
    fix = f"use one of {join_words(UPSTREAMS)}, as in docker.io/library/ubuntu"
    return failed(argument, repository, "is not from a registry that ACR can cache", fix)


@rule("azure-registry-near-pool", Severity.WARNING)
def near_pool(*, registry: str, region: str | None, pool_region: str | None) -> Outcome:
    """The images that a pool pulls lie in the pool's region; None for a region that is not known.

    Source: https://learn.microsoft.com/azure/container-registry/container-registry-best-practices: network-close
    deployment, since images of gigabytes are pulled by every node and bytes between regions are billed.
    """
    if region is None or pool_region is None:
        problem = "whether it lies in the pool's region is not known before deployment"
        return unverified("container_registries", registry, problem, "make sure that both are in one region")
    if region == pool_region:
        return passed()
    problem = f"this registry lies in {region}, the pool in {pool_region}"
    return failed(
        "container_registries", registry, problem, f"use one in {pool_region}, or a Premium one replicated there"
    )


@rule("azure-registry-repository", Severity.ERROR)
def repository_name(*, argument: str, name: str) -> Outcome:
    """Repositories and cache prefixes are lower case, in parts joined by . _ - or /; `argument`: which.

    Source: https://learn.microsoft.com/azure/container-registry/container-registry-concepts#repository: names of the
    OCI distribution specification, up to 256 characters.
    """
    if len(name) <= 256 and _REPOSITORY.fullmatch(name):
        return passed()
    fix = "use lower-case letters and digits in parts joined by . _ - or /, such as training/llm"
    return failed(argument, name, "is not a valid ACR name", fix)


@rule("azure-registry-cache-apart", Severity.ERROR)
def caches_apart(*, prefixes: Sequence[str]) -> Outcome:
    """No cache lies inside another: cache rules with a wildcard do not overlap.

    Source: https://learn.microsoft.com/azure/container-registry/wildcards-artifact-cache#limitations-for-wildcard-based-cache-rules
    """
    for one, other in combinations(sorted(prefixes), 2):
        if other.startswith(f"{one}/"):
            fix = f"use prefixes side by side, such as {one} and {other.replace('/', '-')}"
            return failed("pull_through", [one, other], "is one cache inside another", fix)
    return passed()


@rule("azure-registry-login", Severity.ERROR)
def login_given(*, prefix: str | None, host: str, given: bool) -> Outcome:
    """A cache of Docker Hub has a login; `prefix` is the cache's, None where a cache rule itself names the login.

    Source: hashicorp/terraform-provider-azurerm#27983: EnforceDockerAuthentication, Cannot create cache rule pointing
    to Docker Hub without credentials.
    """
    if given or host.partition("/")[0] != "docker.io":
        return passed()
    problem = "ACR makes no cache of Docker Hub without a login"
    if prefix is None:
        return failed("credential_set_resource_id", None, problem, "give the id of a credential set")
    fix = f"give username_secret and password_secret under credentials.{prefix}"
    return failed(f"credentials.{prefix}", None, problem, fix)


@rule("azure-registry-login-used", Severity.ERROR)
def login_used(*, prefix: str, prefixes: Sequence[str]) -> Outcome:
    """A login belongs to an existing cache.

    Source: gpufleet.azure.registry makes credentials for the cache of the same prefix.
    """
    if prefix in prefixes:
        return passed()
    return failed(f"credentials.{prefix}", "(a login)", "pull_through has no such prefix", "leave it out")


@rule("azure-registry-secret", Severity.ERROR)
def secret_id(*, argument: str, secret: str) -> Outcome:
    """Name and password of an upstream are given by the addresses of secrets in a key vault, never as plain text.

    Source: https://learn.microsoft.com/azure/container-registry/artifact-cache-overview; authCredentials of
    Microsoft.ContainerRegistry/registries/credentialSets: secret identifiers.
    """
    if _SECRET.fullmatch(secret):
        return passed()
    fix = "give the address of a secret, such as https://VAULT.vault.azure.net/secrets/NAME"
    # An author who wrote the password itself does not want to read it in a log.
    return failed(argument, "(hidden)", "is not the address of a key vault secret", fix)


def validate_azure_registry(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a registry.

    Reads region, resource_group_name, registry_name, sku (Basic, Standard, Premium), repositories (names), public,
    endpoint_subnet_id, vnet_id, pull_through (prefix to upstream, for instance quay.io), credentials (prefix to
    username_secret and password_secret), tags. Ids may be anything that is not None.
    """
    sku = coerce.text(args, "sku", "Standard")
    public = coerce.flag(args, "public", True)
    names = coerce.texts(args, "repositories")
    upstreams = {prefix: host for prefix, host in coerce.mapping(args, "pull_through").items() if isinstance(host, str)}
    logins = coerce.mapping(args, "credentials")
    findings = [
        *validate_azure_location(args, MOST if public else MOST_ON_DNS),
        allowed_choice(argument="sku", word=sku, legal=SKUS),
        public_access(sku=sku, access="Enabled" if public else "Disabled", argument="public"),
        *(repository_name(argument="repositories", name=name) for name in names),
        distinct(argument="repositories", values=names),
        *(repository_name(argument="pull_through", name=prefix) for prefix in upstreams),
        caches_apart(prefixes=tuple(upstreams)),
    ]
    for prefix, host in upstreams.items():
        findings.append(upstream(repository=host, argument=f"pull_through.{prefix}"))
        findings.append(login_given(prefix=prefix, host=host, given=logins.get(prefix) is not None))
    for prefix in logins:
        findings.append(login_used(prefix=prefix, prefixes=tuple(upstreams)))
        findings += _of_login(f"credentials.{prefix}", coerce.mapping(logins, prefix))
    if not public:
        findings += [
            endpoint_place(argument=argument, given=args.get(argument) is not None)
            for argument in ("endpoint_subnet_id", "vnet_id")
        ]
    name = args.get("registry_name")
    return [*findings, registry_name(name=name)] if isinstance(name, str) else findings


def _of_login(argument: str, login: Mapping[str, object]) -> list[Finding]:
    known = [f"{argument}.{part}" for part in (*SECRETS, "key_vault_id")]
    findings = [argument_known(name=f"{argument}.{part}", value="(hidden)", known=known) for part in login]
    for part in SECRETS:
        secret = login.get(part)
        given = secret is not None
        findings.append(argument_given(name=f"{argument}.{part}", given=given, says="the address of a secret"))
        if isinstance(secret, str):
            findings.append(secret_id(argument=f"{argument}.{part}", secret=secret))
    return findings
