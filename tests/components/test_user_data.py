"""User data is read back the way cloud-init and nodeadm read it."""

import base64
import json
import subprocess
import tomllib
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from shutil import which
from typing import cast

import pytest

from gpufleet.aws.user_data import Join, amazon_linux, bottlerocket, container_instance

DISKS = {"instance": {"localStorage": {"strategy": "RAID0"}}}
OPEN_FILES = {"type": "RLIMIT_NOFILE", "soft": 65536, "hard": 1048576}
LOCKED_MEMORY = {"type": "RLIMIT_MEMLOCK", "soft": 2**53, "hard": 2**53}
HUGE_PAGES_SCRIPT = "#!/bin/bash\necho 'vm.nr_hugepages = 5128' > /etc/sysctl.d/90-efa.conf\nsysctl --system"


def parts(user_data: str) -> list[tuple[str, str]]:
    """The parts of MIME user data: content type and body."""
    message = cast(EmailMessage, message_from_bytes(base64.b64decode(user_data, validate=True), policy=policy.default))
    assert message.get_content_type() == "multipart/mixed"
    assert message.defects == []
    found = []
    for part in message.iter_parts():
        assert part.defects == []
        found.append((part.get_content_type(), cast(bytes, part.get_payload(decode=True)).decode().strip()))
    return found


