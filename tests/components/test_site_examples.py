"""The Python example on each component's page of the site, run as it stands: no rule of ours says anything of it."""

import pytest
from pulumi.runtime import set_config

from tests.components.samples import SAMPLES, components, construct_sample, every_package
from tools.website.example_programs import NAME, arguments, programs


@every_package
def test_every_component_has_an_example(package: str) -> None:
    assert sorted(arguments(package)) == sorted(components(package))


@pytest.mark.parametrize(
    ("package", "component"), [(package, each) for package in sorted(SAMPLES) for each in arguments(package)]
)
def test_the_python_example_builds_the_component(
    package: str, component: str, preview: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    program = compile(programs(package, component)["Python"], f"{component}.py", "exec")

    def run() -> None:
        # What a user sets by `pulumi config set --secret`.
        for name in ("vpnKey", "oidcClientSecret"):
            set_config(f"project:{name}", "a-long-enough-key")
        exec(program, {})

    made = construct_sample(run, preview)
    assert made.one(f"gpufleet-{package}:index:{component}").name == NAME
    assert [each.name for each in made.resources if each.custom]
    assert "".join(capfd.readouterr()) == ""
