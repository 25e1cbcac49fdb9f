"""What a passage asserts, sentence by sentence: the part of its text that can contradict another's.

Left out is all that asserts nothing in the writer's own name: questions, hedges, conditions, quotes, what critics say,
struck text, tasks, tables, code, comments, headings; and whole passages under a heading that gathers arguments or tells
of other times. Doubt is no claim: a contradiction that is missed costs nothing, a false one costs attention.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.assertion_words import (
    ARGUING,
    ARTICLES,
    CONTRASTS,
    EVENTS,
    MAY,
    MODALS,
    PAST,
    PRONOUNS,
    REFERRING,
    SMALL,
    SOME,
    STATES,
    VERBS,
    denials,
    is_assertion,
)
from aria_dream.consolidate.measuring import Measured, measure
from aria_dream.consolidate.quantities import plain_letters, stem
from aria_dream.consolidate.quantity_words import MONTHS, WEEKDAYS
from aria_dream.vault.note import parse_note

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aria_dream.consolidate.atoms import Atom

LONGEST_CLAIM: Final = 400
"""Characters; a longer sentence says several things."""
MOST_CLAIMS: Final = 1_000
"""Of one atom; what follows is not looked at."""

_LINE = re.compile(r"[^\n]*\n?")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t#]*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(\[.\][ \t])?")
_NO_PROSE = re.compile(r"[ \t]*(?:>|\||\[\^[^\]]*\]:|={3,}[ \t]*$|-{3,}[ \t]*$|\$\$|!\[|:::|<)")
_END = re.compile(r"[.!?…]+[\"”’)\]»]*(?=\s)|[。！？]+[」』”]?|(?<=\S)[ \t]*;(?=\s)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|dr|mr|mrs|ms|prof|vs|approx|no|nr|st|art|fig|pp?|cf|al|bzw|ca|abs|z\.\s?b|d\.\s?h|u\.\s?a|inc|ltd"
    r"|co|jr|sr|gen|col|sen|rep|mt|ft|ave|dept|est|etc|[a-z])\.|\b\d{1,2}\.)$",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*|[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_UNSPACED = re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_DATED = re.compile(r"(?<!\d)(?:19|20)\d\d(?:[-_ ]?(?:w|kw|q)\d|[-_]?[01]\d[-_]?[0-3]\d)?(?!\d)")
_STOP = re.compile(r"[.!。！][\"”’)\]»」』]*\s*$")
_ENTRY = re.compile(r"\W{0,3}[^\W\d][^:.!?\n]{1,40}?\W{0,3}::?\s+\S[^:]{0,80}$")
_EVENTS = frozenset(map(stem, EVENTS))
_OWNED = re.compile(
    r"(?<!\bit)(?<!\bhe)(?<!\bshe)(?<!\bthat)(?<!\bthere)(?<!\bhere)(?<!\bwho)(?<!\bwhat)(?<!\blet)['’]s\s+([^\W\d_]+)"
    r"|s['’]\s+([^\W\d_]+)"
)
_NOISE = re.compile(
    r"\[[\d:.,\s-]*\](?=\()|(?:https?|obsidian|file)://\S+|\*+|==|(?<!\w)_+|_+(?!\w)|\{:[^{}\n]*\}|\((?:see|cf|vgl|siehe|s\.|voir|vease|vedi|zie)\b[^()\n]*\)",
    re.IGNORECASE,
)
"""Addresses, emphasis, attributes, pointers to other places."""
_BLOCK_ID = re.compile(r"[ \t]+\^[A-Za-z0-9-]+[ \t]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One sentence that asserts something, and what it can be held against."""

    text: str
    """As written."""
    start: int
    """Offset in characters of the atom's text."""
    terms: tuple[str, ...]
    """Stems of its words of content, in order, once each; numbers, dates and small words left out."""
    written: Mapping[str, str]
    """Term to the word as written."""
    names: frozenset[str]
    """Terms that name: capitals where no sentence begins, abbreviations."""
    context: frozenset[str]
    """Terms of the note's title and of the headings above."""
    measured: Measured
    tokens: frozenset[str]
    """Its words in plain letters."""
    denied: tuple[str, ...]
    """The first terms behind each word that denies."""
    denials: int
    refers: bool
    """It says `them`, `it`, `those` of something that stands in another sentence."""
    speaks_of_title: bool
    """It begins with a pronoun, or is an entry (`Founded: 1998`): its subject is the note's."""
    definite: bool
    """It begins with `the`, `our` … in a note that speaks of its title: its subject may be the note's."""
    begins_with_subject: bool
    """Its first word is its first term: no article, no preposition."""
    owned: frozenset[str]
    """What a possessive says that it speaks of: `bike` of `Ben's bike`."""
    is_possible: bool
    """It says `can` or `may`: what is possible or permitted, not what is."""
    is_entry: bool
    holds_of_some: bool
    """`most`, `often`, or a valuation: denial contradicts nothing."""
    tells_an_event: bool

    @property
    def contrasts(self) -> frozenset[str]:
        """What tells its subject from a neighbour: `second`, `north`, `old`."""
        return self.tokens & CONTRASTS

    @property
    def states(self) -> dict[int, int]:
        """Pair of opposite states to the side that is said; a pair of which both are said is left out."""
        found: dict[int, set[int]] = {}
        for token in self.tokens & STATES.keys():
            pair, side = STATES[token]
            found.setdefault(pair, set()).add(side)
        return {pair: next(iter(sides)) for pair, sides in found.items() if len(sides) == 1}


