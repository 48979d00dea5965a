"""An example of everything that the real cloud's inventory reads, and an account that holds it."""

from gpufleet.aws.inventory import AwsInventory

REGION = "us-east-1"
HERE = "arn:aws:{service}:us-east-1:123456789012:{rest}"
TAGS = [{"Key": "environment", "Value": "dev"}, {"Key": "Name", "Value": "thing"}]


def arn(service, rest):
    return HERE.format(service=service, rest=rest)


def tagged(*arns, tags=TAGS):
    return {"ResourceTagMappingList": [{"ResourceARN": each, "Tags": tags} for each in arns]}


OWNER = {"environment": "dev", "Name": "thing"}


def look(environment="dev"):
    return AwsInventory(REGION).holds(environment)


KEY = "1234abcd-12ab-34cd-56ef-1234567890ab"
SSO = "arn:aws:iam::123456789012:role/aws-reserved/sso.amazonaws.com/us-east-1/AWSReservedSSO_Admin_0a1b"
ENTRY = arn("eks", "access-entry/dev/role/123456789012/AWSReservedSSO_Admin_0a1b/98c8a7f4-1111-2222-3333-444455556666")
ROWS = [
    (
        "aws:budgets/budget:Budget",
        "arn:aws:budgets::123456789012:budget/dev-budget-budget-1a2b3c4",
        "123456789012:dev-budget-budget-1a2b3c4",
        "123456789012:dev-budget-budget-1a2b3c4",
    ),
    ("aws:ec2/vpc:Vpc", arn("ec2", "vpc/vpc-0a1b"), "vpc-0a1b", "vpc-0a1b"),
    ("aws:ec2/subnet:Subnet", arn("ec2", "subnet/subnet-0a1b"), "subnet-0a1b", "subnet-0a1b"),
    ("aws:ec2/internetGateway:InternetGateway", arn("ec2", "internet-gateway/igw-0a1b"), "igw-0a1b", "igw-0a1b"),
    ("aws:ec2/eip:Eip", arn("ec2", "elastic-ip/eipalloc-0a1b"), "eipalloc-0a1b", "eipalloc-0a1b"),
    ("aws:ec2/natGateway:NatGateway", arn("ec2", "natgateway/nat-0a1b"), "nat-0a1b", "nat-0a1b"),
    ("aws:ec2/routeTable:RouteTable", arn("ec2", "route-table/rtb-0a1b"), "rtb-0a1b", "rtb-0a1b"),
    ("aws:ec2/vpcEndpoint:VpcEndpoint", arn("ec2", "vpc-endpoint/vpce-0a1b"), "vpce-0a1b", "vpce-0a1b"),
    ("aws:ec2/flowLog:FlowLog", arn("ec2", "vpc-flow-log/fl-0a1b"), "fl-0a1b", "fl-0a1b"),
    ("aws:ec2/securityGroup:SecurityGroup", arn("ec2", "security-group/sg-0a1b"), "sg-0a1b", "sg-0a1b"),
    (
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        arn("ec2", "security-group-rule/sgr-0in"),
        "sgr-0in",
        "sgr-0in",
    ),
    (
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
        arn("ec2", "security-group-rule/sgr-0out"),
        "sgr-0out",
        "sgr-0out",
    ),
    ("aws:ec2/launchTemplate:LaunchTemplate", arn("ec2", "launch-template/lt-0a1b"), "lt-0a1b", "lt-0a1b"),
    ("aws:ec2/placementGroup:PlacementGroup", arn("ec2", "placement-group/dev-train"), "dev-train", "dev-train"),
    (
        "aws:ec2/capacityReservation:CapacityReservation",
        arn("ec2", "capacity-reservation/cr-0a1b"),
        "cr-0a1b",
        "cr-0a1b",
    ),
    ("aws:ec2/instance:Instance", arn("ec2", "instance/i-0a1b"), "i-0a1b", "i-0a1b"),
    ("aws:ebs/volume:Volume", arn("ec2", "volume/vol-0a1b"), "vol-0a1b", "vol-0a1b"),
    ("aws:ec2/networkInterface:NetworkInterface", arn("ec2", "network-interface/eni-0a1b"), "eni-0a1b", "eni-0a1b"),
    ("aws:ec2/vpnGateway:VpnGateway", arn("ec2", "vpn-gateway/vgw-0a1b"), "vgw-0a1b", "vgw-0a1b"),
    ("aws:ec2/customerGateway:CustomerGateway", arn("ec2", "customer-gateway/cgw-0a1b"), "cgw-0a1b", "cgw-0a1b"),
    ("aws:ec2/vpnConnection:VpnConnection", arn("ec2", "vpn-connection/vpn-0a1b"), "vpn-0a1b", "vpn-0a1b"),
    *(
        (f"aws:datasync/{kind}Location:{kind.capitalize()}Location", *[arn("datasync", f"location/loc-{kind}")] * 3)
        for kind in ("nfs", "efs", "s3")
    ),
    ("aws:datasync/task:Task", *[arn("datasync", "task/task-0a1b")] * 3),
    (
        "aws:batch/computeEnvironment:ComputeEnvironment",
        arn("batch", "compute-environment/dev-spot-1a2b"),
        "dev-spot-1a2b",
        "dev-spot-1a2b",
    ),
    ("aws:batch/jobQueue:JobQueue", *[arn("batch", "job-queue/dev-queue-1a2b")] * 3),
    ("aws:batch/jobDefinition:JobDefinition", *[arn("batch", "job-definition/dev-job-1a2b:3")] * 3),
    ("aws:batch/schedulingPolicy:SchedulingPolicy", *[arn("batch", "scheduling-policy/dev-shares-1a2b")] * 3),
    ("aws:eks/cluster:Cluster", arn("eks", "cluster/dev"), "dev", "dev"),
    (
        "aws:eks/nodeGroup:NodeGroup",
        arn("eks", "nodegroup/dev/train-1a2b/0a1b-2c3d"),
        "dev:train-1a2b",
        "dev:train-1a2b",
    ),
    ("aws:eks/addon:Addon", arn("eks", "addon/dev/vpc-cni/0a1b-2c3d"), "dev:vpc-cni", "dev:vpc-cni"),
    ("aws:eks/accessEntry:AccessEntry", ENTRY, f"dev:{SSO}", f"dev:{SSO}"),
    (
        "aws:eks/podIdentityAssociation:PodIdentityAssociation",
        arn("eks", "podidentityassociation/dev/a-yrpsdroc4ei7k6xps"),
        "dev,a-yrpsdroc4ei7k6xps",
        "a-yrpsdroc4ei7k6xps",
    ),
    ("aws:amp/workspace:Workspace", arn("aps", "workspace/ws-0a1b"), "ws-0a1b", "ws-0a1b"),
    ("aws:efs/fileSystem:FileSystem", arn("elasticfilesystem", "file-system/fs-0a1b"), "fs-0a1b", "fs-0a1b"),
    ("aws:fsx/lustreFileSystem:LustreFileSystem", arn("fsx", "file-system/fs-0a1b"), "fs-0a1b", "fs-0a1b"),
    (
        "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
        arn("fsx", "association/fs-0a1b/dra-0a1b"),
        "dra-0a1b",
        "dra-0a1b",
    ),
    ("aws:efs/accessPoint:AccessPoint", arn("elasticfilesystem", "access-point/fsap-0a1b"), "fsap-0a1b", "fsap-0a1b"),
    ("aws:rolesanywhere/trustAnchor:TrustAnchor", arn("rolesanywhere", f"trust-anchor/{KEY}"), KEY, KEY),
    ("aws:rolesanywhere/profile:Profile", arn("rolesanywhere", f"profile/{KEY}"), KEY, KEY),
    ("aws:ecr/repository:Repository", arn("ecr", "repository/dev/train"), "dev/train", "dev/train"),
    ("aws:kms/key:Key", arn("kms", f"key/{KEY}"), KEY, KEY),
    ("aws:cloudwatch/logGroup:LogGroup", arn("logs", "log-group:/aws/eks/dev/cluster"), *["/aws/eks/dev/cluster"] * 2),
    ("aws:s3/bucket:Bucket", "arn:aws:s3:::dev-data", "dev-data", "dev-data"),
]


