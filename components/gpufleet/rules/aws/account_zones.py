"""The rule on the account's own names of zones."""

from collections.abc import Mapping

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified


@rule("aws-zone-names-agree", Severity.ERROR)
def zone_names_agree(*, given: Mapping[str, str], known: Mapping[str, str] | None) -> Outcome:
    """The names that the configuration gives to zone ids are those of this account, which differ from others'.

    `known` is the account's zone id -> name, None where nobody knows.

    Source: https://docs.aws.amazon.com/global-infrastructure/latest/regions/az-ids.html
    """
    if not given:
        return passed()
    if known is None:
        fix = "compare with `aws ec2 describe-availability-zones`"
        return unverified("zone_names", dict(given), "this account's names of zones are not known", fix)
    wrong = {zone: name for zone, name in given.items() if known.get(zone) != name}
    if not wrong:
        return passed()
    right = [f"{zone}: {known[zone]}" for zone in wrong if zone in known]
    none = [f"no {zone}" for zone in wrong if zone not in known]
    problem = "these are not the names of this account"
    return failed("zone_names", wrong, problem, f"it has {', '.join([*right, *none])}")
