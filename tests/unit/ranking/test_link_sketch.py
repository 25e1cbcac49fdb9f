"""What was learned from links is kept through an edit, and not through another vault."""

from __future__ import annotations

from array import array

import pytest

from aria_dream.ranking.sparse import SKETCH_SIZE, link_sketch, still_alike
from aria_dream.vault.graph import LinkGraph


def ring(size: int, step: int = 1, cut: int = 0) -> LinkGraph:
    """Every note links to the one `step` on; the first `cut` notes do not."""
    offsets, targets = array("i", [0]), array("i")
    for number in range(size):
        if number >= cut:
            targets.append((number + step) % size)
        offsets.append(len(targets))
    return LinkGraph(paths=tuple(f"{number}.md" for number in range(size)), offsets=offsets, targets=targets)


@pytest.mark.parametrize(("size", "cut", "alike"), [(300, 0, True), (300, 5, True), (300, 60, False), (5000, 20, True),
                                                    (5000, 1500, False), (0, 0, True)])  # fmt: skip
def test_a_few_links_fewer_are_alike_and_many_are_not(size: int, cut: int, alike: bool) -> None:
    one, two = link_sketch(ring(size)), link_sketch(ring(size, cut=cut))
    assert len(one) == min(size, SKETCH_SIZE)
    assert still_alike(one, two) is alike
    assert still_alike(two, one) is alike


def test_other_links_are_not_alike() -> None:
    assert not still_alike(link_sketch(ring(300)), link_sketch(ring(300, step=2)))
