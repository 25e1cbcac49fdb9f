"""The one store of what can be computed again: a SQLite file a vault, `cache.sqlite3`, and arrays in files beside it.

Whoever keeps something has a kind, a key and a codec of their own: what was read of a file by its path, words, vectors
and verdicts by a note's content, what a vault taught by its kind alone. Kinds that begin with `vault:` are of the vault
and stay; all others are by content and go with their note (`retain_only`).

Everything may be deleted at any time, and nothing here ever raises for its sake: a damaged or foreign file is rebuilt,
a locked or unwritable one bypassed, and the caller computes anew. What was put is on disk when `put_many` returns, so a
killed run keeps all but its last batch. Never inside a vault.

Not promised: that a value is still there on the next read (another process may have dropped it).
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import sqlite3
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path
    from types import TracebackType

    import numpy as np
    import numpy.typing as npt

    Arrays = dict[str, npt.NDArray[Any]]

T = TypeVar("T")

FILE_NAME: Final = "cache.sqlite3"
APPLICATION_ID: Final = 0x41524456
"""`ARDV` in SQLite's header: a file without it is not ours and is rebuilt."""
SCHEMA_VERSION: Final = 2
LATEST: Final = b"latest"
"""The key of a kind that keeps one value."""
OF_VAULT: Final = "vault:"
"""Begins the kinds that `retain_only` leaves alone."""
BUSY_TIMEOUT_S = 2.0
_FORMER_FILES: Final = ("index.sqlite3", "vectors.sqlite3", "weights.json")
"""What earlier versions kept apart. Removed when the store is made: what they say of a note would stay for ever."""
_QUERY_SIZE = 900
"""Hashes to a query: below SQLite's oldest limit of 999 parameters."""
_SCAN_SHARE = 0.25
"""From this share of a table's rows on, one scan is faster than looking each hash up."""

_DAMAGE = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_MISMATCH})
_MOMENTARY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT})


class ContentCache:
    """Blobs by kind and key. A context manager; opened by the first use, closed at the end."""

    def __init__(self, folder: Path | None, *, busy_timeout_s: float | None = None) -> None:
        """`folder` is the vault's own in the cache; with None nothing is kept."""
        self._folder = folder
        self._busy_timeout_s = BUSY_TIMEOUT_S if busy_timeout_s is None else busy_timeout_s
        self._connection: sqlite3.Connection | None = None
        self._bypassed = folder is None

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

    def get(self, kind: str) -> bytes:
        """The one value of a kind that keeps only the latest; `b""` where there is none."""
        return self.get_many(kind, (LATEST,)).get(LATEST, b"")

    def put(self, kind: str, blob: bytes) -> None:
        """Keep the one value of a kind instead of the one before."""
        self.put_many(kind, {LATEST: blob})

    def each(self, kind: str, take: Callable[[bytes, bytes], None]) -> bool:
        """Whether every key and value of a kind could be read; `take` is given them one by one."""

        def read(connection: sqlite3.Connection) -> bool:
            table = _table(connection, kind)
            if table is not None:
                for row in connection.execute(f"SELECT hash, data FROM {table}"):  # noqa: S608 - our own name
                    take(*row)
            return True

        return self._attempt(read, otherwise=False)

    def get_many(self, kind: str, hashes: Collection[bytes]) -> dict[bytes, bytes]:
        """What is kept of `kind` for those `hashes` that are known; the others are missing from the answer."""

        def read(connection: sqlite3.Connection) -> dict[bytes, bytes]:
            table = _table(connection, kind)
            return {} if table is None or not hashes else dict(_rows(connection, table, hashes))

        return self._attempt(read, otherwise={})

    def put_many(
        self, kind: str, blobs: Mapping[bytes, bytes], *, without: Collection[bytes] = (), alone: bool = False
    ) -> bool:
        """Whether `blobs` are kept, replacing what was kept under the same keys; one transaction.

        What the kind keeps under the keys `without` goes; where they stand `alone`, so does all else.
        """

        def write(connection: sqlite3.Connection) -> bool:
            with _transaction(connection):
                connection.execute("INSERT OR IGNORE INTO kinds (name) VALUES (?)", (kind,))
                (number,) = connection.execute("SELECT id FROM kinds WHERE name = ?", (kind,)).fetchone()
                connection.execute(
                    f"CREATE TABLE IF NOT EXISTS blobs_{number:d} (hash BLOB PRIMARY KEY NOT NULL, data BLOB NOT NULL)"
                )
                if alone:
                    connection.execute(f"DELETE FROM blobs_{number:d}")  # noqa: S608 - an integer
                connection.executemany(
                    f"DELETE FROM blobs_{number:d} WHERE hash = ?",  # noqa: S608 - an integer
                    ((key,) for key in without),
                )
                connection.executemany(
                    f"INSERT OR REPLACE INTO blobs_{number:d} (hash, data) VALUES (?, ?)",  # noqa: S608 - an integer
                    blobs.items(),
                )
            return True

        return not (blobs or without or alone) or self._attempt(write, otherwise=False)

    def retain_only(self, hashes: Collection[bytes]) -> int:
        """How many blobs of any kind by content were dropped because their hash is not in `hashes`.

        Called with the hashes of the notes that are visible now: what became invisible, and what an invisible note held
        before, leaves the cache, its bytes overwritten (`secure_delete`).
        """

        def write(connection: sqlite3.Connection) -> int:
            dropped = 0
            with _transaction(connection):
                connection.execute("CREATE TEMP TABLE IF NOT EXISTS visible (hash BLOB PRIMARY KEY) WITHOUT ROWID")
                connection.execute("DELETE FROM temp.visible")
                connection.executemany("INSERT OR IGNORE INTO temp.visible VALUES (?)", ((h,) for h in hashes))
                for (number,) in connection.execute(
                    "SELECT id FROM kinds WHERE substr(name, 1, ?) != ?", (len(OF_VAULT), OF_VAULT)
                ).fetchall():
                    dropped += connection.execute(
                        f"DELETE FROM blobs_{number:d} WHERE hash NOT IN (SELECT hash FROM temp.visible)"  # noqa: S608 - an integer
                    ).rowcount
            return dropped

        return self._attempt(write, otherwise=0)

    def _attempt(self, work: Callable[[sqlite3.Connection], T], *, otherwise: T) -> T:
        """`work`'s result; a damaged file is rebuilt once, anything else that fails gives `otherwise`."""
        for rebuilt in (False, True):
            if self._bypassed or self._folder is None:
                break
            try:
                if self._connection is None:
                    self._connection = _open(self._folder / FILE_NAME, self._busy_timeout_s)
                return work(self._connection)
            except (sqlite3.Error, OSError) as error:
                code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_IOERR) & 0xFF
                if code in _MOMENTARY:
                    break
                self.close()
                if rebuilt or code not in _DAMAGE or not _remove(self._folder / FILE_NAME):
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
                for name in _FORMER_FILES:
                    _remove(path.with_name(name))
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


