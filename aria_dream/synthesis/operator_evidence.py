# ruff: noqa: E501 - lists of words, one kind a line
"""What counts as the operator's own evidence for a change of status. Doubt is a refusal: nothing is inferred."""

from __future__ import annotations

import re
from typing import Final

from aria_dream.notes.plain_text import clean, unescape_plain
from aria_dream.synthesis.contrast import denies, plain

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
    r"\bhttps?://\S{4}|(?<!\w)@\w|\b\w+\.(?:md|txt|jsonl?|log|eml)\b|\b\d{4}-\d{2}-\d{2}\b"
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


_HARMLESS_NO = re.compile(
    r"\bkein(?:e)? (?:problem|einwand|einwande|frage|zweifel|anderung\w*)\b|\bno hay problema\b|\bpas de (?:probleme|souci)\b|\bno (?:changes?|problem|problems|worries|doubt|need|further|more|longer)\b|\bnot only\b|\bwhy not\b|\bno\. ?\d+\b", re.IGNORECASE
)
_NO = re.compile(
    r"\b(?:rejects?|rejected|refus\w+|declin\w+|deny|denied|den(?:ies|ial)|veto\w*|against|stop|wait|hold off|later|never mind|hands off|nope|nah|thumbs down|forget it|vergiss"
    r"|ablehn\w*|abgelehnt|nein|lieber nicht|refuse\w*|rejet\w*|rechaz\w*|rifiut\w*|rejeit\w*|recus\w*|weiger\w*|afgewezen|odrzuc\w*"
    r"|отклон\w*|отказ\w*)\b|拒绝|拒絕|却下|不行|不要|だめ|ダメ|거부|안 ?돼"
)
_YES = re.compile(
    r"\b(?:yes|yep|approv\w+|agree\w*|accept\w*|go ahead|lgtm|do it|sure|ja|gerne|genehmigt|einverstanden|oui|d'accord|approuv\w+|si"
    r"|sim|de acuerdo|aprobad\w+|va bene|approvat\w+|aprovad\w+|akkoord|goedgekeurd|tak|zgoda|да|соглас\w*|одобр\w*)\b|好的|同意|可以|批准"
    r"|はい|承認|네|승인"
)
_ORDER_OF_STEPS: Final = {
    "proposed": ("approved", "rejected", "blocked"),
    "approved": ("merged", "rejected", "blocked"),
    "blocked": ("approved", "rejected"),
    "rejected": ("approved",),
    "merged": (),
}


def step_refusal(was: str, status: str) -> str:
    """Why a candidate cannot go from one status to another; "" where it can. A status not known here may go anywhere."""
    steps = _ORDER_OF_STEPS.get(was)
    if steps is None or status in steps:
        return ""
    return f"a candidate that is {was} can become {' or '.join(steps) or 'nothing else'}, not {status}"


def evidence_refusal(evidence: str, status: str = "") -> str:
    """Why `evidence` is no direct word of the operator's, with its source, for that `status`; "" where it is.

    At least eight characters; more than assent; a source that can be gone back to (a message, a meeting, a date, a
    link, a file). Silence, an automated status, another agent and earlier prose are no evidence; nor is a no for
    `approved` or `merged`, or a yes for `rejected`.
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
    words = _HARMLESS_NO.sub(" ", plain(said))
    if status in ("approved", "merged") and (_NO.search(words) or denies(words)):
        return "operator evidence reads as a no; quote the words that say yes, and where they were said"
    if status == "rejected" and _YES.search(words) and not (_NO.search(words) or denies(words)):
        return "operator evidence reads as a yes; quote the words that say no, and where they were said"
    return ""
