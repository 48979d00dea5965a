"""Own servers as a YAML list: every fault at once, one exact line each."""

import pytest

from gpufleet.choose.onprem_servers import PricedServers, ServersError, read_servers, read_servers_file
from gpufleet.documents.content import DocumentError

LAB = {"name": "lab", "gpu_model": "V100", "gpus": 4, "gpu_memory_gib": 32}


def test_defaults_and_unknown_price():
    assert read_servers([LAB], "own.yaml") == (PricedServers("lab", "V100", 4, 32),)
    assert read_servers([{**LAB, "usd_per_hour": None}], "own.yaml")[0].usd_per_hour is None


def test_names_are_counted():
    (group,) = read_servers([{**LAB, "nodes": ["gpu-1", "gpu-2"]}], "own.yaml")
    assert (group.count, group.nodes) == (2, ("gpu-1", "gpu-2"))


def test_a_price_of_zero_is_the_owners_word():
    assert read_servers([{**LAB, "usd_per_hour": 0}], "own.yaml")[0].usd_per_hour == 0


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"gpus": 0}, "gpus=0: must be a whole number, 1 or more"),
        ({"gpus": 1.5}, "gpus=1.5: must be a whole number, 1 or more"),
        ({"gpus": True}, "gpus=true: must be a whole number, 1 or more"),
        ({"gpu_memory_gib": -1}, "gpu_memory_gib=-1: is not an amount; use a number above 0"),
        ({"network_gbps": "25"}, "network_gbps=25: is not an amount; use a number above 0"),
        ({"name": " "}, "name= : must be a name"),
        ({"fabric": "yes"}, "fabric=yes: must be true (InfiniBand or RoCE) or false"),
        (
            {"usd_per_hour": -0.1},
            "usd_per_hour=-0.1: is not a valid price; use USD for an hour of one server, or leave it out if it is not "
            "known",
        ),
        (
            {"nodes": "gpu-1"},
            "nodes=gpu-1: must be a list of the servers' names, such as [gpu-1, gpu-2]",
        ),
        ({"nodes": ["gpu-1"], "count": 2}, "count=2: there are 1 nodes; leave count out"),
        ({"gpu_modell": "V100"}, "gpu_modell: unknown key; did you mean gpu_model?"),
    ],
)
def test_faults(change, line):
    with pytest.raises(ServersError) as error:
        read_servers([{**LAB, **change}], "own.yaml")
    assert str(error.value) == f"own.yaml: server 1: {line} [own-servers]"


def test_all_faults_at_once():
    with pytest.raises(ServersError) as error:
        read_servers([LAB, {**LAB, "gpus": 0}, "x", {"name": "other"}], "own.yaml")
    lines = str(error.value).splitlines()
    assert [line.split(": ")[1] for line in lines[:-1]] == ["server 2", "server 3", *["server 4"] * 3]
    assert lines[-1] == "own.yaml: name=lab: is there twice; give each group its own [own-servers]"


@pytest.mark.parametrize("text", ["{a: 1}", "text", ""])
def test_no_list(text, tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text(text)
    with pytest.raises(ServersError, match="must be a list of servers, such as"):
        read_servers_file(file)


def test_no_file_and_no_yaml(tmp_path):
    with pytest.raises(DocumentError, match="No such file"):
        read_servers_file(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("- {a: [")
    with pytest.raises(DocumentError, match="not YAML") as error:
        read_servers_file(tmp_path / "bad.yaml")
    assert len(str(error.value).splitlines()) == 1
