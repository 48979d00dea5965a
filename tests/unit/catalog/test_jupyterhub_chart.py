"""The chart that gpufleet installs, and the JupyterHub that notebooks' images have to fit."""

from pathlib import Path

from gpufleet.catalog.jupyterhub_chart import jupyterhub_chart

REPOSITORY = Path(__file__).parents[3]


def test_hub_of_the_tests_is_that_of_the_chart():
    lines = (REPOSITORY / "tools" / "jupyterhub" / "requirements.in").read_text().splitlines()
    assert f"jupyterhub=={jupyterhub_chart().hub}" in lines


def test_versions_are_those_of_the_guide():
    guide = (REPOSITORY / "docs" / "notebooks.md").read_text()
    minor = jupyterhub_chart().hub.rpartition(".")[0]
    assert f"zero-to-jupyterhub {jupyterhub_chart().chart} (JupyterHub {minor})" in guide
