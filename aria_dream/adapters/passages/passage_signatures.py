"""The signatures of the passages that lie near another one: each text is read once a night, however many pairs it is
in."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.comparison import compare_signatures
from aria_dream.consolidate.passage_words import signature_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aria_dream.adapters.passages.passage_table import PassageTable
    from aria_dream.consolidate.near import NearRow
    from aria_dream.consolidate.passage_words import PassageSignature
    from aria_dream.consolidate.verdict import PairVerdict

MOST_KEPT: Final = 16_384
"""Signatures in memory, two kilobytes each."""


class PassageSignatures:
    """What the signatures of a table's near rows say of them."""

    def __init__(self, table: PassageTable, near: Iterable[NearRow], *, most_kept: int = MOST_KEPT) -> None:
        self._table = table
        self._most = most_kept
        self._known: OrderedDict[int, PassageSignature | None] = OrderedDict()
        self._rows_of: dict[int, list[int]] = {}
        for row in dict.fromkeys(row for pair in near for row in (pair.first, pair.second)):
            self._rows_of.setdefault(table.rows[row].note, []).append(row)

    def compare(self, near: NearRow, rank: int) -> PairVerdict | None:
        """The verdict on two rows, where their signatures are enough; None where not, or where a note has changed."""
        first, second = self._signature(near.first), self._signature(near.second)
        if first is None or second is None:
            return None
        return compare_signatures(first, second, cosine=near.cosine, overlap=near.overlap, rank=rank)

    def _signature(self, row: int) -> PassageSignature | None:
        if row not in self._known:
            for each in self._rows_of[self._table.rows[row].note]:  # while the note is at hand
                passage = self._table.passage(each)
                self._known[each] = None if passage is None else signature_of(passage.text)
            found = self._known[row]
            while len(self._known) > self._most:
                self._known.popitem(last=False)
            return found
        self._known.move_to_end(row)
        return self._known[row]
