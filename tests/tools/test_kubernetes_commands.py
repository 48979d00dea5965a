"""Command lines, kubeconfig, keys, ports and stages of the control plane."""

import json
import re
import stat
from base64 import b64decode
from pathlib import Path

import pytest
import yaml

from tools.kubernetes import commands, kwok_stages
from tools.kubernetes.credentials import KeysMissing, kubeconfig, make_signing_key, make_token_file

LAYOUT = commands.Layout(Path("/home/of/it"), api_port=1, etcd_port=2, etcd_peer_port=3, kubelet_port=4)
EVERY = [
    commands.etcd,
    commands.kube_apiserver,
    commands.kube_controller_manager,
    commands.kube_scheduler,
    commands.kwok,
]


@pytest.mark.parametrize("words", [each(LAYOUT) for each in EVERY], ids=[each.__name__ for each in EVERY])
def test_nothing_listens_but_on_loopback(words: list[str]) -> None:
    text = " ".join(words)
    assert "0.0.0.0" not in text
    assert set(re.findall(r"https?://([\d.]+):", text)) <= {"127.0.0.1"}
    flags = dict(word.removeprefix("--").split("=", 1) for word in words if "=" in word)
    listens = [flags[key] for key in ("bind-address", "listen-client-urls", "server-address") if key in flags]
    assert all("127.0.0.1" in value for value in listens)
    assert listens or flags["secure-port"] == "0"


def test_api_server_has_roles_tokens_and_service_accounts() -> None:
    words = commands.kube_apiserver(LAYOUT)
    assert "--authorization-mode=RBAC" in words
    assert "--token-auth-file=/home/of/it/tokens.csv" in words
    assert "--service-account-signing-key-file=/home/of/it/service-accounts.key" in words
    assert "--service-account-private-key-file=/home/of/it/service-accounts.key" in commands.kube_controller_manager(
        LAYOUT
    )


def test_kwok_plays_annotated_nodes_only() -> None:
    words = commands.kwok(LAYOUT)
    assert "--manage-all-nodes=false" in words
    assert "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake" in words


def test_kubeconfig_is_yaml_with_one_context() -> None:
    read = yaml.safe_load(kubeconfig("https://127.0.0.1:1", b"PEM", "secret", "someone"))
    cluster = read["clusters"][0]["cluster"]
    assert (cluster["server"], b64decode(cluster["certificate-authority-data"])) == ("https://127.0.0.1:1", b"PEM")
    assert read["users"] == [{"name": "someone", "user": {"token": "secret"}}]
    assert read["contexts"][0]["context"] == {"cluster": read["clusters"][0]["name"], "user": "someone"}
    assert read["current-context"] == read["contexts"][0]["name"]


def test_token_and_key_are_for_their_owner_only_and_new_each_time(tmp_path: Path) -> None:
    tokens = {make_token_file(tmp_path / "tokens.csv") for _ in range(2)}
    assert len(tokens) == 2
    token, user, uid, groups = (tmp_path / "tokens.csv").read_text().strip().split(",")
    assert token in tokens
    assert (user, uid, groups) == ("gpufleet-admin", "gpufleet-admin", '"system:masters"')
    make_signing_key(tmp_path / "key")
    assert "PRIVATE KEY-----" in (tmp_path / "key").read_text().splitlines()[0]
    modes = [stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()]
    assert modes == [0o600, 0o600]


def test_key_without_openssl_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(KeysMissing, match=r"no `openssl` on PATH.*install the package openssl"):
        make_signing_key(tmp_path / "key")


class Kept:
    """kwok as it was built, with files of our own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def file(self, name: str) -> Path:
        return self._folder / name


def test_stages_leave_waiting_pods_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in kwok_stages.UPSTREAM:
        spec = {"selector": {"matchExpressions": [{"key": ".status.podIP", "operator": "DoesNotExist"}]}}
        (tmp_path / name).write_text(json.dumps({"kind": "Stage", "metadata": {"name": name}, "spec": spec}))
    monkeypatch.setattr(kwok_stages, "programs", lambda: {"kwok": Kept(tmp_path)})
    kwok_stages.write_stages(tmp_path / "all.yaml")
    configuration, *documents = yaml.safe_load_all((tmp_path / "all.yaml").read_text())
    assert configuration["kind"] == "KwokConfiguration"
    written = {each["metadata"]["name"]: each for each in documents}
    assert list(written) == [*kwok_stages.UPSTREAM, "pod-ends", "pod-waits"]
    rules = {name: len(each["spec"]["selector"]["matchExpressions"]) for name, each in written.items()}
    assert [rules[name] for name in kwok_stages.UPSTREAM] == [1, 1, 2, 1]
    added = written["pod-ready.yaml"]["spec"]["selector"]["matchExpressions"][-1]
    assert added == {"key": f'.metadata.annotations["{kwok_stages.WAITING}"]', "operator": "DoesNotExist"}
    assert kwok_stages.WAITING in kwok_stages.OURS.read_text()
