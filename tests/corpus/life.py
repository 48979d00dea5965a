"""The life of a program of the corpus, as the engine holds it with the provider: preview, up, a change, destroy.

Steps and their order are those of the engine (pkg/resource/deploy of pulumi/pulumi): Check before all; a create with
unknown values at preview; Diff of the old inputs; a replacement is made first and the old one goes last, unless the
provider or the program says deleteBeforeReplace: then whatever must be made anew along with it goes before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pulumi.runtime.proto import provider_pb2 as pb

from gpufleet_rehearsal.cloud.change import UNKNOWN, has_unknown
from gpufleet_rehearsal.provider.wire import read_struct, write_struct
from tests.corpus.programs import REFERENCE, Program, needs, references
from tests.rehearsal.engine_talk import Engine, urn


@dataclass(frozen=True)
class Made:
    """A resource in the state: as the provider answered, and what it was made of."""

    id: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]


@dataclass
class Change:
    """What an update did, by name."""

    made: set[str] = field(default_factory=set)
    updated: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)


class Life:
    """A stack of one program."""

    def __init__(self, engine: Engine, program: Program) -> None:
        self.engine, self.program = engine, program
        self.checks = 0
        self.state: dict[str, Made] = {}
        self.types: dict[str, Mapping[str, Any]] = {}
        self.answers: dict[str, Mapping[str, Any]] = {}

    async def preview(self) -> None:
        """Check and create everything of the program without the cloud: what others compute is not known."""
        outputs: dict[str, Mapping[str, Any]] = {}
        for name in self.program.order(self.program.resources):
            if name in self.program.lookups:
                outputs[name] = await self._look_up(name, outputs)
                continue
            node = self.program.resources[name]
            inputs = await self._check(name, node, filled(node.get("inputs", {}), outputs), {})
            answer = await self.engine.create(node["type"], inputs, name, preview=True)
            outputs[name] = {"id": UNKNOWN, **read_struct(answer.properties)}

    async def up(self, resources: Mapping[str, Mapping[str, Any]]) -> Change:
        """Make the stack be these resources."""
        done, last = Change(), list[tuple[str, str, str]]()
        for name in self.program.order(resources):
            outputs = {**self.answers, **{each: made.outputs for each, made in self.state.items()}}
            if name in self.program.lookups:
                self.answers[name] = await self._look_up(name, outputs)
                continue
            node, old = resources[name], self.state.get(name)
            given = filled(node.get("inputs", {}), outputs)
            inputs = await self._check(name, node, given, old.inputs if old else {})
            if old is None:
                await self._create(name, node, inputs)
                if name not in done.replaced:
                    done.made.add(name)
                continue
            diff = await self._diff(name, node, old, inputs)
            if diff.replaces:
                if diff.deleteBeforeReplace or node.get("deleteBeforeReplace"):
                    for other in reversed(await self._along_with(name, resources)):
                        await self._delete(other, self.types[other]["type"], self.state.pop(other).id)
                        done.replaced.add(other)
                else:
                    last.append((name, node["type"], old.id))
                    done.replaced.add(name)
                await self._create(name, node, await self._check(name, node, given, {}))
            elif diff.changes == pb.DiffResponse.DIFF_SOME:
                await self._update(name, node, old, inputs)
                done.updated.add(name)
        for name, type_, id_ in reversed(last):
            await self._delete(name, type_, id_)
        for name in self._backwards({name for name in self.state if name not in resources}):
            await self._delete(name, self.types[name]["type"], self.state.pop(name).id)
            done.deleted.add(name)
        return done

    async def destroy(self) -> None:
        """Delete everything, what others need last."""
        for name in self._backwards(set(self.state)):
            await self._delete(name, self.types[name]["type"], self.state.pop(name).id)

    def _backwards(self, names: set[str]) -> list[str]:
        """Names with all that needs a resource before it."""
        return [name for name in reversed(self.program.order(self.types)) if name in names]

    async def _along_with(self, root: str, resources: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """What must go before the resource can, with itself: what must be made anew when it is not known."""
        anew = [root]
        for name in self.program.order(self.types):
            if name in self.state and name != root and set(needs(self.types[name])) & set(anew):
                node, old = self.types[name], self.state[name]
                hidden = {each: {} for each in anew}
                known = {**self.answers, **{each: made.outputs for each, made in self.state.items()}, **hidden}
                diff = await self._diff(name, node, old, {**old.inputs, **_refilled(node, known, set(anew))})
                if diff.replaces:
                    anew.append(name)
        return anew

    async def _check(
        self, name: str, node: Mapping[str, Any], inputs: Mapping[str, Any], olds: Mapping[str, Any]
    ) -> dict[str, Any]:
        self.checks += 1
        request = pb.CheckRequest(
            urn=urn(node["type"], name),
            news=write_struct(inputs),
            olds=write_struct(olds),
            # Another one each time: a replacement does not get the name of the old one.
            randomSeed=f"{name} {self.checks}".encode(),
        )
        answer = await self.engine.stub.Check(request)
        assert not answer.failures, [f"{name}: {failure.reason}" for failure in answer.failures]
        return read_struct(answer.inputs)

    async def _diff(self, name: str, node: Mapping[str, Any], old: Made, news: Mapping[str, Any]) -> pb.DiffResponse:
        return await self.engine.stub.Diff(
            pb.DiffRequest(
                id=old.id,
                urn=urn(node["type"], name),
                olds=write_struct(old.outputs),
                old_inputs=write_struct(old.inputs),
                news=write_struct(news),
            )
        )

    async def _create(self, name: str, node: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        answer = await self.engine.create(node["type"], inputs, name)
        self.state[name] = Made(answer.id, inputs, {**read_struct(answer.properties), "id": answer.id})
        self.types[name] = node

    async def _update(self, name: str, node: Mapping[str, Any], old: Made, inputs: Mapping[str, Any]) -> None:
        answer = await self.engine.stub.Update(
            pb.UpdateRequest(
                id=old.id,
                urn=urn(node["type"], name),
                olds=write_struct(old.outputs),
                old_inputs=write_struct(old.inputs),
                news=write_struct(inputs),
            )
        )
        self.state[name] = Made(old.id, inputs, {**read_struct(answer.properties), "id": old.id})
        self.types[name] = node

    async def _delete(self, name: str, type_: str, id_: str) -> None:
        await self.engine.stub.Delete(pb.DeleteRequest(id=id_, urn=urn(type_, name)))

    async def _look_up(self, name: str, outputs: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
        """The answer; nothing of it is known if an argument is not, as the SDK has it."""
        lookup = self.program.lookups[name]
        arguments = filled(lookup.get("arguments", {}), outputs)
        if has_unknown(arguments):
            return {}
        answer = await self.engine.stub.Invoke(pb.InvokeRequest(tok=lookup["token"], args=write_struct(arguments)))
        assert not answer.failures, [f"{name}: {failure.reason}" for failure in answer.failures]
        return read_struct(getattr(answer, "return"))


def filled(value: Any, outputs: Mapping[str, Mapping[str, Any]]) -> Any:
    """The value with what its references lead to. What is not there is not known, nor a text with it."""
    if isinstance(value, Mapping):
        return {key: filled(inner, outputs) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, outputs) for inner in value]
    if not isinstance(value, str):
        return value
    whole = REFERENCE.fullmatch(value)
    if whole:
        return _at(outputs[whole[1]], whole[2])
    text = REFERENCE.sub(lambda match: str(_at(outputs[match[1]], match[2])), value)
    return UNKNOWN if UNKNOWN in text else text


def _at(value: Any, path: str) -> Any:
    """What an object has at a path such as `identities[0].oidcs[0].issuer`."""
    for step in path.replace("[", ".").replace("]", "").split("."):
        try:
            value = value[int(step) if isinstance(value, list) else step]
        except (KeyError, IndexError, TypeError):
            return UNKNOWN
        if value == UNKNOWN:
            return UNKNOWN
    return value


def _refilled(node: Mapping[str, Any], outputs: Mapping[str, Any], anew: set[str]) -> dict[str, Any]:
    """Those inputs that refer to one of `anew`."""
    inputs = node.get("inputs", {})
    return {key: filled(value, outputs) for key, value in inputs.items() if set(references(value)) & anew}
