"""A pool's intent while it is read out of a plan: what is known, and which words are not."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gpufleet.plan.resource import UNKNOWN


@dataclass
class PoolBuilder:
    """Words of `gpufleet.pools.eks_pool.EksPool` with their values, and those whose value the program does not tell."""

    known: dict[str, object] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def say(self, word: str, value: object) -> None:
        """A word's value: `UNKNOWN` makes the word an unknown one, None leaves it out, so that its default holds."""
        if value is UNKNOWN:
            self.unknown.append(word)
        elif value is not None:
            self.known[word] = value

    def say_texts(self, word: str, values: Sequence[object]) -> None:
        """A list of texts; one unknown entry makes the word unknown."""
        texts = [each for each in values if isinstance(each, str)]
        self.say(word, UNKNOWN if len(texts) < len(values) else texts or None)
