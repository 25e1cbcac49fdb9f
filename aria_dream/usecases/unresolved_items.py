"""The lists of what no judge could decide, in `Dream review.md`: what was ticked in them is journalled, and each is
written anew by the night that looked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.writing import write_or_refuse
from aria_dream.consolidate import open_conflicts, open_pairs, open_reminders
from aria_dream.consolidate.one_form import without_forms
from aria_dream.consolidate.open_conflicts import render_open
from aria_dream.consolidate.open_list import Decided, read_answers, unticked, with_list
from aria_dream.consolidate.open_lists import LISTS
from aria_dream.consolidate.open_pairs import apart_key, render_pairs, same_key
from aria_dream.consolidate.open_reminders import render_reminders
from aria_dream.consolidate.settled import recalled_record, settled_record
from aria_dream.errors import WriteRefusedError
from aria_dream.markdown.note import NotePath
from aria_dream.notes.dream_note_grammar import logged_link, render_link
from aria_dream.notes.tick_lines import short_moment
from aria_dream.privacy.sharing import Visibility
from aria_dream.review.safety import protected_refusal
from aria_dream.review.sync_copies import propose_sync_copy, what_differs
from aria_dream.vault.edit import ChangeSet, Refusal, WritePlan, content_hash, decode_note, encode_note
from aria_dream.vault.link_form import link_target
from aria_dream.world import Content

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from aria_dream.consolidate.one_form import OneForm
    from aria_dream.consolidate.open_conflicts import OpenConflict
    from aria_dream.consolidate.open_pairs import OpenPair
    from aria_dream.consolidate.settled import Settled, What
    from aria_dream.consolidate.stale import Stale
    from aria_dream.consolidate.work import Member
    from aria_dream.review.proposal import ProposalState
    from aria_dream.usecases.night_parts import Made
    from aria_dream.usecases.review_session import ReviewSession, Settlement


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncCopy:
    """A file that a sync made a copy of, and the copy."""

    original: str
    """Vault path."""
    path: str
    """Vault path of the copy."""
    differs: str
    """What differs, as a clause that names no line."""
    mark: str
    """What the finding is remembered by; `""` where a person has to look at the two, as with no notes."""
    is_newer: bool
    """Whether the copy was written later than its original."""


def find_sync_copies(session: ReviewSession) -> tuple[SyncCopy, ...]:
    """The copies of what the policy lets a dream see, in the order of their paths. Those of our own notes, which the
    daemon merges, are left out."""
    index, sharing = session.vault.index, session.vault.sharing
    found, protected = [], session.view((), inbound=False).protected
    for path, original in sorted(index.copies.items()):
        if Visibility.HIDDEN in (sharing.visibility(path), sharing.visibility(original)):
            continue
        contents = session.contents((path, original)) if path.lower().endswith(".md") else {}
        if any(protected_refusal(NotePath(one), contents, protected) for one in (path, original)):
            continue
        state, other = index.scan.snapshot.files[path], index.scan.snapshot.files[original]
        mark, differs = "", "the two are not compared here; keep the one you want"
        if len(contents) == 2:
            text, copy = contents[NotePath(original)], contents[NotePath(path)]
            differs = what_differs(decode_note(text), decode_note(copy))
            mark = f"copy {path} {content_hash(copy)[:16]}"
        found.append(
            SyncCopy(
                original=original, path=path, differs=differs, mark=mark, is_newer=state.modified_ns > other.modified_ns
            )
        )
    return tuple(found)


def propose_union(
    session: ReviewSession, copy: SyncCopy, states: Mapping[str, ProposalState], expires_at: datetime | None
) -> Made | Refusal:
    """A proposal that unites the note with its copy; or why none can be made."""
    return propose_sync_copy(
        session.view((copy.original, copy.path), inbound=True),
        copy.original,
        copy.path,
        tuple(states.values()),
        copy_is_newer=copy.is_newer,
        now=session.now,
        expires_at=expires_at,
    )


NOT_WRITTEN = "not written"
"""How a sentence begins that says that the disk refused."""


_UNLINKED = re.compile(r"[\[\]#^|\\]|%%| \(\d+\)$")
"""A heading with one of these is reached by no link; the last is ours, for the second heading of a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnresolvedItems:
    """What is open, and how the report names it."""

    pairs: Sequence[OpenPair]
    """Those asked about one by one."""
    forms: Sequence[OneForm]
    conflicts: Sequence[tuple[str, str]]

    @property
    def look_alike(self) -> Sequence[tuple[str, str]]:
        """Titles of the pairs."""
        return [one.titles for one in self.pairs]


def note_answers(session: ReviewSession) -> frozenset[str]:
    """Journals what was ticked in the lists since the last look. Keys of boxes that were ticked side by side."""
    content = session.files.read(NotePath(session.vault.home.review))
    if not isinstance(content, Content) or not session.is_quiet(session.vault.home.review):
        return frozenset()
    text, known, heard = decode_note(content.data), session.store.settled(), session.store.heard()
    asked: set[str] = set()
    for name in LISTS:
        answers = read_answers(text, name)
        asked |= answers.asked
        for answer in answers.given:
            if answer.is_undo and answer.key in known:
                session.store.note_run(recalled_record(answer.key, session.now))
            elif not answer.is_undo and answer.key not in known:
                session.store.note_run(settled_record(answer.key, answer.what, answer.titles, session.now))
        for answer in answers.standing:  # said on another machine
            if answer.key not in heard:
                session.store.note_run(settled_record(answer.key, answer.what, answer.titles, session.now))
    return frozenset(asked)


