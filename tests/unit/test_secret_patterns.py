"""One list of what looks like a secret: each pattern has an example, which it finds, and which is masked."""

import pytest
import yaml

from gpufleet.images.mirror.secrets import known_patterns
from gpufleet.secret_patterns import looks_secret, mask_patterns, matching_patterns, secret_patterns
from tests.unit.secret_examples import CERTAIN, LIKELY

EXAMPLES = CERTAIN | LIKELY
CUT_OFF = (
    *(f"gh{sign}_abcdefghijklmnopqrstu" for sign in "pousr"), "ASIAABCDEFGHIJKLMNOP",
    "SharedAccessKey=abcdefghijklmnopqrst",
    "pul-0123456789abcdef0123456789abcdef", "password: abc", "passwd=abc", "passphrase=abc", "SECRET=abc", "token: abc",
    "access-key: abc", "--registry-token=abcd", "-password abcd",
)  # fmt: skip
PLAIN = (
    "aws-dev: max=4: costs up to 64,148 USD; set max=1 or less [any-cost-ceiling-pool]", "--max-tokens 4096",
    "python3 train.py --tokenizer gpt2 --secrets-file /run/x", "TOKENIZERS_PARALLELISM=false", "task-abc sk-learn",
    "arn:aws:secretsmanager:us-east-1:1:secret:gpufleet/dev/wandb", "https://example.org:8080/a@b", "s3://bucket/key",
    "docker://nvcr.io/nvidia/pytorch@sha256:" + "0a" * 32,
)  # fmt: skip


def test_every_pattern_has_an_example_and_a_source() -> None:
    assert list(EXAMPLES) == [each.id for each in secret_patterns()]
    assert [each.id for each in secret_patterns() if each.likely] == list(LIKELY)
    assert set(CERTAIN) < set(known_patterns())


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_is_found_and_masked(name: str) -> None:
    text = f"before {EXAMPLES[name]} behind"
    assert name in [each.id for each in matching_patterns(text)]
    masked = mask_patterns(text, "[hidden]")
    assert not looks_secret(masked), masked
    assert masked.startswith("before ")


@pytest.mark.parametrize("text", CUT_OFF)
def test_what_is_short_or_cut_off_is_found_too(text: str) -> None:
    assert looks_secret(text)


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_secret(text: str) -> None:
    assert [each.id for each in matching_patterns(text)] == []


def test_list_says_where_each_form_is_from() -> None:
    from gpufleet import secret_patterns as module

    content = yaml.safe_load(module._text())
    assert all(each["source"] for each in content["patterns"])
    assert all(word == word.lower() for each in content["patterns"] for word in each["near"])
