"""What may be written without a tick: nothing that loses or alters a sentence, a link, a tag or a property."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from aria_dream.consolidate.note_merges import plan_note_merge
from aria_dream.consolidate.passages import passages_of_note
from aria_dream.consolidate.record import Part, parse_consolidations
from aria_dream.consolidate.resolution import plan_struck
from aria_dream.consolidate.section_updates import plan_section_updates
from aria_dream.consolidate.unattended_guard import contradictions_left, find_doubt
from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.review.changes import plan_placement
from aria_dream.review.placement import Target
from aria_dream.review.plan import Planned, VaultView
from aria_dream.review.proposal import Proposal, ProposalState, proposal_id
from aria_dream.vault.edit import Refusal

if TYPE_CHECKING:
    from aria_dream.review.proposal import Kind

NOW = datetime(2026, 11, 30, 3, tzinfo=UTC)
TEXT = "Fire the kiln for nine hours, let it cool for two days, and never open it before it is at ninety degrees.\n"


def view(**texts: str) -> VaultView:
    contents = {NotePath(f"{name}.md"): text.encode() for name, text in texts.items()}
    return VaultView(files=tuple(sorted(map(str, contents))), contents=contents)


def proposal(kind: Kind, paths: tuple[str, ...], **evidence: object) -> ProposalState:
    made = Proposal(id=proposal_id(kind, paths, 0), kind=kind, paths=paths, round=0, at=NOW, expires_at=None,
                    titles=(), confidence=0.99, judge="a model", evidence=evidence)  # fmt: skip
    return ProposalState(proposal=made, state="proposed", since=NOW, paths=paths)


def merge_doubt(of: VaultView, *paths: str, wording: str | None = None) -> str:
    keep, *drops = map(NotePath, paths)
    found = plan_note_merge(of, keep, drops, wording=wording)
    assert not isinstance(found, Refusal), found
    return find_doubt(proposal("merge", paths), found.planned.changes, of, others=())


@pytest.mark.parametrize("copy", [
    TEXT,
    TEXT.replace("hours, let", "hours,\nlet"),
    TEXT.replace("\n", "\r\n"),
    f"# Kiln 1\n\n{TEXT}",
    TEXT.replace("never", "**never**"),
    f"{TEXT}\n#clay\n",
    f"---\ntags: [clay]\ncreated: 2024-01-01\n---\n{TEXT}",
])  # fmt: skip
def test_what_reads_the_same_passes(copy: str) -> None:
    assert merge_doubt(view(**{"Kiln": TEXT, "Kiln 1": copy, "Ref": "See [[Kiln 1]] and ![[Kiln 1]].\n"}),
                       "Kiln.md", "Kiln 1.md") == ""  # fmt: skip


@pytest.mark.parametrize(("one", "other"), [
    ("Take the red tablets twice a day with food, and do not drink grapefruit juice while the course lasts.",
     "Take the red tablets three times a day with food, and do drink grapefruit juice while the course lasts."),
    ("Die Pumpe im Keller läuft im Winter nicht, und der Schieber hinter dem Kessel bleibt bis zum Frühjahr zu.",
     "Die Pumpe im Keller läuft im Winter, und der Schieber hinter dem Kessel bleibt bis zum Frühjahr zu."),
    ("Pumppu ei käy talvella, ja venttiili kattilan takana pysyy kiinni kevääseen asti niin kuin aina ennenkin.",
     "Pumppu käy talvella, ja venttiili kattilan takana pysyy kiinni kevääseen asti niin kuin aina ennenkin."),
    ("The tank behind the barn holds 300 l of rain water and is emptied in the last week before the first frost.",
     "The tank behind the barn holds 300 gal of rain water and is emptied in the last week before the first frost."),
    ("The meeting with Dr. Lima is on 3 May in the small room behind the library, and everybody brings the file.",
     "The meeting with Dr. Lima is on 3 June in the small room behind the library, and everybody brings the file."),
    ("The keys are with Marta until the roof is mended, and the ladder stands in the yard beside the old pump.",
     "The keys are with Martin until the roof is mended, and the ladder stands in the yard beside the old pump."),
    ("We polish the table in the hall with wax each spring, and the chairs beside it each autumn, by hand.",
     "We Polish the table in the hall with wax each spring, and the chairs beside it each autumn, by hand."),
    (TEXT, TEXT + "\nIt does not fire on Sundays.\n"),
    ("Mix the flour with the water first. Then knead the dough for ten minutes. Then bake it until it sings.",
     "Then bake it until it sings. Mix the flour with the water first. Then knead the dough for ten minutes."),
    ("水槽は三百リットルの雨水を溜め、冬の前に空にする。納屋の裏にある古い桶も同じように空にしておく。",
     "水槽は二百リットルの雨水を溜め、冬の前に空にする。納屋の裏にある古い桶も同じように空にしておく。"),
    ("---\nstatus: sold\n---\n" + TEXT, "---\nstatus: owned\n---\n" + TEXT),
    ("---\nprice: 450\n---\n" + TEXT, "---\nprice: 400\n---\n" + TEXT),
    ("---\nestado: vendido\n---\n" + TEXT, "---\nestado: nuestro\n---\n" + TEXT),
    (TEXT, "---\nstatus: sold\n---\n" + TEXT),
    ("status:: sold\n\n" + TEXT, "status:: owned\n\n" + TEXT),
    ("- [ ] paid\n\n" + TEXT, "- [x] paid\n\n" + TEXT),
])  # fmt: skip
def test_what_differs_waits_for_a_tick(one: str, other: str) -> None:
    assert merge_doubt(view(A=one, B=other), "A.md", "B.md")
    assert merge_doubt(view(A=other, B=one), "A.md", "B.md")


def test_every_two_of_a_cluster_have_to_agree() -> None:
    of = view(**{"Kiln": TEXT, "Kiln 1": TEXT, "Kiln 2": TEXT.replace("nine", "ten")})
    assert merge_doubt(of, "Kiln.md", "Kiln 1.md") == ""
    assert "Kiln 2" in merge_doubt(of, "Kiln.md", "Kiln 1.md", "Kiln 2.md")


def test_a_model_s_wording_waits() -> None:
    of = view(**{"Kiln": TEXT, "Kiln 1": TEXT})
    said = f"{TEXT.strip()} Really, never."
    assert merge_doubt(of, "Kiln.md", "Kiln 1.md", wording=said)


def test_links_that_lead_to_other_files_wait() -> None:
    text = f"{TEXT}\nThe [plan](img/plan.pdf) lies beside it.\n"
    contents = {NotePath("A/Hull.md"): text.encode(), NotePath("B/Hull.md"): text.encode()}
    of = VaultView(files=("A/Hull.md", "A/img/plan.pdf", "B/Hull.md", "B/img/plan.pdf"), contents=contents)
    assert merge_doubt(of, "A/Hull.md", "B/Hull.md")


@pytest.mark.parametrize("key", ["lost", "reworded", "conflict", "links", "elsewhere"])
def test_what_a_proposal_tells_its_writer_waits_for_them(key: str) -> None:
    of = view(**{"Kiln": TEXT, "Kiln 1": TEXT})
    found = plan_note_merge(of, NotePath("Kiln.md"), [NotePath("Kiln 1.md")])
    assert not isinstance(found, Refusal)
    state = proposal("merge", ("Kiln.md", "Kiln 1.md"), **{key: ["said"]})
    assert "said" in find_doubt(state, found.planned.changes, of, others=())
    told = replace(state, proposal=replace(state.proposal, evidence={}, extra={"dissent": ["“Kiln” and “Kiln 2”"]}))
    assert "Kiln 2" in find_doubt(told, found.planned.changes, of, others=())


def placed(of: VaultView) -> Planned:
    found = plan_placement(of, NotePath("Kiln.md"), Target(path="Clay.md", title="Clay", aliases=()))
    assert isinstance(found, Planned), found
    return found


def test_a_link_alters_no_sentence() -> None:
    for text in (TEXT, f"{TEXT}\nThe Clay is red.\n", f"{TEXT}\nIt is of clay, and of no Clay else.\n"):
        of = view(Kiln=text, Clay="Red.\n")
        state = proposal("link", ("Kiln.md", "Clay.md"))
        assert find_doubt(state, placed(of).changes, of, others=(state,)) == ""


def test_another_proposal_or_a_contradiction_on_the_notes_waits() -> None:
    of = view(Kiln=TEXT, Clay="Red.\n")
    state, changes = proposal("link", ("Kiln.md", "Clay.md")), placed(of).changes
    merge = proposal("merge", ("Kiln.md", "Oven.md"))
    assert merge.proposal.id in find_doubt(state, changes, of, others=(state, merge))
    assert find_doubt(state, changes, of, others=(replace(merge, state="rejected"),)) == ""
    assert find_doubt(state, changes, of, others=(proposal("link", ("Kiln.md", "Glaze.md")),)) == ""
    assert "not settled" in find_doubt(state, changes, of, others=(), at_odds=[{"Kiln.md", "Clay.md"}])
    assert find_doubt(state, changes, of, others=(), at_odds=[{"Kiln.md", "Glaze.md"}]) == ""


SECTIONS = "# {title}\n\nAn opening of its own.\n\n## Cooling\n\n{said}\n"


@pytest.mark.parametrize(("mine", "theirs", "waits"), [
    (TEXT, TEXT, False),
    (TEXT, TEXT.replace("nine", "ten"), True),
    (TEXT, f"{TEXT}\nNot on Sundays.\n", True),
    (f"{TEXT}\nNot on Sundays.\n", TEXT, False),  # what only the doubled section says stays below the link
])  # fmt: skip
def test_a_section_gives_way_only_to_one_that_says_the_same(mine: str, theirs: str, *, waits: bool) -> None:
    long = " ".join(f"Word {number} stands here alone." for number in range(90))
    of = view(
        A=SECTIONS.format(title="A", said=mine) + f"\n## Rest\n\n{long}\n",
        B=SECTIONS.format(title="B", said=theirs) + f"\n## Other\n\n{long.replace('stands', 'lies')}\n",
    )
    cooling = [
        next(
            passage
            for passage in passages_of_note(str(path), parse_note(of.contents[path].decode()))
            if "Cooling" in passage.headings
        )
        for path in (NotePath("A.md"), NotePath("B.md"))
    ]
    found = plan_section_updates(of, [(cooling[1], [cooling[0]])])
    assert not isinstance(found, Refusal), found
    doubt = find_doubt(proposal("update", ("A.md", "B.md")), found.planned.changes, of, others=())
    assert bool(doubt) == waits, doubt


def test_a_claim_that_is_struck_waits() -> None:
    of = view(A=f"The tower is 324 m. {TEXT}", B=f"The tower is 300 m. {TEXT}")
    one, other = (
        passages_of_note(path, parse_note(of.contents[NotePath(path)].decode()))[0] for path in ("A.md", "B.md")
    )
    found = plan_struck(of, other, "The tower is 300 m.", one)
    assert isinstance(found, Planned)
    assert "300 m" in find_doubt(proposal("resolve_contradiction", ("B.md", "A.md")), found.changes, of, others=())


def test_contradictions_are_those_of_the_last_look() -> None:
    lines = [
        (
            '{"type":"consolidation","version":1,"event":"started","id":"n","at":"2026-11-30T03:00:00+00:00",'
            '"night":"2026-11-30","parts":["triage","consolidate","resolve"],"judge":"j"}'
        ),
        (
            '{"type":"consolidation","version":1,"event":"triaged","id":"n","at":"2026-11-30T03:00:01+00:00","atoms":2,'
            '"new":2,"pairs":1,"conflicts":2,"stale":0,"at_odds":[["k1","A.md","B.md"],["k2","C.md","D.md"]]}'
        ),
    ]
    past = parse_consolidations("\n".join(lines))
    assert contradictions_left(past, {"k2"}, ()) == (frozenset({"A.md", "B.md"}),)
    done = replace(proposal("resolve_contradiction", ("A.md", "B.md")), state="applied")
    done = replace(done, proposal=replace(done.proposal, extra={"finding": "k1"}))
    assert contradictions_left(past, (), (done,)) == (frozenset({"C.md", "D.md"}),)
    assert past[0].parts != (Part.CONSOLIDATE,)
    older = parse_consolidations("\n".join(lines).replace(',"at_odds":[["k1","A.md","B.md"],["k2","C.md","D.md"]]', ""))
    assert contradictions_left(older, (), ()) == ()
