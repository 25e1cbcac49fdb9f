"""What a reach is made on, read from the vault as it is now and fit to leave; and what dream notes say was answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.adapters.index.resonance import read_note_text
from aria_dream.judging.triage_prompt import UNCONNECTED, way_text
from aria_dream.markdown.note import NotePath, decode_note, parse_note
from aria_dream.markdown.scan import is_unread, read_flags
from aria_dream.notes.dream_note_grammar import logged_link
from aria_dream.notes.plain_text import clean
from aria_dream.notes.seeds import open_seeds, parse_seeds
from aria_dream.policy.file_layout import log_notes
from aria_dream.privacy.sharing import (
    ShareableExcerpt,
    Visibility,
    Withheld,
    excerpt_note,
    excerpt_text,
    shareable_title,
    visibility,
)
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.reach.answer_cache import answers_of_blocks
from aria_dream.reach.citation import MOST_OFFERED, home_of
from aria_dream.reach.reach import Answer, ExternalAsk, InternalAsk
from aria_dream.reach.reach_block import ReachedPair, ReachedSeed
from aria_dream.reach.reach_reading import parse_reach_blocks
from aria_dream.reach.source_grammar import name_key
from aria_dream.review.mention import find_mentions
from aria_dream.vault.link_form import link_target
from aria_dream.vault.names import fold_path
from aria_dream.world import Content

if TYPE_CHECKING:
    from datetime import date, tzinfo

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.errors import Problem
    from aria_dream.notes.dream_note_grammar import LoggedLink
    from aria_dream.notes.seeds import Seed
    from aria_dream.ranking.juxtaposition import Survivor
    from aria_dream.reach.answer_cache import CachedAnswer
    from aria_dream.reach.reach_record import ReachKind
    from aria_dream.world import VaultFiles

LONGEST_SOURCE = 500
"""Characters of a seed's source that its block shows: it may be a quotation."""


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
    offered: tuple[str, ...] = ()
    """Vault paths of the notes that a seed names, by their numbers in the request."""

    @property
    def name(self) -> str:
        """The subject in one line of plain text."""
        match self.subject:
            case ReachedPair() as pair:
                return f"{pair.from_.title} ↔ {pair.to.title}"
            case ReachedSeed(header=header):
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
    found = survivor.juxtaposition

    def name_of(path: str) -> str:
        return clean(vault.name_of(path)) or "untitled"

    return ReachedPair(
        from_=_link(vault, found.from_, note),
        to=_link(vault, found.to, note),
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
    offered, notes = _offered(vault, seed)
    day = "" if seed.deposited_on is None else f" of {seed.deposited_on.isoformat()}"
    return Question(
        kind="external",
        ask=ExternalAsk(header=header, source=source, struck=struck, resonance=resonance, notes=notes),
        subject=ReachedSeed(clean(seed.title) or clean(seed.source), _short(clean(seed.source))),
        origin=f"external-novelty seed{day}",
        seed=(seed.title, seed.deposited_on),
        offered=offered,
    )


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SOURCE else clean(text[: LONGEST_SOURCE - 1]) + "…"


def _offered(vault: DreamtVault, seed: Seed) -> tuple[tuple[str, ...], ShareableExcerpt | None]:
    """The notes that the seed itself names and that may leave, and their titles as a numbered list."""
    found: dict[str, ShareableExcerpt] = {}
    for path in (*_linked(vault, seed), *_mentioned(vault, seed.resonance)):
        if vault.row(path) is None or vault.sharing.visibility(path) is not Visibility.OPEN or path in found:
            continue
        title = excerpt_text(vault.sharing, clean(title_of(path)))
        if isinstance(title, ShareableExcerpt) and not title.blanked and len(found) < MOST_OFFERED:
            found[path] = title
    listed = "\n".join(f"{number}. {title.text}" for number, title in enumerate(found.values(), start=1))
    made = excerpt_text(vault.sharing, listed) if found else None
    return (tuple(found), made) if isinstance(made, ShareableExcerpt) and not made.blanked else ((), None)


def _linked(vault: DreamtVault, seed: Seed) -> list[str]:
    targets = [*seed.links, *(link.path for link in parse_note(f"\n{seed.source}").links)]
    resolved = (vault.index.resolver.resolve(target, vault.home.seeds) for target in targets)
    return [path for path in resolved if path is not None]


def _mentioned(vault: DreamtVault, resonance: str) -> list[str]:
    """The notes whose whole title stands in what the seed seems to touch, in its order."""
    folded = fold_path(resonance)
    titles: dict[str, list[str]] = {}
    for path in vault.graph.paths:
        title = title_of(path)
        if fold_path(title) in folded:
            titles.setdefault(fold_path(title), []).append(path)
    names = [title_of(paths[0]) for paths in titles.values() if len(paths) == 1]
    mentions = find_mentions(resonance, [(0, len(resonance))], names)
    said = (fold_path(resonance[mention.start : mention.end]) for mention in mentions)
    return [path for title in said for path in titles.get(title, ())]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedHome:
    """Where a seed homes: the two notes that its edge connects, or why there are none."""

    paths: tuple[str, str] | None = None
    """Vault paths, in the answer's order."""
    links: tuple[LoggedLink, LoggedLink] | None = None
    """The same as the dream note links them."""
    why_not: str = ""
    """One clause; `""` where there are two, and of an answer that is no HOMES."""


def seed_home(vault: DreamtVault, question: Question, outcome: object, message: str, *, note: str) -> SeedHome:
    """Where the answer to a question on a seed says that it homes, among the notes that were sent. `message`: the
    answer as it came; `note`: vault path of the dream note, from which the links are to be read."""
    if question.kind != "external" or not isinstance(outcome, Answer) or outcome.verdict != "homes":
        return SeedHome()
    if not outcome.edge:
        return SeedHome(why_not="the answer gives the edge no name")
    found = home_of(message, [clean(title_of(path)) for path in question.offered])
    if isinstance(found, str):
        return SeedHome(why_not=found)
    first, second = (question.offered[place] for place in found)
    return SeedHome(paths=(first, second), links=(_link(vault, first, note), _link(vault, second, note)))


def _link(vault: DreamtVault, path: str, note: str) -> LoggedLink:
    index = vault.index

    def link_text(path: str) -> str:
        return link_target(index.resolver, index.app, path, note)

    return logged_link(path, link_text, markdown_links=index.app.use_markdown_links, name_of=vault.name_of)


def note_names(vault: DreamtVault) -> frozenset[str]:
    """What the writer's notes are called, by title, path and alias, each as `name_key` gives it."""
    names = ((title_of(fact.path), fact.path, *fact.aliases) for fact in vault.facts)
    return frozenset(name_key(name) for each in names for name in each)


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


def answered_in_notes(vault: DreamtVault, files: VaultFiles, zone: tzinfo) -> tuple[CachedAnswer, ...]:
    """The memo as the dream notes tell it: what another machine has asked, and what was asked under an older name."""
    rows: list[CachedAnswer] = []
    for path, day in log_notes(vault.names):
        content = files.read(NotePath(path))
        if not isinstance(content, Content):
            continue
        blocks, _ = parse_reach_blocks(decode_note(content.data))

        def path_of(link: LoggedLink, note: str = path) -> str | None:
            return vault.index.resolver.resolve(link.target, note) if link.target else None

        rows += answers_of_blocks([(day, block) for block in blocks], zone, path_of)
    return tuple(sorted(rows, key=lambda row: row.at))
