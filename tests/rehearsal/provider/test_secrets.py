"""Values on the engine's wire."""

import pulumi.runtime.settings  # first: the module that we ask cannot be imported by itself
from pulumi.runtime import rpc

from gpufleet_rehearsal.provider.wire import SECRET, SIGNATURE, read_struct, write_struct


def test_secrets_are_marked_as_the_sdk_marks_them():
    assert pulumi.runtime.settings
    assert (rpc._special_sig_key, rpc._special_secret_sig) == (SIGNATURE, SECRET)


def test_a_secret_is_read_as_what_it_holds():
    secret = {SIGNATURE: SECRET, "value": {"token": "t", "tries": 3}}
    assert read_struct(write_struct({"login": secret, "all": [secret]})) == {
        "login": {"token": "t", "tries": 3},
        "all": [{"token": "t", "tries": 3}],
    }


def test_what_has_another_signature_stays_as_it_is():
    archive = {SIGNATURE: "0def7320c3a5731c473e5ecbe6d01bc7", "path": "a.zip"}
    assert read_struct(write_struct({"code": archive})) == {"code": archive}
