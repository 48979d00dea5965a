"""Rules on notebooks: who may log in, over what, on which nodes and under which uid."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.generic import allowed_choice, at_least, distinct, not_empty
from gpufleet.rules.kubernetes.device_plugins import validate_object_labels
from gpufleet.rules.kubernetes.jupyterhub import database_kept, database_placed
from gpufleet.rules.kubernetes.mpi_image import image_form, image_pinned
from gpufleet.rules.kubernetes.name import name_form
from gpufleet.rules.kubernetes.users import validate_users
from gpufleet.rules.kubernetes.version import version_pinned
from gpufleet.rules.labels import value_form
from gpufleet.rules.messages import join_words, use_one_of
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

SERVICES = ("LoadBalancer", "ClusterIP", "NodePort")
DATABASES = ("volume", "memory")
OIDC_KEYS = ("client_id", "client_secret", "authorize_url", "token_url", "userdata_url")
_HOST = re.compile(r"(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?")


@rule("any-notebooks-tls", Severity.ERROR)
def tls_given(*, tls: Sequence[str], dev: bool) -> Outcome:
    """Outside of dev, a hub is reached over TLS with one certificate: from a secret or from Let's Encrypt.

    Source: https://z2jh.jupyter.org/en/stable/administrator/security.html (HTTPS): logins and all that is typed into
    notebooks go over the network.
    """
    if len(tls) == 1 or (dev and not tls):
        return passed()
    if tls:
        return failed("tls", sorted(tls), "are two certificates", "keep one of them")
    fix = "give tls.secret (a kubernetes.io/tls secret of the namespace) or tls.letsencrypt_email"
    return failed("tls", None, "sends logins in the clear", fix)


@rule("any-notebooks-login", Severity.ERROR)
def login_real(*, oidc: bool, dev: bool) -> Outcome:
    """Outside of dev, users log in by OIDC; without it anybody can log in as anybody.

    Source: https://z2jh.jupyter.org/en/stable/administrator/authentication.html: the dummy authenticator is for
    testing, any name and password is accepted.
    """
    if oidc or dev:
        return passed()
    return failed("oidc", None, "leaves the dummy login, which accepts any name", "give oidc, or set purpose=dev")


@rule("any-notebooks-oidc", Severity.ERROR)
def oidc_complete(*, given: Sequence[str]) -> Outcome:
    """A login by OIDC has a client and the three addresses of its provider; `given` are the keys that it has.

    Source: https://oauthenticator.readthedocs.io/en/latest/tutorials/provider-specific-setup/providers/generic.html
    """
    missing = [key for key in OIDC_KEYS if key not in given]
    if not missing:
        return passed()
    problem = f"lacks {join_words(missing, 'and')}"
    fix = "take them from the provider, see <issuer>/.well-known/openid-configuration"
    return failed("oidc", sorted(given), problem, fix)


@rule("any-notebooks-address", Severity.ERROR)
def https_address(*, argument: str, address: str) -> Outcome:
    """Every address of the login provider is an https address.

    Source: https://openid.net/specs/openid-connect-core-1_0.html#TokenEndpoint: communication must use TLS.
    """
    if re.fullmatch(r"https://[^\s/]+(/\S*)?", address):
        return passed()
    return failed(argument, address, "must be an https address", "use https://<provider>/...")


@rule("any-notebooks-culling", Severity.WARNING)
def idle_culled(*, minutes: int) -> Outcome:
    """An idle notebook is stopped and releases its GPUs. 0: never.

    Source: our choice: a GPU node of the cloud costs the same with an idle notebook on it, and the autoscaler keeps it.
    """
    if minutes > 0:
        return passed()
    return failed("idle_minutes", minutes, "keeps GPUs as long as nobody ends the notebook", "use 60, or another time")


@rule("any-notebooks-users", Severity.WARNING)
def users_known(*, count: int) -> Outcome:
    """Each user has their own uid, under which they write on the shared volume.

    Source: man 5 nfs (AUTH_SYS): a server knows users by their number alone, so that under one uid everybody may read
    and delete everybody's home.
    """
    if count:
        return passed()
    return failed("users", count, "runs all notebooks as uid 1000, who share their files", "give users a uid and gid")


@rule("any-notebooks-user", Severity.ERROR)
def user_known(*, argument: str, name: str, known: Sequence[str]) -> Outcome:
    """Every user that is named has a uid: the hub does not start notebooks for others.

    Source: our choice: another uid than one's own could read and write what is another's.
    """
    if name in known:
        return passed()
    fix = use_one_of(name, known) if known else "give users the name with its uid and gid"
    return failed(argument, name, "has no uid in users", fix)


@rule("any-notebooks-host-given", Severity.ERROR)
def host_given(*, host: bool, needed_by: str) -> Outcome:
    """A hub that is not reached by `kubectl port-forward` has a DNS name.

    needed_by: the first argument that needs one, oidc, tls or service; empty where none does.

    Source: our choice: users, the login provider and the certificate know the hub by it.
    """
    if host or not needed_by:
        return passed()
    return failed("host", None, f"is missing, and {needed_by} needs it", "give the hub's DNS name")


@rule("any-notebooks-host", Severity.ERROR)
def host_name(*, host: str) -> Outcome:
    """A hub's host is a DNS name in lower-case letters, without scheme, port or path.

    Source: RFC 1123, section 2.1; https://letsencrypt.org/docs/faq/: certificates are for names, and the callback
    address that the provider knows begins with it.
    """
    if _HOST.fullmatch(host):
        return passed()
    return failed("host", host, "is not a DNS name", "use a name such as notebooks.example.com")


@rule("any-notebooks-price", Severity.ERROR)
def price_form(*, argument: str, price: float) -> Outcome:
    """A node's price is not below zero; an unknown price is left out.

    Source: our choice: it is shown to users; 0 is for owners who ask nothing.
    """
    if price >= 0:
        return passed()
    return failed(argument, price, "is not a valid price", "leave it out where it is not known")


def is_dev(args: Mapping[str, object]) -> bool:
    """Whether the environment is for trying things out: it is called dev or ...-dev, or its purpose is dev."""
    return coerce.text(args, "environment").rpartition("-")[2] == "dev" or coerce.text(args, "purpose") == "dev"


def usual_service(args: Mapping[str, object]) -> str:
    """How a hub is reached unless its configuration says so: with the dummy login, by `kubectl port-forward`."""
    return "LoadBalancer" if args.get("oidc") else "ClusterIP"


def _needs_host(args: Mapping[str, object], service: str) -> str:
    given = next((key for key in ("oidc", "tls") if args.get(key)), "")
    return given or ("" if service == "ClusterIP" else "service")


def validate_notebooks(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on notebooks. Reads namespace, environment, purpose, host, pools, images, users, admins, oidc,
    tls, service, database, storage_class, idle_minutes, service_account, version, labels; of what is a secret or an
    output only whether it is there."""
    dev, oidc, users = is_dev(args), coerce.mapping(args, "oidc"), coerce.mapping(args, "users")
    tls = [key for key in ("secret", "letsencrypt_email") if coerce.mapping(args, "tls").get(key)]
    images = coerce.texts(args, "images")
    database, service = coerce.text(args, "database", "volume"), coerce.text(args, "service", usual_service(args))
    findings = [
        tls_given(tls=tls, dev=dev),
        login_real(oidc=bool(oidc), dev=dev),
        idle_culled(minutes=coerce.whole(args, "idle_minutes", 60)),
        users_known(count=len(users)),
        *validate_users(args),
        not_empty(argument="images", values=images, holds="image"),
        distinct(argument="images", values=images),
        host_given(host=args.get("host") is not None, needed_by=_needs_host(args, service)),
        allowed_choice(argument="service", word=service, legal=SERVICES),
        allowed_choice(argument="database", word=database, legal=DATABASES),
        database_placed(database=database, storage_class=args.get("storage_class") is not None),
        database_kept(database=database),
        *_pools(coerce.mapping(args, "pools")),
        *validate_object_labels(args),
    ]
    for image in images:
        findings += [image_form(image=image), image_pinned(image=image)]
    if isinstance(args.get("host"), str):
        findings.append(host_name(host=coerce.text(args, "host")))
    if oidc:
        findings.append(oidc_complete(given=[key for key in OIDC_KEYS if oidc.get(key)]))
        for key in ("authorize_url", "token_url", "userdata_url"):
            if isinstance(oidc.get(key), str):
                findings.append(https_address(argument=f"oidc.{key}", address=coerce.text(oidc, key)))
    for name in coerce.texts(args, "admins"):
        findings.append(user_known(argument="admins", name=name, known=sorted(users)))
    for argument in ("namespace", "service_account", "volume_claim", "pull_secret"):
        if isinstance(args.get(argument), str):
            findings.append(name_form(argument=argument, name=coerce.text(args, argument)))
    if isinstance(args.get("version"), str):
        findings.append(version_pinned(argument="version", version=coerce.text(args, "version")))
    return findings


def _pools(pools: Mapping[str, object]) -> list[Finding]:
    findings: list[Finding] = []
    for name, pool in pools.items():
        facts = pool if isinstance(pool, Mapping) else {}
        gpus = coerce.whole(facts, "gpus", 0)
        findings += [
            not_empty(argument=f"pools.{name}.gpu", values=tuple(coerce.text(facts, "gpu")), holds="GPU model"),
            value_form(argument=f"pools.{name}.gpu", value=coerce.text(facts, "gpu")),
            value_form(argument=f"pools.{name}.place", value=coerce.text(facts, "place", "cloud")),
            at_least(argument=f"pools.{name}.gpus", value=gpus, least=1),
        ]
        price = facts.get("usd_per_hour")
        if coerce.is_number(price):
            findings.append(price_form(argument=f"pools.{name}.usd_per_hour", price=float(price)))
    return findings
