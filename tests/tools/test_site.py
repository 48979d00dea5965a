"""`make site`: the whole site of this checkout, and what it refuses to be made of."""

import re
import textwrap
from html import unescape
from pathlib import Path

import pytest
import yaml

from tools.website.build_site import Unfit, build
from tools.website.check_links import dead_links
from tools.website.reference import ROOT, Undocumented, components
from tools.website.reference_pages import component_page

PAGES = {name: f"# {name}\n" for name in ("aws", "azure", "kubernetes", "commands")}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A checkout of a few pages."""
    texts = {
        "README.md": "# It\n\n[guides](docs/README.md), [a log](CHANGELOG.md)\n",
        "CHANGELOG.md": "# Log\n\n[one](docs/one.md#second-part)\n",
        "CONTRIBUTING.md": "# Work\n",
        "docs/README.md": "# Guides\n\n## Begin\n\n- [One](one.md)\n- [Log](../CHANGELOG.md)\n"
        "- [Work](../CONTRIBUTING.md), [decisions](decisions/README.md)\n",
        "docs/one.md": "# One\n\n## Second part\n\n[code](../.ci/run), [its folder](../.ci/)\n\n- a\n\n      b\n- c\n",
        "docs/decisions/README.md": "# Decisions\n\n- [A](0001-a.md)\n",
        "docs/decisions/0001-a.md": "# A\n",
        ".ci/run": "echo '```'\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def made(root: Path) -> Path:
    site = root / "build" / "site"
    build(root, site, lambda: PAGES)
    return site


@pytest.mark.slow
def test_pages_files_and_folders_that_are_linked_are_in_it(small: Path) -> None:
    site = made(small)
    page = (site / "docs" / "one.html").read_text()
    assert 'href="../files/ci/run.html"' in page
    shown = unescape(re.sub(r"<[^>]+>", "", (site / "files" / "ci" / "run.html").read_text()))
    assert "echo '```'\n" in shown
    assert "run" in (site / "files" / "ci.html").read_text()
    # As code hosts read it: the list goes on after the block in its first item.
    assert re.search(r"<li><p>c</p>\s*</li>", page)
    assert (site / "index.html").read_text() == (site / "README.html").read_text()
    assert '<span class="caption-text">Begin</span>' in page
    assert (site / ".nojekyll").exists()


PLANTED = {
    "links": [
        ("docs/one.md", "[x](two.md)", "docs/one.md: two.md: no such file"),
        ("README.md", "![x](docs/x.svg)", "README.md: docs/x.svg: no such file"),
        ("README.md", "[x](../../etc)", "README.md: ../../etc: no such file"),
    ],
    "places and menus": [
        ("CHANGELOG.md", "[x](docs/one.md#third)", "CHANGELOG.md:5: WARNING: local id not found"),
        ("README.md", "[x](#nowhere)", "README.md:5: WARNING: 'myst' cross-reference"),
        ("docs/two.md", "# Two", "docs/two.md: WARNING: document isn't included in any toctree"),
    ],
    "what only the finished page shows": [
        ("README.md", "![x](https://example.com/x.svg)", "README.html: https://example.com/x.svg: is fetched"),
        ("README.md", '<a href="nowhere.html">x</a>', "README.html: nowhere.html: no such file"),
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("planted", PLANTED)
def test_what_a_reader_would_stumble_over_ends_it(small: Path, planted: str) -> None:
    for page, text, _ in PLANTED[planted]:
        with (small / page).open("a") as file:
            file.write(f"\n{text}\n" if file.tell() else f"{text}\n")
    with pytest.raises(Unfit) as refused:
        made(small)
    for _, _, line in PLANTED[planted]:
        assert line in str(refused.value)


def test_style_sheets_and_scripts_of_the_net_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<p id="x"></p><script src="//example.com/a.js"></script><a href="#x">x</a>')
    (tmp_path / "a.css").write_text(
        "@import 'https://example.com/b.css'; p { background: url(data:image/png;base64,) }"
    )
    assert dead_links(tmp_path) == [
        "a.css: https://example.com/b.css: is fetched from the net",
        "a.html: //example.com/a.js: is fetched from the net",
    ]


SOURCE = '''
    """A module."""
    from typing import NotRequired, TypeAlias, TypedDict
    import pulumi
    from planted.component import Component

    class Inner(TypedDict):
        """What is inside."""
        size: int
        """GiB."""

    class Placed(TypedDict):
        """Where it is."""
        zones: list[str]
        """Its zones."""

    ThingConfig: TypeAlias = Placed

    class ThingArgs(ThingConfig):
        """A thing's arguments."""
        inner: NotRequired[Inner]
        """What it holds. Default: none."""
        days: NotRequired[int]
        """Days. Default 30; then it goes."""
        cidr: NotRequired[pulumi.Input[str]]
        """A range. Default 10.0.0.0/16."""

    class Thing(Component):
        """A thing. And more of it.

        Errors: KeyError for a thing of none.
        """
        thing_id: pulumi.Output[str]
        """Id of the thing."""
        _held: pulumi.Output[str]

        def __init__(self, name: str, args: ThingArgs) -> None: ...

        def for_others(self) -> Inner:
            """What others of it need."""
            return {"size": 1}
'''
BASE = '''
    """The base."""
    import pulumi

    class Component(pulumi.ComponentResource):
        """A component.

        Errors: :class:`planted.Invalid` with every fault.
        """
