"""`gpufleet choose` as a user sees it."""

import datetime
import json
import sys

import pytest
import yaml
from click.testing import CliRunner, Result

import gpufleet.catalog
from gpufleet.cli import main

ASKED = ("--gpus", "8", "--gpu-memory", "40", "--hours", "24")
EAST = (*ASKED, "--region", "us-east-1", "--gpu", "l40s")


def on(monkeypatch, *day: int) -> None:
    """Run the command on that day."""

    class Then(datetime.date):
        @classmethod
        def today(cls):
            return cls(*day)

    # By its name: the package's attribute of that name is the command.
    monkeypatch.setattr(sys.modules["gpufleet.cli.choose"], "date", Then)


@pytest.fixture(autouse=True)
def shipped(monkeypatch):
    """The catalog that ships, whatever this machine's user has refreshed, on a day when its prices are new."""
    on(monkeypatch, 2026, 6, 1)
    monkeypatch.setenv("GPUFLEET_CATALOG", "")
    gpufleet.catalog.aws.cache_clear()
    gpufleet.catalog.azure.cache_clear()
    yield
    gpufleet.catalog.aws.cache_clear()
    gpufleet.catalog.azure.cache_clear()


def run(*arguments: str, answer: str | None = None) -> Result:
    done = CliRunner().invoke(main, ["choose", *arguments], input=answer)
    assert isinstance(done.exception, SystemExit | None), done.exception
    return done


def shown(*arguments: str) -> str:
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*arguments: str) -> str:
    done = run(*arguments)
    assert done.exit_code == 1
    return done.stderr.splitlines()[-1]


def test_table():
    lines = shown(*EAST, "--budget", "600").splitlines()
    assert lines[1].split() == ["1", "8", "x", "g6e.xlarge", "us-east-1", "8", "L40S", "24", "357", "yes"]
    assert "One node or several" in lines


def test_wide_table():
    lines = shown(*EAST, "--budget", "600", "--wide").splitlines()
    assert " ".join(lines[1].split()) == (
        "1 8 x g6e.xlarge us-east-1 8 L40S 24 357 yes Ethernet up to 20 Gbps 44.7 use1-az1,2,4,6 "
        "32 of L-DB2E81BA 2026-05 aws"
    )


@pytest.mark.parametrize("work", [(), ("--parameters", "350", "--step", "0.4", "--to-nodes", "1024")])
def test_tables_fit_80_columns(work):
    text = shown("--gpus", "64", "--hours", "240", "--budget", "80000", "--spot", "--top", "999", *work)
    head, more = text.index("--wide also shows: "), text.find(" on more nodes")
    tables = text[:head] + (text[more:] if work else "")
    assert len(tables.splitlines()) > 40
    assert [line for line in tables.splitlines() if len(line.rstrip()) > 80] == []


def test_old_prices_are_said_to_be_old(monkeypatch):
    on(monkeypatch, 2036, 1, 1)
    done = run(*EAST, "--take", "1", "--yes", "--wide")
    assert "2026-05, old" in done.stderr
    assert "Some prices are old: `gpufleet catalog refresh` brings new ones." in done.stderr
    assert "(price of 2026-05, old)" in done.stdout


def test_unknown_prices_are_said():
    assert any(
        line.endswith(" unknown") for line in shown(*ASKED, "--top", "99").splitlines() if "p5e.48xlarge" in line
    )


def test_scaling_from_n_to_m():
    text = shown(*EAST, "--parameters", "350", "--step", "0.4", "--to-nodes", "16", "--take", "1", "--yes")
    assert "types: [" in text
    done = run(*EAST, "--parameters", "350", "--step", "0.4", "--to-nodes", "16")
    head, _, table = done.stdout.partition(" on more nodes\n")
    assert [line.split()[0] for line in table.splitlines()] == ["nodes", "1", "2", "4", "8", "16"]
    assert "-37% to +69% off in rate" in head


def test_model_shows_every_point_and_its_residual():
    lines = [line.split() for line in shown("--model").splitlines()]
    assert ["placed", "p3.2xlarge", "4", "1.8987", "1.6969", "-10.6%", "0", "predicted"] in lines
    assert sum(line[-1:] in (["fitted"], ["predicted"]) for line in lines) == 2 * 24
    points = json.loads(shown("--model", "--json"))["readings"]["total"]["points"]
    assert len(points) == 24


def test_yes_gives_the_configuration_alone_on_stdout():
    config = yaml.safe_load(shown(*EAST, "--budget", "600", "--take", "1", "--yes"))
    assert config["config"]["gpufleet:pools"]["trainers"]["types"] == ["g6e.xlarge"]


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("", 1)])
def test_the_researcher_confirms_budget_against_speed(answer, code, tmp_path):
    file = tmp_path / "chosen.yaml"
    done = run(*EAST, "--budget", "100", "--take", "1", "--to", str(file), answer=answer)
    assert done.exit_code == code
    assert "24.0 h, 357.31 USD for the nodes" in done.stderr
    assert "over the budget of 100.00 USD. Take it? [y/N]" in done.stderr
    assert file.exists() is (code == 0)