def read_claims(atom: Atom) -> tuple[Claim, ...]:
    """The claims of an atom, in order; empty where its title gathers arguments or it is dated. Linear in its length."""
    titles = [_title(atom.path), *atom.headings]
    if any(is_apart(title) for title in titles):
        return ()
    masked = _masked(atom.text)
    spoken = plain_letters(masked)
    speaks = any(term in spoken for term in _words(titles[0])[0] if len(term) > 2)
    claims: list[Claim] = []
    for start, end, headings in _sentences(masked):
        if any(is_apart(heading) for heading in headings):
            continue
        claim = _claim(atom.text[start:end], masked[start:end], start, [*titles, *headings], speaks=speaks)
        if claim is not None:
            claims.append(claim)
            if len(claims) >= MOST_CLAIMS:
                break
    return tuple(claims)


def is_apart(title: str) -> bool:
    """Whether what stands under this title or heading is no plain statement of now: arguments, quotes, logs, a day."""
    plain = plain_letters(title)
    if plain.rstrip().endswith("?") or ARGUING.found_in(plain) or PAST.found_in(plain):
        return True
    measured = measure(title)
    dated = any(month is not None for day in measured.days for _, month, _ in day)
    return bool(measured.weekdays) or dated or bool(_DATED.search(plain))


def _title(path: str) -> str:
    return re.sub(r"(?i)\.md$", "", path.rpartition("/")[2])


def _masked(text: str) -> str:
    """`text`, the same length, without what is no prose; a link as the words that it shows."""
    note = parse_note(f"\n{text}")  # whatever begins it is no frontmatter
    out = list(text)
    for span in note.opaque:
        _blank(out, span.start - 1, span.end - 1, "\x01" if text[span.start - 1] in "`$" else "\0")
    for link in note.links:
        start, end = link.start - 1, link.end - 1
        shown = "" if link.embed else (link.display or link.path.rpartition("/")[2] or link.subpath.lstrip("#"))
        shown = "" if link.markdown and not re.search(r"[^\W\d_]", shown) else shown.replace("\n", " ")[: end - start]
        out[start:end] = [*shown, *"\0" * (end - start - len(shown))]
    plain = "".join(out)
    return _NOISE.sub(lambda found: "\0" * len(found[0]), plain)


def _blank(out: list[str], start: int, end: int, sign: str) -> None:
    for at in range(max(0, start), min(end, len(out))):
        if out[at] != "\n":
            out[at] = sign


