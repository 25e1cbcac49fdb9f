"""A model's answer in a consolidation, read as an enum, a number and bounded text. Never guessed at.

What an answer can do ends here: it decides about the two passages that were offered. It cannot name a note, carry a
path, set a setting or add a line; and a wording it proposes can hold nothing that acts which the two passages do not
hold already. Whatever else it says makes it `Unreadable`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.questions import LONGEST_WORDING
from aria_dream.consolidate.verdict import (
    BothValid,
    KeepA,
    KeepB,
    Merge,
    NeedsHuman,
    Normalize,
    NotDuplicate,
    Unreadable,
)
from aria_dream.judging.verdict import parse_object, plain_reason
from aria_dream.markdown.note import parse_note

if TYPE_CHECKING:
    from collections.abc import Collection

_KEYS: Final = frozenset({"reason", "verdict", "confidence"})
_FORM = Unreadable(reason="the answer is not of the form that was asked for")


def parse_pair_verdict(raw: str, first: str, second: str) -> Merge | NotDuplicate | Normalize | Unreadable:
    """The verdict on two passages that read `first` and `second`. Case and space around the enum are forgiven; a
    `wording` beside another verdict than `normalize` is not looked at."""
    found = _parsed(raw, optional=frozenset({"wording"}))
    if isinstance(found, Unreadable):
        return found
    reason, verdict, confidence, wording = found
    match verdict:
        case "merge":
            return Merge(reason=reason, confidence=confidence)
        case "not_duplicate":
            return NotDuplicate(reason=reason, confidence=confidence)
        case "normalize":
            text = wording.replace("\r\n", "\n").strip()
            fault = wording_fault(text, (first, second))
            if fault:
                return Unreadable(reason=f"the answer's wording {fault}")
            return Normalize(reason=reason, confidence=confidence, wording=text)
        case _:
            return Unreadable(reason="the answer's verdict is none of merge, not_duplicate and normalize")


def parse_conflict_verdict(raw: str) -> KeepA | KeepB | BothValid | NeedsHuman | Unreadable:
    """The verdict on two claims."""
    found = _parsed(raw, optional=frozenset())
    if isinstance(found, Unreadable):
        return found
    reason, verdict, confidence, _ = found
    match verdict:
        case "keep_a":
            return KeepA(reason=reason, confidence=confidence)
        case "keep_b":
            return KeepB(reason=reason, confidence=confidence)
        case "both_valid":
            return BothValid(reason=reason, confidence=confidence)
        case "needs_human":
            return NeedsHuman(reason=reason, confidence=confidence)
        case _:
            return Unreadable(reason="the answer's verdict is none of keep_a, keep_b, both_valid and needs_human")


def _parsed(raw: str, *, optional: frozenset[str]) -> tuple[str, str, float, str] | Unreadable:
    """Reason, verdict, confidence and wording."""
    found = parse_object(raw)
    if not isinstance(found, dict):
        return Unreadable(reason=found.reason)
    if not found.keys() >= _KEYS or not found.keys() <= _KEYS | optional:
        return _FORM
    said, verdict, confidence, wording = (found.get(key, "") for key in ("reason", "verdict", "confidence", "wording"))
    if not (isinstance(said, str) and isinstance(verdict, str) and isinstance(wording, str)):
        return _FORM
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        return Unreadable(reason="the answer's confidence is no number from 0 to 1")
    reason = plain_reason(said)
    if not reason:
        return Unreadable(reason="the answer gives no reason")
    return reason, verdict.strip().lower(), float(confidence), wording


_NEVER: Final = (
    ("holds HTML", re.compile(r"<[a-z/!?]", re.IGNORECASE)),
    ("holds a template", re.compile(r"<%|%>|\{\{|\}\}|\{%")),
    ("holds a comment", re.compile(r"%%")),
    ("holds code that a plugin would run", re.compile(r"`\s*\$?=|^\s*[`~]{3,}\s*\{?\s*(?:dataview|tasks|query|button"
     r"|base|templater|js|meta-bind|chart|ad-)", re.IGNORECASE | re.MULTILINE)),
    ("holds a line of ours", re.compile(r"\^aria-|aria-dream", re.IGNORECASE)),
    ("holds properties", re.compile(r"\A---|^---[ \t]*$", re.MULTILINE)),
    ("holds an image from elsewhere", re.compile(r"!\[[^\]\n]*\]\(\s*<?[a-z][a-z0-9+.-]*:", re.IGNORECASE)),
    ("holds an address that acts", re.compile(
        r"\b(?:javascript:|vbscript:|obsidian:|file:/|data:\w+/)", re.IGNORECASE)),
)  # fmt: skip
"""What no wording may hold, whatever the passages hold: it may be about to be moved to another note."""
_HELD: Final = (
    ("an address", re.compile(
        r"(?<![a-z0-9+.-])[a-z0-9+.-]*://[^\s)>\]]+|www\.\S+|\[[^\]\n]*\]\([^)\n]*\)|\[[^\]\n]*\]\[[^\]\n]*\]"
        r"|^\s*\[[^\]\n]+\]:.*$"
        r"|(?<!\S)@*[^\s@]+@\S+", re.IGNORECASE | re.MULTILINE)),
    ("an embed", re.compile(r"!\[\[[^\]\n]*\]?\]?|!\[[^\]\n]*\]")),
    ("a tag", re.compile(r"(?<!\S)#[^\s#]+")),
    ("a task", re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[.\].*$", re.MULTILINE)),
    ("a heading", re.compile(r"^\s{0,3}#{1,6}\s.*$|^.+\n={2,}\s*$", re.MULTILINE)),
    ("a block id", re.compile(r"(?:^|\s)\^[A-Za-z0-9-]+\s*$", re.MULTILINE)),
    ("a field", re.compile(r"(?<!\S)\S*::.*")),
    ("code", re.compile(r"`[^`\n]*`|^\s*[`~]{3,}.*$|\$[^$\n]+\$", re.MULTILINE)),
    ("a callout", re.compile(r"\[![^\]\n]*\]")),
    ("a footnote", re.compile(r"\[\^[^\]\n]*\]")),
)  # fmt: skip
"""What a wording may hold only as one of the passages writes it."""


def wording_fault(wording: str, passages: Collection[str]) -> str:
    """Why a proposed text may not stand in a note, as a clause; `""` where it may.

    Nothing that acts, nothing that nobody sees, and no link, address, embed, tag, task, heading, code or field that
    does not stand in one of `passages` exactly so.
    """
    if not wording:
        return "is empty"
    if len(wording) > LONGEST_WORDING:
        return "is too long"
    if any(map(_is_unseen, wording)):
        return "holds characters that nobody sees"
    for fault, pattern in _NEVER:
        if pattern.search(wording):
            return fault
    if any(not _holding(link.raw, passages) for link in parse_note(f"\n{wording}").links):
        return "holds a link that neither passage has"
    for name, pattern in _HELD:
        if any(not _holding(found[0].strip(), passages) for found in pattern.finditer(wording)):
            return f"holds {name} that neither passage has"
    return ""


def _holding(part: str, passages: Collection[str]) -> str:
    """The passage that holds the part as it is; `""` where none does."""
    return next((passage for passage in passages if part in passage), "")


def _is_unseen(character: str) -> bool:
    return character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")
