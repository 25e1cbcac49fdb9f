"""Words that claim what only the operator may say, and how a quoted text is kept from saying them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aria_dream.notes.plain_text import clean, escape_plain
from aria_dream.privacy.secrets import holds_issued_key, redact_secrets, show_marks
from aria_dream.synthesis.contrast import plain
from aria_dream.synthesis.orders import ORDERS

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOWN_CHARACTERS: Final = 240
"""Most of a source's text that an entry quotes; the reference leads to the rest."""

_DENIED = re.compile(r"\b(?:not|never|nothing|none|nobody|cannot|no)\b(?:[ \t]+\w+){0,3}[ \t]*$", re.IGNORECASE)
_DECIDED = re.compile(r"\b(?:approved|merged)\b", re.IGNORECASE)
_SAID = re.compile(
    r"(?<![\w/\\.:#-])(?:approved|merged)(?![\w/\\#]|[.:-]\w)|\b(?:approved/merged|merged/approved)\b", re.IGNORECASE
)
"""The same as words of a sentence: not inside a path, a reference or a name in kebab case."""
_SELF = re.compile(
    r"\b(?:self|auto|pre)[- ]?(?:approv\w*|ratif\w*|merg\w*|accept\w*|promot\w*|verif\w*)"
    r"|\bratif(?:y|ied|ies)\b"
    r"|\b(?:i|we|dream|this (?:run|pass|dream|entry))[ \t]+(?:hereby[ \t]+)?(?:approve|merge|ratify|accept|promote)s?\b"
    r"|\bhereby[ \t]+\w+"
    r"|\b(?:approval|consent)[ \t]+(?:is[ \t]+|was[ \t]+)?(?:implied|inferred|assumed|given|granted|unnecessary"
    r"|not (?:needed|required|necessary))"
    r"|\b(?:no|without)[ \t]+(?:operator[ \t]+)?(?:approval|review)[ \t]+(?:is[ \t]+)?(?:needed|required|necessary)"
    r"|\bneeds[ \t]+no[ \t]+(?:operator[ \t]+)?(?:approval|review)"
    r"|\boperator[ \t]+(?:has[ \t]+)?(?:agreed|accepted|confirmed|signed off|approves|agrees)\b"
    r"|\b(?:counts?|treated|considered|deemed|taken)[ \t]+(?:as[ \t]+)?(?:verified|accepted|proven|confirmed)\b"
    r"|\b(?:verified|proven|confirmed|validated)[ \t]+by[ \t]+(?:dream|synthesis|this|myself|itself"
    r"|(?:an?|the)[ \t]+(?:agent|run|model))\b"
    r"|\b(?:has|have)[ \t]+been[ \t]+(?:adopted|accepted|promoted)\b"
    r"|\b(?:applied|adopted)[ \t]+(?:automatically|already)\b"
    r"|\balready[ \t]+(?:accepted|verified|promoted|applied|in force)\b",
    re.IGNORECASE,
)


def ratifying_words(text: str) -> Iterator[str]:
    """The words by which a generated text would decide for the operator: `approved`, `merged`, and every other way of
    ratifying itself. A plain denial in front ("nothing was merged") decides nothing and is let through."""
    for found in _SAID.finditer(text):
        if not _DENIED.search(text, max(0, found.start() - 60), found.start()):
            yield found[0]
    for found in _SELF.finditer(text):
        yield found[0]


def quotable(text: str, ref: str = "") -> str:
    """`text` on one line as inert Markdown, cut to what an entry shows.

    A text that would decide something, or orders its reader about, is not repeated at all: what stands in the log must
    be the log's own words. Secrets are blanked.
    """
    text = without_secrets(text)
    if _DECIDED.search(text) or next(ratifying_words(text), None) or ORDERS.search(plain(text)):
        return f"its words stand at {escape_plain(citable(ref))}" if ref else "its words are not repeated here"
    shown = clean(text)
    if len(shown) > SHOWN_CHARACTERS:
        shown = shown[:SHOWN_CHARACTERS].rsplit(" ", 1)[0] + " …"
    return escape_plain(shown, line_start=True)


def without_secrets(text: str) -> str:
    """`text` with every secret replaced by `[kind]`, by the rules of what may leave this machine."""
    return show_marks(redact_secrets(text)[0])


def is_citable_name(path: str) -> bool:
    """Whether a path may stand in the log as it is: it bears no key of a known maker and orders nobody about."""
    return not holds_issued_key(path) and ORDERS.search(plain(re.sub(r"[-_/.]+", " ", path))) is None


def citable(ref: str) -> str:
    """`ref` as the log cites it: as it is, unless its words would decide something (a file may be called so)."""
    if next(ratifying_words(ref), None) is None:
        return ref
    joined = ref.replace(" ", "%20")
    return "a reference whose words are not repeated here" if next(ratifying_words(joined), None) else joined
