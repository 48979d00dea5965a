"""Previews from files, whichever of the two forms they have."""

from pathlib import Path

from gpufleet.documents.json import LARGEST
from gpufleet.report.event_log import read_event_log
from gpufleet.report.preview import InvalidPreview, Preview
from gpufleet.report.preview_json import read_preview_json

_FORMS = "give the output of `pulumi preview --json --show-sames`, or the engine's event log"


def read_preview(file: Path) -> Preview:
    """The preview in a file. Errors: UserError."""
    try:
        with file.open("rb") as stream:
            first = stream.readline()
            stream.seek(0)
            # A line of the event log is a separate object; the plain JSON begins with a line `{`.
            if first.startswith(b'{"sequence"'):
                return read_event_log(stream, str(file))
            if not first.strip():
                raise InvalidPreview(f"{file}: is empty; {_FORMS}")
            return read_preview_json(stream.read(LARGEST + 1), str(file))
    except OSError as error:
        raise InvalidPreview(f"{file}: {error.strerror}; {_FORMS}") from error
    except RecursionError as error:
        raise InvalidPreview(f"{file}: not a preview: nested too deeply; {_FORMS}") from error
