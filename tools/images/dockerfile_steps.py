"""What of a Dockerfile can be built on a machine that reaches package registries only, step by step.

A step is an instruction, or one command of a RUN. A download that this machine cannot fetch ends its RUN before it: the
commands after it need what it brings. All else stays as the Dockerfile has it. No command has && in its words.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

_URL = re.compile(r"https?://[^\s'\"]+")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_AND = re.compile(r"\s*(?:\\\n\s*)?&&\s*")

Fetchable = Callable[[str], bool]
"""Whether this machine can fetch a URL."""


@dataclass(frozen=True)
class Instruction:
    """line: the number of its first line. text: as written, with its continued lines. argument: all but the keyword."""

    line: int
    text: str

    @property
    def keyword(self) -> str:
        return self.text.split(maxsplit=1)[0].upper()

    @property
    def argument(self) -> str:
        return self.text.split(maxsplit=1)[1]


@dataclass(frozen=True)
class Step:
    """state: run, replaced, not fetched (why: from where) or not run."""

    line: int
    text: str
    state: str
    why: str = ""


@dataclass(frozen=True)
class BuildableStage:
    """base: the image that the stage begins with, in the end. text: the Dockerfile without what cannot be fetched.

    steps: of the stage and of those before it that it is made of, and what becomes of each if the build succeeds.
    """

    base: str
    text: str
    steps: list[Step]


def buildable(
    text: str, arguments: Mapping[str, str], fetchable: Fetchable, replaced: Callable[[str], str]
) -> BuildableStage:
    """The last stage of a Dockerfile, as far as it can be built.

    arguments: build arguments. replaced: by what a base image is replaced; empty where it is fetched.
    """
    all_ = list(instructions(text))
    stages = _stages(all_)
    known = {**_defaults(stages[0]), **arguments}
    chain = [stages[-1]]
    while parent := next((each for each in stages[1:] if _name(each) == _base(chain[0], known).lower()), None):
        chain.insert(0, parent)
    base = _base(chain[0], known)
    steps: list[Step] = []
    cut: dict[int, str] = {}
    for stage in chain:
        variables = known | _defaults(stage)
        for each in stage:
            if each.keyword == "RUN":
                found = list(_run_steps(each, variables, fetchable))
                cut[each.line] = _cut(each, found)
                steps += found
            elif each.keyword == "FROM" and stage is chain[0] and replaced(base):
                steps.append(Step(each.line, f"FROM {base}", "replaced", replaced(base)))
            else:
                steps.append(Step(each.line, _filled(_flat(each.text), variables), "run"))
    return BuildableStage(base, "".join(f"{cut.get(each.line, each.text)}\n" for each in all_), steps)


def instructions(text: str) -> Iterator[Instruction]:
    """The instructions of a Dockerfile, without comments. Source: docs.docker.com/reference/dockerfile/#format."""
    began, lines = 0, list[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        began = began if lines else number
        lines.append(line)
        if not line.endswith("\\"):
            yield Instruction(began, "\n".join(lines))
            lines = []


def _stages(all_: list[Instruction]) -> list[list[Instruction]]:
    """What stands before the first FROM, then each stage with its FROM."""
    stages: list[list[Instruction]] = [[]]
    for each in all_:
        if each.keyword == "FROM":
            stages.append([])
        stages[-1].append(each)
    return stages


def _name(stage: list[Instruction]) -> str:
    words = stage[0].argument.split()
    return words[2].lower() if len(words) == 3 else ""


def _base(stage: list[Instruction], variables: Mapping[str, str]) -> str:
    return _filled(stage[0].argument.split()[0], variables)


def _defaults(stage: list[Instruction]) -> dict[str, str]:
    words = [each.argument.partition("=") for each in stage if each.keyword == "ARG"]
    return {name: value for name, mark, value in words if mark}


def _run_steps(instruction: Instruction, variables: Mapping[str, str], fetchable: Fetchable) -> Iterator[Step]:
    lacking = ""
    for number, command in enumerate(_AND.split(instruction.argument)):
        words = f"{'RUN ' if number == 0 else '&& '}{_filled(_flat(command), variables)}"
        if lacking:
            yield Step(instruction.line, words, "not run", f"needs what is not fetched from {_host(lacking)}")
            continue
        lacking = next((url for url in _URL.findall(words) if not fetchable(url)), "")
        yield Step(instruction.line, words, *(("not fetched", f"from {_host(lacking)}") if lacking else ("run", "")))


def _cut(instruction: Instruction, steps: list[Step]) -> str:
    """The RUN up to its first command that does not run."""
    commands = _AND.split(instruction.argument)
    kept = [command for command, step in zip(commands, steps, strict=True) if step.state == "run"]
    if len(kept) == len(commands):
        return instruction.text
    return "RUN " + " && ".join(kept or ["true"])


def _host(url: str) -> str:
    return url.split("/")[2]


def _flat(text: str) -> str:
    return " ".join(text.replace("\\\n", " ").split())


def _filled(text: str, variables: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: variables.get(match[1] or match[2], match[0]), text)
