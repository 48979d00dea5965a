"""Cases of gpufleet.rules.access_logs."""

from gpufleet.rules import Status
from gpufleet.rules.access_logs import service_records, validate_access_logs

CASES = {
    service_records: [
        ("bucket", {"service": "s3"}, "pass", ""),
        ("storage account", {"service": "azure-storage"}, "pass", ""),
        (
            "efs",
            {"service": "efs"},
            "fail",
            "trainers: access_logs=true: EFS records no reads and writes of files: CloudTrail has the calls of its API "
            "only; keep what needs a record in the outputs bucket of an aws-batch environment, or remove it "
            "[any-access-logs-service]",
        ),
        (
            "nfs",
            {"service": "nfs"},
            "fail",
            "trainers: access_logs=true: the NFS server is yours, and gpufleet does not configure it; record on the "
            "server itself (docs/teams.md#who-read-or-wrote-a-file), or remove it [any-access-logs-service]",
        ),
    ],
}


def test_case(case):
    case.check()


def test_nothing_is_said_where_no_record_is_wanted():
    assert validate_access_logs(False, ["efs", "nfs"]) == []
    assert [each.status for each in validate_access_logs(True, ["s3", "efs"])] == [Status.PASS, Status.FAIL]
