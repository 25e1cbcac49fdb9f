"""What the index keeps of a vault in the cache: of each file what was read, by its path, and the links of all of them.

It fails no command: what cannot be read is built anew, what cannot be written is left, and a store that another process
holds is done without. Two processes may use one store: each row stands for itself and is replaced as a whole.
"""

from __future__ import annotations

import contextlib
import os
import struct
import sys
from array import array
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from aria_dream.adapters.disk.places import vault_key
from aria_dream.adapters.index.cache_store import LATEST, OF_VAULT, ContentCache
from aria_dream.vault.linkage import Linkage
from aria_dream.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from aria_dream.vault.snapshot import FileState

FILES_KIND: Final = f"{OF_VAULT}files"
VERSION_KIND: Final = f"{OF_VAULT}reader"
LINKAGE_KIND: Final = f"{OF_VAULT}linkage"
_LAYOUT = 2
_ROW: Final = struct.Struct("<5q32s")
"""Size, modified, changed, inode, and checked; the digest. The record follows."""
_RACY_NS = 2_000_000_000
"""A file that changed less than this before it was read may change again without its times moving (FAT: 2 s)."""


class FileRow(NamedTuple):
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


_new: Final = tuple.__new__
"""Makes a NamedTuple in a third of the time its own constructor takes."""

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
    state = sha256(f"{__version__} {_LAYOUT} {sys.byteorder} {array('i').itemsize}".encode())
    with contextlib.suppress(OSError):
        folder = Path(__file__).resolve().parents[2]
        for name in READER_MODULES:
            state.update((folder / f"{name.replace('.', '/')}.py").read_bytes())
    return state.hexdigest()


class IndexCache:
    """What is kept of one vault. A context manager; nothing that goes wrong with the store comes out of it."""

    def __init__(self, folder: Path | None) -> None:
        """`folder` is the vault's own in the cache; with None nothing is kept."""
        self._store = ContentCache(folder)
        version = reader_version().encode()
        kept: dict[bytes, bytes] = {}
        # after the first time that the store would not, nothing is kept
        self._usable = self._store.each(VERSION_KIND, kept.__setitem__) and (
            kept.get(LATEST) == version
            or (
                self._store.put_many(FILES_KIND, {}, alone=True)
                and self._store.put_many(LINKAGE_KIND, {}, alone=True)
                and self._store.put_many(VERSION_KIND, {LATEST: version})
            )
        )

    def each_row(self, take: Callable[[FileRow], None]) -> None:
        """Give every row that can be read to `take`."""

        def read(key: bytes, blob: bytes) -> None:
            if len(blob) >= _ROW.size:
                with contextlib.suppress(UnicodeDecodeError):
                    path = key.decode("utf-8", "surrogatepass")
                    take(_new(FileRow, (path, *_ROW.unpack_from(blob), blob[_ROW.size :])))

        if self._usable:
            self._usable = self._store.each(FILES_KIND, read)

    def put(self, rows: Sequence[FileRow]) -> None:
        """Keeps `rows`, replacing what was known of their paths; on disk when this returns."""
        self._put(FILES_KIND, {_key(row.path): _ROW.pack(*row[1:7]) + row.record for row in rows})

    def drop(self, paths: Iterable[str]) -> None:
        """Forgets files that are gone."""
        if self._usable:
            self._usable = self._store.put_many(FILES_KIND, {}, without=[_key(path) for path in paths])

    def linkage(self, key: bytes, files: tuple[str, ...], sources: array[int]) -> Linkage | None:
        """The linkage kept under `key`, which must stand for all of `files` and all their contents; None if none is."""
        found = self._store.get(LINKAGE_KIND) if self._usable else b""
        return _unpack_linkage(memoryview(found)[len(key) :], files, sources) if found.startswith(key) else None

    def put_linkage(self, key: bytes, linkage: Linkage) -> None:
        """Keeps `linkage` under `key`, instead of the one kept before."""
        parts = (linkage.offsets, linkage.targets, linkage.names, linkage.flags)
        self._put(LINKAGE_KIND, {LATEST: key + b"".join(part.tobytes() for part in parts)})

    def _put(self, kind: str, blobs: dict[bytes, bytes]) -> None:
        if self._usable:
            self._usable = self._store.put_many(kind, blobs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()


def cache_place(root: str, cache_folder: Path | None) -> Path | None:
    """This vault's folder below `cache_folder`; None where that would lie inside the vault."""
    if cache_folder is None:
        return None
    real_root = os.path.normcase(root.removeprefix("\\\\?\\"))
    real_cache = os.path.normcase(os.path.realpath(cache_folder))
    inside = real_cache == real_root or real_cache.startswith(real_root.rstrip(os.sep) + os.sep)
    return None if inside else cache_folder / vault_key(Path(root))


def linkage_key(files: tuple[str, ...], digests: Iterable[bytes]) -> bytes:
    """Stands for all that the linkage depends on: every file's name and the digest of every source."""
    state = sha256("\0".join(files).encode("utf-8", "surrogatepass"))
    state.update(b"\0\0")
    state.update(b"".join(digest or bytes(32) for digest in digests))
    return state.digest()


def _key(path: str) -> bytes:
    return path.encode("utf-8", "surrogatepass")


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
