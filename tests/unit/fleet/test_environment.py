"""What a stack's state tells: owner, end, GPUs, price; and the order of many."""

import gzip
import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from gpufleet.errors import UserError
from gpufleet.fleet.environment import EnvironmentSummary, environment_of, sort_environments
from gpufleet.fleet.expires_at import expiry_of
from gpufleet.fleet.file_backend import folder_of, stacks_of_files
from gpufleet.fleet.stack_state import StackState

TODAY = date(2026, 11, 21)
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
Eks = Callable[..., list[dict[str, Any]]]


def the_one(backend: Any) -> EnvironmentSummary:
    (state,) = stacks_of_files(backend.url)
    return environment_of(state, TODAY)


def day_of(found: EnvironmentSummary) -> date | None:
    return found.end.day if found.end else None


def test_environment_of_a_cluster(backend: Any, eks: Eks) -> None:
    backend.put("dev", eks("dev"))
    found = the_one(backend)
    assert (found.name, found.owner, found.purpose, day_of(found)) == (
        "training/dev",
        "ana",
        "vision",
        date(2026, 12, 31),
    )
    assert (found.resources, found.gpus_at_last_update, found.gpus_most) == (2, 8, 12)
    assert str(found.created) == "2026-10-31 10:00:00.500000+00:00"
    assert str(found.updated) == "2026-11-01 10:00:00.123456+00:00"
    assert found.endpoints == {"dev.EKS.example"}
    # The control plane always; three nodes of g5.12xlarge (5.672) and their disks at the most.
    assert found.costs["floor"].hour == pytest.approx(0.10)
    assert 0.10 + 3 * 5.672 < found.costs["ceiling"].hour < 0.10 + 3 * 5.672 + 0.1
    assert found.notes == ()


def test_purpose_is_the_tag_of_that_name_before_the_project_s(backend: Any, eks: Eks) -> None:
    resources = eks("dev")
    resources[1]["inputs"]["tags"]["purpose"] = "a paper"
    backend.put("dev", resources)
    assert the_one(backend).purpose == "a paper"


def test_tags_of_the_provider_count_for_what_has_none(backend: Any, eks: Eks) -> None:
    resources = eks("dev")
    tags = resources[1]["inputs"].pop("tags")
    del resources[2]["inputs"]["tags"]
    resources[0]["inputs"]["defaultTags"] = json.dumps({"tags": tags})
    backend.put("dev", resources)
    found = the_one(backend)
    assert (found.owner, day_of(found)) == ("ana", date(2026, 12, 31))


def test_own_cluster_has_no_tags_but_labels(backend: Any, onprem: Eks) -> None:
    backend.put("lab", onprem("lab", owner="ana", project="vision", grace="2d", **{"expires-at": "150h"}))
    found = the_one(backend)
    assert (found.owner, found.purpose, found.grace) == ("ana", "vision", timedelta(hours=48))
    assert (found.end and str(found.end.moment)) == "2026-11-06 16:00:00.500000+00:00"
    assert (found.resources, found.ending, found.expired(NOON)) == (5, 5, True)
    assert (found.gpus_at_last_update, found.gpus_most, found.costs["ceiling"].hour) == (10, 10, 0)


def test_own_nodes_that_no_output_tells_of_are_not_counted_as_none(backend: Any, onprem: Eks) -> None:
    resources = onprem("lab", owner="ana")
    resources[0]["outputs"] = {"jobs": {"4dabf18193072939515e22adb298388d": "secret", "ciphertext": "v1:hush"}}
    backend.put("lab", resources)
    found = the_one(backend)
    assert (found.gpus_at_last_update, found.gpus_most, found.end) == (None, None, None)


def test_servers_that_may_join_a_cluster_count_beside_its_pools_and_cost_nothing(
    backend: Any, eks: Eks, hybrid: Eks
) -> None:
    backend.put("dev", hybrid("dev"))
    found = the_one(backend)
    assert (found.gpus_at_last_update, found.gpus_most) == (10 + 8, 10 + 12)
    # AWS bills the servers' vCPUs, of which nobody has said the number; the servers themselves are in no line.
    assert [each.unknown for each in found.costs.values()] == [1, 1, 1]
    backend.put("dev", eks("dev"))
    assert {key: each.month for key, each in found.costs.items()} == {
        key: each.month for key, each in the_one(backend).costs.items()
    }


