"""Arrays kept in one file of the cache, used where they lie; and how long what a vault's links taught stays true.

Nothing is read before it is asked for. The file may be deleted at any time. It stands for one key; under another it
counts as none. What is learned from links takes seconds to learn and changes little with an edit; so it is kept until
enough of the links it was learned from have changed.
"""

from __future__ import annotations

import heapq
import json
import mmap
import os
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    import numpy.typing as npt

    from aria_dream.vault.graph import LinkGraph

if TYPE_CHECKING:
    Arrays = dict[str, npt.NDArray[Any]]

SKETCH_SIZE: Final = 400
STILL_ALIKE: Final = 0.95
"""Learned again from this loss of likeness on: an edit or two teach nothing new."""


def link_sketch(graph: LinkGraph) -> list[str]:
    """The smallest hashes of the links: what two sketches share says how alike two sets of links are (Broder 1997)."""
    paths, offsets, targets = graph.paths, graph.offsets, graph.targets
    hashes = (
        sha256(f"{paths[row]}\0{paths[target]}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
        for row in range(len(paths))
        for target in targets[offsets[row] : offsets[row + 1]]
    )
    return heapq.nsmallest(SKETCH_SIZE, hashes)


def still_alike(then: Collection[str], now: Collection[str]) -> bool:
    """Whether what was learned from the links of one sketch holds for those of the other."""
    one, two = set(then), set(now)
    return one == two or len(one & two) >= STILL_ALIKE * len(one | two)


KEY_BYTES: Final = 32
_MAGIC: Final = b"aria-dream arrays 1\n"
_HEAD_BYTES: Final = 128
"""Magic and key; zeros; at the end the length of the table of contents, and the sum of all that follows the head."""
_ALIGNMENT: Final = 64
_WORD: Final = np.dtype("<u8")


def read_arrays(file: Path, key: bytes) -> Arrays | None:
    """The arrays that `write_arrays` put there under `key`, as read-only views of the file; None where it holds others,
    is damaged, or is none of ours.

    A file that another program cuts short while it is in use ends this process; our own only ever replace it.
    """
    try:
        with file.open("rb") as opened:
            data = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # an empty file cannot be mapped
        return None
    if len(data) <= _HEAD_BYTES or len(data) % _ALIGNMENT or not data[:_HEAD_BYTES].startswith(_MAGIC + key):
        return None
    size, total = np.frombuffer(data, dtype=_WORD, count=2, offset=_HEAD_BYTES - 2 * _WORD.itemsize).tolist()
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
    assert len(key) == KEY_BYTES
    table = json.dumps([(name, array.dtype.str, len(array)) for name, array in arrays.items()]).encode()
    parts = [np.frombuffer(table, dtype=np.uint8)]
    parts.extend(np.ascontiguousarray(array).view(np.uint8) for array in arrays.values())
    total = sum(map(_sum, parts)) % 2**64
    head = (_MAGIC + key).ljust(_HEAD_BYTES - 2 * _WORD.itemsize, b"\0")
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
        with suppress(OSError):
            left.unlink()


def drop_arrays(file: Path) -> None:
    """Removes the file where there is one and it can be removed."""
    with suppress(OSError):
        file.unlink(missing_ok=True)


def _aligned(size_bytes: int) -> int:
    return -(-size_bytes // _ALIGNMENT) * _ALIGNMENT


def _sum(raw: npt.NDArray[np.uint8]) -> int:
    whole = len(raw) - len(raw) % _WORD.itemsize
    rest = int.from_bytes(raw[whole:].tobytes(), "little")
    return int(np.add.reduce(raw[:whole].view(_WORD), dtype=_WORD)) + rest
