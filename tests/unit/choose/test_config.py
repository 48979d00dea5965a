"""An option as configuration: what the rules and the reader of a stack's configuration say of it."""

import json
from dataclasses import replace

import pytest
import yaml

from gpufleet.choose.config import config_of, option_findings, render_yaml, stack_of
from gpufleet.choose.onprem_servers import PricedServers
from gpufleet.config.reader import read_config
from gpufleet.errors import UserError

LAB = PricedServers("lab", "V100", 4, 32, count=2, usd_per_hour=0.9, nodes=("gpu-1", "gpu-2"))
DESK = PricedServers("Ben's desk", "TITAN V", 2, 12, place="office 3")
REST = {"gpufleet:owner": "team", "gpufleet:project": "x"}
CLUSTER = REST | {"gpufleet:kubeconfig": "{}", "gpufleet:nfs": "10.0.0.5:/export/shared"}
JOINED = {
    "networks": {"nodes": ["10.80.0.0/24"], "pods": ["10.81.0.0/16"]},
    "nfs": "10.80.0.5:/export/shared",
    "nodeadm": {"version": "v1.0.19", "sha256": "a" * 64},
}


def as_read(option, stack, servers, rest):
    """The configuration that a stack reads of what is printed, once it says the rest; and the comments."""
    text = render_yaml(option, config_of(option, stack, False, servers), "agreed", stack, servers)
    config = yaml.safe_load(text)["config"]
    if stack == "hybrid":
        config["gpufleet:own_servers"] |= JOINED
    values = rest | config
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}
    return read_config(texts, "lab"), [line for line in text.splitlines() if line.startswith("#")]


def named(options, name):
    (option,) = (option for option in options if option.type == name)
    return option


@pytest.mark.parametrize("gpus", [1, 8, 16])
@pytest.mark.parametrize("spot", [False, True])
@pytest.mark.parametrize("stack", ["aws", "aws-batch", "azure", "azure-batch"])
def test_rules_refuse_no_configuration_but_of_types_that_batch_has_no_image_for(chosen, gpus, spot, stack):
    options = [option for option in chosen(gpus=gpus, spot=spot) if option.cloud == stack.split("-")[0]]
    assert options
    refused = {
        (option.type, finding.rule)
        for option in options
        if not (stack == "aws-batch" and spot and option.nodes > 1)
        and not (stack == "azure" and option.nodes > 1 and option.network.kind == "InfiniBand")
        for finding in option_findings(option, config_of(option, stack_of(option, stack), spot))
        if finding.rejects
    }
    # The driver of AWS Batch's image does not know V100 and T4g, and GB200 has Arm's processors, for which Azure's
    # usual image is not: the user gets the rule's line, and no configuration.
    known = {"aws-batch": ("aws-batch-image-type", "p3dn.", "g5g."),
             "azure-batch": ("azure-batch-image-architecture", "Standard_ND128isr_NDR_GB200")}  # fmt: skip
    rule, *types = known.get(stack, ("",))
    assert {(name, rule) for name, rule in refused if name.startswith(tuple(types))} == refused
    assert {each for _, each in refused} <= {rule}


def test_several_nodes_with_efa(chosen):
    option = named(chosen(gpus=16, regions=("us-east-1",)), "p5.48xlarge")
    assert config_of(option, "aws", spot=False) == {
        "aws:region": "us-east-1",
        "gpufleet:cloud": "aws",
        "gpufleet:pools": {
            "trainers": {
                "types": ["p5.48xlarge"],
                "max": 2,
                "zones": ["use1-az1"],
                "placement": "create",
                "network": "efa",
            }
        },
    }


def test_batch_gets_its_multinode_queue(chosen):
    option = named(chosen(gpus=16, regions=("us-east-1",)), "p5.48xlarge")
    config = config_of(option, "aws-batch", spot=False)
    assert config["gpufleet:multinode"] == {"pool": "trainers", "nodes": 2}


def test_placement_is_left_out_where_no_gain_was_measured(chosen):
    option = named(chosen(regions=("us-east-1",)), "g6e.xlarge")
    pool = config_of(option, "aws", spot=False)["gpufleet:pools"]["trainers"]
    assert (option.nodes, "placement" in pool, "network" in pool, pool["zones"]) == (8, False, False, ["use1-az1"])


