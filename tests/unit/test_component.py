"""The base of every component: its arguments, its children, and what stands for it when it is not made."""

import gc
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NotRequired, TypedDict, Unpack

import pulumi
import pytest
from pulumi.errors import InputPropertiesError, RunError
from pulumi.runtime.sync_await import _sync_await

from gpufleet.component import KEYWORDS, Component, Opts, outputs, token
from gpufleet.rules import Finding
from gpufleet.rules.generic import allowed_choice, at_least
from gpufleet.validation import gathering
from tests.components.recorder import construct, event_loop_of_its_own, refusal

__all__ = ["event_loop_of_its_own"]

# What Python remarks on a program that was ended.
pytestmark = pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """What a test has left unfinished goes with it."""
    yield
    gc.collect()


class Leaf(pulumi.CustomResource):
    """What a cloud makes."""

    def __init__(self, name: str, size: pulumi.Input[object], opts: pulumi.ResourceOptions) -> None:
        super().__init__("test:index:Leaf", name, {"size": size}, opts)


class NetworkArgs(TypedDict):
    size: int
    region: str
    zones: NotRequired[list[str]]


class Network(Component, package="test"):
    """Has an output, and one for each of its zones."""

    network_id: pulumi.Output[str]
    subnet_ids: dict[str, pulumi.Output[str]]

    def __init__(
        self, name: str, args: NetworkArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[NetworkArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: NetworkArgs) -> list[Finding]:
        findings = [at_least(argument="size", value=args["size"], least=1)]
        if args.get("colour") == "explained":
            findings.append(allowed_choice(argument="colour", word="explained", legal=["red"]))
        return findings

    def create(self, name: str, args: NetworkArgs) -> None:
        self.leaf = Leaf(f"{name}-leaf", args["size"], self.child())
        self.network_id = self.leaf.id
        self.subnet_ids = dict.fromkeys(args.get("zones", []), self.leaf.id)


class NodesArgs(TypedDict):
    subnet_ids: Mapping[str, pulumi.Input[str]]
    zones: list[str]
    size: NotRequired[int]


class Nodes(Component, package="test"):
    """Has two networks of its own, which are judged only when it is made."""

    def __init__(self, name: str, args: NodesArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[NodesArgs]) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: NodesArgs) -> list[Finding]:
        return [allowed_choice(argument="zones", word=zone, legal=list(args["subnet_ids"])) for zone in args["zones"]]

    def create(self, name: str, args: NodesArgs) -> None:
        for zone in args["zones"]:
            Leaf(f"{name}-{zone}", args["subnet_ids"][zone], self.child())
        for number in (1, 2):
            Network(f"{name}-own-{number}", size=args.get("size", 1), region="here", opts=self.child())


SMALL = "size=0: is below 1; use 1 or more [any-argument-least]"


NETWORK: NetworkArgs = {"size": 1, "region": "here", "zones": ["a"]}


@pytest.mark.parametrize(
    "make",
    [
        lambda: Network("net", **NETWORK),
        lambda: Network("net", NETWORK),
        lambda: Network("net", args=NETWORK),
        lambda: Network("net", NETWORK, None),
        lambda: Network("net", {"size": 2, "region": "there", "zones": ["a"]}, size=1, region="here"),
    ],
    ids=["keywords", "dictionary", "named dictionary", "positions", "both"],
)
def test_keywords_and_a_dictionary_register_the_same(make):
    made = construct(make, preview=False)
    assert [(each.type, each.name, each.parent, each.inputs) for each in made.resources] == [
        ("gpufleet-test:index:Network", "net", "project-stack", {}),
        ("test:index:Leaf", "net-leaf", "net", {"size": 1}),
    ]
    assert made.outputs["net"] == {"network_id": "net-leaf-id", "subnet_ids": {"a": "net-leaf-id"}}
    assert made.result.args == NETWORK


def test_options_are_those_of_the_component():
    def build() -> None:
        before = Leaf("before", 1, pulumi.ResourceOptions())
        Network("net", NETWORK, pulumi.ResourceOptions(depends_on=[before], protect=True))
        Network("more", **NETWORK, opts=pulumi.ResourceOptions(depends_on=[before]))

    made = construct(build, preview=False)
    there, more = (made.one("gpufleet-test:index:Network", name) for name in ("net", "more"))
    assert (there.depends_on, there.protect) == (frozenset({"before"}), True)
    assert (more.depends_on, more.protect) == (frozenset({"before"}), None)


def test_the_type_names_package_and_class():
    assert token(Network) == "gpufleet-test:index:Network"
    assert set(outputs(Network)) == {"network_id", "subnet_ids"}


def test_children_have_the_tags_of_the_component_and_a_name():
    made = construct(lambda: Network("net", **NETWORK), preview=False).result
    assert made.tags("net-leaf") == {"Name": "net-leaf"}
    made.args = {"tags": {"owner": "team", "Name": "ours"}}
    assert made.tags("net-leaf") == {"owner": "team", "Name": "net-leaf"}


@pytest.mark.parametrize("name", ["nonsense", "_nonsense", "subnet_id"])
def test_an_unknown_attribute_is_an_error(name):
    made = construct(lambda: Network("net", **NETWORK), preview=False).result
    with pytest.raises(AttributeError, match=f"^Network has no attribute {name}$"):
        getattr(made, name)
    assert not hasattr(made, name)


def test_every_fault_of_the_arguments_is_in_one_error():
    with pytest.raises(InputPropertiesError) as error:
        construct(lambda: Network("net", size=0, region=1, colour="red"), preview=False)
    assert isinstance(error.value, RunError)
    assert [each["property_path"] for each in error.value.errors] == ["colour", "region", "size"]
    assert str(error.value).splitlines() == [each["reason"] for each in error.value.errors]


