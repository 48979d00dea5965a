"""The stack configuration that the engine sees in a rehearsal: the user's, with the rehearsal's own encryption.

A rehearsal needs nobody's passphrase. Only secrets that are encrypted in the user's file can be read with nothing but
the passphrase that they were made with.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import yaml

from gpufleet.documents.yaml import read_yaml
from gpufleet.errors import UserError
from gpufleet_rehearsal.onprem_cluster import is_onprem_config, kubeconfig_text


class StackConfigError(UserError):
    """The stack configuration cannot be used in a rehearsal; the text is one line."""


@dataclass(frozen=True)
class StackConfig:
    """text: the file for the engine. own_passphrase: whether only the user's passphrase opens it.

    remade: whether the state was encrypted otherwise, so that no passphrase opens both.
    """

    text: str
    own_passphrase: bool
    remade: bool


def stack_config(original: Path, copy: Path, state: Path) -> StackConfig:
    """What the engine shall see of the user's file `original`.

    copy: the file as the engine saw it before, into which it wrote a salt; state: its state, which also tells the salt.
    Neither must be there.
    Errors: StackConfigError and DocumentError, for the user's file only.
    """
    document = read_yaml(original) or {}
    if not isinstance(document, dict):
        raise StackConfigError(f"{original}: a stack configuration is a mapping with the key `config`")
    if is_onprem_config(document.get("config")):
        # Before anybody looks for secrets: the user's own, encrypted as it may be, has no business here.
        document["config"] = document["config"] | {"gpufleet:kubeconfig": kubeconfig_text()}
    salt, of_state = document.pop("encryptionsalt", None), _salt_of_state(state)
    provider, _ = document.pop("secretsprovider", None), document.pop("encryptedkey", None)
    secrets = _holds_secrets(document.get("config"))
    if secrets and salt is None:
        raise StackConfigError(
            f"{original}: secretsprovider={provider}: a rehearsal has no credentials to decrypt secrets with; rehearse "
            "an environment without them, or one with passphrase secrets"
        )
    own = secrets or (of_state is not None and of_state == salt)
    if not own:
        salt = of_state or _salt_of_copy(copy, other_than=salt)
    if salt is not None:
        document["encryptionsalt"] = salt
    return StackConfig(yaml.safe_dump(document, sort_keys=False), own, of_state not in (None, salt))


def _holds_secrets(value: object) -> bool:
    if isinstance(value, dict):
        return set(value) == {"secure"} or any(map(_holds_secrets, value.values()))
    return isinstance(value, list) and any(map(_holds_secrets, value))


def _salt_of_copy(copy: Path, other_than: object) -> object:
    """The salt that the engine wrote, unless it is the user's, of a time when there were secrets."""
    earlier = yaml.safe_load(copy.read_text()) if copy.exists() else None
    salt = earlier.get("encryptionsalt") if isinstance(earlier, dict) else None
    return None if salt == other_than else salt


def _salt_of_state(state: Path) -> object:
    try:
        return json.loads(state.read_text())["checkpoint"]["latest"]["secrets_providers"]["state"]["salt"]
    except (OSError, ValueError, LookupError, TypeError):
        # None yet, or one that the engine will complain of.
        return None
