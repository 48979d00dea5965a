"""How figures of an option read: money, hours, zones, and what the researcher is asked to confirm."""

from gpufleet.choose.options import Option
from gpufleet.choose.read_rate import Reading, least_lustre
from gpufleet.choose.scaling import Range

UNKNOWN = "unknown"


def between(found: Range | None, form: str = ",.2f") -> str:
    """A range, or one figure if both ends read the same."""
    if found is None:
        return UNKNOWN
    fast, slow = format(found.fast, form), format(found.slow, form)
    return fast if fast == slow else f"{fast}..{slow}"


def rounded(found: Range | None, small: str = ",.2f", *, whole_from: float = 100) -> str:
    """A range for a table: whole numbers if it ends at `whole_from` or above, else as `small`."""
    return between(found, ",.0f" if found is not None and found.slow >= whole_from else small)


def network(option: Option) -> str:
    """What joins the nodes: EFA 400 Gbps. One node has no network between its GPUs."""
    if option.nodes == 1:
        return "one node"
    speed = UNKNOWN if option.network.gbps is None else f"{option.network.gbps:g} Gbps"
    return f"{option.network.kind} {'up to ' if option.network.burst else ''}{speed}"


def age(option: Option) -> str:
    """When the price was true, and that it is old."""
    if option.as_of is None:
        return "" if option.usd_per_hour is None else "as listed"
    return f"{option.as_of}, old" if option.price_is_old else option.as_of


def quota(option: Option) -> str:
    """vCPUs and the code of the quota that they count against."""
    return ", ".join(f"{each.vcpus} of {each.code or f'{each.family} (no code known)'}" for each in option.quotas)


def confirmation(option: Option, spot: bool) -> str:
    """Budget against speed, in one sentence."""
    what = f"{option.nodes} x {option.type} in {option.region}, {option.gpus} {option.gpu_model}"
    price = f"{between(option.usd)} USD" if option.usd else "at an unknown price"
    old = f" (price of {age(option)})" if option.price_is_old else ""
    on_spot = (f", on Spot {between(option.spot_usd)} USD lately" if option.spot_usd else ", on Spot") if spot else ""
    limit = {
        "": "",
        "yes": f"; within the budget of {option.budget:,.2f} USD" if option.budget else "",
        "at best": f"; within the budget of {option.budget or 0:,.2f} USD at best",
        "no": f"; over the budget of {option.budget or 0:,.2f} USD",
        "unknown": f"; unknown whether that is within the budget of {option.budget or 0:,.2f} USD",
    }[option.verdict]
    return f"{what}: {between(option.hours, ',.1f')} h, {price} for the nodes{old}{on_spot}{limit}"


def reading_note(reading: Reading, cloud: str) -> str:
    """What the GPUs read, with the arithmetic, and the smallest Lustre that gives it."""
    wanted = f"{reading.mb_per_second:,.0f} MB/s"
    work = f"{reading.gpus} GPUs x {reading.samples_per_second:g} samples/s x {reading.sample_kb:g} kB = {wanted}"
    sizes = least_lustre(cloud, reading.mb_per_second)
    unit = "TiB" if cloud == "azure" else "GiB"
    listed = "; ".join(f"{each.size} {unit} at {each.tier} ({each.mb_per_second:,.0f} MB/s)" for each in sizes)
    return f"Reads {work}. " + (f"Lustre that gives it: {listed}." if sizes else "Your own files have to give it.")
