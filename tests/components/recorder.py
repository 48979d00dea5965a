"""Run a component under Pulumi's mocks and keep what it registered, to assert on afterwards.

A test builds, then asserts::

    recording = construct(lambda: Network("net", {...}), preview=preview)
    assert recording.one("aws:ec2/vpc:Vpc", "net-vpc").inputs == {...}

Asserts inside ``apply`` would pass without being run, so everything is asserted on the recording. Numbers come back
as ints where they are whole, an unknown value as :data:`UNKNOWN`, a secret as :class:`Secret`.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar, cast
from unittest.mock import patch

import pulumi
import pytest
from google.protobuf import empty_pb2, struct_pb2
from pulumi.output import Unknown
from pulumi.runtime import MockResourceArgs, mocks, set_mocks
from pulumi.runtime import test as run_to_the_end
from pulumi.runtime.proto import resource_pb2, source_pb2
from pulumi.runtime.settings import SETTINGS, reset_options

T = TypeVar("T")

UNKNOWN = "<unknown>"
"""Stands for a value that the preview cannot know yet."""

_UNKNOWN_ON_WIRE = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_SIGNATURE_KEY = "4dabf18193072939515e22adb298388d"
_SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270"

MARK = {"gpufleet-stack": "project/stack"}
"""The mark of gpufleet among the tags: project and stack of Pulumi's mocks."""

REGION = "us-east-1"
ACCOUNT = "000000000000"

COMPUTED: dict[str, dict[str, object]] = {
    "aws:ec2/eip:Eip": {"publicIp": "{name}-ip"},
    "aws:eks/cluster:Cluster": {
        "endpoint": "https://{name}.eks.invalid",
        "certificateAuthority": {"data": "Y2VydA=="},
        "kubernetesNetworkConfig": {"serviceIpv4Cidr": "172.20.0.0/16"},
        "version": "1.34",
        "identities": [{"oidcs": [{"issuer": "https://oidc.invalid/{name}"}]}],
        "vpcConfig": {"clusterSecurityGroupId": "{name}-cluster-sg", "vpcId": "{name}-vpc"},
    },
    "aws:eks/nodeGroup:NodeGroup": {
        "nodeGroupName": "{name}",
        "resources": [{"autoscalingGroups": [{"name": "{name}-asg"}]}],
    },
    "aws:amp/workspace:Workspace": {"prometheusEndpoint": "https://aps-workspaces.invalid/workspaces/{name}/"},
    "aws:ec2/launchTemplate:LaunchTemplate": {"latestVersion": 1},
    "aws:ecr/repository:Repository": {"repositoryUrl": f"{ACCOUNT}.dkr.ecr.{REGION}.invalid/{{name}}"},
    "aws:efs/fileSystem:FileSystem": {"dnsName": "{name}.efs.invalid"},
    "aws:fsx/lustreFileSystem:LustreFileSystem": {"dnsName": "{name}.fsx.invalid", "mountName": "abcdefgh"},
    "aws:s3/bucket:Bucket": {"bucket": "{name}-1234567"},
    # Azure takes a list of identities and gives a mapping back.
    "azure-native:batch:BatchAccount": {
        "accountEndpoint": "{name}.eastus.batch.rehearsal.invalid",
        "identity": {"userAssignedIdentities": {}},
    },
    "azure-native:storagecache:AmlFilesystem": {"clientInfo": {"mgsAddress": "10.60.128.4"}},
    "azure-native:batch:Pool": {"identity": {"userAssignedIdentities": {}}},
}
"""Outputs that the cloud computes, per type; ``{name}`` is the logical name. Every type gets id, arn and name, unless
it says its own."""


@dataclass(frozen=True)
class Secret:
    """A value that was sent to the engine as a secret."""

    value: object


@dataclass(frozen=True)
class Registered:
    """One resource as the engine saw it: type token, logical name, wire inputs (camelCase) and options.

    ``parent``, ``depends_on`` and ``property_dependencies`` hold logical names. ``depends_on`` are only the
    explicit ones: those that no input carries already.
    """

    type: str
    name: str
    inputs: dict[str, object]
    custom: bool
    parent: str
    depends_on: frozenset[str]
    property_dependencies: dict[str, frozenset[str]]
    protect: bool | None
    retain_on_delete: bool | None
    ignore_changes: tuple[str, ...]
    delete_before_replace: bool | None
    replace_on_changes: tuple[str, ...]
    aliases: int
    import_id: str
    deleted_with: str
    """Logical name, empty without one. The engine hands a component's on to its children; the mocks do not."""
    replace_with: frozenset[str] = frozenset()
    """Logical names of resources whose replacement replaces this one too."""
    after_update: tuple[str, ...] = ()
    """Names of the hooks that run after an update."""


