"""The one look at a change before it is written without a tick: what would be lost or altered, whoever judged.

It compares what the notes hold before and after: sentences, where links lead, tags and properties. It knows no list of
cases: a number, a name, a denial or a unit that differs is a sentence that differs, in any language. Whatever it finds
sends the change to the writer; it never lets more pass than a tick would.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.comparison import embedded_compare
from aria_dream.consolidate.passages import passages_of_note, spelt_words
from aria_dream.consolidate.record import Part
from aria_dream.consolidate.sentences import sentence_end, split_sentences
from aria_dream.consolidate.verdict import Merge, NearPair
from aria_dream.consolidate.wording import folded, read_wording
from aria_dream.markdown.note import NotePath, fold_heading, parse_note
from aria_dream.markdown.properties import named
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.review.rewriting import apply_edits, subpath_key
from aria_dream.review.rivals import exclude_each_other
from aria_dream.vault.edit import ABSENT, Edit, decode_note
from aria_dream.vault.resolve import Resolver

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from aria_dream.consolidate.record import Consolidation
    from aria_dream.markdown.note import Note
    from aria_dream.review.plan import VaultView
    from aria_dream.review.proposal import ProposalState
    from aria_dream.vault.edit import ChangeSet

_TOLD: Final = {
    "conflict": "its notes disagree",
    "lost": "a sentence would be lost",
    "reworded": "a sentence would read otherwise",
    "links": "a link would lead elsewhere",
    "elsewhere": "a place that cannot follow names one of its notes",
    "dissent": "not every verdict agrees",
}
"""Evidence of a proposal that is a doubt by itself, and what it says."""
_UNITED: Final = frozenset({"alias", "aliases", "tag", "tags"})
_RANK: Final = re.compile(r"^rank \d+ by likeness; ")
_LONGEST: Final = 90


@dataclass(frozen=True, slots=True)
class _Side:
    """What a note holds, as it can be found again in another text."""

    sentences: Mapping[tuple[str, ...], str]
    """By their words with capitals and stops: as written."""
    links: Mapping[str, str]
    """File that a link leads to, or the address as it is: as written."""
    tags: frozenset[str]
    note: Note


def find_doubt(
    state: ProposalState,
    changes: ChangeSet,
    view: VaultView,
    *,
    others: Iterable[ProposalState],
    at_odds: Iterable[Collection[str]] = (),
) -> str:
    """Why these `changes` of a proposal have to wait for a tick, as a clause; `""` where nothing speaks against them.

    `view` holds the notes as they are. `others`: every proposal, this one too. `at_odds`: the notes of each
    contradiction that nobody has settled.
    """
    return (
        _told_doubt(state)
        or _company_doubt(state, others, at_odds)
        or _same_doubt(state, view)
        or _loss_doubt(state, changes, view)
    )


def contradictions_left(
    past: Sequence[Consolidation], settled: Collection[str], states: Iterable[ProposalState]
) -> tuple[frozenset[str], ...]:
    """The notes of every contradiction that the last look found and that nothing has settled since."""
    looked = [run for run in past if run.scan is not None and run.parts != (Part.CONSOLIDATE,)]
    done = {str(one.proposal.extra.get("finding") or "") for one in states if one.state == "applied"}
    scan = looked[-1].scan if looked else None
    found = scan.at_odds if scan is not None else ()
    return tuple(frozenset(paths) for key, *paths in found if key not in settled and key not in done)


def _told_doubt(state: ProposalState) -> str:
    evidence = {**state.proposal.evidence, "dissent": state.proposal.extra.get("dissent")}
    for key, said in _TOLD.items():
        value = evidence.get(key)
        first = value[0] if isinstance(value, list | tuple) and value else value
        if first:
            return f"{said}: {_cut(str(first))}"
    return ""


def _company_doubt(
    state: ProposalState, others: Iterable[ProposalState], at_odds: Iterable[Collection[str]]
) -> str:
    kind, mine = state.proposal.kind, set(state.paths)
    for other in others:
        if other.proposal.id == state.proposal.id or not other.is_open or not mine & set(other.paths):
            continue
        both_links = kind == other.proposal.kind == "link"
        if not both_links or exclude_each_other((kind, state.paths), (other.proposal.kind, other.paths)):
            shared = title_of(min(mine & set(other.paths)))
            return f"another proposal about “{shared}” waits for you ({other.proposal.id})"
    for paths in at_odds:
        if mine >= set(paths) or (kind != "link" and mine & set(paths)):
            named_ = " and ".join(f"“{title_of(path)}”" for path in sorted(paths))
            return f"a contradiction between {named_} is not settled"
    return ""


def _same_doubt(state: ProposalState, view: VaultView) -> str:
    """Why notes that become one may not say the same: what the built-in judge says of every two, whoever judged."""
    if state.proposal.kind != "merge":
        return ""
    passages = []
    for path in state.paths:
        found = passages_of_note(path, parse_note(decode_note(view.contents[NotePath(path)])))
        if not found or not found[0].is_note:
            return f"“{title_of(path)}” has too little text of its own to compare"
        passages.append(found[0])
    for first, second in combinations(passages, 2):
        verdict = embedded_compare(NearPair(first=first, second=second, cosine=1.0, overlap=1.0, rank=0))
        if not isinstance(verdict, Merge):
            reason = _RANK.sub("", verdict.reason)
            return f"“{first.title}” and “{second.title}” are not the same: {reason}"
    return ""


def _loss_doubt(state: ProposalState, changes: ChangeSet, view: VaultView) -> str:
    before = {str(path): decode_note(data) for path, data in view.contents.items()}
    after = {str(plan.path): decode_note(plan.content) for plan in changes.writes if plan.content is not None}
    gone = {str(move.source) for move in changes.moves}
    gone |= {str(plan.path) for plan in changes.writes if plan.content is None}
    made = {str(plan.path) for plan in changes.writes if plan.expected_hash == ABSENT}
    files = Resolver([*(path for path in view.files if path not in gone), *made])
    moved = dict.fromkeys(state.paths[1:], state.paths[0]) if state.proposal.kind == "merge" else {}
    now = {path: _side(text, path, files, {}) for path, text in after.items() if _is_note(path)}
    was = {
        path: _side(before[path], path, view.resolver(), moved, into=state.paths[0])
        for path in {*now, *gone}
        if _is_note(path) and path in before
    }
    own = [path for path in state.paths if path in was or path in now]
    for path, side in sorted(was.items()):
        holders = [now[one] for one in ({path, *own} if path in own else {path}) if one in now]
        if doubt := _missing(side, holders, path):
            return doubt
    if state.proposal.kind == "merge":
        return _added_doubt(now.get(state.paths[0]), [was[path] for path in own if path in was])
    return _passage_doubt(was, now, files) if state.proposal.kind == "update" else ""


def _missing(side: _Side, holders: Sequence[_Side], path: str) -> str:
    """What of a note no note holds afterwards."""
    for words, written in side.sentences.items():
        if not any(words in holder.sentences for holder in holders):
            return f"“{_cut(written)}” of “{title_of(path)}” would not stand as it does"
    for target, written in side.links.items():
        if not any(target in holder.links for holder in holders):
            return f"the link {_cut(written)} of “{title_of(path)}” would lead elsewhere or go"
    lost = side.tags.difference(*(holder.tags for holder in holders))
    if lost:
        return f"the tag #{min(lost)} of “{title_of(path)}” would be lost"
    for key, value in side.note.properties.items():
        if key.lower() not in _UNITED and not any(_holds(holder.note, key, value) for holder in holders):
            return f"the property `{_cut(key)}` of “{title_of(path)}” would be lost or say something else"
    return ""


def _holds(note: Note, key: str, value: object) -> bool:
    mine = named(note.properties, key.lower())
    if value in (None, "", []) or repr(mine) == repr(value):
        return True
    items = mine if isinstance(mine, list) else [mine]
    held = set(map(repr, items))
    return all(repr(one) in held or _is_link(one) for one in (value if isinstance(value, list) else [value]))


def _is_link(value: object) -> bool:
    """Whether a value is one that is looked at as a link."""
    return isinstance(value, str) and ("[[" in value or "](" in value)


def _added_doubt(result: _Side | None, members: Sequence[_Side]) -> str:
    for words, written in result.sentences.items() if result is not None else ():
        if not any(words in member.sentences for member in members):
            return f"“{_cut(written)}” stands in none of its notes"
    return ""


def _passage_doubt(was: Mapping[str, _Side], now: Mapping[str, _Side], files: Resolver) -> str:
    """Why a passage that a link replaces may not say what it leads to: that says more."""
    for path, side in now.items():
        old = was[path].sentences if path in was else {}
        for link in side.note.links:
            target = files.resolve(link.path, path)
            if target is None or target not in now or (path in was and link.raw in was[path].note.text):
                continue
            for words, written in _passage(now[target], link.subpath, target, files).items():
                if words not in old:
                    return f"“{_cut(written)}” of “{title_of(target)}” is not what “{title_of(path)}” says"
    return ""


def _passage(side: _Side, subpath: str, path: str, files: Resolver) -> Mapping[tuple[str, ...], str]:
    """The sentences of the section that a subpath names, up to the next heading; of the whole note without one."""
    if not subpath:
        return side.sentences
    step = subpath_key(subpath).rpartition("#")[2]
    headings = side.note.headings
    for number, heading in enumerate(headings):
        if fold_heading(heading.text) == step:
            end = headings[number + 1].span.start if number + 1 < len(headings) else len(side.note.text)
            return _side("\n" + side.note.text[heading.span.end : end], path, files, {}).sentences
    return side.sentences


def _side(text: str, path: str, resolver: Resolver, moved: Mapping[str, str], *, into: str = "") -> _Side:
    """What the note at `path` holds. `moved`: what takes the place of a note that goes; `into`: the note that stays,
    whose name a first heading may repeat."""
    note = parse_note(text)
    links: dict[str, str] = {}
    shown: list[Edit] = []
    for link in note.links:
        target = resolver.resolve(link.path, path)
        leads = link.path.casefold() if target is None else moved.get(target, target)
        if target is None or target not in (path, into, *moved):
            links.setdefault(leads, link.raw or link.path)
        if not link.in_frontmatter:
            new = f"![[{leads}]]" if link.embed else link.display or _without_display(link.path, link.subpath)
            shown.append(Edit(link.start, link.end, new))
    plain = parse_note(apply_edits(text, shown))
    names = {folded(title_of(one)) for one in (path, into) if one and moved}
    wording = read_wording(note)
    links |= {address: address for _, address in wording.links if "://" in address}
    return _Side(dict(_sentences(plain, names)), links, frozenset(tag.lower() for tag in note.tags), note)


def _without_display(path: str, subpath: str) -> str:
    return " > ".join(part for part in (path, *subpath.split("#")) if part)


def _sentences(note: Note, names: Collection[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Words and text of each sentence, without a first heading that only repeats one of `names` (folded)."""
    words = read_wording(note).words
    first = note.headings[0] if note.headings else None
    if first is not None and not note.text[note.body_start : first.span.start].strip() and folded(first.text) in names:
        words = tuple(word for word in words if word.start >= first.span.end)
    at = 0
    for one in split_sentences(note.text, words):
        part = words[at : at + len(one.keys)]
        at += len(part)
        head, *rest = spelt_words(note.text, part)
        yield (head.removeprefix(","), *rest), note.text[one.start : sentence_end(note.text, one)]


def _is_note(path: str) -> bool:
    return path.lower().endswith(".md")


def _cut(text: str) -> str:
    said = " ".join(text.split())
    return said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…"
