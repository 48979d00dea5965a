"""Logins of registries in a namespace's pull secret: a team's own, and NVIDIA's by an API key."""

import json
from typing import Any

import pulumi

from gpufleet.documents.json import parse_json

NGC = "nvcr.io"
NGC_USER = "$oauthtoken"
"""Literally: the key says who it is. Source: docs.nvidia.com/ngc/latest/ngc-private-registry-user-guide.html"""


def registry_login(docker_config: pulumi.Input[str] | None, ngc_key: pulumi.Input[str] | None) -> pulumi.Output[str]:
    """A .dockerconfigjson with all that is given, a secret also where it was given in plain.

    docker_config: such a JSON already, whose other keys stay.
    """
    both = pulumi.Output.all(docker_config, ngc_key)
    return pulumi.Output.secret(both.apply(lambda given: merged(given[0], given[1])))


def merged(docker_config: str | None, ngc_key: str | None) -> str:
    """The JSON of both, byte by byte the given one where there is no key."""
    if ngc_key is None:
        return docker_config or '{"auths": {}}'
    document = parse_json(docker_config, "docker_config", shape=dict[str, Any]) if docker_config else {}
    login = {NGC: {"username": NGC_USER, "password": ngc_key}}
    return json.dumps({**document, "auths": {**document.get("auths", {}), **login}})
