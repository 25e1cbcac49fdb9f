"""Where a text holds letters that nobody wrote as words: what was pasted, computed, or filled into a form.

Pasted data (`data:` URIs), images, addresses, reference definitions, hashes, long random strings and the labels of
fields are words for no reader, so none of the tiers may hold two notes together by them. Code, math, HTML and comments
are known from `parse_note`; this is the rest, and every tier asks here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

Ranges = list[tuple[int, int]]

_DATA: Final = re.compile(
    r"(?<![\w-])data:(?:[\w.+*-]{1,60}/[\w.+*-]{1,80})?(?:;[\w.+-]{1,60}(?:=[^;,\s\"'()]{0,80})?){0,8}+,(?=\S)",
    re.IGNORECASE,
)
_PAYLOAD: Final = re.compile(r"[^\s()\"'<>]*+(?:\([^\s()]*+\)[^\s()\"'<>]*+)*+")
_BASE64: Final = re.compile(r"[ \t]?[A-Za-z0-9+/=_%-]*+(?:\s{1,8}[A-Za-z0-9+/=_%-]{40,}+)*+")
_LONGEST_LABEL: Final = 320
_BEFORE_DATA: Final = re.compile(r"!?\[[^\[\]\n]{0,300}\]\([ \t]*<?$")
_BEHIND_ADDRESS: Final = re.compile(r">?(?:[ \t]+(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'))?[ \t]*\)")
_IMAGE: Final = re.compile(
    r"!\[[^\[\]\n]{0,1000}\](?:\((?:<[^<>\n]*+>|[^\s()]*+(?:\([^\s()]*+\)[^\s()]*+)*+)"
    r"(?:[ \t]+(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'))?[ \t]*\)|\[[^\[\]\n]{0,300}\])"
)
_DEFINITION: Final = re.compile(
    r"^[ \t>]*\[(?!\^)[^\[\]\n]{1,300}\]:[ \t]*<?(?:[A-Za-z][\w+.-]*:|www\.)[^\s<>]++>?"
    r"(?:[ \t]+[\"'(][^\n]*)?[ \t]*\r?$",
    re.MULTILINE,
)
"""Of an address; one of a note names it."""
_MARK: Final = re.compile(r"\[\^[^\[\]\s]{1,80}\]:?|\[![\w-]{1,40}\][+-]?")
"""The number of a footnote, the kind of a callout."""
_BLOCK_ID: Final = re.compile(r"\^(?<!\S\^)[A-Za-z0-9-]++[ \t]*\r?$", re.MULTILINE)
_STOP: Final = "\\s<>\"'\u201c\u201d|\u3000-\u303f\uff00-\uff0f\uff1a-\uff20"
_REST: Final = (
    rf"[^{_STOP}()\[\]]*+(?:[(\[][^{_STOP}()\[\]]*+[)\]][^{_STOP}()\[\]]*+)*+(?:>?[ \t]+\"[^\"\n]{{0,300}}\"(?=\)))?"
)
_ADDRESSES: Final = (
    ("://", re.compile(rf"://{_REST}"), re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}$")),
    ("@", re.compile(r"@[\w-]{1,64}(?:\.[\w-]{1,64})+"), re.compile(r"[\w.+-]{1,64}$")),
    ("www.", re.compile(rf"www\.(?=\w){_REST}"), None),
    ("mailto:", re.compile(rf"mailto:{_REST}"), None),
    ("10.", re.compile(rf"10\.\d{{4,9}}/[^{_STOP})\]]++"), None),
)
"""A sign of an address, the address from there on, and what stands before the sign: of any scheme, of mail, of papers
(DOI)."""
_HASH: Final = re.compile(r"(?<![\w-])(?:0x)?[0-9a-fA-F]{7,128}(?:-[0-9a-fA-F]{4,12}){0,4}+(?![\w-])")
_MIXED: Final = re.compile(r"[0-9](?:(?=[A-Za-z])|(?<=[A-Za-z][0-9]))")
"""Begins with one set of characters, which the engine looks for four times as fast as for the two pairs."""
_SHORTEST_HASH: Final = 7
_SOLID: Final = re.compile(r"\S*")
_LONG: Final = re.compile(r"[A-Za-z0-9+/=_-]{16,}")
_LOOKED_BACK: Final = 200
_TURN: Final = re.compile(r"[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])")
_PIECE: Final = re.compile(r"[A-Za-z0-9]{49,}")
_TURNS_PER_LETTER: Final = 0.2
"""Random letters and digits turn from one kind to another at two places of five, names in a program at one of eight."""
_LABEL: Final = re.compile(
    r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:\[.\][ \t]+)?"
    r"(?P<label>[*_]{0,3}[^\W\d_][^:\uff1a\n*_\[\](){}<>|#.!?,;\"\u201c\u201d`]{0,30}[*_]{0,3}"
    r"(?:\uff1a|:(?=[*_ \t]|$))[*_]{0,3})(?P<value>.*)$"
)
_FIELD: Final = re.compile(
    r"(?:^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:\[.\][ \t]+)?|[(\[])(?P<label>[^:\n\[\]()|]{1,80}::)(?=\s|$)"
)
_FILLED_IN: Final = re.compile(r"!?\[\[[^\[\]]*\]\]|!?\[[^\[\]]*\]\([^()]*\)|#[^\s#]+|\S+://\S+|[\W\d_]+")
_LABEL_WORDS: Final = 3


def no_words(text: str, *, labels: bool = True) -> Ranges:
    """Where `text` holds no words; sorted, half-open, they may overlap. Total, and near linear. `labels`: those of
    fields, too."""
    found: Ranges = []
    if "ata:" in text or "DATA:" in text:
        found += _data(text)
    if "![" in text:
        found += _spans(_IMAGE, text)
    if "]:" in text:
        found += _spans(_DEFINITION, text)
    if "[^" in text or "[!" in text:
        found += _spans(_MARK, text)
    if "^" in text:
        found += _spans(_BLOCK_ID, text)
    found += _addresses(text)
    found += (span for span, _ in _computed(text))
    if labels:
        found += field_labels(text)
    found.sort()
    return found


def _spans(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in pattern.finditer(text))


def _addresses(text: str) -> Iterator[tuple[int, int]]:
    for sign, address, before in _ADDRESSES:
        if sign in text:
            for match in address.finditer(text):
                start = match.start()
                head = None if before is None else before.search(text, max(0, start - 64), start)
                if head is not None or before is None:
                    yield (start if head is None else head.start()), match.end()


def _computed(text: str) -> Iterator[tuple[tuple[int, int], bool]]:
    """Hashes and long random strings, in which letters stand beside digits: where, and whether it is a hash."""
    behind = 0
    for match in _MIXED.finditer(text):
        at = match.start()
        if at < behind:
            continue
        since = max(behind, at - _LOOKED_BACK)
        start = max(text.rfind(" ", since, at) + 1, text.rfind("\n", since, at) + 1, since)
        behind = _SOLID.match(text, at).end()  # type: ignore[union-attr]  # it matches the empty text
        if behind - start < _SHORTEST_HASH:
            continue
        yield from ((one.span(), True) for one in _HASH.finditer(text, start, behind) if _is_hash(one[0]))
        yield from ((one.span(), False) for one in _LONG.finditer(text, start, behind) if is_random(one[0]))


def _is_hash(token: str) -> bool:
    """Whether it has digits and letters, as `decade` and `1990000` have not."""
    return not (token.isalpha() or token.isdigit())


def find_pasted(text: str, *, random: bool = True) -> Ranges:
    """Where `text` holds data that no reader reads: `data:` URIs, and long random strings but no hashes. Sorted, they
    may overlap."""
    found = list(_data(text)) if "ata:" in text or "DATA:" in text else []
    if not random:
        return found
    computed = list(_computed(text))
    hashes = {span for span, is_hash in computed if is_hash}
    return sorted(found + [span for span, is_hash in computed if not is_hash and span not in hashes])


def is_random(token: str) -> bool:
    """Whether a run of ASCII letters, digits and `+/=_-` is a key, a token or encoded data, and no name."""
    return bool(_PIECE.search(token)) or len(_TURN.findall(token)) >= _TURNS_PER_LETTER * len(token)


def _data(text: str) -> Iterator[tuple[int, int]]:
    """Data URIs, each with the image or link that it stands in."""
    at = 0
    while match := _DATA.search(text, at):
        start, at = match.span()
        quote = text[start - 1 : start]
        closed = text.find(quote, at) if quote in ("'", '"') else -1
        if closed >= 0 and "\n\n" not in text[at:closed]:
            at = closed
        elif ";base64" in match[0].lower():
            at = _BASE64.match(text, at).end()  # type: ignore[union-attr]  # it matches the empty text
        else:
            drawn = text.find("</svg>", at) if text.startswith(("<", "%3C", "%3c"), at) else -1
            at = drawn + 6 if drawn >= 0 else _PAYLOAD.match(text, at).end()  # type: ignore[union-attr]  # as above
        before = _BEFORE_DATA.search(text, max(0, start - _LONGEST_LABEL), start)
        behind = _BEHIND_ADDRESS.match(text, at)
        if before is not None and behind is not None:
            yield (before.start() if text[before.start()] == "!" else text.index("](", before.start())), behind.end()
        else:
            yield start, at


def field_labels(text: str) -> Iterator[tuple[int, int]]:
    """The names of fields: `Name::` wherever it stands, `Name:` before what is filled in (links, tags, dates, numbers),
    and all such names of lines one below the other, where one of them is filled in so."""
    plain = text.replace("\uff1a", ":") if "\uff1a" in text else text
    group: Ranges = []
    filled, behind = False, -1
    at = plain.find(":")
    while at >= 0:
        start, end = plain.rfind("\n", 0, at) + 1, plain.find("\n", at)
        end = len(plain) if end < 0 else end
        line = text[start:end].rstrip("\r")
        at = plain.find(":", end)
        if "::" in line:
            yield from ((start + m.start("label"), start + m.end("label")) for m in _FIELD.finditer(line))
        label = _LABEL.match(line)
        if start != behind:
            yield from group if filled else ()
            group, filled = [], False
        if label is None or len(label["label"].split()) > _LABEL_WORDS:
            continue
        group.append((start + label.start("label"), start + label.end("label")))
        value = label["value"].strip()
        filled = filled or (bool(value) and not _FILLED_IN.sub("", value))
        behind = end + 1
    yield from group if filled else ()
