"""What counts as the operator's own evidence for a change of status. Doubt is a refusal: nothing is inferred."""

from __future__ import annotations

import re
from typing import Final

from aria_dream.dream.plain_text import clean, unescape_plain

STATUSES: Final = ("approved", "merged", "rejected", "blocked")
"""What a candidate can become. None of them is ever written without `--operator-evidence`."""

LEAST_CHARACTERS: Final = 8

_ASSENT = re.compile(
    r"\b(?:yes|yep|yeah|ya|ok|okay|k|sure|fine|right|agreed?|approved?|approval|merged?|rejected?|blocked?|accepted?"
    r"|confirm(?:ed)?|done|lgtm|looks|good|great|to|me|go|ahead|please|do|it|this|that|is|was|has|been|the|a|by|i|we"
    r"|operator|user|human|owner|he|she|they|said|says|say|so|thanks?|true|ni|candidate|status|proposed|from|via|in|on"
    r"|direct|evidence|reference|n/?a|none|pending|unknown|tbd|todo)\b",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"\d|https?://|\w/\w|#\w|@\w|\b\w+\.(?:md|txt|jsonl?|log|eml)\b"
    r"|\b(?:chat|message|msg|mail|e-?mail|call|phone|meeting|stand-?up|thread|issue|ticket|pr|pull request|comment"
    r"|commit|session|note|log|review|transcript|conversation|letter|terminal|prompt|reply|slack|discord|telegram"
    r"|signal|whatsapp|teams|zoom|voice|memo|minutes|journal|diary|form|signature|signed|dm|sms|post|recording"
    r"|interview|workshop|retro|channel)\b",
    re.IGNORECASE,
)
_INFERRED = re.compile(
    r"\bsilen(?:ce|t)\b|\bno (?:reply|answer|response|objections?)\b|\b(?:did|does|has) ?n[o']?t object"
    r"|\b(?:automated|automatic|automatically|auto-?(?:approved|merged))\b"
    r"|\b(?:ci|build|tests?|checks?|pipeline) (?:is |are )?(?:green|pass(?:ed|es)?)\b"
    r"|\b(?:another|sub-?) ?agent\b|\bby (?:an?|the) (?:ai )?(?:agent|assistant|bot|model|daemon)\b"
    r"|\b(?:agent|assistant|bot|model|daemon|claude|codex|gpt|copilot) (?:said|says|approved|confirmed|agreed|decided"
    r"|reported|merged)\b"
    r"|\b(?:inferred|implied|assumed|presumed|presumably|probably|likely)\b|\bprior (?:prose|text|entry)\b"
    r"|\bDREAM_LOG\b",
    re.IGNORECASE,
)


def evidence_refusal(evidence: str) -> str:
    """Why `evidence` is no direct word of the operator's with its source; "" where it is.

    At least eight characters; more than assent; a source that can be gone back to (a message, a meeting, a date, a
    link, a file). Silence, an automated status, another agent and earlier prose are no evidence.
    """
    said = clean(unescape_plain(evidence))
    if len(said) < LEAST_CHARACTERS:
        return f"operator evidence needs at least {LEAST_CHARACTERS} characters"
    rest = _ASSENT.sub(" ", re.sub(r"\bni-\d{8}-\d+\b", " ", said))
    if not re.search(r"\w", rest):
        return "operator evidence is only assent and names no source"
    if _INFERRED.search(said):
        return "operator evidence is inferred: silence, an automated status, an agent or earlier prose is none"
    if not _SOURCE.search(rest):
        return "operator evidence does not name its source (a message, a meeting, a date, a link, a file)"
    return ""
