"""Our components as their source declares them: arguments, outputs and texts. Nothing is imported, so that one process
reads the components of both clouds."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import griffe

ROOT = Path(__file__).resolve().parents[2]
CLOUDS = {"aws": "AWS", "azure": "Azure", "kubernetes": "Kubernetes"}
"""Packages of components, with their headings."""
FOLDERS = {"aws": "aws", "azure": "azure", "kubernetes": "kubernetes", "platform": "kubernetes"}
"""Folder of components -> the package that has them."""


class Undocumented(Exception):
    """What a reader of the reference would look for in vain, one line each."""


@dataclass(frozen=True, slots=True)
class Value:
    """An argument, a key of an object, or an output. kind: its type. default, required: of an argument; the default is
    what its text says."""

    name: str
    kind: str
    required: bool
    default: str
    text: str


@dataclass(frozen=True, slots=True)
class Object:
    """A TypedDict: the component's arguments themselves, or what one of them holds."""

    name: str
    text: str
    keys: Sequence[Value]


@dataclass(frozen=True, slots=True)
class Component:
    """A component. text, raises: Markdown. objects: what its arguments hold. links: methods that return arguments of
    other components, with the names of these."""

    cloud: str
    module: str
    name: str
    text: str
    raises: str
    arguments: Object
    objects: Sequence[Object]
    outputs: Sequence[Value]
    links: Sequence[Value]

    @property
    def sentence(self) -> str:
        """The first sentence of its text."""
        return re.split(r"(?<=\.)\s", " ".join(self.text.split()), maxsplit=1)[0]


@cache
def components(source: Path = ROOT / "components", package: str = "gpufleet") -> Sequence[Component]:
    """All components, by cloud and name. Errors: Undocumented, with everything that has no docstring."""
    read = griffe.load(package, search_paths=[source])
    assert isinstance(read, griffe.Module)
    missing: list[str] = []
    base = read["component.Component"]
    raises = [part for part in _text(base, missing).split("\n\n") if part.startswith("Errors: ")]
    if not raises:
        missing.append(f"{base.path}: no paragraph says its errors")
    found = [
        _component(cloud, kind, raises, read, missing)
        for folder, cloud in FOLDERS.items()
        if folder in read.modules
        for module in read.modules[folder].modules.values()
        for kind in module.classes.values()
        if not kind.is_alias and not kind.name.startswith("_") and base.path in map(_path, kind.bases)
    ]
    if missing:
        raise Undocumented("\n".join(sorted(set(missing))))
    return sorted(found, key=lambda each: (list(CLOUDS).index(each.cloud), each.name))


def _component(
    cloud: str, kind: griffe.Class, raises: Sequence[str], package: griffe.Module, missing: list[str]
) -> Component:
    """raises: what every component raises; it may have more of its own."""
    parts = _text(kind, missing).split("\n\n")
    own = [part for part in parts if part.startswith("Errors: ")]
    constructor = kind.members["__init__"]
    assert isinstance(constructor, griffe.Function)
    arguments = _class(constructor.parameters["args"].annotation, package)
    assert arguments is not None, f"{kind.path}: its args are no TypedDict of ours"
    inner: dict[str, Object] = {}
    top = _object(arguments, package, inner, missing)
    outputs = [
        Value(each.name, _kind(each.annotation), True, "", _text(each, missing))
        for each in _attributes(kind)
        if "pulumi.Output[" in str(each.annotation)
    ]
    return Component(
        cloud,
        kind.module.path,
        kind.name,
        "\n\n".join(part for part in parts if part not in own),
        "\n\n".join([*raises, *own]),
        top,
        list(inner.values()),
        outputs,
        list(_links(kind, package, missing)),
    )


def _links(kind: griffe.Class, package: griffe.Module, missing: list[str]) -> Iterator[Value]:
    for each in kind.functions.values():
        returned = _class(each.returns, package)
        if each.name.startswith("for_") and returned is not None:
            names = ", ".join(key.name for key in _object(returned, package, {}, missing).keys)
            yield Value(f"{each.name}()", names, True, "", _text(each, missing))


