"""`pulumi` in a rehearsal's shell: the real engine, in the mirror of the project, with fresh stack configuration."""

import os
import sys
from pathlib import Path

from gpufleet.engine import EngineError
from gpufleet_rehearsal.home import Home, HomeError


def main(project: str, root: str) -> None:
    """Replace this process by the engine. What `pulumi config set` would write is refused: the mirror is a copy."""
    home = Home(Path(project), Path(root))
    arguments = sys.argv[1:]
    if arguments[:1] == ["config"] and {"set", "set-all", "rm", "rm-all", "cp", "refresh"} & set(arguments):
        sys.exit("pulumi config: a rehearsal reads your stack configuration and never writes it; edit the file")
    try:
        home.prepare()
        program = home.engine().program
    except (HomeError, EngineError) as error:
        sys.exit(str(error))
    os.chdir(home.mirror)
    os.execve(program, [program, *arguments], home.environment())
