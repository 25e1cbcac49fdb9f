"""The overnight report of a consolidation: the lines of the review, the report, and one line in the dream note.

Only notes of ours are written, each by itself: one that somebody is typing into is left, and said. Doing it twice
changes nothing, so that a crash in the middle is mended by doing it again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from aria_dream.consolidate.figures import figures_of, nights_of
from aria_dream.consolidate.record import told
from aria_dream.consolidate.report import (
    NIGHTS_SHOWN,
    Report,
    read_report,
    render_report,
    render_report_head,
    with_report,
)
from aria_dream.markdown.note import NotePath
from aria_dream.notes.dream_log import render_head
from aria_dream.notes.review_note import HEADINGS, empty_review, is_emptied
from aria_dream.policy.file_layout import choose_log
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.review.graduation import bars_of, track_records
from aria_dream.synthesis.lesson import lesson_number, read_rows
from aria_dream.synthesis.log_text import current_status, visible
from aria_dream.synthesis.memory import USUAL_FOLDERS, lessons_path, log_path
from aria_dream.usecases.reconcile import is_lost
from aria_dream.usecases.review import renew_lines
from aria_dream.usecases.review_session import Settlement
from aria_dream.usecases.unresolved_items import NOT_WRITTEN, find_sync_copies, list_open, put_plan
from aria_dream.vault.edit import (
    ABSENT,
    Refusal,
    WritePlan,
    content_hash,
    decode_note,
    encode_note,
    plan_append,
)
from aria_dream.vault.link_form import link_target
from aria_dream.world import Absent, Content, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.consolidate.open_conflicts import OpenConflict
    from aria_dream.consolidate.open_pairs import OpenPair
    from aria_dream.consolidate.record import Consolidation
    from aria_dream.consolidate.stale import Stale
    from aria_dream.review.proposal import ProposalState
    from aria_dream.usecases.review_session import ReviewSession
    from aria_dream.usecases.unresolved_items import UnresolvedItems


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OvernightReport:
    """What was written."""

    report: str
    """Vault path; `""` where it was left as it is."""
    note: str
    """Vault path of the dream note that got a line; `""` where there was nothing to say."""
    said: tuple[str, ...]
    """What was left as it is, and why."""
    unwritten: bool = False
    """The disk refused one of the notes."""


def write_overnight_report(
    session: ReviewSession,
    run: Consolidation,
    *,
    pairs: Sequence[OpenPair] | None = None,
    conflicts: Sequence[OpenConflict] | None = None,
    reminders: Sequence[Stale] | None = None,
    left_out: Sequence[str] = (),
) -> OvernightReport:
    """Writes what the night `run`, which has ended, leaves to be read. `pairs`, `conflicts`, `reminders`: what
    waits for a person; None where the run has not looked, which leaves the list as it is. `left_out`: what was too much
    to look at.

    Raises:
        BusyError: another of our processes writes and does not end.
        StateDamagedError: a journal cannot be read.
    """
    said: list[str] = []
    is_new = not is_lost(session.vault, session.files) and _make_review(session, said)
    done = Settlement()
    renew_lines(replace(session, quiet_s=0.0) if is_new else session, done)  # nobody types into what we made just now
    if is_lost(session.vault, session.files):  # and nothing waited, or it would have been made anew
        _make_review(session, said)
    said += done.said
    shown = list_open(session, pairs, conflicts, said, reminders)
    report = _write_report(session, _report(session, shown, left_out), said)
    note = _write_line(session, run, sum(one.pair.key in run.judged for one in shown.pairs), said)
    session.store.note_run(told(run, session.now))
    refused = bool(done.unwritten) or any(sentence.startswith(NOT_WRITTEN) for sentence in said)
    return OvernightReport(report=report, note=note, said=tuple(said), unwritten=refused)


def _make_review(session: ReviewSession, said: list[str]) -> bool:
    """Makes the review note where a vault has none yet, or an empty one: it is what makes the folder ours. Whether it
    did."""
    path = NotePath(session.vault.home.review)
    found = session.files.read(path)
    if isinstance(found, Refused) or (isinstance(found, Content) and not is_emptied(found.data)):
        return False
    expected = found.hash if isinstance(found, Content) else ABSENT
    plan = WritePlan(path=path, expected_hash=expected, content=encode_note(empty_review()))
    return put_plan(session, plan, said)


def _report(session: ReviewSession, shown: UnresolvedItems, left_out: Sequence[str]) -> Report:
    records, zone = session.store.read(), session.now.tzinfo
    past, states = session.store.consolidations(), records.states
    bars = bars_of(session.vault.live.policy.settings)
    nights = figures_of(past, states.values())[-NIGHTS_SHOWN:]
    since = next(one.at for one in past if one.night == nights[-1].night)
    waiting = [state.proposal.kind for state in states.values() if state.state == "proposed"]
    by_itself = [one for one in states.values() if one.state == "applied" and one.approved_by == "auto"]
    learned, index = find_new_lessons(session), session.vault.index
    target = link_target(index.resolver, index.app, learned.log, session.vault.home.report) if learned else ""
    return Report(
        nights=nights,
        learned=target,
        lessons=learned.lessons if learned else (),
        candidates=learned.candidates if learned else (),
        waiting=tuple((name, waiting.count(kind)) for kind, name in HEADINGS.items() if kind in waiting),
        applied=tuple(_applied(state) for state in by_itself if state.since >= since),
        look_alike=tuple(shown.look_alike),
        of_one_form=tuple(form.titles for form in shown.forms),
        conflicts=tuple(shown.conflicts),
        left_out=tuple(left_out),
        copies=tuple((title_of(one.original), title_of(one.path), one.differs) for one in find_sync_copies(session)),
        records=track_records(states.values(), bars=bars, zone=zone, nights=nights_of(past)),
        bars=bars,
    )


def _applied(state: ProposalState) -> str:
    return f"{state.proposal.kind.replace('_', ' ')}: {' ↔ '.join(state.proposal.titles)}"


def _write_report(session: ReviewSession, report: Report, said: list[str]) -> str:
    path = NotePath(session.vault.home.report)
    content = session.files.read(path)
    if isinstance(content, Absent):
        text = render_report_head() + render_report(report) + "\n"
        plan = WritePlan(path=path, expected_hash=ABSENT, content=encode_note(text))
    elif isinstance(content, Content):
        before = decode_note(content.data)
        block, problems = read_report(before)
        if block is None:
            said.append(f"{path}:{problems[0].line}: {problems[0].message}")
            return ""
        made = with_report(before, block, report)
        plan = WritePlan(path=path, expected_hash=content_hash(content.data), content=encode_note(made))
    else:
        said.append(f"{path} was left as it is: {content.reason}")
        return ""
    return str(path) if put_plan(session, plan, said) else ""


def _write_line(session: ReviewSession, run: Consolidation, pairs: int, said: list[str]) -> str:
    """One line about the night in the day's dream note; an uneventful night writes none. `pairs`: newly left ones."""
    left = _newly_left(session, run)
    if not (run.proposals or left or pairs):
        return ""
    path = NotePath(choose_log(session.vault.names, session.vault.home, session.now.date()))
    content = session.files.read(path)
    before = content.data if isinstance(content, Content) else None
    heading = f"## {run.at:%H:%M} — the night"
    if before is not None and heading in decode_note(before).splitlines():
        return str(path)
    block = f"{heading}\n\n{_line(session, run, left, pairs)}\n"
    plan = plan_append(path, before, block, head=render_head(session.now.date()))
    if isinstance(plan, Refusal):
        said.append(f"{path} got no line about the night: {plan.reason}")
        return ""
    return str(path) if put_plan(session, plan, said) else ""


def _newly_left(session: ReviewSession, run: Consolidation) -> int:
    """Contradictions that no earlier run has left to a person already: those have been told."""
    earlier = {mark for one in session.store.consolidations() if one.at < run.at for mark in one.brought}
    open_now = {mark for mark, one in run.brought.items() if one.what == "conflict" and not one.proposals}
    return len(open_now - earlier)


def _line(session: ReviewSession, run: Consolidation, left: int, pairs: int) -> str:
    made = len(run.proposals)
    found = []
    if made:
        found.append("one proposal waits in the review" if made == 1 else f"{made} proposals wait in the review")
    if left:
        found.append("one contradiction is left to you" if left == 1 else f"{left} contradictions are left to you")
    if pairs:
        found.append("one near pair is left to you" if pairs == 1 else f"{pairs} near pairs are left to you")
    report = session.vault.home.report.rpartition("/")[2].removesuffix(".md")
    return f"Read through the vault: {'; '.join(found)}. Figures in {report}."
