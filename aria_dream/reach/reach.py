"""The reach (L2): what one turn of a model outside is asked, and what its answer says. Tolerant, never guessing.

Only `ShareableExcerpt`s go in. What comes out is an enum and a few bounded lines of text that does nothing: an answer
names no note, sets nothing and adds no line of ours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, assert_never, cast

from aria_dream.judging.prompt_text import fill_prompt, harmless_text
from aria_dream.notes.plain_text import clean
from aria_dream.privacy.sharing import ShareableExcerpt
from aria_dream.reach.citation import Source, inert, is_notes_line, without_marks
from aria_dream.reach.source_grammar import is_source, parse_sources, split_sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.judging.prompt_text import Prompt
    from aria_dream.judging.triage_prompt import Mark

ReachVerdict = Literal["orphan", "homes", "neither"]

PROMPT_NAME = "dream-reach"
PLACEHOLDERS = frozenset({"sentinel_open", "sentinel_close", "max_web_turns", "request"})
"""What the prompt's file must hold."""
LONGEST_PROMPT = 1_048_576
"""Characters that Codex CLI takes on its standard input."""
LONGEST_ANSWER = 65_536
MOST_LINES = 4
LONGEST_LINE = 600
LONGEST_EDGE = 80
MOST_EDGE_WORDS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalAsk:
    """Two notes that resonate: does something outside connect them?"""

    first: ShareableExcerpt
    second: ShareableExcerpt
    way: ShareableExcerpt
    """The titles between them, or that there is no way."""
    reason: ShareableExcerpt
    """Why the local judge kept the pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalAsk:
    """A seed of the writer: does the source say it, and where does it belong?"""

    header: ShareableExcerpt
    source: ShareableExcerpt
    """Verbatim but for what may not leave."""
    struck: ShareableExcerpt
    resonance: ShareableExcerpt
    notes: ShareableExcerpt | None = None
    """Numbered titles of the writer's notes that the seed names; None where it names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer that keeps to the contract."""

    verdict: ReachVerdict
    argument: tuple[str, ...]
    """At most `MOST_LINES` lines of plain text; a longer argument is cut and ends with an ellipsis."""
    sources: tuple[Source, ...]
    """What the answer lists, at most `MOST_SOURCES`; nobody has looked at them, and some may be none (`is_source`)."""
    edge: str
    """What the relation is called; `""` unless the verdict is `homes` and names it."""

    @property
    def is_unsourced_orphan(self) -> bool:
        """It claims to be new and cites no work: shown with a warning, never counted as a finding."""
        return self.verdict == "orphan" and not any(map(is_source, self.sources))

    @property
    def is_finding(self) -> bool:
        """Something that a cold reader and a person can look at: a named edge, or an argued and sourced orphan."""
        match self.verdict:
            case "homes":
                return bool(self.edge)
            case "orphan":
                return bool(self.argument) and not self.is_unsourced_orphan
            case "neither":
                return False
            case _:
                assert_never(self.verdict)


@dataclass(frozen=True, slots=True)
class Unparsed:
    """The model said something that is no answer. It is kept for the reader and never promoted."""

    raw: str


def excerpts_of(ask: InternalAsk | ExternalAsk) -> tuple[ShareableExcerpt, ...]:
    """Everything of the vault that a prompt for `ask` holds, for the gate and its log."""
    match ask:
        case InternalAsk():
            return (ask.first, ask.second, ask.way, ask.reason)
        case ExternalAsk():
            listed = () if ask.notes is None else (ask.notes,)
            return (ask.header, ask.source, ask.struck, ask.resonance, *listed)
        case _:
            assert_never(ask)


