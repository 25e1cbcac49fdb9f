"""From clusters to exact changes: what is written, what becomes of links, what is told."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from aria_dream.consolidate.clusters import Cluster, Importance, clusters_of
from aria_dream.consolidate.duplicates import ClusterProposal, Making, Unproposed, cluster_proposals, paths_of
from aria_dream.consolidate.passages import Passage, passages_of_note
from aria_dream.consolidate.verdict import Merge, NearPair, Normalize
from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.review.plan import VaultView, changes_of
from aria_dream.review.proposal import ProposalState, is_id_of
from aria_dream.vault.edit import ChangeSet
from aria_dream.vault.obsidian import AppSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.review.proposal import State

NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
TEXT = "The lighthouse at the point was automated in 1987. Three keepers lived there until then, four weeks at a time."
LONG = "\n\n".join(
    f"Paragraph {n} of a long note says this and that about the subject at hand, in its own words." for n in range(30)
)


def view_of(notes: dict[str, str], *, markdown: bool = False) -> VaultView:
    contents = {NotePath(path): text.encode() for path, text in notes.items()}
    return VaultView(files=tuple(sorted(notes)), contents=contents, app=AppSettings(use_markdown_links=markdown))


def passages(notes: dict[str, str]) -> dict[str, Passage]:
    found = [
        passage
        for path, text in notes.items()
        if path.endswith(".md")
        for passage in passages_of_note(path, parse_note(text))
    ]
    return {
        f"{passage.path}{'#' if passage.headings else ''}{'#'.join(passage.headings)}": passage for passage in found
    }


def clustered(*groups: Sequence[Passage], wording: str = "") -> tuple[Cluster, ...]:
    judged: list[tuple[NearPair, Merge | Normalize]] = []
    for group in groups:
        for other in group[1:]:
            pair = NearPair(first=group[0], second=other, cosine=0.97, overlap=1.0, rank=len(judged) + 1)
            verdict: Merge | Normalize = Merge(reason="word for word the same", confidence=0.99)
            if wording:
                verdict = Normalize(reason="clearer", confidence=0.9, wording=wording)
            judged.append((pair, verdict))
    return clusters_of(judged)


def proposed(
    notes: dict[str, str],
    clusters: tuple[Cluster, ...],
    states: Sequence[ProposalState] = (),
    *,
    markdown: bool = False,
    **importance: Importance,
) -> tuple[ClusterProposal | Unproposed, ...]:
    making = Making(
        view=view_of(notes, markdown=markdown),
        importance={f"{name}.md": value for name, value in importance.items()},
        states=states,
        now=NOW,
        expires_at=None,
        judge="embedded",
    )
    return cluster_proposals(clusters, making)


def only(found: tuple[ClusterProposal | Unproposed, ...]) -> ClusterProposal:
    (one,) = found
    assert isinstance(one, ClusterProposal), one
    return one


def after(notes: dict[str, str], one: ClusterProposal) -> dict[str, str]:
    """The vault after the change."""
    changes = changes_of(one.edits, view_of(notes).contents)
    assert isinstance(changes, ChangeSet), changes
    written = {str(plan.path): (plan.content or b"").decode() for plan in changes.writes}
    moved = {str(move.destination): notes[str(move.source)] for move in changes.moves}
    gone = {str(move.source) for move in changes.moves}
    return {path: text for path, text in {**notes, **written, **moved}.items() if path not in gone}


def test_three_copies_are_one_proposal() -> None:
    notes = {
        "Light.md": f"---\ntags: [sea]\n---\n{TEXT}\n",
        "Inbox/Light.md": f"---\ntags: [tower]\nauthor: K\n---\n{TEXT}\n\nIt is painted white.\n",
        "Light 1.md": f"{TEXT} See [[Keepers]].\n",
        "Refs.md": "[[Inbox/Light]] and ![[Light 1]] and [[Light]]\n",
        "Keepers.md": "k\n",
    }
    found = passages(notes)
    one = only(proposed(notes, clustered([found["Light.md"], found["Inbox/Light.md"], found["Light 1.md"]])))
    assert one.proposal.kind == "merge"
    assert one.proposal.paths == ("Light.md", "Inbox/Light.md", "Light 1.md")
    assert is_id_of(one.proposal.id, "merge", one.proposal.paths, 0)
    assert one.proposal.confidence == 0.99
    assert after(notes, one) == {
        "Light.md": f"---\ntags: [sea, tower]\nauthor: K\naliases: [Light 1]\n---\n{TEXT}\n\nIt is painted white.\n\n"
        "See [[Keepers]].\n",
        ".trash/Inbox/Light.md": notes["Inbox/Light.md"],
        ".trash/Light 1.md": notes["Light 1.md"],
        "Refs.md": "[[Light|Inbox/Light]] and ![[Light]] and [[Light]]\n",
        "Keepers.md": "k\n",
    }
    assert one.proposal.evidence["added"] == ["It is painted white.", "See [[Keepers]]."]
    assert one.proposal.evidence["kept"] == "“Light” stays: the other lies where notes are only gathered"


def test_properties_that_disagree_are_told() -> None:
    notes = {"A.md": f"---\nauthor: X\n---\n{TEXT}\n", "B.md": f"---\nauthor: Y\n---\n{TEXT}\n"}
    one = only(proposed(notes, clustered(list(passages(notes).values()))))
    assert one.proposal.evidence["conflict"] == ["'author' keeps 'X'; 'B' said 'Y'"]


def test_blocks_and_headings_that_links_name_are_found_again() -> None:
    body = f"## Story\n\n{TEXT}\n\n- an item of the list that is here"
    notes = {
        "Keep.md": body + "\n",
        "Drop.md": "# Drop\n\n" + body + " ^item\n",
        "Refs.md": "[[Drop#^item]] [[Drop#Story]] [[Drop#Drop]] ![[Drop#^item]]\n",
        "Board.canvas": '{"nodes": [{"type": "file", "file": "Drop.md"}]}',
    }
    found = passages(notes)
    made = after(
        notes, only(proposed(notes, clustered([found["Keep.md"], found["Drop.md"]]), Keep=Importance(links=9)))
    )
    assert made["Keep.md"] == f"---\naliases: [Drop]\n---\n{body} ^item\n"
    assert made["Refs.md"] == (
        "[[Keep#^item|Drop > ^item]] [[Keep#Story|Drop > Story]] [[Keep|Drop > Drop]] ![[Keep#^item]]\n"
    )
    assert made["Board.canvas"] == '{"nodes": [{"type": "file", "file": "Keep.md"}]}'


def test_a_wording_replaces_the_text_or_is_refused() -> None:
    notes = {"A.md": f"---\nx: 1\n---\n{TEXT}\n", "B.md": f"{TEXT}\n"}
    wording = (
        "The lighthouse at the point was automated in 1987. Until then three keepers lived there, four weeks at a time."
    )
    one = only(proposed(notes, clustered(list(passages(notes).values()), wording=wording)))
    assert after(notes, one)["A.md"] == f"---\nx: 1\naliases:\n  - B\n---\n{wording}\n"
    assert "lost" not in one.proposal.evidence
    (refused,) = proposed(notes, clustered(list(passages(notes).values()), wording="A lighthouse."))
    assert isinstance(refused, Unproposed)
    assert refused.reason == "the new wording would lose 2 of 2 sentences"


def test_a_kept_note_that_has_changed_meanwhile_saves_the_others() -> None:
    notes = {"f/Light.md": f"{TEXT}\n", "g/Light.md": f"{TEXT}\n"}
    one = only(proposed(notes, clustered(list(passages(notes).values()))))
    kept = one.proposal.paths[0]
    assert not isinstance(changes_of(one.edits, view_of(notes).contents), str)
    changed = view_of({**notes, kept: "All of it has gone.\n"})
    assert not isinstance(changes_of(one.edits, changed.contents), ChangeSet)


def test_no_note_is_in_two_proposals() -> None:
    notes = {f"{name}.md": f"{TEXT}\n" for name in "ABC"}
    found = passages(notes)
    clusters = (*clustered([found["A.md"], found["B.md"]]), *clustered([found["B.md"], found["C.md"]]))
    first, second = proposed(notes, clusters)
    assert isinstance(first, ClusterProposal)
    assert isinstance(second, Unproposed)
    waiting = ProposalState(proposal=first.proposal, state="proposed", since=NOW, paths=first.proposal.paths)
    assert isinstance(proposed(notes, clusters[:1], [waiting])[0], Unproposed)


def test_what_was_decided_is_not_proposed_again() -> None:
    notes = {f"{name}.md": f"{TEXT}\n" for name in "AB"}
    clusters = clustered(list(passages(notes).values()))
    one = only(proposed(notes, clusters))

    def state(name: State) -> ProposalState:
        return ProposalState(proposal=one.proposal, state=name, since=NOW, paths=one.proposal.paths, edits=one.edits)

    for name in ("rejected", "rolled_back"):
        assert isinstance(proposed(notes, clusters, [state(name)])[0], Unproposed)
    again = only(proposed(notes, clusters, [state("expired")]))
    assert again.proposal.round == 1


def test_doubled_sections_become_links() -> None:
    notes = {
        "One.md": f"# One\n\n{LONG}\n\n## Light\n\n{TEXT}\n",
        "Two.md": f"# Two\n\n{LONG}\n\n## Light\n\n{TEXT} It hums.\n\n## More\n\nx\n",
    }
    found = passages(notes)
    clusters = clustered([found["One.md#One#Light"], found["Two.md#Two#Light"]])
    assert paths_of(clusters) == ("One.md", "Two.md")
    one = only(proposed(notes, clusters, One=Importance(links=1)))
    assert (one.proposal.kind, one.proposal.paths) == ("update", ("Two.md", "One.md"))
    assert after(notes, one) == {
        "One.md": notes["One.md"],
        "Two.md": f"# Two\n\n{LONG}\n\n## Light\n\n![[One#Light]]\n\nIt hums.\n\n## More\n\nx\n",
    }
    marked = after(notes, only(proposed(notes, clusters, markdown=True, One=Importance(links=1))))
    assert "![One › Light](One.md#Light)\n\nIt hums." in marked["Two.md"]
    gone = view_of({**notes, "One.md": "# One\n"})
    assert not isinstance(changes_of(one.edits, gone.contents), ChangeSet)


def test_a_section_doubled_in_its_own_note() -> None:
    notes = {"One.md": f"{LONG}\r\n\r\n## Light\r\n\r\n{TEXT}\r\n\r\n# Again\r\n\r\n## Light\r\n\r\n{TEXT}\r\n"}
    found = passages(notes)
    one = only(proposed(notes, clustered([found["One.md#Light"], found["One.md#Again#Light"]])))
    assert one.proposal.paths == ("One.md",)
    assert after(notes, one)["One.md"] == (
        f"{LONG}\r\n\r\n## Light\r\n\r\n{TEXT}\r\n\r\n# Again\r\n\r\n## Light\r\n\r\n[[#Light]]\r\n"
    )


def test_a_section_that_is_a_note_of_its_own() -> None:
    notes = {"One.md": f"{LONG}\n\n## Light\n\n{TEXT}\n", "Light.md": f"{TEXT}\n"}
    found = passages(notes)
    one = only(proposed(notes, clustered([found["One.md#Light"], found["Light.md"]])))
    assert after(notes, one)["One.md"] == f"{LONG}\n\n## Light\n\n![[Light]]\n"


def test_links_to_a_block_of_a_doubled_section_follow_its_words() -> None:
    notes = {
        "One.md": f"---\na: 1\n---\n{LONG}\n\n## Light\n\n{TEXT}\n",
        "Two.md": f"{LONG}\n\n## Light\n\n{TEXT} ^here\n\n## More\n\nSee [[#^here]].\n",
        "Refs.md": "[[Two#^here|it]] ![[two#^here]] [[Two#Light]] [m](Two.md#^here)\n",
    }
    found = passages(notes)
    one = only(proposed(notes, clustered([found["One.md#Light"], found["Two.md#Light"]]), One=Importance(links=9)))
    made = after(notes, one)
    assert made["One.md"] == f"---\na: 1\n---\n{LONG}\n\n## Light\n\n{TEXT} ^here\n"
    assert made["Two.md"] == f"{LONG}\n\n## Light\n\n![[One#Light]]\n\n## More\n\nSee [[One#^here|^here]].\n"
    assert made["Refs.md"] == "[[One#^here|it]] ![[One#^here]] [[Two#Light]] [m](One.md#%5Ehere)\n"


def test_a_linked_block_without_a_place_keeps_its_section() -> None:
    notes = {
        "One.md": f"{LONG}\n\n## Light\n\n{TEXT}\n\n# Again\n\n## Light\n\n{TEXT} ^here\n",
        "Refs.md": "[[One#^here]]\n",
    }
    found = passages(notes)
    (refused,) = proposed(notes, clustered([found["One.md#Light"], found["One.md#Again#Light"]]))
    assert isinstance(refused, Unproposed)
    assert refused.reason == "a link leads to the block ^here in “One › Light”"


def test_sections_of_one_note_are_one_proposal() -> None:
    notes = {
        name: f"{LONG}\n\n## Light\n\n{TEXT}\n\n## Sea\n\n{TEXT.replace('lighthouse', 'harbour')}\n"
        for name in ("One.md", "Two.md")
    }
    found = passages(notes)
    clusters = clustered([found["One.md#Light"], found["Two.md#Light"]], [found["One.md#Sea"], found["Two.md#Sea"]])
    made = after(notes, only(proposed(notes, clusters)))
    assert made["Two.md"] == f"{LONG}\n\n## Light\n\n![[One#Light]]\n\n## Sea\n\n![[One#Sea]]\n"
