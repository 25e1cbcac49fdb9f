"""L0 over a real vault: the words of its notes from the cache, the weights its own links teach, and the ranking.

No model and no network. What is costly is kept by content: the words of a note by its hash, the learned weights by the
state of the vault.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

from aria_dream.dream.learn import VERSION, Weights
from aria_dream.dream.rank import Ranking, RankNote
from aria_dream.dream.terms import NO_TERMS, TermCounts, note_terms
from aria_dream.effects.ground import read_plain
from aria_dream.vault.edit import encode_note
from aria_dream.vault.note import decode_note

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from aria_dream.effects.dreamt_vault import DreamtVault
    from aria_dream.effects.vectors import ContentCache

TERMS_KIND = "terms:1"
"""Raise the number with every change of `dream.terms` that changes a value."""
WEIGHTS_KIND = f"weights:{VERSION}"
_NOTES_PER_BATCH = 500


def read_note_text(vault: DreamtVault, row: int) -> str:
    """The text of a note as it is now; `""` where it cannot be read any more."""
    try:
        data = read_plain(vault.root.joinpath(*vault.graph.paths[row].split("/")))
    except OSError:
        return ""
    return "" if data is None else decode_note(data)


def read_terms(
    vault: DreamtVault, cache: ContentCache, *, progress: Callable[[int, int], None] | None = None
) -> list[TermCounts]:
    """The words of every visible note, by row; none for an invisible one. New ones are computed, kept and reported."""
    rows = [row for row, visible in enumerate(vault.visible) if visible]
    known = cache.get_many(TERMS_KIND, {vault.facts[row].content_hash for row in rows})
    terms: list[TermCounts] = [NO_TERMS] * len(vault.facts)
    missing: list[int] = []
    for row in rows:
        blob = known.get(vault.facts[row].content_hash)
        try:
            terms[row] = TermCounts.from_bytes(blob) if blob is not None else NO_TERMS
        except ValueError:
            blob = None
        if blob is None:
            missing.append(row)
    for start in range(0, len(missing), _NOTES_PER_BATCH):
        fresh: dict[bytes, bytes] = {}
        for row in missing[start : start + _NOTES_PER_BATCH]:
            text = read_note_text(vault, row)
            terms[row] = note_terms(text)
            digest = sha256(encode_note(text)).digest()
            if digest == vault.facts[row].content_hash:  # else the note has changed since the vault was read
                fresh[digest] = terms[row].to_bytes()
        cache.put_many(TERMS_KIND, fresh)
        if progress is not None:
            progress(min(start + _NOTES_PER_BATCH, len(missing)), len(missing))
    return terms


def rank_notes(vault: DreamtVault) -> list[RankNote]:
    """The notes as the ranking knows them, by row."""
    return [
        RankNote(path=fact.path, aliases=fact.aliases, tags=fact.tags, visible=visible)
        for fact, visible in zip(vault.facts, vault.visible, strict=True)
    ]


def build_ranking(
    vault: DreamtVault,
    cache: ContentCache,
    *,
    decided: AbstractSet[tuple[str, str]] = frozenset(),
    progress: Callable[[int, int], None] | None = None,
) -> Ranking:
    """The ranking of the vault as it stands; `decided` pairs of paths are never candidates."""
    terms = read_terms(vault, cache, progress=progress)
    key = sha256(vault.state_hash.encode()).digest()
    weights = _parse_weights(cache.get_many(WEIGHTS_KIND, {key}).get(key))
    ranking = Ranking.build(
        vault.graph,
        rank_notes(vault),
        terms,
        weights=weights,
        decided=decided,
        text_of=lambda row: read_note_text(vault, row),
    )
    if weights is None:
        cache.put_many(WEIGHTS_KIND, {key: json.dumps(ranking.weights.to_json()).encode()})
    return ranking


def _parse_weights(blob: bytes | None) -> Weights | None:
    if blob is None:
        return None
    try:
        record = json.loads(blob)
    except ValueError:
        return None
    return Weights.from_json(record) if isinstance(record, dict) else None
