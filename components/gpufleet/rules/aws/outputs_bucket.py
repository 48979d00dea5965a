"""Rules on a bucket for the outputs of jobs, and their validation."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.generic import at_least
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.rules.tags import validate_tags

_PREFIX = re.compile(r"[a-z0-9][a-z0-9-]{0,36}")
_TAKEN = ("xn--", "sthree-", "amzn-s3-demo-")
KEY_ACTIONS = ("kms:GenerateDataKey", "kms:Decrypt")
"""What reading and writing objects takes of their key."""


@rule("aws-outputs-prefix", Severity.ERROR)
def bucket_prefix(*, prefix: str) -> Outcome:
    """A bucket name prefix leaves room for the unique suffix, and is valid in a host name.

    Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html; the provider adds 26
    characters to at most 63. With dots TLS fails, as the wildcard of S3's certificate covers one label.
    """
    if _PREFIX.fullmatch(prefix) and not prefix.startswith(_TAKEN):
        return passed()
    fix = "use 1 to 37 lower-case letters, digits and -, such as vision-outputs-"
    return failed("bucket_prefix", prefix, "is not a valid bucket name prefix", fix)


@rule("aws-outputs-expiry", Severity.INFO)
def outputs_expire(*, days: int | None) -> Outcome:
    """Outputs expire, or are kept on purpose; `days` is None where it is not given.

    Source: https://aws.amazon.com/s3/pricing: storage is billed as long as it is used.
    """
    if days is not None:
        return passed()
    return failed("expire_days", None, "outputs stay, and are paid for, until somebody deletes them", "set days, or 0")


@rule("aws-outputs-key", Severity.WARNING)
def key_usable(*, bucket: str, missing: Sequence[str]) -> Outcome:
    """A role that writes to a bucket with a key of the customer's own may use that key; missing: the actions it lacks.

    Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html: an upload needs
    kms:GenerateDataKey, one in parts and each download kms:Decrypt. The key's own policy may grant them, too.
    """
    if not missing:
        return passed()
    problem = f"writes to {bucket}, whose key it may not use: it lacks {join_words(missing, 'and')}"
    fix = "allow that on the key (TrainingJob: bucket=outputs.for_jobs([...])), or in the key's policy"
    return failed("policy", bucket, problem, fix)


def validate_outputs_bucket(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a bucket for outputs, passes included. Reads bucket_prefix, expire_days, tags."""
    days = args.get("expire_days")
    findings = [
        outputs_expire(days=int(days) if coerce.is_whole(days) else None),
        *validate_tags(coerce.mapping(args, "tags")),
    ]
    if isinstance(args.get("bucket_prefix"), str):
        findings.append(bucket_prefix(prefix=coerce.text(args, "bucket_prefix")))
    if coerce.is_whole(days):
        findings.append(at_least(argument="expire_days", value=int(days), least=0))
    return findings
