"""Inputs that are nearly right: a sample with a value, a key, a line or a byte of it changed, and texts that hurt."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import yaml
from hypothesis import strategies as st

Path_ = tuple[str | int, ...]

_DEEP: Any = 1
for _ in range(60):
    _DEEP = [_DEEP]

PLAIN_VALUES: tuple[Any, ...] = (None, True, 0, -1, 1.0, 2.5, "", "x", "2027-02-30", [], {}, [1], {"a": 1})
"""What people write by mistake."""
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 2.0, 2.5, -0.0, 1e308, 1e-320, 2**31, 2**63, -(2**63) - 1, 10**30, 10**400),
    *(float("nan"), float("inf"), "", " ", "x", "-1", "1", "1.0", "true", "null", "NaN", "1e999", "2027-02-30"),
    *(
        "9999-12-31",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59+00:00",
        "2026-11-21",
        "é",
        "日本",
        "\u202e",
        "\x1b[31m",
    ),
    *(
        "\0",
        "a\nb",
        "a\u2028b",
        "\ud800",
        "-rf",
        "../../etc/passwd",
        "[secret]",
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
    ),
    *("9" * 5000, "x" * 100_000, "{", "[]", "{}", '{"a": 1}', "[1", "*", "(", "::", "urn:pulumi:a::b::c::d", "٣"),
    *([], {}, [None], [[]], [1], ["a"], ["a", 1, None], {"": None}, {"a": 1}, {"a": {"b": [1, "c"]}}, _DEEP),
    {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "s"},
)
"""In place of any value. The last is a secret as the engine marks one."""

_BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
)
_MERGES = "a: &a {x: 1}\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)}\n  <<: [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(24)
)
TEXTS: tuple[bytes, ...] = (
    *(b"", b"\n", b"\0", b"\xff\xfe\0", b"\xef\xbb\xbf", b"{", b"[", b"null", b"[]", b"{}", b"1", b'"x"', b"NaN", b"-"),
    *(b"a: 2027-02-30\n", b"a: 1\na: 2\n", b"a: [\n", b"? [a]\n: b\n", b"&a [*a]", b"*a", b"!!bool x", b"!!int ''"),
    *(
        b"!!timestamp x",
        b"!!python/object/apply:os.system [true]",
        b"!!set {a}",
        b"--- 1\n--- 2\n",
        b"%YAML 9.9\n--- a",
    ),
    *(b"1" * 5000, b"[" * 5000, b"{" * 5000, b"- " * 20000, b'{"a":' * 5000, b"1:" * 300 + b"1", b"0x" + b"f" * 5000),
    *(b'{"steps": [1]}', b'{"steps": {}}', b'"\\ud800"', b'{"a": "\xff"}', b'{"a": 1e999}', b"[1,]", b"a:\n\t- b\n"),
    *(
        _BOMB.encode(),
        _MERGES.encode(),
        b"dn: x\n",
        b":::::::\n",
        b"dn:: \xc3\xa9\n",
        b"a,b\n1\n",
        b'a\n"',
        b"x" * 70_000,
    ),
)
"""In place of a whole input."""


def broken_inputs(
    values: Sequence[Any], dump: Callable[[Any], str], samples: Sequence[bytes]
) -> st.SearchStrategy[bytes]:
    """Most are samples with another value somewhere, some with other bytes, a few are nothing of the kind."""
    documents, texts = broken_documents(values, dump) if values else None, broken_texts(samples)

    @st.composite
    def broken(draw: st.DrawFn) -> bytes:
        kind = draw(st.integers(0, 19))
        if documents is not None and kind < 15:
            return draw(documents)
        return draw(texts) if kind < 19 else draw(st.sampled_from(TEXTS))

    return broken()


def broken_documents(samples: Sequence[Any], dump: Callable[[Any], str]) -> st.SearchStrategy[bytes]:
    """Samples that are values, changed in one to three places, as text."""
    places = [(sample, _paths(sample)) for sample in samples]

    @st.composite
    def broken(draw: st.DrawFn) -> bytes:
        sample, paths = draw(st.sampled_from(places))
        value = sample
        for _ in range(draw(st.integers(1, 3))):
            path = draw(st.sampled_from(paths))
            change = draw(st.sampled_from(("value", "value", "value", "gone", "key", "twice", "in a list", "other")))
            values = draw(st.sampled_from((PLAIN_VALUES, VALUES)))
            new = draw(st.sampled_from(values)) if change in ("value", "key") else None
            if change == "other":
                new = _at(sample, draw(st.sampled_from(paths)))
            value = _changed(value, path, change, new)
        return dump(value).encode("utf-8", "surrogatepass")

    return broken()


def broken_texts(samples: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Samples that are text, with bytes or lines changed."""

    @st.composite
    def broken(draw: st.DrawFn) -> bytes:
        text = bytearray(draw(st.sampled_from(samples)))
        for _ in range(draw(st.integers(1, 3))):
            at = draw(st.integers(0, max(0, len(text) - 1)))
            change = draw(st.sampled_from(("byte", "word", "cut", "lines", "gone")))
            if change == "byte":
                text[at : at + 1] = bytes([draw(st.integers(0, 255))])
            elif change == "word":
                word = str(draw(st.sampled_from([each for each in VALUES if isinstance(each, str | int)])))
                text[at:at] = word.encode("utf-8", "surrogatepass")
            elif change == "cut":
                del text[at:]
            elif change == "gone":
                del text[at : at + draw(st.integers(1, 20))]
            else:
                lines = text.split(b"\n")
                one, two = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
                lines[one], lines[two] = lines[two], lines[one]
                text = bytearray(b"\n".join(lines))
        return bytes(text)

    return broken()


def as_json(value: Any) -> str:
    return json.dumps(value, indent=1)


def as_json_lines(value: Any) -> str:
    """A value in each line, as ledgers and event logs have it."""
    return "".join(json.dumps(each) + "\n" for each in (value if isinstance(value, list) else [value]))


def as_yaml(value: Any) -> str:
    # JSON is YAML, but for what YAML's writer knows besides: days, aliases, words without quotes.
    return yaml.safe_dump(value, allow_unicode=True) if _shown(value) else json.dumps(value, default=str)


def _shown(value: Any) -> bool:
    """Whether PyYAML's writer takes a value, which does not know halves of characters."""
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return False
    return "9" * 5000 not in str(value)[:200_000]


def _paths(value: Any, at: Path_ = ()) -> list[Path_]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(path for key, each in inner for path in _paths(each, (*at, key)))]


def _at(value: Any, path: Path_) -> Any:
    for key in path:
        value = value[key]
    return value


def _changed(value: Any, path: Path_, change: str, new: Any) -> Any:
    """A copy of what is on the path, with the change at its end; the same where an earlier change has cut it off."""
    if not path:
        return {"value": new, "other": new, "in a list": [value], "twice": [value, value]}.get(change, value)
    key, rest = path[0], path[1:]
    there = (isinstance(value, dict) and key in value) or (
        isinstance(value, list) and isinstance(key, int) and key < len(value)
    )
    if not there:
        return value
    copy = value.copy()
    if rest:
        copy[key] = _changed(copy[key], rest, change, new)
    elif change == "gone":
        del copy[key]
    elif change == "key" and isinstance(copy, dict):
        copy[new if isinstance(new, str) else str(new)[:50]] = copy.pop(key)
    elif change == "twice" and isinstance(copy, list):
        copy.insert(int(key), copy[key])
    else:
        copy[key] = _changed(copy[key], (), change, new)
    return copy