@pytest.mark.parametrize("told", [{}, {"v100": {"gpus": 4, "label": "dev-v100"}}, {"rented": {"max": 2}}])
def test_servers_that_no_output_tells_of_are_not_counted_as_none(backend: Any, hybrid: Eks, told: Any) -> None:
    resources = hybrid("dev")
    resources[0]["outputs"] = {"jobs": {"pools": told}}
    backend.put("dev", resources)
    found = the_one(backend)
    assert (found.gpus_at_last_update, found.gpus_most) == (None, None)


def test_servers_of_a_cluster_that_has_gone_are_in_no_figure(backend: Any, hybrid: Eks) -> None:
    backend.put("dev", [each for each in hybrid("dev") if each["id"] in ("dev", "admin", "trainers")])
    found = the_one(backend)
    assert (found.gpus_at_last_update, found.gpus_most) == (8, 12)


def test_tags_count_before_labels(backend: Any, eks: Eks, onprem: Eks) -> None:
    # The label is what is left of the tag: no sign but a few.
    own = onprem("dev", owner="ana-lab.example", **{"expires-at": "2026-11-01"})
    backend.put("dev", [*eks("dev", owner="ana@lab.example"), *own])
    found = the_one(backend)
    assert (found.owner, day_of(found)) == ("ana@lab.example", date(2026, 12, 31))


def test_two_ends_are_the_later_one_and_said(backend: Any, eks: Eks) -> None:
    resources = eks("dev")
    resources[2]["inputs"]["tags"] = {**resources[2]["inputs"]["tags"], "expires-at": "2027-01-07"}
    backend.put("dev", resources)
    found = the_one(backend)
    assert day_of(found) == date(2027, 1, 7)
    assert found.notes == (
        "tags or labels name 2 days as its end, the last of which counts; the next `up` makes them one",
    )


def test_lifetime_counts_from_what_its_own_life_has_made(backend: Any, eks: Eks) -> None:
    # Files of an earlier life are older than the environment.
    files = {**eks("dev", expires="150h")[1], "urn": "urn:pulumi:dev::training::aws:efs/fileSystem:FileSystem::files",
             "type": "aws:efs/fileSystem:FileSystem", "created": "2026-01-01T00:00:00Z", "protect": True}  # fmt: skip
    resources = [*eks("dev", expires="150h"), files]
    for each in resources[1:]:
        each["inputs"]["tags"]["grace"] = "2d"
    backend.put("dev", resources)
    found = the_one(backend)
    assert found.end is not None
    # Made on 31 October at 10:00:00.5.
    assert str(found.end.moment) == "2026-11-06 16:00:00.500000+00:00"
    assert (found.end.day, found.grace) == (date(2026, 11, 6), timedelta(hours=48))
    assert str(found.created) == "2026-01-01 00:00:00+00:00"
    assert (found.resources, found.ending, found.only_data) == (3, 2, False)


def test_day_belongs_to_the_environment_to_its_last_moment() -> None:
    end = expiry_of("2026-11-21", None)
    assert end is not None
    assert [end.past(NOON), end.past(datetime(2026, 11, 22, tzinfo=UTC))] == [False, True]
    assert end.distance(NOON) == "0 d"
    assert [expiry_of(said, None) for said in ("never", "soon", "150h", "0h", 3)] == [None] * 5


def test_kept_data_and_what_it_stands_on_has_no_end(backend: Any, eks: Eks) -> None:
    resources = eks("dev", expires="2026-11-01")
    group, pool = resources[1], resources[2]
    pool |= {"protect": True, "dependencies": [group["urn"]]}
    backend.put("dev", resources)
    found = the_one(backend)
    assert (found.ending, found.only_data, found.expired(NOON)) == (0, True, False)
    assert found.notes == ("only kept data is left, with what it needs",)


def test_tag_that_is_secret_or_no_day_is_not_told(backend: Any, eks: Eks) -> None:
    resources = eks("dev", expires="soon")
    secret = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:hush"}
    for each in resources[1:]:
        each["inputs"]["tags"]["owner"] = secret
    backend.put("dev", resources)
    found = the_one(backend)
    assert (found.owner, found.end) == (None, None)
    assert "hush" not in repr(found)


def test_assumptions_of_the_last_update_count(backend: Any, eks: Eks) -> None:
    backend.put("dev", eks("dev"))
    before = the_one(backend).costs["steady"].hour
    entry = {"config": {"gpufleet:usage": {"busy_nodes": {"*": 3}, "busy_hours": 730}}}
    backend.file("history/training/dev/dev-1795298041000000000.history.json", {"config": {}})
    backend.file("history/training/dev/dev-1795298059000000000.history.json", entry)
    after = the_one(backend)
    assert after.costs["steady"].hour == pytest.approx(after.costs["ceiling"].hour)
    assert before < after.costs["steady"].hour
    backend.file("history/training/dev/dev-1795298060000000000.history.json", {"config": {"gpufleet:usage": "lots"}})
    assert the_one(backend).notes == ("its assumptions (gpufleet:usage) cannot be read: the defaults count",)


