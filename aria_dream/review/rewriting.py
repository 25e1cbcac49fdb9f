"""Links of a vault that are to mean the same, or another note, once files have come, gone or moved.

A link is changed only where it would mean the wrong file. It keeps what the writer chose: brackets or Markdown, bare
name or path, `.md` or none, heading, block, display text, embed mark. What it shows stays the same. Every new target
has been resolved among the files as they will be.
"""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from aria_dream.errors import Problem
from aria_dream.markdown.link import find_label_end, normal_name, split_destination, split_linktext
from aria_dream.markdown.note import fold_heading, parse_note
from aria_dream.markdown.prose import read_prose
from aria_dream.markdown.zones import find_zones
from aria_dream.review.definitions import find_definitions
from aria_dream.vault.edit import Edit
from aria_dream.vault.link_form import encode_destination, link_target
from aria_dream.vault.obsidian import AppSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aria_dream.markdown.link import Link
    from aria_dream.markdown.note import Note
    from aria_dream.vault.obsidian import LinkFormat
    from aria_dream.vault.resolve import Resolver

_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_JSON_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"')
_ANGLE: Final = re.compile(r"<((?:[^<>\\\r\n]|\\.)*+)>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What links meant, and what they are to mean."""

    before: Resolver
    after: Resolver
    """Among the files as they will be."""
    moved: Mapping[str, str]
    """Vault path to vault path: who linked to the first is to link to the second."""
    subpaths: Mapping[tuple[str, str], str] = field(default_factory=lambda: MappingProxyType({}))
    """`(vault path before, subpath_key of a subpath)` to the subpath that takes its place: block ids and headings
    that had to change their name."""
    parts: Mapping[tuple[str, str], str] = field(default_factory=lambda: MappingProxyType({}))
    """The same key to a vault path: that heading or block lies in another note afterwards, the rest where it lay."""
    unembed: Mapping[str, str] = field(default_factory=lambda: _NONE)
    """Vault path of a note, after, to the subpath that its own links to it get: a link that led to another note and
    now leads into the same one. Its embed mark is dropped: no note holds itself."""
    within: Mapping[str, str] = field(default_factory=lambda: _NONE)
    """The same by the note that it led to, vault path before: where several notes have gone into one."""


def retarget_note(
    text: str, source: str, meaning: Meaning, *, source_after: str = ""
) -> tuple[list[Edit], list[Problem]]:
    """`(edits, problems)`: what must change in the note `source` for its links to mean what `meaning` says.

    `source_after` is where the text lies afterwards, `source` itself where it stays. A link that no text can express,
    or whose place in the frontmatter cannot be told, is left and is a problem.
    """
    note = parse_note(text)
    place = source_after or source
    tables: tuple[tuple[int, int], ...] | None = None
    edits: list[Edit] = []
    problems: list[Problem] = []
    for link in note.links:
        wanted = _wanted(link, source, place, meaning)
        if wanted is None:
            continue
        if tables is None:
            tables = read_prose(note).tables
        new = _rewritten(note, link, wanted, place, meaning, in_table=_within(link.start, tables))
        if new is None or not link.raw:
            line = text.count("\n", 0, link.start) + 1
            problems.append(Problem(source, line, f"the link {link.path!r} could not be changed and needs a look"))
        elif new != link.raw:
            edits.append(Edit(link.start, link.end, new))
    more, left = _definitions(note, source, place, meaning)
    return [*edits, *more], [*problems, *left]


def _definitions(note: Note, source: str, place: str, meaning: Meaning) -> tuple[list[Edit], list[Problem]]:
    """The same for reference definitions."""
    edits: list[Edit] = []
    problems: list[Problem] = []
    for one in find_definitions(note):
        wanted = _wanted(one.link, source, place, meaning)
        new = _markdown(note, one.link.raw, one.link, wanted, place, meaning) if wanted is not None else one.link.raw
        if new is None:
            line = note.text.count("\n", 0, one.link.start) + 1
            problems.append(Problem(source, line, f"the link [{one.label}] could not be changed and needs a look"))
        elif new != one.link.raw:
            edits.append(Edit(one.link.start, one.link.end, new[len("[x](") : -1]))
    return edits, problems


def subpath_key(subpath: str) -> str:
    """A subpath as subpaths are compared: case, and in headings punctuation, do not matter."""
    inside = subpath.removeprefix("#").strip()
    return inside.lower() if inside.startswith("^") else "#".join(map(fold_heading, inside.split("#")))


@dataclass(frozen=True, slots=True)
class _Wanted:
    target: str
    subpath: str | None
    """None: as it is."""
    unembed: bool


def _wanted(link: Link, source: str, place: str, meaning: Meaning) -> _Wanted | None:
    """What the link should mean where that is not what it would mean; None where it may stay as it is."""
    old = meaning.before.resolve(link.path, source)
    if old is None:
        return None  # it led nowhere; where it leads now is the writer's luck
    key = (old, subpath_key(link.subpath)) if link.subpath else (old, "")
    target = meaning.parts.get(key) or meaning.moved.get(old, old)
    if not link.path and source == place and key not in meaning.parts:
        target = place
    subpath = meaning.subpaths.get(key) if link.subpath else None
    into_itself = target == place and place in meaning.unembed and bool(link.path)
    own = meaning.within.get(old) or meaning.unembed.get(place, "")
    if into_itself and old != place and not link.subpath and own:
        subpath = own
    unembed = into_itself and link.embed and (old != source or source != place)
    now = meaning.after.resolve(link.path, place)
    if now == target and subpath is None and not unembed:
        return None
    return _Wanted(target, subpath, unembed)


def _within(at: int, spans: tuple[tuple[int, int], ...]) -> bool:
    return any(start <= at < end for start, end in spans)


def _rewritten(note: Note, link: Link, wanted: _Wanted, place: str, meaning: Meaning, *, in_table: bool) -> str | None:
    raw = link.raw[1:] if link.embed and wanted.unembed else link.raw
    if link.markdown:
        return _markdown(note, raw, link, wanted, place, meaning)
    return _wikilink(note, raw, link, wanted, place, meaning, in_table=in_table)


def _wikilink(
    note: Note, raw: str, link: Link, wanted: _Wanted, place: str, meaning: Meaning, *, in_table: bool
) -> str | None:
    opening, closing = raw.index("[[") + 2, raw.rindex("]]")
    inner = raw[opening:closing]
    target, mark, display = inner.partition("|")
    escaped = target.endswith("\\") and bool(mark)
    target = target.removesuffix("\\") if mark else target
    _, hash_, subpath = target.partition("#")
    subpath = wanted.subpath if wanted.subpath is not None else hash_ + subpath
    if wanted.target == place and wanted.subpath is not None and wanted.unembed and subpath:
        path = ""  # into the same note
    elif link.path or wanted.target != place:
        found = _target_text(link, wanted.target, place, meaning)
        if found is None or re.search(r"[\[\]|#^]|%%", found) or split_linktext(found)[0] != normal_name(found):
            return None
        path = found
    else:
        path = ""
    if not mark and (not link.embed or wanted.unembed):
        shown, now = _shown(link.path, link.subpath), _shown(path, subpath)
        if shown != now:
            mark, display, escaped = "|", _quoted(note, link, shown), in_table
    bar = "\\|" if mark and (escaped or (in_table and not link.in_frontmatter)) else mark
    return raw[:opening] + _quoted(note, link, path) + subpath + bar + display + raw[closing:]


def _shown(path: str, subpath: str) -> str:
    """What Obsidian shows for a link without a display text: `Note > A > B`, `^block` without a mark of its own."""
    parts = [path, *(part.strip() for part in subpath.split("#"))]
    return " > ".join(part for part in parts if part)


def _quoted(note: Note, link: Link, text: str) -> str:
    """`text` as it must be written where the link stands: in a quoted text of the frontmatter, or as it is."""
    if not link.in_frontmatter:
        return text
    match note.text[link.start - 1 : link.start]:
        case "'":
            return text.replace("'", "''")
        case '"':
            return json.dumps(text, ensure_ascii=False)[1:-1]
        case _:
            return text


def _markdown(note: Note, raw: str, link: Link, wanted: _Wanted, place: str, meaning: Meaning) -> str | None:
    zones = find_zones(raw).links
    expected = zones[0].destination if zones and zones[0].start == 0 else ""
    label_end, _ = find_label_end(raw, expected)
    if label_end < 0:
        return None
    inside = raw[label_end + 2 : -1]
    lead = inside[: len(inside) - len(inside.lstrip(" \t\r\n"))]
    rest = inside[len(lead) :]
    angle = _ANGLE.match(rest)
    old = angle[1] if angle else re.match(r"[^ \t\r\n]*", rest)[0]  # type: ignore[index]  # it matches the empty text
    _, hash_, subpath = old.partition("#")
    fragment = hash_ + subpath if wanted.subpath is None else "#" + encode_destination(wanted.subpath.removeprefix("#"))
    if wanted.target == place and not link.path:
        path = ""
    else:
        found = _target_text(link, wanted.target, place, meaning)
        if found is None:
            return None
        path = re.sub(r"[<>%#\\]", lambda c: encode_destination(c[0]), found) if angle else encode_destination(found)
    read = split_destination(path)
    if path and (read is None or meaning.after.resolve(read[0], place) != wanted.target):
        return None
    path = _quoted(note, link, path)
    new = f"<{path}{fragment}>" if angle else path + fragment
    tail = rest[angle.end() if angle else len(old) :]
    return f"{raw[:label_end]}]({lead}{new}{tail})"


def _target_text(link: Link, target: str, place: str, meaning: Meaning) -> str | None:
    """The target's path in the link's own style, resolved; None where no text means it."""
    app = AppSettings(new_link_format=_style(link, place, meaning))
    text = link_target(meaning.after, app, target, place)
    if not text:
        return None
    if link.path.lower().endswith(".md") and target.lower().endswith(".md") and not text.lower().endswith(".md"):
        longer = text + target[-3:]
        text = longer if meaning.after.resolve(longer, place) == target else text
    if link.path.startswith("/") and meaning.after.resolve(f"/{text}", place) == target and not text.startswith("/"):
        text = f"/{text}"
    if link.path.startswith("./") and not text.startswith(("./", "../", "/")):
        text = f"./{text}" if meaning.after.resolve(f"./{text}", place) == target else text
    return text if meaning.after.resolve(text, place) == target else None


def _style(link: Link, place: str, meaning: Meaning) -> LinkFormat:
    path = link.path
    if path.startswith(("./", "../")):
        return "relative"
    if "/" not in path.strip("/"):
        return "absolute" if path.startswith("/") else "shortest"
    old = meaning.before.resolve(path, place) or ""
    folder = posixpath.dirname(place)
    if link.markdown and folder and old.lower() == posixpath.join(folder, path).lower() and old.lower() != path.lower():
        return "relative"
    return "absolute"


def retarget_canvas(text: str, source: str, meaning: Meaning) -> tuple[list[Edit], list[Problem]]:
    """`(edits, problems)`: what must change in the canvas `source`: paths of file cards, and links in text cards.

    The JSON is not written anew: only the strings change that hold such a path or link.
    """
    try:
        canvas = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return [], []
    if not isinstance(canvas, dict):
        return [], []
    edits: list[Edit] = []
    problems: list[Problem] = []
    for key, found in json_members(text):
        try:
            value = json.loads(found[0])
        except ValueError:
            continue
        if key == "file":
            new = _card_path(value, source, meaning)
        elif key == "text":
            new, more = _card_text(value, source, meaning)
            problems += more
        else:
            continue
        if new != value:
            plain = json.dumps(value, ensure_ascii=False) == found[0]
            edits.append(Edit(found.start(), found.end(), json.dumps(new, ensure_ascii=not plain)))
    return edits, problems


def json_members(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Each string value of an object's member in a JSON text, with the member's name."""
    key, behind = "", -1
    for found in _JSON_STRING.finditer(text):
        if behind >= 0 and text[behind : found.start()].strip() == ":":
            yield key, found
            behind = -1
            continue
        key, behind = found[0][1:-1], found.end()


def _card_path(value: str, source: str, meaning: Meaning) -> str:
    old = meaning.before.resolve(normal_name(value), source)
    return value if old is None else meaning.moved.get(old, value)


def _card_text(value: str, source: str, meaning: Meaning) -> tuple[str, list[Problem]]:
    # A text card has no frontmatter: a leading `---` is a rule.
    head = "\n" if value.startswith("---") else ""
    edits, problems = retarget_note(head + value, source, meaning)
    return apply_edits(head + value, edits)[len(head) :], [replace(problem, line=0) for problem in problems]


def apply_edits(text: str, edits: list[Edit]) -> str:
    """`text` with the edits made; they do not overlap."""
    pieces, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        pieces += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join((*pieces, text[at:]))
