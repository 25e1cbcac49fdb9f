"""The passages of a note that a dream may quote: whole sentences as a reader sees them, short enough for one line.

A passage is what two notes are compared by and what is shown of them: the writer sees just what the dream saw. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aria_dream.markdown.no_words import field_labels, no_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aria_dream.markdown.note import Note

RECIPE: Final = "1"
"""Part of the cache's key: raise it with every change here that changes a passage."""
LONGEST: Final = 200
"""Characters of a passage. Measured on 166 pairs that readers had judged: the likeness of passages of up to 200 orders
their worth (AUC .77 and .68 in two vaults) as well as that of passages of 120 to 350 (.76 and .68)."""
SHORTEST: Final = 80
"""Characters; a Chinese, Japanese or Korean one counts as two."""
ENOUGH: Final = 140
"""A passage of so many characters is not filled up with the next sentence."""
LEAST_WORDS: Final = 8
MOST: Final = 12
"""Passages of one note: its first 2,400 characters at most."""
LEAST_LETTERS: Final = 0.82
"""Share of letters and spaces; tables of figures, code, paths and keyboard shortcuts have less."""
_SCANNED_CHARACTERS: Final = 24_000
_LONGEST_CODE: Final = 40
"""Characters of code in a line that are read as words."""

_LINK: Final = "\x02"
_END: Final = "\x03"
_ITEM: Final = "\x04"
"""Marks that no note keeps: around the words of a link, before a list item."""
_MARKS: Final = re.compile("[\x02\x03\x04]")
_LINKED: Final = re.compile("\x02[^\x03]*\x03")
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_EXTERNAL: Final = re.compile(r"(?<!!)\[([^\[\]\n]{1,200})\]\([^()\n]{0,300}\)")
_LINE: Final = re.compile(
    r"[ \t>]*(?P<item>(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[.\][ \t]+)?(?:\[![^\]\n]*\][+-]?[ \t]*)?(?P<rest>.*)"
)
_HEADING: Final = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?#{1,6}(?:[ \t]|$)")
_NO_PROSE: Final = re.compile(
    r"[ \t>]*(?:[-*+][ \t]+)?"
    r"(?:\|.*|[-=_*|: \t]*|\[[^\]\n]+\]:[ \t].*|#\+.*|(?:\*\*)?[^\n:.!?\[\]]{1,60}::(?:[ \t].*)?)"
)
"""A row of a table, a rule, a reference definition, a line of Org mode, an inline field."""
_PLACEHOLDER: Final = re.compile(r"\{\{[^\n]{0,300}?\}\}|<%[^\n]{0,300}?%>|<[^<>\n]*>|\{:[^{}\n]*\}")
_TAG: Final = re.compile(r"(?<![\w&/#])#[\w/-]*[^\W\d][\w/-]*")
_EMPHASIS: Final = re.compile(r"[*_~=]{2,}|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|\\(?=[!-/:-@\[-`{-~])")
_SENTENCE_END: Final = re.compile(
    r"(?<=[.!?\u2026])[\"'\u201d\u2019)\]]{0,3}\s+(?=[\"'\u201c\u2018(\[\x02]{0,4}(?:[^\W\d_a-z\u00df-\u00ff]|\d))"
    r"|(?<=[\u3002\uff01\uff1f])(?=[^\s\u3002\uff01\uff1f\u201d\u300d\u300f\uff09])"
)
_STOPS: Final = frozenset(".!?:;,\u2026\u3002\uff01\uff1f\uff1a\uff1b")
_DENSE_STOPS: Final = frozenset("\u3002\uff01\uff1f")
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_DENSE: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_BREAKS: Final = " \u3001\u3002\uff0c\uff1b"


def quotable_passages(note: Note) -> tuple[str, ...]:
    """The note's passages in their order, at most `MOST`, each on one line of at most `LONGEST` characters; none for a
    note without prose. Total and deterministic.

    Every word of a passage stands in the note in this order. Links are their words; code blocks, formulas, images,
    embeds, tables, headings, fields, tags, addresses and placeholders are left out. A sentence that is too long is cut
    at a word's end; list items stand apart by `·`. What has few words, or is hardly more than links, is no passage.
    """
    found: list[str] = []
    for run in _runs(_visible(note)):
        for passage in _packed(run):
            if _is_telling(passage):
                found.append(_MARKS.sub("", passage))
                if len(found) == MOST:
                    return tuple(found)
    return tuple(found)


