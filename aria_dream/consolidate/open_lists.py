"""Which lists of findings stand in `Dream review.md` beside the proposals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aria_dream.consolidate import open_conflicts, open_pairs, open_reminders
from aria_dream.consolidate.open_list import count_open, read_answers, ticked_lines, with_list
from aria_dream.errors import Problem

if TYPE_CHECKING:
    from aria_dream.consolidate.settled import What

LISTS: Final = (open_conflicts.NAME, open_pairs.NAME, open_reminders.NAME)
"""Names of their blocks, in the order in which they stand in a new note."""


_WHATS: Final[dict[str, tuple[What, ...]]] = {
    open_conflicts.NAME: ("no contradiction",),
    open_pairs.NAME: ("different", "same"),
    open_reminders.NAME: ("looked at",),
}


def without_lists(text: str) -> str:
    """The note as if it had none of them; one that somebody edited is the writer's and stays."""
    for name in LISTS:
        text, _ = with_list(text, name, "")
    return text


def read_ticked(text: str) -> tuple[int, tuple[Problem, ...]]:
    """How many answers are ticked in the lists, and the ticked boxes that no night will read, each with its line."""
    kept, problems = 0, list[Problem]()
    for name in LISTS:
        answers = read_answers(text, name)
        kept += len(answers.given)
        for line, key in ticked_lines(text, _WHATS[name]):
            if answers.is_edited:
                said = f"the block “{name}” was edited between its markers, so no tick in it is read"
                problems.append(Problem("", line, said))
            elif key in answers.asked:
                problems.append(Problem("", line, "two boxes of this pair are ticked, so nothing is done; tick one"))
    return kept, tuple(problems)


def open_findings(text: str) -> int:
    """How many findings of the lists wait, those that are answered but not read yet among them."""
    return sum(count_open(text, name) for name in LISTS)