def present(aws):
    """Everything of ROWS exists, and is of the kind that its row says."""
    ids = [row[3] for row in ROWS]
    rules = [
        {"SecurityGroupRuleId": "sgr-0in", "IsEgress": False},
        {"SecurityGroupRuleId": "sgr-0out", "IsEgress": True},
    ]
    instance = {"InstanceId": "i-0a1b", "State": {"Name": "running"}, "Tags": TAGS}
    aws.answers |= {
        "DescribeTags": {"Tags": [{"ResourceId": each} for each in ids]},
        "DescribeNatGateways": {"NatGateways": [{"NatGatewayId": "nat-0a1b", "State": "available"}]},
        "DescribeVpcEndpoints": {"VpcEndpoints": [{"VpcEndpointId": "vpce-0a1b", "State": "available"}]},
        "DescribeSecurityGroupRules": {"SecurityGroupRules": rules},
        "DescribePlacementGroups": {"PlacementGroups": [{"GroupName": "dev-train", "State": "available"}]},
        "DescribeCapacityReservations": {
            "CapacityReservations": [{"CapacityReservationId": "cr-0a1b", "State": "active"}]
        },
        "DescribeInstances": {"Reservations": [{"Instances": [instance]}]},
        "DescribeVolumes": {"Volumes": [{"VolumeId": "vol-0a1b"}]},
        "DescribeNetworkInterfaces": {"NetworkInterfaces": [{"NetworkInterfaceId": "eni-0a1b"}]},
        "DescribeVpnGateways": {"VpnGateways": [{"VpnGatewayId": "vgw-0a1b", "State": "available"}]},
        "DescribeCustomerGateways": {"CustomerGateways": [{"CustomerGatewayId": "cgw-0a1b", "State": "available"}]},
        "DescribeVpnConnections": {"VpnConnections": [{"VpnConnectionId": "vpn-0a1b", "State": "pending"}]},
        "ListLocations": {
            "Locations": [
                {"LocationArn": arn("datasync", f"location/loc-{kind}"), "LocationUri": f"{kind}://somewhere/data"}
                for kind in ("nfs", "efs", "s3")
            ]
        },
        "ListAccessEntries": {"accessEntries": [SSO]},
        "DescribeAccessEntry": {"accessEntry": {"accessEntryArn": ENTRY, "principalArn": SSO}},
        "DescribeKey": {"KeyMetadata": {"KeyId": KEY, "KeyState": "Enabled"}},
    }
