"""A passage as a row of a table: what is compared lies in memory, the text stays in its note."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from aria_dream.adapters.index.resonance import read_note_text
from aria_dream.consolidate.near import NearRow, verdict_key
from aria_dream.consolidate.passages import Passage, passage_id, passages_of_note
from aria_dream.consolidate.verdict import NearPair
from aria_dream.markdown.note import parse_note
from aria_dream.ranking.embedding import vector_key
from aria_dream.ranking.juxtaposition import title_of

if TYPE_CHECKING:
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.consolidate.near import Sketch


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageRow:
    """One passage, without its text."""

    note: int
    """Row of its note in the vault's graph."""
    headings: tuple[str, ...]
    number: int
    fingerprint: str
    state_hash: str
    sketch: Sketch


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageTable:
    """Every passage of a vault, in the order of its notes; a whole note stands before its sections."""

    vault: DreamtVault
    rows: tuple[PassageRow, ...]

    def id_of(self, row: int) -> str:
        """The id of a passage."""
        found = self.rows[row]
        return passage_id(self.vault.graph.paths[found.note], found.headings, found.number)

    def passage(self, row: int) -> Passage | None:
        """The passage with its text; None where its note is no longer what it was when the vault was read."""
        wanted = self.rows[row]
        path = self.vault.graph.paths[wanted.note]
        found = _passages_in(path, read_note_text(self.vault, wanted.note))
        return next(
            (
                passage
                for passage in found
                if (passage.headings, passage.number, passage.state_hash)
                == (wanted.headings, wanted.number, wanted.state_hash)
            ),
            None,
        )

    def pair(self, near: NearRow, rank: int) -> NearPair | None:
        """Two passages with their texts, ready to be judged; None where one of them has changed since."""
        first, second = self.passage(near.first), self.passage(near.second)
        if first is None or second is None:
            return None
        return NearPair(first=first, second=second, cosine=near.cosine, overlap=near.overlap, rank=rank)

    def key(self, near: NearRow) -> str:
        """What the verdict on the two is remembered by: `near.verdict_key`."""
        first, second = self.rows[near.first], self.rows[near.second]
        return verdict_key((self.id_of(near.first), first.state_hash), (self.id_of(near.second), second.state_hash))


@lru_cache(maxsize=16)
def _passages_in(path: str, text: str) -> tuple[Passage, ...]:
    """`passages_of_note`, remembered for the last few texts: the sections of a long note are asked for one by one."""
    return passages_of_note(path, parse_note(text))


def note_key(vault: DreamtVault, row: int) -> bytes:
    """The key of the note's vector, which the cache keeps as long as the note is visible."""
    return vector_key(vault.facts[row].content_hash, title_of(vault.graph.paths[row]))
