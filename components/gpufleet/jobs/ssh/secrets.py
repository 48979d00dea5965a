"""Secret variables of jobs on Slurm and plain hosts: files of the user with mode 600, which the job's script reads."""

import re
import shlex
from collections.abc import Iterable, Mapping

from gpufleet.jobs.ssh.connection import SshConnection, SshError

FOLDER = ".gpufleet/secrets"
"""Below the user's home on the cluster, with a folder for each environment."""
_PATH = re.compile(r"(?:~/|/)[\w./@+-]+", re.ASCII)
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")

# The mode as the file's owner alone may read it; a trace (set -x) of a set-up line would show the value in the log.
_READ = """secret() {
    local file=$2 told value
    told=$(stat -L -c '%u %a' -- "$file" 2>/dev/null) || {
        echo "gpufleet: secret $1: $file is not there on $(hostname); store it with gpufleet secrets put" >&2
        end 1
    }
    case $told in "$(id -u) 600"|"$(id -u) 400") ;; *)
        echo "gpufleet: secret $1: $file has the owner and mode $told; it has to be yours alone: chmod 600 $file" >&2
        end 1 ;;
    esac
    value=$(<"$file") && export "$1=$value" || end 1
}
{ set +x; } 2>/dev/null"""

_PUT = """umask 077
cd && mkdir -p "$1" && chmod 700 .gpufleet "$1" && cat >"$1/.$2.part" && mv -f "$1/.$2.part" "$1/$2" """


def is_secret_reference(reference: str) -> bool:
    """Whether it is the name of a secret, or the path of a file."""
    return bool(_NAME.fullmatch(reference) or _PATH.fullmatch(reference))


def secret_lines(environment: str, secrets: Mapping[str, str]) -> list[str]:
    """Bash that sets the variables, or ends the job with a line that says why. Needs the function `end`."""
    if not secrets:
        return []
    read = (f"secret {variable} {_file(environment, reference)}" for variable, reference in sorted(secrets.items()))
    return [_READ, *read]


def validate_secrets(name: str, secrets: Mapping[str, str], reserved: Iterable[str]) -> list[str]:
    """A line for each that is not the name of a secret, or is a variable of the job's own."""
    lines = [
        f"{name}: secrets.{variable}: use the name of a secret, or the path of your own file with mode 600"
        for variable, reference in secrets.items()
        if not is_secret_reference(reference)
    ]
    return [
        *lines,
        *(f"{name}: secrets={each}: is set for every job; use another" for each in reserved if each in secrets),
    ]


def put_secret(machine: SshConnection, environment: str, name: str, value: str) -> str:
    """Store a value in the user's home, by standard input. Returns where it is. Errors: SshError."""
    folder = f"{FOLDER}/{environment}"
    result = machine.run(_PUT, folder, name, stdin=value.encode())
    if result.code:
        raise SshError(f"{name}: ~/{folder}/{name} on {machine.where} cannot be written: {result.error_line}")
    return f"~/{folder}/{name} on {machine.where}, mode 600"


def _file(environment: str, reference: str) -> str:
    """The file's path, as bash reads it."""
    if reference.startswith("/"):
        return shlex.quote(reference)
    own = reference.removeprefix("~/") if reference.startswith("~/") else f"{FOLDER}/{environment}/{reference}"
    return f'"$HOME"/{shlex.quote(own)}'
