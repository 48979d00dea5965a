"""The flat program that `make bench` measures ours against: both make the very same, as the engine previews them."""

from pathlib import Path

import pytest

from bench import flat
from bench.places import ENVIRONMENT, Places


@pytest.mark.sweep
def test_a_flat_program_of_the_same_resources(tmp_path: Path) -> None:
    """It is refused where a type, an input or a dependency differs: what it cannot say of a component is found here."""
    steps = Places(tmp_path).flat().preview(ENVIRONMENT)
    types = {step["newState"]["type"] for step in steps}
    assert {"aws:eks/cluster:Cluster", "pulumi:providers:kubernetes", "kubernetes:apps/v1:DaemonSet"} <= types
    assert not any(each.startswith("gpufleet") for each in types)
    fewer = [step for step in steps if step["newState"]["type"] != "kubernetes:helm.sh/v3:Release"]
    assert flat.difference(steps, fewer) == ["kubernetes:helm.sh/v3:Release aws-dev-autoscaler-release"]
