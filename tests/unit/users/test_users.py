"""Users from what directories print, who a command is for, and what its pods get."""

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from gpufleet.cli import main
from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes.data_pod import data_pod
from gpufleet.jobs.kubernetes.mpi_job import mpi_job
from gpufleet.jobs.kubernetes.submission import build_submission
from gpufleet.jobs.settings import read_settings
from gpufleet.users.directory_import import parse_users
from gpufleet.users.team_users import select_user, users_from_outputs
from gpufleet.users.user import User, passwd_text

PASSWD = """root:x:0:0:root:/root:/bin/bash
ben:x:1502:1502:Ben, Room 2:/home/ben:/bin/bash
ana:*:1501:1600:Ana:/home/ana:/bin/zsh
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
"""
LDIF = """# search result
dn: uid=ana,ou=people,dc=lab,dc=example
uid: ana
uidNumber: 1501
gidNumber: 1600
description: a text that goes on in the
  next line: as RFC 2849 has it

dn:: Y249QmVu
sAMAccountName:: YmVu
uidNumber: 1502
gidNumber: 1502

dn: cn=node7,ou=computers,dc=lab,dc=example
sAMAccountName: NODE7$

# refldap://other.example/
"""
BOTH = {"ana": {"uid": 1501, "gid": 1600}, "ben": {"uid": 1502, "gid": 1502}}
TOLD = {
    "kubeconfig": "{}",
    "jobs": {
        "namespace": "vision",
        "project": "llm",
        "volume_claim": "shared",
        "gid": 3000.0,
        "users": {"ana": {"uid": 1501.0, "gid": 1600.0}, "ben": {"uid": 1502.0, "gid": 1502.0}},
        "pools": {"twos": {"types": ["g5.8xlarge"], "zones": ["use1-az1"], "max": 2}},
    },
}
JOB = {"command": ["true"], "workers": 2, "gpus": 1, "image": "registry.example/train:1", "name": "train"}


def test_passwd():
    users, skipped = parse_users(PASSWD, "here")
    assert users == BOTH
    assert list(users) == ["ana", "ben"]
    assert skipped == ["root: uid 0 is a system account's", "nobody: uid 65534 is a system account's"]


@pytest.mark.parametrize("text", [LDIF, LDIF.replace("\n", "\r\n")])
def test_ldif_of_posix_accounts_and_of_active_directory(text):
    assert parse_users(text, "here") == (BOTH, ["NODE7$: has no POSIX uid and gid"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ana 1501\n", "here: line 1: is not a line of passwd; "),
        ("root:x:0:0:root:/root:/bin/sh\n", "here: has no user with a uid of 1000 or more; "),
        ("", "here: has no user with a uid of 1000 or more; "),
        ("dn: x\nuid ana\n", "here: uid ana: is not a line of LDIF; "),
        ("dn: x\nuid:: %%%\n", "here: uid: is not base64-encoded text; "),
        (
            "ana:x:1501:1501::/:/bin/sh\nana:x:1502:1501::/:/bin/sh\n",
            "here: ana=1502: is there with uid 1501 too; ask for one directory",
        ),
    ],
)
def test_what_is_no_list_of_users(text, said):
    with pytest.raises(UserError) as refused:
        parse_users(text, "here")
    assert str(refused.value).startswith(said)


def test_read_on_the_command_line(tmp_path: Path):
    done = CliRunner().invoke(main, ["users", "read"], input=PASSWD)
    assert done.exit_code == 0
    assert yaml.safe_load(done.stdout) == BOTH
    assert "note: left out: root: uid 0 is a system account's" in done.stderr
    file = tmp_path / "people"
    file.write_text(PASSWD)
    one = CliRunner().invoke(main, ["users", "read", str(file), "--only", "ben"])
    assert yaml.safe_load(one.stdout) == {"ben": BOTH["ben"]}
    data = json.loads(CliRunner().invoke(main, ["users", "read", str(file), "--json"]).stdout)
    left = ["root: uid 0 is a system account's", "nobody: uid 65534 is a system account's"]
    assert data == {"schema": 1, "users": BOTH, "left_out": left}
    none = CliRunner().invoke(main, ["users", "read", str(file), "--only", "ben,cy"])
    assert none.exit_code == 1
    assert none.stderr == f"Error: {file}: only=cy: user not found; check the spelling\n"


def test_two_names_of_one_uid_are_refused():
    done = CliRunner().invoke(main, ["users", "read"], input=PASSWD + "eve:x:1501:1501::/:/bin/sh\n")
    assert done.exit_code == 1
    assert "users=1501: is the uid of ana and eve; give each their own [any-user-distinct]" in done.stderr


