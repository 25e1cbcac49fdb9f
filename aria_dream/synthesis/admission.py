"""The admission predicate: the only door through which a lesson enters, in code alone.

A lesson is admitted when the same pattern appears in two independent events, when an explicit directive of the operator
is paired with an outcome observed separately, or when one command was red and then green and left an artifact. Nothing
else admits, and nothing raises a confidence above what stands here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.synthesis.claim_words import Role
from aria_dream.synthesis.claims import one_event
from aria_dream.synthesis.contrast import denies, plain, says_opposite
from aria_dream.synthesis.lesson import MECHANICAL_CAP, MechanicalRedGreen, OperatorOutcome, TwoSource
from aria_dream.synthesis.outcome import denied_parts, outcome_clauses, went_wrong
from aria_dream.synthesis.sources import SourceKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aria_dream.synthesis.claims import Claim
    from aria_dream.synthesis.evidence import EvidenceRow, RedGreen
    from aria_dream.synthesis.lesson import Admission, LessonType
    from aria_dream.synthesis.patterns import Pattern

TWO_EVENTS: Final = 2
TWO_SOURCE_CONFIDENCE: Final = 0.6
"""Of two independent events; each further one adds `EVENT_STEP`, up to `TWO_SOURCE_CAP`."""
EVENT_STEP: Final = 0.1
DENIAL_STEP: Final = 0.2
"""What an independent event that says otherwise takes from the confidence."""
TWO_SOURCE_CAP: Final = 0.9
OPERATOR_CONFIDENCE: Final = 0.75
MECHANICAL_CONFIDENCE: Final = 0.8
SIGNS_SHARED: Final = 3
"""So many pairs of signs that a denied clause and a directive share are what is denied, in scripts without spaces."""
PAIRING_LEAST: Final = 0.45
"""Cosine from which an outcome speaks of the same thing as a directive."""

_STRATEGIC = re.compile(
    r"\b(?:priorit\w+|goal|roadmap|strateg\w+|trade-?off|focus|scope|invest|postpone)\b", re.IGNORECASE
)
_MISCALL = re.compile(
    r"\b(?:estimat\w+|overconfiden\w+|underestimat\w+|overclaim\w*|guess\w*|calibrat\w+|claimed|assumed|took longer)\b",
    re.IGNORECASE,
)
_KEPT = re.compile(
    r"\b(?:only|instead|stopped|moved|shifted|postponed|delayed|deferred|waited|put off|rescheduled|nur|statt\w*"
    r"|verschob\w*|verlegt|seulement|deplace\w*|reporte\w*|solo|aplaz\w*|movid[oa]s?|invece|spostat[oaie]|rinviat[oaie]|so|adiad[oa]s?"
    r"|alleen|verplaatst|uitgesteld)\b|只|改到|推迟|延期"
)
"""A clause that tells how a prohibition was kept: the forbidden thing was done otherwise, or later."""
_FAILED = re.compile(
    r"\b(?:fail\w*|br[eo]ke\w*|crash\w*|los[est]\w*|corrupt\w*|wrong|stale|hung|hangs?|timed? out|overwr\w+|missing"
    r"|leak\w*|went down|dropped|truncat\w*|cut off|silently)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A lesson without its number and date."""

    text: str
    type: LessonType
    confidence: float
    source_events: tuple[str, ...]
    admission: Admission


def admit_pattern(pattern: Pattern) -> Admitted | None:
    """The lesson of a pattern that was seen in at least two independent events, and in more than say otherwise; None
    for all others."""
    count, denials = len(pattern.events), len(pattern.against)
    if count < TWO_EVENTS or denials >= count:
        return None
    confidence = min(TWO_SOURCE_CAP, TWO_SOURCE_CONFIDENCE + EVENT_STEP * (count - TWO_EVENTS))
    confidence -= DENIAL_STEP * denials
    return Admitted(
        text=_sentence(pattern.text),
        type=_type(pattern.claims),
        confidence=round(confidence, 2),
        source_events=pattern.refs,
        admission=TwoSource(),
    )


def admit_directive(
    directive: Claim, outcomes: Sequence[tuple[Claim, float]], rows: Sequence[EvidenceRow]
) -> Admitted | None:
    """The lesson of an operator's directive and the best outcome that was observed separately and not before it.

    `outcomes` are claims with their likeness to the directive. An evidence row counts where the directive names its
    command, artifact or reference. None too where any outcome went wrong, or tells that the directive was not followed.
    """
    if directive.role is not Role.DIRECTIVE:
        return None
    if is_refuted(directive, outcomes):
        return None
    fitting = _fitting(directive, outcomes)
    if fitting:
        best = max(fitting, key=lambda pair: pair[0])[1]
        return _directive_lesson(directive, best.ref, best.text)
    named = [row for row in rows if _names(directive.text, row) and not _is_before(row, directive)]
    if named and not named[-1].exit:
        row = named[-1]
        said = row.command if row.exit is None else f"{row.command} ended with exit {row.exit}"
        return _directive_lesson(directive, row.ref, said or f"see {row.ref}")
    return None


def is_refuted(directive: Claim, outcomes: Sequence[tuple[Claim, float]]) -> bool:
    """Whether any outcome of the directive speaks against it. Such a directive is no part of a pattern either."""
    return any(refutes(directive.text, claim.text) for _, claim in _fitting(directive, outcomes))


def _fitting(directive: Claim, outcomes: Sequence[tuple[Claim, float]]) -> list[tuple[float, Claim]]:
    return [
        (likeness, claim)
        for claim, likeness in outcomes
        if claim.role is Role.OUTCOME and _is_separate(directive, claim) and _fits(directive, claim, likeness)
    ]


