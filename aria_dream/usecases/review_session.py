"""A review session: what a decision needs of the world, and what one review session did."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, cast

from aria_dream.adapters.disk.files import UNREADABLE
from aria_dream.adapters.disk.safe_path import locate, touch_refusal
from aria_dream.adapters.index.mentions import UnindexedMentions, find_mentions
from aria_dream.errors import Problem
from aria_dream.markdown.note import NotePath
from aria_dream.policy.file_layout import log_notes
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.review.application import edits_now
from aria_dream.review.decision import shown_titles
from aria_dream.review.following import follow, is_text, named_by
from aria_dream.review.inbound import notes_to_read
from aria_dream.review.own_writes import own_writes
from aria_dream.review.plan import VaultView
from aria_dream.review.rollback import known_files
from aria_dream.review.safety import TRASH
from aria_dream.review.showing import Shelf, change_name
from aria_dream.usecases.reconcile import reconcile
from aria_dream.vault.edit import ABSENT, ChangeSet, WritePlan, content_hash, decode_note, encode_note
from aria_dream.vault.identity import names_of, print_of
from aria_dream.vault.link_form import link_target
from aria_dream.world import Content, Failed, Refused, Written

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.adapters.state.record_store import Records, RecordStore
    from aria_dream.review.own_writes import OwnWrites
    from aria_dream.review.placement import PlacementPolicy
    from aria_dream.review.proposal import PlannedEdit, ProposalState
    from aria_dream.vault.identity import Names
    from aria_dream.world import PastChange, VaultFiles


@dataclass(frozen=True, slots=True)
class NotUndone:
    """A place of a change that was not taken back."""

    id: str
    """Of the proposal."""
    problem: Problem
    """File and line, and what stands there; where nothing was taken back at all, what stands in the way."""


@dataclass(slots=True, kw_only=True)
class Settlement:
    """What one run did, in ids, and what its writer should know."""

    applied: list[str] = field(default_factory=list)
    approved: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    """Approved together with what excludes them, and open again."""
    held: list[str] = field(default_factory=list)
    """What would have passed without a tick and waits for one, a sentence each; they are in `said`, too."""
    expired: list[str] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)
    """Links that the writer has drawn meanwhile."""
    waiting: list[str] = field(default_factory=list)
    """Approved, and not written yet: somebody is typing, or the policy does not permit it now."""
    not_undone: list[NotUndone] = field(default_factory=list)
    """Places of changes that were to be taken back."""
    said: list[str] = field(default_factory=list)
    ignored: list[Problem] = field(default_factory=list)
    """Ticked boxes that do not count, each with its note, its line and the reason."""
    unwritten: list[str] = field(default_factory=list)
    """What could not be read or written: vault paths of notes of ours, or ids."""
    kept: int = 0
    """Answers that are ticked in the night's lists, and wait for the next night."""
    closed: bool = False
    """The policy permits no writing now."""
    home: str = ""
    """Where our notes were found, where that is not the folder that the policy names."""
    again: bool = False
    """Something waits only because the vault has to be read again first."""
    moved: bool = False
    """Files came or went, so that links may mean others than this reading of the vault says."""

    @property
    def left_something(self) -> bool:
        """Whether anything that was asked for was not carried out."""
        return any((self.stale, self.waiting, self.ignored, self.unwritten, self.excluded, self.not_undone))

    @property
    def did_something(self) -> bool:
        """Whether anything was decided or written."""
        decided = (self.applied, self.approved, self.rejected, self.undone, self.asked)
        return any((*decided, self.stale, self.excluded, self.expired, self.superseded))


