"""`pulumi` in a rehearsal's shell: the real engine, in the mirror of the project, with fresh stack configuration."""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from gpufleet.errors import UserError
from gpufleet_rehearsal.workspace import Workspace

WRITES = {"set", "set-all", "rm", "rm-all", "cp", "refresh"}
"""Commands of `pulumi config` that write."""


def main(project: str, root: str) -> None:
    """Replace this process by the engine. What `pulumi config set` would write is rejected: the mirror is a copy."""
    # Ctrl-C before the engine is there: no traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    home = Workspace(Path(project), Path(root))
    arguments = sys.argv[1:]
    if writes_configuration(arguments):
        sys.exit("pulumi config: a rehearsal reads your stack configuration and never writes it; edit the file")
    try:
        home.prepare()
        environment = home.environment(stack_of(arguments) or os.environ.get("PULUMI_STACK"))
        program = home.engine().program
    except UserError as error:
        sys.exit(str(error))
    os.chdir(home.mirror)
    os.execve(program, [program, *arguments], environment)


def writes_configuration(arguments: Sequence[str]) -> bool:
    """Whether this is a `pulumi config` that would write. Flags may stand anywhere, before `config` as well."""
    words = [argument for argument in arguments if not argument.startswith("-")]
    if "config" not in words:
        return False
    after = words[words.index("config") + 1 :]
    return next((word in WRITES for word in after if word in {*WRITES, "get"}), False)


def stack_of(arguments: Sequence[str]) -> str | None:
    """The stack that the command line names, without organization and project; None when it names none."""
    for flag, value in zip(arguments, [*arguments[1:], ""], strict=True):
        if flag in ("-s", "--stack"):
            return value.split("/")[-1]
        if flag.startswith("--stack="):
            return flag.removeprefix("--stack=").split("/")[-1]
    return None
