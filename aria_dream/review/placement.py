"""A link that was approved becomes the exact change of one note: at a mention in its prose, else in a list at its end.

Every plan has been read back: the note then has exactly one more link, to the target, and all its other links,
headings, tags, block ids and properties are as before. A place where that does not hold is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, assert_never

from aria_dream.markdown.ending import has_unclosed_frontmatter
from aria_dream.markdown.note import parse_note
from aria_dream.markdown.prose import read_prose
from aria_dream.ranking.names import is_one_word, is_quoted, stands_before_noun
from aria_dream.review.mention import find_mentions
from aria_dream.review.related import Insertion, plan_bullet
from aria_dream.vault.edit import Edit, Refusal, WritePlan, decode_note, encode_note, note_refusal, plan_edit
from aria_dream.vault.link_form import render_link

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aria_dream.markdown.link import Link
    from aria_dream.markdown.note import Note, NotePath
    from aria_dream.ranking.names import NameStore
    from aria_dream.review.mention import Mention
    from aria_dream.vault.obsidian import AppSettings
    from aria_dream.vault.resolve import Resolver

PlacementPolicy = Literal["mention-then-related", "mention", "related", "none"]
Where = Literal["mention", "related", "new section"]
MENTIONS_TRIED: Final = 20
"""Each place that is tried costs a reading of the note; one in a thousand notes needs a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The note that a link is to lead to."""

    path: str
    title: str
    """What the link reads where no mention says it otherwise; usually the file's name."""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How links are placed in this vault."""

    resolver: Resolver
    app: AppSettings
    placement: PlacementPolicy = "mention-then-related"
    related_heading: str = "Related"
    names: NameStore | None = None
    """The names of all notes, where they are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A link's place in a note."""

    plan: WritePlan
    edit: Edit
    """The one change: what it replaces, and by what."""
    removed: str
    """Text that the change replaces: the mention, or `""`."""
    link: str
    """The link as written."""
    line: int
    """1-based line of the note, before the change, that it touches or follows."""
    where: Where


@dataclass(frozen=True, slots=True)
class AlreadyLinked:
    """The note leads to the target already; there is nothing to place."""

    link: str
    """The first such link, as written."""


def plan_link(
    path: NotePath, before: bytes, target: Target, style: Style, *, again: bool = False, edge: str = ""
) -> Placement | AlreadyLinked | Refusal:
    """The change that puts a link to `target` into the note `path` that reads `before`; or why there is none.

    The first unlinked mention of title or alias becomes the link; where there is none, or the policy says so, a bullet
    under the related heading. `again` places it even where the note links to the target already. `edge`: what the
    relation is called, as Markdown on one line; a link that has such a name goes under the related heading and bears
    it, wherever the policy permits that, since the writer's own sentence cannot take it up.
    """
    refusal = _note_refusal(path, before, target, style)
    if refusal is not None:
        return refusal
    text = decode_note(before)
    note = parse_note(text)
    if not again:
        linked = _linked(note, str(path), target, style)
        if linked is not None:
            return AlreadyLinked(linked.raw or linked.path)
    match style.placement:
        case "mention-then-related" if edge:
            return _at_related(path, before, note, target, style, edge)
        case "mention-then-related":
            placed = _at_mention(path, before, note, target, style)
            return placed if placed is not None else _at_related(path, before, note, target, style)
        case "mention":
            placed = _at_mention(path, before, note, target, style)
            return placed or Refusal(f"{path} does not name {target.title}, and the policy says `placement: mention`")
        case "related":
            return _at_related(path, before, note, target, style, edge)
        case "none":
            return Refusal("the policy says `placement: none`: links are placed by hand")
        case _:
            assert_never(style.placement)


def _note_refusal(path: NotePath, before: bytes, target: Target, style: Style) -> Refusal | None:
    if str(path) == target.path:
        return Refusal(f"{path} is the note that the link would lead to")
    reason = note_refusal(path, before)
    if reason:
        return Refusal(reason)
    if has_unclosed_frontmatter(decode_note(before)):
        return Refusal(f"{path} begins with a frontmatter that is not closed")
    if not render_link(style.resolver, style.app, target.path, str(path), target.title):
        return Refusal(f"no link in {path} can mean {target.path}")
    return None


def _linked(note: Note, source: str, target: Target, style: Style) -> Link | None:
    return next(
        (link for link in note.links if link.path and style.resolver.resolve(link.path, source) == target.path), None
    )


