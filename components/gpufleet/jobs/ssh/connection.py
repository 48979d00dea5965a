"""Commands on the machine that starts jobs: this one, or one reached by OpenSSH."""

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from gpufleet.errors import UserError
from gpufleet.jobs.retrying import TransientError

COMMAND_TIMEOUT_SECONDS = 120.0
"""For one command; sbatch itself waits up to MessageTimeout, a few times 10 s, for a busy controller."""
COMMAND_NOT_FOUND = 127
"""Exit code of a shell if a program is not found."""

_OPTIONS = ("BatchMode=yes", "ConnectTimeout=15", "ServerAliveInterval=15", "ServerAliveCountMax=3")
_PERMANENT = ("Permission denied", "Host key verification failed", "Could not resolve", "no such identity", "Bad owner")
"""Messages of ssh that no retry can help."""


class SshError(UserError):
    """The connection or the command failed."""


class SshUnreachable(SshError, TransientError):
    """The machine was not reached, or did not answer in time."""


@dataclass(frozen=True)
class CommandResult:
    """The exit code and the output of a command."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode(errors="replace")

    @property
    def error_line(self) -> str:
        """The last line of its standard error, for a message."""
        lines = [line.strip() for line in self.err.splitlines() if line.strip()]
        return lines[-1] if lines else f"exit code {self.code}"


@dataclass(frozen=True)
class SshConnection:
    """host: as ssh takes it, [USER@]HOST or a name of ~/.ssh/config; None for this machine. ssh: further arguments."""

    host: str | None = None
    ssh: Sequence[str] = ()

    @property
    def where(self) -> str:
        return self.host or "this machine"

    def run(
        self, script: str, *words: str, stdin: bytes = b"", seconds: float = COMMAND_TIMEOUT_SECONDS
    ) -> CommandResult:
        """Run a text of POSIX sh, with words as $1, $2 and so on. stdin: its standard input.

        Errors: SshUnreachable, SshError.
        """
        command = ["sh", "-c", script, "gpufleet", *words]
        if self.host is not None:
            options = [word for option in _OPTIONS for word in ("-o", option)]
            command = ["ssh", *options, *self.ssh, "--", self.host, shlex.join(command)]
        try:
            done = subprocess.run(command, input=stdin, capture_output=True, timeout=seconds, check=False)
        except FileNotFoundError as error:
            raise SshError(f"{command[0]}: program not found; install the OpenSSH client") from error
        except subprocess.TimeoutExpired as error:
            raise SshUnreachable(
                f"{self.where}: no answer within {seconds:g} s; is the machine up, and its disks?"
            ) from error
        result = CommandResult(done.returncode, done.stdout, done.stderr.decode(errors="replace"))
        if self.host is not None and result.code == 255:
            raise self._error(result)
        return result

    def _error(self, result: CommandResult) -> SshError:
        if any(words in result.err for words in _PERMANENT):
            return SshError(
                f"ssh {self.host}: {result.error_line}; try `ssh {self.host} true` by hand: it must ask for nothing"
            )
        return SshUnreachable(f"ssh {self.host}: {result.error_line}; is the machine up, and the network there?")