'''


def package(folder: Path, source: str, base: str = BASE) -> Path:
    """A package with a component, and with a platform of which it is a part."""
    files = {
        "__init__.py": "",
        "component.py": base,
        "aws/__init__.py": "",
        "aws/thing.py": source,
        "platform/__init__.py": "",
        "platform/whole.py": '''
            """A module."""
            from planted.aws.thing import Thing, ThingArgs
            from planted.component import Component

            class Whole(Component):
                """All of it."""

                def __init__(self, name: str, args: ThingArgs) -> None: ...
        ''',
    }
    for name, text in files.items():
        (folder / "planted" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "planted" / name).write_text(textwrap.dedent(text))
    return folder


def test_a_component_as_its_source_declares_it(tmp_path: Path) -> None:
    thing, whole = components(package(tmp_path, SOURCE), "planted")
    assert (whole.name, whole.cloud, whole.raises) == ("Whole", "kubernetes", "Errors: `Invalid` with every fault.")
    assert (thing.name, thing.module, thing.sentence) == ("Thing", "planted.aws.thing", "A thing.")
    assert [(v.name, v.kind, v.required, v.default, v.text) for v in thing.arguments.keys] == [
        ("zones", "list[str]", True, "none", "Its zones."),
        ("inner", "Inner", False, "none", "What it holds."),
        ("days", "int", False, "30", "Days. Default 30; then it goes."),
        ("cidr", "Input[str]", False, "10.0.0.0/16", "A range."),
    ]
    assert [(each.name, [key.name for key in each.keys]) for each in thing.objects] == [("Inner", ["size"])]
    assert [(each.name, each.kind, each.text) for each in thing.outputs] == [("thing_id", "str", "Id of the thing.")]
    assert [(each.name, each.kind, each.text) for each in thing.links] == [
        ("for_others()", "size", "What others of it need.")
    ]
    page = component_page(thing, {"Go": "package main\n"})
    assert "| `zones` | `list[str]` | **required** | Its zones. |" in page
    assert "| `inner` | `Inner` ([Inner](#inner)) | none | What it holds. |" in page
    assert "````{tab} Go\n```go\npackage main\n```\n````\n" in page
    assert "| `for_others()` | `size` | What others of it need. |" in page
    assert "## Refusals\n\nErrors: `Invalid` with every fault.\n\nErrors: KeyError for a thing of none.\n" in page
    assert "## Links" not in component_page(whole, {})


@pytest.mark.parametrize(
    ("gone", "line"),
    [
        ('"""Its zones."""', "planted.aws.thing.Placed.zones: no docstring"),
        ('"""GiB."""', "planted.aws.thing.Inner.size: no docstring"),
        ('"""Id of the thing."""', "planted.aws.thing.Thing.thing_id: no docstring"),
        ('"""A thing\'s arguments."""', "planted.aws.thing.ThingArgs: no docstring"),
        ('"""What others of it need."""', "planted.aws.thing.Thing.for_others: no docstring"),
    ],
)
def test_what_has_no_text_ends_it(tmp_path: Path, gone: str, line: str) -> None:
    assert gone in SOURCE
    with pytest.raises(Undocumented) as refused:
        components(package(tmp_path, SOURCE.replace(gone, "")), "planted")
    assert str(refused.value) == line


def test_a_base_that_does_not_say_its_errors_ends_it(tmp_path: Path) -> None:
    with pytest.raises(Undocumented) as refused:
        components(package(tmp_path, SOURCE, BASE.replace("Errors: ", "")), "planted")
    assert str(refused.value) == "planted.component.Component: no paragraph says its errors"


def test_a_component_without_a_docstring_ends_it(tmp_path: Path) -> None:
    bare = re.sub(r'"""A thing\. .*?"""', "", SOURCE, flags=re.DOTALL)
    with pytest.raises(Undocumented, match=r"planted\.aws\.thing\.Thing: no docstring"):
        components(package(tmp_path, bare), "planted")


def test_the_workflow_makes_it_on_pull_requests_and_publishes_main_alone() -> None:
    file = ROOT / ".github" / "workflows" / "site.yml"
    text = file.read_text()
    workflow = yaml.load(text, yaml.BaseLoader)
    assert workflow["permissions"] == {}
    jobs = workflow["jobs"]
    assert jobs["make"]["permissions"] == {"contents": "read"}
    assert jobs["publish"]["permissions"] == {"pages": "write", "id-token": "write"}
    assert jobs["publish"]["if"].startswith("github.event_name == 'push' &&")
    assert workflow["on"] == {"pull_request": "", "push": {"branches": ["main"]}}
    # The one that may publish runs nothing of the repository's.
    assert [step["uses"].split("@")[0] for step in jobs["publish"]["steps"]] == ["actions/deploy-pages"]
    commands = [step["run"] for step in jobs["make"]["steps"] if "run" in step]
    assert commands == ["make site"]
    assert re.search(r"^site: setup ## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    pins: dict[str, set[str]] = {}
    for other in file.parent.glob("*.yml"):
        for action, pin in re.findall(r"uses: (actions/[\w-]+)@(\S+ # v[\d.]+)", other.read_text()):
            pins.setdefault(action, set()).add(pin)
    used = re.findall(r"uses: ([\w/-]+)@(\S+)", text)
    assert used
    assert all(re.fullmatch(r"[0-9a-f]{40}", pin) and len(pins[action]) == 1 for action, pin in used)
