"""A new environment by five answers: the configuration that `gpufleet init` writes, and `pulumi new` begins with.

Pools are what `gpufleet choose` makes of the same type; every answer is checked by the rules that a preview checks by.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import yaml

from gpufleet.catalog import aws, azure, eks_zones
from gpufleet.choose.config import POOL, config_of, option_findings
from gpufleet.choose.options import Catalogs, Option, RunRequirements, options_for
from gpufleet.errors import UserError
from gpufleet.rules.aws.zones import validate_region
from gpufleet.rules.azure.budget import validate_azure_budget
from gpufleet.rules.azure.region import known_regions, region_form, region_listed
from gpufleet.rules.azure.tags import validate_azure_tags
from gpufleet.rules.budget import validate_budget
from gpufleet.rules.messages import nearest
from gpufleet.rules.rule import Finding, Status
from gpufleet.rules.tags import validate_tags

MODELINE = "# yaml-language-server: $schema="
"""What a file's first line names its schema by, for editors.

Source: README of github.com/redhat-developer/yaml-language-server, "Using inlined schema".
"""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")


@dataclass(frozen=True)
class Answers:
    """What is asked. gpu: an instance type or VM size. nodes: most that may run at once."""

    cloud: str
    region: str
    gpu: str
    nodes: int
    usd_per_month: float


DEFAULTS: Mapping[str, Answers] = {
    "aws": Answers("aws", "us-east-1", "g5.8xlarge", 2, 2000),
    "aws-batch": Answers("aws-batch", "us-east-1", "g5.8xlarge", 2, 2000),
    "azure": Answers("azure", "eastus", "Standard_NC4as_T4_v3", 2, 2000),
}
"""What is answered where nobody is asked, by cloud: two small nodes, none of which runs while nobody trains."""


def check_name(name: str, what: str = "name") -> None:
    """A name of a stack or project that Pulumi takes. Errors: UserError.

    Source: pulumi/pulumi, pkg/backend/diy/store.go and sdk/go/common/tokens: 100 characters, "alphanumeric, hyphens,
    underscores, or periods".
    """
    if not _NAME.fullmatch(name):
        raise UserError(
            f"{what}={name}: Pulumi takes no such name; use 1 to 100 letters, digits, hyphens, _ or periods"
        )


def check_region(cloud: str, region: str) -> None:
    """A region of the catalog, which the zones are from. Errors: UserError."""
    if cloud == "azure":
        findings = [region_form(region=region), region_listed(region=region, known=known_regions())]
    else:
        findings = [validate_region(region)]
    # Where the catalog knows no region, nobody here can name its zones.
    _refuse([each for each in findings if each.status is not Status.PASS], "environment")


def gpu_type(cloud: str, region: str, word: str) -> str:
    """The type as the catalog spells it; of a GPU model, such as A10G, the cheapest. Errors: UserError."""
    catalog = _catalogs(cloud)[_rented_from(cloud)]
    types = {name.casefold(): name for name in catalog.types}
    models = {each.gpu_model.casefold(): each.gpu_model for each in catalog.types.values()}
    if (found := types.get(word.casefold())) is not None:
        _option(cloud, region, found, 1)
        return found
    if (model := models.get(word.casefold())) is not None:
        if not (options := _options(cloud, region, model, 1)):
            raise UserError(
                f"gpu={word}: {region} has none; `gpufleet catalog find --gpu {model}` lists where there are"
            )
        return options[0].type
    near = nearest(word, {**types, **models})
    meant = {**types, **models}.get(near or "")
    hint = f"did you mean {meant}?" if meant else "`gpufleet catalog find` lists what is known"
    raise UserError(f"gpu={word}: is neither a type nor a GPU of {_rented_from(cloud)}; {hint}")


def check_nodes(cloud: str, region: str, gpu: str, nodes: int) -> None:
    """The number of nodes, by the rules of their pool. Errors: UserError."""
    if nodes < 1:
        raise UserError(f"max-nodes={nodes}: must be a whole number, 1 or more")
    option = _option(cloud, region, gpu, nodes)
    _refuse(option_findings(option, _pools(cloud, option)), POOL)


def check_budget(cloud: str, usd_per_month: float, emails: Sequence[str] = ()) -> None:
    """The monthly budget. Errors: UserError."""
    budget = {"usd_per_month": usd_per_month, "emails": list(emails) or ["team@example.com"]}
    _refuse((validate_azure_budget if cloud == "azure" else validate_budget)(budget), "environment")


def check_owner(cloud: str, owner: str) -> None:
    """The owner, which is a tag of everything. Errors: UserError."""
    _refuse((validate_azure_tags if cloud == "azure" else validate_tags)({"owner": owner}), "environment")


def environment_config(answers: Answers, owner: str, project: str, email: str) -> dict[str, Any]:
    """The keys of the environment. Errors: UserError, one line for each fault of the answers."""
    check_region(answers.cloud, answers.region)
    gpu = gpu_type(answers.cloud, answers.region, answers.gpu)
    check_nodes(answers.cloud, answers.region, gpu, answers.nodes)
    check_budget(answers.cloud, answers.usd_per_month, [email])
    check_owner(answers.cloud, owner)
    pools = _pools(answers.cloud, _option(answers.cloud, answers.region, gpu, answers.nodes))
    region = next(iter(pools))
    config: dict[str, Any] = {region: pools.pop(region), "gpufleet:cloud": pools.pop("gpufleet:cloud")}
    config |= {"gpufleet:owner": owner, "gpufleet:project": project}
    if answers.cloud != "azure":
        config["gpufleet:network"] = {"zones": _network_zones(answers, pools["gpufleet:pools"][POOL]["zones"])}
    usd = int(answers.usd_per_month) if float(answers.usd_per_month).is_integer() else answers.usd_per_month
    budget = {"usd_per_month": usd, "emails": [email]}
    return config | pools | {"gpufleet:budget": budget, "gpufleet:registry": {"repositories": ["training"]}}


def render_environment(config: Mapping[str, Any], schema: str | None) -> str:
    """The file's text. schema: where the schema is, relative to the file."""
    text = yaml.dump({"config": dict(config)}, Dumper=_Dumper, sort_keys=False, width=110)
    return f"{MODELINE}{schema}\n{text}" if schema else text


