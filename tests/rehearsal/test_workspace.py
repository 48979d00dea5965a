"""A rehearsal's directory: the mirror of the program, the engine's configuration, passphrases, and room on the disk."""

import json
import os
import shutil
import stat
import sys
from collections import namedtuple
from pathlib import Path

import pytest
import yaml

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.store import RESERVE_BYTES, Store, StoreError
from gpufleet_rehearsal.kubernetes.control_plane import RehearsalControlPlane
from gpufleet_rehearsal.pulumi_wrapper import stack_of, writes_configuration
from gpufleet_rehearsal.rehearse import run_inside
from gpufleet_rehearsal.stack_config import stack_config
from gpufleet_rehearsal.workspace import PASSPHRASE, SIMULATED_PROVIDERS, Workspace, write_settings

Disk = namedtuple("Disk", "total used free")
SECRET = "config:\n  billing:token: {secure: v1:abc}\nencryptionsalt: v1:theirs\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    for variable in ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"):
        monkeypatch.delenv(variable, raising=False)
    project = tmp_path / "billing"
    (project / "infra").mkdir(parents=True)
    (project / "stack-config").mkdir()
    (project / ".git").mkdir()
    (project / "__main__.py").write_text("import pulumi\n")
    (project / "Pulumi.yaml").write_text("name: billing\nruntime: python\n")
    (project / "Pulumi.dev.yaml").write_text("config: {a:b: 1}\n")
    return Workspace.of(project)


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Inode and content of every file and link: what is written anew, even with the same content, shows."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_symlink():
            found[str(path)] = (path.lstat().st_ino, os.fsencode(path.readlink()))
        elif path.is_file():
            found[str(path)] = (path.stat().st_ino, path.read_bytes())
    return found


def state_of(home: Workspace, salt: str) -> None:
    file = home.root / "backend" / ".pulumi" / "stacks" / "billing" / "dev.json"
    file.parent.mkdir(parents=True)
    latest = {"secrets_providers": {"type": "passphrase", "state": {"salt": salt}}}
    file.write_text(json.dumps({"version": 3, "checkpoint": {"stack": "dev", "latest": latest}}))


def test_home_is_found_from_any_folder_of_the_project(home: Workspace, tmp_path: Path) -> None:
    assert Workspace.of(home.project / "infra") == home
    assert home.root == home.project / ".rehearsal"
    with pytest.raises(UserError, match=r"no Pulumi\.yaml here or above; give a Pulumi project with --program DIR$"):
        Workspace.of(tmp_path)


def test_mirror_links_the_program_and_copies_what_the_engine_writes(home: Workspace) -> None:
    home.prepare()
    links = {path.name: path.readlink() for path in home.mirror.iterdir() if path.is_symlink()}
    assert links == {name: home.project / name for name in ("__main__.py", "infra", "stack-config")}
    project = yaml.safe_load((home.mirror / "Pulumi.yaml").read_text())
    assert (project["name"], project["runtime"]) == ("billing", "python")
    copies = (home.mirror / project["stackConfigDir"]).resolve()
    assert yaml.safe_load((copies / "Pulumi.dev.yaml").read_text()) == {"config": {"a:b": 1}}
    assert not copies.is_relative_to(home.mirror)


def test_preparing_again_touches_nothing_that_stays(home: Workspace) -> None:
    home.prepare()
    before = snapshot(home.root)
    home.prepare()
    assert snapshot(home.root) == before


def test_preparing_again_follows_the_program(home: Workspace) -> None:
    home.prepare()
    (home.project / "__main__.py").unlink()
    (home.project / "app.py").write_text("")
    (home.project / "Pulumi.dev.yaml").rename(home.project / "Pulumi.prod.yaml")
    home.prepare()
    assert {path.name for path in home.mirror.iterdir()} == {"Pulumi.yaml", "app.py", "infra", "stack-config"}
    assert [path.name for path in (home.root / "stack-config").iterdir()] == ["Pulumi.prod.yaml"]


