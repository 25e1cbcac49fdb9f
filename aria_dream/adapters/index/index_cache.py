"""The index on disk: one SQLite file per vault in the user's cache folder, which may be deleted at any time.

A cache never fails a command. What cannot be read is built anew, what cannot be written is left, and a file that
another process holds is done without. Two processes may use one cache: each row stands for itself and is replaced as a
whole.
"""

from __future__ import annotations

import contextlib
import sqlite3
import sys
from array import array
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import aria_dream
from aria_dream.vault.linkage import Linkage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aria_dream.vault.snapshot import FileState

FILE_NAME = "index.sqlite3"
_APPLICATION_ID = 0x61726961  # "aria"
_LAYOUT = 1
_LOCK_WAIT_S = 2.0
_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;
CREATE TABLE file (path BLOB PRIMARY KEY, size INTEGER, modified INTEGER, changed INTEGER, inode INTEGER,
                   checked INTEGER, digest BLOB, record BLOB);
"""
_RACY_NS = 2_000_000_000
"""A file that changed less than this before it was read may change again without its times moving (FAT: 2 s)."""


class Row(NamedTuple):
    """What the cache knows of one file."""

    path: str
    size_bytes: int
    modified_ns: int
    changed_ns: int
    inode: int
    checked_ns: int
    """When the file was read, by this machine's clock."""
    digest: bytes
    """SHA-256 of the content."""
    record: bytes
    """What `pack_record` made."""

    def still_holds(self, state: FileState) -> bool:
        """Whether a file in this state surely still has the content that was read."""
        return (
            (self.size_bytes, self.modified_ns, self.changed_ns, self.inode)
            == (state.size_bytes, state.modified_ns, state.changed_ns, state.inode)
            and max(state.modified_ns, state.changed_ns) < self.checked_ns - _RACY_NS
        )  # fmt: skip


READER_MODULES = (
    "markdown.body",
    "markdown.link",
    "markdown.misread",
    "markdown.no_words",
    "markdown.note",
    "markdown.properties",
    "markdown.property_links",
    "markdown.rendered",
    "markdown.scan",
    "markdown.simple",
    "markdown.yaml_text",
    "markdown.zones",
    "vault.canvas",
    "vault.linkage",
    "vault.record",
    "vault.resolve",
)
"""Modules that decide what a record and a linkage hold. A test compares them with the imports."""


def reader_version() -> str:
    """Changes whenever this program might read a file otherwise than before: its version and its reader's code."""
    state = sha256(f"{aria_dream.__version__} {_LAYOUT} {sys.byteorder} {array('i').itemsize}".encode())
    with contextlib.suppress(OSError):
        folder = Path(aria_dream.__file__).parent
        for name in READER_MODULES:
            state.update((folder / f"{name.replace('.', '/')}.py").read_bytes())
    return state.hexdigest()


