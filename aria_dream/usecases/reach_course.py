"""A reach on its way: what it was asked for, what it is made with, what it came to, and the gates before it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from aria_dream.adapters.codex.codex_reacher import CodexReacher
from aria_dream.adapters.gate.egress import UNCONFIRMED, Gate
from aria_dream.adapters.gate.ledger import ReachStore, counted, read_ledger, utc_now
from aria_dream.adapters.gate.rate_limit_backoff import backoff_text
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.index.live_policy import read_live_policy, read_prompt, shipped_prompt
from aria_dream.adapters.models.asking import new_nonce
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.judging.prompt_text import Datamark
from aria_dream.privacy.sharing import Visibility, visibility
from aria_dream.reach.budget import BudgetRefusal, plan_reservation
from aria_dream.reach.reach import PROMPT_NAME, excerpts_of, reach_prompt
from aria_dream.reach.reach_block import BudgetLine
from aria_dream.usecases.dream_run import run_dream
from aria_dream.world import show_nothing

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, tzinfo
    from pathlib import Path

    from aria_dream.adapters.codex.reach_asks import Question
    from aria_dream.adapters.disk.places import Places
    from aria_dream.adapters.gate.egress import ClearedText
    from aria_dream.adapters.gate.ledger import Granted
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.judging.prompt_text import Prompt
    from aria_dream.policy.policy import Policy
    from aria_dream.reach.budget import Resolution, Spent
    from aria_dream.reach.reach import Answer, Unparsed
    from aria_dream.reach.reach_block import NoAnswer, ReachBlock
    from aria_dream.reach.reach_events import ReachEnd
    from aria_dream.reach.reach_record import ReachKind
    from aria_dream.usecases.dream import DreamRequest, DreamResult
    from aria_dream.world import ShowProgress, VaultFiles


class Reacher(Protocol):
    """Who carries a cleared text out and brings an answer back."""

    @property
    def destination(self) -> str:
        """As the log names it: `Codex (gpt-5.5)`."""
        ...

    def missing(self) -> str:
        """Why nobody can be asked from this machine (no program, no login), as one clause; `""` where somebody can.

        Asked before anything is counted. Sends nothing.
        """
        ...

    def run(self, cleared: ClearedText, granted: Granted, *, should_stop: Callable[[], str]) -> ReachEnd:
        """One run, ended before it answers where `should_stop()` gives a reason.

        Never raises for what the program or the network does: that is in the `ReachEnd`. Whatever it raises otherwise
        leaves the reach spent.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachRequest:
    """What a reach was asked for."""

    at: datetime
    """Aware, in the writer's zone."""
    kind: ReachKind
    start: str | None = None
    """internal: vault path of the note whose dream is dreamt again; None: the last dream."""
    dry_run: bool = False
    by_itself: bool = False
    """Nobody asked for it (L2b): a pause that only a person can end holds it back too."""
    quiet_s: float = 0.0
    """A dream note changed by somebody within so many seconds is not written yet."""
    host: str = ""
    """The machine that a new dream note belongs to; `""`: any."""


def _never() -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a reach is made with."""

    state: Path
    """The account's state folder."""
    look: Callable[[], DreamtVault]
    """The vault as it is at that moment."""
    policy_now: Callable[[], Policy]
    files: VaultFiles
    records: RecordStore
    store: ReachStore
    reacher: Reacher
    dream: Callable[[DreamtVault, DreamRequest], DreamResult]
    """Dreams without writing."""
    confirm: Callable[[str], bool]
    """Asks whoever is there whether text may leave for that destination; True once this machine's confirmation is on
    the disk."""
    should_stop: Callable[[], str] = _never
    clock: Callable[[], datetime] = utc_now
    nonce: Callable[[], str] = new_nonce


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachResult:
    """What came of it."""

    kind: ReachKind
    reason: str = ""
    """Why nothing was asked, as a sentence without a full stop; `""` where somebody was asked or would be."""
    subject: str = ""
    destination: str = ""
    outcome: Answer | Unparsed | NoAnswer | None = None
    """None where nothing was asked."""
    resolution: Resolution | None = None
    block: ReachBlock | None = None
    note: str = ""
    """Vault path of the dream note that the block stands in."""
    written: bool = False
    waits: str = ""
    """Why no dream note took the block; it is kept and goes into the next one that does. `""` where one took it."""
    led_to: tuple[str, ...] = ()
    """What is proposed for it, or why nothing is, in sentences."""
    reach_id: str = ""
    prompt: str = ""
    """The exact text that left; in a rehearsal, that would leave but for the marks around each piece, which are new in
    each call."""
    blanked: tuple[tuple[str, int], ...] = ()
    """What was taken out of it, by kind."""
    said: tuple[str, ...] = ()
    counted: Spent | None = None
    """What each window holds now; None where the ledger cannot be read."""
    question: Question | None = None


