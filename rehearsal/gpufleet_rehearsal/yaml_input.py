"""Files that the user writes, read so that whatever is wrong with one is a line that names it."""

from pathlib import Path

import yaml

from gpufleet.errors import UserError


class UnreadableFile(UserError):
    """A file that cannot be read, or is no YAML; the text is one line."""


def read_yaml(file: Path) -> object:
    """The document in a file, None when it is empty. Errors: UnreadableFile."""
    try:
        return yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFile(f"{file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{file}: not a text file in UTF-8") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise UnreadableFile(f"{file}: not valid YAML: {where}{error.problem}") from error
    except yaml.YAMLError as error:
        raise UnreadableFile(f"{file}: not valid YAML: {' '.join(str(error).split())}") from error