def reach_prompt(prompt: Prompt, mark: Mark, ask: InternalAsk | ExternalAsk, *, max_web_turns: int) -> str:
    """The one text that is sent: the prompt's file, filled in, every word of the vault between `mark`'s sentinels.

    Raises:
        TypeError: a part is something else than a `ShareableExcerpt`.
        ValueError: it is longer than `LONGEST_PROMPT`.
    """
    if not all(isinstance(part, ShareableExcerpt) for part in excerpts_of(ask)):
        raise TypeError("only a ShareableExcerpt may leave this machine")
    values = {
        "sentinel_open": mark.opener,
        "sentinel_close": mark.closer,
        "max_web_turns": str(max_web_turns),
        "request": _request(mark, ask),
    }
    messages = fill_prompt(prompt, values)
    text = "\n\n".join(part for part in (messages.system, messages.user) if part) + "\n"
    if len(text) > LONGEST_PROMPT:
        raise ValueError(f"the prompt has {len(text)} characters; Codex takes {LONGEST_PROMPT}")
    return text


def _request(mark: Mark, ask: InternalAsk | ExternalAsk) -> str:
    match ask:
        case InternalAsk():
            kind = "internal"
            parts: tuple[tuple[str, str], ...] = (
                ("The first note", _note(ask.first)),
                ("The second note", _note(ask.second)),
                ("The way between them, in titles", ask.way.text),
                ("Why the local judge kept them", ask.reason.text),
            )
        case ExternalAsk():
            kind = "external"
            parts = (
                ("What the writer noted", ask.header.text),
                ("Its source, verbatim", ask.source.text),
                ("Why it struck the writer", ask.struck.text),
                ("What it seems to touch", ask.resonance.text),
                ("The writer's notes that it names, by number", "" if ask.notes is None else ask.notes.text),
            )
    said = [f"{name}:\n{mark.wrap(text)}" for name, text in parts if text.strip()]
    return "\n\n".join((f"Kind: {kind}", *said))


def _note(excerpt: ShareableExcerpt) -> str:
    return f"Title: {excerpt.title}\n\n{excerpt.text}"


_DECORATION = " \t*_`#>\"'“”„«»→✅✔☑\u200b\u2060\ufeff\ufe0f"
_VERDICT = r"(?P<verdict>orphan|homes|neither)"
_LEAD = r"(?:(?:final |my )?(?:verdict|urteil|veredicto|verdetto|oordeel) ?[:=–—-] ?)"
_SURE = r"(?: ?\((?:(?:very )?(?:high|medium|moderate|low)(?: confidence)?|confidence ?[:=]? ?[\w.]+%?)\))"
_ALONE = re.compile(rf"{_LEAD}?[*_`(\[]?{_VERDICT}[*_`)\]]?(?: candidate)?{_SURE}? ?[.:!]?", re.IGNORECASE)
_LED = re.compile(
    rf"(?:(?i:{_LEAD})[*_`]?(?P<told>(?i:orphan|homes|neither))|[*_`]?(?P<verdict>ORPHAN|HOMES|NEITHER))"
    r"[*_`]?(?: ?[:–—]| -(?= )) ?(?P<rest>\S.*)"
)
_ANY_VERDICT = re.compile(r"\b(?:orphans?|homes|neither)\b", re.IGNORECASE)
_FENCES = ("```", "~~~")
_THOUGHT = re.compile(r"\A\s*<(?P<tag>think|thinking|reasoning)>.*?</(?P=tag)>", re.DOTALL | re.IGNORECASE)
_LABEL = re.compile(r"\A[#*_ ]*(?:codex )?(?:argument|argued|reasoning|begründung)[*_ ]*(?::[*_]*|\Z) ?", re.IGNORECASE)
_EDGE = re.compile(
    r"[ *_-]*(?:name of the )?(?:edge|kante|arista|arête)[*_]* ?[:=–—][*_]* ?(?P<edge>.*)", re.IGNORECASE
)
_EDGE_END = re.compile(r"(?<=\w[.;])[*_”\"]* +| +[–—] +| +\(")
"""Where the name of an edge may be over on a line that goes on."""