KEY_BYTES: Final = 32
_MAGIC: Final = b"aria-dream arrays 1\n"
_HEAD_BYTES: Final = 128
"""Magic and key; zeros; at the end the length of the table of contents, and the sum of all that follows the head."""
_ALIGNMENT: Final = 64
_WORD: Final = "<u8"
_WORD_BYTES: Final = 8


def read_arrays(file: Path, key: bytes) -> Arrays | None:
    """The arrays that `write_arrays` put there under `key`, as read-only views of the file; None where it holds others,
    is damaged, or is none of ours.

    A file that another program cuts short while it is in use ends this process; our own only ever replace it.
    """
    import numpy as np

    try:
        with file.open("rb") as opened:
            data = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # an empty file cannot be mapped
        return None
    if len(data) <= _HEAD_BYTES or len(data) % _ALIGNMENT or not data[:_HEAD_BYTES].startswith(_MAGIC + key):
        return None
    size, total = np.frombuffer(data, dtype=_WORD, count=2, offset=_HEAD_BYTES - 2 * _WORD_BYTES).tolist()
    # A sum of words sees any one of them change and any part missing, and takes a tenth of the time of a CRC.
    if int(np.add.reduce(np.frombuffer(data, dtype=_WORD, offset=_HEAD_BYTES))) != total:
        return None
    arrays: Arrays = {}
    at = _HEAD_BYTES + _aligned(size)
    try:
        for name, kind, count in json.loads(data[_HEAD_BYTES : _HEAD_BYTES + size]):
            arrays[name] = np.frombuffer(data, dtype=np.dtype(kind), count=count, offset=at)
            at += _aligned(arrays[name].nbytes)
    except ValueError:  # `size` is damaged
        return None
    return arrays


def write_arrays(file: Path, key: bytes, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Keeps `arrays` of one dimension under `key`, instead of what the file held; a reader sees the one or the other.

    Where they cannot be written the file is gone if possible, and nothing is said: a cache costs time, nothing else.
    """
    import numpy as np

    assert len(key) == KEY_BYTES
    table = json.dumps([(name, array.dtype.str, len(array)) for name, array in arrays.items()]).encode()
    parts = [np.frombuffer(table, dtype=np.uint8)]
    parts.extend(np.ascontiguousarray(array).view(np.uint8) for array in arrays.values())
    total = sum(map(_sum, parts)) % 2**64
    head = (_MAGIC + key).ljust(_HEAD_BYTES - 2 * _WORD_BYTES, b"\0")
    temp = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with temp.open("wb") as opened:
            opened.write(head + np.array([len(table), total], dtype=_WORD).tobytes())
            for part in parts:
                opened.write(part.data)
                opened.write(bytes(_aligned(len(part)) - len(part)))
        temp.replace(file)
    except OSError:
        drop_arrays(file)
    for left in file.parent.glob(f"{file.name}.*.tmp"):  # ours, or those of a process that was ended as it wrote
        with contextlib.suppress(OSError):
            left.unlink()


def drop_arrays(file: Path) -> None:
    """Removes the file where there is one and it can be removed."""
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)


def _aligned(size_bytes: int) -> int:
    return -(-size_bytes // _ALIGNMENT) * _ALIGNMENT


def _sum(raw: npt.NDArray[np.uint8]) -> int:
    import numpy as np

    whole = len(raw) - len(raw) % _WORD_BYTES
    rest = int.from_bytes(raw[whole:].tobytes(), "little")
    return int(np.add.reduce(raw[:whole].view(_WORD), dtype=_WORD)) + rest
