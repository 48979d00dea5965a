"""What the simulated cloud holds: one SQLite file that survives a crash of any process.

Every change is one transaction in write-ahead mode, so `kill -9` loses nothing that was answered and several plugin
processes can work on it. A full disk, a locked or a damaged file is one clear StoreError; the transaction is undone.

Moments are simulated seconds since the rehearsal began (clock.py).
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.resource import LoggedOperation, SimulatedResource, lies_in, merged, normalized_handle
from gpufleet_rehearsal.table.paths import Json

SCHEMA = """
CREATE TABLE IF NOT EXISTS resources (
    serial INTEGER PRIMARY KEY, revision INTEGER NOT NULL DEFAULT 0,
    type TEXT NOT NULL, id TEXT NOT NULL, urn TEXT NOT NULL, name TEXT NOT NULL,
    inputs TEXT NOT NULL, outputs TEXT NOT NULL, status TEXT NOT NULL, reasons TEXT NOT NULL DEFAULT '[]',
    version INTEGER NOT NULL DEFAULT 1, owner INTEGER, hidden INTEGER NOT NULL DEFAULT 0,
    created_at REAL NOT NULL, ready_at REAL NOT NULL, deleted_at REAL);
CREATE INDEX IF NOT EXISTS resources_by_type ON resources (type, deleted_at);
CREATE TABLE IF NOT EXISTS handles (handle TEXT NOT NULL, serial INTEGER NOT NULL, PRIMARY KEY (handle, serial));
CREATE TABLE IF NOT EXISTS files (
    serial INTEGER NOT NULL, path TEXT NOT NULL, content BLOB NOT NULL, written_at REAL NOT NULL,
    PRIMARY KEY (serial, path));