def test_who(monkeypatch: pytest.MonkeyPatch):
    users = users_from_outputs(TOLD["jobs"]["users"], 3000.0)
    assert select_user(users, "ana", "lab") == User("ana", 1501, 1600, (3000,))
    monkeypatch.setenv("LOGNAME", "ben")
    assert select_user(users, None, "lab") == User("ben", 1502, 1502, (3000,))
    assert select_user({}, None, "lab") is None
    monkeypatch.setenv("LOGNAME", "root")
    for wanted, known, said in (
        (None, users, "lab: user=root: the logged-in user is not in the team; use --user ana or ben"),
        ("anna", users, "lab: user=anna: user not found; did you mean ana? (use ana or ben)"),
        ("ana", {}, "lab: user=ana: the environment has no users; name them in gpufleet:team.users"),
    ):
        with pytest.raises(UserError) as refused:
            select_user(known, wanted, "lab")
        assert str(refused.value) == said


def test_a_users_job():
    job = build_submission(read_settings(TOLD, "lab"), {**JOB, "user": "ana"}).manifest
    labels = {"gpufleet.dev/project": "llm", "gpufleet.dev/user": "ana"}
    assert job["metadata"]["labels"] == labels
    for kind in ("Launcher", "Worker"):
        pod = job["spec"]["mpiReplicaSpecs"][kind]["template"]
        assert pod["metadata"]["labels"] == {"sidecar.istio.io/inject": "false", **labels}
        assert pod["metadata"]["annotations"]["gpufleet.dev/passwd"].splitlines()[-1] == (
            "ana:x:1501:1600::/mnt/home/ana:/bin/sh"
        )
        assert pod["spec"]["securityContext"] == {
            "runAsUser": 1501,
            "runAsGroup": 1600,
            "runAsNonRoot": True,
            "supplementalGroups": [3000],
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        [container] = pod["spec"]["containers"]
        environment = {each["name"]: each["value"] for each in container["env"]}
        assert {key: environment[key] for key in ("GPUFLEET_USER", "HOME", "LOGNAME", "USER")} == {
            "GPUFLEET_USER": "ana",
            "HOME": "/mnt/home/ana",
            "LOGNAME": "ana",
            "USER": "ana",
        }
        mount = {"name": "passwd", "mountPath": "/etc/passwd", "subPath": "passwd", "readOnly": True}
        assert mount in container["volumeMounts"]
        field = {"apiVersion": "v1", "fieldPath": "metadata.annotations['gpufleet.dev/passwd']"}
        volume = {"name": "passwd", "downwardAPI": {"items": [{"path": "passwd", "fieldRef": field}]}}
        assert volume in pod["spec"]["volumes"]


def test_without_users_a_job_is_as_before():
    told = {**TOLD, "jobs": {key: value for key, value in TOLD["jobs"].items() if key in ("namespace", "pools")}}
    job = build_submission(read_settings(told, "lab"), JOB).manifest
    assert "labels" not in job["metadata"]
    pod = job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    assert pod["securityContext"]["runAsUser"] == 1000
    assert [each["name"] for each in pod["volumes"]] == ["shared-memory"]


def test_without_a_volume_home_is_tmp():
    args = {"namespace": "x", "workers": 1, "gpus_per_worker": 1, "image": "i:1", "command": ["true"]}
    pod = mpi_job("a", {**args, "uid": 1501, "gid": 1501, "user": "ana"})["spec"]["mpiReplicaSpecs"]["Worker"]
    environment = {each["name"]: each["value"] for each in pod["template"]["spec"]["containers"][0]["env"]}
    assert environment["HOME"] == "/tmp"


def test_the_pod_that_copies_is_the_users():
    settings = read_settings(TOLD, "lab")
    pod = data_pod(settings, "data", "busybox:1", select_user(settings.users, "ben", "lab"))
    security = pod["spec"]["securityContext"]
    assert (security["runAsUser"], security["runAsGroup"], security["supplementalGroups"]) == (1502, 1502, [3000])
    assert pod["metadata"]["labels"] == {"gpufleet.dev/purpose": "data", "gpufleet.dev/user": "ben"}


def test_passwd_has_whom_ssh_looks_up():
    lines = passwd_text(User("ana", 1501, 1600), "/mnt/home/ana").splitlines()
    assert [line.split(":")[0] for line in lines] == ["root", "nobody", "sshd", "ana"]
    assert all(line.count(":") == 6 for line in lines)


def test_teams_of_an_environment():
    own = {"namespace": "vision", "volume_claim": "claim", "users": TOLD["jobs"]["users"]}
    told = {**TOLD, "jobs": {"pools": {}, "teams": {"vision": own, "speech": {"namespace": "speech"}}}}
    settings = read_settings(told, "lab", team="vision")
    assert (settings.team, settings.namespace, settings.volume_claim) == ("vision", "vision", "claim")
    assert list(settings.users) == ["ana", "ben"]
    assert read_settings(told, "lab", team="speech").users == {}
    for team, said in (
        (None, "lab: which team? use --team speech or vision"),
        ("visions", "lab: team=visions: no such team; did you mean vision? (use speech or vision)"),
    ):
        with pytest.raises(UserError) as refused:
            read_settings(told, "lab", team=team)
        assert str(refused.value) == said
    with pytest.raises(UserError) as refused:
        read_settings(TOLD, "lab", team="vision")
    assert str(refused.value) == "lab: team=vision: the environment has one team only; leave --team out"
