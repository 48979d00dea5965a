"""Cases of gpufleet.rules.schedule."""

from gpufleet.pools.schedule import cron_of, sizes_of
from gpufleet.rules.schedule import comes_back, number_of_entries, sizes, time_of_day, time_zone, validate_schedule

HERE = {"argument": "schedule[0]"}
ZONES = ("Europe/Berlin", "Asia/Tokyo")
CASES = {
    time_of_day: [
        ("evening", {**HERE, "at": "20:00"}, "pass", ""),
        ("first", {**HERE, "at": "00:00"}, "pass", ""),
        ("last", {**HERE, "at": "23:59"}, "pass", ""),
        (
            "too-late",
            {**HERE, "at": "24:00"},
            "fail",
            'trainers: schedule[0]=24:00: is not a time of day; write hours and minutes in quotes, like "07:30" '
            "[any-hours-time]",
        ),
        (
            "short",
            {**HERE, "at": "7:30"},
            "fail",
            'trainers: schedule[0]=7:30: is not a time of day; write hours and minutes in quotes, like "07:30" '
            "[any-hours-time]",
        ),
    ],
    time_zone: [
        ("utc", {**HERE, "zone": "UTC", "zones": ZONES}, "pass", ""),
        ("place", {**HERE, "zone": "Europe/Berlin", "zones": ZONES}, "pass", ""),
        (
            "misspelt",
            {**HERE, "zone": "Europe/Berlim", "zones": ZONES},
            "fail",
            (
                "trainers: schedule[0]=Europe/Berlim: is not a known time zone; did you mean Europe/Berlin? "
                "[any-hours-zone]"
            ),
        ),
        (
            "none",
            {**HERE, "zone": "9 o'clock", "zones": ZONES},
            "fail",
            "trainers: schedule[0]=9 o'clock: is not a known time zone; use UTC, or Europe/Berlin [any-hours-zone]",
        ),
        ("utc-anywhere", {**HERE, "zone": "UTC", "zones": ()}, "pass", ""),
        (
            "not-known-here",
            {**HERE, "zone": "Europe/Berlin", "zones": ()},
            "unverified",
            "trainers: schedule[0]=Europe/Berlin: not verified: this machine has no list of time zones; install "
            "tzdata, or use UTC [any-hours-zone]",
        ),
    ],
    sizes: [
        ("nothing", {**HERE, "least": 0, "most": 0, "pool_most": 4}, "pass", ""),
        ("all", {**HERE, "least": 4, "most": 4, "pool_most": 4}, "pass", ""),
        (
            "above-the-pool",
            {**HERE, "least": 0, "most": 5, "pool_most": 4},
            "fail",
            "trainers: schedule[0]=0 to 5: is above the pool's max=4; use 4 or fewer [any-hours-sizes]",
        ),
        (
            "upside-down",
            {**HERE, "least": 3, "most": 2, "pool_most": 4},
            "fail",
            "trainers: schedule[0]=3 to 2: has min above max; use a min of 2 or fewer [any-hours-sizes]",
        ),
        (
            "below-zero",
            {**HERE, "least": -1, "most": 2, "pool_most": 4},
            "fail",
            "trainers: schedule[0]=-1 to 2: is below 0 nodes; use 0 or more [any-hours-sizes]",
        ),
    ],
    comes_back: [
        ("no-entry", {"argument": "schedule", "mosts": []}, "pass", ""),
        ("back", {"argument": "schedule", "mosts": [0, 4]}, "pass", ""),
        (
            "never",
            {"argument": "schedule", "mosts": [0, 0]},
            "fail",
            "trainers: schedule=[0, 0]: leaves the pool without nodes forever; add an entry with nodes "
            "[any-hours-back]",
        ),
    ],
    number_of_entries: [
        ("most", {"number": 125}, "pass", ""),
        (
            "too-many",
            {"number": 126},
            "fail",
            "trainers: schedule=126: is more entries than a group may have; use at most 125 [aws-hours-number]",
        ),
    ],
}

NIGHT = {"at": "20:00", "days": ["mon", "fri"], "time_zone": "Europe/Berlin", "max": 0}
MORNING = {"at": "07:30", "days": ["mon", "fri"], "time_zone": "Europe/Berlin"}


def test_case(case):
    case.check()


def lines(**pool):
    return [each.line("trainers") for each in validate_schedule({"min": 1, "max": 4} | pool) if each.status == "fail"]


def test_nights_are_legal_and_all_faults_are_said_at_once():
    assert lines(schedule=[NIGHT, MORNING]) == []
    assert lines(schedule=[]) == lines() == lines(schedule="nights") == []
    assert lines(
        schedule=[{"at": "25:00", "days": ["sunday"], "time_zone": "Mars", "min": 2, "max": 1}, NIGHT, NIGHT]
    ) == [
        'trainers: schedule[0].at=25:00: is not a time of day; write hours and minutes in quotes, like "07:30" '
        "[any-hours-time]",
        "trainers: schedule[0].time_zone=Mars: is not a known time zone; use UTC, or Europe/Berlin [any-hours-zone]",
        "trainers: schedule[0].days=sunday: is not an allowed value; did you mean sun? (use sun, mon, tue, wed, "
        "thu, fri or sat) [any-argument-word]",
        "trainers: schedule[0]=2 to 1: has min above max; use a min of 1 or fewer [any-hours-sizes]",
        "trainers: schedule=[sunday 25:00 Mars, mon 20:00 Europe/Berlin, fri 20:00 Europe/Berlin, mon 20:00 "
        "Europe/Berlin, fri 20:00 Europe/Berlin]: names fri 20:00 Europe/Berlin, mon 20:00 Europe/Berlin twice; name "
        "it once [any-argument-distinct]",
    ]


def test_what_is_made_of_it():
    pool = {"min": 1, "max": 4}
    assert (cron_of(NIGHT), sizes_of(NIGHT, pool)) == ("0 20 * * 1,5", (0, 0))
    assert (cron_of(MORNING), sizes_of(MORNING, pool)) == ("30 7 * * 1,5", (1, 4))
    assert cron_of({"at": "00:05"}) == "5 0 * * *"
    assert cron_of({"at": "20:00", "days": ["mon", "tue", "wed", "thu", "fri"]}) == "0 20 * * 1,2,3,4,5"
