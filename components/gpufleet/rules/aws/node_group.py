"""Rules on an EKS node group and the launch template that it uses: what goes into which of the two."""

from collections.abc import Sequence

from gpufleet.catalog.eks_versions import minor_of
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

MULTIPART = "MIME multipart"
TOML = "TOML"
_LAST_OF_AMAZON_LINUX_2 = "1.32"
_AFTER_AMAZON_LINUX_2 = {
    "AL2_x86_64": "AL2023_x86_64_STANDARD",
    "AL2_x86_64_GPU": "AL2023_x86_64_NVIDIA",
    "AL2_ARM_64": "AL2023_ARM_64_STANDARD",
}


@rule("aws-node-group-template-only", Severity.ERROR)
def template_only(*, argument: str, given: bool, template: bool) -> Outcome:
    """Disk and SSH settings of a launch template are not set on the node group as well; `argument` is the group's.

    Source: crossplane-contrib/provider-upjet-aws#866 (InvalidParameterException: Disk size must be specified within
    the launch template); https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    """
    if not given or not template:
        return passed()
    fix = "leave it out, and put it into the launch template"
    return failed(argument, "given", "EKS rejects it together with a launch template", fix)


@rule("aws-node-group-type-once", Severity.ERROR)
def type_once(*, types: Sequence[str], template_type: str) -> Outcome:
    """Instance types are in the node group or in its launch template, not in both.

    Source: terraform-aws-modules/terraform-aws-eks#1386 (InvalidRequestException: Cannot specify instance types in
    launch template and API Request).
    """
    if not types or not template_type:
        return passed()
    problem = f"EKS rejects types beside {template_type} in the launch template"
    return failed("instance_types", list(types), problem, "leave instance_type out of the template")


@rule("aws-node-group-type-given", Severity.WARNING)
def type_given(*, types: Sequence[str], template_type: str) -> Outcome:
    """A node group or its launch template names the instance types.

    Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html: without types EKS launches
    t3.medium, which has no GPU.
    """
    if types or template_type:
        return passed()
    fix = "set instance_types to what you want"
    return failed("instance_types", None, "EKS launches t3.medium by default", fix)


@rule("aws-node-group-image-once", Severity.ERROR)
def image_once(*, ami_type: str, image_id: str) -> Outcome:
    """A node group whose launch template names an image has the image type CUSTOM.

    Source: rancher/rancher#38704 (InvalidParameterException: You cannot specify an AMI Type other than CUSTOM, when
    specifying an image id in your launch template).
    """
    if not image_id or ami_type in ("", "CUSTOM"):
        return passed()
    fix = "set ami_type=CUSTOM, or leave image_id out of the template"
    return failed("ami_type", ami_type, f"EKS rejects it beside {image_id} in the launch template", fix)


@rule("aws-node-group-image-architecture", Severity.ERROR)
def image_architecture(*, ami_type: str, type_name: str, architecture: str) -> Outcome:
    """The image type is of the processor architecture of the instance types.

    Source: ManagedKube/kubernetes-ops#231 (InvalidParameterException: is not a valid instance type for requested
    amiType).
    """
    image = "arm64" if "_ARM_64" in ami_type else "x86_64"
    if ami_type in ("", "CUSTOM") or image == architecture:
        return passed()
    problem = f"is an image for {image}, and {type_name} has {architecture}"
    return failed("ami_type", ami_type, problem, "use the image type of that architecture")


@rule("aws-node-group-image-driver", Severity.WARNING)
def image_driver(*, ami_type: str, types: Sequence[str]) -> Outcome:
    """Nodes with GPUs start from an image with NVIDIA's driver.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-optimized-ami.html; AmiType of botocore's model of
    eks.
    """
    if ami_type in ("", "CUSTOM") or ami_type.endswith("_GPU") or "NVIDIA" in ami_type or not types:
        return passed()
    legal = "AL2023_x86_64_NVIDIA, AL2023_ARM_64_NVIDIA or BOTTLEROCKET_x86_64_NVIDIA"
    return failed("ami_type", ami_type, f"has no driver for the GPUs of {join_words(types, 'and')}", f"use {legal}")


@rule("aws-node-group-image-current", Severity.WARNING)
def image_current(*, ami_type: str) -> Outcome:
    """Nodes start from an image that EKS still makes.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html: EKS published its last
    Amazon Linux 2 images on 26 November 2025.
    """
    if not ami_type.startswith("AL2_"):
        return passed()
    fix = "use AL2023_x86_64_NVIDIA or BOTTLEROCKET_x86_64_NVIDIA"
    return failed("ami_type", ami_type, "gets no images, and so no fixes, since 2025-11-26", fix)


@rule("aws-node-group-image-version", Severity.ERROR)
def image_of_version(*, ami_type: str, version: str) -> Outcome:
    """EKS has an image of this type for the nodes' version of Kubernetes; "" for a version that is not known.

    Source: scylladb/scylla-cluster-tests#12524 (InvalidParameterException: AMI Type AL2_x86_64 is only supported for
    kubernetes versions 1.32 or earlier).
    """
    successor = _AFTER_AMAZON_LINUX_2.get(ami_type)
    if successor is None or not version or minor_of(version) <= minor_of(_LAST_OF_AMAZON_LINUX_2):
        return passed()
    problem = f"EKS has Amazon Linux 2 up to Kubernetes {_LAST_OF_AMAZON_LINUX_2}, and the nodes have {version}"
    return failed("ami_type", ami_type, problem, f"use {successor}")


