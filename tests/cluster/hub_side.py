"""Run by the interpreter of .cache/jupyterhub: what a hub with our values does, by the real KubeSpawner.

Standard input: {values, namespace, user, options, act}; standard output: JSON. What stands between the values and
KubeSpawner in a hub is the chart's jupyterhub_config.py, which is not here: `configured` plays it, for the keys of
`singleuser` and `hub` that we set, and stops at others.
Source: jupyterhub/files/hub/jupyterhub_config.py of github.com/jupyterhub/zero-to-jupyterhub-k8s.
"""

import asyncio
import json
import sys
from typing import Any

from jupyterhub.auth import DummyAuthenticator
from jupyterhub.objects import Hub
from kubespawner import KubeSpawner
from oauthenticator.generic import GenericOAuthenticator
from traitlets.config import Config

PLAIN = {
    "serviceAccountName": "service_account",
    "extraLabels": "extra_labels",
    "extraAnnotations": "extra_annotations",
    "cmd": "cmd",
    "profileList": "profile_list",
    "startTimeout": "start_timeout",
    "nodeSelector": "node_selector",
    "extraTolerations": "tolerations",
}
"""Keys of `singleuser` that the chart hands on as they are."""
OF_THE_CHART = {"networkPolicy"}
"""Keys that its templates use, not the hub."""
CLASSES = {
    "GenericOAuthenticator": GenericOAuthenticator,
    "DummyAuthenticator": DummyAuthenticator,
    "KubeSpawner": KubeSpawner,
    "Authenticator": GenericOAuthenticator,
}


class User:
    """As much of a user of JupyterHub as a spawner asks for."""

    def __init__(self, name: str) -> None:
        self.name = self.escaped_name = name
        self.url = f"/user/{name}/"
        self.id, self.server = 1, None
        self.settings: dict[str, Any] = {}


def configured(values: dict[str, Any], namespace: str) -> Config:
    """What jupyterhub_config.py makes of the chart's values and defaults."""
    c = Config()
    single = dict(values["singleuser"])
    spawner = c.KubeSpawner
    spawner.namespace = namespace
    # Defaults of the chart's values.yaml.
    spawner.uid, spawner.fs_gid, spawner.allow_privilege_escalation = 1000, 100, False
    for key, trait in PLAIN.items():
        spawner[trait] = single.pop(key)
    spawner.node_affinity_preferred = single.pop("extraNodeAffinity")["preferred"]
    image = single.pop("image")
    spawner.image = f"{image['name']}:{image['tag']}"
    storage = single.pop("storage")
    assert storage["type"] == "none"
    spawner.volumes, spawner.volume_mounts = storage["extraVolumes"], storage["extraVolumeMounts"]
    if single.pop("cloudMetadata")["blockWithIptables"]:
        raise AssertionError("the chart would add a privileged container")
    assert set(single) == OF_THE_CHART, f"nobody plays singleuser.{', '.join(single)}"
    for name, settings in values["hub"]["config"].items():
        known = CLASSES[name].class_traits(config=True) if name in CLASSES else {"authenticator_class": None}
        unknown = set(settings) - set(known)
        assert not unknown, f"{name} has no {', '.join(unknown)}"
        c[name].update(settings)
    for code in values["hub"]["extraConfig"].values():
        exec(code, {"c": c})
    return c


async def spawner_of(given: dict[str, Any]) -> KubeSpawner:
    config = configured(given["values"], given["namespace"])
    made = KubeSpawner(
        hub=Hub(), user=User(given["user"]), api_token="not-a-token", oauth_client_id="x", config=config, _mock=True
    )
    made.user_options = given["options"]
    hook = made.run_pre_spawn_hook()
    if hook is not None:
        await hook
    return made


async def act(given: dict[str, Any]) -> object:
    spawner = await spawner_of(given)
    if given["act"] == "login":
        chosen = given["values"]["hub"]["config"]["JupyterHub"]["authenticator_class"]
        kind = {"generic-oauth": GenericOAuthenticator, "dummy": DummyAuthenticator}[chosen]
        made = kind(config=configured(given["values"], given["namespace"]))
        names = given["names"]
        return {name: bool(await allowed(made, name, groups)) for name, groups in names.items()}
    if given["act"] == "start":
        return {"pod": spawner.pod_name, "address": await spawner.start()}
    raise AssertionError(f"nobody plays {given['act']}")


async def allowed(authenticator: Any, name: str, groups: list[str]) -> bool:
    """Whether a login counts, once the provider has said who it is."""
    model = {"name": name, "groups": groups, "admin": name in authenticator.admin_users, "auth_state": {}}
    check = authenticator.check_allowed(name, model)
    return await check if asyncio.iscoroutine(check) else check


if __name__ == "__main__":
    try:
        json.dump(asyncio.run(act(json.load(sys.stdin))), sys.stdout)
    except Exception as error:
        if not hasattr(error, "jupyterhub_message"):
            raise
        json.dump({"refused": error.jupyterhub_message}, sys.stdout)
