"""What a secret looks like by itself, and secrets in what hangs together over several lines. Pure.

Digests, UUIDs and slugs only look like secrets. Lines hang together in the columns of a table, and below a word."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from aria_dream.privacy.secret_words import ACCOUNT, HASH, HINT, LOGIN, NET, PIN, SECRET, TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Span = tuple[int, int]
    Line = tuple[int, str]
    """Where it begins, and its text without its end."""

ADDRESS: Final = re.compile(r"\b(?:https?://|www\.|doi:\s?|10\.\d{4,9}/)[^\s<>\"'`]+", re.IGNORECASE)
"""Web addresses and DOIs: long, and full of numbers that are nobody's."""
UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HEX: Final = re.compile(r"[0-9a-fA-F]+")
_DIGESTS: Final = frozenset({32, 40, 48, 56, 64, 96, 128})
"""Lengths of digests in hexadecimal digits, from MD5 to SHA-512."""
_INTEGRITY: Final = re.compile(r"(?:sha\d{1,3}|md5)[-:]", re.IGNORECASE)
_GROUPS: Final = re.compile(r"(?:[A-Za-z0-9]{4,6}-){3,12}[A-Za-z0-9]{4,6}")
"""As a program prints a key for a person to type."""
_WORD: Final = re.compile(
    r"[A-Za-z]?[a-z]*\d{0,4}|[A-Z]+|\d{1,8}|[A-Za-z0-9]{1,5}|[a-z]*(?:[A-Z]+[a-z]{2,})+[A-Z]{0,4}\d{0,4}"
)
"""A part of a slug, a file name or an identifier, as people write them."""


def looks_made(value: str) -> bool:
    """Whether a word is none of a language: digits in it, a mark or a capital inside."""
    value = value.strip("\"'`*_.,;:!?()")
    if len(value) < 4 or re.fullmatch(r"\d{4}-\d\d-\d\d.*|[\d.,]+\s?%?|\[\[.*|.*[()\[\]{}].*|https?:.*", value):
        return value.isdigit() and 4 <= len(value) <= 12
    return is_mixed(value) or bool(re.search(r"[!#$%&*@+^~?=]|[^\W\d_][a-z]+[A-Z]", value) and not value.isupper())


def is_hash(text: str) -> bool:
    """Whether it has the shape of what a content or a thing is called by: a digest, a commit, a UUID."""
    return bool(UUID.fullmatch(text) or (len(text) in _DIGESTS and _HEX.fullmatch(text)) or _INTEGRITY.match(text))


def is_mixed(value: str) -> bool:
    return bool(re.search(r"\d", value) and re.search(r"[^\W\d_]", value))


def is_random(value: str, name: str) -> bool:
    """Whether the value of a name is drawn by lot and no hash, id or version by its name or shape."""
    if UUID.fullmatch(value) or re.search(HASH, name, re.IGNORECASE) or re.match(r"sha\d|md5", value):
        return False
    if _HEX.fullmatch(value) and value in (value.lower(), value.upper()):
        return len(value) >= 24 and is_disordered(value)
    groups = value.split("-") if _GROUPS.fullmatch(value) else []
    if sum(map(is_mixed, groups)) >= 2:
        return True
    if re.search(r"\d", value):
        return is_disordered(value, bits=3.2)
    turns = sum(one.islower() != other.islower() for one, other in pairwise(value))
    return value.isalpha() and len(value) >= 20 and turns / len(value) > 0.35


def is_disordered(text: str, bits: float = 3.5) -> bool:
    """True for what looks drawn by lot: letters and digits mixed, and more than `bits` a character (hex: 3).

    False for words and numbers in a row, however they are joined: slugs, paths, identifiers.
    """
    if not (re.search(r"\d", text) and re.search(r"[A-Za-z]", text)):
        return False
    if all(map(_WORD.fullmatch, re.split(r"[-_/+=~.]", text))):
        return False
    entropy = -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())
    return entropy > (3.0 if _HEX.fullmatch(text) else bits)


_HEAD_SECRET: Final = re.compile(SECRET, re.IGNORECASE)
_HEAD_PIN: Final = re.compile(PIN, re.IGNORECASE)
_HEAD_TOKEN: Final = re.compile(rf"\W*{TOKEN}\W*", re.IGNORECASE)
_HEAD_KEY: Final = re.compile(
    r"\W*(?:key|pass|code|schlüssel|clé|clave|chave|chiave|sleutel|klucz|ключ|キー|密钥)\W*", re.IGNORECASE
)
_HEAD_OF: Final = re.compile(
    rf"{NET}|{ACCOUNT}|{LOGIN}|network|netzwerk|réseau|\bred\b|\brede\b|\brete\b|netwerk|sieć|сеть|网络", re.IGNORECASE
)
"""Beside a column so headed one of keys holds secrets."""
_RULE: Final = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")


