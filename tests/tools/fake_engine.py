"""An engine that answers from what a test gives it, and a cloud that holds what a test says."""

import json
from pathlib import Path

from click.testing import CliRunner

from gpufleet.adoption.cloud_resource import CloudResource
from gpufleet.cli import main
from gpufleet.pulumi_cli import PulumiCliError

PARENT = "urn:pulumi:dev::gpufleet::gpufleet-aws:index:Network::net"


OWNER = {"gpufleet-stack": "gpufleet/dev", "environment": "dev", "project": "training", "owner": "us"}
"""The tags of what the stack owns."""
OTHERS = OWNER | {"owner": "them"}


def urn(type_, name):
    return f"urn:pulumi:dev::gpufleet::gpufleet-aws:index:Network${type_}::{name}"


def held(type_, name, id_, inputs=None, outputs=None):
    """A resource of the state."""
    inputs = {"tags": OWNER} if inputs is None else inputs
    return {
        "urn": urn(type_, name),
        "type": type_,
        "custom": True,
        "id": id_,
        "inputs": inputs,
        "outputs": outputs or {},
    }


def made(type_, name, inputs=None, op="create", parent=PARENT, protect=False):
    """A step of a preview."""
    inputs = {"tags": OWNER} if inputs is None else inputs
    state = {"urn": urn(type_, name), "type": type_, "custom": True, "inputs": inputs, "parent": parent}
    return {"op": op, "urn": urn(type_, name), "newState": state | {"protect": protect}}


def component(
    name, parent="urn:pulumi:dev::gpufleet::pulumi:pulumi:Stack::gpufleet-dev", type_="gpufleet-aws:index:Network"
):
    """A step that creates a component."""
    own = f"urn:pulumi:dev::gpufleet::{type_}::{name}"
    return {"op": "create", "urn": own, "newState": {"urn": own, "type": type_, "custom": False, "parent": parent}}


def vpc(number, name="net-vpc", tags=OWNER):
    """A network that AWS holds."""
    return CloudResource("aws:ec2/vpc:Vpc", f"vpc-{number}", name, f"vpc-{number}", tags=tags)


class FakeEngine:
    """Answers from what it is given and writes down what it is asked to do; an operation of `fails` ends with 255.

    interrupted: number of operations that an engine began and did not end.
    """

    def __init__(self, state=(), steps=(), fails=(), interrupted=0, config=None):
        self._state, self._steps, self._fails = list(state), list(steps), fails
        self._interrupted, self._config = interrupted, config or {}
        self.previews = 0
        self.done = []
        self.imported = None

    def state(self, stack):
        assert stack == "dev"
        return list(self._state)

    def pending_operations(self, stack):
        assert stack == "dev"
        return self._interrupted

    def config(self, stack):
        assert stack == "dev"
        return self._config

    def preview(self, stack):
        assert stack == "dev"
        self.previews += 1
        known = {each["urn"] for each in self._state}
        return [step for step in self._steps if step["op"] == "replace" or step["urn"] not in known]

    def run_operation(self, operation, stack, *arguments):
        assert stack == "dev"
        if operation == "import":
            self.imported = json.loads(Path(arguments[arguments.index("--file") + 1]).read_text())
            arguments = ("--file", *arguments[2:])
            for resource in self.imported["resources"]:
                if "id" in resource:
                    self._state.append(held(resource["type"], resource["logicalName"], resource["id"]))
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

        engine._config = config

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
