"""What keeps a kubeconfig from leading to its cluster from another machine."""

import pytest
import yaml

from gpufleet.kubernetes.kubeconfig_portability import kubeconfig_faults

WHOLE = {
    "clusters": [{"name": "lab", "cluster": {"server": "https://10.0.0.2:6443", "certificate-authority-data": "Y2E="}}],
    "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "admin"}}],
    "current-context": "lab",
    "users": [{"name": "admin", "user": {"token": "t"}}],
}
FAULTS = {
    "whole": ({}, []),
    "no context chosen": ({"current-context": ""}, ["has no current-context"]),
    "another context": ({"current-context": "home"}, ["has no context home, which is its current-context"]),
    "files": (
        {
            "clusters": [{"name": "lab", "cluster": {"certificate-authority": "ca.crt"}}],
            "users": [{"name": "admin", "user": {"client-certificate": "c.crt", "client-key": "c.key"}}],
        },
        ["names a file (certificate-authority)", "names a file (client-certificate)", "names a file (client-key)"],
    ),
    "no clusters": ({"clusters": []}, ["is not a kubeconfig with clusters, contexts and users"]),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults(case: str) -> None:
    changes, faults = FAULTS[case]
    assert kubeconfig_faults(yaml.safe_dump({**WHOLE, **changes})) == faults  # type: ignore[dict-item]


def test_what_is_no_yaml() -> None:
    assert kubeconfig_faults("a: [") == ["is not a kubeconfig: line 1: is not YAML: did not find expected node content"]
