"""What a dream leaves for the morning: its proposals, and the plan for every note of ours that changes. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from aria_dream.judging.worth import evidence_kept
from aria_dream.markdown.note import NotePath
from aria_dream.notes.canvas import DreamCanvas, render_canvas
from aria_dream.notes.dream_log import (
    FOOTER,
    DreamBlock,
    logged_drop,
    logged_pair,
    logged_start,
    logged_trouble,
    render_block,
    render_head,
)
from aria_dream.notes.episode import EpisodeRecord, ShownPair, episode_id, memory_used
from aria_dream.notes.review_note import (
    ReviewItem,
    is_emptied,
    read_managed,
    render_managed,
    render_review_head,
    with_managed,
)
from aria_dream.notes.seeds import mark_dreamt, parse_seeds
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.ranking.walk import Memory
from aria_dream.review.proposal import Proposal, next_round, proposal_id
from aria_dream.vault.edit import (
    ABSENT,
    ChangeSet,
    Refusal,
    WritePlan,
    content_hash,
    decode_note,
    encode_note,
    plan_append,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from aria_dream.judging.dreaming import Dreamt
    from aria_dream.notes.seeds import Seed
    from aria_dream.review.proposal import ProposalState


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """A dream that is to be written, and where."""

    found: Dreamt
    proposals: tuple[Proposal, ...]
    """One a pair of `found.kept`, in its order."""
    at: datetime
    """Aware, in the writer's zone."""
    kind: str
    seed: int
    note: str
    """Vault path of the dream note."""
    review: str
    seeds: str
    canvas: str
    """`""` where no picture is wanted."""
    link_text: Callable[[str], str]
    """Vault path to what stands between a link's brackets in the dream note."""
    markdown_links: bool
    name_of: Callable[[str], str]
    """Vault path to what a note is called where it is named and not linked."""
    dreamt_seed: Seed | None
    """The seed that gave the start."""
    waiting: tuple[ReviewItem, ...] = ()
    """Pairs of earlier dreams that wait, for a review note that is made anew."""
    trouble: str = ""
    """What went wrong with the judge, as one sentence."""
    host: str = ""
    """The machine that a new dream note belongs to; `""`: to any."""
    goes: tuple[str, ...] = ()
    """For each pair what placing its link would change, in one clause."""

    @property
    def block(self) -> DreamBlock:
        """The episode as its block shows it."""
        start = self.found.start
        return DreamBlock(
            at=self.at.time().replace(second=0, microsecond=0, tzinfo=None),
            kind=self.kind,
            start=logged_start(
                start.path,
                cold=start.cold,
                rule=start.rule,
                seed=self.seed,
                name_of=self.name_of,
                others=[path for path in self.found.tried if path != start.path],
                pairs=self.found.looked_at,
            ),
            pairs=tuple(
                logged_pair(
                    survivor,
                    proposal.id,
                    self.link_text,
                    markdown_links=self.markdown_links,
                    name_of=self.name_of,
                    place=place,
                    goes=goes,
                )
                for survivor, proposal, place, goes in zip(
                    self.found.kept, self.proposals, self.found.places, self.goes, strict=True
                )
            ),
            drops=tuple(logged_drop(drop, name_of=self.name_of) for drop in self.found.dropped),
            judged=logged_trouble(self.trouble),
        )

    @property
    def touches(self) -> tuple[str, ...]:
        """Vault paths of the notes that `plan_night` has to know."""
        paths = [self.note, self.review]
        paths += [self.seeds] if self.dreamt_seed is not None else []
        paths += [self.canvas] if self.canvas else []
        return tuple(paths)


