"""Every child of a component of AWS or Azure that can be tagged is."""

import importlib
import inspect
from collections.abc import Mapping

from tests.components.recorder import MARK
from tests.components.samples import TAGS, Sample, every_component


def takes_tags(type_token: str) -> bool:
    """Whether the SDK's class of a type token has an argument called tags."""
    _, path, name = type_token.split(":")
    sdk = "pulumi_azure_native" if type_token.startswith("azure-native:") else "pulumi_aws"
    module = importlib.import_module(f"{sdk}.{path.partition('/')[0]}")
    return "tags" in inspect.signature(getattr(module, f"{name}Args").__init__).parameters


@every_component("aws")
def test_children_are_tagged(sample: Sample, preview):
    taggable = [each for each in sample.children(preview) if takes_tags(each.type)]
    assert taggable
    for child in taggable:
        tags = child.inputs.get("tags")
        assert isinstance(tags, Mapping), f"{child.name} has no tags"
        assert {**tags, **TAGS, **MARK, "Name": child.name} == tags, f"{child.name} lacks tags"


@every_component("azure")
def test_children_on_azure_have_exactly_the_tags(sample: Sample, preview):
    """Names are not in tags there: every resource of Azure has one."""
    if "tags" not in sample.args:
        assert [each.name for each in sample.children(preview) if takes_tags(each.type)] == []
        return
    taggable = [each for each in sample.children(preview) if takes_tags(each.type)]
    assert taggable
    assert {each.name: each.inputs.get("tags") for each in taggable} == {
        each.name: {**TAGS, **MARK} for each in taggable
    }
