"""One text out of several that say the same: nothing that only one of them says is lost without being named."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.sentences import joined, missing_from, read_sentences, sentence_end
from aria_dream.consolidate.wording import folded, read_wording
from aria_dream.markdown.note import parse_note
from aria_dream.markdown.prose import read_prose
from aria_dream.review.definitions import reference_links
from aria_dream.vault.edit import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aria_dream.consolidate.sentences import Sentence
    from aria_dream.vault.resolve import Resolver

Leads = Callable[[str], str]
"""A link's path to the file that it means."""

MOST_LOST: Final = 0.25
"""A rewrite that loses a larger share of the sentences is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedText:
    text: str
    """Exactly what is to stand there."""
    added: tuple[str, ...] = ()
    """Sentences that came from another member, as written."""
    reworded: tuple[str, ...] = ()
    """Sentences of a member that the text says in other words."""
    lost: tuple[str, ...] = ()
    """Sentences of a member that the text does not say."""


def leads_from(resolver: Resolver, place: str, moved: Mapping[str, str] = MappingProxyType({})) -> Leads:
    """Which file a link's path means in a note at `place`; `moved`: what takes the place of a note that goes."""

    def leads(path: str) -> str:
        target = resolver.resolve(path, place)
        return folded(path) if target is None else moved.get(target, target)

    return leads


def merge_texts(kept: str, others: Sequence[str], leads: Leads = folded) -> MergedText:
    """`kept`, to the letter, with whatever only `others` say behind it, in their order and in their words.

    A sentence that `kept` has word for word, but without the link that another has in it, is taken with the link; one
    whose link leads elsewhere is another sentence, and both stand. `leads(path)`: the file that a link's path means
    where the text will lie, by default the path itself. What `kept` says in other words is told. Something is lost only
    where the text cannot be put together: what comes behind a fence that is never closed is code.
    """
    text = kept
    added: list[str] = []
    reworded: list[str] = []
    for other in others:
        text = _with_links(text, other, leads)
        sentences = read_sentences(other)
        missing = _missing(text, other, sentences, leads)
        reworded += _reworded(text, other, [one for one in sentences if one not in missing])
        blocks = list(_blocks_with(other, missing))
        added += [_as_written(other, one) for one in missing]
        blocks += _tag_line(other, (text, *blocks))
        if blocks:
            text = "\n\n".join((text.rstrip("\r\n \t"), *blocks)) + "\n"
    lost = [
        _as_written(member, one)
        for member in (kept, *others)
        for one in _missing(text, member, read_sentences(member), leads)
    ]
    return MergedText(text=text, added=tuple(added), reworded=tuple(reworded), lost=tuple(dict.fromkeys(lost)))


def check_rewrite(wording: str, members: Sequence[str]) -> MergedText | Refusal:
    """A model's wording for all `members`, with what it loses; refused where that is more than a quarter."""
    lost: list[str] = []
    total = 0
    seen: set[tuple[str, ...]] = set()
    for member in members:
        sentences = [one for one in read_sentences(member) if one.keys not in seen]
        seen.update(one.keys for one in sentences)
        total += len(sentences)
        lost += [_as_written(member, one) for one in missing_from(wording, sentences)]
    if len(lost) > MOST_LOST * total:
        return Refusal(f"the new wording would lose {len(lost)} of {total} sentences")
    reworded = [
        _as_written(member, one)
        for member in members
        for one in read_sentences(member)
        if joined(one.keys) not in joined(key for other in read_sentences(wording) for key in other.keys)
    ]
    return MergedText(
        text=f"{wording.strip()}\n",
        reworded=tuple(dict.fromkeys(text for text in reworded if text not in lost)),
        lost=tuple(dict.fromkeys(lost)),
    )


def left_over(
    kept: str, other: str, leads: Leads = folded, theirs: Leads = folded
) -> tuple[str, tuple[str, ...]]:
    """`(text, reworded)`: what only `other` says or links to, in its own words, and what `kept` says in others.
    `leads` as in `merge_texts`, of `kept` where it lies, and `theirs` of `other`."""
    sentences = read_sentences(other)
    missing = _missing(kept, other, sentences, leads, theirs)
    blocks = list(_blocks_with(other, missing))
    blocks += _tag_line(other, (kept, *blocks))
    return "\n\n".join(blocks), tuple(_reworded(kept, other, [one for one in sentences if one not in missing]))