def test_stand_ins_serve_every_version_and_leave_other_plugins_alone(home: Workspace) -> None:
    theirs = {"name": "random", "path": "./plugins/random"}
    packages = {"near": "../packages/near", "far": "example.com/far@1.0.0"}
    text = yaml.safe_dump(
        {
            "packages": packages,
            "plugins": {"languages": [], "providers": [theirs, {"name": "aws", "path": "/real/aws"}]},
        }
    )
    (home.project / "Pulumi.yaml").write_text(f"name: billing\nruntime: python\n{text}")
    home.prepare()
    mirrored = yaml.safe_load((home.mirror / "Pulumi.yaml").read_text())
    plugins = mirrored["plugins"]
    assert plugins["languages"] == []
    # The mirror lies elsewhere: what the user named relative to the project is found from there.
    assert plugins["providers"][0] == {**theirs, "path": str(home.project / "plugins" / "random")}
    assert mirrored["packages"] == {**packages, "near": str(home.project.parent / "packages" / "near")}
    named = {entry["name"]: Path(entry["path"]) for entry in plugins["providers"][1:]}
    assert set(named) == set(SIMULATED_PROVIDERS)
    for cloud, folder in named.items():
        stand_in = folder / f"pulumi-resource-{cloud}"
        assert os.access(stand_in, os.X_OK)
        assert stand_in.read_text().startswith(f"#!{sys.executable}\n")


@pytest.mark.parametrize(("place", "seen"), [("../venv", "{outside}/venv"), (".venv", ".venv"), ("/opt/v", "/opt/v")])
def test_virtual_environment_beside_the_project_is_found_from_the_mirror(
    home: Workspace, place: str, seen: str
) -> None:
    options = {"toolchain": "pip", "virtualenv": place}
    document = {"name": "billing", "runtime": {"name": "python", "options": options}}
    (home.project / "Pulumi.yaml").write_text(yaml.safe_dump(document))
    home.prepare()
    mirrored = yaml.safe_load((home.mirror / "Pulumi.yaml").read_text())["runtime"]
    assert mirrored == {
        "name": "python",
        "options": {**options, "virtualenv": seen.format(outside=home.project.parent)},
    }


def test_engine_keeps_no_log_unless_there_is_a_folder_for_it(home: Workspace) -> None:
    home.prepare()
    logs = home.root / "pulumi-home" / "logs"
    assert "make this a folder" in logs.read_text()
    logs.unlink()
    logs.mkdir()
    home.prepare()
    assert logs.is_dir()


def test_what_a_program_waits_for_itself_is_scaled_as_the_cloud_is(home: Workspace) -> None:
    home.prepare()
    assert home.environment()["GPUFLEET_PAUSE_SCALE"] == "0"
    write_settings(home, {"latency_scale": 0.01})
    assert home.environment()["GPUFLEET_PAUSE_SCALE"] == "0.01"


