"""The script that joins an own server: what it says, and what it does on a server whose programs are stand-ins.

The server is a folder (GPUFLEET_ROOT) and a PATH on which apt-get, curl, nodeadm and so on keep books of what they are
asked; bash, awk, sha256sum and the like are real. Not shown here: the real nodeadm, driver and NFS server.
"""

import hashlib
import os
import re
import stat
import subprocess
from pathlib import Path

import pytest
import yaml

from gpufleet.aws.join_script import join_script, node_config, nodeadm_url

CODE = "SECRETxCODExOFxTHExACTIVATION"
SSM = {"activation_id": "3b1c9b3e-0000-0000-0000-000000000001", "activation_code": CODE}
ARN = "arn:aws:rolesanywhere:us-east-1:123456789012:"
ROLES = {
    "trust_anchor_arn": f"{ARN}trust-anchor/1",
    "profile_arn": f"{ARN}profile/2",
    "role_arn": "arn:aws:iam::123456789012:role/servers",
}
LABELS = {"gpufleet.dev/gpu": "V100", "gpufleet.dev/place": "onprem"}
TAINTS = [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}]
NFS = "10.80.0.5:/export/shared"
FINGERPRINT = "C95B321B61E88C1809C4F759DDCAE044F796ECB0"

NODEADM = """#!/usr/bin/env bash
echo "nodeadm $*" >>"$BOOK"
tr '\\0' '\\n' </proc/self/environ >>"$BOOK.environ"
case "$1" in
install) mkdir -p "$GPUFLEET_ROOT/usr/bin"; touch "$GPUFLEET_ROOT/usr/bin/kubelet" ;;
init)
  if [ -f "$SERVER_FOLDER/refuses" ]; then cat "$SERVER_FOLDER/refuses"; exit 1; fi
  mkdir -p "$GPUFLEET_ROOT/var/lib/kubelet" "$GPUFLEET_ROOT/etc/containerd"
  touch "$GPUFLEET_ROOT/var/lib/kubelet/kubeconfig"
  echo 'version = 2' >"$GPUFLEET_ROOT/etc/containerd/config.toml" ;;
esac
"""
STAND_INS = {
    "apt-get": 'if [ "$1" = install ]; then for each; do touch "$SERVER_FOLDER/installed-$each"; done; fi\n'
    'if [ -f "$SERVER_FOLDER/apt-fails" ]; then echo "E: Unable to locate package"; exit 100; fi',
    "dpkg": '[ -f "$SERVER_FOLDER/installed-$2" ] && echo "Status: install ok installed"',
    "nvidia-smi": '[ ! -f "$SERVER_FOLDER/unloaded" ] && ls "$SERVER_FOLDER"/installed-nvidia-headless-* 2>/dev/null',
    "modprobe": "true",
    "curl": 'while [ $# -gt 1 ]; do [ "$1" = -o ] && to="$2"; shift; done\n'
    'case "$1" in */gpgkey) echo key >"$to" ;; *) cp "$SERVER_FOLDER/nodeadm" "$to" ;; esac',
    "gpg": 'case "$*" in *--show-keys*) echo "pub:"; echo "fpr:::::::::$(cat "$SERVER_FOLDER/fingerprint"):" ;;\n'
    '*) while [ $# -gt 1 ]; do [ "$1" = -o ] && to="$2"; shift; done; echo ring >"$to" ;; esac',
    "nvidia-ctk": 'echo \'default_runtime_name = "nvidia"\' >>"$GPUFLEET_ROOT/etc/containerd/config.toml"',
    "systemctl": "true",
    "mountpoint": '[ -f "$SERVER_FOLDER/mounted" ]',
    "mount": 'touch "$SERVER_FOLDER/mounted"',
    "id": 'cat "$SERVER_FOLDER/uid"',
    "uname": "echo x86_64",
    "mokutil": 'case "$1" in --sb-state) cat "$SERVER_FOLDER/secure-boot" ;; *) cat "$SERVER_FOLDER/enrolled" ;; esac',
}
QUESTIONS = ("id", "uname", "dpkg", "nvidia-smi", "mountpoint", "mokutil")
"""Stand-ins that change nothing, so that their book would say nothing."""


