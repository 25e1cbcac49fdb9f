"""The data path of an episode, in order, as code: read, dream, plan, write, remember."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING, assert_never, cast

from aria_dream.adapters.disk.writing import bytes_or_refuse
from aria_dream.adapters.index.resonance import without_hidden_names
from aria_dream.errors import WriteRefusedError
from aria_dream.judging.dreaming import Dreamt, NoJudge, NothingDreamt, Wish, dream
from aria_dream.markdown.note import NotePath, decode_note
from aria_dream.notes.dream_log import parse_blocks, render_head
from aria_dream.notes.plain_text import escape_plain
from aria_dream.notes.review_note import read_managed
from aria_dream.notes.seeds import parse_seeds
from aria_dream.policy.file_layout import choose_log
from aria_dream.review.overnight_report import Night, plan_night, propose, record_night
from aria_dream.review.proposal import open_count
from aria_dream.usecases.change_preview import describe_link
from aria_dream.usecases.reconcile import hash_of_note, reconcile, waiting_items
from aria_dream.usecases.review_session import ReviewSession
from aria_dream.vault.edit import ChangeSet, Exists, Refusal, plan_append
from aria_dream.vault.link_form import link_target
from aria_dream.world import Conflict, Content, Failed, Refused, Written

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.adapters.state.record_store import Records, RecordStore
    from aria_dream.judging.dreaming import Judge, Ranker
    from aria_dream.judging.places import Surprise
    from aria_dream.notes.dream_log import DreamBlock
    from aria_dream.notes.episode import EpisodeRecord
    from aria_dream.notes.seeds import Seed
    from aria_dream.ranking.juxtaposition import Dropped
    from aria_dream.ranking.walk import Memory
    from aria_dream.world import VaultFiles

WRITE_ATTEMPTS = 4
"""The dream note is planned again when somebody changed it meanwhile; then it is left to its writer."""
MOST_SEED_NOTES = 4
"""So many of the notes that a seed names are paired with each other: six pairs are more than a dream shows."""


BY_HAND = "dream"
"""Kind of a dream that a person asked for, who is told of an empty one anyhow."""
NO_DREAM = "No dream at"
WOULD_CHANGE_IT = (
    "More notes with a few sentences of their own would change that, a seed, `surprise` in the policy, or a language "
    "model as judge."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamRequest:
    """What a dream was asked for."""

    at: datetime
    """Aware, in the writer's zone."""
    seed: int
    kind: str = BY_HAND
    """As the log's heading names it: `idle dream`, `nightly dream`, `dream`."""
    start: str | None = None
    """Vault path of the note to start from."""
    count: int | None = None
    """At most so many pairs; None: as the policy says."""
    dry_run: bool = False
    replay: EpisodeRecord | None = None
    """A dream to dream again; nothing is written then."""
    quiet_s: float = 0.0
    """A dream note changed by somebody within so many seconds is not written."""
    host: str = ""
    """The machine that a new dream note belongs to: its daemon dreams that day. `""`: any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamResult:
    """What came of it."""

    dreamt: Dreamt | None
    reason: str
    """Why there is no dream, as one sentence for the writer; `""` where there is one."""
    block: DreamBlock | None = None
    record: EpisodeRecord | None = None
    note: str = ""
    """Vault path of the dream note; of the one it would go to in a rehearsal."""
    written: bool = False
    said: tuple[str, ...] = ()
    """What the writer should know beside the dream."""
    dropped: tuple[Dropped, ...] = ()
    """All that the dream looked at and did not keep, an empty dream too."""


def dream_once(
    vault: DreamtVault,
    files: VaultFiles,
    store: RecordStore,
    request: DreamRequest,
    *,
    ranker: Callable[[Memory], Ranker],
    judge: Callable[[], Judge | NoJudge],
    trouble: Callable[[], str] = lambda: "",
) -> DreamResult:
    """One dream over `vault`, written into its dream note unless nothing survived or it is only a rehearsal.

    `ranker` and `judge` are made when they are needed: a dream that the policy or a full review holds back costs
    nothing. `trouble`: what has gone wrong with the judge so far, as one sentence; the dream note and the journal keep
    it. An expected hindrance is a reason, not an error.

    Raises:
        WriteRefusedError: the dream note cannot be written; nothing was.
        BusyError: another of our processes writes and does not end.
        StateDamagedError: a journal cannot be read.
    """
    settings = vault.live.policy.settings
    if refusal := vault.live.policy.dream_refusal():
        return DreamResult(dreamt=None, reason=refusal)
    rehearsal = request.dry_run or request.replay is not None
    records = reconcile(vault, files, store, request.at, rehearsal=rehearsal)
    waiting = open_count(records.states.values())
    if not rehearsal and waiting >= settings.max_open_proposals:
        return DreamResult(dreamt=None, reason=_full(waiting, settings.max_open_proposals))
    seed = _open_seed(vault, files) if request.start is None and request.replay is None else None
    memory, wish = _wish(vault, records, request, seed)
    ranks = ranker(memory)
    judge_now = judge()
    if isinstance(judge_now, NoJudge):
        found: Dreamt | NothingDreamt = NothingDreamt(reason=judge_now.reason)
    else:
        found = dream(vault.notes, ranks, judge_now, memory, Random(request.seed), wish)  # noqa: S311 - no secret
    told = trouble()
    if not rehearsal:
        store.note_judge(request.at, "dream", told)
    if isinstance(found, NothingDreamt):
        if not rehearsal and request.kind != BY_HAND and found.tried:
            _tell_nothing(vault, files, request, found)
        return DreamResult(
            dreamt=None, reason=_nothing(found, vault), dropped=found.dropped,
            said=(f"{told}.",) if told and found.tried else (),
        )  # fmt: skip
    night = _night(vault, files, store, records, found, request, seed, told)
    params: dict[str, object] = {
        "juxtapositions_per_dream": wish.count,
        "pair_cooldown_days": wish.cooldown_days,
        "surprise": wish.surprise,
        "weights": ranks.learned(),
        **({"seed_notes": [*seed[1]]} if seed is not None and wish.seed_pairs else {}),
    }
    record = record_night(night, memory, vault_hash=vault.state_hash, params=params)
    home = vault.home
    said = [*((f"{told}.",) if told else ()), *((home.moved,) if home.moved else () if home.exists else home.said)]
    if not rehearsal:
        _write(night, files, request)
        said += _remember(store, night, record)
        said += _review_fault(night, files)
    if request.replay is not None and request.replay.vault_hash != record.vault_hash:
        said.append("The vault has changed since that dream, so this one need not be the same.")
    return DreamResult(
        dreamt=found, reason="", block=night.block, record=record, note=night.note, written=not rehearsal,
        said=tuple(said), dropped=found.dropped,
    )  # fmt: skip


def _tell_nothing(vault: DreamtVault, files: VaultFiles, request: DreamRequest, found: NothingDreamt) -> None:
    """One line of a night that found nothing, into a day's note that tells of no dream yet; given up where the note
    cannot be written now."""
    note = choose_log(vault.names, vault.home, request.at.date())
    content = files.read(NotePath(note))
    before = content.data if isinstance(content, Content) else None
    text = decode_note(before or b"")
    if isinstance(content, Refused) or NO_DREAM in text or parse_blocks(text)[0]:
        return
    line = f"{NO_DREAM} {request.at:%H:%M}: {escape_plain(found.reason)}. {WOULD_CHANGE_IT}\n"
    planned = plan_append(NotePath(note), before, line, head=render_head(request.at.date(), request.host))
    if not isinstance(planned, Refusal):
        files.write(ChangeSet(writes=(planned,)), label="dream", quiet_s=request.quiet_s)


def _remember(store: RecordStore, night: Night, record: EpisodeRecord) -> list[str]:
    """Journals the dream, which is in the vault already: what cannot be kept is said, not raised."""
    try:
        store.propose(night.proposals)
        store.remember(record)
    except WriteRefusedError as error:
        return [f"The dream is written, but this machine cannot remember it: {error}."]
    return []


def _review_fault(night: Night, files: VaultFiles) -> list[str]:
    """Why the review note was left as it is, for its writer to mend."""
    content = files.read(NotePath(night.review))
    if not isinstance(content, Content):
        return []
    _, problems = read_managed(decode_note(content.data))
    place = f"{night.review}:{problems[0].line}" if problems and problems[0].line else night.review
    return [f"The list in {place} was left as it is: {problems[0].message}."] if problems else []


def _full(waiting: int, most: int) -> str:
    return (
        f"{waiting} proposals wait for you, and dreaming rests while there are {most} or more; "
        "decide some of them in the dream notes"
    )


def _nothing(found: NothingDreamt, vault: DreamtVault) -> str:
    if not found.tried:
        return f"no dream: {found.reason}"
    titles = ", ".join(f"“{vault.name_of(path)}”" for path in found.tried)
    return f"an empty dream, nothing was written: started from {titles}, and {found.reason}"


def _open_seed(vault: DreamtVault, files: VaultFiles) -> tuple[Seed, tuple[str, ...]] | None:
    """The oldest open internal seed that names a note which may be dreamt, and all such notes that it names."""
    content = files.read(NotePath(vault.home.seeds))
    if not isinstance(content, Content):
        return None
    seeds, _ = parse_seeds(decode_note(content.data))
    waiting = [seed for seed in seeds if seed.kind == "internal" and seed.status == "open"]
    for seed in sorted(waiting, key=lambda seed: (str(seed.deposited_on or "9"), seed.line)):
        named = (vault.index.resolver.resolve(link, vault.home.seeds) for link in seed.links)
        paths = tuple(dict.fromkeys(path for path in named if path is not None and vault.row(path) is not None))
        if paths:
            return seed, paths
    return None


def _wish(
    vault: DreamtVault, records: Records, request: DreamRequest, seed: tuple[Seed, tuple[str, ...]] | None
) -> tuple[Memory, Wish]:
    settings = vault.live.policy.settings
    count, days = request.count or settings.juxtapositions_per_dream, settings.pair_cooldown_days
    again = request.replay
    if again is not None:
        said = (again.params.get("juxtapositions_per_dream"), again.params.get("pair_cooldown_days"))
        return again.memory, Wish(
            count=said[0] if isinstance(said[0], int) else count,
            surprise=cast("Surprise", again.params.get("surprise", "mixed")),
            today=again.at.date(),
            cooldown_days=said[1] if isinstance(said[1], int) else days,
            asked=None if again.cold else again.start,
            seed_pairs=_two_by_two(vault, again.params.get("seed_notes")),
        )
    today = request.at.date()
    return records.memory(today=today, cooldown_days=days), Wish(
        count=count,
        today=today,
        cooldown_days=days,
        surprise=cast("Surprise", settings.surprise),  # the policy's table allows no other word
        asked=request.start,
        seeded=None if seed is None else (seed[0].title, seed[1][0]),
        seed_pairs=() if seed is None else _two_by_two(vault, seed[1]),
    )


def _two_by_two(vault: DreamtVault, paths: object) -> tuple[tuple[str, str], ...]:
    """Every two of the first few notes that a seed names, of those that may be dreamt."""
    named = map(str, paths) if isinstance(paths, list | tuple) else ()
    return tuple(combinations([path for path in named if vault.row(path) is not None][:MOST_SEED_NOTES], 2))


def _night(
    vault: DreamtVault,
    files: VaultFiles,
    store: RecordStore,
    records: Records,
    found: Dreamt,
    request: DreamRequest,
    seed: tuple[Seed, tuple[str, ...]] | None,
    trouble: str,
) -> Night:
    settings, index = vault.live.policy.settings, vault.index
    note = choose_log(vault.names, vault.home, request.at.date())

    def link_text(path: str) -> str:
        return link_target(index.resolver, index.app, path, note)

    proposals = propose(
        found,
        records.states,
        at=request.at,
        seed=request.seed,
        expiry_days=settings.proposal_expiry_days,
        hash_of=lambda path: hash_of_note(vault, path),
        name_of=vault.name_of,
    )
    unnamed = without_hidden_names(vault)
    session = ReviewSession(vault=vault, files=files, store=store, now=request.at)
    return Night(
        found=found,
        proposals=proposals,
        goes=tuple(unnamed(describe_link(session, proposal)) for proposal in proposals),
        at=request.at,
        kind=request.kind,
        seed=request.seed,
        note=note,
        review=vault.home.review,
        seeds=vault.home.seeds,
        canvas=vault.home.canvas if settings.canvas else "",
        link_text=link_text,
        markdown_links=index.app.use_markdown_links,
        name_of=vault.name_of,
        host=request.host,
        waiting=waiting_items(vault, files, records.states),
        trouble=trouble,
        dreamt_seed=seed[0] if seed is not None and seed[1][0] == found.start.path else None,
    )


_REFUSED = "the dream was not written"


def _write(night: Night, files: VaultFiles, request: DreamRequest) -> None:
    """Put the night into the vault, all or nothing; planned afresh where one of our notes changed under us."""
    attempts = 1 if request.quiet_s else WRITE_ATTEMPTS
    for attempt in range(attempts):
        before = {path: bytes_or_refuse(files, path, otherwise=_REFUSED) for path in night.touches}
        changes = plan_night(night, before)
        if isinstance(changes, Refusal):
            reason = changes.reason.removeprefix(f"{night.note} ")
            raise WriteRefusedError(f"{_REFUSED}: {night.note}: {reason}")
        outcome = files.write(changes, label="dream", quiet_s=request.quiet_s)
        match outcome:
            case Written():
                return
            case Conflict() | Exists() if attempt + 1 < attempts:
                continue
            case Conflict() | Refused() | Failed():
                raise WriteRefusedError(f"{_REFUSED}: {outcome.path}: {outcome.reason}")
            case Exists():
                raise WriteRefusedError(f"{_REFUSED}: “{outcome.path}” has appeared meanwhile")
            case _:
                assert_never(outcome)
