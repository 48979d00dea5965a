"""The machine that jobs are started from: this one, or one that OpenSSH reaches. Nothing else is needed there."""

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from gpufleet.errors import UserError
from gpufleet.jobs.retrying import TransientError

SECONDS = 120.0
"""For one question; sbatch itself waits up to MessageTimeout, a few times 10 s, for a busy controller."""
NO_PROGRAM = 127
"""What a shell ends with when a program is not there."""

_OPTIONS = ("BatchMode=yes", "ConnectTimeout=15", "ServerAliveInterval=15", "ServerAliveCountMax=3")
_FOR_GOOD = ("Permission denied", "Host key verification failed", "Could not resolve", "no such identity", "Bad owner")
"""What of ssh's words does not pass by itself."""


class SshError(UserError):
    """The machine, or what was asked there, refuses."""


class SshUnreachable(SshError, TransientError):
    """The machine was not reached, or has not answered in time."""


@dataclass(frozen=True)
class CommandResult:
    """What a program has left: its exit code and what it wrote."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode(errors="replace")

    @property
    def said(self) -> str:
        """The last line of its complaints, for a message."""
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

    def run(self, script: str, *words: str, given: bytes = b"", seconds: float = SECONDS) -> CommandResult:
        """Run a text of POSIX sh, with words as $1, $2 and so on. given: its standard input.

        Errors: SshUnreachable, SshError.
        """
        command = ["sh", "-c", script, "gpufleet", *words]
        if self.host is not None:
            options = [word for option in _OPTIONS for word in ("-o", option)]
            command = ["ssh", *options, *self.ssh, "--", self.host, shlex.join(command)]
        try:
            done = subprocess.run(command, input=given, capture_output=True, timeout=seconds, check=False)
        except FileNotFoundError as error:
            raise SshError(f"{command[0]}: there is no such program here; install OpenSSH's client") from error
        except subprocess.TimeoutExpired as error:
            raise SshUnreachable(
                f"{self.where}: no answer within {seconds:g} s; is the machine up, and its disks?"
            ) from error
        told = CommandResult(done.returncode, done.stdout, done.stderr.decode(errors="replace"))
        if self.host is not None and told.code == 255:
            raise self._refused(told)
        return told

    def _refused(self, told: CommandResult) -> SshError:
        if any(words in told.err for words in _FOR_GOOD):
            return SshError(
                f"ssh {self.host}: {told.said}; try `ssh {self.host} true` by hand: it must ask for nothing"
            )
        return SshUnreachable(f"ssh {self.host}: {told.said}; is the machine up, and the network there?")
