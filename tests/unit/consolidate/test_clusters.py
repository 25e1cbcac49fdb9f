"""Verdicts on pairs as clusters, and who stays."""

from __future__ import annotations

from aria_dream.consolidate.clusters import Cluster, Importance, choose_kept, clusters_of
from aria_dream.consolidate.passages import Passage, passages_of_note
from aria_dream.consolidate.verdict import Merge, NearPair
from aria_dream.markdown.note import parse_note

TEXT = "The lighthouse at the point was automated long ago, and the keepers left on one boat in the rain."


def passage(path: str, text: str = TEXT) -> Passage:
    return passages_of_note(path, parse_note(text))[0]


def judged(first: Passage, second: Passage, rank: int = 1, confidence: float = 0.99) -> tuple[NearPair, Merge]:
    pair = NearPair(first=first, second=second, cosine=1.0, overlap=1.0, rank=rank)
    return pair, Merge(reason="the same", confidence=confidence)


def names(clusters: tuple[Cluster, ...]) -> list[set[str]]:
    return [{passage.path for passage in cluster.members} for cluster in clusters]


def test_pairs_that_meet_are_one_cluster() -> None:
    a, b, c, d, e = (passage(f"{name}.md") for name in "abcde")
    found = clusters_of([judged(a, b, 2), judged(d, e, 1), judged(c, b, 3, 0.9)])
    assert names(found) == [{"d.md", "e.md"}, {"a.md", "b.md", "c.md"}]
    assert found[1].confidence == 0.9
    assert len(found[1].judged) == 2


def test_two_that_were_told_apart_never_meet() -> None:
    a, b, c = (passage(f"{name}.md") for name in "abc")
    found = clusters_of([judged(a, b, 1, 0.9), judged(b, c, 2, 0.95)], apart={(c.id, a.id)})
    assert names(found) == [{"b.md", "c.md"}]


def test_nothing_makes_no_cluster() -> None:
    assert clusters_of([]) == ()


def kept(first: Passage, second: Passage, **importance: Importance) -> tuple[str, str]:
    known = {path.replace("_", "/") + ".md": value for path, value in importance.items()}
    one, why = choose_kept((first, second), known)
    again, _ = choose_kept((second, first), known)
    assert one is again
    return one.path, why


def test_who_stays_and_why() -> None:
    assert kept(passage("B 1.md"), passage("B.md"), B_1=Importance(links=9)) == (
        "B.md",
        "the other is named like a copy",
    )
    assert kept(passage("Inbox/B.md"), passage("Long/folder/B.md"))[0] == "Long/folder/B.md"
    assert kept(passage("a.md"), passage("b.md"), b=Importance(links=3), a=Importance(links=1)) == (
        "b.md", "more notes link to it (3)",
    )  # fmt: skip
    assert (
        kept(passage("a.md"), passage("b.md", TEXT + " And there is more to say of it than that."))[1] == "it says more"
    )
    assert kept(
        passage("a.md"), passage("b.md"), a=Importance(since="2024-02-01"), b=Importance(since="2023-01-01")
    ) == (
        "b.md",
        "it is the older one (2023-01-01)",
    )
    assert kept(passage("f/b.md"), passage("zz.md")) == ("zz.md", "its path is the shorter one")
    assert kept(passage("a.md"), passage("b.md")) == ("a.md", "its name comes first")
