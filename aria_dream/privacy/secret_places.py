"""Where a text holds a secret by the place it stands in: beside a word that says so, or right of `=`. Pure.

Notations: `word: x`, `word = x`, `word:: x` (inline fields, in brackets too), `"word": "x"`, `<word>x<`, sentences, a
column of a table, the items below a list item, a YAML key or a heading that is such a word, `name / x` behind a login.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aria_dream.privacy.secret_blocks import (
    ADDRESS,
    is_mixed,
    is_random,
    looks_made,
    places_below_words,
    places_in_tables,
)
from aria_dream.privacy.secret_words import ACCOUNT, HINT, IS, LOGIN, NET, NO_VALUE, PHRASE, PIN, SECRET, TOKEN
from aria_dream.words import LANGUAGES, language_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int]

_QUOTED: Final = (
    r"\"[^\"\n]{1,512}\"|'[^'\n]{1,512}'|`[^`\n]{1,512}`|“[^”“\n]{1,512}[”“]|„[^“”\n]{1,512}[“”]|«[^»\n]{1,512}»|"
    r"»[^«\n]{1,512}«|‘[^’\n]{1,512}’|‚[^‘’\n]{1,512}[‘’]|「[^」\n]{1,512}」|『[^』\n]{1,512}』|‹[^›\n]{1,512}›"
)
_MARKS: Final = r"[\"'`*_]{0,3}"
_TO: Final = r"[ \t]{0,3}(?:::|:(?!:)|=>|=(?!=)|：|＝|→|>(?=[^\s>]))"
_VALUE: Final = rf"(?P<quoted>{_QUOTED})|(?P<bare>[^\s\"'`,;<>|]{{3,512}})"
_QUALIFIER: Final = r"(?:[^\W\d_]{1,2}['’])?[^\W\d_]{1,14}(?:[.'’]|['’]s)?(?:-[^\W\d_]{1,14})?"
_QUALIFIED: Final = rf"(?:[ \t]{{1,2}}(?![:=/]){_QUALIFIER}){{1,4}}"
"""A few words between the word and its mark: `of the card`, `für den Router`."""


def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


_NAMED: Final = _compiled(
    rf"{SECRET}{_MARKS}(?:[ ]?[(（][^()（）\n]{{1,24}}[)）])?\)?{_MARKS}"
    rf"(?:{_TO}|[ ]value=|[ \t]{{0,2}}(?P<verb>{IS}))[ \t]{{0,3}}\*{{0,3}}[ \t]?(?:{_VALUE})"
)
_FAR: Final = _compiled(
    rf"{SECRET}(?:{_QUALIFIED})(?:{_TO}|[ \t](?:{IS}|[-–—]))[ \t]{{0,3}}\*{{0,3}}(?:{_VALUE})"
)
_WORDS: Final = _compiled(
    rf"{PHRASE}[ \t](?:{IS})[ \t](?P<bare>[^\W\d_]{{2,12}}(?:[ -][^\W\d_]{{2,12}}){{3,23}})[.!]?[ \t]*$"
)
_DRAWN: Final = _compiled(rf"{TOKEN}[ \t](?P<bare>[A-Za-z0-9+/_-]{{12,512}}={{0,2}})(?![\w-])")
_BESIDE: Final = _compiled(
    rf"(?:{SECRET}(?:['’]s)?[ \t]{{1,2}}(?:[-–—➜][ \t])?|{NET}{_TO}[ \t]{{0,3}}(?!\d+\b))(?:{_VALUE})"
)
_NET_KEY: Final = _compiled(
    rf"{NET}[^\n]{{0,40}}?[ \t,;](?:key|pass|pw|code|schlüssel|clé|clave|chave|chiave|sleutel|klucz|ключ)"
    rf"(?:{_TO}|[ \t])[ \t]{{0,3}}(?:{_VALUE})"
)
_TOKENS: Final = _compiled(
    rf"{TOKEN}{_MARKS}(?:{_TO}|[ \t](?:{IS}))[ \t]{{0,3}}\*{{0,3}}"
    rf"(?:(?:bearer|basic|token)[ \t])?(?!(?:bearer|basic|token)[ \t])(?:{_VALUE})(?P<rest>[^\n]?[^\n]?)"
)
_PINS: Final = _compiled(
    rf"{PIN}{_MARKS}(?P<far>(?:[ \t]{{1,2}}\(?{_QUALIFIER}\)?){{0,4}}?)"
    rf"(?P<to>(?:{_TO}|[ \t]{{0,2}}(?:{IS})|[ \t][-–—]|['’]s)?)[ \t]{{0,3}}{_MARKS}[ \t]?"
    r"(?P<bare>\d[\d -]{1,10}\d(?![\w.,]?\d)|(?=[\da-z]{4,6}(?!\w))[a-z]{0,2}\d+[a-z]{0,2}\d*)"
)
_FIELD: Final = _compiled(
    rf"(?P<open>[(\[]?)[ \t]?{_MARKS}"
    rf"(?:{SECRET}|{PIN}){_MARKS}[ \t]{{0,2}}::{_MARKS}[ \t]{{0,3}}(?P<bare>[^\n\r]{{1,512}})"
)
_LINE: Final = _compiled(
    rf"^[ \t>]{{0,12}}(?:[-*+][ \t]|\d{{1,3}}[.)][ \t])?{_MARKS}{SECRET}{_MARKS}{_TO}{_MARKS}"
    r"[ \t]{0,3}(?P<bare>[^\n\r]{3,200})$"
)
_PAIR: Final = _compiled(
    rf"(?:(?P<login>{LOGIN})|{ACCOUNT}){_MARKS}(?:{_TO}|[ \t][-–][ \t]){_MARKS}"
    rf"[ \t]{{0,3}}[^\n/|,:;]{{1,64}}?[ \t]{{0,2}}"
    rf"(?P<stroke>[/,:|])(?!/)[ \t]{{0,2}}(?P<bare>[^\s/|]{{4,64}})(?=[ \t]{{0,3}}(?:$|[\n\r,;.|)]))"
)
_COMMANDS: Final = re.compile(
    r"\bcurl\b[^\n]{0,200}?(?:-u|--user)[ =][\"']?[^\s:\"']{1,64}:(?P<a>[^\s\"']{1,128})"
    r"|\b(?:mysql|mariadb|mysqldump|sshpass|mongo|mongosh)\b[^\n]{0,200}?"
    r"[ \t]-p[ ]?[\"']?(?P<b>[^\s\"'-][^\s\"']{2,128})"
    r"|--(?:password|passphrase|token|secret)[ =][\"']?(?P<c>[^\s\"']{4,128})"
    r"|\bWIFI:[^\n]{0,200}?\bP:(?P<d>(?:\\.|[^;\n\\]){1,64});"
    r"|[?&#](?:sig|signature|token|key|secret|access_token|auth|apikey|api_key|x-amz-signature|password|pwd|code)="
    r"(?P<e>[^\s&#\"'<>)\]]{8,1024})"
)
_ASSIGNED: Final = re.compile(
    r"(?P<name>[A-Za-z_][\w.:-]{0,64})[\"'`]?[ \t]{0,2}(?:(?<![=!<>])=(?![=>~])|::)[ \t]{0,2}[\"'`“]?"
    r"(?P<bare>[A-Za-z0-9+/_~.-]{16,1024}={0,2})(?![\w(])"
)

_FLOW: Final = _compiled(
    rf"(?:{SECRET}|{TOKEN}){_MARKS}{_TO}[ \t]{{0,3}}"
    r"(?:\[(?!\[)(?P<a>[^\[\]\n]{3,512})\]|\{(?P<b>[^{}\n]{3,512})\})"
)


def places_of_secrets(text: str) -> list[Span]:
    """Where secrets stand in `text`, as positions from and to, in order and apart."""
    lines = _lines(text)
    hinted = [bool(HINT.search(line)) for _, line in lines]
    found = list(_right_of_equals(text)) if "=" in text or "::" in text else []
    if any(hinted):
        told = (one for one, hint in zip(lines, hinted, strict=True) if hint)
        found += [(at + start, at + end) for at, line in told for start, end in _in_line(line)]
        found += [*places_in_tables(text, lines), *places_below_words(lines)]
    spans: list[Span] = []
    for start, end in sorted(span for span in found if span[0] < span[1]):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _in_line(line: str) -> Iterator[Span]:
    for match in _NAMED.finditer(line):
        if match["verb"] is None or match["quoted"] or _is_said(match):
            yield from _value(match)
    for expression in (_FAR, _BESIDE, _NET_KEY):
        for match in expression.finditer(line):
            yield from (span for span in _value(match) if looks_made(line[slice(*span)]))
    yield from (match.span("bare") for match in _WORDS.finditer(line) if _are_drawn(match["bare"].lower()))
    yield from (match.span("bare") for match in _DRAWN.finditer(line) if is_random(match["bare"], ""))
    for match in _TOKENS.finditer(line):
        yield from (span for span in _value(match) if _is_token(match, line[slice(*span)]))
    yield from (match.span("bare") for match in _PINS.finditer(line) if _is_pin(match))
    yield from (match.span("bare") for match in _PAIR.finditer(line) if _is_login(match))
    yield from filter(None, map(_field, _FIELD.finditer(line)))
    for match in _LINE.finditer(line):
        if not re.search(r"[.!?…:;,]$|\[\[|://|\|", match["bare"].rstrip()):
            yield match.span("bare")
    for match in (*_COMMANDS.finditer(line), *_FLOW.finditer(line)):
        yield match.span(match.lastgroup or 0)


def _are_drawn(phrase: str) -> bool:
    """Whether the words are a secret in a row, and no sentence about one: it has small words."""
    words = re.split("[ -]", phrase)
    known = [language_words(code) for code in LANGUAGES]
    if any(words[0] in each.function or not each.short.isdisjoint(words) for each in known):
        return False
    return words[0] not in NO_VALUE or all(each.function.isdisjoint(words) for each in known)


def _is_token(match: re.Match[str], value: str) -> bool:
    """Whether the value of a token stands alone or is plainly made up; a count of tokens is none."""
    if re.search(r"[()\[\]{}]", value) or (value.isdigit() and "token" in match[0].lower()):
        return False
    stands_alone = match["quoted"] is not None or not re.match(r"[ \t][^\W\d_]", match["rest"])
    return stands_alone or (len(value) >= 8 and is_mixed(value))


def _is_pin(match: re.Match[str]) -> bool:
    digits, is_told = re.sub(r"\D", "", match["bare"]), bool(match["to"].strip("-–— \t"))
    is_year = re.fullmatch(r"(?:19|20)\d\d", digits) is not None
    if not is_told and ((match["far"] and match[0].startswith("pin")) or ((match["far"] or match["to"]) and is_year)):
        return False
    if not match["bare"].replace("-", "").replace(" ", "").isdigit():
        return is_told and match["bare"] == match["bare"].upper()
    least, most = (3, 4) if re.match(r"cv|(?:karten)?prüf", match[0], re.IGNORECASE) else (4, 10)
    return least <= len(digits) <= most


def _is_login(match: re.Match[str]) -> bool:
    if match["login"] and match["stroke"] == "/" and match["bare"].isalpha():
        return True
    return looks_made(match["bare"]) and not match["bare"].isdigit()


def _field(match: re.Match[str]) -> Span | None:
    """The value of an inline field; None where it is a link."""
    start, end = match.span("bare")
    if match["open"]:
        closing = match["bare"].find(")" if match["open"] == "(" else "]")
        end = start + closing if closing >= 0 else end
    return None if match.string.startswith("[[", start) else (start, end)


def _value(match: re.Match[str]) -> Iterator[Span]:
    """The value without its quotes and what ends the sentence; none where it is a link, a call or too short."""
    if match["quoted"] is not None:
        start, end = match.span("quoted")
        yield start + 1, end - 1
        return
    start, end = match.span("bare")
    value = match["bare"].rstrip(".,!?…*_)]}」』】。、，")
    if len(value) >= (4 if value.isascii() else 3) and not re.match(r"\[\[|\[|\{|\||[A-Za-z_][\w.]*\(|https?:", value):
        yield start, start + len(value)


def _is_said(match: re.Match[str]) -> bool:
    """Whether what follows a verb is what the secret is, and not what is said about it."""
    value = match["bare"].rstrip(".,!?…)*")
    if looks_made(value):
        return True
    ends = match.end("bare") == len(match.string) or match.string[match.end("bare")] in "\r\n" or value != match["bare"]
    return ends and value.isalpha() and value.isascii() and len(value) >= 5 and value.lower() not in NO_VALUE


def _right_of_equals(text: str) -> Iterator[Span]:
    """What is drawn by lot and stands right of `=`, whatever its name: `HEAP_BOT=…`, `export X="…"`."""
    addresses = [found.span() for found in ADDRESS.finditer(text)]
    for match in _ASSIGNED.finditer(text):
        start, end = match.span("bare")
        if not any(first <= start < last for first, last in addresses) and is_random(match["bare"], match["name"]):
            yield start, end


def _lines(text: str) -> list[tuple[int, str]]:
    """Each line with the place it begins at, without its end."""
    at, lines = 0, []
    for line in text.splitlines(keepends=True):
        lines.append((at, line.rstrip("\r\n")))
        at += len(line)
    return lines
