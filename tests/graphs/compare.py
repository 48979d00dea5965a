"""What a change of the programs does to what they register and refuse: two states of the repository, side by side.

    .venv/bin/python tests/graphs/compare.py --base REF

Runs stacks/__main__.py of both states under Pulumi's mocks for every environment of stacks/config, for further legal
configurations and for configurations with planted faults (configurations.yaml beside this), and prints each resource
whose type, parent, inputs or dependencies differ, and each error line that one state has and the other has not. Exit
code 1 if anything differs. What a run recorded is written to --out, one JSON file for each state.
"""

import argparse
import asyncio
import json
import os
import random
import runpy
import subprocess
import sys
import tempfile
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATIONS = Path(__file__).with_name("configurations.yaml")
FAULTY, SEED = 310, 16
CLOUDS = {
    "aws": ["aws-dev", "aws-prod", "aws-batch-dev", "aws-batch-prod", "hybrid"],
    "azure": ["azure-dev", "azure-prod"],
    "onprem": ["onprem"],
}
"""Environments whose programs load one SDK: a process each."""
SERVER = {"clusters": [{"name": "aks", "cluster": {"server": "https://aks:443", "certificate-authority-data": "Y2E="}}]}
KUBECONFIG = json.dumps(
    {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "lab", "cluster": {"server": "https://10.0.0.1:6443"}}],
        "users": [{"name": "ops", "user": {"token": "t"}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "ops"}}],
        "current-context": "lab",
    }
)


def configurations() -> dict[str, tuple[str, dict[str, Any]]]:
    """Name of each case -> environment and configuration."""
    data = yaml.safe_load(CONFIGURATIONS.read_text(encoding="utf-8"))
    shipped = {
        environment: yaml.safe_load((ROOT / f"stacks/config/Pulumi.{environment}.yaml").read_text())["config"]
        for environments in CLOUDS.values()
        for environment in environments
    }
    shipped["onprem"]["gpufleet:kubeconfig"] = KUBECONFIG
    cases = {environment: (environment, config) for environment, config in shipped.items()}
    for environment, changes in data["legal"].items():
        for number, change in enumerate(changes):
            cases[f"{environment} legal {number}"] = (environment, changed(shipped[environment], [change]))
    draw = random.Random(SEED)
    for number in range(FAULTY):
        environment = draw.choice(list(data["faults"]))
        faults = draw.sample(data["faults"][environment], draw.randint(1, 6))
        cases[f"{environment} faulty {number}"] = (environment, changed(shipped[environment], faults))
    # The case by which the second pass and the constructors had drifted apart.
    there = {"name": "theirs", "security_group_id": "sg-0123456789abcdef0", "endpoint": "https://e.invalid"}
    drift = {
        "gpufleet:existing_cluster": there | {"certificate_authority": "Y2E="},
        "gpufleet:pools.trainers.image": "ami-0123456789abcdef0",
        "gpufleet:network.max_zones": 1,
    }
    cases["aws-dev drift"] = ("aws-dev", changed(shipped["aws-dev"], [drift]))
    return cases


def changed(config: dict[str, Any], changes: list[dict[str, Any]]) -> dict[str, Any]:
    result = deepcopy(config)
    for path, value in (item for change in changes for item in change.items()):
        key, *inner = path.split(".") if ":" in path else [path]
        here, last = result, key
        for step in inner:
            if not isinstance(here.get(last), dict):
                here[last] = {}
            here, last = here[last], step
        if value is None:
            here.pop(last, None)
        else:
            here[last] = value
    return result


def engine_text(value: object) -> str:
    """A value as the engine hands it to the program."""
    return (
        value
        if isinstance(value, str)
        else json.dumps(value, default=lambda day: f"{day} 00:00:00 +0000 UTC").strip('"')
    )


