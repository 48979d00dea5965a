"""A thin fake of AWS, for what moto does not play: answers that depend on the time, and on how often one has asked."""

from collections.abc import Callable
from typing import Any

from gpufleet.jobs.aws_batch.client import AwsBatchClient


class Clock:
    """Time that passes only where one sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


JOB_ID = "0c7ab5d8-0000-4000-8000-000000000001"


class Account(AwsBatchClient):
    """Thin fake of AWS: `answers` says what a call has for an answer at this time."""

    def __init__(self, answers: Callable[[str, dict[str, Any]], Any]) -> None:
        super().__init__("us-east-1")
        self.answers = answers

    def call(self, service: str, call: str, **arguments: object) -> dict[str, Any]:
        return self.answers(call, dict(arguments))

    def ask(self, service: str, call: str, answer: str, **arguments: object) -> list[Any]:
        return self.answers(call, dict(arguments))
