"""What the container of a job runs before its command: it fetches the program, and a child's row of parameters.

Source: docs.aws.amazon.com/batch/latest/userguide/array_index_example.html (the index in the environment).
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass

from gpufleet.jobs.aws_batch.parameter_sweep import ParameterTable
from gpufleet.jobs.embedded_program import program_text, python_command
from gpufleet.jobs.program_files import ProgramFile

PROGRAM_FILE = "program.zip"
"""The program that was submitted (`--script`), among the job's outputs."""
PROGRAM_FOLDER = "/tmp/gpufleet-program"
"""Where it lies in every container of the job: ranks find it at one path on all nodes."""
_NODE_PROGRAM = ".gpufleet.py"
_PACKAGE = "gpufleet.jobs.aws_batch.node_side"


@dataclass(frozen=True)
class BucketFile:
    """An object that containers read, and where it lies."""

    bucket: str
    key: str
    region: str
    content: bytes

    @property
    def place(self) -> tuple[str, str, str]:
        return self.bucket, self.key, self.region


def pack_program(files: Sequence[ProgramFile], command: Sequence[str], own: int) -> tuple[bytes, list[str]]:
    """An archive of a program, and the command as it then is. own: how many of its last words are the user's.

    Our own program before them goes into the archive too: with start.py it would be too long for AWS Batch. The same
    files make the same archive, byte by byte.
    """
    ours, words = command[: len(command) - own], list(command[len(command) - own :])
    content = {each.path: (each.source.stat().st_mode, each.source.read_bytes()) for each in files}
    if ours:
        *python, _, text = ours
        content[_NODE_PROGRAM] = (0o644, text.encode())
        words = [*python, f"{PROGRAM_FOLDER}/{_NODE_PROGRAM}", *words]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, (mode, data) in content.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr, entry.compress_type = mode << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return packed.getvalue(), words


def start_command(
    command: Sequence[str],
    own: int,
    *,
    table: ParameterTable | None = None,
    table_file: BucketFile | None = None,
    program: BucketFile | None = None,
) -> list[str]:
    """The command of every container. own: how many of its last words are the user's, in which {name} becomes a value.

    table_file: where a child reads the table; None: it is in the command. program: what it unpacks, and runs in.
    """
    plan: dict[str, object] = {}
    modules = ["failure", "s3"] if program or table_file else ["failure"]
    if program is not None:
        plan["program"] = (PROGRAM_FOLDER, hashlib.sha256(program.content).hexdigest(), *program.place)
        modules.append("program")
    if table is not None:
        plan |= {"own": own, **table.plan(table_file.place if table_file else None)}
        modules.append("row")
    told = json.dumps(plan, separators=(",", ":"))
    return python_command(f"{program_text(_PACKAGE, (*modules, 'start'))}\nsys.exit(main({told!r}))", command)
