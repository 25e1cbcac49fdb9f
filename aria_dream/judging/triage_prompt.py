"""What the judge of L1 is asked: two notes and the way between them, as data, in the words of `dream-triage.md`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from aria_dream.judging.datamark import harmless_text
from aria_dream.judging.prompt_text import Messages, Prompt, estimate_tokens, fill_prompt
from aria_dream.markdown.no_words import pasted
from aria_dream.notes.plain_text import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.markdown.note import Note

PROMPT_NAME = "dream-triage"
RECIPE = "2"
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
    cuts += [(start + note.body_start, end + note.body_start) for start, end in pasted(body)]
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
