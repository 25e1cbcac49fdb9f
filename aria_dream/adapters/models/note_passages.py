"""The quotable passages of a vault's notes, embedded and kept by content, and the most telling pairs of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from aria_dream.adapters.index.resonance import read_note_text, without_hidden_names
from aria_dream.adapters.models.embedding import read_passages, write_missing_passages
from aria_dream.markdown.note import parse_note
from aria_dream.ranking.juxtaposition import Resonance
from aria_dream.ranking.passage_match import PassageSpace
from aria_dream.ranking.quotation import RECIPE, quotable_passages
from aria_dream.vault.edit import encode_note

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from aria_dream.adapters.index.cache_store import ContentCache
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.adapters.models.embedding import Embedder


def quotation_kind(embedder: Embedder) -> str:
    """The cache's kind for the vectors of quotable passages; their key is a note's content hash."""
    return f"quotations:{embedder.name}:{RECIPE}"


@dataclass(frozen=True, kw_only=True)
class NotePassages:
    """The passages of some notes of a vault."""

    vault: DreamtVault
    cache: ContentCache
    embedder: Embedder
    rows: tuple[int, ...]
    """The notes that may be brought together."""
    progress: Callable[[int, int], None] = field(default=lambda _done, _total: None)

    def write_missing(self, rows: Sequence[int] | None = None, stop: Callable[[], bool] = lambda: False) -> int:
        """Embeds the notes (default: all of `rows`) that have no vectors yet; how many of them remain.

        Raises `MissingPartError` where the model is missing and something has to be embedded.
        """
        wanted = {
            self.vault.facts[row].content_hash: partial(self._unchanged, row)
            for row in (self.rows if rows is None else rows)
        }
        kind = quotation_kind(self.embedder)
        run = write_missing_passages(self.cache, self.embedder, kind, wanted, progress=self.progress, stop=stop)
        return run.remaining

    def resonances(
        self, asking: Sequence[int], also: Mapping[int, Collection[int]], most: int
    ) -> dict[int, dict[int, Resonance]]:
        """For each asking note the others that resonate with it, the most telling `most` and those that `also` names.

        Notes are embedded first where they have no vectors. Raises as `write_missing`.
        """
        self.write_missing([*self.rows, *asking, *(row for rows in also.values() for row in rows)])
        found = self._space.matches(asking, also)
        told: dict[int, dict[int, Resonance]] = {}
        for row, matches in found.items():
            named = also.get(row, ())
            kept = [match for place, match in enumerate(matches) if place < most or match.note in named]
            mine = self.texts(row) if kept else ()
            told[row] = {}
            for match in kept:
                other = self.texts(match.note)
                if match.mine < len(mine) and match.other < len(other):
                    told[row][match.note] = Resonance(
                        quotes=(mine[match.mine], other[match.other]),
                        cosine=match.cosine,
                        telling=match.telling,
                        whole=match.whole,
                        rank=match.rank,
                    )
        return told

    def means(self, rows: Sequence[int]) -> NDArray[np.float32]:
        """A vector of length 1 a note, the mean of its passages; zeros where it has none that is known."""
        found = np.zeros((len(rows), self.embedder.dim), np.float32)
        for at, vectors in enumerate(self._vectors(rows)):
            if len(vectors):
                mean = vectors.sum(axis=0)
                found[at] = mean / max(float(np.linalg.norm(mean)), 1e-6)
        return found

    def texts(self, row: int) -> tuple[str, ...]:
        """The passages of a note as they may be shown, the names of notes that the writer keeps out of every dream as
        an ellipsis; none where it is no longer what the vault's snapshot says."""
        return tuple(self._without_names(text) for text in self._unchanged(row) or ())

    @cached_property
    def _without_names(self) -> Callable[[str], str]:
        return without_hidden_names(self.vault)

    @cached_property
    def _space(self) -> PassageSpace:
        by_hash = sorted(self.rows, key=lambda row: (self.vault.facts[row].content_hash, row))
        return PassageSpace(by_hash, self._vectors)

    def _vectors(self, rows: Sequence[int]) -> list[NDArray[np.float32]]:
        keys = [self.vault.facts[row].content_hash for row in rows]
        return read_passages(self.cache, quotation_kind(self.embedder), keys, self.embedder.dim)

    def _unchanged(self, row: int) -> tuple[str, ...] | None:
        text = read_note_text(self.vault, row)
        if sha256(encode_note(text)).digest() != self.vault.facts[row].content_hash:
            return None
        return quotable_passages(parse_note(text))
