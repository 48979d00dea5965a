"""The values of JupyterHub's chart for a team's notebooks. Pure, but for secrets and names that are outputs.

Source: https://z2jh.jupyter.org/en/stable/resources/reference.html.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpufleet.kubernetes.chart_values import merged
from gpufleet.kubernetes.jupyterhub_config import START
from gpufleet.kubernetes.notebook_profiles import plan_profiles
from gpufleet.kubernetes.plugin_daemonset import tolerations
from gpufleet.rules.kubernetes.notebooks import usual_service
from gpufleet.users.user import User, passwd_text

MOUNT_PATH = "/mnt"
SERVICE_ACCOUNT = "notebook"
RESTRICTED: dict[str, Any] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""What Pod Security restricted asks of every container, whatever the chart's version says by itself.

Source: kubernetes.io/docs/concepts/security/pod-security-standards.
"""


def plan_values(args: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the chart; `args` are NotebooksArgs that have passed the rules.

    Nothing of it is cluster-wide: no own scheduler and no own image pullers, which restricted namespaces and GPU
    nodes would keep out, so that each team has a hub in its namespace.
    """
    values: dict[str, Any] = {
        "hub": _hub(args),
        "proxy": _proxy(args),
        "singleuser": _singleuser(args),
        "cull": _cull(args),
        "scheduling": {
            "userScheduler": {"enabled": False},
            "userPlaceholder": {"enabled": False},
            # The chart's own preference would stand beside ours, twice the same key.
            "corePods": {"nodeAffinity": {"matchNodePurpose": "ignore"}},
        },
        "prePuller": {"hook": {"enabled": False}, "continuous": {"enabled": False}},
    }
    return merged(values, args.get("values", {}))


def plan_access(args: Mapping[str, Any]) -> dict[str, Any]:
    """Of the values what decides who reaches the hub and its login. `args` need not have passed the rules."""
    login: dict[str, Any] = {"JupyterHub": {"authenticator_class": "generic-oauth" if args.get("oidc") else "dummy"}}
    if "dummy_password" in args:
        login["DummyAuthenticator"] = {"password": args["dummy_password"]}
    own = args.get("values")
    values = {"hub": {"config": login}, "proxy": {"service": _service(args)}}
    return merged(values, own if isinstance(own, Mapping) else {})


def _hub(args: Mapping[str, Any]) -> dict[str, Any]:
    """The hub. Its database is small: who is logged in, and which notebooks run."""
    # hub.config goes by class of JupyterHub; the chart refuses other keys since 4.3.
    config = {"KubeSpawner": {"container_security_context": RESTRICTED}, **_login(args)}
    hub: dict[str, Any] = {
        "config": config,
        "db": _database(args),
        "extraConfig": {"gpufleet": hub_code(args)},
        "containerSecurityContext": {"runAsUser": 1000, "runAsGroup": 1000, **RESTRICTED},
        "networkPolicy": _NO_NODE_IDENTITY,
        **_nodes(args),
    }
    if args.get("labels"):
        hub["labels"] = dict(args["labels"])
    return hub | ({"cookieSecret": args["cookie_secret"]} if "cookie_secret" in args else {})


def _database(args: Mapping[str, Any]) -> dict[str, Any]:
    if args.get("database") == "memory":
        return {"type": "sqlite-memory"}
    return {"type": "sqlite-pvc", "pvc": {"storageClassName": args["storage_class"]}}


_OFF_GPUS = [
    {"weight": 100, "preference": {"matchExpressions": [{"key": "gpufleet.dev/gpu", "operator": "DoesNotExist"}]}}
]
"""Nodes without GPUs, where there are any: own servers need not have a taint. A profile with GPUs selects its own."""


def _nodes(args: Mapping[str, Any]) -> dict[str, Any]:
    """Where the hub and its proxy run."""
    preferred = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": _OFF_GPUS}}
    return {
        "nodeSelector": dict(args.get("node_selector", {})),
        "tolerations": _tolerations(args),
        "extraPodSpec": {"affinity": preferred},
    }


def _tolerations(args: Mapping[str, Any]) -> list[dict[str, str]]:
    return tolerations(args["taints"]) if "taints" in args else []


_NO_NODE_IDENTITY = {"egressAllowRules": {"cloudMetadataServer": False}}
"""The chart lets its own pods reach it by default, and network policies add up."""


def hub_code(args: Mapping[str, Any]) -> str:
    """What the hub runs as its configuration: jupyterhub_config.py, with the users."""
    code = Path(__file__).with_name("jupyterhub_config.py").read_text(encoding="utf-8")
    users = {name: _ids(name, ids, args.get("gid")) for name, ids in args.get("users", {}).items()}
    told = json.dumps(users, indent=1, sort_keys=True)
    return f"{code}\nimport json\n\nc.Spawner.pre_spawn_hook = start_as(json.loads({told!r}), {MOUNT_PATH!r})\n"


def _ids(name: str, ids: Mapping[str, Any], gid: object) -> dict[str, Any]:
    uid, own = int(ids["uid"]), int(ids["gid"])
    groups = [int(gid)] if isinstance(gid, int | float) else []
    passwd = passwd_text(User(name, uid, own), f"{MOUNT_PATH}/home/{name}")
    return {"uid": uid, "gid": own, "groups": groups, "passwd": passwd}


def _login(args: Mapping[str, Any]) -> dict[str, Any]:
    """How users log in, by class of JupyterHub's.

    With groups, their members may log in; else those who have a uid. A login alone gives nobody a notebook: see
    jupyterhub_config.py. Source: oauthenticator.readthedocs.io/en/latest/reference/api/gen/oauthenticator.generic.html
    (17.4.0).
    """
    users = sorted(args.get("users", {}))
    who: dict[str, Any] = {"admin_users": sorted(args.get("admins", ()))}
    oidc = args.get("oidc")
    if not oidc:
        password = {"password": args["dummy_password"]} if "dummy_password" in args else {}
        return {
            "JupyterHub": {"authenticator_class": "dummy"},
            "DummyAuthenticator": password,
            "Authenticator": {**who, **({"allowed_users": users} if users else {"allow_all": True})},
        }
    groups = list(oidc.get("allowed_groups", ()))
    client: dict[str, Any] = {
        "client_id": oidc["client_id"],
        "client_secret": oidc["client_secret"],
        "oauth_callback_url": f"https://{args['host']}/hub/oauth_callback",
        "authorize_url": oidc["authorize_url"],
        "token_url": oidc["token_url"],
        "userdata_url": oidc["userdata_url"],
        "scope": list(oidc.get("scope", ["openid", "profile", "email"])),
        "username_claim": oidc.get("username_claim", "preferred_username"),
        "login_service": oidc.get("name", "OpenID Connect"),
    }
    if groups:
        client |= {
            "manage_groups": True,
            "auth_state_groups_key": f"oauth_user.{oidc.get('groups_claim', 'groups')}",
            "allowed_groups": groups,
        }
    elif users:
        who["allowed_users"] = users
    else:
        client["allow_all"] = True
    return {
        "JupyterHub": {"authenticator_class": "generic-oauth"},
        "GenericOAuthenticator": client,
        "Authenticator": who,
    }


def _proxy(args: Mapping[str, Any]) -> dict[str, Any]:
    """What users reach: over TLS where there is a certificate."""
    tls = args.get("tls", {})
    https: dict[str, Any] = {"enabled": False}
    if tls.get("secret"):
        https = {"enabled": True, "type": "secret", "secret": {"name": tls["secret"]}, "hosts": [args["host"]]}
    elif tls.get("letsencrypt_email"):
        contact = {"contactEmail": tls["letsencrypt_email"]}
        https = {"enabled": True, "type": "letsencrypt", "letsencrypt": contact, "hosts": [args["host"]]}
    nobody = {"runAsUser": 65534, "runAsGroup": 65534, **RESTRICTED}
    pods = {"containerSecurityContext": nobody, "networkPolicy": _NO_NODE_IDENTITY, **_nodes(args)}
    proxy: dict[str, Any] = {
        "service": _service(args),
        "https": https,
        "chp": pods,
        "traefik": pods,
        "secretSync": {"containerSecurityContext": nobody},
    }
    return proxy | ({"secretToken": args["proxy_token"]} if "proxy_token" in args else {})


def _service(args: Mapping[str, Any]) -> dict[str, Any]:
    service: dict[str, Any] = {"type": args.get("service", usual_service(args))}
    if args.get("service_annotations"):
        service["annotations"] = dict(args["service_annotations"])
    return service


def _singleuser(args: Mapping[str, Any]) -> dict[str, Any]:
    """The notebooks' pods. Home is a directory of the one mount, so that a path is the same in a notebook and a job.

    Not a mount of its own by subPath: the kubelet would make the directory as root's
    (github.com/kubernetes/kubernetes/issues/61545), in which its user then may not write.
    """
    # name:tag, or name@sha256:digest, which the chart joins the same way.
    name, _, tag = args["images"][0].rpartition(":")
    return {
        "image": {"name": name, "tag": tag},
        "cmd": ["/bin/sh", "-c", START, "sh", "jupyterhub-singleuser"],
        "serviceAccountName": args.get("service_account", SERVICE_ACCOUNT),
        "nodeSelector": dict(args.get("node_selector", {})),
        "extraTolerations": _tolerations(args),
        "extraNodeAffinity": {"preferred": _OFF_GPUS},
        "extraLabels": {
            "hub.jupyter.org/network-access-hub": "true",
            "gpufleet.dev/purpose": "notebook",
            "gpufleet.dev/team": args["namespace"],
            "gpufleet.dev/user": "{username}",
            **args.get("labels", {}),
        },
        # The autoscaler leaves its node alone: what is in a kernel's memory is lost when the pod moves.
        "extraAnnotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"},
        "storage": {
            "type": "none",
            "extraVolumes": [{"name": "shared-files", "persistentVolumeClaim": {"claimName": args["volume_claim"]}}],
            "extraVolumeMounts": [{"name": "shared-files", "mountPath": MOUNT_PATH}],
        },
        # It would need root. The team's network policy does it, and this one; on EKS the hop limit of the nodes.
        "cloudMetadata": {"blockWithIptables": False},
        "networkPolicy": {"egressAllowRules": {"cloudMetadataServer": False, "privateIPs": True}},
        "profileList": plan_profiles(args["pools"], args["images"], args.get("limits", {})),
        # A node of the cloud is there after 3 to 8 minutes, and then pulls an image of some 10 GB.
        "startTimeout": 1200,
    }


def _cull(args: Mapping[str, Any]) -> dict[str, Any]:
    """When notebooks end by themselves. A kernel that computes counts as activity."""
    idle, oldest = int(args.get("idle_minutes", 60)), int(args.get("max_age_hours", 0))
    if idle <= 0:
        return {"enabled": False}
    return {"enabled": True, "timeout": 60 * idle, "every": min(600, 15 * idle), "maxAge": 3600 * oldest}
