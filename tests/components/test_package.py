"""The packages as programs in other languages see them: which components, which refusals, which schemas."""

import ast
import importlib
import inspect
import json
from functools import cache
from pathlib import Path

import pulumi
import pytest
from pulumi.errors import InputPropertiesError

from gpufleet.pulumi_package.components import COMPONENTS
from gpufleet.pulumi_package.provider import Package
from gpufleet.pulumi_package.schema import described
from tests.components.samples import Sample, components, construct_sample, every_component, every_package
from tests.components.schema_changes import breaking_changes
from tests.components.test_component_host import over_the_wire

LATE = object.__new__(pulumi.Output)
"""An output; nobody looks into it."""
PACKAGES = Path(__file__).parents[2] / "components" / "packages"


@cache
def served(cloud: str) -> Package:
    """The package, made once: reading all annotations takes a second."""
    return Package(cloud)


def refusal(cloud: str, kind: str, inputs: dict[str, object]) -> list[str]:
    """The lines that a package says to a component's inputs; nothing is registered then."""
    package, lines = served(cloud), []

    def attempt() -> None:
        with pytest.raises(InputPropertiesError) as caught:
            package.construct("mine", f"gpufleet-{cloud}:index:{kind}", inputs)
        assert not caught.value.errors
        lines.extend(caught.value.message.lstrip("\n").split("\n"))

    assert construct_sample(attempt, preview=True).resources == []
    return lines


@every_package
def test_table_names_every_component(package: str) -> None:
    """A component that is missing here is added with one line to `COMPONENTS`."""
    found = {
        f"{kind.__module__.removeprefix(f'gpufleet.{package}.')}:{name}" for name, kind in components(package).items()
    }
    assert set(COMPONENTS[package]) == found
    assert list(COMPONENTS[package]) == sorted(COMPONENTS[package], key=lambda entry: ("." in entry, entry))
    tokens = json.loads(served(package).schema)["resources"]
    assert sorted(tokens) == sorted(f"gpufleet-{package}:index:{name}" for name in components(package))


@every_package
def test_each_component_comes_from_its_package_for_programs_and_for_type_checkers(package: str) -> None:
    for name, kind in components(package).items():
        home = importlib.import_module(kind.__module__.rpartition(".")[0])
        assert getattr(home, name) is kind
        imports = [node for node in ast.walk(ast.parse(inspect.getsource(home))) if isinstance(node, ast.ImportFrom)]
        assert (kind.__module__, name, name) in [
            (node.module, each.name, each.asname) for node in imports for each in node.names
        ]


@every_package
def test_folder_serves_its_cloud(package: str) -> None:
    folder = PACKAGES / f"gpufleet-{package}"
    assert f'serve("{package}")' in (folder / "__main__.py").read_text()
    assert sorted(path.name for path in PACKAGES.iterdir()) == [f"gpufleet-{each}" for each in sorted(COMPONENTS)]


@every_component()
def test_legal_inputs_of_each_component_are_taken(sample: Sample) -> None:
    package = served(sample.package)
    wire = over_the_wire(sample.args, sample.args_type)
    recording = construct_sample(lambda: package.construct("mine", sample.token, wire), preview=True)
    # The package puts mappings in the order of their keys.
    direct = sample.build(preview=True, **json.loads(json.dumps(sample.args, sort_keys=True)))
    assert {each.name: each for each in recording.resources} == {each.name: each for each in direct.resources}


@pytest.mark.parametrize("written", [["a100", "h100"], ["h100", "a100"]])
def test_mapping_has_the_order_of_its_keys_however_it_comes(written: list[str]) -> None:
    """Over the wire its order is another each time; Kueue looks at flavors in theirs."""
    flavors = {name: {"gpu": name.upper(), "zone": "use1-az1"} for name in written}
    inputs = {"flavors": flavors, "quotas": {"vision": {"h100": 8.0}}}
    package = served("kubernetes")
    recording = construct_sample(
        lambda: package.construct("mine", "gpufleet-kubernetes:index:Queue", inputs), preview=False
    )
    spec = recording.one("kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue").inputs["spec"]
    names = [flavor["name"] for group in spec["resourceGroups"] for flavor in group["flavors"]]
    assert names == ["mine-a100", "mine-h100", "mine-cpu"]