@dataclass(slots=True)
class Course:
    """One reach on its way; `vault` and `said` change as it goes."""

    request: ReachRequest
    means: Means
    vault: DreamtVault
    said: list[str] = field(default_factory=list)

    def ended(self, reason: str) -> ReachResult:
        """No reach was made, for this reason."""
        return self.result(reason=reason)

    def result(self, **what: object) -> ReachResult:
        """The result with what was said on the way and what the budget holds now."""
        made = ReachResult(
            kind=self.request.kind,
            destination=self.means.reacher.destination,
            said=tuple(self.said),
            counted=counted(self.means.state, self.vault.live.policy.settings, self.now()),
        )
        return replace(made, **what)  # type: ignore[arg-type]  # each caller names fields of the result

    def gate(self) -> Gate:
        """The gate for the vault as it was last read."""
        return Gate(state=self.means.state, sharing=self.vault.sharing, purpose="reach", now=self.now)

    @property
    def zone(self) -> tzinfo:
        """The writer's."""
        zone = self.request.at.tzinfo
        assert zone is not None
        return zone

    def now(self) -> datetime:
        """The present, in the writer's zone."""
        return self.means.clock().astimezone(self.zone)


def unconfirmed(course: Course) -> str:
    """Why the text may not leave as far as this machine's confirmation goes, after asking for it; `""` where it may."""
    if not course.gate().text_refusal() or course.means.confirm(course.means.reacher.destination):
        return ""
    return f"nothing was sent: {UNCONFIRMED}"


def paused(course: Course) -> str:
    """Until when the plan wants no request; `""` where none is known to be unwelcome."""
    return backoff_text(course.means.state, course.now(), by_itself=course.request.by_itself)


def budget_line(course: Course) -> BudgetLine | None:
    """The budget as a block shows it; None where nobody can tell."""
    settings = course.vault.live.policy.settings
    held = counted(course.means.state, settings, course.now())
    if held is None:
        return None
    return BudgetLine(
        in_week=held.in_week,
        week_limit=settings.reach_requests_per_week,
        in_5h=held.in_5h,
        limit_5h=settings.reach_requests_per_5h,
    )


def budget_refusal(course: Course) -> str:
    """Why the budget permits no reach now; `""` where it does. Reserving asks again, under the ledger's lock."""
    try:
        rows, _ = read_ledger(course.means.state)
    except OSError as error:
        return f"the ledger cannot be read: {error}"
    planned = plan_reservation(rows, course.vault.live.policy.settings, course.now(), course.zone)
    return refused_text(course, planned) if isinstance(planned, BudgetRefusal) else ""


def refused_text(course: Course, refused: BudgetRefusal) -> str:
    """The ledger's refusal as one clause, with the time at which there is room again."""
    if refused.again_at is None:
        return refused.reason
    return f"{refused.reason}; there is room again on {refused.again_at.astimezone(course.zone):%Y-%m-%d at %H:%M}"


def prompt_for(course: Course, question: Question) -> str:
    """The text for the question, with marks that are new each time."""
    vault = course.vault
    turns = vault.live.policy.settings.max_web_turns
    return reach_prompt(_prompt_file(course), Datamark(course.means.nonce()), question.ask, max_web_turns=turns)


def _prompt_file(course: Course) -> Prompt:
    """The prompt in force. A copy in the vault that may not leave, or names a private note, gives way to ours."""
    vault = course.vault
    found = read_prompt(PROMPT_NAME, vault.root, vault.names, vault.home)
    course.said += map(str, found.problems)
    if not found.path:
        return found.prompt
    sharing = vault.sharing
    is_open = visibility(sharing.settings, path=found.path) is Visibility.OPEN
    if is_open and not sharing.names.are_in(f"{found.prompt.system}\n{found.prompt.request}"):
        return found.prompt
    course.said.append(f"{found.path} names a private note or may not leave; the shipped prompt is used instead.")
    return shipped_prompt(PROMPT_NAME).prompt


def blanked_in(question: Question) -> tuple[tuple[str, int], ...]:
    """What was taken out of the question's excerpts, by kind."""
    found: Counter[str] = Counter()
    for excerpt in excerpts_of(question.ask):
        found.update(dict(excerpt.blanked))
    return tuple(sorted(found.items()))


def open_reacher(vault: DreamtVault, places: Places) -> CodexReacher:
    """Who is asked: Codex CLI, with the model that the policy names."""
    return CodexReacher(vault=vault.root, state=places.state, settings=vault.live.policy.settings)


def open_means(
    root: Path,
    places: Places,
    vault: DreamtVault,
    *,
    files: VaultFiles,
    reacher: Reacher,
    confirm: Callable[[str], bool],
    show: ShowProgress = show_nothing,
) -> Means:
    """What a reach over the vault at `root` is made with; its first look at the vault is `vault`."""
    state = vault.live.state_folder(places)
    store, looks = RecordStore(state), iter([vault])
    return Means(
        state=places.state,
        look=lambda: next(looks, None) or read_dreamt_vault(root, places),
        policy_now=lambda: read_live_policy(vault.root, places).policy,
        files=files,
        records=store,
        store=ReachStore(state),
        reacher=reacher,
        dream=lambda seen, asked: run_dream(seen, places, store, asked, show=show)[0],
        confirm=confirm,
    )