class Server:
    """A server to set up: folder, stand-ins, and their book."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.root, self.book = folder, folder / "root", folder / "book"
        programs = folder / "bin"
        for made in (self.root / "etc", programs):
            made.mkdir(parents=True)
        for name, does in STAND_INS.items():
            books = f'echo "{name} $*" >>"$BOOK"' if name not in QUESTIONS else ""
            (programs / name).write_text(f"#!/usr/bin/env bash\n{books}\n{does}\n")
            (programs / name).chmod(0o755)
        (folder / "nodeadm").write_text(NODEADM)
        (folder / "fingerprint").write_text(FINGERPRINT)
        (folder / "uid").write_text("0")
        (self.root / "etc/os-release").write_text('ID=ubuntu\nVERSION_ID="22.04"\n')
        self.fstab = self.root / "etc/fstab"
        self.fstab.write_text("UUID=1 / ext4 defaults 0 1")  # without an end of line

    def runs(self, script: str) -> tuple[int, list[str]]:
        """Exit code and what was said, of the script as it comes over a pipe."""
        env = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "GPUFLEET_ROOT": str(self.root),
            "SERVER_FOLDER": str(self.folder),
            "BOOK": str(self.book),
            "TMPDIR": str(self.folder),
        }
        done = subprocess.run(
            ["bash", "-s"],
            input=script,
            env=env,
            cwd=self.folder,
            text=True,
            capture_output=True,
            timeout=300,
            check=False,
        )
        return done.returncode, (done.stdout + done.stderr).splitlines()

    @property
    def asked(self) -> list[str]:
        return self.book.read_text().splitlines() if self.book.exists() else []

    def files(self) -> dict[str, tuple[str, int]]:
        """Every file of the server: its text and mode. Without the log, which says what was asked."""
        return {
            str(path.relative_to(self.root)): (path.read_text(), stat.S_IMODE(path.stat().st_mode))
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and path.suffix != ".log"
        }


@pytest.fixture
def server(tmp_path):
    return Server(tmp_path)


def script(**changes):
    """The script of server gpu-1."""
    usual = {
        "cluster_name": "lab",
        "region": "us-east-1",
        "kubernetes_version": "1.34.2",
        "credentials": SSM,
        "node_name": "gpu-1",
        "labels": LABELS,
        "taints": TAINTS,
        "nodeadm_version": "v1.0.9",
        "nodeadm_sha256": hashlib.sha256(NODEADM.encode()).hexdigest(),
        "nfs": NFS,
    }
    return join_script(**{**usual, **changes})


def test_bash_reads_it(tmp_path):
    path = tmp_path / "join.sh"
    path.write_text(script(cluster_name="it's a `lab` $(rm -rf /)"))
    assert subprocess.run(["bash", "-n", path], capture_output=True, check=False).stderr == b""


def test_a_server_is_set_up_and_joins(server):
    code, said = server.runs(script())
    assert (code, said[-1]) == (0, "gpufleet: gpu-1 is in lab")
    assert [line for line in server.asked if line.startswith(("nodeadm", "nvidia-ctk", "systemctl", "mount"))] == [
        "mount /mnt/shared",
        "nodeadm install 1.34 --credential-provider ssm",
        f"nodeadm init --config-source file://{server.root}/etc/gpufleet/node-config.yaml",
        f"nvidia-ctk runtime configure --runtime=containerd --set-as-default --config={server.root}"
        "/etc/containerd/config.toml",
        "systemctl restart containerd",
    ]
    installed = " ".join(line for line in server.asked if line.startswith("apt-get install"))
    for package in ("nvidia-headless-580-server", "nvidia-container-toolkit", "nfs-common"):
        assert package in installed
    downloads = [line.split()[-1] for line in server.asked if line.startswith("curl")]
    assert downloads == ["https://nvidia.github.io/libnvidia-container/gpgkey", nodeadm_url("v1.0.9", "amd64")]
    assert server.fstab.read_text().splitlines() == [
        "UUID=1 / ext4 defaults 0 1",
        f"{NFS} /mnt/shared nfs4 rw,hard,nfsvers=4.1,_netdev,nofail 0 0",
    ]
    config = yaml.safe_load((server.root / "etc/gpufleet/node-config.yaml").read_text())
    assert config == node_config("lab", "us-east-1", SSM, "gpu-1", LABELS, TAINTS)
    assert config["spec"] == {
        "cluster": {"name": "lab", "region": "us-east-1"},
        "kubelet": {
            "flags": [
                "--node-labels=gpufleet.dev/gpu=V100,gpufleet.dev/place=onprem,gpufleet.dev/server=gpu-1",
                "--register-with-taints=nvidia.com/gpu=present:NoSchedule",
            ]
        },
        "hybrid": {"ssm": {"activationId": SSM["activation_id"], "activationCode": CODE}},
    }


def test_again_changes_nothing(server):
    assert server.runs(script())[0] == 0
    before, asked = server.files(), len(server.asked)
    assert server.runs(script()) == (0, ["gpufleet: gpu-1 is in lab already; nothing changed"])
    assert server.files() == before
    assert server.asked[asked:] == []


def test_a_new_activation_alone_makes_no_server_join_again(server):
    server.runs(script())
    asked = len(server.asked)
    code, said = server.runs(script(credentials={**SSM, "activation_code": "another"}))
    assert (code, said[-1]) == (0, "gpufleet: gpu-1 is in lab already; nothing changed")
    assert server.asked[asked:] == []
    assert "another" in (server.root / "etc/gpufleet/node-config.yaml").read_text()


def test_other_labels_do(server):
    server.runs(script())
    asked = len(server.asked)
    assert server.runs(script(labels={**LABELS, "team": "vision"}))[0] == 0
    assert [line.split()[:2] for line in server.asked[asked:]] == [
        ["nodeadm", "init"],
        ["nvidia-ctk", "runtime"],
        ["systemctl", "restart"],
    ]


def test_a_server_with_a_driver_keeps_it(server):
    (server.folder / "installed-nvidia-headless-570").touch()
    assert server.runs(script())[0] == 0
    assert not any("nvidia-headless" in line for line in server.asked)


def test_without_shared_files_nothing_is_mounted(server):
    assert server.runs(script(nfs=None))[0] == 0
    assert server.fstab.read_text() == "UUID=1 / ext4 defaults 0 1"
    assert not any(line.startswith("mount") for line in server.asked)


def test_the_code_is_on_no_command_line_and_for_root_only(server):
    server.runs(script())
    assert CODE not in server.book.read_text()
    assert CODE not in (server.folder / "book.environ").read_text()
    holding = {path: mode for path, (text, mode) in server.files().items() if CODE in text}
    assert holding == {"etc/gpufleet/node-config.yaml": 0o600}
    log = server.root / "var/log/gpufleet-join.log"
    assert (stat.S_IMODE(log.stat().st_mode), CODE in log.read_text()) == (0o600, False)


def test_certificates(server):
    one = script(credentials=ROLES)
    code, said = server.runs(one)
    missing = "gpufleet: /etc/iam/pki/server.pem is missing: put this server's certificate and key there"
    assert (code, said[-1]) == (1, missing)
    pki = server.root / "etc/iam/pki"
    pki.mkdir(parents=True)
    for name in ("server.pem", "server.key"):
        (pki / name).write_text(name)
    (pki / "server.key").chmod(0o644)
    assert server.runs(one)[1][-1] == "gpufleet: /etc/iam/pki/server.key is readable for everybody; chmod 600 it"
    (pki / "server.key").chmod(0o600)
    assert server.runs(one)[0] == 0
    assert "nodeadm install 1.34 --credential-provider iam-ra" in server.asked
    config = yaml.safe_load((server.root / "etc/gpufleet/node-config.yaml").read_text())
    assert config["spec"]["hybrid"] == {
        "iamRolesAnywhere": {
            "nodeName": "gpu-1",
            "trustAnchorArn": ROLES["trust_anchor_arn"],
            "profileArn": ROLES["profile_arn"],
            "roleArn": ROLES["role_arn"],
            "certificatePath": "/etc/iam/pki/server.pem",
            "privateKeyPath": "/etc/iam/pki/server.key",
        }
    }


def refused(server, one):
    """The single line of a script that fails, after what it changed before."""
    code, said = server.runs(one)
    errors = [line for line in said if not re.match("gpufleet: (installed|trusts|added|mounted|wrote)", line)]
    assert (code, len(errors)) == (1, 1), said
    return errors[0].removeprefix("gpufleet: ")


def test_another_checksum_is_refused_and_nothing_of_it_stays(server):
    found = hashlib.sha256(NODEADM.encode()).hexdigest()
    line = refused(server, script(nodeadm_sha256="0" * 64))
    assert line == (
        f"nodeadm: {nodeadm_url('v1.0.9', 'amd64')} has sha256 {found}, not {'0' * 64} as given; it is not installed"
    )
    assert not (server.root / "usr/local/bin/nodeadm").exists()
    assert not any(line.startswith("nodeadm") for line in server.asked)


def test_it_goes_on_where_it_was_stopped(server):
    (server.folder / "refuses").write_text('{"level":"error","msg":"Command failed","error":"no route to host"}\n')
    line = refused(server, script())
    assert line.startswith(
        'nodeadm init failed: {"level":"error","msg":"Command failed","error":"no route to host"} (all'
    )
    (server.folder / "refuses").unlink()
    asked = len(server.asked)
    assert server.runs(script())[0] == 0
    assert [line.split()[:2] for line in server.asked[asked:]] == [
        ["nodeadm", "init"],
        ["nvidia-ctk", "runtime"],
        ["systemctl", "restart"],
    ]


ENDED = (
    "nodeadm init: the activation has ended or is used up; give a later activation_expires (or a higher count), run "
    "`pulumi up`, and run the new script"
)


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ("Registration failed due to error registering the instance with AWS SSM. ActivationExpired: \n status", ENDED),
        ("SSM activation expired. Please use a valid activation", ENDED),
        ("InvalidActivation: ", "nodeadm init: AWS does not know this activation; run the script that is made now"),
    ],
)
def test_what_nodeadm_says_of_an_activation(server, answer, line):
    (server.folder / "refuses").write_text(f"many\nlines\n{answer}\n")
    assert refused(server, script()) == line


def test_another_release_of_kubernetes_is_no_business_of_this_script(server):
    server.runs(script())
    line = refused(server, script(kubernetes_version="1.35"))
    assert line.startswith("this server was set up for 1.34 ssm, not 1.35 ssm; drain it, run `nodeadm upgrade`")


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("uid", "1000", "run as root, for instance with sudo bash"),
        ("root/etc/os-release", "ID=debian\nVERSION_ID=12\n", "this server runs debian 12; the script installs on"),
        ("root/etc/fstab", "10.0.0.9:/old /mnt/shared nfs 0 0\n", "/etc/fstab mounts 10.0.0.9:/old at /mnt/shared"),
        ("fingerprint", "0" * 40, f"NVIDIA's key: fingerprint {'0' * 40}, not {FINGERPRINT}"),
        ("unloaded", "", "the driver is installed and not loaded yet: reboot, and run this again"),
        ("apt-fails", "", "apt-get update failed: E: Unable to locate package"),
    ],
)
def test_servers_that_are_refused_with_one_line(server, file, text, line):
    (server.folder / file).write_text(text)
    assert refused(server, script()).startswith(line)


SHIM, DKMS = "var/lib/shim-signed/mok/MOK.der", "var/lib/dkms/mok.pub"
REBOOT = "the driver is installed and not loaded yet: reboot, and run this again"
ENROLL = (
    "Secure Boot refuses the driver, whose key is not enrolled: run `mokutil --import /{key}`, which asks for a new "
    "password, reboot, choose Enroll MOK at the console, give the password, and run this again"
)


@pytest.mark.parametrize(
    ("secure_boot", "key", "enrolled", "line"),
    [
        ("SecureBoot disabled", SHIM, False, REBOOT),
        ("SecureBoot enabled", SHIM, False, ENROLL.format(key=SHIM)),
        ("SecureBoot enabled", DKMS, False, ENROLL.format(key=DKMS)),
        ("SecureBoot enabled", SHIM, True, REBOOT),
        (
            "SecureBoot enabled",
            None,
            False,
            "Secure Boot refuses the driver, which is not signed: run `update-secureboot-policy --new-key`, then "
            "`dpkg-reconfigure nvidia-dkms-580-server`, and run this again",
        ),
    ],
)
def test_a_driver_that_secure_boot_refuses_is_enrolled_first(server, secure_boot, key, enrolled, line):
    (server.folder / "unloaded").write_text("")
    (server.folder / "secure-boot").write_text(secure_boot)
    (server.folder / "enrolled").write_text(f"/{key} is {'already' if enrolled else 'not'} enrolled")
    if key:
        (server.root / key).parent.mkdir(parents=True)
        (server.root / key).write_text("key")
    assert refused(server, script()) == line


def test_a_script_for_another_processor_is_refused(server):
    assert refused(server, script(arch="arm64")) == "this server is x86_64, and nodeadm was given for aarch64"