def _sentences(masked: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Start, end and the headings above of every sentence."""
    headings: dict[int, str] = {}
    block: tuple[int, int] | None = None
    skipping = False
    for line in _LINE.finditer(masked):
        text = line[0].rstrip("\r\n")
        bare = text.replace("\0", "").replace("\x01", "").strip()
        heading, item = _HEADING.match(text), _ITEM.match(text)
        goes_on = bool(bare) and heading is None and item is None and not _NO_PROSE.match(text)
        if goes_on and block is not None:
            block = (block[0], line.start() + len(text))
            continue
        if block is not None:
            yield from _split(masked, block, tuple(headings.values()))
            block = None
        if goes_on and skipping:
            continue
        skipping = bool(bare) and not goes_on
        if heading is not None:
            level = len(text.lstrip()) - len(text.lstrip().lstrip("#"))
            headings = {depth: words for depth, words in headings.items() if depth < level}
            headings[level] = heading[1].replace("\0", "")
            skipping = False
        elif item is not None and not item[1] and bare:
            block = (line.start() + item.end(), line.start() + len(text))
            skipping = False
        elif goes_on:
            block = (line.start() + len(text) - len(text.lstrip()), line.start() + len(text))
    if block is not None:
        yield from _split(masked, block, tuple(headings.values()))


def _split(
    masked: str, block: tuple[int, int], headings: tuple[str, ...]
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    start, stop = block
    tail = _BLOCK_ID.search(masked, start, stop)
    stop = tail.start() if tail else stop
    at = start
    for end in [*_ends(masked, start, stop), stop]:
        while at < end and (masked[at].isspace() or masked[at] == ";"):
            at += 1
        last = end
        while last > at and masked[last - 1].isspace():
            last -= 1
        if last > at:
            yield at, last, headings
        at = end


def _ends(masked: str, start: int, stop: int) -> Iterator[int]:
    for found in _END.finditer(masked, start, stop):
        if found[0].startswith(".") and _ABBREVIATION.search(masked, max(start, found.start() - 12), found.end()):
            if masked[found.start() - 2 : found.start() - 1] in ("°", "º"):
                yield found.end()
                continue
            behind = _TOKEN.search(masked, found.end(), stop)
            before = masked[max(start, found.start() - 3) : found.start()]
            if not before[-1:].isdigit() or (behind and plain_letters(behind[0]) in MONTHS):
                continue
        yield found.end() if not found[0].strip().startswith(";") else found.start()


def _claim(text: str, masked: str, start: int, titles: list[str], *, speaks: bool) -> Claim | None:
    if len(text) > LONGEST_CLAIM:
        return None
    code = frozenset(text[found.start() : found.end()] for found in re.finditer("\x01+", masked))
    shown = masked.replace("\0", "").replace("\x01", " ")
    plain = plain_letters(shown)
    tokens = frozenset(part for token in _TOKEN.findall(plain) for part in (token, *re.split(r"[-’']", token)))
    is_entry = bool(_ENTRY.fullmatch(shown.strip()))
    is_label = not (is_entry or _STOP.search(shown) or tokens & VERBS or _UNSPACED.search(shown))
    if is_label or not is_assertion(plain):
        return None
    measured = measure(shown)
    written, names = _words(measured.rest)
    if not written:
        return None
    first = next(iter(_TOKEN.findall(plain)), "")
    first = re.split(r"[’']", first)[0]
    behind = [next(iter(_words(plain[at:])[0]), "") for at in denials(plain)]
    return Claim(
        text=text,
        start=start,
        terms=tuple(written),
        written=written,
        names=names,
        context=frozenset(term for title in titles for term in _words(title)[0]),
        measured=replace(measured, designations=measured.designations | code) if code else measured,
        tokens=tokens,
        denied=tuple(behind),
        denials=len(behind),
        refers=bool((tokens - {first}) & REFERRING),
        speaks_of_title=first in PRONOUNS or is_entry,
        definite=first in ARTICLES and speaks,
        begins_with_subject=stem(first) == next(iter(written)),
        owned=frozenset(stem(one or two) for one, two in _OWNED.findall(plain)),
        is_possible=not MODALS.isdisjoint(tokens) or MAY.search(plain) is not None,
        is_entry=is_entry,
        holds_of_some=SOME.found_in(plain),
        tells_an_event=not _EVENTS.isdisjoint(map(stem, tokens))
        or any(sign in plain for sign in ("成立", "出生", "去世", "发布", "建成")),
    )


def _words(text: str) -> tuple[dict[str, str], frozenset[str]]:
    """Terms of `text` with the word each was, and those among them that are names."""
    written: dict[str, str] = {}
    names: set[str] = set()
    begins = True
    for found in _TOKEN.finditer(text):
        token = found[0]
        if _UNSPACED.match(token):
            for at in range(max(1, len(token) - 1)):
                written.setdefault(token[at : at + 2], token[at : at + 2])
            begins = False
            continue
        for part in re.split(r"[’'-]", token):
            plain = plain_letters(part)
            is_name = part[1:] != part[1:].lower() or (part[:1].isupper() and not begins)
            begins = False
            if len(plain) < 2 or plain in WEEKDAYS or (plain in MONTHS and part[:1].isupper()):
                continue
            if plain in SMALL and not (is_name and part.isupper()):
                continue
            term = stem(plain)
            written.setdefault(term, part)
            if is_name:
                names.add(term)
    return written, frozenset(names)
