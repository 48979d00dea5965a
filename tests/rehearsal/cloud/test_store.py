"""The file of the cloud: several processes, crashes, full disks."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap

import pytest

from gpufleet_rehearsal.cloud import store as store_module
from gpufleet_rehearsal.cloud.store import Store, StoreError, merged


def add(store, id_="net-1", **more):
    values = {
        "urn": f"u::{id_}",
        "name": id_,
        "inputs": {"a": 1},
        "outputs": {"arn": f"arn:{id_}"},
        "at": 0,
        "ready_at": 0,
    }
    return store.add(type_="t", id_=id_, **{**values, **more})


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "cloud.db")
    yield made
    made.close()


def test_resource_is_found_by_id_arn_and_name(store):
    resource = add(store, outputs={"arn": "arn:x", "name": "core"})
    for handle in ("net-1", "arn:x", "core"):
        assert store.find(handle) == [resource]
        assert store.find(handle, ["t"]) == [resource]
        assert store.find(handle, ["other"]) == []
    changed = store.change(resource, outputs={"name": "new"})
    assert store.find("core") == []
    assert store.find("new") == [changed]
    store.remove(changed, 5)
    assert store.find("new") == []
    assert store.resources() == []
    assert [(r.id, r.deleted_at) for r in store.resources(gone=True)] == [("net-1", 5)]


def test_inner_objects_of_inputs_and_outputs_are_one():
    assert merged({"a": {"b": 1, "c": [1]}}, {"a": {"c": [2], "d": 3}}) == {"a": {"b": 1, "c": [2], "d": 3}}


def test_transaction_is_all_or_nothing(store):
    def half():
        with store.transaction():
            add(store)
            store.count("x")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert store.resources() == []
    assert store.counted("x") == 0


def test_two_processes_see_each_other(store):
    other = Store(store.path)
    resource = add(store)
    assert other.resources() == [resource]
    other.change(resource, inputs={"a": 2})
    assert store.get("t", "net-1").inputs == {"a": 2}
    assert [store.count("n"), other.count("n"), store.count("n")] == [1, 2, 3]
    other.close()


def test_tags_and_files(store):
    resource = add(store, inputs={"tags": {"owner": "x"}})
    assert resource.tags == {"owner": "x"}
    store.put_file(resource, "/data/model", b"weights")
    assert store.files(resource) == {"/data/model": b"weights"}
    store.remove(resource, 1)
    assert store.files(resource) == {}


def test_deletion_that_nobody_finished(store):
    store.change(add(store), status="deleting", ready_at=10.0)
    store.finish_deletions(9)
    assert len(store.resources()) == 1
    store.finish_deletions(10)
    assert store.resources() == []


def test_kill_in_the_middle_of_a_transaction_damages_nothing(store):
    add(store)
    script = """
        import os, signal, sys
        from pathlib import Path
        from gpufleet_rehearsal.cloud.store import Store
        store = Store(Path(sys.argv[1]))
        with store.transaction():
            for n in range(200):
                store.add(type_="t", id_=str(n), urn="u", name="n", inputs={}, outputs={}, at=0, ready_at=0)
            os.kill(os.getpid(), signal.SIGKILL)
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script), store.path], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    assert [r.id for r in Store(store.path).resources()] == ["net-1"]


def test_full_disk_is_one_line_and_no_damage(store):
    add(store)
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match=r"cloud\.db: database or disk is full; free some space") as error:
        add(store, "net-2", inputs={"big": "x" * 1_000_000})
    assert "\n" not in str(error.value)
    store._db.execute("PRAGMA max_page_count = 100000")
    assert [r.id for r in store.resources()] == ["net-1"]
    assert add(store, "net-3").id == "net-3"


def test_locked_file_is_one_line(store, monkeypatch):
    monkeypatch.setattr(store_module, "BUSY_SECONDS", 0.01)
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    impatient = Store(store.path)
    with pytest.raises(StoreError, match="database is locked; another command"):
        add(impatient)
    other.execute("ROLLBACK")
    other.close()
    assert add(impatient).id == "net-1"
    impatient.close()


@pytest.mark.parametrize("content", [b"not a database" * 500, b"SQLite format 3\0" + b"\xff" * 4096])
def test_damaged_file_is_one_line(tmp_path, content):
    (tmp_path / "cloud.db").write_bytes(content)
    with pytest.raises(StoreError, match=r"cloud\.db: .*; ") as error:
        Store(tmp_path / "cloud.db")
    assert "\n" not in str(error.value)


def test_missing_directory_is_one_line(tmp_path):
    with pytest.raises(StoreError, match="check that the directory exists"):
        Store(tmp_path / "nowhere" / "cloud.db")
