"""What refuses a configuration or a program: its components, the packs, or the simulated cloud."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pulumi.runtime.proto import provider_pb2 as pb

from gpufleet.plan import UNKNOWN, Plan, Resource
from gpufleet.policies import feasibility
from gpufleet_rehearsal.cloud.change import UNKNOWN as ON_WIRE
from gpufleet_rehearsal.provider.servicer import Provider
from gpufleet_rehearsal.provider.wire import write_struct
from tests.components.recorder import UNKNOWN as RECORDED
from tests.components.recorder import Recording, Registered, Secret, loop_of_thread
from tests.corpus.life import Life
from tests.corpus.programs import Program as RawProgram
from tests.rehearsal.engine_talk import Engine, talk_directly, urn
from tests.unit.stacks import azure_stack
from tests.unit.stacks.stack_programs import Program


def refusals_of_environment(name: str, config: Mapping[str, Any], folder: Path) -> list[str]:
    """The lines with which the preview of an environment is refused, by whatever refuses first."""
    azure = config["gpufleet:cloud"] == "azure"
    more = (azure_stack.COMPUTED, azure_stack.ANSWERS) if azure else ()
    program = Program(name, config, *more)
    with loop_of_thread():
        try:
            made = program.run(preview=True)
        except SystemExit:
            return program.refusal()
    region = config["azure-native:location" if azure else "aws:region"]
    plan = Plan(name, [_planned(each, made, region) for each in made.resources])
    refused = [each.line for each in feasibility.validate_feasibility(plan, {}) if each.finding.rejects]
    return refused or _cloud_refusals("azure-native" if azure else "aws", made, region, folder)


def _planned(each: Registered, made: Recording[Any], region: str) -> Resource:
    known = {other.name: _urn(other) for other in made.resources}
    depends = {
        key: [known[name] for name in sorted(found) if name in known]
        for key, found in each.property_dependencies.items()
    }
    return Resource(
        urn=_urn(each),
        type=each.type,
        ignored=frozenset(each.ignore_changes),
        inputs=_filled(each.inputs, UNKNOWN),
        depends=depends,
        parent=known.get(each.parent, ""),
        provider_region=region,
        waits_for=frozenset([known[name] for name in each.depends_on if name in known]).union(*depends.values()),
    )


def _urn(each: Registered) -> str:
    return urn(each.type, each.name)


def _filled(value: Any, unknown: object) -> Any:
    """What a recording marks, as the reader of the value marks it."""
    if isinstance(value, Secret):
        return _filled(value.value, unknown)
    if isinstance(value, Mapping):
        return {key: _filled(inner, unknown) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, unknown) for inner in value]
    return unknown if value == RECORDED else value


def _cloud_refusals(cloud: str, made: Recording[Any], region: str, folder: Path) -> list[str]:
    provider = Provider(cloud, folder)
    found: list[str] = []

    async def preview(engine: Engine) -> None:
        await engine.configure(region=region)
        for each in made.resources:
            if not each.type.startswith(f"{cloud}:"):
                continue
            request = pb.CheckRequest(
                urn=_urn(each),
                news=write_struct(_filled(each.inputs, ON_WIRE)),
                olds=write_struct({}),
                randomSeed=each.name.encode(),
            )
            answer = await engine.stub.Check(request)
            found.extend(f"{each.name}: {failure.reason}" for failure in answer.failures)
            if not answer.failures:
                await engine.stub.Create(pb.CreateRequest(urn=_urn(each), properties=answer.inputs, preview=True))

    try:
        talk_directly(preview, provider)
    except AssertionError as error:
        found.append(str(error))
    finally:
        provider.cloud.store.close()
    return found


def refusals_of_program(program: RawProgram, folder: Path) -> list[str]:
    """The lines with which the simulated cloud refuses a program, from its preview to its end."""
    provider = Provider(program.cloud, folder)

    async def life(engine: Engine) -> None:
        await engine.configure(region=program.region)
        stack = Life(engine, program)
        await stack.preview()
        await stack.up(program.resources)
        await stack.destroy()

    try:
        talk_directly(life, provider)
    except AssertionError as error:
        return [str(error)]
    finally:
        provider.cloud.store.close()
    return []
