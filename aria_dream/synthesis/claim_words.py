"""The words by which a claim shows what it is: labels, hedges, routine, ids of events.

They are English where they are words at all; a claim in another language is a plain one.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final


class Role(Enum):
    """What a claim is for, as its label or its opening words say."""

    PLAIN = "plain"
    DIRECTIVE = "directive"
    """The operator's explicit word."""
    OUTCOME = "outcome"
    """Something observed afterwards."""
    REMEDY = "remedy"
    """A change that would mend a failure: proposed, not observed."""
    SURPRISE = "surprise"
    MISCALL = "miscall"
    GAP = "gap"
    """Something that nothing checks or stops."""


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


LABELS: Final = (
    (Role.DIRECTIVE, _any(
        r"(?:operator|user|human)(?:'s)?(?: (?:directive|decision|instruction|request|rule))?",
        r"(?:operator[ _])?directive",
    )),
    (Role.OUTCOME, _any(
        r"(?:observed )?(?:outcome|result|effect)s?", "observed|measured|observation|later|since then",
    )),
    (Role.REMEDY, _any(
        "fix|remedy|guard|change|proposed[_ ]change|next time|prevention|mitigation|countermeasure",
        "what would help|smallest change",
    )),
    (Role.SURPRISE, _any("(?:productive )?surprises?", "unexpected")),
    (Role.MISCALL, _any("(?:calibration )?mis-?calls?", "mistake|overclaim(?:ed)?|wrong call|was wrong")),
    (Role.GAP, _any("(?:system )?gap", "missing (?:check|guard|test)", "nothing checks")),
)  # fmt: skip
"""What the label in front of a claim makes of it; the whole label has to match."""

FIELDS_LEFT_OUT: Final = frozenset(
    {
        "status", "state", "date", "time", "id", "session", "session_id", "event", "event_id", "incident",
        "incident_id", "run", "run_id", "tags", "tag", "owner", "author", "created", "created_at", "updated",
        "updated_at", "severity", "confidence", "ref", "refs", "source", "sources", "link", "links",
        "next_valid_action", "waiting_on", "kind", "type", "count", "evidence", "failure_class", "objective",
    }
)  # fmt: skip
"""Labels of what is a property of the entry and no claim."""

PROPERTIES_THAT_TELL: Final = frozenset(
    {"summary", "lesson", "pattern", "finding", "learned", "outcome", "operator directive", "directive", "surprise"}
)
"""Properties of a capsule that claim something."""

HEDGED: Final = _any(
    r"\b(?:probably|perhaps|maybe|presumably|likely|apparently)\b",
    r"\bi (?:think|guess|suspect|believe|assume)\b",
    r"\b(?:must|might|may|could) have(?: been)?\b",
    r"\bseems? to have\b|\bmy theory\b",
)
"""A story of a cause that nobody has looked into."""

SELF_CONFIRMED: Final = _any(
    r"\bl\d{3,}\b|\bDREAM_LOG\b|\bLESSONS\.jsonl\b|\bni-\d{8}",
    r"\b(?:as|like) (?:i|we|the lesson|the dream|dream) (?:predicted|said|wrote|expected)",
    r"\bconfirms? (?:my|our) (?:own|earlier)\b|\bproves (?:me|us) right\b",
)
"""Our own output, told back to us."""

GAP: Final = _any(
    r"\b(?:nothing|no (?:check|test|guard|one|validator|alarm|warning))\b[^.]{0,40}\b(?:check(?:s|ed)?|catches|caught"
    r"|warn(?:s|ed)|notice[sd]|stop(?:s|ped)|test(?:s|ed)|cover(?:s|ed))\b",
    r"\bthere (?:is|was) no (?:check|test|guard|validator|alarm|warning)\b",
    r"\b(?:never|not) (?:checked|validated|tested|guarded|verified)\b|\bsilently\b",
)

_DIRECTED = _any(
    r"^(?:the )?(?:operator|user)\b[^.]{0,40}?\b(?:asked|directed|decided|instructed|told|ordered|ruled|wants|wanted)\b"
)
_OBSERVED = _any(r"^(?:the )?(?:observed outcome|outcome was|result was|we observed|it was observed)\b")
_SURPRISED = _any(r"\b(?:surprised|surprisingly|unexpectedly|to my surprise)\b")
_ROUTINE = _any(
    r"^(?:i |we )?(?:ran|run|updated|wrote|read|reviewed|worked|met|added|made|pushed|committed|started|finished"
    r"|continued|planned|discussed|talked|drafted|opened|closed|cleaned|moved|renamed|walked|called|sent|installed"
    r"|tidied|sorted|drew)\b"
)
_SAYS_MORE = _any(
    r"\b(?:when|whenever|if|because|before|after|unless|until|without|instead|only|never|always|again|every|must|should"
    r"|so that|which|while|fail\w*|br[eo]ke\w*|lost|wrong|miss\w*|crash\w*|than)\b"
)

EVENT_FIELDS: Final = (
    "id", "session", "session_id", "event", "event_id", "incident", "incident_id", "run", "run_id", "ticket",
)  # fmt: skip
"""Properties whose value names the event that an entry tells of."""

EVENT_IDS: Final = (
    re.compile(
        r"\b(?:session|sess|event|evt|ev|incident|inc|run|job|ticket|task|case|req|trace|op|capsule|cap|bug|issue|pr|mr"
        r"|exp|fm|td|hl|commit|deploy|build|release)[-_#/ ]?#?\d[\w.-]*\b",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?!(?:ISO|SHA|UTF|RFC|HTTP|GPT|PEP|UTC|GMT|CVE|COVID)\b)[A-Z]{2,10}-\d+\b"),
    re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b"),
    re.compile(r"(?<![\w&])#\d+\b"),
)
"""Ids of events inside a text: `run 12`, `INC-7`, a commit, `#41`."""

WORDS_LEAST: Final = 5
WORDS_MOST: Final = 60


def role_of(text: str) -> Role:
    """What a claim without a label is."""
    if _DIRECTED.match(text):
        return Role.DIRECTIVE
    if _OBSERVED.match(text):
        return Role.OUTCOME
    if _SURPRISED.search(text):
        return Role.SURPRISE
    return Role.GAP if names_gap(text) else Role.PLAIN


def names_gap(text: str) -> bool:
    """Whether the text says in so many words that nothing checks or stops something."""
    return GAP.search(text) is not None


def is_claim(text: str) -> bool:
    """Whether a sentence claims something: no question, no fragment, no essay, no mere report of routine."""
    words = [word for word in text.split() if re.search(r"[^\W\d_]", word)]
    few = len(words) < WORDS_LEAST and len(re.findall(r"[^\W\d_a-zA-Z]", text)) < 8  # scripts without spaces
    if few or len(words) > WORDS_MOST or text.endswith("?"):
        return False
    return not (_ROUTINE.match(text) and not _SAYS_MORE.search(text))
