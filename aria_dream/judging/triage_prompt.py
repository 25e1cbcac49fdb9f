"""What the judge of L1 is asked, and the verdicts that any judge gives: a pair is kept, dropped, or unreadable.

The prompt holds two notes and the way between them, as data, in the words of `dream-triage.md`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, assert_never

from aria_dream.judging.prompt_text import Messages, Prompt, estimate_tokens, fill_prompt, harmless_text
from aria_dream.markdown.no_words import find_pasted
from aria_dream.notes.plain_text import clean
from aria_dream.ranking.juxtaposition import Dropped, Survivor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.markdown.note import Note
    from aria_dream.ranking.juxtaposition import Juxtaposition

@dataclass(frozen=True, slots=True)
class Keep:
    """The pair is worth the writer's morning."""

    probability: float | None
    """0 to 1. Of the embedded judge: 0.5 is its threshold, and odds above and below are those it learned. None of a
    model that says yes or no and no more."""
    reason: str
    """One clause in the writer's words, true of the two notes, without a full stop."""
    by: str = ""
    """The judge's name, where another one than was asked for has judged."""


@dataclass(frozen=True, slots=True)
class Drop:
    """The pair is not worth it; shown folded, with its reason."""

    probability: float | None
    """As in `Keep`: how likely the judge held the pair to be worth keeping, not how sure it is of the drop."""
    reason: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The judge answered something that is no verdict. Never guessed at: it counts as a drop that says so."""

    reason: str
    """What was wrong with the answer, in our words, never the answer itself."""
    by: str = ""


Verdict = Keep | Drop | Unreadable


def outcome(juxtaposition: Juxtaposition, verdict: Verdict, judge: str) -> Survivor | Dropped:
    """The survivor or the dropped pair that `verdict` makes of `juxtaposition`; `judge` is named in the log."""
    by = verdict.by or judge
    match verdict:
        case Keep(probability, reason):
            return Survivor(juxtaposition=juxtaposition, probability=probability, reason=reason, judge=by)
        case Drop(probability, reason):
            return Dropped(juxtaposition=juxtaposition, probability=probability, reason=reason, judge=by)
        case Unreadable(reason):
            return Dropped(
                juxtaposition=juxtaposition, probability=None, reason=reason, judge=by, unreadable=True
            )
        case _:
            assert_never(verdict)


PROMPT_NAME = "dream-triage"
RECIPE = "3"
"""Part of a verdict's key: raise it with every change here that changes what a model is asked."""
EXCERPT_LENGTH = 2_000
"""Characters of a note that are shown to a judge at most: the gist."""
EXCERPT_TOKENS = 2_300
"""Estimated, at most: two such excerpts, the shipped prompt and an answer fit into `WINDOW`."""
WINDOW = 8_192
"""Tokens of context that a server is asked for; always the same, since another size makes Ollama load anew."""
ANSWER_TOKENS = 512
"""Enough for the longest reason of the schema in any script, so that an answer that ends here is a broken one."""
LONGEST_REASON = 300
"""Characters. Thirty words of any language, with room."""
UNCONNECTED = "There is none: no links connect them."

VERDICT_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": LONGEST_REASON},
        "verdict": {"type": "string", "enum": ["keep", "drop"]},
    },
    "required": ["reason", "verdict"],
    "additionalProperties": False,
}
"""The reason stands first because constrained generation follows the order of the properties."""


class Excerpt(Protocol):
    """A note's title and the beginning of its text. A `ShareableExcerpt` is one."""

    @property
    def title(self) -> str: ...
    @property
    def text(self) -> str: ...


class Mark(Protocol):
    """How data is told from words of ours. `Datamark` is the only one that ships."""

    @property
    def opener(self) -> str: ...
    @property
    def closer(self) -> str: ...
    def wrap(self, text: str) -> str: ...


@dataclass(frozen=True, slots=True)
class LocalExcerpt:
    """What a judge on this machine may read of a note. It must not leave; only a `ShareableExcerpt` may."""

    title: str
    text: str


def excerpt_limit(text: str) -> int:
    """How many characters of a note with this text fit into `EXCERPT_TOKENS`; at most `EXCERPT_LENGTH`.

    Fewer in scripts of which a tokenizer makes more tokens, and where signs are quoted (`harmless_text`): HTML.
    """
    tokens = estimate_tokens(harmless_text(text[:EXCERPT_LENGTH]))
    tokens += 3 * text.count("\n", 0, EXCERPT_LENGTH)  # each line gets a mark
    return EXCERPT_LENGTH if tokens <= EXCERPT_TOKENS else EXCERPT_LENGTH * EXCERPT_TOKENS // tokens


def local_excerpt(title: str, note: Note) -> LocalExcerpt:
    """The title and the beginning of the body as a reader sees it: without properties, comments and pasted data."""
    cuts = [(span.start, span.end) for span in note.opaque if note.text.startswith(("%%", "<!--"), span.start)]
    body = note.text[note.body_start :]
    cuts += [(start + note.body_start, end + note.body_start) for start, end in find_pasted(body)]
    pieces: list[str] = []
    at, held = note.body_start, 0
    for start, end in sorted(cuts):
        if start >= at and held <= 2 * EXCERPT_LENGTH:
            pieces.append(note.text[at:start])
            held += start - at
        at = max(at, end)
    pieces.append(note.text[at : at + 2 * EXCERPT_LENGTH])
    text = "".join(pieces).strip()
    return LocalExcerpt(title=clean(title), text=text[: excerpt_limit(text)])


def with_passage(excerpt: LocalExcerpt, passage: str) -> LocalExcerpt:
    """The excerpt, and under it the passage that the dream found in the note; it may stand further down there."""
    return LocalExcerpt(title=excerpt.title, text=f"{excerpt.text}\n\nThe passage that was found: {passage}")


def triage_prompt(prompt: Prompt, mark: Mark, first: Excerpt, second: Excerpt, way: str) -> Messages:
    """The messages; `way` are the titles between both notes, or `UNCONNECTED`. All of it is wrapped by `mark`."""
    return fill_prompt(
        prompt,
        {
            "sentinel_open": mark.opener,
            "sentinel_close": mark.closer,
            "note_a": mark.wrap(_note(first)),
            "note_b": mark.wrap(_note(second)),
            "path": mark.wrap(way),
        },
    )


def way_text(titles: Sequence[str] | None) -> str:
    """Titles on the way, both ends included, as one line; that there is no way where it is None."""
    return UNCONNECTED if titles is None else " → ".join(map(clean, titles))


def too_long(messages: Messages) -> bool:
    """Whether the messages and an answer might not fit into `WINDOW`: a server would cut them without a word."""
    return estimate_tokens(messages.system) + estimate_tokens(messages.user) + ANSWER_TOKENS > WINDOW


def _note(excerpt: Excerpt) -> str:
    return f"Title: {excerpt.title}\n\n{excerpt.text}"
