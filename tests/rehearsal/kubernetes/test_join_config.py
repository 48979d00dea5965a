"""What a server's script tells nodeadm, as the rehearsal reads it: of scripts that `gpufleet.aws.join_script` makes."""

import pytest

from gpufleet.aws.join_script import join_script
from gpufleet_rehearsal.kubernetes.join_config import JoinConfigError, join_config

ARGS = {
    "cluster_name": "lab",
    "region": "us-east-1",
    "kubernetes_version": "1.34",
    "node_name": "gpu-1",
    "labels": {"gpufleet.dev/gpu": "V100"},
    "taints": [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"},
        {"key": "lab", "effect": "NO_EXECUTE"},
    ],
    "nodeadm_version": "v1.0.9",
    "nodeadm_sha256": "a" * 64,
}
SSM = {"activation_id": "a-1", "activation_code": "it's secret"}
ANYWHERE = {"trust_anchor_arn": "arn:anchor", "profile_arn": "arn:profile", "role_arn": "arn:role"}


def test_labels_taints_and_credentials_are_those_of_the_script():
    config = join_config(join_script(**ARGS, credentials=SSM))
    assert (config.cluster, config.region) == ("lab", "us-east-1")
    assert config.labels == {"gpufleet.dev/gpu": "V100", "gpufleet.dev/server": "gpu-1"}
    assert sorted(config.taints, key=lambda taint: taint["key"]) == [
        {"key": "lab", "value": "", "effect": "NO_EXECUTE"},
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"},
    ]
    assert config.ssm == {"activationId": "a-1", "activationCode": "it's secret"}
    assert config.roles_anywhere == {}


def test_certificates_are_read_too():
    config = join_config(join_script(**ARGS, credentials=ANYWHERE))
    assert config.ssm == {}
    assert config.roles_anywhere["nodeName"] == "gpu-1"
    assert config.roles_anywhere["trustAnchorArn"] == "arn:anchor"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("", "does not contain a NodeConfig"),
        ('NODE_CONFIG=\'{"kind": "Pod"}\'\n\nmain', "does not contain a NodeConfig"),
        ("NODE_CONFIG='{\n\nmain", "its header is not valid shell"),
    ],
)
def test_a_script_without_a_config_is_said(script, words):
    with pytest.raises(JoinConfigError, match=words):
        join_config(script)