def test_nodes_follow_the_node_groups_when_a_command_has_ended(
    home: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`gpufleet stop --undo` in a rehearsal: its `up` is over before the provider has told the autoscaler."""
    home.prepare()
    calls = []
    monkeypatch.setattr(
        RehearsalControlPlane, "follow_fleet", lambda _: calls.append((tmp_path / "changed").exists()) or []
    )
    assert run_inside(home, "dev", ["sh", "-c", f"touch {tmp_path}/changed; exit 3"]) == 3
    assert calls == [True]


def test_environment_has_no_credentials_and_no_other_backend(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = ("AWS_PROFILE", "ARM_CLIENT_ID", "AZURE_CONFIG_DIR", "PULUMI_ACCESS_TOKEN")
    for name in (*theirs, "GPUFLEET_AWS_ENDPOINT", "GPUFLEET_AZURE_BATCH_ENDPOINT"):
        monkeypatch.setenv(name, "real")
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://real")
    monkeypatch.setenv("PATH", f"{home.launcher}{os.pathsep}/usr/bin")
    environment = home.environment()
    assert "real" not in environment.values()
    assert environment["PULUMI_BACKEND_URL"] == f"file://{home.root}/backend?metadata=skip"
    # The launcher must not find itself as the engine.
    assert environment["PATH"].split(os.pathsep) == [str(Path(sys.executable).parent), "/usr/bin"]
    # Nor that of another rehearsal that we are inside of, as `gpufleet preflight` in a rehearsal's shell is.
    monkeypatch.setenv("GPUFLEET_REHEARSAL", "/theirs")
    monkeypatch.setenv("PATH", f"/theirs/bin{os.pathsep}/usr/bin")
    assert home.environment()["PATH"].split(os.pathsep) == [str(Path(sys.executable).parent), "/usr/bin"]


def test_passphrase_is_the_rehearsals_own_where_no_secret_stands(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert home.environment("dev")["PULUMI_CONFIG_PASSPHRASE"] == PASSPHRASE
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "of another project")
    assert home.environment("dev")["PULUMI_CONFIG_PASSPHRASE"] == PASSPHRASE
    assert home.environment()["PULUMI_CONFIG_PASSPHRASE"] == "of another project"


def test_passphrase_is_the_users_where_secrets_stand(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    (home.project / "Pulumi.dev.yaml").write_text(SECRET)
    with pytest.raises(UserError, match=r"Pulumi\.dev\.yaml: it holds secrets, and PULUMI_CONFIG_PASSPHRASE is not"):
        home.environment("dev")
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE_FILE", "/their/file")
    environment = home.environment("dev")
    assert environment["PULUMI_CONFIG_PASSPHRASE_FILE"] == "/their/file"
    assert "PULUMI_CONFIG_PASSPHRASE" not in environment


def test_salt_is_the_users_with_secrets_and_the_states_without(home: Workspace, tmp_path: Path) -> None:
    original, copy, state = tmp_path / "Pulumi.dev.yaml", tmp_path / "copy", tmp_path / "state"

    def salt(text: str) -> tuple[object, bool, bool]:
        original.write_text(text)
        config = stack_config(original, copy, state)
        return yaml.safe_load(config.text).get("encryptionsalt"), config.own_passphrase, config.remade

    plain = "config: {}\nencryptionsalt: v1:theirs\n"
    assert salt(SECRET) == ("v1:theirs", True, False)
    assert salt(plain) == (None, False, False)
    copy.write_text("encryptionsalt: v1:ours\n")
    assert salt(plain) == ("v1:ours", False, False)
    copy.write_text("encryptionsalt: v1:theirs\n")
    assert salt(plain) == (None, False, False)
    state.write_text('{"checkpoint": {"latest": {"secrets_providers": {"state": {"salt": "v1:ours"}}}}}')
    assert salt(plain) == ("v1:ours", False, False)
    assert salt(SECRET) == ("v1:theirs", True, True)
    state.write_text('{"checkpoint": {"latest": {"secrets_providers": {"state": {"salt": "v1:theirs"}}}}}')
    assert salt(plain) == ("v1:theirs", True, False)
    state.write_text("damaged")
    assert salt(SECRET) == ("v1:theirs", True, False)


@pytest.mark.parametrize("place", ["{a: {secure: x}}", "{a: [{b: {secure: x}}]}"])
def test_secrets_of_a_cloud_cannot_be_rehearsed_and_an_unused_provider_is_left_out(home: Workspace, place: str) -> None:
    file = home.project / "Pulumi.dev.yaml"
    file.write_text(f"secretsprovider: awskms://k\nencryptedkey: k\nconfig: {place}\n")
    with pytest.raises(UserError, match=r"secretsprovider=awskms://k: a rehearsal has no credentials to decrypt"):
        home.prepare()
    file.write_text("secretsprovider: awskms://k\nencryptedkey: k\nconfig: {a: b}\n")
    assert home.stack_config("dev").text == "config:\n  a: b\n"


def test_secrets_that_were_made_anew_are_told(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    (home.project / "Pulumi.dev.yaml").write_text(SECRET)
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "theirs")
    state_of(home, "v1:earlier")
    home.prepare()
    line = r"another passphrase than the rehearsal's state; remove .*\.rehearsal to begin the rehearsal again$"
    with pytest.raises(UserError, match=line):
        home.open_stack("dev")


def test_little_room_stops_before_anything_begins(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    home.root.mkdir()
    store = Store(home.root / "cloud.db")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(2**40, 2**40, RESERVE_BYTES - 1))
    line = (
        f"{home.root}: 31 MiB free on the disk, and a rehearsal needs 32 MiB; free some space, then run the command "
        "again; nothing was lost"
    )
    for work in (home.prepare, lambda: store.remember("a", "b")):
        with pytest.raises(StoreError) as error:
            work()
        assert str(error.value) == line
    assert store.fact("a") is None
    # Room again; and a network file system that tells nothing.
    for disk in (Disk(2**40, 0, RESERVE_BYTES), Disk(0, 0, 0)):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, disk=disk: disk)
        home.prepare()
        store.remember("a", "b")
    store.close()


def test_place_that_cannot_be_written_is_one_line(home: Workspace) -> None:
    with pytest.raises(UserError, match=r"^/proc/nowhere: .*; give another place with --home DIR$"):
        Workspace.of(home.project, Path("/proc/nowhere")).prepare()


def test_settings_are_replaced_whole(home: Workspace) -> None:
    home.prepare()
    write_settings(home, {"latency_scale": 0.5, "seed": 1})
    write_settings(home, {"seed": 2})
    assert json.loads(home.settings.read_text()) == {"seed": 2}
    assert [path for path in home.root.iterdir() if path.suffix == ".new"] == []


@pytest.mark.parametrize(
    ("command", "writes"),
    [
        ("config set a b", True),
        ("-s dev config rm a", True),
        ("config --stack dev set-all --plaintext a=b", True),
        ("config refresh", True),
        ("config", False),
        ("config get set", False),
        ("up --stack dev", False),
        ("stack output set", False),
    ],
)
def test_which_commands_write_configuration(command: str, writes: bool) -> None:
    assert writes_configuration(command.split()) is writes


@pytest.mark.parametrize(
    ("command", "stack"),
    [
        ("up -s dev", "dev"),
        ("--stack org/billing/dev up", "dev"),
        ("up --stack=dev --yes", "dev"),
        ("up", None),
        ("up -s", ""),
    ],
)
def test_which_stack_a_command_names(command: str, stack: str | None) -> None:
    assert stack_of(command.split()) == stack


@pytest.mark.parametrize(
    ("config", "cloud"),
    [
        ("config: {aws:region: us-east-1}\n", "aws"),
        ("config: {azure-native:location: eastus, a:b: 1}\n", "azure-native"),
        ("config: {a:b: 1}\n", "aws"),
        ("", "aws"),
    ],
)
def test_cloud_is_the_one_whose_provider_is_configured(home: Workspace, config: str, cloud: str) -> None:
    (home.project / "Pulumi.dev.yaml").write_text(config)
    assert home.cloud("dev") == cloud


def test_nobody_else_can_read_a_rehearsal(home: Workspace) -> None:
    before = os.umask(0o022)
    try:
        home.prepare()
        Store(home.database).close()
        Store(home.root / "kubernetes.db").close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in home.root.glob("*.db*")} == {0o600}
    # One of an earlier release, and a directory that somebody has for other things too.
    home.root.chmod(0o755)
    home.prepare()
    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700
    theirs = home.project.parent / "theirs"
    theirs.mkdir(mode=0o755)
    Workspace.of(home.project, theirs).prepare()
    assert stat.S_IMODE(theirs.stat().st_mode) == 0o755