def record(tree: Path, cloud: str) -> dict[str, Any]:
    """What the program of a state makes of each case of a cloud."""
    sys.path[:0] = [str(tree / folder) for folder in ("components", "rehearsal", "stacks")]
    sys.path.append(str(ROOT))
    import pulumi

    from tests.components.recorder import construct
    from tests.graphs.mocked_cloud import ANSWERS, COMPUTED

    found: dict[str, Any] = {}
    said: list[str] = []
    pulumi.log.error = lambda message, *_: said.extend(message.splitlines())  # type: ignore[assignment]
    program = str(tree / "stacks" / "__main__.py")
    for case, (environment, config) in configurations().items():
        if environment not in CLOUDS[cloud]:
            continue
        os.environ["PULUMI_CONFIG"] = json.dumps({key: engine_text(value) for key, value in config.items()})
        os.environ["PULUMI_CONFIG_SECRET_KEYS"] = json.dumps(["gpufleet:team", "gpufleet:teams", "gpufleet:notebooks"])
        said.clear()
        asyncio.set_event_loop(asyncio.new_event_loop())

        def build() -> None:
            runpy.run_path(program, run_name="__main__")

        graphs: dict[str, Any] = {}
        for preview in (True, False):
            try:
                recording = construct(build, preview, COMPUTED, ANSWERS, stack=environment)
            except SystemExit:
                break  # as in earnest: before anything is registered
            except Exception as error:  # noqa: BLE001 - whatever a state of the repository does not foresee
                said.append(f"CRASH {type(error).__name__}: {error}")
                break
            graphs["preview" if preview else "update"] = {
                f"{each.type} {each.name}": shown(each) for each in recording.resources
            } | {f"outputs {name}": repr(outputs) for name, outputs in recording.outputs.items()}
        found[case] = {"lines": list(dict.fromkeys(said)), "graphs": graphs}
    return found


def shown(resource: Any) -> dict[str, str]:
    """Everything of a resource that the engine is told, as text."""
    fields = {key: value for key, value in vars(resource).items() if key not in ("type", "name")}
    return {key: json.dumps(value, sort_keys=True, default=_in_order) for key, value in fields.items()}


def _in_order(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else repr(value)


def compare(base: dict[str, Any], now: dict[str, Any]) -> int:
    """Print what differs; the number of cases in which something does."""
    different, kinds = 0, Counter[str]()
    for case in base.keys() | now.keys():
        lines = _difference_of_lines(base[case]["lines"], now[case]["lines"])
        graphs = list(_difference_of_graphs(base[case]["graphs"], now[case]["graphs"], kinds))
        if lines or graphs:
            different += 1
            print(f"\n{case}")
            print(*(f"  {line}" for line in [*lines, *graphs]), sep="\n")
    print(f"\n{len(base)} cases, {different} differ")
    print(*(f"{count:6} {kind}" for kind, count in kinds.most_common()), sep="\n")
    return different


def _difference_of_lines(base: list[str], now: list[str]) -> list[str]:
    return [f"- {line}" for line in base if line not in now] + [f"+ {line}" for line in now if line not in base]


def _difference_of_graphs(base: dict[str, Any], now: dict[str, Any], kinds: Counter[str]) -> Any:
    for mode in sorted(base.keys() | now.keys()):
        was, is_ = base.get(mode, {}), now.get(mode, {})
        for key in sorted(was.keys() | is_.keys()):
            if key not in is_ or key not in was:
                kinds[f"{'- ' if key in was else '+ '}{mode}: {key.split()[0]}"] += 1
                yield f"{mode}: {'-' if key in was else '+'} {key}"
            elif was[key] != is_[key]:
                for field in was[key] if isinstance(was[key], dict) else ():
                    if was[key][field] != is_[key].get(field):
                        kinds[f"~ {mode}: {key.split()[0]} {field}"] += 1
                        yield f"{mode}: ~ {key} {field}\n      {was[key][field]}\n      {is_[key].get(field)}"
                if not isinstance(was[key], dict):
                    kinds[f"~ {mode}: outputs"] += 1
                    yield f"{mode}: ~ {key}\n      {was[key]}\n      {is_[key]}"


def recorded(tree: Path, file: Path) -> dict[str, Any]:
    """All cases of a state of the repository, recorded by one process for each cloud."""
    command = [sys.executable, __file__, "--record", str(tree)]
    running = [subprocess.Popen([*command, cloud], stdout=subprocess.PIPE) for cloud in CLOUDS]
    found: dict[str, Any] = {}
    for process in running:
        text, _ = process.communicate()
        if process.returncode:
            raise SystemExit(f"recording {tree} failed")
        found |= json.loads(text)
    file.write_text(json.dumps(found, indent=1, sort_keys=True), encoding="utf-8")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", help="commit to compare with, or a JSON file that an earlier run wrote")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "graphs")
    parser.add_argument("--record", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.record:
        out, sys.stdout = sys.stdout, sys.stderr
        json.dump(record(Path(args.record[0]), args.record[1]), out)
        return 0
    args.out.mkdir(parents=True, exist_ok=True)
    if args.base.endswith(".json"):
        base = json.loads(Path(args.base).read_text(encoding="utf-8"))
    else:
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / "tree"
            subprocess.run(["git", "worktree", "add", "--detach", tree, args.base], cwd=ROOT, check=True, stdout=2)
            try:
                base = recorded(tree, args.out / "base.json")
            finally:
                subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=ROOT, check=True)
    return 1 if compare(base, recorded(ROOT, args.out / "now.json")) else 0


if __name__ == "__main__":
    sys.exit(main())