def test_azure_batch_gets_its_pool_of_one_task(chosen):
    option = named(chosen(gpus=16, clouds=("azure",)), "Standard_ND96isr_H100_v5")
    assert config_of(option, "azure-batch", spot=True) == {
        "azure-native:location": "eastus",
        "gpufleet:cloud": "azure",
        "gpufleet:batch": {
            "pools": {
                "trainers": {
                    "types": ["Standard_ND96isr_H100_v5"],
                    "max": 2,
                    "task_nodes": 2,
                    "network": "infiniband",
                    "capacity": "spot",
                }
            }
        },
    }


@pytest.mark.parametrize("stack", ["aws", "aws-batch", "azure", "azure-batch"])
@pytest.mark.parametrize("gpus", [1, 16])
def test_the_stack_reads_the_configuration_of_every_option(chosen, stack, gpus):
    """Every type of either cloud: what is printed is what `pulumi up` reads, once it says whose it is."""
    rest = {"gpufleet:owner": "team", "gpufleet:project": "x"}
    if stack.startswith("aws"):
        rest["gpufleet:network"] = {"zones": ["use1-az1"]}
    options = [option for option in chosen(gpus=gpus) if option.cloud == stack.split("-")[0]]
    assert len(options) > 10
    for option in options:
        config = rest | yaml.safe_load(render_yaml(option, config_of(option, stack, spot=False), "agreed"))["config"]
        texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
        read = read_config(texts, "dev")
        pools = read["batch"]["pools"] if stack == "azure-batch" else read["pools"]
        assert (pools["trainers"]["types"], pools["trainers"]["max"]) == ([option.type], option.nodes)


def test_infiniband_between_nodes_is_on_azure_batch(chosen):
    several, one = (named(chosen(gpus=gpus, clouds=("azure",)), "Standard_ND96isr_H100_v5") for gpus in (16, 8))
    assert (stack_of(several, None), stack_of(several, "azure-batch")) == ("azure-batch", "azure-batch")
    assert (stack_of(one, None), stack_of(one, "azure")) == ("azure", "azure")
    line = "Standard_ND96isr_H100_v5: stack=azure: no pod on AKS reaches a node's InfiniBand; use azure-batch"
    with pytest.raises(UserError, match=f"^{line} .choose-stack.$"):
        stack_of(several, "azure")


def test_zones_that_azure_chooses(chosen):
    option = named(chosen(gpus=8, clouds=("azure",)), "Standard_ND96isr_H100_v5")
    assert config_of(option, "azure", spot=False) == {
        "azure-native:location": "eastus",
        "gpufleet:cloud": "azure",
        "gpufleet:pools": {"trainers": {"types": ["Standard_ND96isr_H100_v5"], "max": 1}},
    }


@pytest.mark.parametrize("stack", ["aws", "aws-batch"])
def test_the_stack_reads_what_is_printed(chosen, stack):
    option = named(chosen(gpus=16, regions=("us-east-1",)), "p5.48xlarge")
    text = render_yaml(option, config_of(option, stack, spot=False), "confirmed")
    config = yaml.safe_load(text)["config"]
    rest = {"gpufleet:owner": "team", "gpufleet:project": "x", "gpufleet:network": {"zones": ["use1-az1"]}}
    values = {key: value if isinstance(value, str) else json.dumps(value) for key, value in (rest | config).items()}
    assert read_config(values, "dev")["pools"]["trainers"]["max"] == 2
    assert text.startswith("# confirmed\n")


def test_batch_runs_no_job_of_several_nodes_on_spot(chosen):
    option = named(chosen(gpus=16, spot=True, regions=("us-east-1",)), "p5.48xlarge")
    with pytest.raises(
        UserError, match=r"^p5.48xlarge: Batch runs no job of several nodes on Spot; .*\[choose-stack\]$"
    ):
        config_of(option, "aws-batch", spot=True)


def test_stack_of_another_cloud_and_of_own_servers(chosen):
    option = named(chosen(clouds=("azure",)), "Standard_ND96isr_H100_v5")
    with pytest.raises(UserError, match="stack=aws: does not run nodes of azure; use azure or azure-batch"):
        stack_of(option, "aws")
    (own,) = chosen(servers=[LAB], clouds=("own",))
    with pytest.raises(UserError, match=r"^lab: stack=aws: does not run own servers; use onprem or hybrid"):
        stack_of(own, "aws")


