"""What an environment is told that asks for a record of accesses to files that are recorded nowhere."""

import pytest

from tests.unit.stacks import aws_environment, lab_environment
from tests.unit.stacks.test_own_servers import changed

EFS = (
    "dev-files: access_logs=true: EFS records no reads and writes of files: CloudTrail has the calls of its API only; "
    "keep what needs a record in the outputs bucket of an aws-batch environment, or remove it [any-access-logs-service]"
)
NFS = (
    "access_logs=true: the NFS server is yours, and gpufleet does not configure it; record on the server itself "
    "(docs/teams.md#who-read-or-wrote-a-file), or remove it [any-access-logs-service]"
)


@pytest.mark.parametrize(
    ("program", "changes", "line"),
    [
        (aws_environment.program, {}, EFS),
        (aws_environment.program, changed(), f"dev-files: {NFS}"),
        (lab_environment.program, {}, f"lab: {NFS}"),
    ],
    ids=["aws", "own servers", "onprem"],
)
def test_files_that_are_recorded_nowhere_are_a_warning(program, changes, line, caplog):
    program.run(**changes, access_logs=True)
    assert [each.message for each in caplog.records if "access_logs" in each.message] == [line]
