"""How much of what a vault's links taught is still true: a small sketch of the links, to be kept beside the lesson.

What is learned from links takes seconds to learn and changes little with an edit; so it is kept until enough of the
links it was learned from have changed.
"""

from __future__ import annotations

import heapq
from hashlib import sha256
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

    from aria_dream.vault.graph import LinkGraph

SKETCH_SIZE: Final = 400
STILL_ALIKE: Final = 0.95
"""Learned again from this loss of likeness on: an edit or two teach nothing new."""


def link_sketch(graph: LinkGraph) -> list[str]:
    """The smallest hashes of the links: what two sketches share says how alike two sets of links are (Broder 1997)."""
    paths, offsets, targets = graph.paths, graph.offsets, graph.targets
    hashes = (
        sha256(f"{paths[row]}\0{paths[target]}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
        for row in range(len(paths))
        for target in targets[offsets[row] : offsets[row + 1]]
    )
    return heapq.nsmallest(SKETCH_SIZE, hashes)


def still_alike(then: Collection[str], now: Collection[str]) -> bool:
    """Whether what was learned from the links of one sketch holds for those of the other."""
    one, two = set(then), set(now)
    return one == two or len(one & two) >= STILL_ALIKE * len(one | two)