class _Dumper(yaml.SafeDumper):
    """Each key on a separate line, lists in brackets: as environments are written by hand."""


_Dumper.add_representer(
    list, lambda dumper, values: dumper.represent_sequence("tag:yaml.org,2002:seq", values, flow_style=True)
)


def _refuse(findings: Iterable[Finding], what: str) -> None:
    if lines := [each.line(what) for each in findings if each.rejects or each.status is Status.UNVERIFIED]:
        raise UserError("\n".join(lines))


def _rented_from(cloud: str) -> str:
    return cloud.removesuffix("-batch")


def _catalogs(cloud: str) -> Catalogs:
    return {"azure": azure()} if cloud == "azure" else {"aws": aws()}


def _options(cloud: str, region: str, model: str, gpus: int) -> list[Option]:
    run = RunRequirements(gpus=gpus, hours=1, gpu_model=model, clouds=(_rented_from(cloud),), regions=(region,))
    return options_for(run, _catalogs(cloud), (), date.today())


def _option(cloud: str, region: str, gpu: str, nodes: int) -> Option:
    """So many nodes of a type. Errors: UserError where the region has none."""
    record = _catalogs(cloud)[_rented_from(cloud)].types[gpu]
    for option in _options(cloud, region, record.gpu_model, nodes * record.gpus):
        if option.type == gpu:
            return option
    raise UserError(f"gpu={gpu}: {region} has none; `gpufleet catalog show {gpu}` lists where there are")


def _pools(cloud: str, option: Option) -> dict[str, Any]:
    # A cluster on AKS needs a group of administrators, whose id no default can have; Azure Batch needs nothing.
    return config_of(option, "azure-batch" if cloud == "azure" else cloud, spot=False)


def _network_zones(answers: Answers, pool: Sequence[str]) -> list[str]:
    """The pool's zones, and for EKS one more where there is one only: a control plane lies in two."""
    if answers.cloud == "aws-batch":
        return list(pool)
    others = [zone for zone, legal in sorted(eks_zones(answers.region).items()) if legal and zone not in pool]
    return [*pool, *others[: max(0, 2 - len(pool))]]