def test_yes_does_not_agree_to_more_than_the_budget_or_to_an_unknown_price():
    over = refused(*EAST, "--budget", "100", "--take", "1", "--yes")
    assert over.endswith("over the budget of 100.00 USD; --yes does not agree to that: leave it out and confirm "
                         "[choose-budget]")  # fmt: skip
    unknown = refused(
        "--gpus", "8", "--hours", "1", "--region", "ap-southeast-2", "--gpu", "H200", "--take", "1", "--yes"
    )
    assert "at an unknown price for the nodes" in unknown


def test_no_file_is_written_over(tmp_path):
    file = tmp_path / "chosen.yaml"
    file.write_text("mine")
    assert "is there already" in refused(*EAST, "--take", "1", "--yes", "--to", str(file))
    assert file.read_text() == "mine"


def test_json_has_everything():
    said = json.loads(shown(*EAST, "--take", "1", "--yes", "--json"))
    first = said["options"][0]
    assert (first["number"], first["type"], first["usd"]["slow"]) == (1, "g6e.xlarge", pytest.approx(357.312))
    assert first["quotas"] == [{"family": "G and VT", "market": "on-demand", "code": "L-DB2E81BA", "vcpus": 32}]
    assert said["one_or_several"][0]["break_even_stretch"] == pytest.approx(2.0239, abs=0.001)
    assert "gpufleet:pools" in said["taken"]["config"]


def test_own_servers(tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text("- {name: lab, gpu_model: V100, gpus: 8, gpu_memory_gib: 48, usd_per_hour: 0.5}\n")
    lines = shown(*ASKED, "--servers", str(file), "--cloud", "own", "--wide").splitlines()
    assert " ".join(lines[1].split()) == "1 1 x lab onprem 8 V100 24 12.00 one node 48 as listed own"
    taken = shown(*ASKED, "--servers", str(file), "--cloud", "own", "--take", "1", "--yes")
    assert yaml.safe_load(taken)["config"]["gpufleet:pools"]["lab"] == {"gpu": "V100", "gpus": 8, "nodes": ["lab-1"]}
    file.write_text("- {name: lab}\n")
    assert refused(*ASKED, "--servers", str(file)).endswith("[own-servers]")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((*ASKED, "--region", "us-east-9"), "Error: region=us-east-9: not known; did you mean us-east-2?"),
        ((*ASKED, "--gpu", "H10"), "Error: gpu=H10: not known; did you mean H100?"),
        ((*EAST, "--take", "99"), "Error: take=99: there are 8 options; use 1 to 8 [choose-option]"),
        (
            (*EAST, "--parameters", "1", "--step", "1", "--to-nodes", "8", "--take", "8"),
            "Error: to-nodes=8: g6e.16xlarge takes 8 already; use more than that [choose-nodes]",
        ),
        (
            ("--gpus", "8", "--hours", "1", "--gpu-memory", "9999"),
            "Error: gpus=8: no type and no own server meets all of this; ask for less memory or another network, or "
            "leave out limits of cloud, region and model [choose-option]",
        ),
    ],
)
def test_faults_are_one_line(arguments, line):
    assert refused(*arguments) == line


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--gpus", "8"),
        (*ASKED, "--parameters", "5"),
        (*ASKED, "--to-nodes", "4"),
        (*ASKED, "--json", "--take", "1"),
        (*ASKED, "--cloud", "own"),
        ("--gpus", "0", "--hours", "1"),
        ("--gpus", "8", "--hours", "nan"),
        ("--gpus", "8", "--hours", "inf"),
        ("--gpus", "8", "--hours", "0"),
    ],
)
def test_wrong_use_says_how(arguments):
    done = run(*arguments)
    assert done.exit_code == 2
    assert "Error: " in done.stderr


def test_what_the_gpus_read_and_the_lustre_that_gives_it() -> None:
    result = CliRunner().invoke(main, ["choose", *EAST, "--samples", "2500", "--sample-kb", "110"])
    assert result.exit_code == 0
    text = " ".join(result.output.split())
    assert "Reads 8 GPUs x 2500 samples/s x 110 kB = 2,200 MB/s. Lustre that gives it: 19200 GiB at 125 MB/s" in text
    asked = CliRunner().invoke(main, ["choose", *EAST, "--samples", "2500", "--sample-kb", "110", "--json"])
    reading = json.loads(asked.output)["reading"]
    assert reading["mb_per_second"] == 2200
    assert [each["size"] for each in reading["lustre"]] == [19200, 9600, 4800, 2400]


def test_samples_have_a_size() -> None:
    result = CliRunner().invoke(main, ["choose", *EAST, "--samples", "2500"])
    assert result.exit_code == 2
    assert "--samples and --sample-kb go together" in result.output
