"""GpuNodeGroup with things of one's own, options of its children, outputs, and the autoscaler's tags."""

from typing import cast

import pulumi

from gpufleet.aws.gpu_node_group import GpuNodeGroup, GpuNodeGroupArgs
from gpufleet.aws.user_data import Join, amazon_linux
from tests.components.gpu_pools import (
    ASG_TAG,
    BASE,
    NODES,
    ROLE,
    TEMPLATE,
    build,
    expected_nodes,
    expected_template,
    known,
    labels,
    named,
    nodes,
    template,
)
from tests.components.recorder import construct, refusal


def test_own_image_key_pair_disk_key_and_groups(preview: bool) -> None:
    recording = build(
        preview,
        image="ami-0123456789abcdef0",
        key_pair="mine",
        disk_gib=200,
        kms_key_arn="arn:aws:kms:us-east-1:000000000000:key/k",
        security_group_ids=["sg-extra"],
        cluster_endpoint="https://api.invalid",
        cluster_certificate_authority="Y2VydA==",
        service_cidr="172.20.0.0/16",
        labels={"team": "vision"},
        taints=[{"key": "team", "value": "vision", "effect": "NO_EXECUTE"}],
    )
    all_labels = {**labels(), "team": "vision"}
    join = Join(
        "fleet",
        "https://api.invalid",
        "Y2VydA==",
        "172.20.0.0/16",
        all_labels,
        {"nvidia.com/gpu": "present:NoSchedule", "team": "vision:NoExecute"},
    )
    assert template(recording) == expected_template(
        imageId="ami-0123456789abcdef0",
        keyName="mine",
        userData=amazon_linux(efa=False, join=join),
        vpcSecurityGroupIds=["sg-cluster", "sg-extra"],
        blockDeviceMappings=[
            {
                "deviceName": "/dev/xvda",
                "ebs": {
                    "volumeType": "gp3",
                    "volumeSize": 200,
                    "encrypted": "true",
                    "kmsKeyId": "arn:aws:kms:us-east-1:000000000000:key/k",
                    "deleteOnTermination": "true",
                },
            }
        ],
    )
    assert nodes(recording) == expected_nodes(
        preview,
        amiType="CUSTOM",
        labels=all_labels,
        taints=[
            {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"},
            {"key": "team", "value": "vision", "effect": "NO_EXECUTE"},
        ],
    )


def test_own_role_outlives_the_nodes(preview: bool) -> None:
    recording = build(preview, node_role_arn=None)
    policies = [
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonEKSWorkerNodePolicy",
        "AmazonEKS_CNI_Policy",
    ]
    attachments = recording.inputs("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    assert {each["policyArn"] for each in attachments.values()} == {f"arn:aws:iam::aws:policy/{p}" for p in policies}
    role = recording.one(NODES).property_dependencies["nodeRoleArn"]
    assert role == {"trainers-role", *(f"trainers-role-{each}" for each in policies)}
    arn = known(preview, "arn:aws:mock::000000000000:trainers-role")
    assert nodes(recording) == expected_nodes(preview, nodeRoleArn=arn)


def test_autoscaler_is_told_nothing_of_a_plain_pool(preview: bool) -> None:
    recording = build(preview)
    assert nodes(recording)["tags"] == named("trainers-nodes")
    assert recording.names(ASG_TAG) == []


def test_autoscaler_is_told_of_efa_and_huge_pages_by_the_node_group(preview: bool) -> None:
    recording = build(preview, network="efa")
    assert nodes(recording)["tags"] == {
        **named("trainers-nodes"),
        "k8s.io/cluster-autoscaler/node-template/resources/vpc.amazonaws.com/efa": "4",
        "k8s.io/cluster-autoscaler/node-template/resources/hugepages-2Mi": "10256Mi",
    }
    assert recording.names(ASG_TAG) == []


def test_autoscaler_is_told_of_taints_without_a_value_by_the_auto_scaling_group(preview: bool) -> None:
    taints = [
        {"key": "nvidia.com/gpu", "effect": "NO_SCHEDULE"},
        {"key": "team", "value": "vision", "effect": "NO_SCHEDULE"},
    ]
    assert build(preview, taints=taints).inputs(ASG_TAG) == {
        "trainers-taint/nvidia.com/gpu": {
            "autoscalingGroupName": known(preview, "trainers-nodes-asg"),
            "tag": {
                "key": "k8s.io/cluster-autoscaler/node-template/taint/nvidia.com/gpu",
                "value": ":NoSchedule",
                "propagateAtLaunch": False,
            },
        }
    }


def test_all_resources_of_a_pool(preview: bool) -> None:
    """Ten tags of the Auto Scaling group, eleven with EFA, told labels, taints and GPUs before EKS did."""
    plain = ["trainers", "trainers-nodes", "trainers-template"]
    assert sorted(each.name for each in build(preview).resources) == plain
    fabric = ["trainers-efa", "trainers-efa-from-self", "trainers-efa-to-all", "trainers-efa-to-self"]
    assert sorted(each.name for each in build(preview, network="efa").resources) == sorted([*plain, *fabric])


def test_options_of_children(preview: bool) -> None:
    recording = build(preview, network="efa", placement="create", node_role_arn=None)
    group = recording.one(NODES)
    assert group.ignore_changes == ("scalingConfig.desiredSize",)
    assert group.delete_before_replace is True
    for each in recording.resources:
        assert each.name.startswith("trainers")
        assert each.parent == ("trainers" if each.custom else "project-stack")
        assert each.depends_on == frozenset(), f"{each.name} waits for more than its inputs"
        assert not each.protect
    assert recording.one("gpufleet-aws:index:GpuNodeGroup").inputs == {}


def test_template_waits_for_nothing_but_its_groups() -> None:
    recording = build(True, network="efa", placement="create")
    assert recording.one(TEMPLATE).property_dependencies == {
        "networkInterfaces": frozenset({"trainers-efa"}),
        "placement": frozenset({"trainers-placement"}),
    }
    assert recording.one(NODES).property_dependencies == {"launchTemplate": frozenset({"trainers-template"})}


def test_inputs_from_other_resources_may_be_outputs(preview: bool) -> None:
    args = {
        **BASE,
        "cluster_name": pulumi.Output.from_input("fleet"),
        "subnet_ids": {"use1-az1": pulumi.Output.from_input("subnet-1")},
        "cluster_security_group_id": pulumi.Output.from_input("sg-cluster"),
    }
    recording = construct(lambda: GpuNodeGroup("trainers", cast(GpuNodeGroupArgs, args)), preview)
    assert nodes(recording) == expected_nodes(preview)
    assert template(recording) == expected_template()


def test_two_pools_share_nothing(preview: bool) -> None:
    def both() -> None:
        for name in ("a", "b"):
            GpuNodeGroup(name, cast(GpuNodeGroupArgs, {**BASE, "network": "efa", "placement": "create"}))

    recording = construct(both, preview)
    for each in recording.resources:
        used = frozenset[str]().union(*each.property_dependencies.values())
        assert {other[0] for other in used} <= {each.name[0]}


def test_outputs(preview: bool) -> None:
    assert build(preview, network="efa", placement="create").outputs["trainers"] == {
        "node_group_name": known(preview, "trainers-nodes-1234567"),
        "node_group_arn": known(preview, "arn:aws:mock::000000000000:trainers-nodes"),
        "autoscaling_group_name": known(preview, "trainers-nodes-asg"),
        "node_role_arn": ROLE,
        "launch_template_id": known(preview, "trainers-template-id"),
        "placement_group_name": known(preview, "trainers-placement"),
        "efa_security_group_id": known(preview, "trainers-efa-id"),
        "labels": labels(network="efa", placement="create"),
    }


def test_outputs_of_a_plain_pool(preview: bool) -> None:
    outputs = build(preview).outputs["trainers"]
    assert outputs.keys().isdisjoint({"placement_group_name", "efa_security_group_id"})


def test_nights_and_weekends_are_actions_of_the_group(preview: bool) -> None:
    evenings = {"at": "20:00", "days": ["fri", "mon"], "time_zone": "Europe/Berlin", "max": 0}
    recording = build(preview, min=1, schedule=[evenings, {"at": "07:30", "days": ["mon"]}, {"at": "12:00", "min": 2}])
    everyone = {"autoscalingGroupName": known(preview, "trainers-nodes-asg"), "desiredCapacity": -1}
    names = ["20-00-on-1-5-europe-berlin", "07-30-on-1-utc", "12-00-on-all-utc"]
    assert recording.inputs("aws:autoscaling/schedule:Schedule") == {
        f"trainers-{name}": {**everyone, "scheduledActionName": name, **own}
        for name, own in zip(
            names,
            [
                {"recurrence": "0 20 * * 1,5", "timeZone": "Europe/Berlin", "minSize": 0, "maxSize": 0},
                {"recurrence": "30 7 * * 1", "timeZone": "UTC", "minSize": 1, "maxSize": 4},
                {"recurrence": "0 12 * * *", "timeZone": "UTC", "minSize": 2, "maxSize": 4},
            ],
            strict=True,
        )
    }
    # The group itself is what it is without.
    assert nodes(recording) == expected_nodes(preview, scalingConfig={"minSize": 1, "desiredSize": 1, "maxSize": 4})


def test_schedule_that_makes_no_sense_is_refused(preview: bool) -> None:
    args = {**BASE, "schedule": [{"at": "8 pm", "max": 5}]}
    assert refusal(lambda: GpuNodeGroup("trainers", cast(GpuNodeGroupArgs, args)), preview) == [
        'trainers: schedule[0].at=8 pm: is not a time of day; write hours and minutes in quotes, like "07:30" '
        "[any-hours-time]",
        "trainers: schedule[0]=0 to 5: is above the pool's max=4; use 4 or fewer [any-hours-sizes]",
    ]
