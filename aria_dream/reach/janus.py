"""Janus (L3): the independent review of a proposal, by whoever never saw the dream.

What Janus is shown is a value of its own, one of `Case`: it has no place for a path, a score, a reason, an argument or
an earlier verdict, so none can slip in. What comes back is an enum and one bounded sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, assert_never

from aria_dream.judging.prompt_text import fill_prompt
from aria_dream.judging.triage_prompt import LONGEST_REASON, Unreadable
from aria_dream.judging.verdict import parse_object, plain_reason
from aria_dream.notes.plain_text import clean

if TYPE_CHECKING:
    from aria_dream.judging.prompt_text import Messages, Prompt
    from aria_dream.judging.triage_prompt import Excerpt, Mark

Word = Literal["STANDS", "FALLS", "UNSURE"]

PROMPT_NAME = "janus"
PLACEHOLDERS = frozenset({"sentinel_open", "sentinel_close", "proposal", "material"})
"""What the prompt's file must hold."""

JANUS_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": LONGEST_REASON},
        "verdict": {"type": "string", "enum": ["STANDS", "FALLS", "UNSURE"]},
    },
    "required": ["reason", "verdict"],
    "additionalProperties": False,
}
"""The reason stands first because constrained generation follows the order of the properties."""


@dataclass(frozen=True, slots=True)
class Stands:
    """The best objection is answered by the material."""

    reason: str


@dataclass(frozen=True, slots=True)
class Falls:
    """It is not."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unsure:
    """The material does not decide it."""

    reason: str


JanusVerdict = Stands | Falls | Unsure


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCase:
    """A link between two notes that somebody proposes."""

    first: Excerpt
    second: Excerpt
    edge: Excerpt
    """Its text is what the relation is called; `""` where nobody named it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimCase:
    """A claim that somebody proposes to keep as a note."""

    claim: Excerpt
    sources: Excerpt
    """Its text is one line for each source: an address, a title or both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeCase:
    """Notes of which somebody proposes to make one."""

    stays: Excerpt
    goes: tuple[Excerpt, ...]
    """What `stays` takes up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictCase:
    """Two claims that are said to contradict each other, of which somebody proposes to strike one through."""

    stays: Excerpt
    falls: Excerpt
    """The notes that they stand in."""
    kept: Excerpt
    struck: Excerpt
    """Their texts are the claims."""


Case = LinkCase | ClaimCase | MergeCase | ConflictCase

_NOT_OPENED = "The sources, as whoever made the claim named them. Nobody has opened them for you:"
_TO_OPEN = "The sources, as whoever made the claim named them. You may open these pages, and search for others:"


def excerpts_of(case: Case) -> tuple[Excerpt, ...]:
    """Everything in a prompt for `case` that is not ours, for the gate and its log."""
    match case:
        case LinkCase():
            return (case.first, case.second, case.edge)
        case ClaimCase():
            return (case.claim, case.sources)
        case MergeCase():
            return (case.stays, *case.goes)
        case ConflictCase():
            return (case.stays, case.falls, case.kept, case.struck)
        case _:
            assert_never(case)


def janus_prompt(prompt: Prompt, mark: Mark, case: Case, *, can_open: bool = False) -> Messages:
    """The messages: the prompt's file, filled in, every word of the case between `mark`'s sentinels.

    `can_open`: the model has the web, and may open a claim's sources.
    """
    match case:
        case LinkCase(first=first, second=second, edge=edge):
            named = f"\nThe edge is called: {clean(edge.text)}" if edge.text.strip() else ""
            proposal = f"A link from “{clean(first.title)}” to “{clean(second.title)}”.{named}"
            material = _notes(mark, ("The first note", first), ("The second note", second))
        case ClaimCase(claim=claim, sources=sources):
            proposal = f"A note that says: {claim.text}"
            material = f"{_TO_OPEN if can_open else _NOT_OPENED}\n{mark.wrap(sources.text)}"
        case MergeCase(stays=stays, goes=goes):
            others = " and ".join(f"“{clean(note.title)}”" for note in goes)
            proposal = f"A merge: “{clean(stays.title)}” stays and takes up {others}."
            material = _notes(mark, ("The note that stays", stays), *(("A note that goes", note) for note in goes))
        case ConflictCase(stays=stays, falls=falls, kept=kept, struck=struck):
            proposal = (
                "A contradiction, settled: one of two claims is struck through, with a link to the other.\n"
                f"Stays, in “{clean(stays.title)}”: {kept.text}\nIs struck, in “{clean(falls.title)}”: {struck.text}"
            )
            material = _notes(mark, ("The note of the claim that stays", stays), ("The other note", falls))
        case _:
            assert_never(case)
    return fill_prompt(
        prompt,
        {
            "sentinel_open": mark.opener,
            "sentinel_close": mark.closer,
            "proposal": mark.wrap(proposal),
            "material": material,
        },
    )


def _notes(mark: Mark, *named: tuple[str, Excerpt]) -> str:
    return "\n\n".join(f"{name}:\n{mark.wrap(_note(note))}" for name, note in named)


def _note(excerpt: Excerpt) -> str:
    return f"Title: {clean(excerpt.title)}\n\n{excerpt.text}"


def parse_janus(raw: str) -> JanusVerdict | Unreadable:
    """The verdict that `raw` states in the form of `JANUS_SCHEMA`, its reason as one line of plain, bounded text.

    Fences, thinking and talk around the one object are passed over, and so are case and space around the enum; what
    is cut, doubled or of another form is `Unreadable`. Nothing is ever guessed.
    """
    found = parse_object(raw)
    if isinstance(found, Unreadable):
        return found
    said, verdict = found.get("reason"), found.get("verdict")
    if set(found) != {"reason", "verdict"} or not isinstance(said, str) or not isinstance(verdict, str):
        return Unreadable("the answer is not of the form that was asked for")
    reason = plain_reason(said)
    if not reason:
        return Unreadable("the answer gives no reason")
    match verdict.strip().upper():
        case "STANDS":
            return Stands(reason)
        case "FALLS":
            return Falls(reason)
        case "UNSURE":
            return Unsure(reason)
        case _:
            return Unreadable("the answer's verdict is none of STANDS, FALLS and UNSURE")


def word_of(verdict: JanusVerdict) -> Word:
    """The verdict as the journal and the surfaces spell it."""
    match verdict:
        case Stands():
            return "STANDS"
        case Falls():
            return "FALLS"
        case Unsure():
            return "UNSURE"
        case _:
            assert_never(verdict)