def list_open(
    session: ReviewSession,
    pairs: Sequence[OpenPair] | None,
    conflicts: Sequence[OpenConflict] | None,
    said: list[str],
    reminders: Sequence[Stale] | None = None,
) -> UnresolvedItems:
    """Writes the lists anew: what is open and not settled meanwhile, and what was settled within the window.

    A list whose findings are None is left as it is; what hinders the writing is added to `said`.
    """
    asked = note_answers(session)
    settled = session.store.settled()
    left = [one for one in pairs or () if _is_left(one, settled)]
    asked_of, forms = without_forms(left)
    open_ = [one for one in conflicts or () if one.key not in settled]
    made = {}
    if conflicts is not None:
        made[open_conflicts.NAME] = render_open(open_, _decided(session, settled.values(), ["no contradiction"]))
    if pairs is not None:
        lately = _decided(session, settled.values(), ["different", "same"])
        made[open_pairs.NAME] = render_pairs(
            asked_of, _link(session), section=_section_link(session), decided=lately, asked=asked
        )
    if reminders is not None:
        waiting = [one for one in reminders if one.mark not in settled]
        lately = _decided(session, settled.values(), ["looked at"])
        made[open_reminders.NAME] = render_reminders(waiting, _link(session), lately)
    _write(session, made, said)
    return UnresolvedItems(pairs=asked_of, forms=forms, conflicts=[(one.first, one.second) for one in open_])


def undo_verdict(session: ReviewSession, one: Settled, done: Settlement) -> None:
    """What a person said of a finding counts no more; the next night lists it again."""
    session.store.note_run(recalled_record(one.key, session.now))
    done.undone.append(one.key)
    path = session.vault.home.review
    content = session.files.read(NotePath(path))
    if isinstance(content, Content):  # the tick that said so must not say it again
        text = before = decode_note(content.data)
        for name in LISTS:
            text = unticked(text, name, one.key)
        if text != before:
            session.put(path, content.data, text, done)


def _is_left(one: OpenPair, settled: Mapping[str, Settled]) -> bool:
    """Whether the pair stays on the list: a merge that was asked for and could not be built is told, till the two are
    called different."""
    apart, same = settled.get(apart_key(one.pair)), settled.get(same_key(one.pair))
    if one.is_called_same:
        return apart is None or (same is not None and same.at >= apart.at)
    return apart is None and same is None


def _decided(session: ReviewSession, settled: Collection[Settled], whats: Collection[What]) -> list[Decided]:
    """What was settled so lately that it can be taken back by a tick, and that no proposal stands for by now."""
    named = (state.proposal.extra.get("asked_for") for state in session.store.read().states.values())
    proposed = {str(key) for keys in named if isinstance(keys, list) for key in keys}
    return [
        Decided(
            key=one.key,
            what=one.what,
            titles=one.titles,
            until=short_moment((one.at + session.window).astimezone(session.now.tzinfo), seen_from=session.now),
        )
        for one in settled
        if one.what in whats and session.now - one.at < session.window and one.key not in proposed
    ]


def _link(session: ReviewSession) -> Callable[[str], str]:
    index, review = session.vault.index, session.vault.home.review

    def target(path: str) -> str:
        return link_target(index.resolver, index.app, path, review)

    return lambda path: render_link(logged_link(path, target, markdown_links=index.app.use_markdown_links))


def _section_link(session: ReviewSession) -> Callable[[Member], str]:
    """The link to a passage under its headings; to its note where a heading cannot be linked."""
    to_note, uses_markdown = _link(session), session.vault.index.app.use_markdown_links

    def link(member: Member) -> str:
        found, headings = to_note(member.path), member.trail.split(" › ")[1:]
        plain = found.startswith("[[") and "|" not in found and not uses_markdown
        if not plain or member.is_note or not headings or any(map(_UNLINKED.search, headings)):
            return found
        return f"{found[:-2]}#{'#'.join(headings)}]]"

    return link


def _write(session: ReviewSession, made: dict[str, str], said: list[str]) -> None:
    path = NotePath(session.vault.home.review)
    content = session.files.read(path)
    if not isinstance(content, Content):
        return
    text = before = decode_note(content.data)
    for name, block in made.items():
        text, problems = with_list(text, name, block)
        said += [f"{path}:{problem.line}: {problem.message}" for problem in problems]
    if text != before:
        plan = WritePlan(path=path, expected_hash=content_hash(content.data), content=encode_note(text))
        put_plan(session, plan, said)


def put_plan(session: ReviewSession, plan: WritePlan, said: list[str]) -> bool:
    """Whether a note of ours is written; where it is not, `said` tells why."""
    if not session.is_quiet(str(plan.path)):
        said.append(f"{plan.path} was left for later: somebody is writing in it")
        return False
    try:
        write_or_refuse(session.files, ChangeSet(writes=(plan,)), label="night", otherwise=NOT_WRITTEN)
    except WriteRefusedError as error:
        said.append(str(error))
        return False
    return True
