"""A note that comes or gets another name, and the links of the rest."""

from __future__ import annotations

from array import array

from aria_dream.markdown.note import NotePath
from aria_dream.review.inbound import notes_to_read, plan_move, plan_orphan
from aria_dream.review.plan import Planned, VaultView
from aria_dream.review.rollback import Impossible, Partly, Restored, plan_rollback
from aria_dream.vault.edit import ChangeSet, Move, Refusal, WritePlan, content_hash, invert_changes
from aria_dream.vault.linkage import link_files
from aria_dream.vault.record import pack_record, record_of_note
from aria_dream.vault.resolve import Resolver
from aria_dream.world import PastWrite


def view(**contents: str) -> VaultView:
    notes = {NotePath(name.replace("__", "/") + ".md"): text.encode() for name, text in contents.items()}
    return VaultView(files=tuple(sorted(map(str, notes))), contents=notes)


def texts(plan: Planned | Refusal) -> dict[str, str]:
    assert isinstance(plan, Planned), plan
    return {str(write.path): (write.content or b"").decode() for write in plan.changes.writes}


def test_a_moved_note_takes_its_links_along() -> None:
    now = view(f__Old="[[./N]] [[Old]] [[#H]] [n](../M.md)\n", f__N="n", M="m", Refs="[[Old]] [[f/Old#H|x]] ![[old]]\n")
    plan = plan_move(now, NotePath("f/Old.md"), NotePath("g/New.md"))
    assert texts(plan) == {
        "Refs.md": "[[New|Old]] [[g/New#H|x]] ![[New]]\n",
        "f/Old.md": "[[../f/N|./N]] [[New|Old]] [[#H]] [n](../M.md)\n",
    }
    assert isinstance(plan, Planned)
    (move,) = plan.changes.moves
    assert (str(move.source), str(move.destination)) == ("f/Old.md", "g/New.md")
    assert move.expected_hash == content_hash(texts(plan)["f/Old.md"].encode())


def test_a_move_into_a_taken_or_foreign_place_is_refused() -> None:
    now = view(A="a", B="b")
    for goal in ("b.md", "B.md", "../A.md", ".obsidian/A.md", "A.txt", "AGENTS.md"):
        assert isinstance(plan_move(now, NotePath("A.md"), NotePath(goal)), Refusal), goal
    assert texts(plan_move(now, NotePath("A.md"), NotePath("a.md"))) == {}


def test_a_new_note_takes_no_link_from_another() -> None:
    now = view(a__Term="t", b__S="[[Term]] and [[Lost]]\n", Refs="[[Term]]\n")
    assert texts(plan_orphan(now, NotePath("b/Term.md"), "new\n")) == {
        "b/Term.md": "new\n",
        "b/S.md": "[[a/Term|Term]] and [[Lost]]\n",
    }
    plan = plan_orphan(now, NotePath("Lost.md"), "new\n")
    assert isinstance(plan, Planned)
    assert [problem.path for problem in plan.problems] == ["b/S.md"]


def test_what_must_be_read_is_named() -> None:
    contents = {"A.md": b"[[Old]]", "B.md": b"[x](f/Old.md)", "C.md": b"[[Other]]", "f/Old.md": b""}
    files = tuple(sorted(contents))
    packed = [pack_record(record_of_note(contents[path])) for path in files]
    linkage = link_files(files, packed, Resolver(files))
    assert isinstance(linkage.targets, array)
    assert notes_to_read(linkage, ["f/Old.md"]) == ("A.md", "B.md")


def test_a_move_with_changes_is_taken_back_as_one() -> None:
    step = PastWrite(path=NotePath("A.md"), before=b"a", after=b"b")
    move = PastWrite(path=NotePath("A.md"), before=b"b", after=b"b", moved_to=NotePath("B.md"))
    back = plan_rollback([step, move], {NotePath("B.md"): b"b"})
    assert isinstance(back, Restored)
    changes = ChangeSet(
        writes=(WritePlan(path=NotePath("A.md"), expected_hash=content_hash(b"a"), content=b"b"),),
        moves=(Move(source=NotePath("A.md"), destination=NotePath("B.md"), expected_hash=content_hash(b"b")),),
    )
    assert back.changes == invert_changes(changes, {NotePath("A.md"): b"a"})
    edited = plan_rollback([step, move], {NotePath("B.md"): b"b and more"})
    assert isinstance(edited, Partly)
    assert edited.changes.writes[0].content == b"a and more"
    assert isinstance(plan_rollback([step, move], {NotePath("B.md"): b"b", NotePath("A.md"): b"x"}), Impossible)
