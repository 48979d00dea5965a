"""Cases of gpufleet.rules.kubernetes.file_access."""

import pytest

from gpufleet.rules.kubernetes.file_access import (
    files_fresh,
    job_reaches,
    pool_reaches,
    unreached_places,
    validate_file_access,
    validate_job_file_access,
)

CASES = {
    pool_reaches: [
        ("same-place", {"place": "onprem", "files": "onprem", "link": False, "sync_hours": None}, "pass", ""),
        ("line", {"place": "cloud", "files": "onprem", "link": True, "sync_hours": None}, "pass", ""),
        ("sync", {"place": "cloud", "files": "onprem", "link": False, "sync_hours": 6}, "pass", ""),
        ("both", {"place": "cloud", "files": "onprem", "link": True, "sync_hours": 1}, "pass", ""),
        (
            "neither",
            {"place": "cloud", "files": "onprem", "link": False, "sync_hours": None},
            "fail",
            (
                "trainers: place=cloud: nothing leads from there to the shared files, which are at onprem: jobs with "
                "these files are rejected; give gpufleet:link, or own_servers.line: true where there is one, or submit "
                "such jobs with --place "
                "onprem [any-pool-reaches-files]"
            ),
        ),
        (
            "the-other-way-round",
            {"place": "onprem", "files": "cloud", "link": False, "sync_hours": None},
            "fail",
            (
                "trainers: place=onprem: nothing leads from there to the shared files, which are at cloud: jobs with "
                "these files are rejected; give gpufleet:link, or own_servers.line: true where there is one, or submit "
                "such jobs with --place "
                "cloud [any-pool-reaches-files]"
            ),
        ),
    ],
    files_fresh: [
        ("where-the-files-are", {"place": "onprem", "files": "onprem", "sync_hours": 6, "back": False}, "pass", ""),
        (
            "one-way",
            {"place": "cloud", "files": "onprem", "sync_hours": 6, "back": False},
            "fail",
            (
                "trainers: place=cloud: sees the shared files as they were up to 6 h ago, and what its jobs write is "
                "not at onprem at all; use gpufleet:link for one file system, or wait for the sync before a job "
                "[any-pool-files-age]"
            ),
        ),
        (
            "both-ways",
            {"place": "cloud", "files": "onprem", "sync_hours": 1, "back": True},
            "fail",
            (
                "trainers: place=cloud: sees the shared files as they were up to 1 h ago, and what its jobs write is "
                "as late at onprem; use gpufleet:link for one file system, or wait for the sync before a job "
                "[any-pool-files-age]"
            ),
        ),
    ],
    job_reaches: [
        ("all-reached", {"place": "", "unreached": [], "files": "onprem"}, "pass", ""),
        ("stays-with-the-files", {"place": "onprem", "unreached": ["cloud"], "files": "onprem"}, "pass", ""),
        (
            "may-overflow",
            {"place": "", "unreached": ["cloud"], "files": "onprem"},
            "fail",
            (
                "trainers: place=cloud: the job may run there, and its shared files at onprem are not reached from "
                "there; use --place onprem, or give the environment a gpufleet:link [any-job-reaches-files]"
            ),
        ),
        (
            "asks-for-it",
            {"place": "cloud", "unreached": ["cloud"], "files": "onprem"},
            "fail",
            (
                "trainers: place=cloud: the job may run there, and its shared files at onprem are not reached from "
                "there; use --place onprem, or give the environment a gpufleet:link [any-job-reaches-files]"
            ),
        ),
        (
            "several",
            {"place": "", "unreached": ["lab", "attic"], "files": "cloud"},
            "fail",
            (
                "trainers: place=lab and attic: the job may run there, and its shared files at cloud are not reached "
                "from there; use --place cloud, or give the environment a gpufleet:link [any-job-reaches-files]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()


HYBRID = {"places": ["onprem", "cloud", "cloud"], "files_place": "onprem"}


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        pytest.param({}, ["any-pool-reaches-files cloud"], id="nothing"),
        pytest.param({"link": True}, [], id="link"),
        pytest.param({"sync_hours": 6}, ["any-pool-files-age cloud"], id="sync"),
        # A line shows the files as they are, whatever is copied besides.
        pytest.param({"sync_hours": 6, "link": True}, [], id="link and sync"),
        pytest.param({"files_place": "cloud"}, ["any-pool-reaches-files onprem"], id="EFS, no link"),
        pytest.param({"files_place": "cloud", "link": True}, [], id="EFS, link"),
    ],
)
def test_an_environment_is_told_of_each_place_once_and_refused_for_none(changes, lines):
    found = [each for each in validate_file_access({**HYBRID, **changes}) if each.status != "pass"]
    assert [f"{each.rule} {each.value}" for each in found] == lines
    assert not any(each.rejects for each in found)


def test_what_a_job_is_told():
    assert unreached_places(HYBRID) == ["cloud"]
    assert unreached_places({**HYBRID, "link": True}) == unreached_places({**HYBRID, "sync_hours": 1}) == []
    assert unreached_places({**HYBRID, "files_place": "cloud"}) == ["onprem"]


@pytest.mark.parametrize(
    ("job", "refused"),
    [
        pytest.param({}, True, id="anywhere"),
        pytest.param({"place": "onprem"}, False, id="where the files are"),
        pytest.param({"volume_claim": ""}, False, id="without the files"),
        pytest.param({"unreached_places": []}, False, id="all reach them"),
    ],
)
def test_a_job_is_refused_only_for_files_that_it_uses(job, refused):
    args = {"volume_claim": "shared", "unreached_places": ["cloud"], "files_place": "onprem", **job}
    assert any(each.rejects for each in validate_job_file_access(args)) is refused