def propose(
    found: Dreamt,
    states: Mapping[str, ProposalState],
    *,
    at: datetime,
    seed: int,
    expiry_days: int,
    hash_of: Callable[[str], str],
    name_of: Callable[[str], str] = title_of,
) -> tuple[Proposal, ...]:
    """One link proposal a surviving pair, each with an id of its own. `hash_of`: content hash of a vault path;
    `name_of`: what its note is called."""
    made: list[Proposal] = []
    taken = set(states)
    for survivor in found.kept:
        pair = survivor.juxtaposition
        paths = (pair.from_, pair.to)
        turn = next_round(states.values(), "link", paths)
        name = proposal_id("link", paths, turn, taken)
        taken.add(name)
        made.append(
            Proposal(
                id=name,
                kind="link",
                paths=paths,
                round=turn,
                at=at,
                expires_at=at + timedelta(days=expiry_days),
                titles=tuple(map(name_of, paths)),
                hashes={path: hash_of(path) for path in paths},
                confidence=survivor.probability or 0.0,  # a bare yes never applies by itself
                score=pair.score,
                reason=survivor.reason,
                judge=survivor.judge,
                way=pair.path,
                evidence=evidence_kept(pair),
                episode=episode_id(at, seed),
            )
        )
    return tuple(made)


def record_night(
    night: Night, memory: Memory, *, vault_hash: str, params: Mapping[str, object]
) -> EpisodeRecord:
    """What `runs.jsonl` keeps of the night: enough to dream it again."""
    found = night.found
    parts = [memory_used(memory, start) for start in found.tried]
    return EpisodeRecord(
        id=episode_id(night.at, night.seed),
        at=night.at,
        kind=night.kind,
        seed=night.seed,
        start=found.start.path,
        rule=found.start.rule,
        cold=found.start.cold,
        vault_hash=vault_hash,
        params={**params, "tried": list(found.tried)},
        memory=Memory(
            starts=parts[0].starts,
            shown={pair: day for part in parts for pair, day in part.shown.items()},
            decided=frozenset().union(*(part.decided for part in parts)),
        ),
        pairs=tuple(
            ShownPair(from_=one.paths[0], to=one.paths[1], score=one.score or 0.0, proposal=one.id)
            for one in night.proposals
        ),
        judge=found.judge,
    )


def plan_night(night: Night, before: Mapping[str, bytes | None]) -> ChangeSet | Refusal:
    """Every change of the night, to be made together; or why the dream note takes no block.

    `before`: the bytes of each of `night.touches`, None where there is no such file yet. A review note whose markers
    are damaged is left as it is.
    """
    plans: list[WritePlan] = []
    head = render_head(night.at.date(), night.host)
    closed = FOOTER in decode_note(before[night.note] or b"")
    block = render_block(night.block, closing=not closed)
    appended = plan_append(NotePath(night.note), before[night.note], block, head=head)
    if isinstance(appended, Refusal):
        return appended
    plans.append(appended)
    plans += _review(night, before[night.review])
    if night.dreamt_seed is not None:
        plans += _seed(night, before[night.seeds])
    if night.canvas and night.found.kept:
        plans.append(_whole(night.canvas, before[night.canvas], _picture(night)))
    return ChangeSet(writes=tuple(plans))


def _whole(path: str, before: bytes | None, text: str) -> WritePlan:
    expected = ABSENT if before is None else content_hash(before)
    return WritePlan(path=NotePath(path), expected_hash=expected, content=encode_note(text))


def _review(night: Night, before: bytes | None) -> list[WritePlan]:
    items = [ReviewItem(kind="link", pair=pair, dreamt_on=night.at.date()) for pair in night.block.pairs]
    if is_emptied(before):
        made = render_review_head() + render_managed([*night.waiting, *items]) + "\n"
        return [_whole(night.review, before, made)]
    assert before is not None
    text = decode_note(before)
    managed, problems = read_managed(text)
    if managed is None or problems:
        return []
    return [_whole(night.review, before, with_managed(text, managed, (*managed.items, *items)))]


def _seed(night: Night, before: bytes | None) -> Sequence[WritePlan]:
    """The seed flipped, found again by its heading: the note may have changed since it was read."""
    if before is None or night.dreamt_seed is None:
        return []
    text = decode_note(before)
    wanted = (night.dreamt_seed.title, night.dreamt_seed.deposited_on)
    for seed in parse_seeds(text)[0]:
        if seed.status == "open" and (seed.title, seed.deposited_on) == wanted:
            return [_whole(night.seeds, before, mark_dreamt(text, seed))]
    return []


def _picture(night: Night) -> str:
    label = f"{night.block.at:%H:%M} — {night.kind}"
    drawn = DreamCanvas(label=label, start=night.found.start.path, survivors=night.found.kept)
    return render_canvas((drawn,), night.name_of)
