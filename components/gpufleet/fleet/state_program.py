"""A Pulumi program made of a stack's state: all that is there, as it is, but for the pools that are stopped.

`gpufleet stop` acts on what runs. The program in the checkout may have changed since the last `up`, so that a pool has
another name there, or is not in it at all: an `up` of that would create, replace or delete. See docs/decisions/0026.
"""

import json
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from gpufleet.documents.json import check_shape, parse_json
from gpufleet.documents.yaml import read_yaml
from gpufleet.errors import UserError
from gpufleet.fleet.pool_inputs import stopped_inputs
from gpufleet.fleet.stack_state import stack_outputs
from gpufleet.pulumi_cli import PulumiCli

STATE = "GPUFLEET_STATE"
"""Variable with the file of which the program is made."""
PROVIDERS = "pulumi:providers:"
_OF_ENGINE = frozenset({"version", "pluginDownloadURL", "__internal"})
"""Inputs of a provider that are not its settings."""
_PROGRAM = "from gpufleet.fleet.state_program_run import main\n\nmain()\n"


@contextmanager
def program_that_stops(engine: PulumiCli, stack: str, urns: Collection[str]) -> Iterator[PulumiCli]:
    """An engine whose program registers what is in the stack's state, these resources of it stopped.

    The state is in a file of this user's, secrets in plain text, until the end of the block. Errors: UserError.
    """
    exported = engine.output_of("stack", "export", "--stack", stack, "--show-secrets")
    deployment = parse_json(exported, stack)["deployment"]
    # All of them: to the engine a resource that a program leaves out is one to delete.
    resources = [each for each in deployment.get("resources") or [] if not each.get("delete")]
    inputs = {
        each["urn"]: stopped_inputs(each["type"], each.get("inputs") or {}) for each in resources if each["urn"] in urns
    }
    # A program that exports none would take the stack's outputs away.
    state = {"resources": resources, "inputs": inputs, "outputs": stack_outputs(resources)}
    with tempfile.TemporaryDirectory(prefix="gpufleet-stop-") as name:
        folder = Path(name)
        (folder / "state.json").write_text(json.dumps(state), encoding="utf-8")
        (folder / "__main__.py").write_text(_PROGRAM, encoding="utf-8")
        (folder / "Pulumi.yaml").write_text(yaml.safe_dump(_project(engine.project)), encoding="utf-8")
        config = folder / f"Pulumi.{stack.rpartition('/')[2]}.yaml"
        config.write_text(yaml.safe_dump(_config(deployment)), encoding="utf-8")
        yield replace(engine, project=folder, environment={**engine.environment, STATE: str(folder / "state.json")})


def _config(deployment: Mapping[str, Any]) -> dict[str, Any]:
    """The stack's configuration file: what encrypts its state, and the settings of its default providers.

    Source: github.com/pulumi/pulumi, sdk/go/common/apitype/core.go (SecretsProvidersV1) and pkg/secrets: passphrase has
    a salt, cloud a URL and an encrypted key.
    """
    secrets = (deployment.get("secrets_providers") or {}).get("state") or {}
    names = {"salt": "encryptionsalt", "url": "secretsprovider", "encryptedkey": "encryptedkey"}
    found: dict[str, Any] = {own: secrets[name] for name, own in names.items() if secrets.get(name)}
    providers = [each for each in deployment.get("resources") or [] if is_default_provider(each)]
    settings = {
        f"{each['type'].removeprefix(PROVIDERS)}:{key}": value if isinstance(value, str) else json.dumps(value)
        for each in providers
        for key, value in (each.get("inputs") or {}).items()
        if key not in _OF_ENGINE
    }
    return {**found, "config": settings} if settings else found


def is_default_provider(resource: Mapping[str, Any]) -> bool:
    """Whether the engine made this provider itself, by the stack's configuration."""
    name = str(resource["urn"]).rpartition("::")[2]
    return str(resource["type"]).startswith(PROVIDERS) and name.startswith("default")


def _project(project: Path) -> dict[str, Any]:
    """The project file of the program, for one in another folder, which our own Python runs."""
    start = project.resolve()
    root = next((each for each in (start, *start.parents) if (each / "Pulumi.yaml").is_file()), None)
    if root is None:
        raise UserError(f"{project}: no Pulumi.yaml here or above; give a Pulumi project with --program DIR")
    content: dict[str, Any] = check_shape(read_yaml(root / "Pulumi.yaml"), dict[str, Any], str(root / "Pulumi.yaml"))
    # Ours are beside it.
    content = {key: value for key, value in content.items() if key not in ("main", "stackConfigDir", "config")}
    own = {"virtualenv": sys.prefix} if sys.prefix != sys.base_prefix else {}
    plugins = {
        kind: [{**each, "path": str(root / each["path"])} if "path" in each else each for each in entries]
        for kind, entries in (content.get("plugins") or {}).items()
    }
    return {
        **content,
        "runtime": {"name": "python", **({"options": own} if own else {})},
        **({"plugins": plugins} if plugins else {}),
    }
