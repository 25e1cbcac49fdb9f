"""Our lines exchanged for what became of a decision."""

from __future__ import annotations

from aria_dream.notes.dream_note_grammar import Outcome
from aria_dream.notes.tick_lines import decide_in_text, reopen_in_text


def test_words_behind_a_box_outlive_the_decision_and_its_undoing() -> None:
    log = (
        "- **[[A]] ↔ [[B]]** (0.5)\n"
        "    - [x] link them ^aria-bza4vm for the talk [[Tea]]  ✅ 2026-12-01\n"
        "    - [ ] never again not sure #later ^aria-bza4vm-no [completion:: 2026-12-01]\n"
    )
    done = decide_in_text(log, "bza4vm", Outcome(verdict="linked", where="A", at="07:41", undo_until="2 Dec 07:41"))
    line = "undo: linked in A 07:41 (until 2 Dec 07:41) ^aria-bza4vm-undo for the talk [[Tea]] not sure #later\n"
    assert done == f"- **[[A]] ↔ [[B]]** (0.5)\n    - [ ] {line}"
    ticked = done.replace("[ ] undo", "[x] undo").replace("later\n", "later ✅ 2026-12-02\n")
    undone = decide_in_text(ticked, "bza4vm", Outcome(verdict="undone", at="07:45"))
    assert undone.endswith("undone, 07:45 ^aria-bza4vm for the talk [[Tea]] not sure #later\n")
    assert decide_in_text(undone, "bza4vm", Outcome(verdict="undone", at="07:45")) == undone
    assert "link them ^aria-bza4vm for the talk [[Tea]] not sure #later\n" in reopen_in_text(undone, "bza4vm")


def test_our_own_words_are_not_doubled() -> None:
    moved = "- [x] ^aria-bza4vm **link them**\n- [ ] ^aria-bza4vm-no Never again\n"
    done = decide_in_text(moved, "bza4vm", Outcome(verdict="linked", where="A", at="07:41", undo_until="07:50"))
    assert done == "- [ ] undo: linked in A 07:41 (until 07:50) ^aria-bza4vm-undo\n"
    front = "- [x] ^aria-bza4vm-undo undo: linked in A 07:41 (until 07:50)\n"
    assert decide_in_text(front, "bza4vm", Outcome(verdict="undone", at="07:45")) == "- undone, 07:45 ^aria-bza4vm\n"