def parse_answer(text: str) -> Answer | Unparsed:
    """What the model's last message says by the contract of the prompt; `Unparsed`, raw, where that is not certain.

    The first line must be the verdict (bold, lower case, `Verdict:` before it and a fence around all are forgiven),
    and no later line may be another one. A source is what stands in the list under `Sources:`; an address elsewhere
    is none, since nobody said that it is one.
    """
    if len(text) > LONGEST_ANSWER:
        return Unparsed(text)
    lines = _lines(_THOUGHT.sub("", text.removeprefix("\ufeff"), count=1))
    opened = _opening(lines[0]) if lines else None
    if opened is None:
        return Unparsed(text)
    verdict, rest = opened
    if any((later := _opening(line)) is not None and later[0] != verdict for line in lines[1:] if line):
        return Unparsed(text)
    said, listed = split_sources([line for line in lines[1:] if line])
    lines = [rest, *(line for line in said if verdict != "homes" or not is_notes_line(line))]
    argument = [line for line in map(_argument_line, lines) if line]
    edge, argument = _named(argument) if verdict == "homes" else ("", argument)
    return Answer(verdict=verdict, argument=_bounded(argument), sources=parse_sources(listed), edge=edge)


def _lines(text: str) -> list[str]:
    """The lines, space in them made one blank; without the empty ones before the first, and the fence around all."""
    lines = [" ".join(line.split()) for line in re.split(r"\r\n|\n|\r", text)]
    written = [number for number, line in enumerate(lines) if line]
    if len(written) > 1 and lines[written[-1]] in _FENCES and lines[written[0]].startswith(lines[written[-1]]):
        lines = lines[written[0] + 1 : written[-1]]
    start = next((number for number, line in enumerate(lines) if line.strip(_DECORATION)), len(lines))
    return lines[start:]


def _opening(line: str) -> tuple[ReachVerdict, str] | None:
    """The verdict that a line states, and what it goes on to say; None where it states none, or might state two."""
    bare = re.sub(r"\A(?:[-+•]|\d[.)]) ", "", line.replace("**", "").replace("__", "").strip(_DECORATION))
    alone = _ALONE.fullmatch(bare)
    if alone is not None:
        return cast("ReachVerdict", alone["verdict"].lower()), ""
    led = _LED.fullmatch(bare)
    if led is None or _ANY_VERDICT.search(led["rest"]):
        return None
    return cast("ReachVerdict", (led["told"] or led["verdict"]).lower()), led["rest"]


def _argument_line(line: str) -> str:
    bare = without_marks(re.sub(r"\A[-*+•] ", "", line)[: 20 * LONGEST_LINE])
    bare = _LABEL.sub("", bare, count=1)
    text = clean(inert(clean(harmless_text(bare))))
    return text if len(text) <= LONGEST_LINE else clean(text[: LONGEST_LINE - 1]) + "…"


def _bounded(lines: Sequence[str]) -> tuple[str, ...]:
    if len(lines) <= MOST_LINES:
        return tuple(lines)
    last = lines[MOST_LINES - 1].removesuffix("…")
    return (*lines[: MOST_LINES - 1], clean(last[: LONGEST_LINE - 2]) + " …")


def _named(argument: list[str]) -> tuple[str, list[str]]:
    """What the relation is called, and the argument without it. A sentence behind the name stays argument."""
    for number, line in enumerate(argument):
        found = _EDGE.fullmatch(line)
        if found is None:
            continue
        whole = clean(found["edge"])
        ends = [len(whole), *(end.start() for end in _EDGE_END.finditer(whole))]
        for end in ends:
            edge = whole[:end].strip(_DECORATION).removesuffix(".")
            if edge and len(edge) <= LONGEST_EDGE and len(edge.split()) <= MOST_EDGE_WORDS:
                rest = whole[end:].lstrip(' *_"”–—')
                return edge, [*argument[:number], *([rest] if rest else []), *argument[number + 1 :]]
        break
    return "", argument