@dataclass(frozen=True, kw_only=True)
class ReviewSession:
    """Everything a decision needs."""

    vault: DreamtVault
    files: VaultFiles
    store: RecordStore
    now: datetime
    """Aware, in the writer's zone."""
    quiet_s: float = 0.0
    """A note that somebody changed within so many seconds is left for later, and so are the ticks in it."""

    @property
    def window(self) -> timedelta:
        """How long a change can be taken back."""
        return timedelta(hours=self.vault.live.policy.settings.rollback_window_h)

    def records(self) -> Records:
        """The journals, with what dream notes say beyond them."""
        return reconcile(self.vault, self.files, self.store, self.now)

    def surfaces(self) -> dict[str, bytes]:
        """Vault path and content of every note of ours that holds tick boxes."""
        read = {path: self.files.read(NotePath(path)) for path in self._surface_paths()}
        return {path: content.data for path, content in read.items() if isinstance(content, Content)}

    def shut_surfaces(self) -> list[Problem]:
        """The notes of ours that cannot be read, so that nobody knows what is ticked in them, and why."""
        read = ((path, self.files.read(NotePath(path))) for path in self._surface_paths())
        return [
            Problem(path, 0, f"{found.reason}, so nobody knows what is ticked in it")
            for path, found in read
            if isinstance(found, Refused) and found.reason.startswith(UNREADABLE)
        ]

    def _surface_paths(self) -> list[str]:
        names, review = self.vault.names, self.vault.home.review
        copies = sorted(path for path in names.markers if path != review and self.is_review(path))
        return [*(path for path, _ in log_notes(names)), *copies, review]

    def is_review(self, path: str) -> bool:
        """Whether the note is the review note, or a copy of it that a sync or a hand has made."""
        return path == self.vault.home.review or self.vault.names.markers.get(path) == "review"

    def own_writes(self) -> OwnWrites:
        """What applied changes of ours made of which contents, as far as their images are kept."""
        return own_writes(
            (file.path, file.before, file.after, file.moved_to)
            for change in self.files.past_changes()
            for file in change.files
        )

    def shut_note(self, state: ProposalState) -> Refused | None:
        """The first note of those that the proposal is about that cannot be read now; it may be readable later."""
        read = (self.files.read(NotePath(path)) for path in sorted(self._wanted(state)))
        return next(
            (one for one in read if isinstance(one, Refused) and one.reason.startswith(UNREADABLE)), None
        )

    def hindrance(self, state: ProposalState) -> Refused | None:
        """Why an approved change could not be written now, as far as its notes tell without a plan."""
        if (shut := self.shut_note(state)) is not None:
            return shut
        written = state.paths[:1] if state.proposal.kind == "link" else [edit.path for edit in edits_now(state)]
        for path in map(NotePath, written):
            place = locate(self.vault.root, path)
            refusal = place if isinstance(place, Refused) else touch_refusal(path, place) if place.exists() else None
            if refusal is not None:
                return refusal
        return None

    def _wanted(self, state: ProposalState) -> set[str]:
        if state.proposal.kind == "link":
            return set(state.paths)
        edited = {edit.path for edit in edits_now(state)}
        return {*state.paths, *edited, *notes_to_read(self.vault.index.linkage, state.paths)}

    def is_quiet(self, path: str) -> bool:
        """Whether nobody has changed the note just now."""
        if self.quiet_s <= 0:
            return True
        try:
            changed_s = self.vault.root.joinpath(*path.split("/")).stat().st_mtime
        except OSError:
            return True  # gone; whoever reads it next will see
        return not 0 <= self.now.timestamp() - changed_s < self.quiet_s

    def view_of(self, state: ProposalState) -> VaultView:
        """The vault as the planner of that proposal has to see it."""
        inbound, goes = state.proposal.kind != "link", state.proposal.kind == "merge"
        also = [edit.path for edit in edits_now(state)] if inbound else ()
        return self.view(state.paths, inbound=inbound, goes=goes, also=also)

    @cached_property
    def mentions(self) -> UnindexedMentions:
        """Where notes are named in ways that the index does not know. Every file is read once."""
        return find_mentions(self.vault.index)

    def contents(self, paths: Iterable[str]) -> dict[NotePath, bytes]:
        """What these files read now; those that are not there left out."""
        read = {NotePath(path): self.files.read(NotePath(path)) for path in sorted(set(paths))}
        return {path: content.data for path, content in read.items() if isinstance(content, Content)}

    def shelf(self, state: ProposalState) -> Shelf:
        """What showing the proposal in the review note needs."""
        index, review = self.vault.index, self.vault.home.review
        return Shelf(
            files=index.files,
            contents=self.contents(edit.path for edit in edits_now(state)),
            link_text=lambda path: link_target(index.resolver, index.app, path, review),
            markdown_links=index.app.use_markdown_links,
            zone=self.now.tzinfo,
        )

    def view(
        self, paths: Iterable[str], *, inbound: bool, goes: bool = False, also: Iterable[str] = ()
    ) -> VaultView:
        """The vault as the planners see it: the notes `paths` and `also`, and with `inbound` everything that links to
        `paths`. `goes`: one of `paths` may go, so that definitions have to follow and the rest is to be named."""
        paths = tuple(paths)
        also = (*also, *(self.mentions.sources(paths) if goes else ()))
        index, settings = self.vault.index, self.vault.live.policy.settings
        wanted = {*paths, *also, *(notes_to_read(index.linkage, paths) if inbound else ())}
        return VaultView(
            files=index.files,
            contents=self.contents(wanted),
            app=index.app,
            placement=cast("PlacementPolicy", settings.placement),  # the policy's table allows no other word
            related_heading=settings.related_heading,
            protected=self._protected(),
            names=self.vault.name_store,
            trashed=self._trashed() if inbound else frozenset(),
            unfollowed={path: self.mentions.unfollowed(path, index.resolver) for path in paths} if goes else {},
        )

    def names(self, changes: ChangeSet) -> Names:
        """What the history keeps of the files that links of a change mean, so that it can be undone under any names."""
        index = self.vault.index
        touched = [*(plan.path for plan in changes.writes), *(move.source for move in changes.moves)]
        known = named_by(changes, self.contents(map(str, touched)), index.resolver)
        texts = self.texts(path for path in known if is_text(path))
        return names_of({path: print_of(texts[path]) if path in texts else () for path in known}, index.files)

    def places(self, change: PastChange, hints: Mapping[str, str] | None = None) -> dict[str, str]:
        """Where the files of a past change, and those that its links meant, lie now, by the paths that they had.

        `hints`: names that are known to have changed.
        """
        files = frozenset(self.vault.index.files)
        return follow(known_files(change.files, change.names, files), change.names, files, self.texts, hints)

    def texts(self, paths: Iterable[str]) -> dict[str, str]:
        """What these notes read now; those that are not there left out."""
        return {str(path): decode_note(data) for path, data in self.contents(paths).items()}

    def _protected(self) -> frozenset[str]:
        """Policy, triggers, and whatever lies in our folder or bears our marker."""
        home, names = self.vault.home, self.vault.names
        ours = {home.review, home.seeds, home.report, home.canvas, self.vault.live.policy.path, *names.markers}
        inside = f"{home.folder}/"
        ours.update(path for path in names.files if home.exists and path.startswith(inside))
        return frozenset(path for path in ours if path)

    def _trashed(self) -> frozenset[str]:
        root = self.vault.root
        return frozenset(place.relative_to(root).as_posix() for place in root.joinpath(TRASH).rglob("*"))

    def put(self, path: str, before: bytes | None, text: str, done: Settlement) -> bool:
        """Whether a note of ours now reads `text`; `before` is None where there is none yet. One that somebody is
        typing into is left for later."""
        expected = ABSENT if before is None else content_hash(before)
        plan = WritePlan(path=NotePath(path), expected_hash=expected, content=encode_note(text))
        outcome = self.files.write(ChangeSet(writes=(plan,)), label="lines", quiet_s=self.quiet_s)
        if isinstance(outcome, Refused | Failed):
            done.said.append(f"{outcome.path} was not written: {outcome.reason}")
            done.unwritten.append(str(outcome.path))
        return isinstance(outcome, Written)


def is_structural(changes: ChangeSet) -> bool:
    """Whether a change makes, removes or moves a file, so that links may mean other files than the index says."""
    return bool(changes.moves) or any(plan.content is None or plan.expected_hash == ABSENT for plan in changes.writes)


def as_approved(state: ProposalState) -> ProposalState:
    """The proposal as if it were approved, to see what it would do."""
    return replace(state, state="approved", edits=trusted_edits(state))


def trusted_edits(state: ProposalState) -> tuple[PlannedEdit, ...]:
    """The planned edits that a person has seen or that nothing else can make again.

    A link whose text nobody saw (a tick) is always planned afresh: what lies in the journal is no reason to write it.
    """
    return () if state.proposal.kind == "link" and not state.shown else state.edits


def pair_of(state: ProposalState) -> str:
    """Its notes in quotes, as a sentence names them."""
    if state.proposal.kind == "link":
        named = zip(state.paths, shown_titles(state), strict=True)
        return " ↔ ".join(f"“{name if name.endswith(title_of(path)) else title_of(path)}”" for path, name in named)
    return f"“{change_name(state)}”"
