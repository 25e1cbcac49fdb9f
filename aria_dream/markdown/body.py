"""What a body holds beside its links: tags, block ids, comments, headings' texts, words of prose.

Tags are `#word` in a body, and the texts of the property `tags`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aria_dream.markdown.no_words import field_labels, no_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aria_dream.markdown.zones import Wikilink, Zones

_NOT_IN_TAG = r"\s'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\u2000-\u206f\u2e00-\u2e7f"

TAG: Final = re.compile(rf"#(?<![^\s]#)([^{_NOT_IN_TAG}]+)")
"""A tag in a body, at a line's start or after white space. `is_tag` has the last word."""

_WHOLE = re.compile(rf"[^{_NOT_IN_TAG}]+")


def is_tag(name: str) -> bool:
    """Whether `name` (without `#`) may be a tag: none of the forbidden characters, and at least one non-digit."""
    if name.isascii() and name.isalpha():
        return True
    return _WHOLE.fullmatch(name) is not None and not name.isdecimal() and name.strip("/") != ""


def property_tags(text: str) -> list[str]:
    """The tag names in one text of the property `tags`: a leading `#` dropped, commas separate."""
    if "," not in text:
        return [text.strip().removeprefix("#")]
    return [name.strip().removeprefix("#") for name in text.split(",")]


WORDS_COUNTED: Final = 100
"""Words of a note are counted up to here: what asks for them asks whether a note is more than a few lines."""

_SURELY_ENOUGH: Final = 1500
"""Characters that nearly always hold more than `WORDS_COUNTED` words, with some code among them."""

_BLOCK_ID = re.compile(r"\^(?<![^\s]\^)[A-Za-z0-9\-]+(?=[ \t]*(?:\r?\n|\Z))")
_ATX = re.compile(r"#{1,6}(?=[ \t]|$)")
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_UNDERLINE = re.compile(r"[\r\n]+[ \t>]*(?:=+|-+)[ \t]*$")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def find_tags(body: str, zones: Zones, wikilinks: list[Wikilink]) -> list[str]:
    """The tags of a body without `#`, in order, outside code, math, HTML and links."""
    if "#" not in body:
        return []
    return tags_outside(
        body, sorted(zones.opaque + [link[:2] for link in zones.links] + [link[:2] for link in wikilinks])
    )


def tags_outside(body: str, spans: list[tuple[int, int]]) -> list[str]:
    """The tags of a body, in order, that begin in none of the sorted `spans`."""
    tags: list[str] = []
    at = covered = 0
    for match in TAG.finditer(body):
        start = match.start()
        while at < len(spans) and spans[at][0] <= start:
            covered = max(covered, spans[at][1])
            at += 1
        if start >= covered and is_tag(match[1]):
            tags.append(match[1])
    return tags


def find_block_ids(body: str, opaque: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans of `^name` at a line's end, after white space or alone on the line, outside code, math and HTML."""
    at = 0
    for match in _BLOCK_ID.finditer(body):
        start, end = match.span()
        while at < len(opaque) and opaque[at][1] <= start:
            at += 1
        if at == len(opaque) or opaque[at][0] > start:
            yield start, end


def find_comments(body: str, opaque: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans of `%% … %%`. A `%%` in code opens and closes nothing; one alone on its line that is never closed hides
    the rest of the note, any other lone one is text."""
    found: list[tuple[int, int]] = []
    at = 0
    opened = -1
    position = body.find("%%")
    while position >= 0:
        while at < len(opaque) and opaque[at][1] <= position:
            at += 1
        if at < len(opaque) and opaque[at][0] <= position:
            position = body.find("%%", opaque[at][1])
            continue
        if opened < 0:
            opened = position
        else:
            found.append((opened, position + 2))
            opened = -1
        position = body.find("%%", position + 2)
    if opened >= 0:
        line_start = body.rfind("\n", 0, opened) + 1
        line_end = body.find("\n", opened)
        if body[line_start : line_end if line_end >= 0 else len(body)].strip() == "%%":
            found.append((opened, len(body)))
    return found


def hidden_spans(body: str, opaque: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Where a body is no prose: `opaque` and the comments, sorted and disjoint."""
    # A search for two characters costs ten times one for a single one.
    comments = find_comments(body, opaque) if "%" in body and "%%" in body else []
    return join_spans(opaque + comments) if comments else opaque


def join_spans(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same places as sorted, disjoint spans."""
    result: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if result and start < result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        elif start < end:
            result.append((start, end))
    return result


def heading_text(written: str) -> str:
    """The raw text of a heading, without its marks: `## A #` and an underlined `A` are both `A`."""
    marks = _ATX.match(written)
    if marks:
        return _CLOSING_MARKS.sub("", written[marks.end() :]).strip()
    return _UNDERLINE.sub("", written).strip()


def count_prose(body: str, opaque: list[tuple[int, int]]) -> int:
    """`count_words` outside `opaque`, comments and what holds no words."""
    # A beginning has no more words than the whole; most often it has enough.
    head = body[:_SURELY_ENOUGH]
    if "%%" not in head:
        # so many words that some names of fields among them do not matter
        known = [span for span in opaque if span[0] < _SURELY_ENOUGH] + no_words(head, labels=False)
        words = count_words(head, join_spans(known))
        if words == WORDS_COUNTED:
            return words
        if len(head) == len(body):
            labels = list(field_labels(body))
            return count_words(body, join_spans(known + labels)) if labels else words
    return count_words(body, without_words(body, hidden_spans(body, opaque)))


def without_words(body: str, opaque: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Where a body holds no words, sorted and disjoint: `opaque`, and what `no_words` finds."""
    more = no_words(body)
    return join_spans(opaque + more) if more else opaque


def count_words(body: str, opaque: list[tuple[int, int]]) -> int:
    """Words of prose outside `opaque`, at most `WORDS_COUNTED`. What has no letter or digit is no word; where words
    are not spaced (Chinese, Japanese, Thai …) two characters count as one."""
    words: list[str] = []
    at = 0
    for start, end in (*opaque, (len(body), len(body))):
        words += body[at:start].split(None, WORDS_COUNTED)
        at = end
        if len(words) > WORDS_COUNTED:
            return WORDS_COUNTED
    count = sum(1 for word in words if word.isalpha() or any(map(str.isalnum, word)))
    if not body.isascii():
        count += sum(len(_UNSPACED.findall(word)) // 2 for word in words if not word.isascii())
    return min(count, WORDS_COUNTED)
