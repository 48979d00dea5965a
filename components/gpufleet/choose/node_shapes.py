"""Compare one node with several GPUs and several nodes, for each GPU model that is available both ways."""

from collections.abc import Sequence
from dataclasses import dataclass

from gpufleet.choose.options import Option


@dataclass(frozen=True, slots=True)
class NodeComparison:
    """The best option on one node and the best one on several, of one cloud and GPU model. Both prices are known."""

    one: Option
    several: Option

    @property
    def break_even(self) -> float:
        """How many times as long the run may take on several nodes before one node is cheaper; no model is in it."""
        one, several = self.one.usd_per_hour, self.several.usd_per_hour
        assert one is not None
        assert several is not None
        return one / (several * self.several.nodes) if several else float("inf")

    @property
    def advice(self) -> str:
        """What follows, in a sentence."""
        times = self.break_even
        if times <= 1:
            return "one node costs no more, and has no network between nodes"
        border = f"several are cheaper while they take less than {times:.2f} times as long"
        found = self.several.stretch
        if found is None:
            return f"{border}; how long they take is not known"
        said = f"the model says {found.fast:.2f} to {found.slow:.2f}"
        if found.slow < times:
            return f"several nodes are cheaper: {said} times as long, {times:.2f} would cost the same"
        if found.fast >= times:
            return f"one node is cheaper: {said} times as long on several, {times:.2f} would cost the same"
        return f"open: {border}, and {said}"


def compare_node_counts(options: Sequence[Option]) -> list[NodeComparison]:
    """A pair for each cloud and GPU model that has both. options: best first. Without a known price there is none."""
    known = [option for option in options if option.usd_per_hour is not None]
    pairs = []
    for key in dict.fromkeys((option.cloud, option.gpu_model) for option in known):
        alike = [option for option in known if (option.cloud, option.gpu_model) == key]
        one = next((option for option in alike if option.nodes == 1), None)
        several = next((option for option in alike if option.nodes > 1), None)
        if one and several:
            pairs.append(NodeComparison(one, several))
    return pairs
