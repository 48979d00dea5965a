"""Buckets of a plan with a key of the customer's own, and the roles that write to them."""

from gpufleet.plan import Plan, Resource
from gpufleet.plan.aws.role_rights import ROLE, allows, granted
from gpufleet.plan.property_values import get_path, value_of
from gpufleet.rules.aws.outputs_bucket import KEY_ACTIONS, key_usable
from gpufleet.rules.resource_finding import ResourceFinding, findings_on

BUCKET = "aws:s3/bucket:Bucket"
ENCRYPTION = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"


def validate_bucket_keys(plan: Plan) -> list[ResourceFinding]:
    """Every finding on roles that may write to an encrypted bucket: whether they may use its key."""
    found: list[ResourceFinding] = []
    for encryption in plan.of_type(ENCRYPTION):
        default = get_path(value_of(encryption, "rules"), "applyServerSideEncryptionByDefault")
        bucket, key = _bucket_name(plan, encryption), get_path(default, "kmsMasterKeyId")
        # An alias does not say which key it is.
        if bucket is None or not isinstance(key, str) or ":key/" not in key:
            continue
        for role in plan.of_type(ROLE):
            if not any(pattern.startswith(f"{bucket}/") for pattern in granted(plan, role, "s3:PutObject")):
                continue
            rights = {action: allows(plan, role, action, key.split(":", 5)[-1]) for action in KEY_ACTIONS}
            if None not in rights.values():
                missing = [action for action, allowed in rights.items() if not allowed]
                found += findings_on(role, [key_usable(bucket=bucket, missing=missing)])
    return found


def _bucket_name(plan: Plan, encryption: Resource) -> str | None:
    """The name of the bucket that is encrypted, if the program says it."""
    buckets = plan.behind(encryption, "bucket", BUCKET)
    name = value_of(buckets[0], "bucket") if len(buckets) == 1 else value_of(encryption, "bucket")
    return name if isinstance(name, str) else None
