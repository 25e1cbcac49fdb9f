"""The words of a note as two texts are compared: what layout adds is gone, what changes a meaning is kept.

Gone are line breaks, emphasis, highlights, list marks, heading marks, commas and full stops, block ids and the second
spelling of quotation marks. Kept, each as a word of its own, are numbers with everything inside them, question and
exclamation marks, quotation marks, currency and other signs, boxes that are ticked or not, struck-out text, code, math
and HTML to the letter, what is embedded. Where a link leads and which tags stand in the text is told beside the words.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from pyromark import Markdown, Options

from aria_dream.markdown.body import TAG, is_tag
from aria_dream.markdown.link import ascii_twin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aria_dream.markdown.link import Link
    from aria_dream.markdown.note import Note, Span

_MARKDOWN: Final = Markdown(
    options=Options.ENABLE_TABLES | Options.ENABLE_MATH | Options.ENABLE_FOOTNOTES | Options.ENABLE_TASKLISTS
)
QUOTE, CODE, TASK, TABLE, HEADING, LINKED = 1, 2, 4, 8, 16, 32
"""Where a word stands; they add up."""
BLOCK: Final = 2
"""`Word.apart` of the first word of a block."""
UNSPACED: Final = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Scripts that write no spaces: every character is a word."""
_LAYOUT: Final = (
    r".,;:()\[\]{}\\\u2026\u00b7\u2013\u2014\u3001\u3002\uff0c\uff1b\uff1a\uff08\uff09\u200b-\u200f\ufeff\u00ad"
)
_INSIDE: Final = rf"(?:(?![{UNSPACED}])[^\W_]|[\u0300-\u036f]|[\u00ad\u200b\u2060](?=[^\W_]))"
_UNSEEN: Final = dict.fromkeys((0xAD, 0x200B, 0x2060))
"""What a page leaves in its words where they may be broken, and nobody sees."""
_TOKEN: Final = re.compile(
    rf"""(?:(?<![\w.,])[-\u2212+\u00b1]?[.,]?)?\d(?:[\d.,:/'\u2019\u00d7\u2013-]*\d)?   # a number, whole
    | [{UNSPACED}]
    | (?:(?![{UNSPACED}])[^\W\d_]){_INSIDE}*(?:['\u2019\u02bc]{_INSIDE}+)*   # a word
    | [-\u2013\u2014\u2212](?=\s*\d)                                             # a minus, or between two numbers
    | \*(?<=\w\*)(?=\w)
    | (?<!=)=(?!=)
    | (?![{_LAYOUT}])[^\s\w*=-]                                                  # any other sign
    | _(?=\w)(?<=\w_)
    """,
    re.VERBOSE,
)
_ADDRESS: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s<>]*[^\s<>.,;:!?)\]\"'\u201d\u2019]|www\.\S+"
    r"|data:[\w.+-]+/[\w.+-]+[;,][^\s<>()\"']*"
)
_QUOTATION: Final = dict.fromkeys(
    map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a\u2018\u2019\u201a\u300c\u300d\u300e\u300f\u02bc'"), '"'
)
_APOSTROPHE: Final = {0x2019: "'", 0x02BC: "'"}
_STOP: Final = re.compile(r"[.,;:\u2026()\u2014\u2013\u3001\u3002\uff0c\uff1b\uff1a!?]")
_BLOCK_ID: Final = re.compile(r"(?<!\S)\^[A-Za-z0-9-]+[ \t]*$", re.MULTILINE)
_BOX: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([^\sxX\]])\](?=\s)")
"""A box with a mark of the writer's own: `[-]` is dropped, `[/]` is under way."""
_CALLOUT: Final = re.compile(r"[ \t>]*\[!([\w-]+)\]")
_QUOTED: Final = frozenset({"quote", "cite"})


class Word(NamedTuple):
    """One word as it is compared. (Made for every word of a vault.)"""

    key: str
    """Folded: what is compared."""
    start: int
    """Offset in the note's text."""
    end: int
    place: int
    """Sum of QUOTE, CODE, TASK, TABLE, HEADING, LINKED."""
    apart: int
    """What stands before it: 0 another word, 1 a stop or a bracket, 2 the beginning of a block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What `read_wording` finds, in reading order."""

    words: tuple[Word, ...]
    links: tuple[tuple[int, str], ...]
    """Offset of each link, and where it leads: folded path and subpath, or the address as it is."""
    tags: tuple[tuple[int, str], ...]
    """Offset and lower-cased name of each tag in the body."""