@rule("aws-node-group-release", Severity.ERROR)
def release_of_version(*, release: str, version: str) -> Outcome:
    """The image release is of the node group's minor version of Kubernetes; "" for a value that is not given.

    Source: hashicorp/terraform-provider-aws#14492 (InvalidParameterException: Requested Nodegroup release version is
    invalid).
    """
    if not release or not version or release == version or release.startswith(f"{version}."):
        return passed()
    fix = f"use a release of {version}, or leave release_version out for the newest"
    return failed("release_version", release, f"is not a release of Kubernetes {version}", fix)


@rule("aws-node-group-template-name", Severity.ERROR)
def template_named_once(*, has_id: bool, has_name: bool) -> Outcome:
    """A node group names its launch template by id or by name, by one of them.

    Source: aws-controllers-k8s/community#2645 (InvalidParameterException: Either provide launch template ID or launch
    template name in the request).
    """
    if not (has_id and has_name):
        return passed()
    return failed("launch_template", "id and name", "EKS allows only one of the two", "leave the name out")


@rule("aws-node-group-template-field", Severity.ERROR)
def template_field(*, field: str, instead: str) -> Outcome:
    """The launch template of a node group sets nothing that EKS decides; `field` is what it sets, "" for nothing.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html: settings that are prohibited in a
    launch template (Ec2LaunchTemplateInvalidConfiguration).
    """
    if not field:
        return passed()
    return failed("launch_template", field, "EKS rejects a launch template that sets this", instead)


@rule("aws-node-group-user-data", Severity.ERROR)
def user_data_form(*, form: str, ami_type: str) -> Outcome:
    """User data has the form that the image reads: MIME multipart for Amazon Linux, TOML for Bottlerocket.

    `form`: MIME multipart, TOML, gzip, text, or none. A custom image reads any form.
    Source: aws-ia/terraform-aws-eks-blueprints#843 (Ec2LaunchTemplateInvalidConfiguration: User data was not in the
    MIME multipart format) and terraform-aws-modules/terraform-aws-eks#1875: gzip passes until the first update.
    """
    wanted = MULTIPART if ami_type.startswith("AL2") else TOML if ami_type.startswith("BOTTLEROCKET") else ""
    if not wanted or form in ("none", wanted):
        return passed()
    problem = f"is {form}, and EKS requires {wanted} with ami_type={ami_type}"
    fix = (
        "write the parts as MIME multipart, not compressed" if wanted == MULTIPART else "write Bottlerocket's settings"
    )
    return failed("user_data", form, problem, fix)


@rule("aws-node-group-cluster-group", Severity.WARNING)
def cluster_group(*, groups: int, clusters_own: bool | None) -> Outcome:
    """Nodes with security groups of their own are in the cluster's group too; `groups` is how many they are given.

    `clusters_own`: whether the cluster's group is one of them, None where that is not known.
    Source: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html: with security groups in the launch
    template EKS does not attach the cluster's; nodes that the control plane cannot reach do not join.
    """
    if not groups or clusters_own:
        return passed()
    fix = "add the cluster's vpc_config.cluster_security_group_id"
    if clusters_own is None:
        problem = "whether the cluster's security group is among them is not known from the program"
        return unverified("security_groups", groups, problem, fix)
    problem = "none of these is the cluster's own, which EKS then does not attach"
    return failed("security_groups", groups, problem, f"{fix}, or open what nodes need")


@rule("aws-node-group-block", Severity.ERROR)
def block_in_template(*, block: bool, market: str, template_type: str) -> Outcome:
    """A node group of a capacity block has market type and instance type in its launch template.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
    """
    if not block or (market == "capacity-block" and template_type):
        return passed()
    missing = "market_type=capacity-block" if market != "capacity-block" else "the instance type"
    problem = f"EKS finds the block by its launch template, which lacks {missing}"
    return failed("capacity_type", "CAPACITY_BLOCK", problem, f"put {missing} into the template")


@rule("aws-node-group-metadata", Severity.WARNING)
def metadata_for_node_only(*, hops: int | None, tokens: str | None) -> Outcome:
    """Pods of a node group do not reach its role: the metadata service requires tokens, which end after one hop.

    hops, tokens: of the launch template, or of EKS's own; None where they are not known, as without a word: an image,
    or the account, may then set them (at an image with imds-support v2.0, two hops). EKS's own launch template has one
    hop with Amazon Linux 2023, and had two with Amazon Linux 2.
    Source: https://docs.aws.amazon.com/eks/latest/best-practices/identity-and-access-management.html (restrict access
    to the instance profile); https://docs.aws.amazon.com/eks/latest/userguide/al2023.html (default hop count);
    hashicorp/terraform-provider-aws#38516 (both defaults, seen); API_Image of EC2 (ImdsSupport)
    """
    fix = "set http_tokens=required and http_put_response_hop_limit=1 in metadata_options of the launch template"
    if tokens == "optional":
        return failed("http_tokens", tokens, "every pod can get the credentials of the node's role", fix)
    if hops is not None and hops > 1:
        return failed("http_put_response_hop_limit", hops, "every pod can get the credentials of the node's role", fix)
    if hops is None or tokens is None:
        problem = "whether pods can get the credentials of the node's role is not known from the program"
        return unverified("metadata_options", None, problem, fix)
    return passed()