def test_faults_come_all_at_once_under_the_callers_names() -> None:
    legal = {"environment": "dev", "usdPerMonth": 10.0, "emails": ["ml@example.com"]}
    percents, dollars = sorted(refusal("aws", "Budget", {**legal, "usdPerMonth": -1.0, "actualPercents": [0.0]}))
    assert percents.startswith("mine: actualPercents=[0]: ")
    assert dollars.startswith("mine: usdPerMonth=-1")
    assert refusal("aws", "Budget", {"environment": "dev", "usdPerMonth": 10.0, "email": ["ml@example.com"]}) == [
        "mine: email=[ml@example.com]: unknown argument; did you mean emails? [any-argument-known]",
        "mine: emails=null: is required; give a value [any-argument-given]",
    ]


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("usdPerMonth", LATE, "usdPerMonth=<Output>: is not a number; give a number"),
        ("environment", LATE, "environment=<Output>: is not a string; give a string"),
        ("emails", LATE, "emails=<Output>: is not a list of strings; give a list of strings"),
        ("emails", ["ml@example.com", LATE], "emails[1]=<Output>: is not a string; give a string"),
        ("tags", {"owner": LATE}, "tags.owner=<Output>: is not a string; give a string"),
    ],
)
def test_plain_argument_that_is_an_output_is_refused(name: str, value: object, says: str) -> None:
    legal = {"environment": "dev", "usdPerMonth": 10.0, "emails": ["ml@example.com"]}
    said = f"mine: {says}, known before deployment [any-argument-kind]"
    assert refusal("aws", "Budget", {**legal, name: value}) == [said]


POOL = {"region": "us-east-1", "types": ["g5.8xlarge"], "max": 2.0, "zones": ["use1-az1"]} | {
    "clusterName": "fleet",
    "vpcId": "vpc-1",
    "subnetIds": {"use1-az1": "subnet-1"},
    "clusterSecurityGroupId": "sg-cluster",
}
FILES = {"fileSystemId": "fs-1", "accessPointId": "fsap-1", "path": "shared"}
JOB = {"region": "us-east-1", "image": "train:1", "command": ["python3"], "gpus": 1.0, "nodes": 1.0} | {
    "instanceType": "g5.8xlarge",
}


@pytest.mark.parametrize(
    ("kind", "inputs", "lines"),
    [
        (
            "GpuNodeGroup",
            {**POOL, "taints": [{"key": "a", "effect": "NO_SCHEDULE"}, {"kee": "b", "effect": "NO_SCHEDULE"}]},
            [
                "mine: taints[1].kee=b: unknown argument; did you mean key? [any-argument-known]",
                "mine: taints[1].key=null: is required; give a value [any-argument-given]",
            ],
        ),
        (
            "GpuNodeGroup",
            {**POOL, "schedule": [{"at": "20:00", "time_zone": "UTC"}]},
            ["mine: schedule[0].time_zone=UTC: unknown argument; did you mean timeZone? [any-argument-known]"],
        ),
        (
            "GpuNodeGroup",
            {**POOL, "taints": "team", "schedule": {"at": "20:00"}},
            [
                'mine: taints="team": is not a list; give a list, known before deployment [any-argument-kind]',
                "mine: schedule={at: 20:00}: is not a list; give a list, known before deployment [any-argument-kind]",
            ],
        ),
        (
            "GpuNodeGroup",
            {**POOL, "max": "many", "taints": ["team"]},
            [
                'mine: taints[0]="team": is not a mapping; give a mapping, known before deployment [any-argument-kind]',
                'mine: max="many": is not a whole number; give a whole number, known before deployment '
                "[any-argument-kind]",
            ],
        ),
        (
            "GpuNodeGroup",
            {**POOL, "types": ["p4d.24xlarge"], "network": "efa", "publicAddresses": True},
            [
                "mine: publicAddresses=true: EC2 gives no public address to p4d.24xlarge with 4 network interfaces; "
                "set publicAddresses=false and use a subnet with a NAT gateway [aws-efa-private]"
            ],
        ),
        (
            "GpuNodeGroup",
            {**POOL, "capacity": "reservation"},
            [
                "mine: capacity=reservation: does not say which one; set reservationId to its id (cr-...) "
                "[any-capacity-id-given]"
            ],
        ),
        (
            "TrainingJob",
            {**JOB, "files": FILES},
            ["mine: files.path=shared: must be an absolute path below the root; "],
        ),
    ],
    ids=["nested", "nested-in-python", "no-lists", "no-mapping", "argument", "proposal", "field"],
)
def test_faults_are_in_the_callers_spelling(kind: str, inputs: dict[str, object], lines: list[str]) -> None:
    said = refusal("aws", kind, inputs)
    assert len(said) == len(lines)
    assert all(one.startswith(line) for one, line in zip(sorted(said), sorted(lines), strict=True)), said


