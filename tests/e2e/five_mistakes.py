"""A program of a team that knows nothing of gpufleet, with five mistakes that AWS tells after an hour, or never."""

import pulumi_aws as aws

vpc = aws.ec2.Vpc("net", cidr_block="10.0.0.0/16")
subnets = [
    aws.ec2.Subnet(zone, vpc_id=vpc.id, cidr_block=f"10.0.{number}.0/24", availability_zone_id=zone)
    for number, zone in enumerate(("use1-az2", "use1-az6"))
]
# 1. Nodes find no way to the control plane: the subnets have no route to anywhere.

nodes = aws.ec2.SecurityGroup("nodes", vpc_id=vpc.id)
aws.vpc.SecurityGroupIngressRule(
    "from-nodes", security_group_id=nodes.id, referenced_security_group_id=nodes.id, ip_protocol="-1"
)
# 2. EFA wants egress to the group itself; to everywhere is no substitute.
aws.vpc.SecurityGroupEgressRule("to-all", security_group_id=nodes.id, cidr_ipv4="0.0.0.0/0", ip_protocol="-1")

role = aws.iam.Role(
    "node-role",
    assume_role_policy='{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", '
    '"Principal": {"Service": "ec2.amazonaws.com"}}]}',
)
group = aws.ec2.PlacementGroup("close", strategy="cluster")
template = aws.ec2.LaunchTemplate(
    "trainers",
    placement={"group_name": group.name},
    network_interfaces=[
        {
            "device_index": min(card, 1),
            "network_card_index": card,
            "interface_type": kind,
            "security_groups": [nodes.id],
        }
        for card, kind in enumerate(["efa", *["efa-only"] * 31])
    ],
)
# 3. Two zones for one placement group. 4. 64 nodes of 8 GPUs, which nobody has approved.
aws.eks.NodeGroup(
    "trainers",
    cluster_name="shared",
    node_role_arn=role.arn,
    subnet_ids=[subnet.id for subnet in subnets],
    ami_type="AL2023_x86_64_NVIDIA",
    instance_types=["p5.48xlarge"],
    launch_template={"id": template.id, "version": "1"},
    scaling_config={"min_size": 0, "desired_size": 0, "max_size": 64},
)
# 5. NFS is closed: nothing lets the nodes reach the mount targets.
files = aws.efs.FileSystem("files", encrypted=True)
closed = aws.ec2.SecurityGroup("nfs", vpc_id=vpc.id)
for subnet, zone in zip(subnets, ("use1-az2", "use1-az6"), strict=True):
    aws.efs.MountTarget(zone, file_system_id=files.id, subnet_id=subnet.id, security_groups=[closed.id])