def places_in_tables(text: str, lines: Sequence[Line]) -> Iterator[Span]:
    """The cells of columns that are headed by such a word, and the cell right of one that is such a word."""
    columns: dict[int, str] = {}
    for number, (at, line) in enumerate(lines if "|" in text else ()):
        if "|" not in line:
            columns = {}
            continue
        below = next((other for _, other in lines[number + 1 : number + 3] if other), "")
        cells = _cells(at, line)
        if "|" in below and "-" in below and _RULE.fullmatch(below):
            heads = [text[start:end] for start, end in cells]
            of_accounts = any(map(_HEAD_OF.search, heads))
            columns = {
                place: kind for place, head in enumerate(heads) if (kind := _heads(head, of_accounts=of_accounts))
            }
            continue
        if _RULE.fullmatch(line):
            continue
        for place, (start, end) in enumerate(cells):
            before = text[slice(*cells[place - 1])].strip("*_`: ") if place else ""
            kind = columns.get(place, "") or ("made" if before and _HEAD_SECRET.fullmatch(before) else "")
            if kind and _fits(kind, text[start:end]):
                yield start, end


def _cells(at: int, line: str) -> list[Span]:
    """Where the text of each cell stands, without blanks and quotes."""
    stripped = line.rstrip()
    start = len(stripped) - len(stripped.lstrip(" \t>"))
    start += stripped.startswith("|", start)
    cells = []
    for part in _split_cells(stripped[start:].removesuffix("|")):
        lead = len(part) - len(part.lstrip(" \t`*\"'"))
        cells.append((at + start + lead, at + start + max(lead, len(part.rstrip(" \t`*\"'")))))
        start += len(part) + 1
    return cells


def _split_cells(row: str) -> list[str]:
    return re.split(r"(?<!\\)\|(?![^\[\]]{0,200}\]\])", row)


def _heads(cell: str, *, of_accounts: bool) -> str:
    """What the cells of a column so headed hold: `all` secrets, `digits`, or only what looks `made`; `""` else."""
    if len(cell.split()) > 4:
        return ""
    if _HEAD_SECRET.search(cell):
        return "all"
    if of_accounts and _HEAD_KEY.fullmatch(cell):
        return "made"
    return "digits" if _HEAD_PIN.search(cell) else "made" if _HEAD_TOKEN.fullmatch(cell) else ""


def _fits(kind: str, cell: str) -> bool:
    if kind == "digits":
        return re.fullmatch(r"[\d -]{4,12}", cell) is not None
    if kind == "made":
        return looks_made(cell) and len(cell.split()) == 1
    return len(cell) >= 3 and not cell.startswith(("[[", "![["))


_PARENT: Final = re.compile(
    r"(?P<indent>[ \t>]*)"
    r"(?P<mark>(?:[-*+][ \t]+(?:\[.\][ \t]+)?|#{1,6}[ \t]+|\[!\w+\][+-]?[ \t]*|\d{1,3}[.)][ \t]+)?)"
    rf"[*_\"']{{0,3}}(?:[\w-]{{1,24}}[ \t]){{0,2}}(?:{SECRET}|(?P<weak>{PIN}|{TOKEN}))[*_\"']{{0,3}}[ \t]?"
    r"(?:\([^()]{1,24}\))?(?P<to>[:：]{0,2})[*_]{0,3}[ \t]*[|>]?[+-]?[ \t]*",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(
    r"(?P<indent>[ \t>]*)(?P<mark>(?:[-*+:][ \t]+|\d{1,3}[.)][ \t]+)?)(?:\[.\][ \t]+)?"
    r"(?P<label>[^:：=\n]{1,60}?(?:::?|：|=|[ \t][-–—]|→)[ \t]+|[^\s:=]{1,60}[:=](?=\S))?(?P<value>[^\n]*)"
)


def places_below_words(lines: Sequence[Line]) -> Iterator[Span]:
    """What hangs below an item, a YAML key or a heading that is such a word."""
    parent: re.Match[str] | None = None
    for at, line in lines:
        if not line.strip(" \t>"):
            if parent is not None and parent["mark"].startswith(tuple("-*+")):
                parent = None
            continue
        found = _PARENT.fullmatch(line) if len(line) < 120 and HINT.search(line) else None
        item = _ITEM.fullmatch(line)
        if found is not None and (found["mark"] or found["to"] or parent is None):
            parent = found
        elif parent is not None and item is not None and _hangs_below(parent, item):
            yield from _hanging(parent, item, at)
        else:
            parent = None


def _hangs_below(parent: re.Match[str], item: re.Match[str]) -> bool:
    deeper = len(item["indent"].expandtabs(4)) > len(parent["indent"].expandtabs(4))
    if parent["mark"].startswith("[!"):
        return ">" in item["indent"]
    if parent["mark"] and not parent["mark"].startswith("#"):
        return deeper
    return bool(item["mark"]) or (deeper and not parent["mark"]) or len(item[0].split()) <= 2


def _hanging(parent: re.Match[str], item: re.Match[str], at: int) -> Iterator[Span]:
    value = item["value"].strip()
    single = len(value.split()) == 1
    bare = value.strip("\"'`*“”„«»")
    quoted = bare != value
    if not value or value.startswith(("[[", "![[", "http")):
        return
    if parent["weak"]:
        keep = not ((single or quoted) and looks_made(bare))
    elif item["label"]:
        keep = not (quoted or looks_made(bare) or single or not re.search(r"[.!?]$", value))
    else:
        keep = not (quoted or single or (looks_made(bare.split()[0]) and len(value.split()) <= 3))
    if not keep:
        start = at + item.start("value") + item["value"].find(bare)
        yield start, start + len(bare)
