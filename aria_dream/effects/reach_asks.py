"""What a reach is made on, read from the vault as it is now and fit to leave; and what dream notes say was answered."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.dream.juxtaposition import title_of
from aria_dream.dream.logged import logged_link
from aria_dream.dream.memo import memo_of_blocks
from aria_dream.dream.plain_text import clean
from aria_dream.dream.reach import ExternalAsk, InternalAsk
from aria_dream.dream.reach_block import ReachedPair, ReachedSeed, parse_reach_blocks
from aria_dream.dream.seeds import open_seeds, parse_seeds
from aria_dream.dream.triage_prompt import UNCONNECTED, way_text
from aria_dream.effects.resonance import read_note_text
from aria_dream.policy.residence import log_notes
from aria_dream.policy.sharing import (
    ShareableExcerpt,
    Visibility,
    Withheld,
    excerpt_note,
    excerpt_text,
    shareable_title,
    visibility,
)
from aria_dream.vault.link_text import link_target
from aria_dream.vault.note import NotePath, decode_note, parse_note
from aria_dream.vault.scan import is_unread, read_flags
from aria_dream.world import Content

if TYPE_CHECKING:
    from datetime import date, tzinfo

    from aria_dream.dream.juxtaposition import Survivor
    from aria_dream.dream.logged import LoggedLink
    from aria_dream.dream.memo import MemoRow
    from aria_dream.dream.reach_record import ReachKind
    from aria_dream.dream.seeds import Seed
    from aria_dream.effects.dreamt_vault import DreamtVault
    from aria_dream.errors import Problem
    from aria_dream.world import VaultFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One reach before it is made: what leaves, and how the block names it."""

    kind: ReachKind
    ask: InternalAsk | ExternalAsk
    subject: ReachedPair | ReachedSeed
    origin: str
    """As the block says it: `survivor from the 19:53 idle dream`."""
    pair: tuple[str, str] | None = None
    """Vault paths, sorted; None for a seed."""
    seed: tuple[str, date | None] | None = None
    """Title and date of the seed; None for a pair."""

    @property
    def name(self) -> str:
        """The subject in one line of plain text."""
        match self.subject:
            case ReachedPair() as pair:
                return f"{pair.from_.title} ↔ {pair.to.title}"
            case ReachedSeed(header):
                return header


def pair_question(vault: DreamtVault, survivor: Survivor, *, note: str, origin: str) -> Question | Withheld:
    """The reach on a pair, its notes read afresh; or why nothing of it may leave.

    `note`: vault path of the dream note, from which its links are to be read.
    """
    found = survivor.juxtaposition
    sharing = vault.sharing
    rows = (vault.row(found.from_), vault.row(found.to))
    if rows[0] is None or rows[1] is None:
        return Withheld("one of the notes is gone, or no part of any dream any more")
    first, second = (
        excerpt_note(sharing, parse_note(read_note_text(vault, row)), path)
        for row, path in zip(rows, (found.from_, found.to), strict=True)
        if row is not None
    )
    steps = [] if found.path is None else [shareable_title(sharing, step) for step in found.path]
    way = excerpt_text(sharing, way_text(steps) if steps else UNCONNECTED)
    reason = excerpt_text(sharing, survivor.reason)
    for part in (first, second, way, reason):
        if isinstance(part, Withheld):
            return part
    assert isinstance(first, ShareableExcerpt)
    assert isinstance(second, ShareableExcerpt)
    assert isinstance(way, ShareableExcerpt)
    assert isinstance(reason, ShareableExcerpt)
    return Question(
        kind="internal",
        ask=InternalAsk(first=first, second=second, way=way, reason=reason),
        subject=_reached_pair(vault, survivor, note),
        origin=origin,
        pair=found.pair,
    )