class IndexCache:
    """An open cache. Every method swallows what may go wrong with it; `usable` tells."""

    def __init__(self, folder: Path | None) -> None:
        """Opens or makes the cache in `folder`; with None, or where that fails, there is none and nothing is kept."""
        self._database: sqlite3.Connection | None = None
        if folder is None:
            return
        for attempt in (1, 2):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                self._database = _open(folder / FILE_NAME)
            except sqlite3.OperationalError as error:
                if "locked" in str(error) or attempt == 2:
                    return
                _remove(folder / FILE_NAME)
            except sqlite3.DatabaseError:
                _remove(folder / FILE_NAME)
            except (OSError, ValueError):
                return
            else:
                return

    @property
    def usable(self) -> bool:
        """Whether anything is kept."""
        return self._database is not None

    def rows(self) -> Iterator[Row]:
        """Every row that can be read; ends early where the rest cannot."""
        if self._database is None:
            return
        try:
            for row in self._database.execute(
                "SELECT path, size, modified, changed, inode, checked, digest, record FROM file"
            ):
                if not _is_sound(row):
                    continue
                yield Row(row[0].decode("utf-8", "surrogatepass"), *row[1:])
        except (sqlite3.Error, AttributeError, UnicodeDecodeError):
            self._give_up()

    def put(self, rows: Sequence[Row]) -> None:
        """Keeps `rows`, replacing what was known of their paths; on disk when this returns."""
        self._write(
            "INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ((row[0].encode("utf-8", "surrogatepass"), *row[1:]) for row in rows),
        )

    def drop(self, paths: Iterable[str]) -> None:
        """Forgets files that are gone."""
        self._write("DELETE FROM file WHERE path = ?", ((path.encode("utf-8", "surrogatepass"),) for path in paths))

    def linkage(self, key: bytes, files: tuple[str, ...], sources: array[int]) -> Linkage | None:
        """The linkage kept under `key`, which must stand for all of `files` and all their contents; None if none is."""
        if self._database is None:
            return None
        try:
            found = self._database.execute("SELECT value FROM meta WHERE name = 'linkage'").fetchone()
        except sqlite3.Error:
            self._give_up()
            return None
        if found is None or not isinstance(found[0], bytes) or not found[0].startswith(key):
            return None
        return _unpack_linkage(memoryview(found[0])[len(key) :], files, sources)

    def put_linkage(self, key: bytes, linkage: Linkage) -> None:
        """Keeps `linkage` under `key`, instead of the one kept before."""
        parts = (linkage.offsets, linkage.targets, linkage.names, linkage.flags)
        packed = key + b"".join(part.tobytes() for part in parts)
        self._write("INSERT OR REPLACE INTO meta VALUES ('linkage', ?)", [(packed,)])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file."""
        database, self._database = self._database, None
        if database is not None:
            with contextlib.suppress(sqlite3.Error):
                database.close()

    def _write(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        if self._database is None:
            return
        try:
            with self._database:  # one transaction: all rows or none
                self._database.execute("BEGIN IMMEDIATE")
                self._database.executemany(statement, rows)
        except sqlite3.Error:
            self._give_up()

    def _give_up(self) -> None:
        self.close()


def _open(path: Path) -> sqlite3.Connection:
    """The cache at `path`, empty where it was made anew. Raises sqlite3.DatabaseError where the file is not ours."""
    database = sqlite3.connect(path, timeout=_LOCK_WAIT_S, isolation_level=None)
    try:
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("PRAGMA journal_mode = WAL")
        version = reader_version()
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables:
            (application,) = database.execute("PRAGMA application_id").fetchone()
            if application != _APPLICATION_ID or not {"meta", "file"} <= tables:
                raise sqlite3.DatabaseError("not an index of aria-dream")  # noqa: TRY301  # one way to say "not ours"
            found = database.execute("SELECT value FROM meta WHERE name = 'version'").fetchone()
            if found == (version,):
                return database
        with database:
            database.execute("BEGIN IMMEDIATE")
            for name in ("meta", "file"):
                database.execute(f"DROP TABLE IF EXISTS {name}")
            for statement in filter(str.strip, _TABLES.split(";")):
                database.execute(statement)
            database.execute("INSERT INTO meta VALUES ('version', ?)", (version,))
            database.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    except BaseException:
        database.close()
        raise
    return database


def _is_sound(row: tuple[object, ...]) -> bool:
    """Whether the columns have the types they were written with."""
    path, *numbers, digest, record = row
    return type(path) is bytes and type(digest) is bytes and type(record) is bytes and set(map(type, numbers)) == {int}


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(OSError):
            path.with_name(path.name + ending).unlink(missing_ok=True)


def _unpack_linkage(packed: memoryview, files: tuple[str, ...], sources: array[int]) -> Linkage | None:
    """The linkage in `packed`; None where its lengths or numbers cannot be those of `files`."""
    offsets, targets, names, flags = array("i"), array("i"), array("I"), array("B")
    at = (len(sources) + 1) * offsets.itemsize
    if len(packed) < at:
        return None
    offsets.frombytes(packed[:at])
    count = offsets[-1]
    if offsets[0] != 0 or count < 0 or len(packed) - at != count * (targets.itemsize + names.itemsize + 1):
        return None
    targets.frombytes(packed[at : at + count * targets.itemsize])
    at += count * targets.itemsize
    names.frombytes(packed[at : at + count * names.itemsize])
    flags.frombytes(packed[at + count * names.itemsize :])
    if any(map(int.__gt__, offsets, offsets[1:])) or (count and not -1 <= min(targets) <= max(targets) < len(files)):
        return None
    return Linkage(files=files, sources=sources, offsets=offsets, targets=targets, flags=flags, names=names)
