"""Duplicates come in clusters: three copies are one proposal, not three; and one of them is kept for a reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.same_title import is_copy_name, is_passing_folder
from aria_dream.consolidate.verdict import Merge, Normalize

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from aria_dream.consolidate.passages import Passage
    from aria_dream.consolidate.verdict import NearPair

Judged = tuple["NearPair", Merge | Normalize]
_ISO_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Importance:
    """What speaks for keeping a note, beside its text."""

    links: int = 0
    """Notes that link to it."""
    since: str = ""
    """ISO date of its making, as its properties or the file say; `""` where nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Atoms that say the same."""

    members: tuple[Passage, ...]
    """In the order of their ids."""
    judged: tuple[Judged, ...]
    """The verdicts that hold it together, the surest first."""

    @property
    def confidence(self) -> float:
        """That of its weakest verdict."""
        return min(verdict.confidence for _, verdict in self.judged)


def clusters_of(judged: Iterable[Judged], apart: Collection[tuple[str, str]] = frozenset()) -> tuple[Cluster, ...]:
    """The clusters that the verdicts make, in the order of their best rank.

    `apart`: ids of two passages each, in either order, that were judged to be no duplicates. The surest verdicts are
    taken first, and one that would bring two such passages into one cluster is left out: likeness is not transitive.
    """
    leader: dict[str, str] = {}
    inside: dict[str, set[str]] = {}
    passages: dict[str, Passage] = {}
    used: list[Judged] = []
    no = {frozenset(pair) for pair in apart}

    def find(one: str) -> str:
        while leader[one] != one:
            leader[one] = leader[leader[one]]
            one = leader[one]
        return one

    for pair, verdict in sorted(judged, key=lambda item: (-item[1].confidence, item[0].rank)):
        for passage in (pair.first, pair.second):
            passages.setdefault(passage.id, passage)
            leader.setdefault(passage.id, passage.id)
            inside.setdefault(passage.id, {passage.id})
        one, other = find(pair.first.id), find(pair.second.id)
        if one != other:
            if any(frozenset((a, b)) in no for a in inside[one] for b in inside[other]):
                continue
            leader[other] = one
            inside[one] |= inside.pop(other)
        used.append((pair, verdict))
    found = []
    for top, ids in inside.items():
        held = tuple(item for item in used if find(item[0].first.id) == top)
        if held:
            found.append(Cluster(members=tuple(passages[one] for one in sorted(ids)), judged=held))
    return tuple(sorted(found, key=lambda cluster: min(pair.rank for pair, _ in cluster.judged)))


def choose_kept(members: Sequence[Passage], importance: Mapping[str, Importance]) -> tuple[Passage, str]:
    """`(passage, why)`: the one that is kept, and what decided it, as a clause for the writer.

    In this order: a name that no app gave to a copy, a folder that is no inbox or archive, more notes that link to it,
    the longer text (by more than a tenth), the older one, the shorter path, the first by code point.
    """
    nobody = Importance()

    def reasons(passage: Passage) -> list[tuple[object, str]]:
        known = importance.get(passage.path, nobody)
        return [
            (is_copy_name(passage.path), "the other is named like a copy"),
            (is_passing_folder(passage.path), "the other lies where notes are only gathered"),
            (-known.links, f"more notes link to it ({known.links})"),
            (passage.is_note is False, "it is a note of its own"),
            (-_length(passage), "it says more"),
            (known.since if _ISO_DAY.match(known.since) else "9999", f"it is the older one ({known.since[:10]})"),
            (passage.number, "it stands first"),
            (len(passage.path), "its path is the shorter one"),
            (passage.path, "its name comes first"),
            (passage.start, "it stands first"),
        ]

    ranked = sorted(members, key=lambda passage: [value for value, _ in reasons(passage)])
    best = reasons(ranked[0])
    second = reasons(ranked[1]) if len(ranked) > 1 else best
    why = next((told for (mine, told), (theirs, _) in zip(best, second, strict=True) if mine != theirs), "")
    return ranked[0], why


def _length(passage: Passage) -> int:
    """Words in steps of a tenth, so that a comma more decides nothing."""
    count, step = passage.words.count(" ") + 1, 0
    while count > 1:
        count = int(count / 1.1)
        step += 1
    return step