def _reached_pair(vault: DreamtVault, survivor: Survivor, note: str) -> ReachedPair:
    found, index = survivor.juxtaposition, vault.index
    titles = Counter(title_of(path).casefold() for path in vault.graph.paths)

    def link_text(path: str) -> str:
        return link_target(index.resolver, index.app, path, note)

    def name_of(path: str) -> str:
        title = title_of(path)
        return clean(title if titles[title.casefold()] < 2 else path.removesuffix(".md")) or "untitled"

    markdown = index.app.use_markdown_links
    return ReachedPair(
        from_=logged_link(found.from_, link_text, markdown_links=markdown),
        to=logged_link(found.to, link_text, markdown_links=markdown),
        path=None if found.path is None else tuple(map(name_of, found.path)),
        reason=clean(survivor.reason),
        judge=clean(survivor.judge) or "judge",
    )


def seed_question(vault: DreamtVault, seed: Seed) -> Question | Withheld:
    """The reach on a seed of the writer, verbatim but for what may not leave; or why nothing of it may.

    A seed that bears a tag which keeps a note back is kept back, and the others beside it are not.
    """
    written = f"\n{seed.title}\n{seed.source}\n{seed.struck}\n{seed.resonance}"
    tags = parse_note(written).tags
    if visibility(vault.sharing.settings, path=vault.home.seeds, tags=tags) is not Visibility.OPEN:
        return Withheld("it bears a tag that keeps it on this machine")
    parts = [excerpt_text(vault.sharing, text) for text in (seed.title, seed.source, seed.struck, seed.resonance)]
    for part in parts:
        if isinstance(part, Withheld):
            return part
    header, source, struck, resonance = (part for part in parts if isinstance(part, ShareableExcerpt))
    day = "" if seed.deposited_on is None else f" of {seed.deposited_on.isoformat()}"
    return Question(
        kind="external",
        ask=ExternalAsk(header=header, source=source, struck=struck, resonance=resonance),
        subject=ReachedSeed(clean(seed.title) or clean(seed.source)),
        origin=f"external-novelty seed{day}",
        seed=(seed.title, seed.deposited_on),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSeeds:
    """The external-novelty seeds that wait."""

    seeds: tuple[Seed, ...] = ()
    """Oldest first."""
    problems: tuple[Problem, ...] = ()
    """Seeds that cannot be used."""
    withheld: str = ""
    """Why none of them may leave, as one clause; `""` where each is looked at for itself."""


def read_open_seeds(vault: DreamtVault, files: VaultFiles) -> OpenSeeds:
    """The seeds note as it is now; empty where there is none."""
    content = files.read(NotePath(vault.home.seeds))
    if not isinstance(content, Content):
        return OpenSeeds()
    text = decode_note(content.data)
    seeds, problems = parse_seeds(text)
    return OpenSeeds(seeds=open_seeds(seeds, "external-novelty"), problems=problems, withheld=_kept_back(vault, text))


def _kept_back(vault: DreamtVault, text: str) -> str:
    """Why the whole seeds note may not leave. A tag in its body belongs to the seed it stands in."""
    note = parse_note(text)
    if any(is_unread(problem) for problem in note.problems):
        return "its properties cannot be read, so nobody knows whether it is private"
    head = parse_note(text[: note.body_start])
    dream = read_flags(note.properties)[0]
    seen = visibility(vault.sharing.settings, path=vault.home.seeds, tags=head.tags, dream=dream)
    return "" if seen is Visibility.OPEN else "the policy or its own properties keep it on this machine"


def answered_in_notes(vault: DreamtVault, files: VaultFiles, zone: tzinfo) -> tuple[MemoRow, ...]:
    """The memo as the dream notes tell it: what another machine has asked, and what was asked under an older name."""
    rows: list[MemoRow] = []
    for path, day in log_notes(vault.names, vault.home):
        content = files.read(NotePath(path))
        if not isinstance(content, Content):
            continue
        blocks, _ = parse_reach_blocks(decode_note(content.data))

        def path_of(link: LoggedLink, note: str = path) -> str | None:
            return vault.index.resolver.resolve(link.target, note) if link.target else None

        rows += memo_of_blocks([(day, block) for block in blocks], zone, path_of)
    return tuple(sorted(rows, key=lambda row: row.at))
