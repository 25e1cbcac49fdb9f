"""L0 over a real vault: the words of its notes from the cache, the weights its own links teach, and the ranking.

No model and no network. What is costly is kept in the cache: the words of a note by its content, and the weights that
the vault's links taught until enough of those links have changed.
"""

from __future__ import annotations

import heapq
import json
import os
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING

from aria_dream.dream.juxtaposition import Juxtaposition, chance
from aria_dream.dream.learn import Weights
from aria_dream.dream.rank import Ranking, RankNote
from aria_dream.dream.terms import NO_TERMS, TermCounts, note_terms
from aria_dream.dream.ways import shortest_ways
from aria_dream.effects.ground import read_plain
from aria_dream.vault.edit import encode_note
from aria_dream.vault.note import decode_note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from aria_dream.dream.rank import Scored
    from aria_dream.effects.dreamt_vault import DreamtVault
    from aria_dream.effects.vectors import ContentCache

TERMS_KIND = "terms:1"
"""Raise the number with every change of `dream.terms` that changes a value."""
WEIGHTS_FILE = "weights.json"
_SKETCH_SIZE = 400
_STILL_ALIKE = 0.95
"""Learned again from this loss of likeness on: an edit or two teach nothing new, and learning takes seconds."""
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
    """The words of every note, by row. New ones are computed, kept and reported."""
    rows = range(len(vault.facts))
    known = cache.get_many(TERMS_KIND, {fact.content_hash for fact in vault.facts})
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
    return [RankNote(path=fact.path, aliases=fact.aliases, tags=fact.tags) for fact in vault.facts]


def build_ranking(
    vault: DreamtVault,
    cache: ContentCache,
    *,
    decided: AbstractSet[tuple[str, str]] = frozenset(),
    weights: Weights | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Ranking:
    """The ranking of the vault as it stands; `decided` pairs of paths are never candidates.

    `weights` are those of an earlier dream that is dreamt again. Else those last learned, as long as nearly all the
    links they were learned from are still there; else the vault teaches new ones, which are kept.
    """
    terms = read_terms(vault, cache, progress=progress)
    if weights is None:
        weights = _known_weights(vault)
    ranking = Ranking.build(
        vault.graph,
        rank_notes(vault),
        terms,
        weights=weights,
        decided=decided,
        text_of=lambda row: read_note_text(vault, row),
    )
    if weights is None:
        _keep_weights(vault, ranking.weights)
    return ranking


def _sketch(vault: DreamtVault) -> list[str]:
    """The smallest hashes of the vault's links: what two sketches share says how alike two sets of links are."""
    paths, offsets, targets = vault.graph.paths, vault.graph.offsets, vault.graph.targets
    hashes = (
        sha256(f"{paths[row]}\0{paths[target]}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
        for row in range(len(paths))
        for target in targets[offsets[row] : offsets[row + 1]]
    )
    return heapq.nsmallest(_SKETCH_SIZE, hashes)


def _weights_file(vault: DreamtVault) -> Path | None:
    folder = vault.index.cache_folder
    return None if folder is None else folder / WEIGHTS_FILE


def _known_weights(vault: DreamtVault) -> Weights | None:
    file = _weights_file(vault)
    try:
        record = json.loads(file.read_bytes()) if file is not None else None
    except (OSError, ValueError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("sketch"), list):
        return None
    then, now = set(map(str, record["sketch"])), set(_sketch(vault))
    alike = len(then & now) / max(1, len(then | now))
    return Weights.from_json(record) if alike >= _STILL_ALIKE or then == now else None


def _keep_weights(vault: DreamtVault, weights: Weights) -> None:
    file = _weights_file(vault)
    if file is None:
        return
    temp = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    with suppress(OSError):  # a cache that cannot be written costs time, nothing else
        file.parent.mkdir(parents=True, exist_ok=True)
        temp.write_text(json.dumps({**weights.to_json(), "sketch": _sketch(vault)}), encoding="utf-8")
        temp.replace(file)


class VaultRanker:
    """L0 of one vault, as `dream.dreaming.Ranker` asks for it: the ranking, with ways and names."""

    def __init__(self, vault: DreamtVault, ranking: Ranking) -> None:
        self._vault = vault
        self._ranking = ranking

    def resonances(self, path: str, limit: int) -> list[Juxtaposition]:
        """The undrawn pairs of the note at `path`, best first, at most `limit`; empty for one that is not there or not
        visible."""
        row = self._vault.row(path)
        return [] if row is None else self._named(row, self._ranking.from_note(row, limit))

    def learned(self) -> dict[str, object]:
        """The weights that the vault's links taught."""
        return self._ranking.weights.to_json()

    def all(self, limit: int) -> Iterator[tuple[str, list[Juxtaposition]]]:
        """Every visible note with its best pairs, by path; evidence without details."""
        for row, scored in self._ranking.all(limit):
            yield self._vault.graph.paths[row], self._named(row, scored)

    def _named(self, row: int, scored: Sequence[Scored]) -> list[Juxtaposition]:
        paths = self._vault.graph.paths
        ways = shortest_ways(self._vault.links, row, [one.to for one in scored])
        found = []
        for one in scored:
            way = ways[one.to]
            found.append(
                Juxtaposition(
                    from_=paths[row],
                    to=paths[one.to],
                    score=chance(one.score),
                    path=None if way is None else tuple(paths[step] for step in way),
                    evidence=one.evidence,
                )
            )
        return found