def read_wording(note: Note) -> Wording:
    """The wording of a note's body. Total; near linear."""
    return _Reader(note).read()


def folded(text: str) -> str:
    """A word as it is compared: NFC, lower case, one apostrophe, without what nobody sees."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text.translate(_UNSEEN)).translate(_APOSTROPHE).lower()


class _Reader:
    def __init__(self, note: Note) -> None:
        self._note = note
        self._text = note.text
        self._from = note.body_start
        self._words: list[Word] = []
        self._links: list[tuple[int, str]] = []
        self._tags: list[tuple[int, str]] = []
        self._place = 0
        self._quotes: list[bool] = []
        self._tasks: list[bool] = []
        self._apart = 2
        self._wiki: list[Link] = [link for link in note.links if not link.markdown and not link.in_frontmatter]
        self._hidden = [span for span in note.opaque if span.start >= note.body_start]
        self._starts = [span.start for span in self._hidden]
        self._behind = 0
        """Up to here all text has been read: a comment may span several events."""

    def read(self) -> Wording:
        twin = ascii_twin(self._blotted())
        images = 0
        for event, span in _MARKDOWN.events_with_range(twin):
            start, end = span["start"] + self._from, span["end"] + self._from
            if isinstance(event, str):
                self._apart = max(self._apart, {"SoftBreak": 0, "HardBreak": 1}.get(event, 2))
                continue
            name, value = next(iter(event.items()))
            match name:
                case "Text" if images == 0:
                    self._read_text(start, end)
                case "Code" | "InlineMath" | "DisplayMath" | "InlineHtml" | "Html" | "FootnoteReference":
                    self._add_whole(start, end, CODE if name == "Code" else 0)
                case "TaskListMarker":
                    self._tasks[-1:] = [True]
                    self._set_place()
                    self._add("[x]" if value else "[ ]", start, end)
                case "Start":
                    kind = value if isinstance(value, str) else next(iter(value))
                    images += kind == "Image"
                    self._open(kind, None if isinstance(value, str) else value[kind], start, end)
                case "End":
                    kind = value if isinstance(value, str) else next(iter(value))
                    images -= kind == "Image"
                    self._close(kind)
        words = sorted(self._words, key=lambda word: word.start)  # an address is taken out before the words around it
        return Wording(words=tuple(words), links=tuple(sorted(self._links)), tags=tuple(self._tags))

    def _blotted(self) -> str:
        """The body with every wikilink as a word: the parser would take it for brackets."""
        pieces, at = [], self._from
        for link in self._wiki:
            if link.start >= at:
                pieces += [self._text[at : link.start], "x" * (link.end - link.start)]
                at = link.end
        return "".join((*pieces, self._text[at:]))

    def _open(self, kind: str, value: object, start: int, end: int) -> None:
        match kind:
            case "BlockQuote":
                found = _CALLOUT.match(self._text, start, end)
                self._quotes.append(found is None or found[1].lower() in _QUOTED)
                self._add(">" if self._quotes[-1] else "[!]", start, start)
            case "List":
                if isinstance(value, int) and value > 1:  # a number that nobody counts to says something
                    self._add(str(value), start, start)
            case "Item":
                box = _BOX.match(self._text, start, end)
                self._tasks.append(box is not None)
                if box is not None:
                    self._add(f"[{box[1]}]", start, start)
            case "CodeBlock":
                self._place |= CODE
            case "Heading":
                self._place |= HEADING
            case "Table":
                self._place |= TABLE
            case "TableCell":
                self._add("|", start, start)
            case "Link" | "Image":
                self._open_link(kind, value, start, end)
        if kind not in ("Emphasis", "Strong", "Link", "Image"):
            self._apart = max(self._apart, 1 if kind == "TableCell" else 2)
        self._set_place()

    def _open_link(self, kind: str, value: object, start: int, end: int) -> None:
        fields: Mapping[str, object] = value if isinstance(value, dict) else {}
        target = str(fields.get("dest_url", ""))
        shown = self._text[start:end]
        if kind == "Image":
            shown = re.sub(r"\|?\d+(?:x\d+)?$", "", shown[2 : max(2, shown.rfind("]("))])
            self._add(f"!{target}|{folded(shown)}" if shown else f"!{target}", start, end)
        elif fields.get("link_type") != "Autolink":
            self._links.append((start, target if "://" in target else folded(target.removesuffix(".md"))))
        else:
            self._links.append((start, shown.strip("<>")))

    def _close(self, kind: str) -> None:
        match kind:
            case "BlockQuote":
                if self._quotes:
                    at = self._words[-1].end if self._words else self._from
                    self._add("<" if self._quotes.pop() else "[/]", at, at)
            case "Item":
                if self._tasks:
                    self._tasks.pop()
            case "CodeBlock":
                self._place &= ~CODE
            case "Heading":
                self._place &= ~HEADING
            case "Table":
                self._place &= ~TABLE
        if kind not in ("Emphasis", "Strong", "Link", "Image"):
            self._apart = max(self._apart, 1 if kind == "TableCell" else 2)
        self._set_place()

    def _set_place(self) -> None:
        self._place &= ~(QUOTE | TASK)
        self._place |= (QUOTE if any(self._quotes) else 0) | (TASK if any(self._tasks) else 0)

    def _add(self, key: str, start: int, end: int) -> None:
        if not key:  # characters that nobody sees, and nothing else
            return
        self._words.append(Word(key, start, end, self._place, self._apart))
        self._apart = 0

    def _add_whole(self, start: int, end: int, place: int) -> None:
        """Code, math and HTML: every character counts but for white space at the ends."""
        written = self._text[start:end].replace("\r\n", "\n").strip()
        if start >= self._behind and written:
            self._words.append(Word(written, start, end, self._place | place, self._apart))
            self._apart = 0
            self._behind = max(self._behind, end)

    def _read_text(self, start: int, end: int) -> None:
        if self._place & CODE:
            self._add_whole(start, end, CODE)
            return
        at = max(start, self._behind)
        while at < end:
            link = self._link_at(at, end)
            hidden = self._hidden_at(at, end)
            stop = min(end, link.start if link else end, hidden.start if hidden else end)
            if stop > at:
                self._read_plain(at, stop)
            if link is not None and stop == link.start:
                self._read_wikilink(link)
                at = link.end
            elif hidden is not None and stop == hidden.start:
                self._add_whole(hidden.start, hidden.end, 0)
                at = hidden.end
            else:
                at = stop
            self._behind = max(self._behind, at)

    def _link_at(self, at: int, end: int) -> Link | None:
        number = bisect_left(self._wiki, at, key=lambda link: link.start)
        return self._wiki[number] if number < len(self._wiki) and self._wiki[number].start < end else None

    def _hidden_at(self, at: int, end: int) -> Span | None:
        number = bisect_left(self._starts, at)
        if number < len(self._starts) and self._starts[number] < end:
            return self._hidden[number]
        return None

    def _read_wikilink(self, link: Link) -> None:
        target = folded(link.path.removesuffix(".md")) + folded(link.subpath)
        if link.embed:
            shown = "" if link.display is None or link.display[:1].isdigit() else f"|{folded(link.display)}"
            self._add(f"!{folded(link.path)}{folded(link.subpath)}{shown}", link.start, link.end)
            return
        self._links.append((link.start, target))
        shown = link.display or " > ".join(part for part in (link.path, *link.subpath.split("#")) if part)
        for key in filter(None, split_words(shown)):
            self._words.append(Word(key, link.start, link.end, self._place | LINKED, self._apart))
            self._apart = 0

    def _read_plain(self, start: int, end: int) -> None:
        piece = self._text[start:end]
        for found in _BLOCK_ID.finditer(piece):
            piece = piece[: found.start()] + " " * len(found[0]) + piece[found.end() :]
        for found in _ADDRESS.finditer(piece):
            self._add(found[0], start + found.start(), start + found.end())
            self._links.append((start + found.start(), found[0]))
            piece = piece[: found.start()] + " " * len(found[0]) + piece[found.end() :]
        for tag in TAG.finditer(piece):
            if is_tag(tag[1]):
                self._tags.append((start + tag.start(), tag[1].lower()))
                piece = piece[: tag.start()] + " " * len(tag[0]) + piece[tag.end() :]
        behind = 0
        for word in _TOKEN.finditer(piece):
            if not self._apart and _STOP.search(piece, behind, word.start()):
                self._apart = 1
            key = folded(word[0])
            self._add(key.translate(_QUOTATION) if len(key) == 1 else key, start + word.start(), start + word.end())
            behind = word.end()
        if _STOP.search(piece, behind):
            self._apart = max(self._apart, 1)


def split_words(text: str) -> Iterator[str]:
    """The folded words of a plain text."""
    for word in _TOKEN.finditer(text):
        key = folded(word[0])
        yield key.translate(_QUOTATION) if len(key) == 1 else key
