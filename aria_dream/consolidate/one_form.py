"""Passages of one form: release notes, entries of a catalogue, notes from one sheet. Each is near several others,
and a writer who is asked about every pair of them is asked the same question a hundred times. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.consolidate.open_pairs import OpenPair

NEAR_EACH: Final = 3
"""A passage is of a form if it is near so many others of that form."""
STANDS_OUT: Final = 0.9
"""Share of words in common from which on two are asked about although they are of one form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneForm:
    """Passages that are near each other because they are built alike."""

    titles: tuple[str, ...]
    """Of each passage, in the order of the pairs."""
    pairs: int
    """How many pairs of them are not asked about one by one."""


def without_forms(pairs: Sequence[OpenPair]) -> tuple[tuple[OpenPair, ...], tuple[OneForm, ...]]:
    """The pairs to ask about one by one, in their order, and the forms that the others are of, the largest first.

    A form is a connected part of the 3-core of the graph of pairs (Seidman 1983): what stays when every passage that is
    near fewer than three others is left out, again and again. Two that stand out in it, and two that the writer called
    the same, are still asked about.
    """
    if len(pairs) < NEAR_EACH * (NEAR_EACH + 1) // 2:  # too few for four passages that are all near each other
        return tuple(pairs), ()
    import networkx as nx  # loaded here: it takes a tenth of a second

    graph: nx.Graph[str] = nx.Graph()
    graph.add_edges_from((one.pair.first.id, one.pair.second.id) for one in pairs)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    parts = [frozenset(part) for part in nx.connected_components(nx.k_core(graph, NEAR_EACH))]
    number = {id_: at for at, part in enumerate(parts) for id_ in part}
    asked: list[OpenPair] = []
    titles: list[dict[str, str]] = [{} for _ in parts]
    counts = [0] * len(parts)
    for one in pairs:
        first, second = one.pair.first.id, one.pair.second.id
        at = number.get(first)
        is_of_it = at is not None and at == number.get(second)
        if not is_of_it or one.is_called_same or one.pair.overlap >= STANDS_OUT:
            asked.append(one)
            continue
        assert at is not None
        counts[at] += 1
        for id_, title in zip((first, second), one.titles, strict=True):
            titles[at].setdefault(id_, title)
    forms = [
        OneForm(titles=tuple(named.values()), pairs=count)
        for named, count in zip(titles, counts, strict=True) if count
    ]  # fmt: skip
    return tuple(asked), tuple(sorted(forms, key=lambda form: (-len(form.titles), form.titles)))
