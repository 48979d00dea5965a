"""Programs that are a container's command, read as the container reads them."""

import ast
import json
import re
import zlib
from base64 import b85decode


def text_of(command: str) -> str:
    """The program that a word, or a whole command line, carries."""
    (packed, meant) = re.findall(r"b85decode\('([^']+)'\.translate\((\{[0-9:,]+\})\)", command)[0]
    return zlib.decompress(b85decode(packed.translate(ast.literal_eval(meant)))).decode()


def plan_of(command: str) -> dict:
    """What the program was told at its end."""
    last = ast.parse(text_of(command)).body[-1]
    (told,) = [node.value for node in ast.walk(last) if isinstance(node, ast.Constant)]
    return json.loads(told)