@dataclass
class Recording(Generic[T]):
    """What one construction registered, in order, and the outputs that each component published."""

    result: T | None = None
    resources: list[Registered] = field(default_factory=list)
    outputs: dict[str, dict[str, object]] = field(default_factory=dict)
    """Logical name of a component -> what it passed to ``register_outputs``."""
    hooks: dict[str, pulumi.ResourceHook] = field(default_factory=dict)
    """Name -> resource hook; a test runs it by calling it."""

    def register_resource_hook(self, hook: pulumi.ResourceHook) -> None:
        """What the engine's server of callbacks does with a hook. The mocks have no such server."""
        self.hooks[hook.name] = hook

    def of(self, type_: str) -> list[Registered]:
        """All resources of a type token, sorted by logical name."""
        return sorted((found for found in self.resources if found.type == type_), key=lambda found: found.name)

    def names(self, type_: str) -> list[str]:
        """The sorted logical names of a type token."""
        return [found.name for found in self.of(type_)]

    def one(self, type_: str, name: str | None = None) -> Registered:
        """The only resource of that type (and logical name); anything else than exactly one fails."""
        found = [each for each in self.of(type_) if name in (None, each.name)]
        assert len(found) == 1, f"wanted one {type_} {name or ''}, found {self.names(type_)}"
        return found[0]

    def inputs(self, type_: str) -> dict[str, dict[str, object]]:
        """Logical name -> inputs, for exact comparison of every resource of a type at once."""
        return {found.name: found.inputs for found in self.of(type_)}


def to_python(value: struct_pb2.Value) -> object:
    """A wire value as plain Python data, with unknowns and secrets marked."""
    match value.WhichOneof("kind"):
        case "struct_value":
            fields = value.struct_value.fields
            if _SIGNATURE_KEY in fields and fields[_SIGNATURE_KEY].string_value == _SECRET_SIGNATURE:
                return Secret(to_python(fields["value"]))
            return {key: to_python(inner) for key, inner in fields.items()}
        case "list_value":
            return [to_python(inner) for inner in value.list_value.values]
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "bool_value":
            return value.bool_value
        case "string_value":
            return UNKNOWN if value.string_value == _UNKNOWN_ON_WIRE else value.string_value
        case _:
            return None


def _plain(struct: struct_pb2.Struct) -> dict[str, object]:
    return {key: to_python(value) for key, value in struct.fields.items()}


def _names(urns: Sequence[str]) -> frozenset[str]:
    return frozenset(urn.rsplit("::", 1)[-1] for urn in urns)


def _filled(template: object, name: str, preview: bool) -> object:
    if isinstance(template, list):
        return [_filled(each, name, preview) for each in cast("list[object]", template)]
    if isinstance(template, dict):
        return {key: _filled(each, name, preview) for key, each in cast("dict[str, object]", template).items()}
    if preview:
        return Unknown()
    return template.replace("{name}", name) if isinstance(template, str) else template


def _merged(inputs: Mapping[str, object], computed: Mapping[str, object]) -> dict[str, object]:
    """Inputs overlaid by what the cloud computes; an object on both sides is merged, not replaced."""
    merged = dict(inputs)
    for key, value in computed.items():
        under = merged.get(key)
        both = isinstance(value, dict) and isinstance(under, dict)
        merged[key] = {**cast("dict[str, object]", under), **cast("dict[str, object]", value)} if both else value
    return merged


class _Cloud(mocks.Mocks):
    """Answers a registration with inputs plus computed outputs; these are unknown in preview, as is the id."""

    def __init__(
        self,
        preview: bool,
        computed: Mapping[str, Mapping[str, object]],
        answers: Mapping[str, Mapping[str, object]],
    ) -> None:
        self.preview = preview
        self.answers = answers
        self.computed: dict[str, Mapping[str, object]] = {**COMPUTED, **computed}

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[str, object]]:
        inputs = cast("dict[str, object]", args.inputs)
        if not args.custom:
            return None, inputs
        always = {"name": "{name}", "arn": f"arn:aws:mock::{ACCOUNT}:{{name}}"}
        template = {**always, **self.computed.get(args.typ, {})}
        if "name" in inputs:
            del template["name"]
        computed = cast("dict[str, object]", _filled(template, args.name, self.preview))
        id_ = str(computed.pop("id", f"{args.name}-id"))
        return None if self.preview else id_, _merged(inputs, computed)

    def call(self, args: mocks.MockCallArgs) -> dict[str, object]:
        if args.token in self.answers:
            return dict(self.answers[args.token])
        raise AssertionError(f"a component looked something up in the cloud: {args.token}")