def _object(
    kind: griffe.Class, package: griffe.Module, inner: dict[str, Object], missing: list[str], *, top: bool = True
) -> Object:
    """A TypedDict with the keys of those that it extends first. inner: name -> TypedDicts in its keys, filled in."""
    keys: dict[str, Value] = {}
    for base in kind.bases:
        if (known := _class(base, package)) is not None:
            keys |= {key.name: key for key in _object(known, package, inner, missing).keys}
    for each in _attributes(kind):
        text, annotation = _text(each, missing), str(each.annotation)
        default, rest = _default(text)
        keys[each.name] = Value(each.name, _kind(each.annotation), "NotRequired[" not in annotation, default, rest)
        for name in _names(each.annotation):
            held = _class(name, package)
            if held is not None and held.name not in inner and "TypedDict" in _origins(held, package):
                inner[held.name] = Object(held.name, "", ())
                inner[held.name] = _object(held, package, inner, missing, top=False)
    return Object(kind.name, _text(kind, missing), list(keys.values()))


def _origins(kind: griffe.Class, package: griffe.Module) -> set[str]:
    """The names of all classes that a class is made from, as far as they are ours."""
    found = set()
    for base in kind.bases:
        found.add(_path(base).rpartition(".")[2])
        if (known := _class(base, package)) is not None:
            found |= _origins(known, package)
    return found


def _attributes(kind: griffe.Class) -> Iterator[griffe.Attribute]:
    for each in kind.members.values():
        if isinstance(each, griffe.Attribute) and each.annotation is not None and not each.name.startswith("_"):
            yield each


def _names(annotation: str | griffe.Expr | None) -> Iterator[griffe.ExprName]:
    if isinstance(annotation, griffe.Expr):
        yield from (part for part in annotation.iterate(flat=True) if isinstance(part, griffe.ExprName))


def _path(expression: str | griffe.Expr | None) -> str:
    return expression.canonical_path if isinstance(expression, griffe.Expr) else str(expression)


def _class(expression: str | griffe.Expr | None, package: griffe.Module) -> griffe.Class | None:
    """The class of ours that an expression names, through as many imports and other names as there are."""
    path = _path(expression)
    if not path.startswith(f"{package.name}."):
        return None
    found = package[path.removeprefix(f"{package.name}.")]
    while isinstance(found, griffe.Alias):
        if not found.target_path.startswith(f"{package.name}."):
            return None
        found = package[found.target_path.removeprefix(f"{package.name}.")]
    if isinstance(found, griffe.Attribute):
        return _class(found.value, package)  # another name for a class
    return found if isinstance(found, griffe.Class) else None


def _kind(annotation: str | griffe.Expr | None) -> str:
    """A type without what the columns beside it say."""
    text = str(annotation)
    if found := re.fullmatch(r"(?:typing\.)?NotRequired\[(.*)\]|pulumi\.Output\[(.*)\]", text):
        text = next(group for group in found.groups() if group is not None)
    text = re.sub(r"^Annotated\[(.+?), (?:Check|Encrypted|NumberRange)\(.*\]$", r"\1", text)
    return text.replace("pulumi.", "")


def _text(of: griffe.Object, missing: list[str]) -> str:
    """A docstring as Markdown."""
    if of.docstring is None or not of.docstring.value.strip():
        missing.append(f"{of.path}: no docstring")
        return ""
    text = re.sub(r":\w+:`~?([\w.]+)`", lambda found: f"`{found[1].rpartition('.')[2]}`", of.docstring.value.strip())
    return text.replace("``", "`")


_DEFAULT = re.compile(r"(?:^|(?<=\s))Default(?: is)?:?\s(?P<said>.+?)(?P<end>[.;:](?=\s|$))", re.DOTALL)


def _default(text: str) -> tuple[str, str]:
    """What a text says of the default, and the text, without a sentence that says nothing else."""
    found = _DEFAULT.search(text)
    if found is None:
        return "see there" if "Default" in text else "none", text
    said = " ".join(found["said"].split())
    rest = f"{text[: found.start()]}{text[found.end() :].lstrip()}".strip()
    return said, rest if found["end"] == "." and rest else text