def test_what_is_about_to_be_deleted_is_in_no_figure(backend: Any, eks: Eks) -> None:
    resources = eks("dev")
    old = {**resources[2], "delete": True, "inputs": {**resources[2]["inputs"], "instanceTypes": ["g5.48xlarge"]}}
    backend.put("dev", [*resources, old])
    found = the_one(backend)
    assert found.gpus_most == 12
    assert found.notes == ("1 replaced and not deleted yet, in no figure; the next `up` deletes them",)


def test_type_that_nobody_knows_is_unknown_and_not_zero(backend: Any, eks: Eks) -> None:
    resources = eks("dev")
    resources[2]["inputs"]["instanceTypes"] = ["p9.48xlarge"]
    backend.put("dev", resources)
    found = the_one(backend)
    assert (found.gpus_at_last_update, found.gpus_most) == (None, None)
    assert not found.costs["ceiling"].complete


def test_locked_packed_new_and_old_layouts_are_read(backend: Any, eks: Eks) -> None:
    packed = backend.put("dev", eks("dev"))
    packed.with_name("dev.json.gz").write_bytes(gzip.compress(packed.read_bytes()))
    packed.unlink()
    packed.with_name("dev.json.bak").write_text("{}")
    packed.with_name("dev.json.attrs").write_text("{}")
    backend.file("locks/organization/training/dev/0f.json", {})
    backend.put("fresh", None)
    backend.file("stacks/ancient.json", {"version": 3, "checkpoint": {"latest": {"resources": eks("ancient")}}})
    found = {each.name: environment_of(each, TODAY) for each in stacks_of_files(backend.url)}
    assert [(name, each.resources, each.updating) for name, each in found.items()] == [
        ("ancient", 2, False),
        ("dev", 2, True),
        ("fresh", 0, False),
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "line 1: is not JSON: it ends too early"),
        ("[]", "must be an object, not a list"),
        ("{}", "holds no checkpoint"),
        ('{"checkpoint": {"latest": []}}', "holds no deployment"),
        ('{"checkpoint": {"latest": {"resources": [1]}}}', "resources must be a list of resources"),
    ],
)
def test_broken_state_is_said_and_hides_no_other(backend: Any, eks: Eks, content: str, reason: str) -> None:
    backend.put("good", eks("good"))
    file = backend.file("stacks/training/bad.json", content)
    bad, good = (environment_of(each, TODAY) for each in stacks_of_files(backend.url))
    assert bad.fault == f"{file}: its state cannot be read: {reason}; see bad.json.bak"
    assert good.owner == "ana"


def test_backend_that_is_not_there_is_one_line() -> None:
    with pytest.raises(UserError, match=r"^file:///no/such: folder not found; give the backend's URL"):
        stacks_of_files("file:///no/such")


def test_folder_of_a_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ana")
    urls = ["file:///a%20b/c?metadata=skip", "file://~", "file://~/states", "file://./states"]
    assert [str(folder_of(url)) for url in urls] == ["/a b/c", "/home/ana", "/home/ana/states", "states"]


def test_expired_ones_come_first_and_empty_ones_last() -> None:
    def there(stack: str, expires: date | None, resources: int = 1) -> EnvironmentSummary:
        end = expiry_of(str(expires), None)
        return EnvironmentSummary(stack, "p", end=end, resources=resources, ending=resources)

    days = {
        "late": date(2026, 11, 1), "later": date(2026, 10, 1), "today": TODAY, "soon": date(2026, 12, 1), "never": None
    }  # fmt: skip
    found = [there(name, day) for name, day in reversed(days.items())] + [there("gone", date(2026, 1, 1), 0)]
    assert [each.stack for each in sort_environments(found, NOON)] == [
        "later",
        "late",
        "today",
        "soon",
        "never",
        "gone",
    ]
    assert [each.stack for each in found if each.expired(NOON)] == ["later", "late"]


def test_empty_stack_costs_nothing_and_is_no_fault() -> None:
    found = environment_of(StackState("dev", "p"), TODAY)
    assert (found.resources, found.costs, found.fault) == (0, {}, "")
