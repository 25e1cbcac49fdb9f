"""What is costly to compute from a note's content, kept in the cache folder by content hash: vectors, term counts, ….

One SQLite file, `vectors.sqlite3`, never inside a vault. It may be deleted at any time, and nothing here ever raises
for its sake: a damaged or foreign file is rebuilt, a locked or unwritable one bypassed, and the caller computes anew.
What was put is on disk when `put_many` returns, so a killed run keeps all but its last batch.

Not promised: that a value is still there on the next read (another process may have dropped it).
"""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

FILE_NAME = "vectors.sqlite3"
APPLICATION_ID = 0x41524456
"""`ARDV` in SQLite's header: a file without it is not ours and is rebuilt."""
SCHEMA_VERSION = 1
BUSY_TIMEOUT_S = 2.0
_QUERY_SIZE = 900
"""Hashes to a query: below SQLite's oldest limit of 999 parameters."""
_SCAN_SHARE = 0.25
"""From this share of a table's rows on, one scan is faster than looking each hash up."""
_NORM_TOLERANCE = 0.02
"""A stored vector whose length differs from 1 by more is torn; float16 alone stays below 0.001."""

_DAMAGE = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_MISMATCH})
_MOMENTARY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT})


class ContentCache:
    """Blobs by kind and content hash. A context manager; opened by the first use, closed at the end."""

    def __init__(self, folder: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> None:
        self._path = folder / FILE_NAME
        self._busy_timeout_s = busy_timeout_s
        self._connection: sqlite3.Connection | None = None
        self._bypassed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; a later use opens it again."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    @property
    def bypassed(self) -> bool:
        """Whether the file could not be used, so that nothing is read or kept."""
        return self._bypassed

    def get_many(self, kind: str, hashes: Collection[bytes]) -> dict[bytes, bytes]:
        """What is kept of `kind` for those `hashes` that are known; the others are missing from the answer."""

        def read(connection: sqlite3.Connection) -> dict[bytes, bytes]:
            table = _table(connection, kind)
            return {} if table is None or not hashes else dict(_rows(connection, table, hashes))

        return self._attempt(read, otherwise={})

    def put_many(self, kind: str, blobs: Mapping[bytes, bytes]) -> None:
        """Keep `blobs`, replacing what was kept under the same hashes; one transaction."""

        def write(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                connection.execute("INSERT OR IGNORE INTO kinds (name) VALUES (?)", (kind,))
                (number,) = connection.execute("SELECT id FROM kinds WHERE name = ?", (kind,)).fetchone()
                connection.execute(
                    f"CREATE TABLE IF NOT EXISTS blobs_{number:d} (hash BLOB PRIMARY KEY NOT NULL, data BLOB NOT NULL)"
                )
                connection.executemany(
                    f"INSERT OR REPLACE INTO blobs_{number:d} (hash, data) VALUES (?, ?)",  # noqa: S608 - an integer
                    blobs.items(),
                )

        if blobs:
            self._attempt(write, otherwise=None)

    def retain_only(self, hashes: Collection[bytes]) -> int:
        """How many blobs of any kind were dropped because their hash is not in `hashes`.

        Called with the hashes of the notes that are visible now: what became invisible, and what an invisible note held
        before, leaves the cache, its bytes overwritten (`secure_delete`).
        """

        def write(connection: sqlite3.Connection) -> int:
            dropped = 0
            with _transaction(connection):
                connection.execute("CREATE TEMP TABLE IF NOT EXISTS visible (hash BLOB PRIMARY KEY) WITHOUT ROWID")
                connection.execute("DELETE FROM temp.visible")
                connection.executemany("INSERT OR IGNORE INTO temp.visible VALUES (?)", ((h,) for h in hashes))
                for (number,) in connection.execute("SELECT id FROM kinds").fetchall():
                    dropped += connection.execute(
                        f"DELETE FROM blobs_{number:d} WHERE hash NOT IN (SELECT hash FROM temp.visible)"  # noqa: S608 - an integer
                    ).rowcount
            return dropped

        return self._attempt(write, otherwise=0)

    def _attempt(self, work: Callable[[sqlite3.Connection], T], *, otherwise: T) -> T:
        """`work`'s result; a damaged file is rebuilt once, anything else that fails gives `otherwise`."""
        for rebuilt in (False, True):
            if self._bypassed:
                break
            try:
                if self._connection is None:
                    self._connection = _open(self._path, self._busy_timeout_s)
                return work(self._connection)
            except (sqlite3.Error, OSError) as error:
                code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_IOERR) & 0xFF
                if code in _MOMENTARY:
                    break
                self.close()
                if rebuilt or code not in _DAMAGE or not _remove(self._path):
                    self._bypassed = True
        return otherwise


def _open(path: Path, busy_timeout_s: float) -> sqlite3.Connection:
    """An open connection to our schema. Raises `sqlite3.DatabaseError` (NOTADB) for a file that is not ours."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=busy_timeout_s, isolation_level=None)
    try:
        # A rollback journal, not WAL: the cache folder may lie on a network home, and one file is easier to remove.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        if _is_ours(connection):
            return connection
        with _transaction(connection):
            if _is_empty(connection):
                connection.execute("CREATE TABLE kinds (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)")
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            elif not _is_ours(connection):  # another process may have made it ours while we waited for the lock
                connection.execute("SELECT * FROM this_file_is_not_ours")  # fails as damage does: it is rebuilt
    except BaseException:
        connection.close()
        raise
    return connection


def _is_ours(connection: sqlite3.Connection) -> bool:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    return (application, version) == (APPLICATION_ID, SCHEMA_VERSION)


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0 and not _is_ours(connection)


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _table(connection: sqlite3.Connection, kind: str) -> str | None:
    row = connection.execute("SELECT id FROM kinds WHERE name = ?", (kind,)).fetchone()
    return None if row is None else f"blobs_{row[0]:d}"


def _rows(connection: sqlite3.Connection, table: str, hashes: Collection[bytes]) -> Iterable[tuple[bytes, bytes]]:
    rows = connection.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0] or 0  # noqa: S608 - our own name
    if len(hashes) >= _SCAN_SHARE * rows:
        wanted = hashes if isinstance(hashes, (set, frozenset, dict)) else set(hashes)
        scan = connection.execute(f"SELECT hash, data FROM {table}")  # noqa: S608 - our own name
        yield from (row for row in scan if row[0] in wanted)
        return
    listed = list(hashes)
    for start in range(0, len(listed), _QUERY_SIZE):
        part = listed[start : start + _QUERY_SIZE]
        marks = ",".join("?" * len(part))
        yield from connection.execute(f"SELECT hash, data FROM {table} WHERE hash IN ({marks})", part)  # noqa: S608 - our own name and marks


def _remove(path: Path) -> bool:
    """Whether the file and its journal are gone (on Windows another process may hold it)."""
    try:
        for name in (path.name, f"{path.name}-journal", f"{path.name}-wal", f"{path.name}-shm"):
            path.with_name(name).unlink(missing_ok=True)
    except OSError:
        return False
    return True


def read_vectors(
    cache: ContentCache, kind: str, hashes: Sequence[bytes], dim: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """`(vectors, known)`: float32 [n, dim] in the order of `hashes`, zeros where `known` is False.

    Stored as float16. A blob of another length, or one that is not a unit vector, counts as unknown.
    """
    import numpy as np

    blobs = cache.get_many(kind, hashes)
    size_bytes = 2 * dim
    blank = bytes(size_bytes)
    kept = [blob if blob is not None and len(blob) == size_bytes else blank for blob in map(blobs.get, hashes)]
    vectors = np.frombuffer(b"".join(kept), dtype="<f2").astype(np.float32).reshape(len(hashes), dim)
    with np.errstate(invalid="ignore", over="ignore"):
        squared = np.einsum("ij,ij->i", vectors, vectors)
        known = np.abs(squared - 1.0) < _NORM_TOLERANCE
    vectors[~known] = 0.0
    return vectors, known


def write_vectors(cache: ContentCache, kind: str, hashes: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
    """Keep L2-normalised `vectors` (one row a hash) as float16."""
    import numpy as np

    rows = vectors.astype(np.dtype("<f2"))
    cache.put_many(kind, {key: row.tobytes() for key, row in zip(hashes, rows, strict=True)})


def read_passages(cache: ContentCache, kind: str, hashes: Sequence[bytes], dim: int) -> list[NDArray[np.float32]]:
    """The passages' vectors of each note, float32 [passages, dim], in the order of `hashes`; none where not known.

    Stored as signed bytes, each row against its own largest value: a half of what float16 takes, an error of 1 %.
    """
    import numpy as np

    blobs = cache.get_many(kind, hashes)
    found = []
    for key in hashes:
        blob = blobs.get(key, b"")
        whole = blob if len(blob) % dim == 0 else b""
        rows = np.frombuffer(whole, dtype=np.int8).astype(np.float32).reshape(-1, dim)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        found.append(rows / lengths if len(rows) and lengths.min() > 0 else np.zeros((0, dim), np.float32))
    return found


def write_passages(cache: ContentCache, kind: str, passages: Mapping[bytes, NDArray[np.float32]]) -> None:
    """Keep the L2-normalised vectors of the passages of some notes, one row a passage."""
    import numpy as np

    blobs = {}
    for key, rows in passages.items():
        largest = np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-9)
        blobs[key] = np.rint(rows * (127.0 / largest)).astype(np.int8).tobytes()
    cache.put_many(kind, blobs)
