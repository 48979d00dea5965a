"""Which API server a rehearsal may speak to."""

import base64
import json

import pytest

from gpufleet.aws.kubeconfig import kubeconfig as of_eks
from gpufleet_rehearsal.kubernetes.kubeconfig import UnusableKubeconfig, read_kubeconfig


def document(server="https://127.0.0.1:6443", user=None, **cluster):
    return {
        "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "team"}}],
        "current-context": "x",
    }


def test_access_of_a_local_control_plane(tmp_path):
    authority = base64.b64encode(b"PEM").decode()
    (tmp_path / "token").write_text("secret\n")
    (tmp_path / "kubeconfig").write_text(
        json.dumps(document(user={"tokenFile": "token"}, **{"certificate-authority-data": authority}))
    )
    access = read_kubeconfig(str(tmp_path / "kubeconfig"))
    assert (access.server, access.namespace) == ("https://127.0.0.1:6443", "team")
    assert (access.token, access.authority) == ("secret", b"PEM")
    assert access.local
    assert not access.simulated


def test_kubeconfig_of_a_simulated_cluster_runs_no_program():
    access = read_kubeconfig(of_eks("c", "https://ABC.gr7.us-east-1.eks.rehearsal.invalid", "LS0=", "us-east-1"))
    assert access.simulated
    assert access.token is None


def test_existing_cluster_whose_tokens_come_from_eks_is_simulated_with_its_account():
    access = read_kubeconfig(of_eks("theirs", "https://ABC.gr7.us-east-1.eks.amazonaws.com", "LS0=", "us-east-1"))
    assert access.simulated
    assert (access.eks, access.local, access.token) == ("theirs", False, None)


@pytest.mark.parametrize("server", ["http://localhost:1", "https://[::1]:1", "https://127.8.8.8"])
def test_every_address_of_this_machine_is_local(server):
    assert read_kubeconfig(json.dumps(document(server))).local


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (json.dumps(document("https://10.0.0.1")), "kubeconfig: https://10.0.0.1 is not on this machine; "),
        (json.dumps(document("https://127.0.0.1.example.org")), "kubeconfig: https://127.0.0.1.example.org is not on"),
        (json.dumps(document("127.0.0.1:6443")), "kubeconfig: cluster c: server='127.0.0.1:6443' is not an http(s) "),
        (json.dumps(document() | {"current-context": "y"}), "kubeconfig: no context 'y'; it has: x"),
        (json.dumps(document() | {"current-context": None}), "kubeconfig: no current-context; "),
        (json.dumps(document() | {"users": []}), "kubeconfig: no user 'u'; it has: none"),
        (json.dumps(document(user={"exec": {"command": "aws"}})), "kubeconfig: user u: a rehearsal runs no credential"),
        (json.dumps(document(**{"certificate-authority-data": "%"})), "kubeconfig: certificate-authority-data: not"),
        (json.dumps(document(**{"certificate-authority": "/no/ca"})), "kubeconfig: /no/ca: No such file or directory"),
        ("/no/such/file", "kubeconfig: /no/such/file: No such file or directory"),
        ("a: {\n", "kubeconfig: not YAML: "),
        ("- {}", "kubeconfig: not a kubeconfig; "),
    ],
)
def test_unusable_kubeconfig_is_one_line(given, line):
    with pytest.raises(UnusableKubeconfig) as error:
        read_kubeconfig(given)
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)


def test_context_and_cluster_of_the_provider_are_taken_instead():
    both = document()
    both["contexts"].append({"name": "y", "context": {"cluster": "d"}})
    both["clusters"].append({"name": "d", "cluster": {"server": "https://localhost:2"}})
    assert read_kubeconfig(json.dumps(both), context="y").server == "https://localhost:2"
    assert read_kubeconfig(json.dumps(both), cluster="d").server == "https://localhost:2"
