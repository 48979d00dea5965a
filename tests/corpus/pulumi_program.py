"""The Pulumi program that registers what resources.json beside it lists, with no SDK of a cloud.

`nodes` is a list of resources {name, type, inputs, outputs, dependsOn, deleteBeforeReplace} and look-ups {name, token,
arguments}, each after all that it needs; `outputs` names what others take of a resource.
"""

import json
import pathlib
import re

import pulumi

REFERENCE = re.compile(r"\$\{([\w-]+)\.([^}]+)\}")


class Resource(pulumi.CustomResource):
    """Any resource; its outputs are named, as no SDK says them."""

    def __init__(self, node, inputs, options):
        super().__init__(node["type"], node["name"], {**dict.fromkeys(node["outputs"]), **inputs}, options)


def at(value, path):
    """What an object has at a path such as `identities[0].oidcs[0].issuer`."""
    for step in path:
        value = value[int(step) if isinstance(value, list) else step]
    return value


def referred(name, path):
    """An output of a resource or of a look-up."""
    first, *rest = path.replace("[", ".").replace("]", "").split(".")
    if isinstance(made[name], Resource):
        return getattr(made[name], first).apply(lambda value: at(value, rest))
    return made[name].apply(lambda answer: at(answer, [first, *rest]))


def filled(value):
    """The value with outputs in place of its references."""
    if isinstance(value, dict):
        return {key: filled(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner) for inner in value]
    if not isinstance(value, str):
        return value
    whole = REFERENCE.fullmatch(value)
    if whole:
        return referred(whole[1], whole[2])
    # Text and references by turns; of a reference there are a name and a path.
    texts, names, paths = (REFERENCE.split(value)[start::3] for start in range(3))
    if not names:
        return value
    pairs = zip(texts[:-1], names, paths, strict=True)
    return pulumi.Output.concat(*(part for text, *of in pairs for part in (text, referred(*of))), texts[-1])


made = {}
for each in json.loads(pathlib.Path(__file__).with_name("resources.json").read_text())["nodes"]:
    if "token" in each:
        made[each["name"]] = pulumi.runtime.invoke_output(each["token"], filled(each["arguments"]))
        continue
    waits_for = [made[other] for other in each["dependsOn"]]
    # None leaves it to the provider; False would overrule it.
    options = pulumi.ResourceOptions(depends_on=waits_for, delete_before_replace=each["deleteBeforeReplace"])
    made[each["name"]] = Resource(each, filled(each["inputs"]), options)