def test_own_servers_are_a_pool_of_an_onprem_environment(chosen):
    (option,) = [each for each in chosen(servers=[LAB, DESK], clouds=("own",)) if each.type == "lab"]
    stack = stack_of(option, None)
    read, comments = as_read(option, stack, [LAB, DESK], CLUSTER)
    assert (read["cloud"], read["pools"]) == (
        "onprem",
        {"lab": {"gpu": "V100", "gpus": 4, "nodes": ["gpu-1", "gpu-2"]}},
    )
    assert read["usd_per_gpu_hour"] == {"lab": 0.225}
    assert comments[2:] == [
        "# The run takes 2 of them: gpufleet jobs submit --workers 2",
        "# The environment needs gpufleet:kubeconfig and gpufleet:nfs too: docs/onprem.md.",
    ]
    assert option_findings(option, config_of(option, stack, False, [LAB])) == []


def test_names_that_no_pool_may_have_are_made_legal_and_nodes_to_be_replaced_are_said(chosen):
    (option,) = chosen(gpus=2, servers=[DESK], clouds=("own",))
    read, comments = as_read(option, "onprem", [DESK], CLUSTER)
    assert read["pools"]["ben-s-desk"] == {
        "gpu": "TITAN-V", "gpus": 2, "nodes": ["ben-s-desk-1"], "place": "office-3"
    }  # fmt: skip
    assert comments[2] == "# Replace the names of nodes of ben-s-desk by what `kubectl get nodes` prints."
    assert "usd_per_gpu_hour" not in read
    assert option_findings(option, config_of(option, "onprem", False, [DESK])) == []


def test_hybrid_has_the_rented_pool_and_all_own_servers(chosen):
    option = named(chosen(gpus=16, regions=("us-east-1",), servers=[LAB, DESK]), "p5.48xlarge")
    network = {"gpufleet:network": {"zones": ["use1-az1", "use1-az2"]}}
    read, comments = as_read(option, "hybrid", [LAB, DESK], REST | network)
    assert (read["cloud"], read["region"], [*read["pools"]]) == ("aws", "us-east-1", ["trainers"])
    assert {name: pool["nodes"] for name, pool in read["own_servers"]["pools"].items()} == {
        "lab": ["gpu-1", "gpu-2"],
        "ben-s-desk": ["ben-s-desk-1"],
    }
    assert comments[-1] == "# gpufleet:own_servers needs networks, nfs, nodeadm and cilium.bgp too: docs/hybrid.md."
    with pytest.raises(UserError, match=r"^p5.48xlarge: stack=hybrid: has own servers too; list them with --servers"):
        config_of(option, "hybrid", False)


def test_own_servers_alone_are_a_pool_of_a_hybrid_environment(chosen):
    (option,) = chosen(servers=[LAB], clouds=("own",))
    network = {"aws:region": "us-east-1", "gpufleet:network": {"zones": ["use1-az1", "use1-az2"]}}
    read, _ = as_read(option, "hybrid", [LAB, DESK], REST | network)
    assert ([*read["own_servers"]["pools"]], read["pools"]) == (["lab"], {})


def test_a_group_that_is_called_like_the_rented_pool_is_said(chosen):
    option = named(chosen(gpus=16, regions=("us-east-1",)), "p5.48xlarge")
    found = option_findings(option, config_of(option, "hybrid", False, [replace(LAB, name="trainers")]))
    assert [each.rule for each in found if each.rejects] == ["any-pool-name-once"]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"gpu_model": "v100"}, "any-node-gpu"),
        ({"nodes": ("GPU 1",)}, "any-node-name"),
        ({"place": "any"}, "any-node-place"),
    ],
)
@pytest.mark.parametrize("stack", ["onprem", "hybrid"])
def test_rules_judge_own_servers(chosen, change, rule, stack):
    bad = replace(LAB, count=2, **change)
    (option,) = chosen(servers=[bad], clouds=("own",))
    found = option_findings(option, config_of(option, stack, False, [bad]))
    assert [each.rule for each in found if each.rejects] == [rule]
