"""Cases of gpufleet.rules.kubernetes.notebooks."""

from gpufleet.rules.kubernetes.notebooks import (
    host_given,
    host_name,
    https_address,
    idle_culled,
    login_real,
    oidc_complete,
    price_form,
    tls_given,
    user_known,
    users_known,
    validate_notebooks,
)
from gpufleet.rules.messages import format_value

OIDC = ("client_id", "client_secret", "authorize_url", "token_url", "userdata_url")
LABEL = "a" * 63

CASES = {
    tls_given: [
        ("one", {"tls": ("secret",), "dev": False}, "pass", ""),
        ("none-in-dev", {"tls": (), "dev": True}, "pass", ""),
        (
            "none",
            {"tls": (), "dev": False},
            "fail",
            "trainers: tls=null: sends logins in the clear; give tls.secret (a kubernetes.io/tls secret of the "
            "namespace) or tls.letsencrypt_email [any-notebooks-tls]",
        ),
        (
            "two-in-dev",
            {"tls": ("secret", "letsencrypt_email"), "dev": True},
            "fail",
            "trainers: tls=[letsencrypt_email, secret]: are two certificates; keep one of them [any-notebooks-tls]",
        ),
    ],
    login_real: [
        ("oidc", {"oidc": True, "dev": False}, "pass", ""),
        ("dummy-in-dev", {"oidc": False, "dev": True}, "pass", ""),
        (
            "dummy",
            {"oidc": False, "dev": False},
            "fail",
            "trainers: oidc=null: leaves the dummy login, which accepts any name; give oidc, or set purpose=dev "
            "[any-notebooks-login]",
        ),
    ],
    oidc_complete: [
        ("whole", {"given": OIDC}, "pass", ""),
        (
            "lacks-two",
            {"given": OIDC[:3]},
            "fail",
            "trainers: oidc=[authorize_url, client_id, client_secret]: lacks token_url and userdata_url; take them "
            "from the provider, see <issuer>/.well-known/openid-configuration [any-notebooks-oidc]",
        ),
        (
            "lacks-all",
            {"given": ()},
            "fail",
            "trainers: oidc=[]: lacks client_id, client_secret, authorize_url, token_url and userdata_url; take them "
            "from the provider, see <issuer>/.well-known/openid-configuration [any-notebooks-oidc]",
        ),
    ],
    https_address: [
        ("https", {"argument": "oidc.token_url", "address": "https://login.example.com/token?a=b"}, "pass", ""),
        ("bare", {"argument": "oidc.token_url", "address": "https://login.example.com"}, "pass", ""),
        (
            "http",
            {"argument": "oidc.token_url", "address": "http://login.example.com/token"},
            "fail",
            "trainers: oidc.token_url=http://login.example.com/token: must be an https address; use "
            "https://<provider>/... [any-notebooks-address]",
        ),
        (
            "no-host",
            {"argument": "oidc.token_url", "address": "https:///token"},
            "fail",
            "trainers: oidc.token_url=https:///token: must be an https address; use https://<provider>/... "
            "[any-notebooks-address]",
        ),
    ],
    idle_culled: [
        ("least", {"minutes": 1}, "pass", ""),
        (
            "never",
            {"minutes": 0},
            "fail",
            "trainers: idle_minutes=0: keeps GPUs as long as nobody ends the notebook; use 60, or another time "
            "[any-notebooks-culling]",
        ),
    ],
    users_known: [
        ("one", {"count": 1}, "pass", ""),
        (
            "none",
            {"count": 0},
            "fail",
            "trainers: users=0: runs all notebooks as uid 1000, who share their files; give users a uid and gid "
            "[any-notebooks-users]",
        ),
    ],
    user_known: [
        ("known", {"argument": "admins", "name": "ana", "known": ("ana", "bo")}, "pass", ""),
        (
            "near",
            {"argument": "admins", "name": "anna", "known": ("ana", "bo")},
            "fail",
            "trainers: admins=anna: has no uid in users; did you mean ana? (use ana or bo) [any-notebooks-user]",
        ),
        (
            "nobody",
            {"argument": "admins", "name": "ana", "known": ()},
            "fail",
            "trainers: admins=ana: has no uid in users; give users the name with its uid and gid [any-notebooks-user]",
        ),
    ],
    host_given: [
        ("given", {"host": True, "needed_by": "oidc"}, "pass", ""),
        ("port-forward", {"host": False, "needed_by": ""}, "pass", ""),
        (
            "missing",
            {"host": False, "needed_by": "service"},
            "fail",
            "trainers: host=null: is missing, and service needs it; give the hub's DNS name [any-notebooks-host-given]",
        ),
    ],
    host_name: [
        ("name", {"host": "notebooks.example.com"}, "pass", ""),
        ("shortest", {"host": "a.io"}, "pass", ""),
        ("label-63", {"host": f"{LABEL}.example.com"}, "pass", ""),
        ("length-253", {"host": f"{LABEL}.{LABEL}.{LABEL}.{'b' * 57}.com"}, "pass", ""),
        *(
            (
                id_,
                {"host": host},
                "fail",
                f"trainers: host={format_value(host)}: is not a DNS name; use a name such as notebooks.example.com "
                "[any-notebooks-host]",
            )
            for id_, host in (
                ("scheme", "https://notebooks.example.com"),
                ("port", "notebooks.example.com:443"),
                ("capital", "Notebooks.example.com"),
                ("one-label", "notebooks"),
                ("address", "10.0.0.1"),
                ("label-64", f"a{LABEL}.example.com"),
                ("length-254", f"{LABEL}.{LABEL}.{LABEL}.{'b' * 58}.com"),
            )
        ),
    ],
    price_form: [
        ("zero", {"argument": "pools.a.usd_per_hour", "price": 0.0}, "pass", ""),
        (
            "below",
            {"argument": "pools.a.usd_per_hour", "price": -0.01},
            "fail",
            "trainers: pools.a.usd_per_hour=-0.01: is not a valid price; leave it out where it is not known "
            "[any-notebooks-price]",
        ),
    ],
}


