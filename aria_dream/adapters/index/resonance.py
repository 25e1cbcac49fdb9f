"""L0 over a real vault: the words of its notes from the cache, the weights its own links teach, and the ranking.

No model and no network. What is costly is kept in the cache: the words of a note by its content, what was made of the
words of all notes for as long as none changes, and the weights that the vault's links taught until enough of those
links have changed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from aria_dream.adapters.disk.safe_path import read_plain
from aria_dream.adapters.index.cache_store import OF_VAULT, drop_arrays, read_arrays, write_arrays
from aria_dream.adapters.index.index_cache import reader_version
from aria_dream.markdown.note import decode_note
from aria_dream.ranking.juxtaposition import Juxtaposition, Resonance, chance, shortest_ways, title_of
from aria_dream.ranking.learn import Weights
from aria_dream.ranking.notespace import NoteSpace, Parts
from aria_dream.ranking.rank import EVIDENCE, Ranking, RankNote
from aria_dream.ranking.sparse import link_sketch, still_alike
from aria_dream.ranking.terms import NO_TERMS, TermCounts, link_key, note_terms
from aria_dream.ranking.walk import is_crossroads
from aria_dream.vault.edit import encode_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    import numpy.typing as npt

    from aria_dream.adapters.index.cache_store import ContentCache
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.ranking.rank import Scored
    from aria_dream.vault.graph import NoteFacts

TERMS_KIND = "terms:2"
"""Raise the number with every change of `ranking.terms` that changes a value."""
WEIGHTS_KIND = f"{OF_VAULT}weights"
SPACE_FILE = "space.bin"
_SPACE_MODULES = ("juxtaposition", "mentions", "notespace", "sparse", "terms")
"""Modules of `ranking/` that decide what a note space holds. A test compares them with the imports."""
_DIGEST_BYTES = 32
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
    return _read_terms(vault, cache, progress)[0]


def _read_terms(
    vault: DreamtVault, cache: ContentCache, progress: Callable[[int, int], None] | None
) -> tuple[list[TermCounts], bool]:
    """`read_terms`, and whether every note still held what it held when the vault was read.

    Links to invisible notes are left out, words and all: their names are as invisible as they are.
    """
    hashes = [fact.content_hash for fact in vault.facts]
    known = cache.get_many(TERMS_KIND, set(hashes))
    terms: list[TermCounts] = [NO_TERMS] * len(hashes)
    missing: list[int] = []
    unchanged = True
    for row, digest in enumerate(hashes):
        blob = known.get(digest)
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
            if digest == hashes[row]:
                fresh[digest] = terms[row].to_bytes()
            else:
                unchanged = False
        cache.put_many(TERMS_KIND, fresh)
        if progress is not None:
            progress(min(start + _NOTES_PER_BATCH, len(missing)), len(missing))
    unseen = np.array(_unseen_names(vault), dtype=np.uint32)
    if len(unseen):
        terms = [_without_links(own, unseen) for own in terms]
    return terms, unchanged


def _unseen_names(vault: DreamtVault) -> list[int]:
    """Keys of the names that only notes bear which the writer keeps out of every dream, ascending."""
    if not vault.sharing.hidden:
        return []
    seen = {link_key(path) for path in vault.graph.paths}
    return sorted({link_key(path) for path in vault.sharing.hidden} - seen)


def _hidden_names(vault: DreamtVault) -> list[str]:
    """The names of the notes that the writer keeps out of every dream: what stands inside one means no other note."""
    if not vault.sharing.hidden:
        return []
    hidden = [fact for fact in vault.index.facts if fact.path in vault.sharing.hidden]
    return sorted({name for fact in hidden for name in (title_of(fact.path), *fact.aliases)})


def without_hidden_names(vault: DreamtVault) -> Callable[[str], str]:
    """Puts an ellipsis for each name in a text that only notes bear which no dream may see."""
    seen = {title_of(path).lower() for path in vault.graph.paths}
    names = [re.escape(name) for name in _hidden_names(vault) if name.strip() and name.lower() not in seen]
    if not names:
        return lambda text: text
    longest_first = "|".join(sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)", re.IGNORECASE)
    return lambda text: pattern.sub("\u2026", text)


def _without_links(own: TermCounts, names: npt.NDArray[np.uint32]) -> TermCounts:
    kept = ~np.isin(own.link_keys, names)
    if kept.all():
        return own
    return replace(own, link_keys=own.link_keys[kept], link_ids=own.link_ids[kept])


class _RankNotes(Sequence[RankNote]):
    """The notes as the ranking knows them, by row; made when asked for, since most rankings ask for a few."""

    def __init__(self, facts: Sequence[NoteFacts]) -> None:
        self._facts = facts

    def __len__(self) -> int:
        return len(self._facts)

    @overload
    def __getitem__(self, row: int) -> RankNote: ...
    @overload
    def __getitem__(self, row: slice) -> list[RankNote]: ...
    def __getitem__(self, row: int | slice) -> RankNote | list[RankNote]:
        if isinstance(row, slice):
            return [_rank_note(fact) for fact in self._facts[row]]
        return _rank_note(self._facts[row])


def _rank_note(fact: NoteFacts) -> RankNote:
    return RankNote(path=fact.path, aliases=fact.aliases, tags=fact.tags)


def rank_notes(vault: DreamtVault) -> list[RankNote]:
    """The notes as the ranking knows them, by row."""
    return _RankNotes(vault.facts)[:]


def space_key(vault: DreamtVault) -> bytes | None:
    """Stands for all that a note space of the vault depends on: which notes are visible, where they lie, what they
    hold, and the code that reads and measures them. None where a note could not be read: its content is unknown.
    """
    state = sha256(f"{reader_version()} {TERMS_KIND} {np.__version__} {sys.byteorder}".encode())
    for module in _SPACE_MODULES:
        source = Path(__file__).resolve().parents[2] / "ranking" / f"{module}.py"
        with suppress(OSError):  # without its source the program's own version must do
            state.update(source.read_bytes())
    if any(len(fact.content_hash) != _DIGEST_BYTES for fact in vault.facts):
        return None
    state.update("\0".join(vault.graph.paths).encode("utf-8", "surrogatepass"))
    state.update(b"\0\0")
    state.update(b"".join([fact.content_hash for fact in vault.facts]))
    state.update(repr((_unseen_names(vault), _hidden_names(vault))).encode("utf-8", "surrogatepass"))
    return state.digest()


def open_space(
    vault: DreamtVault, cache: ContentCache, *, progress: Callable[[int, int], None] | None = None
) -> NoteSpace:
    """The note space of the vault: as it was kept, where nothing that it depends on has changed, else made and kept.

    The kept one holds words of visible notes only, and is replaced or removed as soon as their number or content is
    another.
    """
    folder, key = vault.index.cache_folder, space_key(vault)
    file = None if folder is None else folder / SPACE_FILE
    if file is not None and key is not None:
        with suppress(KeyError):
            arrays = read_arrays(file, key)
            if arrays is not None:
                return NoteSpace(_RankNotes(vault.facts), Parts.from_arrays(arrays))
    terms, unchanged = _read_terms(vault, cache, progress)
    space = NoteSpace(rank_notes(vault), terms, _hidden_names(vault))
    if file is not None:
        if key is not None and unchanged:
            write_arrays(file, key, space.parts.to_arrays())
        else:
            drop_arrays(file)
    return space


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
    if weights is None:
        weights = _known_weights(vault, cache)
    ranking = Ranking.over(
        open_space(vault, cache, progress=progress),
        vault.graph,
        weights=weights,
        decided=decided,
        text_of=lambda row: read_note_text(vault, row),
        name_of=lambda row: vault.name_of(vault.graph.paths[row]),
    )
    if weights is None:
        _keep_weights(vault, cache, {**ranking.weights.to_json(), "sketch": link_sketch(vault.graph)})
    return ranking


def _graph_hash(vault: DreamtVault) -> str:
    state = sha256("\0".join(vault.graph.paths).encode("utf-8", "surrogatepass"))
    state.update(vault.graph.offsets.tobytes() + vault.graph.targets.tobytes())
    return state.hexdigest()


def _known_weights(vault: DreamtVault, cache: ContentCache) -> Weights | None:
    try:
        record = json.loads(cache.get(WEIGHTS_KIND) or b"null")
    except ValueError:
        return None
    if not isinstance(record, dict) or not isinstance(record.get("sketch"), list):
        return None
    weights = Weights.from_json(record)
    if weights is None or record.get("graph") == _graph_hash(vault):  # the sketch was found to fit this very graph
        return weights
    if not still_alike(list(map(str, record["sketch"])), link_sketch(vault.graph)):
        return None
    _keep_weights(vault, cache, record)
    return weights


def _keep_weights(vault: DreamtVault, cache: ContentCache, record: dict[str, object]) -> None:
    """Keeps weights with the sketch of the links they were learned from, and that they serve the graph as it is."""
    cache.put(WEIGHTS_KIND, json.dumps({**record, "graph": _graph_hash(vault)}).encode())


Resonances = Callable[[Sequence[int], Mapping[int, Collection[int]], int], Mapping[int, Mapping[int, Resonance]]]
"""`NotePassages.resonances`."""
NEAR_LOOKED_AT = 12
"""Of a start's candidates, those that the ranking puts first."""
FAR_LOOKED_AT = 30
"""And those whose passages are the most telling."""
_MENTION = [*EVIDENCE].index("mention")


