"""Cases of the rules on what a stack may cost."""

from gpufleet.rules import cost_limits

RAISE_STACK = "or raise stack_usd_month in the policy's configuration"
RAISE_POOL = "or raise pool_usd_month in the policy's configuration"
SEE = "see `gpufleet cost` for the unknown costs"


def stack(usd, complete=True, limit=50_000.0, pool="trainers", fits=27):
    return {"usd": usd, "complete": complete, "limit": limit, "pool": pool, "fits": fits}


def pool(most, usd, complete=True, limit=25_000.0, fits=13):
    return {"most": most, "usd": usd, "complete": complete, "limit": limit, "fits": fits}


def approval(most, gpus, limit=16, approved=None, others=0):
    return {"pool": "trainers", "most": most, "gpus": gpus, "others": others, "limit": limit, "approved": approved}


CASES = {
    cost_limits.ceiling_stack: [
        ("below", stack(49_999.99), "pass", ""),
        ("at-the-limit", stack(50_000.0), "pass", ""),
        (
            "just-above",
            stack(50_000.01),
            "fail",
            "trainers: ceiling=50,000 USD a month: the stack may cost more than its limit of 50,000 USD a month; "
            f"set max=27 or less in trainers, {RAISE_STACK} [any-cost-ceiling-stack]",
        ),
        (
            "nothing-fits",
            stack(60_000.0, complete=False, fits=0),
            "fail",
            "trainers: ceiling=at least 60,000 USD a month: the stack may cost more than its limit of 50,000 USD a "
            f"month; make its pools smaller, {RAISE_STACK} [any-cost-ceiling-stack]",
        ),
        (
            "below-and-not-complete",
            stack(12.5, complete=False),
            "unverified",
            "trainers: ceiling=at least 12.50 USD a month: not verified: unknown costs may raise it above the limit "
            f"of 50,000 USD a month; {SEE} [any-cost-ceiling-stack]",
        ),
    ],
    cost_limits.ceiling_pool: [
        ("at-the-limit", pool(13, 25_000.0), "pass", ""),
        (
            "just-above",
            pool(14, 25_001.0),
            "fail",
            "trainers: max=14: costs up to 25,001 USD a month, above the limit of 25,000 USD for one pool; set max=13 "
            f"or less, {RAISE_POOL} [any-cost-ceiling-pool]",
        ),
        (
            "no-node-fits",
            pool(1, 40_000.0, fits=0),
            "fail",
            "trainers: max=1: costs up to 40,000 USD a month, above the limit of 25,000 USD for one pool; choose a "
            f"smaller type, {RAISE_POOL} [any-cost-ceiling-pool]",
        ),
        (
            "not-complete",
            pool(2, 16.0, complete=False),
            "unverified",
            "trainers: max=2: not verified: costs up to at least 16.00 USD a month, and unknown costs may raise it "
            f"above the limit of 25,000 USD for one pool; {SEE} [any-cost-ceiling-pool]",
        ),
    ],
    cost_limits.price_known: [
        ("known", {"what": "NAT gateway", "reason": "", "known": True}, "pass", ""),
        (
            "no-price",
            {"what": "nodes: p5e.48xlarge", "reason": "no price of p5e.48xlarge in us-east-1", "known": False},
            "fail",
            "trainers: cost=nodes: p5e.48xlarge: no price of p5e.48xlarge in us-east-1, so that no figure holds "
            "it; run "
            "`gpufleet catalog refresh`, or suppress this for the resource and say what it costs in the reason "
            "[any-cost-price-known]",
        ),
        (
            "no-amount",
            {"what": "nodes: g5.xlarge", "reason": "the amount is not known before deployment", "known": None},
            "unverified",
            "trainers: cost=nodes: g5.xlarge: not verified: the amount is not known before deployment; give plain "
            "values, and see docs/cost.md for what is priced [any-cost-price-known]",
        ),
    ],
    cost_limits.minor_price_known: [
        ("known", {"missing": [], "undecided": []}, "pass", ""),
        (
            "missing",
            {"missing": ["NAT gateway", "KMS key", "disk (gp3)", "log group"], "undecided": ["files"]},
            "fail",
            "trainers: cost=NAT gateway, KMS key, disk (gp3) and 1 more: has no price in the catalog, so that no "
            "figure holds it; run `gpufleet catalog refresh`, or see `gpufleet cost` for each "
            "[any-cost-minor-price-known]",
        ),
        (
            "undecided",
            {"missing": [], "undecided": ["files"]},
            "unverified",
            "trainers: cost=files: not verified: the amount or the price is not known before deployment; see "
            "`gpufleet cost` for each [any-cost-minor-price-known]",
        ),
    ],
    cost_limits.approved: [
        ("at-the-limit", approval(2, 16), "pass", ""),
        ("approved", approval(5, 40, approved=40), "pass", ""),
        ("approved-beside-others", approval(5, 40, approved=40, others=17), "pass", ""),
        ("limit-reached-with-others", approval(1, 8, others=8), "pass", ""),
        (
            "above-with-others",
            approval(1, 8, others=9),
            "fail",
            "trainers: max=1: 8 GPUs on demand, and 9 of other pools without approval, are more than the 16 that need "
            "no approval; have them approved (approved: {trainers: 8} in the policy's configuration), or set a "
            "smaller max [any-cost-approval]",
        ),
        ("approval-below-the-limit-takes-nothing-away", approval(2, 16, approved=1), "pass", ""),
        (
            "one-more",
            approval(17, 17),
            "fail",
            "trainers: max=17: 17 GPUs on demand are more than the 16 that need no approval; have them approved "
            "(approved: {trainers: 17} in the policy's configuration), or set a smaller max [any-cost-approval]",
        ),
        (
            "more-than-approved",
            approval(6, 48, approved=40),
            "fail",
            "trainers: max=6: 48 GPUs on demand are more than the 40 that are approved; have them approved "
            "(approved: {trainers: 48} in the policy's configuration), or set a smaller max [any-cost-approval]",
        ),
        (
            "max-not-known",
            approval(None, None),
            "unverified",
            "trainers: max=unknown: not verified: how many GPUs it may have is not known, and more than 16 need "
            "approval; "
            "give plain types and max [any-cost-approval]",
        ),
    ],
    cost_limits.idle: [
        ("none", {"least": 0, "usd_day": 0.0, "environment": "aws-dev"}, "pass", ""),
        (
            "one",
            {"least": 1, "usd_day": 58.752, "environment": "aws-dev"},
            "fail",
            "trainers: min=1: 1 node runs and costs 58.75 USD a day, also when nobody works in aws-dev; set "
            "min=0: nodes "
            "then come with jobs [any-cost-idle]",
        ),
        (
            "price-not-known",
            {"least": 2, "usd_day": None, "environment": "dev"},
            "fail",
            "trainers: min=2: 2 nodes run and cost an amount that is not known, also when nobody works in dev; "
            "set min=0: "
            "nodes then come with jobs [any-cost-idle]",
        ),
    ],
    cost_limits.budget: [
        ("there", {"present": True, "elsewhere": False, "kinds": "aws.budgets.Budget"}, "pass", ""),
        ("elsewhere", {"present": False, "elsewhere": True, "kinds": "aws.budgets.Budget"}, "pass", ""),
        (
            "nowhere",
            {"present": False, "elsewhere": False, "kinds": "aws.budgets.Budget"},
            "fail",
            "trainers: budget=null: no budget notifies anybody when it costs more than planned; add one "
            "(aws.budgets.Budget), or say budget: elsewhere in the policy's configuration [any-cost-budget]",
        ),
    ],
    cost_limits.price_age: [
        ("none-old", {"old": {}, "days": 180}, "pass", ""),
        (
            "one",
            {"old": {"vpc nat-gateway in us-east-1": "2026-02"}, "days": 180},
            "fail",
            "trainers: as_of=2026-02: 1 price is older than 180 days, among them that of vpc nat-gateway in us-east-1; "
            "run `gpufleet catalog refresh` [any-cost-price-age]",
        ),
        (
            "oldest-of-several",
            {"old": {"kms key": "2026-03", "x": "2023-12-18"}, "days": 180},
            "fail",
            "trainers: as_of=2023-12-18: 2 prices are older than 180 days, among them that of x; run `gpufleet catalog "
            "refresh` [any-cost-price-age]",
        ),
    ],
    cost_limits.nat_gateways: [
        ("one", {"number": 1, "usd_month": 32.85}, "pass", ""),
        (
            "two",
            {"number": 2, "usd_month": 65.7},
            "fail",
            "trainers: nat=2: 2 NAT gateways stand for 65.70 USD a month; use one (nat: single) where nobody "
            "waits for it "
            "[aws-cost-nat-gateways]",
        ),
        (
            "price-not-known",
            {"number": 2, "usd_month": None},
            "fail",
            "trainers: nat=2: 2 NAT gateways stand; use one (nat: single) where nobody waits for it "
            "[aws-cost-nat-gateways]",
        ),
    ],
}


def test_case(case):
    case.check()
