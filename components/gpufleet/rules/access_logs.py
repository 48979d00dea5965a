"""The rule on records of who reads and writes shared files, and its validation."""

from collections.abc import Sequence

from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

KEPT_DAYS = 90
"""Days for which a record of an access is kept."""
_RECORDS_NONE = {
    "efs": (
        "EFS records no reads and writes of files: CloudTrail has the calls of its API only",
        "keep what needs a record in the outputs bucket of an aws-batch environment, or remove it",
    ),
    "lustre": (
        "a file system of Lustre records no reads and writes of files here",
        "keep what needs a record in a bucket or container whose accesses are recorded, or remove it",
    ),
    "nfs": (
        "the NFS server is yours, and gpufleet does not configure it",
        "record on the server itself (docs/teams.md#who-read-or-wrote-a-file), or remove it",
    ),
}
"""Service -> why its accesses are not recorded from here, and what to do."""


@rule("any-access-logs-service", Severity.WARNING)
def service_records(*, service: str) -> Outcome:
    """Accesses are recorded where the service can: of S3 (s3) and Azure Storage (azure-storage), not of efs, lustre
    and nfs.

    Source: https://docs.aws.amazon.com/efs/latest/ug/logging-using-cloudtrail.html (API calls are logged);
    https://reviews.freebsd.org/D25869 (an NFS server in the kernel makes no system calls for auditd to see)
    """
    if service not in _RECORDS_NONE:
        return passed()
    problem, fix = _RECORDS_NONE[service]
    return failed("access_logs", True, problem, fix)


def validate_access_logs(wanted: bool, services: Sequence[str]) -> list[Finding]:
    """Every finding on an environment's records of accesses, passes included. services: what holds its files."""
    return [service_records(service=service) for service in services] if wanted else []