def test_names_of_fields_are_in_the_callers_spelling_and_keys_stay() -> None:
    source = {"azureBlob": "models/fleet/data", "azureFiles": "models/fleet/data"}
    assert refusal("kubernetes", "SharedVolume", {"namespace": "vision", "source": source}) == [
        "mine: source=[azureBlob, azureFiles]: is not one place; give one of efs, fsxLustre, azureLustre, s3, nfs, "
        "azureBlob "
        "and azureFiles [any-volume-source-known]"
    ]
    legal = {"environment": "dev", "usdPerMonth": 10.0, "emails": ["ml@example.com"]}
    (said,) = refusal("aws", "Budget", {**legal, "tags": {"aws:usd_per_month": "x"}})
    assert said.startswith("mine: tags=aws:usd_per_month: begins with aws:")


def test_warnings_are_in_the_callers_spelling(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda line, *_: logged.append(line))
    inputs = {**POOL, "publicAddresses": True}
    construct_sample(lambda: served("aws").construct("mine", "gpufleet-aws:index:GpuNodeGroup", inputs), preview=True)
    assert logged == [
        "mine: publicAddresses=true: gives each node an address that the internet can reach; "
        "set publicAddresses=false and use a subnet with a NAT gateway [any-pool-private]"
    ]
    logged.clear()
    sample = Sample("aws", "GpuNodeGroup")
    sample.build(preview=True, types=["g5.8xlarge"], public_addresses=True)
    assert [line.partition("=")[0] for line in logged] == ["mine: public_addresses"]


@every_package
def test_every_argument_is_described(package: str) -> None:
    """Those too that stand in what a component's arguments extend."""
    schema = json.loads(served(package).schema)
    fields = {token: resource["inputProperties"] for token, resource in schema["resources"].items()}
    fields |= {token: kind["properties"] for token, kind in schema["types"].items()}
    assert {
        f"{token}.{name}" for token, each in fields.items() for name in each if not each[name].get("description")
    } == set()


def test_unknown_component_is_one_line() -> None:
    said = refusal("kubernetes", "Qeue", {})
    assert said[0].startswith(
        "mine: gpufleet-kubernetes:index:Qeue: gpufleet-kubernetes has no such component; it has "
    )


def test_fault_of_the_configuration_is_a_line_too() -> None:
    pulumi.runtime.set_all_config({"gpufleet:suppress": '[{"rule": "any"}]'})
    try:
        legal = {"environment": "dev", "usdPerMonth": 10.0, "emails": ["ml@example.com"]}
        said = refusal("aws", "Budget", legal)
    finally:
        pulumi.runtime.set_all_config({})
    assert said
    assert all(line.startswith("gpufleet:suppress") for line in said)


def test_fault_of_ours_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    package = Package("aws")
    monkeypatch.setitem(package._components, "Budget", lambda *_: 1 / 0)
    legal = {"environment": "dev", "usdPerMonth": 10.0, "emails": ["ml@example.com"]}
    with pytest.raises(Exception, match="division by zero") as caught:
        package.construct("mine", "gpufleet-aws:index:Budget", legal)
    assert not isinstance(caught.value, InputPropertiesError)


@every_package
def test_nothing_is_taken_away_since_the_last_release(package: str) -> None:
    """Incompatible changes wait for the next minor version and stand in CHANGELOG.md: see docs/packages.md."""
    releases = sorted((PACKAGES / f"gpufleet-{package}" / "releases").glob("*.json"), key=version_of)
    assert releases, "the schema of a release is kept when it is made"
    last, now = json.loads(releases[-1].read_text()), json.loads(served(package).schema)
    lines = breaking_changes(last, now)
    assert not lines or version_of(releases[-1])[:2] < tuple(map(int, now["version"].split(".")))[:2], "\n".join(lines)