def refutes(directive: str, outcome: str) -> bool:
    """Whether an outcome tells that something went wrong, was taken back, or that the directive was not followed."""
    if says_opposite(directive, outcome) or went_wrong(outcome):
        return True
    told = outcome_clauses(outcome)
    if denies(directive):
        act = _forbidden(directive)
        return any(act in _beginnings(one) and not (denies(one) or _KEPT.search(plain(one))) for one in told if act)
    return any(_speaks_of(near, directive) for one in told for near in denied_parts(one))


def _speaks_of(part: str, directive: str) -> bool:
    if _beginnings(part) & _beginnings(directive):
        return True
    return len(_pairs_of_signs(part) & _pairs_of_signs(directive)) >= SIGNS_SHARED


def _pairs_of_signs(text: str) -> set[str]:
    """Every two neighbouring signs of scripts without spaces."""
    return set(re.findall(r"(?=([\u3041-\u30ff\u3400-\u9fff]{2}))", text))


def _forbidden(directive: str) -> str:
    """The beginning of the word that a prohibition forbids: the first telling one behind its denial."""
    words = re.findall(r"[^\W\d_]+(?:['’]t)?", directive)
    denied = next((at for at, word in enumerate(words) if denies(word)), len(words))
    return next(iter(_beginnings_in_order(" ".join(words[denied + 1 :]))), "")


def _beginnings_in_order(text: str) -> list[str]:
    return [word[:4] for word in re.findall(r"[^\W\d_]{4,}", plain(text))]


def _beginnings(text: str) -> set[str]:
    return set(_beginnings_in_order(text))


def _directive_lesson(directive: Claim, outcome_ref: str, outcome: str) -> Admitted:
    return Admitted(
        text=f"{_sentence(directive.text).rstrip('.')}. Observed: {outcome}",
        type="doctrine",
        confidence=OPERATOR_CONFIDENCE,
        source_events=(directive.ref, outcome_ref),
        admission=OperatorOutcome(operator_ref=directive.ref, outcome_ref=outcome_ref),
    )


def _is_separate(directive: Claim, outcome: Claim) -> bool:
    """Whether the outcome was observed for itself. It may name the directive; it may not be of its session, quote it
    alone, or be of its moment."""
    if directive.entry is outcome.entry or directive.moments & outcome.moments:
        return False
    if directive.entry.day and outcome.entry.day and outcome.entry.day < directive.entry.day:
        return False
    session = ("session", "session_id", "event", "event_id", "run", "run_id")
    shared = (directive.entry.properties.get(name) for name in session)
    if any(value and value in outcome.entry.properties.values() for value in shared):
        return False
    return " ".join(directive.text.split()).casefold() not in " ".join(outcome.text.split()).casefold()


def _fits(directive: Claim, outcome: Claim, likeness: float) -> bool:
    named = {one for one in directive.ids & outcome.ids if not one.startswith("entry ")}
    return likeness >= PAIRING_LEAST or bool(named)


def _names(text: str, row: EvidenceRow) -> bool:
    line = " ".join(text.split()).casefold()
    return any(len(name) >= 4 and name.casefold() in line for name in (row.command, row.artifact_ref, row.ref))


def _is_before(row: EvidenceRow, directive: Claim) -> bool:
    return directive.entry.day is not None and row.at.date() < directive.entry.day


def admit_mechanical(event: RedGreen, claims: Sequence[Claim]) -> Admitted:
    """The lesson of one command that was red and then green. A claim that names the command, the artifact or a run may
    open it; what was measured stands beside it, and the exit codes are the rows' own."""
    assert event.red.exit is not None
    worded = next((claim for claim in claims if _names(claim.text, event.green) or _names(claim.text, event.red)), None)
    measured = f"`{event.green.command}` ended with exit {event.red.exit} before and with exit 0 after"
    return Admitted(
        text=f"{_sentence(worded.text)} ({measured})" if worded else f"{measured}: it tells whether this is broken",
        type=_type((worded,)) if worded else "procedural",
        confidence=min(MECHANICAL_CAP, MECHANICAL_CONFIDENCE),
        source_events=tuple(dict.fromkeys((event.red.ref, event.green.ref))),
        admission=MechanicalRedGreen(red_exit=event.red.exit, artifact_ref=event.artifact_ref),
    )


def pairs_of_directives(
    claims: Sequence[Claim], likeness: Callable[[int, int], float]
) -> Iterator[tuple[Claim, tuple[tuple[Claim, float], ...]]]:
    """Each directive, retellings of an earlier one left out, with every outcome and how like it is."""
    outcomes = [(at, claim) for at, claim in enumerate(claims) if claim.role is Role.OUTCOME]
    told: list[Claim] = []
    for at, claim in enumerate(claims):
        if claim.role is not Role.DIRECTIVE or any(one_event(claim, other) for other in told):
            continue
        told.append(claim)
        yield claim, tuple((outcome, likeness(at, number)) for number, outcome in outcomes)


def is_failure(claim: Claim) -> bool:
    """Whether the claim tells of something that went wrong."""
    kinds = (SourceKind.FAILURE_MODE, SourceKind.FAILED_EXPERIMENT)
    return claim.entry.kind in kinds or _FAILED.search(claim.text) is not None


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _type(claims: Sequence[Claim]) -> LessonType:
    if any(claim.role is Role.DIRECTIVE for claim in claims):
        return "doctrine"
    text = " ".join(claim.text for claim in claims)
    if any(claim.role is Role.MISCALL for claim in claims) or _MISCALL.search(text):
        return "calibration"
    if any(is_failure(claim) for claim in claims):
        return "failure-mode"
    return "strategic" if _STRATEGIC.search(text) else "procedural"
