"""What the synthesis left of late, for the morning's report: new lessons, and candidates that nobody has decided."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from aria_dream.markdown.note import decode_note
from aria_dream.synthesis.lesson import lesson_number, read_rows
from aria_dream.synthesis.log_text import current_status, visible
from aria_dream.synthesis.memory import USUAL_FOLDERS, lessons_path, log_path
from aria_dream.world import Content

if TYPE_CHECKING:
    from aria_dream.markdown.note import NotePath
    from aria_dream.usecases.review_session import ReviewSession


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLessons:
    """What stands in a Dream log that a writer may not know of yet."""

    log: str
    """Vault path of the log."""
    lessons: tuple[str, ...]
    """Ids of the lessons of today and yesterday."""
    candidates: tuple[str, ...]
    """Ids of all candidates whose status is `proposed`."""


def find_new_lessons(session: ReviewSession) -> NewLessons | None:
    """What the vault's memory says; None where there is no memory, or nothing new in it."""
    wanted = session.vault.live.policy.settings.memory_folder
    for folder in (wanted,) if wanted else USUAL_FOLDERS:
        log = _content(session, log_path(folder))
        if log is None:
            continue
        since = f"{session.now.date() - timedelta(days=1)}"
        rows = (row.record or {} for row in read_rows(_content(session, lessons_path(folder)) or b""))
        new = (str(row.get("lesson_id")) for row in rows if since <= str(row.get("created_at", "")))
        states = current_status(visible(decode_note(log)))
        open_ = tuple(id_ for id_, status in states.items() if status.strip("*_`") == "proposed")
        lessons = tuple(id_ for id_ in new if lesson_number(id_) is not None)
        return NewLessons(log=str(log_path(folder)), lessons=lessons, candidates=open_) if lessons or open_ else None
    return None


def _content(session: ReviewSession, path: NotePath) -> bytes | None:
    try:
        content = session.files.read(path)
    except OSError:
        return None
    return content.data if isinstance(content, Content) else None
