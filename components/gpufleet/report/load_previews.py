"""Previews from files, whichever of the two forms they have."""

from pathlib import Path

from gpufleet.report.event_log import read_events
from gpufleet.report.preview import BrokenInput, Preview
from gpufleet.report.preview_json import read_json

_FORMS = "give the output of `pulumi preview --json --show-sames`, or the engine's event log"


def read_preview(file: Path) -> Preview:
    """The preview in a file. Errors: BrokenInput with the one line for the user."""
    try:
        with file.open("rb") as stream:
            first = stream.readline()
            stream.seek(0)
            # A line of the event log is an object of its own; the plain JSON begins with a line `{`.
            if first.startswith(b'{"sequence"'):
                return read_events(stream, str(file))
            if not first.strip():
                raise BrokenInput(f"{file}: is empty; {_FORMS}")
            return read_json(stream.read(), str(file))
    except OSError as error:
        raise BrokenInput(f"{file}: {error.strerror}; {_FORMS}") from error
    except RecursionError as error:
        raise BrokenInput(f"{file}: no preview: nested too deeply; {_FORMS}") from error