def test_case(case):
    case.check()


def test_all_faults_are_told_at_once():
    args = {
        "namespace": "Vision",
        "environment": "lab",
        "host": "hub",
        "pools": {},
        "images": ["registry.example.com/notebook"],
        "volume_claim": "shared",
        "users": {"root": {"uid": 0, "gid": 1500}},
        "admins": ["ana"],
        "oidc": {"client_id": "hub", "token_url": "http://login.example.com"},
        "idle_minutes": 0,
        "service": "Ingress",
        "version": "4",
    }
    lines = {finding.rule: finding for finding in validate_notebooks(args) if finding.status == "fail"}
    assert set(lines) == {
        "any-argument-word",
        "any-kubernetes-name",
        "any-kubernetes-version-pinned",
        "any-mpi-image-pinned",
        "any-notebooks-address",
        "any-notebooks-culling",
        "any-notebooks-database",
        "any-notebooks-host",
        "any-notebooks-oidc",
        "any-notebooks-tls",
        "any-notebooks-user",
        "any-user-id",
    }


def test_dev_is_a_name_or_a_purpose():
    of = {"host": "hub.example.com", "users": {"ana": {"uid": 1501, "gid": 1500}}}

    def refused(**more: str) -> set[str]:
        return {each.rule for each in validate_notebooks({**of, **more}) if each.rejects}

    login = {"any-notebooks-login", "any-notebooks-tls"}
    assert login <= refused(environment="aws-devel")
    assert login <= refused(environment="awsdev")
    assert not login & refused(environment="dev")
    assert not login & refused(environment="aws-dev")
    assert not login & refused(environment="lab", purpose="dev")


def test_secrets_that_are_outputs_count_as_given():
    oidc = {**dict.fromkeys(OIDC, "https://login.example.com/x"), "client_secret": object()}
    given = {"oidc": oidc, "tls": {"secret": "hub-tls"}, "host": "hub.example.com", "storage_class": "gp3"}
    found = validate_notebooks({"environment": "lab", **given})
    assert not [each for each in found if each.rejects and each.rule.startswith("any-notebooks")]


def test_who_needs_a_host():
    def lines(**more: object) -> list[str]:
        found = validate_notebooks({"environment": "dev", **more})
        return [each.problem for each in found if each.rule == "any-notebooks-host-given" and each.rejects]

    assert lines() == []
    assert lines(service="ClusterIP") == []
    assert lines(service="NodePort") == ["is missing, and service needs it"]
    assert lines(oidc={"client_id": "x"}, service="ClusterIP") == ["is missing, and oidc needs it"]
    assert lines(tls={"secret": "x"}) == ["is missing, and tls needs it"]
    assert lines(tls={"secret": "x"}, host="hub.example.com") == []
