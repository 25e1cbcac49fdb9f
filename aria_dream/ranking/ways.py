"""The ways between notes: shortest undirected paths from one note to many, for what a dream shows and explains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aria_dream.vault.graph import Neighbours


def shortest_ways(links: Neighbours, start: int, ends: Iterable[int]) -> dict[int, tuple[int, ...] | None]:
    """For each of `ends` the rows from `start` to it, both included; None where nothing connects them.

    Breadth first over whole fronts at once; of several equally short ways the one through the lower rows, so the same
    graph gives the same way.
    """
    offsets = np.frombuffer(links.offsets, dtype=np.int32)
    neighbours = np.frombuffer(links.neighbours, dtype=np.int32) if links.neighbours else np.zeros(0, dtype=np.int32)
    wanted = list(dict.fromkeys(ends))
    came_from = np.full(len(offsets) - 1, -1, dtype=np.int32)
    came_from[start] = start
    missing = np.array([end for end in wanted if end != start], dtype=np.int64)
    front = np.array([start], dtype=np.int32)
    while len(front) and len(missing):
        counts = offsets[front + 1] - offsets[front]
        total = int(counts.sum())
        if not total:
            break
        ends_of = np.cumsum(counts)
        at = np.arange(total) - np.repeat(ends_of - counts, counts) + np.repeat(offsets[front], counts)
        reached, through = neighbours[at], np.repeat(front, counts)
        fresh = came_from[reached] < 0
        # `front` ascends, so the first to reach a note is its lowest neighbour there
        front, first = np.unique(reached[fresh], return_index=True)
        came_from[front] = through[fresh][first]
        missing = missing[came_from[missing] < 0]
    return {end: _back(came_from, start, end) for end in wanted}


def _back(came_from: np.ndarray[tuple[int], np.dtype[np.int32]], start: int, end: int) -> tuple[int, ...] | None:
    if came_from[end] < 0:
        return None
    way = [end]
    while way[-1] != start:
        way.append(int(came_from[way[-1]]))
    return tuple(reversed(way))