def version_of(file: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in file.stem.split("."))


def schema(inputs: dict[str, object], outputs: dict[str, object], **changes: object) -> dict[str, object]:
    resource = {"inputProperties": inputs, "properties": outputs, "requiredInputs": [], "required": ["id"], **changes}
    return {"resources": {"p:index:R": resource}, "types": {"p:index:T": {"properties": {"size": {"type": "number"}}}}}


TEXT, PLAIN = {"type": "string"}, {"type": "string", "plain": True}
OLD = schema({"zone": PLAIN, "ids": {"type": "array", "items": TEXT}}, {"id": TEXT})


@pytest.mark.parametrize(
    ("new", "lines"),
    [
        (OLD, []),
        (schema({"zone": PLAIN, "ids": {"type": "array", "items": TEXT}, "more": TEXT}, {"id": TEXT, "arn": TEXT}), []),
        ({"resources": {}, "types": {}}, ["p:index:R: is gone", "p:index:T: is gone"]),
        (schema({"zone": PLAIN}, {"id": TEXT}), ["p:index:R.ids: is gone"]),
        (
            schema({"zone": TEXT, "ids": {"type": "array", "items": PLAIN}}, {"id": TEXT}),
            [
                "p:index:R.zone: was plain string, is string",
                "p:index:R.ids: was array of string, is array of plain string",
            ],
        ),
        (
            schema(OLD["resources"]["p:index:R"]["inputProperties"], {"id": TEXT}, requiredInputs=["zone"]),
            ["p:index:R.zone: is required now"],
        ),
        (
            schema(OLD["resources"]["p:index:R"]["inputProperties"], {"id": {"type": "number"}}, required=[]),
            ["p:index:R.output id: was string, is number", "p:index:R.output id: may be absent now"],
        ),
        (
            {
                **OLD,
                "types": {"p:index:T": {"properties": {"size": {"type": "number"}, "of": TEXT}, "required": ["of"]}},
            },
            ["p:index:T.of: is required now"],
        ),
    ],
    ids=["same", "more", "gone", "input-gone", "types", "required", "output", "nested"],
)
def test_break_is_named(new: dict[str, object], lines: list[str]) -> None:
    assert breaking_changes(OLD, new) == lines


def test_descriptions_are_prose_without_repeats() -> None:
    raw = {
        "resources": {
            "p:index:R": {
                "description": "First.\n\n    Raises :class:`gpufleet.validation.InvalidArguments` of ``args``.",
                "inputProperties": {
                    "items": {"type": "string", "description": "Kept."},
                    "ids": {
                        "type": "array",
                        "description": "Some.",
                        "items": {"type": "string", "description": "Some."},
                    },
                },
            }
        }
    }
    made = described(raw, "aws")["resources"]["p:index:R"]
    assert made["description"] == "First.\n\nRaises `InvalidArguments` of `args`."
    assert made["inputProperties"]["items"]["description"] == "Kept."
    assert made["inputProperties"]["ids"] == {"type": "array", "description": "Some.", "items": {"type": "string"}}


def test_schema_says_where_a_published_plugin_is_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpufleet.pulumi_package.schema.repository", lambda: "https://code.example/team/gpufleet")
    monkeypatch.setattr("gpufleet.pulumi_package.schema.release_tag", lambda: "v1.2.3")
    made = described({}, "aws")
    assert made["publisher"] == "gpufleet"
    assert made["repository"] == "https://code.example/team/gpufleet"
    assert made["logoUrl"] == "https://code.example/team/gpufleet/raw/v1.2.3/docs/pictures/logo.svg"
    assert made["pluginDownloadURL"] == "git://code.example/team/gpufleet/components/packages/gpufleet-aws"
    assert (PACKAGES.parents[1] / "docs" / "pictures" / "logo.svg").is_file()


def test_schema_of_a_checkout_names_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address that is not known is left out: an engine would fetch the plugin from whoever has it."""
    monkeypatch.setattr("gpufleet.pulumi_package.schema.repository", lambda: None)
    made = described({}, "aws")
    assert made["publisher"] == "gpufleet"
    assert not {"repository", "logoUrl", "pluginDownloadURL"} & set(made)