def test_plain_node_gets_only_its_local_disks() -> None:
    [(content_type, body)] = parts(amazon_linux(efa=False))
    assert content_type == "application/node.eks.aws"
    assert json.loads(body) == {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": DISKS}


def test_efa_node_reserves_huge_pages_before_the_kubelet_starts() -> None:
    config, script = parts(amazon_linux(efa=True))
    assert config[0] == "application/node.eks.aws"
    assert script == ("text/x-shellscript", HUGE_PAGES_SCRIPT)


def test_containers_of_an_efa_node_may_lock_any_amount_of_memory_and_keep_nodeadms_open_files() -> None:
    [(_, body), _] = parts(amazon_linux(efa=True))
    spec = json.loads(body)["spec"]
    assert spec == {**DISKS, "containerd": {"baseRuntimeSpec": {"process": {"rlimits": [OPEN_FILES, LOCKED_MEMORY]}}}}
    # nodeadm's merge reads numbers as Go's float64 and writes them as containerd's uint64.
    for limit in (OPEN_FILES, LOCKED_MEMORY):
        assert all(int(float(limit[name])) == limit[name] <= 2**53 for name in ("soft", "hard"))


def test_node_of_batch_holds_containers_on_its_local_disks_before_docker_starts() -> None:
    [(kind, hook)] = parts(container_instance(efa=False))
    assert kind == "text/cloud-boothook"
    [again, script] = parts(container_instance(efa=True))
    assert again == (kind, hook)
    assert script == ("text/x-shellscript", HUGE_PAGES_SCRIPT)


@pytest.mark.parametrize(
    ("disks", "mdadm", "done"),
    [
        ([], True, []),
        (["/dev/nvme1n1"], True, ["/dev/nvme1n1"]),
        (["/dev/nvme1n1", "/dev/nvme2n1"], True, ["/dev/md0"]),
        # An image without it, and no way to its repository.
        (["/dev/nvme1n1", "/dev/nvme2n1"], False, ["/dev/nvme1n1"]),
    ],
)
def test_local_disks_become_one_file_system_under_docker(
    disks: list[str], mdadm: bool, done: list[str], tmp_path: Path
) -> None:
    """The hook, with programs that write down what they are asked."""
    [(_, hook)] = parts(container_instance(efa=False))
    listed = "".join(f"{disk} Amazon EC2 NVMe Instance Storage\n" for disk in disks)
    (tmp_path / "disks").write_text(f"/dev/nvme0n1 Amazon Elastic Block Store\n{listed}")
    programs = {"lsblk": f"cat {tmp_path}/disks", "mountpoint": "exit 1", "dnf": "exit 1"}
    programs |= dict.fromkeys(
        ("mkfs.xfs", "mkdir", "mount", "umount", "cp"), f'echo "${{0##*/}} $*" >>{tmp_path}/asked'
    )
    programs |= {"mdadm": f'echo "mdadm $*" >>{tmp_path}/asked'} if mdadm else {}
    (tmp_path / "bin").mkdir()
    for name, text in programs.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/bash\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    for name in ("awk", "cat", "bash"):
        (tmp_path / "bin" / name).symlink_to(str(which(name)))
    subprocess.run(
        [str(which("bash"))], input=hook, text=True, env={"PATH": str(tmp_path / "bin")}, timeout=60, check=True
    )
    asked = (tmp_path / "asked").read_text().splitlines() if (tmp_path / "asked").exists() else []
    array = [f"mdadm --create /dev/md0 --run --force --level=0 --raid-devices=2 {' '.join(disks)}"]
    assert asked == (array if done == ["/dev/md0"] else []) + [
        line
        for place in done
        for line in (
            f"mkfs.xfs -q -f -K {place}",
            "mkdir -p /var/lib/docker /mnt/local",
            f"mount -o noatime {place} /mnt/local",
            "cp -a /var/lib/docker/. /mnt/local/",
            "umount /mnt/local",
            f"mount -o noatime {place} /var/lib/docker",
        )
    ]


def test_own_image_is_told_how_to_join() -> None:
    join = Join("c1", "https://api.invalid", "Y2VydA==", "172.20.0.0/16", {"a/b": "1", "c": "d"}, {"t": "v:NoSchedule"})
    [(_, body)] = parts(amazon_linux(efa=False, join=join))
    assert json.loads(body)["spec"] == {
        **DISKS,
        "cluster": {
            "name": "c1",
            "apiServerEndpoint": "https://api.invalid",
            "certificateAuthority": "Y2VydA==",
            "cidr": "172.20.0.0/16",
        },
        "kubelet": {"flags": ["--node-labels=a/b=1,c=d", "--register-with-taints=t=v:NoSchedule"]},
    }


def test_hostile_values_stay_inside_their_field() -> None:
    name = 'x"\n--==gpufleet==--\nkind: Evil'
    join = Join(name, "https://api.invalid", "Y2VydA==", "172.20.0.0/16", {}, {})
    [(_, body)] = parts(amazon_linux(efa=False, join=join))
    assert json.loads(body)["spec"]["cluster"]["name"] == name


def test_bottlerocket_gets_toml_and_no_mime() -> None:
    plain = tomllib.loads(base64.b64decode(bottlerocket(efa=False)).decode())
    disks = plain["settings"].pop("bootstrap-commands")["local-storage"]
    assert disks == {
        "commands": [
            ["apiclient", "ephemeral-storage", "init"],
            [
                "apiclient",
                "ephemeral-storage",
                "bind",
                "--dirs",
                "/var/lib/containerd",
                "/var/lib/kubelet",
                "/var/log/pods",
            ],
        ],
        "essential": False,
        "mode": "always",
    }
    assert plain == {"settings": {}}


def test_bottlerocket_with_efa_reserves_huge_pages_and_lets_containers_lock_memory() -> None:
    settings = tomllib.loads(base64.b64decode(bottlerocket(efa=True)).decode())["settings"]
    assert settings["kernel"] == {"sysctl": {"vm/nr_hugepages": "5128"}}
    unlimited = {"soft-limit": "unlimited", "hard-limit": "unlimited"}
    assert settings["oci-defaults"] == {"resource-limits": {"max-locked-memory": unlimited}}


def test_user_data_is_plain_text_within_what_ec2_takes() -> None:
    join = Join("c" * 100, "https://" + "e" * 100, "Y" * 2000, "172.20.0.0/16", {"k": "v" * 63}, {})
    for user_data in (amazon_linux(True, join), bottlerocket(True)):
        raw = base64.b64decode(user_data)
        assert raw.decode("ascii").isascii()
        assert len(raw) <= 16 * 1024