def _at_mention(path: NotePath, before: bytes, note: Note, target: Target, style: Style) -> Placement | Refusal | None:
    # What is another note's name is that note's to be linked by, whatever the target is called besides.
    others = (style.resolver.resolve(alias, str(path)) for alias in target.aliases)
    free = (alias for alias, other in zip(target.aliases, others, strict=True) if other in (None, target.path))
    names = (target.path.rpartition("/")[2].removesuffix(".md"), target.title, *free)
    mentions = (
        mention
        for mention in find_mentions(note.text, read_prose(note).runs, names)
        if _is_named_there(note.text, mention, style.names)
    )
    for mention in islice(mentions, MENTIONS_TRIED):
        said = note.text[mention.start : mention.end]
        link = render_link(style.resolver, style.app, target.path, str(path), said)
        edit = Edit(mention.start, mention.end, link)
        if link and one_more_link(note, (edit,), target.path, str(path), style.resolver):
            return _placement(path, before, note, edit, link, "mention")
    return None


def _is_named_there(text: str, mention: Mention, store: NameStore | None) -> bool:
    """Whether a link may stand at the mention: not inside the longer name of another note, and where one word is all
    that is said, not before another noun and not in a quotation."""
    start, end = mention.start, mention.end
    if store is not None and store.is_part(text, start, end):
        return False
    return not is_one_word(text[start:end]) or not (stands_before_noun(text, end) or is_quoted(text, start, end))


def _at_related(
    path: NotePath, before: bytes, note: Note, target: Target, style: Style, edge: str = ""
) -> Placement | Refusal:
    link = render_link(style.resolver, style.app, target.path, str(path), target.title)
    found = plan_bullet(path, before, note, f"{link} — {edge}" if edge else link, style.related_heading)
    if isinstance(found, Refusal):
        return found
    if not one_more_link(note, (found.edit,), target.path, str(path), style.resolver, heading=found.heading):
        if edge:  # the name would act as something else in this place
            return _at_related(path, before, note, target, style)
        return Refusal(f"a link under '{style.related_heading}' in {path} would not be read as one")
    return _placement(path, before, note, found.edit, link, _where(found))


def _where(found: Insertion) -> Where:
    return "new section" if found.heading else "related"


def _placement(
    path: NotePath, before: bytes, note: Note, edit: Edit, link: str, where: Where
) -> Placement | Refusal:
    plan = plan_edit(path, before, (edit,))
    if isinstance(plan, Refusal):
        return plan
    return Placement(
        plan=plan,
        edit=edit,
        removed=note.text[edit.start : edit.end],
        link=link,
        line=note.text.count("\n", 0, edit.start) + 1,
        where=where,
    )


def one_more_link(
    note: Note, edits: Sequence[Edit], target: str, source: str, resolver: Resolver, *, heading: str = ""
) -> bool:
    """Whether `edits` add one link to `target`, with `heading` one heading more, and leave everything else as it is."""
    pieces, at = [], 0
    for edit in edits:
        pieces += [note.text[at : edit.start], edit.new]
        at = edit.end
    text = "".join((*pieces, note.text[at:]))
    after = parse_note(decode_note(encode_note(text)))
    first, last = edits[0].start, edits[-1].end
    shift = len(after.text) - len(note.text)
    new = [link for link in after.links if first <= link.start and link.end <= last + shift and not link.in_frontmatter]
    if len(new) != 1 or new[0].embed or new[0].subpath or resolver.resolve(new[0].path, source) != target:
        return False
    if any(span.start < new[0].end and new[0].start < span.end for span in after.opaque):
        return False
    if list(_facts(note, first, last, 0, None)) != list(_facts(after, first, last + shift, shift, new[0])):
        return False
    headings = [(found.level, found.text) for found in after.headings]
    added = [found for found in after.headings if heading and found.text == heading and first <= found.span.start]
    if heading:
        if len(added) != 1:
            return False
        headings.remove((added[0].level, added[0].text))
    return headings == [(found.level, found.text) for found in note.headings]


def _facts(note: Note, first: int, last: int, shift: int, new: Link | None) -> Iterator[object]:
    """Everything that must be the same before and after, places behind the change counted from the end."""

    def place(at: int) -> int:
        return at if at < first else at - shift if at >= last else -1

    yield note.properties, note.tags, note.aliases
    for link in note.links:
        if link is not new:
            yield link.raw, place(link.start), link.path, link.subpath, link.display, link.embed
    for block in note.block_ids:
        yield block.name, place(block.span.start)
    for span in note.opaque:
        # Code at a note's end takes the blank lines behind it along: what it says is what counts.
        said = note.text[span.start : span.end].rstrip()
        yield place(span.start), place(span.start + len(said) - 1)
