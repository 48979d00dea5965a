"""The commands of a guide that begin with `gpufleet`, for tests that run them word for word."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"^ {4,}gpufleet .*$", re.MULTILINE)
_COMMENT = re.compile(r"""((?:'[^']*'|"[^"]*"|[^'"#]|(?<=\S)#)*?)\s+#.*""")


def guide_commands(page: str) -> list[str]:
    """The command lines of docs/PAGE.md that begin with `gpufleet`, in order.

    They are those of indented blocks. Lines that end with a backslash are joined with the next; comments at a line's
    end are left out. Placeholders, as JOB, stay as they are. page: for instance `aws-batch`. Errors: FileNotFoundError.
    """
    return commands_in((DOCS / f"{page}.md").read_text(encoding="utf-8"))


def commands_in(text: str) -> list[str]:
    """The same of a page's text."""
    joined = re.sub(r" *\\\n *", " ", text)
    return [_COMMENT.sub(r"\1", line.strip()) for line in _BLOCK.findall(joined)]