def _visible(note: Note) -> str:
    """The body without what is no prose; the words of a link between `_LINK` and `_END`."""
    text, start = note.text, note.body_start
    spans = [(span.start, span.end, _code(text[span.start : span.end])) for span in note.opaque if span.end > start]
    spans += [
        (link.start, link.end, "" if link.embed else f"{_LINK}{link.display or _name(link.path)}{_END}")
        for link in note.links
        if not link.in_frontmatter
    ]
    body = text[start:]
    spans += [(first + start, last + start, "") for first, last in no_words(body, labels=False)]
    spans += [(first + start, _line_end(text, last + start), "") for first, last in field_labels(body)]
    pieces, at, held = [], start, 0
    for first, last, shown in sorted(spans, key=lambda span: (span[0], -span[1])):
        if held > _SCANNED_CHARACTERS:
            break
        if first >= at:
            gap = "\n" if "\n" in text[first:last] else " "
            pieces += [_CONTROL.sub(" ", text[at:first]), shown or gap]
            held += first - at
        at = max(at, last)
    pieces.append(_CONTROL.sub(" ", text[at : at + max(0, _SCANNED_CHARACTERS - held)]))
    return _EXTERNAL.sub(r"\1", "".join(pieces))


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _code(raw: str) -> str:
    """Code within a line as its words; `""` for any other span that is no prose."""
    words = raw.strip("`").strip()
    is_inline = raw.startswith("`") and "\n" not in raw and not raw.startswith("```")
    return f"{_LINK}{words}{_END}" if is_inline and 0 < len(words) <= _LONGEST_CODE else ""


def _name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _runs(body: str) -> Iterator[list[str]]:
    """Sentences that stand together: those of one paragraph, or of one list. An item begins with `_ITEM`."""
    run: list[str] = []
    lines: list[str] = []

    def end_text() -> None:
        run.extend(part for part in map(str.strip, _SENTENCE_END.split(" ".join(lines))) if part)
        lines.clear()

    for line in (*body.splitlines(), ""):
        prose = "" if _HEADING.match(line) or _NO_PROSE.fullmatch(line) else _plain(line)
        if not prose:
            end_text()
            if run:
                yield run
                run = []
        else:
            if prose.startswith(_ITEM):
                end_text()
            lines.append(prose)


def _plain(line: str) -> str:
    """A line as a reader sees it."""
    found = _LINE.fullmatch(line)
    if found is None:
        return ""
    text = _EMPHASIS.sub("", _TAG.sub(" ", _PLACEHOLDER.sub(" ", found["rest"])))
    words = " ".join(text.split())
    return f"{_ITEM if found['item'] else ''}{words}" if words else ""


def _packed(sentences: Sequence[str]) -> Iterator[str]:
    """The sentences put together to passages."""
    held = ""
    for sentence in sentences:
        joined = _joined(held, sentence)
        if held and (len(_MARKS.sub("", joined)) > LONGEST or len(_MARKS.sub("", held)) >= ENOUGH):
            yield held
            joined = sentence.removeprefix(_ITEM)
        held = joined
        while len(_MARKS.sub("", held)) > LONGEST:
            cut = _cut(held)
            yield held[:cut].rstrip()
            held = held[cut:].lstrip()
    if held:
        yield held


def _joined(held: str, sentence: str) -> str:
    if not held:
        return sentence.removeprefix(_ITEM)
    last = _MARKS.sub("", held)[-1:]
    apart = " \u00b7 " if sentence.startswith(_ITEM) and last not in _STOPS else "" if last in _DENSE_STOPS else " "
    return f"{held}{apart}{sentence.removeprefix(_ITEM)}"


def _cut(text: str) -> int:
    """Where a text that is too long is cut: behind the last word that fits, or in a word of that length."""
    shown, end = 0, 0
    for at, sign in enumerate(text):
        shown += sign not in (_LINK, _END, _ITEM)
        if shown > LONGEST:
            break
        if sign in _BREAKS and shown > LONGEST // 2:
            end = at + 1
    return end or at


def _is_telling(passage: str) -> bool:
    shown, unlinked = _MARKS.sub("", passage), _LINKED.sub(" ", passage)
    length = len(shown) + len(_DENSE.findall(shown))
    letters = sum(sign.isalpha() or sign == " " for sign in shown)
    return (
        length >= SHORTEST
        and _words(shown) >= LEAST_WORDS
        and _words(unlinked) >= _words(shown) / 2
        and letters >= LEAST_LETTERS * len(shown)
    )


def _words(text: str) -> float:
    """Words of two letters and more; of a language without spaces two characters count as one."""
    return len(_WORD.findall(_DENSE.sub(" ", text))) + len(_DENSE.findall(text)) / 2