CREATE TABLE IF NOT EXISTS operations (
    number INTEGER PRIMARY KEY, at REAL NOT NULL, took REAL NOT NULL, operation TEXT NOT NULL,
    type TEXT NOT NULL, urn TEXT NOT NULL, id TEXT NOT NULL, outcome TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS former (
    serial INTEGER NOT NULL, at REAL NOT NULL, inputs TEXT NOT NULL, outputs TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS counters (key TEXT PRIMARY KEY, count INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
BUSY_SECONDS = 20.0
"""How long a process waits for another one's transaction before it gives up."""
RESERVE_BYTES = 32 * 2**20
"""What stays free on the disk: room for the engine's largest state, twice. Its file backend writes the state in place
when the disk is full, and so destroys it."""
_COLUMNS = (
    "serial, revision, type, id, urn, name, inputs, outputs, status, reasons, version, owner, hidden, "
    "created_at, ready_at, deleted_at"
)


class StoreError(UserError):
    """The file of the simulated cloud cannot be read or written; the text is one line."""


def ensure_room(folder: Path) -> None:
    """Stop before the disk is full, while there is room for what has begun to come to its end. Errors: StoreError."""
    disk = shutil.disk_usage(folder)
    # Some network file systems tell nothing: then all figures are 0.
    if disk.total and disk.free < RESERVE_BYTES:
        raise StoreError(
            f"{folder}: {disk.free >> 20} MiB free on the disk, and a rehearsal needs {RESERVE_BYTES >> 20} MiB; free "
            "some space, then run the command again; nothing was lost"
        )


class Store:
    """The file `path` (made when it is not there; its directory must be), which its owner alone may read: what programs
    give to a provider as a secret arrives there in plain text. SQLite's own files beside it have the same mode."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: dict[int, SimulatedResource] = {}
        self._depth = 0
        with self._explained():
            with suppress(OSError):  # SQLite says what is wrong.
                path.touch(mode=0o600)
                path.chmod(0o600)
            self._db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'former'").fetchone():
                self._db.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")

    def close(self) -> None:
        """Close the file; another Store can open it again."""
        self._db.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            text = str(error)
            if "full" in text or "disk I/O" in text:
                advice = "free some space, then run the command again; nothing was lost"
            elif "locked" in text:
                advice = f"another command has been at work on it for {BUSY_SECONDS:g} s; wait for it or end it"
            elif "not a database" in text or "malformed" in text:
                advice = f"the file is damaged; remove {self.path.parent} to begin the rehearsal again"
            else:
                advice = "check that the directory exists and is writable"
            raise StoreError(f"{self.path}: {text}; {advice}") from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, alone on the file; may be nested. StoreError when the file cannot be written."""
        with self._explained():
            if self._depth == 0:
                ensure_room(self.path.parent)
                self._db.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
            except BaseException:
                self._depth -= 1
                if self._depth == 0 and self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            self._depth -= 1
            if self._depth == 0:
                self._db.execute("COMMIT")

    def _rows(self, where: str, values: Sequence[object]) -> list[SimulatedResource]:
        """Resources that meet a condition, oldest first; what has not changed since it was last read is not read."""
        with self._explained():
            keys = self._db.execute(
                f"SELECT serial, revision FROM resources WHERE {where} ORDER BY serial", values
            ).fetchall()
            for serial, revision in keys:
                known = self._seen.get(serial)
                if known is None or known.revision != revision:
                    self._seen[serial] = self._read(serial)
        return [self._seen[serial] for serial, _ in keys]

    def _read(self, serial: int) -> SimulatedResource:
        row = self._db.execute(f"SELECT {_COLUMNS} FROM resources WHERE serial = ?", (serial,)).fetchone()
        cells = dict(zip(_COLUMNS.split(", "), row, strict=True))
        for column in ("inputs", "outputs", "reasons"):
            cells[column] = json.loads(cells[column])
        cells["hidden"] = bool(cells["hidden"])
        return SimulatedResource(**cells)

    def resources(self, type_: str | None = None, *, gone: bool = False) -> list[SimulatedResource]:
        """Everything the cloud holds, oldest first; with `gone` also what was deleted."""
        where = "1" if gone else "deleted_at IS NULL"
        return self._rows(f"{where} AND type = ?", (type_,)) if type_ else self._rows(where, ())

    def get(self, type_: str, id_: str) -> SimulatedResource | None:
        """The resource of this type and id, or None."""
        return next(iter(self._rows("type = ? AND id = ? AND deleted_at IS NULL", (type_, id_))), None)

    def by_serial(self, serial: int) -> SimulatedResource:
        """The resource of this serial, deleted or not."""
        return self._rows("serial = ?", (serial,))[0]

    def find(self, handle: str, types: Sequence[str] = ()) -> list[SimulatedResource]:
        """Resources that are called `handle` (id, arn or name), of these types only if any are given."""
        where = "serial IN (SELECT serial FROM handles WHERE handle = ?) AND deleted_at IS NULL"
        found = self._rows(where, (normalized_handle(handle),))
        return [resource for resource in found if not types or resource.type in types]

    def below(self, id_: str) -> list[SimulatedResource]:
        """What lies in the resource of this id, where ids are a tree."""
        return [resource for resource in self._rows("deleted_at IS NULL", ()) if lies_in(resource.id, id_)]

    def owned_by(self, serial: int) -> list[SimulatedResource]:
        """What the cloud made for this resource."""
        return self._rows("owner = ? AND deleted_at IS NULL", (serial,))

    def add(
        self,
        *,
        type_: str,
        id_: str,
        urn: str,
        name: str,
        inputs: Mapping[str, Json],
        outputs: Mapping[str, Json],
        at: float,
        ready_at: float,
        owner: int | None = None,
        hidden: bool = False,
    ) -> SimulatedResource:
        """Put a resource into the cloud."""
        with self.transaction():
            cursor = self._db.execute(
                "INSERT INTO resources"
                " (type, id, urn, name, inputs, outputs, status, owner, hidden, created_at, ready_at)"
                " VALUES (?, ?, ?, ?, ?, ?, 'available', ?, ?, ?, ?)",
                (type_, id_, urn, name, json.dumps(inputs), json.dumps(outputs), owner, hidden, at, ready_at),
            )
            resource = self.by_serial(int(cursor.lastrowid or 0))
            self._index(resource)
        return resource

    def change(self, resource: SimulatedResource, **columns: object) -> SimulatedResource:
        """Change columns of a resource (inputs, outputs and reasons as values, not as JSON text)."""
        texts = {k: json.dumps(v) if k in ("inputs", "outputs", "reasons") else v for k, v in columns.items()}
        with self.transaction():
            assignments = ", ".join(f"{column} = ?" for column in texts)
            self._db.execute(
                f"UPDATE resources SET {assignments}, revision = revision + 1 WHERE serial = ?",
                (*texts.values(), resource.serial),
            )
            changed = self.by_serial(resource.serial)
            self._index(changed)
        return changed

    def remove(self, resource: SimulatedResource, at: float) -> None:
        """Take a resource, what lies in it and what the cloud made for it out of the cloud."""
        with self.transaction():
            for owned in self.owned_by(resource.serial):
                self.remove(owned, at)
            self._db.execute("DELETE FROM files WHERE serial = ?", (resource.serial,))
            self.change(resource, status="deleting", deleted_at=at)

    def finish_deletions(self, now: float) -> None:
        """Remove what was being deleted when its plugin died, and is over by now."""
        for resource in self._rows("status = 'deleting' AND deleted_at IS NULL AND ready_at <= ?", (now,)):
            self.remove(resource, resource.ready_at)

    def keep_former(self, resource: SimulatedResource, at: float) -> None:
        """Remember how a resource is before an update that is over at a moment."""
        cells = (resource.serial, at, json.dumps(resource.inputs), json.dumps(resource.outputs))
        with self.transaction():
            self._db.execute("INSERT INTO former VALUES (?, ?, ?, ?)", cells)

    def former(self, type_: str, since: float) -> list[SimulatedResource]:
        """Resources of a type, each as it was before an update that was over after a moment, or is not yet."""
        with self._explained():
            rows = self._db.execute("SELECT serial, inputs, outputs FROM former WHERE at > ?", (since,)).fetchall()
        found = [(self.by_serial(serial), inputs, outputs) for serial, inputs, outputs in rows]
        return [replace(r, inputs=json.loads(i), outputs=json.loads(o)) for r, i, o in found if r.type == type_]

    def _index(self, resource: SimulatedResource) -> None:
        self._db.execute("DELETE FROM handles WHERE serial = ?", (resource.serial,))
        if resource.deleted_at is None:
            pairs = [(handle, resource.serial) for handle in sorted(resource.handles)]
            self._db.executemany("INSERT INTO handles VALUES (?, ?)", pairs)

    def put_file(self, resource: SimulatedResource, path: str, content: bytes, at: float = 0.0) -> None:
        """Write a file (an image, an object) into a file system (a registry, a bucket)."""
        with self.transaction():
            self._db.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", (resource.serial, path, content, at))

    def files(self, resource: SimulatedResource) -> dict[str, bytes]:
        """What lies in a resource, by path."""
        with self._explained():
            rows = self._db.execute(
                "SELECT path, content FROM files WHERE serial = ? ORDER BY path", (resource.serial,)
            )
            return dict(rows.fetchall())

    def log(self, operation: str, type_: str, urn: str, id_: str, *, at: float, took: float, outcome: str) -> None:
        """Note a call and what became of it."""
        with self.transaction():
            self._db.execute(
                "INSERT INTO operations (at, took, operation, type, urn, id, outcome) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (at, took, operation, type_, urn, id_, outcome),
            )

    def operations(self) -> list[LoggedOperation]:
        """Every call, first one first."""
        with self._explained():
            rows = self._db.execute("SELECT * FROM operations ORDER BY number").fetchall()
        return [LoggedOperation(*row) for row in rows]

    def count(self, key: str) -> int:
        """Add one to a counter and return it (1 at the first time)."""
        with self.transaction():
            self._db.execute(
                "INSERT INTO counters VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET count = count + 1", (key,)
            )
            return self.counted(key)

    def counted(self, key: str) -> int:
        """What a counter stands at."""
        with self._explained():
            row = self._db.execute("SELECT count FROM counters WHERE key = ?", (key,)).fetchone()
        return row[0] if row else 0

    def forget_counters(self, prefix: str, keep: Sequence[str] = ()) -> None:
        """Set counters that begin with `prefix` back to 0, but for those that begin with one of `keep`."""
        with self.transaction():
            keys = [key for (key,) in self._db.execute("SELECT key FROM counters").fetchall()]
            gone = [(key,) for key in keys if key.startswith(prefix) and not key.startswith(tuple(keep))]
            self._db.executemany("DELETE FROM counters WHERE key = ?", gone)

    def fact(self, key: str) -> str | None:
        """A remembered value, or None."""
        with self._explained():
            row = self._db.execute("SELECT value FROM facts WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def remember(self, key: str, value: str) -> None:
        """Remember a value."""
        with self.transaction():
            self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (key, value))


__all__ = ["LoggedOperation", "SimulatedResource", "Store", "StoreError", "merged"]
