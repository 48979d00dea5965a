"""The bytes of a file from outside, and the text in them."""

from pathlib import Path

from gpufleet.errors import UserError

MIB = 2**20


class DocumentError(UserError, ValueError):
    """A document that cannot be used; the text is one line. reason: its part between where it is and the fix.

    A ValueError too, for readers that have their own message about what is not JSON.
    """

    def __init__(self, where: str, reason: str, fix: str = "", line: int | None = None) -> None:
        at = f"line {line}: " if line is not None else ""
        # What a document holds may be in it: no line ends, and nothing that a terminal would obey.
        self.reason = at + "".join(each if each.isprintable() else repr(each)[1:-1] for each in reason)
        super().__init__(": ".join(filter(None, (where, self.reason))) + (f"; {fix}" if fix else ""))


def read_content(file: Path, fix: str, most: int) -> bytes:
    """A file's bytes. most: bytes that it may have; no more are read. Errors: DocumentError."""
    try:
        with file.open("rb") as stream:
            content = stream.read(most + 1)
    except (OSError, ValueError) as error:
        # ValueError: a name with a NUL in it, which no file can have.
        raise DocumentError(str(file), getattr(error, "strerror", None) or "must be a file's name", fix) from error
    if len(content) > most:
        raise DocumentError(str(file), f"has more than {size_text(most)}", fix)
    return content


def decode(content: str | bytes, where: str, fix: str, line: int | None = None) -> str:
    """The text of UTF-8, without a byte order mark. line: as of `DocumentError`. Errors: DocumentError."""
    try:
        # A str from elsewhere may hold halves of a character, which no output can show.
        data = content.encode("utf-8") if isinstance(content, str) else content
        return data.decode("utf-8-sig")
    except UnicodeEncodeError as error:
        line = line or str(content).count("\n", 0, error.start) + 1
        raise DocumentError(where, "has half a character of UTF-16", fix, line) from error
    except UnicodeDecodeError as error:
        line = line or error.object.count(b"\n", 0, error.start) + 1
        raise DocumentError(where, "is not UTF-8", fix, line) from error


def read_text(file: Path, fix: str = "", *, most: int = MIB) -> str:
    """The text of a file of UTF-8. Errors: DocumentError."""
    return decode(read_content(file, fix, most), str(file), fix)


def size_text(size: int) -> str:
    """Bytes as people say them."""
    return f"{size // MIB:,} MiB" if size >= MIB else f"{size // 1024:,} KiB"