@contextmanager
def loop_of_thread() -> Iterator[None]:
    """Pulumi's mocks make an event loop in each thread that they are called in, and leave it open. One is closed."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        asyncio.set_event_loop(None)
        loop.close()


class _Monitor(mocks.MockMonitor):
    """Pulumi's mock monitor, which also writes down each request."""

    def __init__(self, cloud: _Cloud, recording: Recording[T]) -> None:
        super().__init__(cloud)
        self.recording = recording

    def RegisterResource(self, request: resource_pb2.RegisterResourceRequest) -> object:
        if request.type != "pulumi:pulumi:Stack":
            self.recording.resources.append(_registered(request))
        with loop_of_thread():
            return super().RegisterResource(request)

    def Invoke(self, request: object) -> object:
        with loop_of_thread():
            return super().Invoke(request)

    def RegisterResourceOutputs(self, request: resource_pb2.RegisterResourceOutputsRequest) -> empty_pb2.Empty:
        name = request.urn.rsplit("::", 1)[-1]
        self.recording.outputs[name] = _plain(request.outputs)
        return empty_pb2.Empty()


def _registered(request: resource_pb2.RegisterResourceRequest) -> Registered:
    by_property = {key: _names(value.urns) for key, value in request.propertyDependencies.items()}
    carried = frozenset[str]().union(*by_property.values())
    return Registered(
        type=request.type,
        name=request.name,
        inputs=_plain(request.object),
        custom=request.custom,
        parent=request.parent.rsplit("::", 1)[-1],
        depends_on=_names(list(request.dependencies)) - carried,
        property_dependencies={key: names for key, names in by_property.items() if names},
        protect=request.protect if request.HasField("protect") else None,
        retain_on_delete=request.retainOnDelete if request.HasField("retainOnDelete") else None,
        ignore_changes=tuple(request.ignoreChanges),
        delete_before_replace=request.deleteBeforeReplace if request.deleteBeforeReplaceDefined else None,
        replace_on_changes=tuple(request.replaceOnChanges),
        aliases=len(request.aliases),
        import_id=request.importId,
        deleted_with=request.deletedWith.rsplit("::", 1)[-1],
        replace_with=_names(list(request.replace_with)),
        after_update=tuple(request.hooks.after_update),
    )


@pytest.fixture(autouse=True)
def event_loop_of_its_own() -> Iterator[None]:
    """Pulumi's runtime asks for the thread's event loop, which a test elsewhere may have closed and taken away.

    The conftest of a folder whose tests use Pulumi names it.
    """
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()


def construct(
    build: Callable[[], T],
    preview: bool,
    computed: Mapping[str, Mapping[str, object]] | None = None,
    answers: Mapping[str, Mapping[str, object]] | None = None,
    stack: str = "stack",
) -> Recording[T]:
    """Run ``build`` to its end (all registrations done) and return what it registered.

    ``computed`` adds outputs per type token to :data:`COMPUTED`. ``answers`` are what the functions of a provider
    return, by their token, such as azure-native:storage:listStorageAccountKeys; any other call fails. What ``build``
    raises is raised here, and so is an error inside an ``apply``.
    """
    recording = Recording[T]()
    _run(build, preview, computed or {}, answers or {}, recording, stack)
    return recording


def refusal(build: Callable[[], object], preview: bool) -> list[str]:
    """The lines with which ``build`` is refused; fails if it is accepted or had registered anything by then."""
    recording = Recording[object]()
    try:
        _run(build, preview, {}, {}, recording)
    except pulumi.RunError as error:
        assert recording.resources == [], "refused only after resources were registered"
        return str(error).splitlines()
    raise AssertionError("was accepted, should have been refused")


def _run(
    build: Callable[[], T],
    preview: bool,
    computed: Mapping[str, Mapping[str, object]],
    answers: Mapping[str, Mapping[str, object]],
    recording: Recording[T],
    stack: str = "stack",
) -> None:
    cloud = _Cloud(preview, computed, answers)
    set_mocks(cloud, project="project", stack=stack, preview=preview, monitor=_Monitor(cloud, recording))

    SETTINGS.callbacks = recording  # type: ignore[assignment]

    def built() -> None:
        recording.result = build()

    try:
        with _without_unused_work():
            run_to_the_end(built)()
    finally:
        SETTINGS.callbacks = None
        reset_options()


@contextmanager
def _without_unused_work() -> Iterator[None]:
    """Leaves out what Pulumi computes for each resource and no recording shows; it took a third of the time.

    Those are the URNs of aliases, which only an engine without alias specifications wants, and the stack trace that
    the engine shows in its own interface.
    """
    with (
        patch.object(pulumi.resource, "collapse_alias_to_urn", lambda alias, *_: alias),
        patch.object(pulumi.runtime.resource, "_get_stack_trace", source_pb2.StackTrace),
    ):
        yield
