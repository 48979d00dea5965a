"""Programs that are a container's command, read as the container reads them."""

import ast
import builtins
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


def undefined_names(text: str) -> set[str]:
    """Names that a program uses and defines nowhere."""
    tree = ast.parse(text)
    defined = set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.alias):
            defined.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            defined.add(node.name)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return used - defined