def test_a_name_that_a_rule_explains_is_not_also_unknown():
    lines = refusal(lambda: Network("net", size=1, region="here", colour="explained"), preview=True)
    assert lines == ["net: colour=explained: is not an allowed value; use red [any-argument-word]"]


def network(name: str, size: int = 1, **more: Any) -> Network:
    return Network(name, **{"size": size, "region": "here", **more})


def refused(build: Callable[[], object]) -> list[str]:
    """The lines that a block with this program in it raises; nothing is registered."""

    def program() -> None:
        with gathering():
            build()

    return refusal(program, preview=True)


def test_components_with_errors_are_told_together_and_nothing_is_registered():
    def build() -> None:
        network("good")
        network("small", 0)
        network("strange", region=1, color="red")
        network("good too")

    assert refused(build) == [
        f"small: {SMALL}",
        "strange: color=red: unknown argument; remove it, or use region, size or zones [any-argument-known]",
        "strange: region=1: is not a string; give a string, known before deployment [any-argument-kind]",
    ]


def test_components_without_errors_are_made_as_outside_of_a_block():
    def build() -> None:
        with gathering():
            there = network("net", zones=["a"])
            Nodes("nodes", subnet_ids=there.subnet_ids, zones=["a"])

    made = construct(build, preview=False)
    assert made.names("test:index:Leaf") == ["net-leaf", "nodes-a", "nodes-own-1-leaf", "nodes-own-2-leaf"]
    assert made.one("test:index:Leaf", "nodes-a").inputs == {"size": "net-leaf-id"}


def test_what_needs_a_component_that_is_not_made_is_judged_by_its_own_values():
    known = []

    def build() -> None:
        there = network("net", 0, zones=["a", "b"])
        known.extend(_sync_await(each.is_known()) for each in (there.network_id, there.subnet_ids["b"]))
        Leaf("leaf", there.network_id, pulumi.ResourceOptions(depends_on=[there]))
        Nodes("nodes", subnet_ids=there.subnet_ids, zones=["a"], opts=pulumi.ResourceOptions(depends_on=[there]))
        Nodes("more", subnet_ids=there.subnet_ids, zones=["a", "c"])

    assert refused(build) == [
        f"net: {SMALL}",
        "more: zones=c: is not an allowed value; use a or b [any-argument-word]",
    ]
    assert known == [False, False]


def test_a_mapping_of_a_component_that_is_not_made_has_whatever_is_asked_for():
    found = {}

    def build() -> None:
        found["subnets"] = network("net", 0, zones=["a", "b"]).subnet_ids
        found["none"] = network("other", 0).subnet_ids

    refused(build)
    assert list(found["subnets"]) == ["a", "b"]
    assert list(found["none"]) == []
    assert "z" in found["none"]
    assert isinstance(found["none"]["z"], pulumi.Output)
    assert {**found["subnets"]}.keys() == {"a", "b"}


def test_what_a_component_that_is_not_made_keeps_of_its_children_is_unknown_too():
    leaves = []
    refused(lambda: leaves.append(network("net", 0).leaf))
    assert isinstance(leaves[0], pulumi.Output)


def test_faults_of_components_inside_of_a_component_are_told_with_the_others():
    def build() -> None:
        there = network("net", zones=["a"])
        Nodes("nodes", subnet_ids=there.subnet_ids, zones=["a"], size=0)
        network("after", 0)

    assert refused(build) == [f"nodes-own-1: {SMALL}", f"nodes-own-2: {SMALL}", f"after: {SMALL}"]


def test_faults_inside_of_a_component_alone_are_told_together_and_it_is_not_registered():
    assert refusal(lambda: Nodes("nodes", subnet_ids={"a": "subnet-1"}, zones=["a"], size=0), preview=True) == [
        f"nodes-own-1: {SMALL}",
        f"nodes-own-2: {SMALL}",
    ]


def test_an_error_of_what_an_argument_names_is_told_with_the_others():
    class Unread(Network, package="test"):
        @staticmethod
        def findings(name: str, args: NetworkArgs) -> list[Finding]:
            raise RunError(f"{name}: {args['region']}: cannot be read")

    def unread() -> Network:
        return Unread("unread", **NETWORK)

    def build() -> None:
        network("small", 0)
        Leaf("leaf", unread().network_id, pulumi.ResourceOptions())
        network("other", 0)

    assert refused(build) == [f"small: {SMALL}", "unread: here: cannot be read", f"other: {SMALL}"]
    assert refusal(unread, preview=True) == ["unread: here: cannot be read"]


def test_what_was_made_before_a_block_is_registered():
    def build() -> None:
        network("before")
        with gathering():
            network("inside")
            network("small", 0)

    def program() -> None:
        with pytest.raises(RunError, match="small"):
            build()

    made = construct(program, preview=False)
    assert made.names("test:index:Leaf") == ["before-leaf"]


def test_an_exception_caused_by_a_placeholder_is_not_shown():
    def build() -> None:
        there = network("net", 0)
        there.subnet_ids["a"].nonsense.upper(1, 2, 3)()
        raise ValueError(f"{there.subnet_ids} has no subnet")

    assert refused(build) == [f"net: {SMALL}"]


def test_a_renamed_component_is_registered_with_its_former_type_as_an_alias():
    class Renamed(Network, package="test", former_name="OldNetwork"):
        pass

    with_alias = construct(lambda: Renamed("net", **NETWORK), preview=False)
    without = construct(lambda: network("net"), preview=False)
    assert with_alias.one("gpufleet-test:index:Renamed").aliases == 1
    assert without.one("gpufleet-test:index:Network").aliases == 0
