"""Names of AWS's service-linked roles, which follow from the service's name only by a list.

Source: docs.aws.amazon.com/IAM/latest/UserGuide/reference_aws-services-that-work-with-iam.html, and each service's page
on its role.
"""

ROLES = {
    "autoscaling.amazonaws.com": "AWSServiceRoleForAutoScaling",
    "batch.amazonaws.com": "AWSServiceRoleForBatch",
    "ecs.amazonaws.com": "AWSServiceRoleForECS",
    "eks-fargate.amazonaws.com": "AWSServiceRoleForAmazonEKSForFargate",
    "eks-nodegroup.amazonaws.com": "AWSServiceRoleForAmazonEKSNodegroup",
    "eks.amazonaws.com": "AWSServiceRoleForAmazonEKS",
    "elasticfilesystem.amazonaws.com": "AWSServiceRoleForAmazonElasticFileSystem",
    "elasticloadbalancing.amazonaws.com": "AWSServiceRoleForElasticLoadBalancing",
    "es.amazonaws.com": "AWSServiceRoleForAmazonElasticsearchService",
    "fsx.amazonaws.com": "AWSServiceRoleForAmazonFSx",
    "s3.data-source.lustre.fsx.amazonaws.com": "AWSServiceRoleForFSxS3Access",
    "spot.amazonaws.com": "AWSServiceRoleForEC2Spot",
    "spotfleet.amazonaws.com": "AWSServiceRoleForEC2SpotFleet",
    "transitgateway.amazonaws.com": "AWSServiceRoleForVPCTransitGateway",
}


def service_role(service: str) -> str:
    """The name of a service's role; of a service that is not listed, made of the first word of its name."""
    return ROLES.get(service, f"AWSServiceRoleFor{service.partition('.')[0].capitalize()}")
