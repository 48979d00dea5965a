"""Rules on what a node needs to start from a customer's own image."""

from collections.abc import Mapping

from gpufleet.rules.coerce import text
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

JOIN_ARGUMENTS = ("cluster_endpoint", "cluster_certificate_authority", "service_cidr")


@rule("aws-node-image-can-join", Severity.ERROR)
def image_can_join(*, image: str, argument: str, given: bool) -> Outcome:
    """A custom image is given with the cluster's endpoint, certificate and service range.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html: EKS merges no user data into a
    template that names an image.
    """
    if given or not image.startswith("ami-"):
        return passed()
    fix = "give it (an output of the cluster), or set image=al2023"
    return failed(argument, None, f"image={image} is not EKS's, so its nodes need this to join", fix)


def validate_node_image(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a node group's own image. Reads image and the arguments of `JOIN_ARGUMENTS`."""
    image = text(args, "image", "al2023")
    return [
        image_can_join(image=image, argument=argument, given=args.get(argument) is not None)
        for argument in JOIN_ARGUMENTS
    ]
