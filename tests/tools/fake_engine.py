"""An engine that answers from what a test gives it, and a cloud that holds what a test says."""

import json
from pathlib import Path

from click.testing import CliRunner

from gpufleet.cli import main
from gpufleet.pulumi_cli import PulumiCliError

PARENT = "urn:pulumi:dev::gpufleet::gpufleet-aws:index:Network::net"


def urn(type_, name):
    return f"urn:pulumi:dev::gpufleet::gpufleet-aws:index:Network${type_}::{name}"


def held(type_, name, id_, inputs=None, outputs=None):
    """A resource of the state."""
    return {"urn": urn(type_, name), "type": type_, "id": id_, "inputs": inputs or {}, "outputs": outputs or {}}


def made(type_, name, inputs=None, op="create", parent=PARENT):
    """A step of a preview."""
    state = {"urn": urn(type_, name), "type": type_, "inputs": inputs or {}, "parent": parent}
    return {"op": op, "urn": urn(type_, name), "newState": state}


class FakeEngine:
    """Answers from what it is given and writes down what it is asked to do; an operation of `fails` ends with 255."""

    def __init__(self, state=(), steps=(), fails=()):
        self._state, self._steps, self._fails = list(state), list(steps), fails
        self.previews = 0
        self.done = []
        self.imported = None

    def state(self, stack):
        assert stack == "dev"
        return list(self._state)

    def preview(self, stack):
        assert stack == "dev"
        self.previews += 1
        return list(self._steps)

    def run_operation(self, operation, stack, *arguments):
        assert stack == "dev"
        if operation == "import":
            self.imported = json.loads(Path(arguments[arguments.index("--file") + 1]).read_text())
            arguments = ("--file", *arguments[2:])
            for resource in self.imported["resources"]:
                self._state.append(held(resource["type"], resource["name"], resource["id"]))
        self.done.append((operation, *arguments))
        return 255 if operation in self._fails else 0

    def output_of(self, *arguments):
        if "output_of" in self._fails:
            raise PulumiCliError("no stack named 'dev' found")
        self.done.append(arguments)
        return ""


class Cloud:
    def __init__(self, *found):
        self._found = found

    def holds(self, environment):
        assert environment == "dev"
        return self._found


class Adopting:
    """Runs `gpufleet adopt dev ...` on a real account: an engine with `config`, and a cloud that holds `found`.

    inventories: what each was made of. monkeypatch: pytest's.
    """

    def __init__(self, monkeypatch):
        monkeypatch.delenv("GPUFLEET_REHEARSAL", raising=False)
        self._monkeypatch = monkeypatch
        self.inventories = []

    def run(self, engine, *options, config, found=()):
        """Exit code and output."""
        settings = {key: {"value": value, "secret": False} for key, value in config.items()}
        others = engine.output_of

        def output_of(*arguments):
            if arguments == ("config", "--json", "--stack", "dev"):
                return json.dumps(settings)
            return others(*arguments)

        def inventory(*of):
            self.inventories.append(of)
            return Cloud(*found)

        engine.output_of = output_of
        self._monkeypatch.setattr("gpufleet.pulumi_cli.PulumiCli", lambda project: engine)
        self._monkeypatch.setattr("gpufleet.aws.inventory.AwsInventory", inventory)
        self._monkeypatch.setattr("gpufleet.azure.inventory.AzureInventory", inventory)
        done = CliRunner().invoke(main, ["adopt", "dev", *options])
        return done.exit_code, done.output
