"""Rules on several teams that share a cluster: their quotas, their own pools and their budgets."""

from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.generic import allowed_choice, at_least
from gpufleet.rules.kubernetes.users import validate_users_of_teams
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule


@rule("any-teams-or-team", Severity.ERROR)
def teams_or_team(*, team: bool, teams: int) -> Outcome:
    """An environment has one team under `team`, or several under `teams`; `team`: whether the first is given.

    Source: our own choice: jobs of the one would not say whose they are, those of the others must.
    """
    if not (team and teams):
        return passed()
    return failed(
        "team", "given", f"is set together with teams, which has {teams}", "move it into teams, by its namespace"
    )


@rule("any-teams-quota-queue", Severity.ERROR)
def quota_counted(*, team: str, quota: bool, queue: bool) -> Outcome:
    """A team has a quota exactly if there is a queue, which enforces it.

    Source: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/: a flavor without quota is 0, and jobs wait for ever.
    """
    if quota == queue:
        return passed()
    if queue:
        return failed(f"teams.{team}.quota", None, "is missing: its jobs would wait forever", "give {pool: GPUs}")
    return failed(f"teams.{team}.quota", "given", "has no effect without a queue", "add gpufleet:queue")


@rule("any-teams-quota-sum", Severity.ERROR)
def quotas_fit(*, pool: str, quotas: int, gpus: int) -> Outcome:
    """The sum of a pool's quotas is not above its GPUs.

    Source: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/: quota is what Kueue admits by, without a look at the
    nodes: of more, jobs are admitted whose pods stay Pending and hold a part of their GPUs meanwhile. To share idle
    GPUs, let teams borrow (queue.lend), which keeps to the sum.
    """
    if quotas <= gpus:
        return passed()
    fix = f"make their sum {gpus} or less, and set queue.lend to share what is idle"
    return failed("teams.quota", quotas, f"of all teams in pool {pool} are more GPUs than its {gpus}", fix)


@rule("any-teams-own-pool", Severity.ERROR)
def pool_of_one(*, pool: str, owners: Sequence[str], users: Sequence[str]) -> Outcome:
    """A team's own pool is not used by another team, as its own or in its quota. `users`: teams with a quota in it.

    Source: our own rule: the pool's whole bill goes by the tag of its one team.
    """
    others = sorted(({*owners, *users}) - {owners[0]}) if owners else []
    if not others:
        return passed()
    fix = "leave it to one of them, or to no one"
    return failed(f"teams.{owners[0]}.pools", pool, f"is used by {join_words(others, 'and')} too", fix)


@rule("any-teams-budget", Severity.ERROR)
def budget_counts(*, team: str, cloud_pools: Sequence[str]) -> Outcome:
    """A team's budget covers its own cloud pools.

    Source: https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/cost-alloc-tags.html: a tag is of a whole
    resource; the nodes of a shared pool have one bill. Own servers are on no cloud's bill.
    """
    if cloud_pools:
        return passed()
    fix = "name such pools in its pools, or leave the budget out; `gpufleet usage --by team` splits shared pools"
    return failed(f"teams.{team}.budget", "given", "would cover nothing: the team has no cloud pool", fix)


@rule("any-users-access-point", Severity.ERROR)
def files_keep_uids(*, users: int, access_point: bool) -> Outcome:
    """Users have files under their own uid: not through an EFS access point, which has its own user.

    Source: https://docs.aws.amazon.com/efs/latest/ug/enforce-identity-access-points.html: its identity replaces the
    client's for every operation.
    """
    if not (users and access_point):
        return passed()
    fix = "set gpufleet:files.access_point: false, or leave users out"
    return failed("users", users, "users would all write as the one of the EFS access point", fix)


def validate_teams(
    teams: Mapping[str, Mapping[str, object]], single: bool, gpus: Mapping[str, int] | None, clouds: Sequence[str]
) -> list[Finding]:
    """Every finding on teams together. Reads quota, pools, budget, users of each.

    single: whether one team is given beside them. gpus: the most GPUs of each pool that the queue counts; None: there
    is not a queue. clouds: pools that a cloud bills.
    """
    findings = [teams_or_team(team=single, teams=len(teams))]
    known = sorted({*clouds, *(gpus or ())})
    sums: dict[str, int] = {}
    owners: dict[str, list[str]] = {}
    users: dict[str, list[str]] = {}
    for team, args in teams.items():
        quota = coerce.mapping(args, "quota")
        own = coerce.texts(args, "pools")
        findings.append(quota_counted(team=team, quota=args.get("quota") is not None, queue=gpus is not None))
        for pool in quota:
            number = coerce.whole(quota, pool, 0)
            findings.append(allowed_choice(argument=f"teams.{team}.quota", word=pool, legal=known))
            findings.append(at_least(argument=f"teams.{team}.quota.{pool}", value=number, least=0))
            sums[pool] = sums.get(pool, 0) + max(0, number)
            users.setdefault(pool, []).extend([team] if number > 0 else [])
        for pool in own:
            findings.append(allowed_choice(argument=f"teams.{team}.pools", word=pool, legal=known))
            owners.setdefault(pool, []).append(team)
        if args.get("budget") is not None:
            findings.append(budget_counts(team=team, cloud_pools=[pool for pool in own if pool in clouds]))
    counted = gpus or {}
    findings += [quotas_fit(pool=pool, quotas=sums[pool], gpus=counted[pool]) for pool in sums if pool in counted]
    findings += [pool_of_one(pool=pool, owners=owners[pool], users=users.get(pool, [])) for pool in owners]
    return findings + validate_users_of_teams({team: coerce.mapping(args, "users") for team, args in teams.items()})


def validate_users_of_files(teams: Mapping[str, Mapping[str, object]], access_point: bool) -> list[Finding]:
    """Whether the shared files keep the uids of the teams' users. access_point: whether it is by one."""
    users = sum(len(coerce.mapping(args, "users")) for args in teams.values())
    return [files_keep_uids(users=users, access_point=access_point)]
