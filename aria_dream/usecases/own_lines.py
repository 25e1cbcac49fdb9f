"""Our own lines in the vault, brought up to date with the journal after every decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aria_dream.notes.review_note import empty_review
from aria_dream.policy.file_layout import log_notes
from aria_dream.review.change_lines import renew_changes
from aria_dream.review.lines import pair_ids, renew_log, renew_review, reopened_items
from aria_dream.review.showing import shown_change
from aria_dream.usecases.change_preview import with_plan
from aria_dream.usecases.lost_review import is_lost
from aria_dream.vault.edit import decode_note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.notes.change_grammar import ChangeItem
    from aria_dream.usecases.review_session import ReviewSession, Settlement


def renew_lines(session: ReviewSession, done: Settlement) -> None:
    """Brings every line of ours up to date with the journal: decided lines say so, decided pairs leave the review, and
    what was proposed since stands there."""
    states = session.store.read().states
    days = dict(log_notes(session.vault.names))
    surfaces = session.surfaces()
    logs = [(decode_note(surfaces[path]), day) for path, day in days.items() if path in surfaces]
    home, lost = session.vault.home, is_lost(session.vault, session.files)
    reopened = [item for text, day in logs for item in reopened_items(text, day, states, all_open=lost)]
    in_logs = {id_ for text, _ in logs for id_ in pair_ids(text)}

    def changes(items: Sequence[ChangeItem], pairs: frozenset[str]) -> Sequence[ChangeItem]:
        return renew_changes(
            items,
            states,
            lambda state: shown_change(with_plan(session, state), session.shelf(state)),
            now=session.now,
            window=session.window,
            elsewhere=pairs | in_logs,
            all_open=lost,
        )

    for path, data in surfaces.items():
        text = decode_note(data)
        if not session.is_review(path):
            changed = renew_log(text, states, now=session.now, window=session.window)
        elif path != home.review or not lost:
            changed = renew_review(text, states, reopened, changes=changes)
        else:
            continue
        if changed != text:
            session.put(path, data, changed, done)
    made = renew_review(empty_review(), states, reopened, changes=changes) if lost else ""
    if lost and made != empty_review() and session.put(home.review, surfaces.get(home.review), made, done):
        done.said.append(f"{home.review} was gone or empty, so it was made anew with all that waits")
