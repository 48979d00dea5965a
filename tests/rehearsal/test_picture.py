"""The picture of a stack, from hand-made states."""

from gpufleet_rehearsal.picture import mermaid

STACK = "urn:pulumi:dev::demo::pulumi:pulumi:Stack::demo-dev"


def component(name: str, kind: str = "Network") -> dict[str, object]:
    return {"urn": f"urn:pulumi:dev::demo::our:index:{kind}::{name}", "type": f"our:index:{kind}", "parent": STACK}


def child(name: str, of: dict[str, object], *after: dict[str, object], kind: str = "Vpc", zone: str | None = None):
    return {
        "urn": f"urn:pulumi:dev::demo::{of['type']}$aws:ec2/x:{kind}::{name}",
        "type": f"aws:ec2/x:{kind}",
        "custom": True,
        "parent": of["urn"],
        "dependencies": [resource["urn"] for resource in after],
        "outputs": {"availabilityZoneId": zone} if zone else {},
    }


def drawing(*resources: dict[str, object]) -> str:
    return mermaid([{"urn": STACK, "type": "pulumi:pulumi:Stack"}, *resources])


def test_kinds_are_counted_and_zones_named():
    network = component("net")
    subnets = [child(f"s{n}", network, kind="Subnet", zone="use1-az1") for n in (1, 2)]
    expected = 'flowchart LR\n    c0["<b>Network</b> net<br/>2 x Subnet use1-az1<br/>Vpc"]\n'
    assert drawing(network, child("v", network), *subnets) == expected


def test_an_arrow_between_components_and_none_inside():
    first, second = component("a"), component("b")
    one = child("one", first)
    drawn = drawing(first, second, one, child("two", first, one), child("three", second, one))
    assert drawn.splitlines()[3:] == ["    c0 --> c1"]


def test_an_arrow_where_a_whole_component_waits():
    first, second = component("a"), component("b")
    one = child("one", first)
    waiting = second | {"dependencies": [one["urn"]]}
    drawn = drawing(first, waiting, one, child("two", second))
    assert drawn.splitlines()[1:] == [
        '    c0["<b>Network</b> a<br/>Vpc"]',
        '    c1["<b>Network</b> b<br/>Vpc"]',
        "    c0 --> c1",
    ]


def test_an_arrow_that_a_longer_path_says_is_left_out():
    parts = [component(name) for name in "abc"]
    a = child("x", parts[0])
    b = child("y", parts[1], a)
    c = child("z", parts[2], a, b)
    assert drawing(*parts, a, b, c).splitlines()[4:] == ["    c0 --> c1", "    c1 --> c2"]


def test_components_that_wait_for_each_other_keep_both_arrows():
    first, second = component("a"), component("b")
    one = child("one", first)
    two = child("two", second, one)
    three = child("three", first, two)
    assert drawing(first, second, one, two, three).splitlines()[3:] == ["    c0 --> c1", "    c1 --> c0"]
