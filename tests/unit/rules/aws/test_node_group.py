"""Cases of gpufleet.rules.aws.node_group."""

from gpufleet.rules.aws.node_group import (
    block_in_template,
    cluster_group,
    image_architecture,
    image_current,
    image_driver,
    image_of_version,
    image_once,
    metadata_for_node_only,
    release_of_version,
    template_field,
    template_named_once,
    template_only,
    type_given,
    type_once,
    user_data_form,
)

METADATA_FIX = (
    "set http_tokens=required and http_put_response_hop_limit=1 in metadata_options of the launch template "
    "[aws-node-group-metadata]"
)
ROLE_IN_REACH = f"every pod can get the credentials of the node's role; {METADATA_FIX}"
ROLE_UNCLEAR = (
    "trainers: metadata_options=null: not verified: whether pods can get the credentials of the node's role is not "
    f"known from the program; {METADATA_FIX}"
)

CASES = {
    template_only: [
        (
            "template",
            {"argument": "disk_size", "given": True, "template": True},
            "fail",
            (
                "trainers: disk_size=given: EKS rejects it together with a launch template; leave it out, and "
                "put it into the launch template [aws-node-group-template-only]"
            ),
        ),
        ("alone", {"argument": "disk_size", "given": True, "template": False}, "pass", ""),
        (
            "ssh",
            {"argument": "remote_access", "given": True, "template": True},
            "fail",
            (
                "trainers: remote_access=given: EKS rejects it together with a launch template; leave it out, "
                "and put it into the launch template [aws-node-group-template-only]"
            ),
        ),
        ("neither", {"argument": "disk_size", "given": False, "template": True}, "pass", ""),
    ],
    type_once: [
        ("group", {"types": ("g5.xlarge",), "template_type": ""}, "pass", ""),
        ("template", {"types": (), "template_type": "g5.xlarge"}, "pass", ""),
        (
            "both",
            {"types": ("g5.xlarge",), "template_type": "g5.xlarge"},
            "fail",
            (
                "trainers: instance_types=[g5.xlarge]: EKS rejects types beside g5.xlarge in the launch "
                "template; leave instance_type out of the template [aws-node-group-type-once]"
            ),
        ),
    ],
    type_given: [
        ("group", {"types": ("g5.xlarge",), "template_type": ""}, "pass", ""),
        ("template", {"types": (), "template_type": "g5.xlarge"}, "pass", ""),
        (
            "neither",
            {"types": (), "template_type": ""},
            "fail",
            (
                "trainers: instance_types=null: EKS launches t3.medium by default; set instance_types"
                " to what you want [aws-node-group-type-given]"
            ),
        ),
    ],
    image_once: [
        ("custom", {"ami_type": "CUSTOM", "image_id": "ami-0123456789abcdef0"}, "pass", ""),
        ("unsaid", {"ami_type": "", "image_id": "ami-0123456789abcdef0"}, "pass", ""),
        (
            "both",
            {"ami_type": "AL2023_x86_64_NVIDIA", "image_id": "ami-0123456789abcdef0"},
            "fail",
            (
                "trainers: ami_type=AL2023_x86_64_NVIDIA: EKS rejects it beside ami-0123456789abcdef0 in the "
                "launch template; set ami_type=CUSTOM, or leave image_id out of the template "
                "[aws-node-group-image-once]"
            ),
        ),
        ("no-image", {"ami_type": "AL2023_x86_64_NVIDIA", "image_id": ""}, "pass", ""),
    ],
    image_architecture: [
        ("same", {"ami_type": "AL2023_x86_64_NVIDIA", "type_name": "g5.xlarge", "architecture": "x86_64"}, "pass", ""),
        (
            "arm",
            {"ami_type": "BOTTLEROCKET_ARM_64_NVIDIA", "type_name": "g5g.xlarge", "architecture": "arm64"},
            "pass",
            "",
        ),
        (
            "other",
            {"ami_type": "AL2023_ARM_64_NVIDIA", "type_name": "g5.xlarge", "architecture": "x86_64"},
            "fail",
            (
                "trainers: ami_type=AL2023_ARM_64_NVIDIA: is an image for arm64, and g5.xlarge has x86_64; use "
                "the image type of that architecture [aws-node-group-image-architecture]"
            ),
        ),
        (
            "other-way",
            {"ami_type": "AL2_x86_64_GPU", "type_name": "g5g.xlarge", "architecture": "arm64"},
            "fail",
            (
                "trainers: ami_type=AL2_x86_64_GPU: is an image for x86_64, and g5g.xlarge has arm64; use the "
                "image type of that architecture [aws-node-group-image-architecture]"
            ),
        ),
        ("custom", {"ami_type": "CUSTOM", "type_name": "g5g.xlarge", "architecture": "arm64"}, "pass", ""),
        ("unsaid", {"ami_type": "", "type_name": "g5g.xlarge", "architecture": "arm64"}, "pass", ""),
    ],
    image_driver: [
        ("nvidia", {"ami_type": "BOTTLEROCKET_x86_64_NVIDIA_FIPS", "types": ("g5.xlarge",)}, "pass", ""),
        ("old", {"ami_type": "AL2_x86_64_GPU", "types": ("g5.xlarge",)}, "pass", ""),
        (
            "standard",
            {"ami_type": "AL2023_x86_64_STANDARD", "types": ("g5.xlarge", "g5.2xlarge")},
            "fail",
            (
                "trainers: ami_type=AL2023_x86_64_STANDARD: has no driver for the GPUs of g5.xlarge and "
                "g5.2xlarge; use AL2023_x86_64_NVIDIA, AL2023_ARM_64_NVIDIA or BOTTLEROCKET_x86_64_NVIDIA "
                "[aws-node-group-image-driver]"
            ),
        ),
        ("no-gpu", {"ami_type": "AL2023_x86_64_STANDARD", "types": ()}, "pass", ""),
        ("custom", {"ami_type": "CUSTOM", "types": ("g5.xlarge",)}, "pass", ""),
    ],
    image_current: [
        ("al2023", {"ami_type": "AL2023_x86_64_NVIDIA"}, "pass", ""),
        (
            "al2",
            {"ami_type": "AL2_x86_64_GPU"},
            "fail",
            (
                "trainers: ami_type=AL2_x86_64_GPU: gets no images, and so no fixes, since 2025-11-26; use "
                "AL2023_x86_64_NVIDIA or BOTTLEROCKET_x86_64_NVIDIA [aws-node-group-image-current]"
            ),
        ),
        ("unsaid", {"ami_type": ""}, "pass", ""),
    ],
    image_of_version: [
        ("last", {"ami_type": "AL2_x86_64_GPU", "version": "1.32"}, "pass", ""),
        (
            "first-without",
            {"ami_type": "AL2_x86_64_GPU", "version": "1.33"},
            "fail",
            (
                "trainers: ami_type=AL2_x86_64_GPU: EKS has Amazon Linux 2 up to Kubernetes 1.32, and the nodes have "
                "1.33; use AL2023_x86_64_NVIDIA [aws-node-group-image-version]"
            ),
        ),
        (
            "arm",
            {"ami_type": "AL2_ARM_64", "version": "1.35"},
            "fail",
            (
                "trainers: ami_type=AL2_ARM_64: EKS has Amazon Linux 2 up to Kubernetes 1.32, and the nodes have "
                "1.35; use AL2023_ARM_64_STANDARD [aws-node-group-image-version]"
            ),
        ),
        ("unsaid", {"ami_type": "AL2_x86_64", "version": ""}, "pass", ""),
        ("al2023", {"ami_type": "AL2023_x86_64_NVIDIA", "version": "1.35"}, "pass", ""),
    ],
    release_of_version: [
        ("same", {"release": "1.34.1-20251103", "version": "1.34"}, "pass", ""),
        (
            "other",
            {"release": "1.33.5-20251103", "version": "1.34"},
            "fail",
            (
                "trainers: release_version=1.33.5-20251103: is not a release of Kubernetes 1.34; use a release of "
                "1.34, or leave release_version out for the newest [aws-node-group-release]"
            ),
        ),
        (
            "longer",
            {"release": "1.30.1-20251103", "version": "1.3"},
            "fail",
            (
                "trainers: release_version=1.30.1-20251103: is not a release of Kubernetes 1.3; use a release of "
                "1.3, or leave release_version out for the newest [aws-node-group-release]"
            ),
        ),
        ("unsaid", {"release": "", "version": "1.34"}, "pass", ""),
        ("no-version", {"release": "1.34.1-20251103", "version": ""}, "pass", ""),
    ],
    template_named_once: [
        ("id", {"has_id": True, "has_name": False}, "pass", ""),
        ("name", {"has_id": False, "has_name": True}, "pass", ""),
        (
            "both",
            {"has_id": True, "has_name": True},
            "fail",
            (
                "trainers: launch_template=id and name: EKS allows only one of the two; leave the name out "
                "[aws-node-group-template-name]"
            ),
        ),
    ],
    template_field: [
        ("nothing", {"field": "", "instead": "leave it out"}, "pass", ""),
        (
            "subnet",
            {"field": "networkInterfaces.subnetId", "instead": "leave the subnet out: the node group has subnet_ids"},
            "fail",
            (
                "trainers: launch_template=networkInterfaces.subnetId: EKS rejects a launch template that sets "
                "this; leave the subnet out: the node group has subnet_ids [aws-node-group-template-field]"
            ),
        ),
    ],
    user_data_form: [
        ("mime", {"form": "MIME multipart", "ami_type": "AL2023_x86_64_NVIDIA"}, "pass", ""),
        (
            "text",
            {"form": "text", "ami_type": "AL2_x86_64_GPU"},
            "fail",
            (
                "trainers: user_data=text: is text, and EKS requires MIME multipart with ami_type=AL2_x86_64_GPU; "
                "write the parts as MIME multipart, not compressed [aws-node-group-user-data]"
            ),
        ),
        (
            "gzip",
            {"form": "gzip", "ami_type": "AL2023_x86_64_NVIDIA"},
            "fail",
            (
                "trainers: user_data=gzip: is gzip, and EKS requires MIME multipart with "
                "ami_type=AL2023_x86_64_NVIDIA; write the parts as MIME multipart, not compressed "
                "[aws-node-group-user-data]"
            ),
        ),
        ("toml", {"form": "TOML", "ami_type": "BOTTLEROCKET_x86_64_NVIDIA"}, "pass", ""),
        (
            "mime-for-bottlerocket",
            {"form": "MIME multipart", "ami_type": "BOTTLEROCKET_x86_64_NVIDIA"},
            "fail",
            (
                "trainers: user_data=MIME multipart: is MIME multipart, and EKS requires TOML with "
                "ami_type=BOTTLEROCKET_x86_64_NVIDIA; write Bottlerocket's settings [aws-node-group-user-data]"
            ),
        ),
        ("custom", {"form": "text", "ami_type": "CUSTOM"}, "pass", ""),
        ("none", {"form": "none", "ami_type": "AL2023_x86_64_NVIDIA"}, "pass", ""),
    ],
    cluster_group: [
        ("none-given", {"groups": 0, "clusters_own": None}, "pass", ""),
        ("with", {"groups": 2, "clusters_own": True}, "pass", ""),
        (
            "without",
            {"groups": 1, "clusters_own": False},
            "fail",
            (
                "trainers: security_groups=1: none of these is the cluster's own, which EKS then does not "
                "attach; add the cluster's vpc_config.cluster_security_group_id, or open what nodes need "
                "[aws-node-group-cluster-group]"
            ),
        ),
        (
            "unclear",
            {"groups": 1, "clusters_own": None},
            "unverified",
            (
                "trainers: security_groups=1: not verified: whether the cluster's security group is among them "
                "is not known from the program; add the cluster's vpc_config.cluster_security_group_id "
                "[aws-node-group-cluster-group]"
            ),
        ),
    ],
    block_in_template: [
        ("whole", {"block": True, "market": "capacity-block", "template_type": "p5.48xlarge"}, "pass", ""),
        (
            "no-market",
            {"block": True, "market": "", "template_type": "p5.48xlarge"},
            "fail",
            (
                "trainers: capacity_type=CAPACITY_BLOCK: EKS finds the block by its launch template, which lacks"
                " market_type=capacity-block; put market_type=capacity-block into the template "
                "[aws-node-group-block]"
            ),
        ),
        (
            "no-type",
            {"block": True, "market": "capacity-block", "template_type": ""},
            "fail",
            (
                "trainers: capacity_type=CAPACITY_BLOCK: EKS finds the block by its launch template, which lacks"
                " the instance type; put the instance type into the template [aws-node-group-block]"
            ),
        ),
        ("on-demand", {"block": False, "market": "", "template_type": ""}, "pass", ""),
    ],
    metadata_for_node_only: [
        ("node-only", {"hops": 1, "tokens": "required"}, "pass", ""),
        (
            "two-hops",
            {"hops": 2, "tokens": "required"},
            "fail",
            f"trainers: http_put_response_hop_limit=2: {ROLE_IN_REACH}",
        ),
        (
            "without-tokens",
            {"hops": 1, "tokens": "optional"},
            "fail",
            f"trainers: http_tokens=optional: {ROLE_IN_REACH}",
        ),
        (
            "two-hops-and-unknown",
            {"hops": 2, "tokens": None},
            "fail",
            f"trainers: http_put_response_hop_limit=2: {ROLE_IN_REACH}",
        ),
        (
            "without-tokens-and-unknown",
            {"hops": None, "tokens": "optional"},
            "fail",
            f"trainers: http_tokens=optional: {ROLE_IN_REACH}",
        ),
        ("no-word-on-hops", {"hops": None, "tokens": "required"}, "unverified", ROLE_UNCLEAR),
        ("no-word-on-tokens", {"hops": 1, "tokens": None}, "unverified", ROLE_UNCLEAR),
    ],
}


def test_case(case):
    case.check()