def _missing(
    kept: str, other: str, sentences: Sequence[Sentence], leads: Leads, its: Leads | None = None
) -> list[Sentence]:
    """Those of the `sentences` of `other` that `kept` does not say, or that link to what it links to nowhere."""
    missing = missing_from(kept, sentences)
    linked = {target for _, _, target in _links(kept, leads)}
    theirs = _links(other, its or leads)
    return [one for one in sentences if one in missing or not _within(one, theirs) <= linked]


def _within(sentence: Sentence, links: Iterable[tuple[int, int, str]]) -> set[str]:
    """Where the links of a sentence lead."""
    return {target for start, end, target in links if start < sentence.end and sentence.start < end}


def _reworded(kept: str, other: str, sentences: Iterable[Sentence]) -> Iterable[str]:
    """Those of the `sentences` of `other` that `kept` says in other words, as written; a lone stop says nothing."""
    said = joined(key for one in read_sentences(kept) for key in one.keys)
    for one in sentences:
        if joined(one.keys) not in said and any(key[:1].isalnum() for key in one.keys):
            yield _as_written(other, one)


def _tag_line(other: str, parts: Iterable[str]) -> list[str]:
    """The tags of `other` that no part has, as one line; none where there is none."""
    known = {tag.lower() for part in parts for tag in _tags(part)}
    tags = [f"#{tag}" for tag in _tags(other) if tag.lower() not in known]
    return [" ".join(tags)] if tags else []


def _as_written(text: str, sentence: Sentence) -> str:
    return " ".join(text[sentence.start : sentence_end(text, sentence)].split())


def _tags(text: str) -> list[str]:
    note = parse_note("\n" + text)
    return list({tag.lower(): tag for tag in reversed(note.tags)}.values())[::-1]


def _with_links(kept: str, other: str, leads: Leads) -> str:
    """`kept` with those of its sentences exchanged that `other` has word for word, on one line, and with every link of
    theirs and more."""
    ours, theirs = _links(kept, leads), _links(other, leads)
    richer: dict[tuple[str, ...], Sentence] = {}
    for one in read_sentences(other) if theirs else ():
        richer.setdefault(one.keys, one)
    pieces, at = [], 0
    for one in read_sentences(kept) if richer else ():
        new = richer.get(one.keys)
        if new is None or one.start < at or not _within(one, ours) < _within(new, theirs):
            continue
        mine, said = kept[one.start : one.end], other[new.start : new.end]
        if "\n" in mine + said or "\r" in said:
            continue
        pieces += [kept[at : one.start], said]
        at = one.end
    return "".join((*pieces, kept[at:]))


def _links(text: str, leads: Leads) -> list[tuple[int, int, str]]:
    """Start, end and goal of each link of a text: the file that it leads to and its subpath, or its address."""
    note = parse_note("\n" + text)
    found = [
        (one.start - 1, one.end - 1, leads(one.path) + folded(one.subpath)) for one in note.links if not one.embed
    ]
    found += [(at - 1, at + 1, target) for at, target in read_wording(note).links if "://" in target]
    found += [
        (start - 1, end - 1, leads(one.path) + folded(one.subpath)) for start, end, one in reference_links(note)
    ]
    return found


_SCRAP: Final = 2
"""Words between two things that are shown, an `and`, that are no reason to tear a block apart."""


def _blocks_with(text: str, missing: Iterable[Sentence]) -> Iterable[str]:
    """The missing sentences in the blocks they stand in: a block whole where all of it is missing, else its lines or
    sentences alone."""
    wanted = sorted(missing, key=lambda one: one.start)
    if not wanted:
        return
    note = parse_note("\n" + text)
    sentences = read_sentences(text)
    for block in read_prose(note).blocks:
        start, end = block.start - 1, block.end - 1
        inside = [one for one in wanted if start <= one.start < end]
        if not inside:
            continue
        there = [one for one in sentences if start <= one.start < end]
        if all(one in inside or len(one.keys) <= _SCRAP for one in there):
            yield text[start:end]
        elif block.kind == "paragraph":
            yield " ".join(_as_written(text, one) for one in inside)
        else:
            yield "\n".join(dict.fromkeys(_lines(text, one) for one in inside))


def _lines(text: str, sentence: Sentence) -> str:
    """The whole lines on which a sentence stands."""
    start = text.rfind("\n", 0, sentence.start) + 1
    end = re.compile(r"\r?\n|\Z").search(text, sentence.end)
    return text[start : end.start() if end else len(text)].rstrip()
