"""A registry's login for the builder: in a file that only the user can read, for as long as the builder runs.

No secret is ever on a command line, where every user of the machine could read it. For registries of AWS and Azure the
login is made with the cloud's own credentials; for all others the builder takes the user's, which `buildah login`,
`podman login` or `docker login` has written.
"""

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gpufleet.documents.content import DocumentError
from gpufleet.documents.json import parse_json, read_json
from gpufleet.errors import UserError
from gpufleet.rules.messages import one_line

ECR = re.compile(r"(?P<account>\d{12})\.dkr\.ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?")
"""Source: docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html"""
_ACR = re.compile(r"(?P<name>[a-z0-9]+)(?:-[a-z0-9]+)?\.azurecr\.(?:io|cn|us)")
_ACR_USER = "00000000-0000-0000-0000-000000000000"
"""The user that goes with a token: learn.microsoft.com/azure/container-registry/container-registry-authentication"""
_AZ_SECONDS = 120


@contextmanager
def login_file(
    host: str, environment: Mapping[str, str] | None = None, *, entry: str | None = None
) -> Iterator[Path | None]:
    """An auth file that holds the registry's login beside all that the user has; None where the user's is enough.

    environment: variables that say where the user's files are; those of this process by default. entry: a login that
    the caller has, as of `cloud_login`, which is then not asked. Errors: UserError when the cloud gives no login.
    """
    entry = entry or cloud_login(host)
    if entry is None:
        yield None
        return
    # The directory is 0700, the file 0600; base images may need the user's other logins.
    with tempfile.TemporaryDirectory(prefix="gpufleet-") as folder:
        file = Path(folder) / "auth.json"
        content = with_login(user_logins(os.environ if environment is None else environment), host, entry)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
            json.dump(content, out)
        yield file


def cloud_login(host: str) -> str | None:
    """`user:password` in base64, as auth files hold it; None for a registry of neither cloud. Errors: UserError."""
    if found := ECR.fullmatch(host):
        from gpufleet.aws.client import AwsClient

        tokens = AwsClient(found["region"]).ask(
            "ecr", "get_authorization_token", "authorizationData[].authorizationToken"
        )
        if not tokens:
            raise UserError(f"{host}: ECR gave no login; is the region enabled in the account?")
        return str(tokens[0])
    if found := _ACR.fullmatch(host):
        return base64.b64encode(f"{_ACR_USER}:{_acr_token(found['name'])}".encode()).decode()
    return None


def _acr_token(registry: str) -> str:
    az = shutil.which("az")
    sign_in = "sign in with `az login`, and ask for the role AcrPush on the registry"
    if az is None:
        raise UserError(f"{registry}: its login comes from the Azure CLI, az, which is not on PATH; install it")
    command = [az, "acr", "login", "--name", registry, "--expose-token", "--output", "json"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_AZ_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise UserError(f"{registry}: az acr login did not answer in {_AZ_SECONDS} s; {sign_in}") from error
    if done.returncode:
        words = one_line(" ".join(done.stderr.split())) or f"exit code {done.returncode}"
        raise UserError(f"{registry}: az acr login: {words}; {sign_in}")
    try:
        return str(parse_json(done.stdout, registry)["accessToken"])
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{registry}: az acr login gave no accessToken; update the Azure CLI") from error


def with_login(logins: Mapping[str, Any], host: str, entry: str) -> dict[str, Any]:
    """The user's logins and one more, which wins over the user's own and over a helper for that registry."""
    helpers = {name: helper for name, helper in logins.get("credHelpers", {}).items() if name != host}
    return {**logins, "auths": {**logins.get("auths", {}), host: {"auth": entry}}, "credHelpers": helpers}


def user_logins(environment: Mapping[str, str]) -> dict[str, Any]:
    """What the builder would find by itself, in its order, in one piece.

    Source: containers-auth.json(5). A file that is not JSON is for the builder to report: it is left out here.
    """
    merged: dict[str, Any] = {"auths": {}, "credHelpers": {}}
    for file in reversed(_files(environment)):
        try:
            content = read_json(file)
        except DocumentError:
            continue
        for key in merged:
            if isinstance(content, dict) and isinstance(content.get(key), dict):
                merged[key] |= content[key]
    return merged


def _files(environment: Mapping[str, str]) -> list[Path]:
    """First those that win."""
    if chosen := environment.get("REGISTRY_AUTH_FILE"):
        return [Path(chosen)]
    home = Path(environment.get("HOME", "~")).expanduser()
    runtime = environment.get("XDG_RUNTIME_DIR")
    own = Path(runtime) if runtime else Path("/run/containers") / str(os.getuid())
    settings = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    docker = Path(environment.get("DOCKER_CONFIG") or home / ".docker")
    first = own / "containers" / "auth.json" if runtime else own / "auth.json"
    return [first, settings / "containers" / "auth.json", docker / "config.json"]
