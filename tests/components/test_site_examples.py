"""The Python example on each component's page of the site, run as it stands: no rule of ours says anything of it."""

import pytest
from pulumi.runtime import set_config

from tests.components.samples import components, construct_sample, every_package
from tools.website.example_programs import NAME, arguments, programs


@every_package
def test_every_component_has_an_example(package: str) -> None:
    assert sorted(arguments(package)) == sorted(components(package))


@every_package
def test_the_python_examples_build_their_components(package: str, capfd: pytest.CaptureFixture[str]) -> None:
    texts = {each: programs(package, each)["Python"] for each in arguments(package)}

    def run() -> None:
        # What a user sets by `pulumi config set --secret`.
        for name in ("vpnKey", "oidcClientSecret"):
            set_config(f"project:{name}", "a-long-enough-key")
        for component, text in texts.items():
            exec(compile(text, f"{component}.py", "exec"), {})

    # All in one deployment, and in no preview, which knows less: a deployment for each took longer.
    made = construct_sample(run, preview=False)
    for component in texts:
        assert made.one(f"gpufleet-{package}:index:{component}", NAME)
    assert len([each for each in made.resources if each.custom]) >= len(texts)
    assert "".join(capfd.readouterr()) == ""