class VaultRanker:
    """L0 of one vault, as `judging.dreaming.Ranker` asks for it: the ranking, with passages, ways and names."""

    def __init__(self, vault: DreamtVault, ranking: Ranking, resonances: Resonances | None = None) -> None:
        self._vault = vault
        self._ranking = ranking
        self._resonances = resonances
        self._crossroads = [row for row, note in enumerate(vault.notes) if is_crossroads(note, len(vault.notes))]

    def resonances(self, path: str, limit: int) -> list[Juxtaposition]:
        """The undrawn pairs of the note at `path`, best first, at most `limit`; empty for one that is not there or not
        visible."""
        row = self._vault.row(path)
        return [] if row is None else self._named(row, self._ranking.from_note(row, limit))

    def look(
        self, starts: Sequence[str], targets: Collection[str], named: Collection[str] = ()
    ) -> list[Juxtaposition]:
        """The undrawn pairs of several notes with those of `targets`, start by start, each with what its passages say:
        the best of the ranking and the most telling of the passages. A note of `named` takes part where one of the two
        names the other in its prose."""
        rows, wanted, nameable = map(self._rows, (starts, targets, named))
        scored = {
            row: [one for one in found if one.to in wanted or (one.to in nameable and one.terms[_MENTION] > 0)]
            for row, found in self._ranking.all(len(self._vault.facts), list(rows))
        }
        near = {row: [one.to for one in found[:NEAR_LOOKED_AT]] for row, found in scored.items()}
        told = {} if self._resonances is None else self._resonances(list(scored), near, FAR_LOOKED_AT)
        looked_at = []
        for row in rows:
            said = told.get(row, {})
            among = {*near.get(row, ()), *said}
            kept = [one for one in scored.get(row, ()) if one.to in among]
            together = zip(self._named(row, kept), kept, strict=True)
            looked_at += [replace(found, resonance=said.get(one.to)) for found, one in together]
        return looked_at

    def _rows(self, paths: Iterable[str]) -> dict[int, None]:
        return {row: None for path in paths if (row := self._vault.row(path)) is not None}

    def pair(self, first: str, second: str) -> Juxtaposition:
        """The pair of two visible notes, linked or not."""
        rows = self._vault.row(first), self._vault.row(second)
        if rows[0] is None or rows[1] is None:
            raise ValueError("a pair names a note that is none of the vault's")
        found = self._named(rows[0], [self._ranking.pair(rows[0], rows[1])])[0]
        if self._resonances is None:
            return found
        told = self._resonances([rows[0]], {rows[0]: [rows[1]]}, 0)
        return replace(found, resonance=told.get(rows[0], {}).get(rows[1]))

    def learned(self) -> dict[str, object]:
        """The weights that the vault's links taught."""
        return self._ranking.weights.to_json()

    def all(self, limit: int) -> Iterator[tuple[str, list[Juxtaposition]]]:
        """Every visible note with its best pairs, by path; evidence without details."""
        for row, scored in self._ranking.all(limit):
            yield self._vault.graph.paths[row], self._named(row, scored)

    def _named(self, row: int, scored: Sequence[Scored]) -> list[Juxtaposition]:
        paths = self._vault.graph.paths
        ways = shortest_ways(self._vault.links, row, [one.to for one in scored], self._crossroads)
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
