"""Which values of a configuration are in plain text.

The engine decrypts all of it for the program, and tells of a whole key only whether there is an encrypted value in it.
Where in such a key the others are, says the stack's file, as far as it is where the project says.
"""

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from gpufleet.documents.json import parse_json
from gpufleet.documents.yaml import read_yaml
from gpufleet.errors import UserError
from gpufleet.report.configuration_files import configuration_folder, project_folder

KeyPath = tuple[str, ...]


class PlainText:
    """encrypted: keys, as PULUMI_CONFIG has them, that hold an encrypted value. content: the stack's file."""

    def __init__(self, encrypted: Collection[str] = (), content: object = None) -> None:
        self._encrypted = frozenset(key.partition(":")[2] for key in encrypted)
        config = content.get("config") if isinstance(content, dict) else None
        values = config.items() if isinstance(config, dict) else ()
        self._paths = frozenset(path for key, value in values for path in _paths(value, (_own(str(key)),)))

    @classmethod
    def of_engine(cls, stack: str) -> "PlainText":
        """That of the running program."""
        return cls(
            parse_json(os.environ.get("PULUMI_CONFIG_SECRET_KEYS", "[]"), "keys", shape=list[str]), _file_content(stack)
        )

    def __contains__(self, path: KeyPath) -> bool:
        return path[0] not in self._encrypted or path in self._paths


def _own(key: str) -> str:
    return key.rpartition(":")[2]


def _paths(value: object, path: KeyPath) -> Iterator[KeyPath]:
    """The paths of all texts that are not encrypted."""
    if isinstance(value, dict) and set(value) != {"secure"}:
        for key, each in value.items():
            yield from _paths(each, (*path, str(key)))
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _paths(each, (*path, str(at)))
    elif isinstance(value, str):
        yield path


def _file_content(stack: str) -> object:
    """Nothing where the engine was given another file, or runs the program somewhere else."""
    try:
        project = project_folder(Path.cwd())
        return read_yaml(project / configuration_folder(project) / f"Pulumi.{stack}.yaml")
    except UserError:
        # The engine has read it already, and has had its say.
        return None
