"""Takes out of a text what no model needs: keys, tokens, passwords, addresses and numbers of people and cards.

Formats: the documented prefixes of well-known issuers, Luhn's check for cards, ISO 7064 (mod 97) for IBANs. It is a
second line of defence: a note that must not leave is kept back by the policy, not by these expressions.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.privacy.secret_blocks import ADDRESS, UUID, is_disordered, is_hash
from aria_dream.privacy.secret_places import places_of_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class _Secret:
    kind: str
    expression: re.Pattern[str]
    holds: Callable[[str], bool]
    """Whether a match is one: check digits, length, disorder."""
    in_addresses: bool = True
    """False: a number of people or money, which inside a web address or a DOI is one only as the value of a field."""


def holds_issued_key(text: str) -> bool:
    """Whether a text holds a key of a known maker, told by its first letters; a hash or an id is none."""
    return _ISSUED_KEY.search(text) is not None


def redact_secrets(text: str) -> tuple[str, Counter[str]]:
    """`text` with every secret replaced by a mark, and how many there were of each kind. Near linear in its length.

    The marks are characters of the private use area, so that nothing done later takes them for words; `show_marks`
    turns them into `[kind]`.
    """
    counts: Counter[str] = Counter()
    for secret in _SECRETS:
        addresses = [] if secret.in_addresses else [found.span() for found in ADDRESS.finditer(text)]

        def blank(
            match: re.Match[str], secret: _Secret = secret, addresses: Sequence[tuple[int, int]] = addresses
        ) -> str:
            found, start = match["secret"], match.start("secret")
            if not secret.holds(found) or (_is_within(start, addresses) and match.string[start - 1] != "="):
                return match[0]
            counts[secret.kind] += 1
            return match[0].replace(found, _MARKS[secret.kind])

        text = secret.expression.sub(blank, text)
    text = _without_places(text, counts)
    return _without_keys(text, counts), counts


def _without_places(text: str, counts: Counter[str]) -> str:
    out: list[str] = []
    at = 0
    for start, end in places_of_secrets(text):
        if len(re.sub("[\ue001-\ue0ff]", "", text[start:end])) < 2:
            continue  # taken out already
        out += [text[at:start], _MARKS["secret"]]
        at, counts["secret"] = end, counts["secret"] + 1
    return "".join((*out, text[at:]))


_TOKEN = re.compile(r"(?<![A-Za-z0-9+/_=-])(?P<secret>[A-Za-z0-9+/_-]{24,1024}={0,2})(?![A-Za-z0-9+/_-])")
_PIECE = re.compile(r"[A-Za-z0-9_~-]{20,1024}")
"""Of an address: what stands between two of its separators. There a UUID may open what it names, as a key does."""
_OF_A_HASH = re.compile(r"\b(?:sha-?\d{1,3}|md5|blake\d\w?)(?:sum)?[-:=\s]{1,3}\Z", re.IGNORECASE)
_OF_A_COMMIT = re.compile(r"/(?:commits?|blob|tree|raw|rev|blame|compare|changeset|objects?)/\Z", re.IGNORECASE)


def _is_within(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    place = bisect_right(spans, (at, sys.maxsize)) - 1
    return place >= 0 and at < spans[place][1]


def _before(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - 24) : match.start()]


def _without_keys(text: str, counts: Counter[str]) -> str:
    """`text` without what looks drawn by lot; of an address only the piece that does, so that it can still be read."""

    def token(match: re.Match[str]) -> str:
        found = match["secret"]
        is_long = len(found) >= 32 or (re.search(r"[a-z]", found) and re.search(r"[A-Z]", found))
        if not is_long or not is_disordered(found) or is_hash(found) or _OF_A_HASH.search(_before(match)):
            return match[0]
        counts["key"] += 1
        return _MARKS["key"]

    def piece(match: re.Match[str]) -> str:
        parts = re.split(r"[_~-]", match[0])
        is_key = UUID.search(match[0]) or any(len(part) >= 20 and is_disordered(part) for part in parts)
        if not is_key or (is_hash(match[0]) and _OF_A_COMMIT.search(_before(match))):
            return match[0]
        counts["key"] += 1
        return _MARKS["key"]

    out: list[str] = []
    at = 0
    for address in ADDRESS.finditer(text):
        out += [_TOKEN.sub(token, text[at : address.start()]), _PIECE.sub(piece, address[0])]
        at = address.end()
    return "".join((*out, _TOKEN.sub(token, text[at:])))


def show_marks(text: str) -> str:
    """`text` with every mark of `redact_secrets` as `[kind]`."""
    for kind, mark in _MARKS.items():
        text = text.replace(mark, f"[{kind}]")
    return text


def _always(_text: str) -> bool:
    return True


def _is_card(text: str) -> bool:
    digits = [int(character) for character in text if character.isdigit()]
    doubled = [2 * digit - 9 * (digit > 4) for digit in digits[-2::-2]]
    if re.match(r"[01]|19|20|97[89]", re.sub(r"\D", "", text)) or (len(digits) == 13 and digits[0] != 4):
        return False  # no issuer's: an instant, a note's own number, an ISBN
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_iban(text: str) -> bool:
    plain = re.sub(r"\s", "", text).upper()
    number = "".join(str(int(character, 36)) for character in plain[4:] + plain[:4])
    return 15 <= len(plain) <= 34 and int(number) % 97 == 1


def _is_phone(text: str) -> bool:
    digits = sum(character.isdigit() for character in text)
    return 8 <= digits <= 15 and not re.fullmatch(r"[12]\d{3}[-./ ][01]\d[-./ ]\d{2}.*", text)


_ISSUED = "|".join(  # noqa: FLY002 - one issuer a line, each with its name
    [
        r"(?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{16}",  # AWS
        r"gh[oprsu]_[A-Za-z0-9]{20,255}",  # GitHub
        r"github_pat_[A-Za-z0-9_]{20,255}",
        r"glpat-[A-Za-z0-9_-]{16,64}",  # GitLab
        r"sk-[A-Za-z0-9_-]{16,255}",  # OpenAI, Anthropic and others
        r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}",  # Stripe
        r"xox[abeoprs]-[A-Za-z0-9-]{10,255}",  # Slack
        r"AIza[A-Za-z0-9_-]{30,45}",  # Google
        r"ya29\.[A-Za-z0-9_-]{20,1024}",
        r"hf_[A-Za-z0-9]{20,255}",  # model hub
        r"(?:secret|ntn)_[A-Za-z0-9]{20,255}",  # Notion
        r"xapp-[A-Za-z0-9-]{10,255}",
        r"AGE-SECRET-KEY-1[0-9A-Za-z]{16,255}",
        r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}",  # SendGrid
        r"\d{8,10}:[A-Za-z0-9_-]{35}",  # Telegram
        r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}",  # Discord
        r"(?:SK|AC)[0-9a-f]{32}",  # Twilio
        r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,43}",  # Square
        r"[0-9a-f]{32}-us\d{1,2}",  # Mailchimp
        r"npm_[A-Za-z0-9]{30,64}",
        r"pypi-[A-Za-z0-9_-]{30,1024}",
        r"eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,4096}(?:\.[A-Za-z0-9_-]{0,4096})?",  # JWT
    ]
)
_ISSUED_KEY = re.compile(rf"(?<![A-Za-z0-9])(?:{_ISSUED})")
_BLANKS = "\u00a0\u2007\u2009\u202f"
"""Blanks that keep a number on one line."""

_SECRETS = (
    _Secret(
        "private key",
        re.compile(r"(?P<secret>-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END[^\n]*|\Z))"),
        _always,
    ),
    _Secret("key", re.compile(rf"(?<![A-Za-z0-9])(?P<secret>{_ISSUED})"), _always),
    _Secret(
        "login",
        re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://(?P<secret>[^\s/@:]{0,256}:[^\s/@]{1,256})@"),
        _always,
    ),
    _Secret("secret", re.compile(r"(?i:bearer|basic)\s(?P<secret>[A-Za-z0-9._~+/-]{16,4096}={0,2})"), _always),
    _Secret("e-mail", re.compile(r"(?P<secret>[\w.%+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24})"), _always),
    _Secret(
        "e-mail",  # as it is written to hide it from machines
        re.compile(
            r"(?P<secret>[\w.%+-]{1,64} ?[\[({] ?(?i:at|ät|@) ?[\])}] ?[\w-]{1,63}"
            r"(?:(?: ?[\[({] ?(?i:dot|punkt|\.) ?[\])}] ?| (?i:dot|punkt) |\.)[\w-]{1,63}){1,8})"
        ),
        _always,
    ),
    _Secret(
        "secret",  # whoever knows the address of a webhook may write there
        re.compile(
            r"(?i:https?://(?:hooks\.slack\.com/(?:services|workflows)|(?:\w+\.)?discord(?:app)?\.com/api/webhooks))"
            r"/(?P<secret>[\w/-]{8,512})"
        ),
        _always,
    ),
    _Secret(
        "IBAN",
        re.compile(
            r"(?<![A-Za-z\d])(?P<secret>[A-Za-z]{2}\d{2}(?: ?[A-Za-z\d]{4}){2,7}(?: ?[A-Za-z\d]{1,4})?)(?![A-Za-z\d])"
        ),
        _is_iban,
        in_addresses=False,
    ),
    _Secret(
        "card",
        re.compile(rf"(?<![\w.])(?P<secret>\d(?:[ .{_BLANKS}\u2010-\u2015-]?\d){{12,18}})(?!\w)"),
        _is_card,
        in_addresses=False,
    ),
    _Secret(
        "phone",
        re.compile(
            rf"(?<![\w.])(?P<secret>(?:\+|00)\d{{1,3}}[ \d()./{_BLANKS}\u2010-\u2015-]{{6,24}}\d|"
            rf"\(?0\d{{1,5}}\)?[ /.{_BLANKS}\u2010-\u2015-]{{1,2}}\d[\d ./{_BLANKS}\u2010-\u2015-]{{4,16}}\d|"
            rf"\(?\d{{3}}\)?[ .{_BLANKS}-]\d{{3}}[ .{_BLANKS}-]\d{{4}}|"
            rf"0[1-9]\d{{8,10}}|1[3-9]\d[ {_BLANKS}-]?\d{{4}}[ {_BLANKS}-]?\d{{4}})(?!\w)"
        ),
        _is_phone,
        in_addresses=False,
    ),
    _Secret(
        "phone",
        re.compile(
            r"(?i:\b(?:tel|telephone|phone|mobile|cell|call|fax|fon|telefon|handy|mobil|whatsapp|signal|sms)\b)"
            rf"[^\d\n]{{0,20}}(?P<secret>\d[\d ()/.{_BLANKS}-]{{5,20}}\d)(?!\w)"
        ),
        _is_phone,
        in_addresses=False,
    ),
)
_MARKS = {kind: chr(0xE001 + number) for number, kind in enumerate(dict.fromkeys(each.kind for each in _SECRETS))}
