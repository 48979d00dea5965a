"""What is said of an image that can be built in part only. Nothing is fetched or built here."""

import pytest

from tools.images.build_example import EXAMPLE, NETWORKS, listing, main, summary
from tools.images.dockerfile_steps import Step, buildable, instructions

DOCKERFILE = """\
# Its networks.
ARG NETWORK=plain

FROM registry.example/base:1 AS plain
RUN apt-get update \\
    # no manual pages
    && apt-get install -y curl
FROM plain AS fast
ARG RELEASE=1.5
RUN cd /tmp && curl -O https://far.example/fast-$RELEASE.tar && tar -xf fast-$RELEASE.tar \\
    && ./install
FROM plain AS other
RUN curl -O https://near.example/other
FROM $NETWORK
COPY *.py ./
USER 1000
"""
CURL = "&& curl -O https://far.example/fast-1.5.tar"


def near(url):
    return url.startswith("https://near.example/")


def standing_in(image):
    return "by a stand-in" if image == "registry.example/base:1" else ""


def lines(network, fetchable=near, replaced=standing_in):
    return listing(buildable(DOCKERFILE, {"NETWORK": network}, fetchable, replaced).steps)


BASE = "    4 replaced    FROM registry.example/base:1  [by a stand-in]"
PACKAGES = ["    5 run         RUN apt-get update", "    5 run         && apt-get install -y curl"]
END = ["   15 run         COPY *.py ./", "   16 run         USER 1000"]


def test_steps_are_those_of_the_chosen_stage_and_what_it_is_made_of():
    assert lines("plain") == [BASE, *PACKAGES, "   14 run         FROM plain", *END]


def test_download_out_of_reach_ends_its_run_and_nothing_else():
    assert lines("fast") == [
        BASE,
        *PACKAGES,
        "    8 run         FROM plain AS fast",
        "    9 run         ARG RELEASE=1.5",
        "   10 run         RUN cd /tmp",
        f"   10 not fetched {CURL}  [from far.example]",
        "   10 not run     && tar -xf fast-1.5.tar  [needs what is not fetched from far.example]",
        "   10 not run     && ./install  [needs what is not fetched from far.example]",
        "   14 run         FROM fast",
        *END,
    ]


def test_download_within_reach_runs():
    assert "   13 run         RUN curl -O https://near.example/other" in lines("other")


def test_nothing_is_replaced_where_all_can_be_fetched():
    stage = buildable(DOCKERFILE, {"NETWORK": "fast"}, lambda url: True, lambda image: "")
    assert {step.state for step in stage.steps} == {"run"}
    assert [each.text for each in instructions(stage.text)] == [each.text for each in instructions(DOCKERFILE)]


def test_what_is_built_lacks_only_what_cannot_run():
    stage = buildable(DOCKERFILE, {"NETWORK": "fast"}, near, standing_in)
    assert stage.base == "registry.example/base:1"
    assert stage.text == (
        "ARG NETWORK=plain\n"
        "FROM registry.example/base:1 AS plain\n"
        "RUN apt-get update \\\n    && apt-get install -y curl\n"
        "FROM plain AS fast\n"
        "ARG RELEASE=1.5\n"
        "RUN cd /tmp\n"
        "FROM plain AS other\n"
        "RUN curl -O https://near.example/other\n"
        "FROM $NETWORK\n"
        "COPY *.py ./\n"
        "USER 1000\n"
    )


def test_run_that_begins_with_a_download_is_left_empty():
    stage = buildable(DOCKERFILE, {"NETWORK": "other"}, lambda url: False, standing_in)
    assert "FROM plain AS other\nRUN true\n" in stage.text


STEPS = [
    Step(1, "FROM base", "replaced", "by a stand-in"),
    Step(2, "RUN a", "run"),
    Step(2, "&& b", "not fetched", "from far.example"),
    Step(2, "&& c", "not run", "needs what is not fetched from far.example"),
]


def test_an_image_in_part_is_not_taken_for_the_example():
    trials = {"user": "", "sshd without root": "buildah run: exit code 1\nno sshd"}
    assert summary("fast", STEPS, trials, "12.8") == [
        "fast: 4 steps: 1 run, 1 replaced, 1 not fetched, 1 not run",
        "fast: user: passed",
        "fast: sshd without root: FAILED: buildah run: exit code 1\nno sshd",
        "fast: CUDA as `gpufleet images build` reads it: 12.8",
        "fast: the image is NOT the example's: see the steps that did not run as they stand",
    ]


@pytest.mark.parametrize(("steps", "whole"), [([Step(2, "RUN a", "run")], True), (STEPS[:2], False)])
def test_an_image_is_whole_when_every_step_ran(steps, whole):
    assert (summary("plain", steps, {}, None)[-1] == "plain: the image is the example's, whole") is whole


@pytest.mark.parametrize("network", NETWORKS)
def test_the_example_is_read_to_its_end(network):
    text = (EXAMPLE / "Dockerfile").read_text(encoding="utf-8")
    stage = buildable(text, {"NETWORK": network}, lambda url: False, lambda image: "by a stand-in")
    last = [step.text for step in stage.steps[-4:]]
    assert last == [f"FROM {network}", "WORKDIR /workspace", "COPY *.py ./", "USER 1000"]
    fetched = {step.why for step in stage.steps if step.state == "not fetched"}
    assert fetched == ({"from efa-installer.amazonaws.com"} if network == "efa" else set())


def test_unknown_network(capsys):
    assert main(["ethernet"]) == 1
    assert capsys.readouterr().err == "ethernet: must be one of plain, efa, infiniband\n"
