"""Cases of gpufleet.rules.kubernetes.team_quotas."""

from gpufleet.rules.kubernetes.team_quotas import (
    budget_counts,
    files_keep_uids,
    pool_of_one,
    quota_counted,
    quotas_fit,
    teams_or_team,
    validate_teams,
)

CASES = {
    teams_or_team: [
        ("one", {"team": True, "teams": 0}, "pass", ""),
        ("several", {"team": False, "teams": 2}, "pass", ""),
        (
            "both",
            {"team": True, "teams": 2},
            "fail",
            "trainers: team=given: is set together with teams, which has 2; move it into teams, by its namespace"
            " [any-teams-or-team]",
        ),
    ],
    quota_counted: [
        ("counted", {"team": "vision", "quota": True, "queue": True}, "pass", ""),
        ("neither", {"team": "vision", "quota": False, "queue": False}, "pass", ""),
        (
            "no quota",
            {"team": "vision", "quota": False, "queue": True},
            "fail",
            "trainers: teams.vision.quota=null: is missing: its jobs would wait forever; give {pool: GPUs}"
            " [any-teams-quota-queue]",
        ),
        (
            "no queue",
            {"team": "vision", "quota": True, "queue": False},
            "fail",
            "trainers: teams.vision.quota=given: has no effect without a queue; add gpufleet:queue "
            "[any-teams-quota-queue]",
        ),
    ],
    quotas_fit: [
        ("all of it", {"pool": "v100", "quotas": 16, "gpus": 16}, "pass", ""),
        (
            "one more",
            {"pool": "v100", "quotas": 17, "gpus": 16},
            "fail",
            "trainers: teams.quota=17: of all teams in pool v100 are more GPUs than its 16; make "
            "their sum 16 or less, and "
            "set queue.lend to share what is idle [any-teams-quota-sum]",
        ),
    ],
    pool_of_one: [
        ("its own", {"pool": "a", "owners": ["vision"], "users": ["vision"]}, "pass", ""),
        (
            "used",
            {"pool": "a", "owners": ["vision"], "users": ["speech", "vision"]},
            "fail",
            "trainers: teams.vision.pools=a: is used by speech too; leave it to one of them, or to no one"
            " [any-teams-own-pool]",
        ),
        (
            "two owners",
            {"pool": "a", "owners": ["vision", "speech"], "users": []},
            "fail",
            "trainers: teams.vision.pools=a: is used by speech too; leave it to one of them, or to no one"
            " [any-teams-own-pool]",
        ),
    ],
    budget_counts: [
        ("counts", {"team": "vision", "cloud_pools": ["a"]}, "pass", ""),
        (
            "shared only",
            {"team": "vision", "cloud_pools": []},
            "fail",
            "trainers: teams.vision.budget=given: would cover nothing: the team has no cloud "
            "pool; name such "
            "pools in its pools, or leave the budget out; `gpufleet usage --by team` splits shared pools"
            " [any-teams-budget]",
        ),
    ],
    files_keep_uids: [
        ("nobody", {"users": 0, "access_point": True}, "pass", ""),
        ("root of the files", {"users": 2, "access_point": False}, "pass", ""),
        (
            "access point",
            {"users": 2, "access_point": True},
            "fail",
            "trainers: users=2: users would all write as the one of the EFS access point; set "
            "gpufleet:files.access_point: "
            "false, or leave users out [any-users-access-point]",
        ),
    ],
}


def test_all_of_an_environment():
    teams = {
        "vision": {"quota": {"v100": 12, "b100": 1}, "pools": ["a100"], "budget": {"usd_per_month": 1}},
        "speech": {"quota": {"v100": 5, "a100": -1}, "budget": {"usd_per_month": 1}, "pools": ["v100"]},
        "idle": {},
    }
    found = validate_teams(teams, True, {"v100": 16, "a100": 8}, ["a100"])
    rules = [(each.rule, each.argument) for each in found if each.rejects]
    assert rules == [
        ("any-teams-or-team", "team"),
        ("any-argument-word", "teams.vision.quota"),
        ("any-argument-least", "teams.speech.quota.a100"),
        ("any-teams-budget", "teams.speech.budget"),
        ("any-teams-quota-queue", "teams.idle.quota"),
        ("any-teams-quota-sum", "teams.quota"),
        ("any-teams-own-pool", "teams.speech.pools"),
    ]


def test_case(case):
    case.check()
