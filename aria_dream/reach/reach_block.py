"""A reach as its block in the dream note: what was asked, what was argued and cited, and only then the verdict.

The layers are those of the reach's specification (section 7); the latent ones stand first, as everywhere in a dream.
Whatever a model or a page said is shown as text that does nothing.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from aria_dream.notes.dream_note_grammar import UNCONNECTED, LoggedLink, render_link
from aria_dream.notes.plain_text import escape_plain
from aria_dream.reach.reach import Answer, ReachVerdict, Unparsed

if TYPE_CHECKING:
    from datetime import time

    from aria_dream.reach.citation import Source

REACH_FOOTER = "Propose-only — dream-tagged, unvetted by any cold pass. Awaiting Janus and you (L3)."
UNSOURCED = (
    "⚠ No source is cited (an address, a DOI, arXiv or ISBN number, or author and year): this does not count as a"
    " finding."
)
NO_LINK = "No link is proposed: "
LONGEST_RAW = 20_000
"""Characters of an unreadable answer that are shown."""

_WROTE_NOTHING = "Codex wrote nothing."
_QUESTION = "Question: home inward, or new territory?"
_SHARE = "(dreaming sub-allocation; interactive Codex untouched.)"
_SAID: dict[ReachVerdict, str] = {"orphan": "ORPHAN candidate", "homes": "HOMES", "neither": "NEITHER"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedPair:
    """Two notes that a reach was made on. Texts are on one line, as `clean` leaves them."""

    from_: LoggedLink
    to: LoggedLink
    path: tuple[str, ...] | None
    """Titles along the way, both ends included; None where only the text connects them."""
    reason: str
    """Why the local judge kept the pair."""
    judge: str


@dataclass(frozen=True, slots=True)
class ReachedSeed:
    """A seed of the writer that a reach was made on."""

    header: str
    source: str = ""
    """What the claim was tested against, as the seed names it; `""` in blocks of earlier versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer:
    """The reach ended without an answer."""

    reason: str
    """One clause, on one line."""
    sent: bool
    """Whether it is spent."""
    partial: str = ""
    """What had come so far, as `legible` leaves it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLine:
    """What was spent when the block was written, this reach included."""

    in_week: int
    week_limit: int
    in_5h: int
    limit_5h: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachBlock:
    """One reach as its block shows it: `parse_reach_blocks(render_reach_block(b))` is `b`."""

    at: time
    """Local, to the minute."""
    subject: ReachedPair | ReachedSeed
    origin: str
    """Where the subject came from, such as `survivor from the 19:53 idle dream`."""
    outcome: Answer | Unparsed | NoAnswer
    """The raw text of an `Unparsed` is as `legible` leaves it."""
    budget: BudgetLine | None
    between: tuple[LoggedLink, LoggedLink] | None = None
    """The two notes of the writer that a seed's edge connects."""
    no_link: str = ""
    """Why a seed's edge connects none, as one clause; `""` where it does, and of a pair."""


def legible(raw: str) -> str:
    """`raw` with line ends `\\n` and without control and direction characters, cut at `LONGEST_RAW`. Idempotent.

    `<%` is torn apart: Templater runs what stands behind it in a new note, in a code block as well.
    """
    text = "".join(map(_legible, raw.replace("\r\n", "\n").replace("\r", "\n"))).replace("<%", "< %")
    return text if len(text) <= LONGEST_RAW else text[: LONGEST_RAW - 1] + "…"


def _legible(character: str) -> str:
    if character in "\n\t":
        return character
    category = unicodedata.category(character)
    if category == "Cs":
        return "\ufffd"
    return "" if category in ("Cc", "Cf", "Zl", "Zp") else character


def render_reach_block(block: ReachBlock) -> str:
    """The block as Markdown, from its heading to the line end of its last line."""
    lines = [f"## {block.at:%H:%M} — reach (Codex + web)", ""]
    lines += [*_subject_lines(block), _QUESTION, ""]
    match block.outcome:
        case Answer() as answer:
            lines += _answer_lines(answer, _home_lines(block))
        case Unparsed(raw):
            lines += ["Codex wrote, and no verdict can be read in it:", *_fenced(raw)] if raw else [_WROTE_NOTHING]
            lines.append("Verdict: unparsed.")
        case NoAnswer() as none:
            lines += ["What had come so far:", *_fenced(none.partial)] if none.partial else []
            lines.append(f"No answer ({'spent' if none.sent else 'nothing was sent'}): {escape_plain(none.reason)}")
        case _:
            assert_never(block.outcome)
    if block.budget is not None:
        week, five = block.budget, block.budget
        lines.append(
            f"Budget: reach {week.in_week} this week / {week.week_limit}"
            f" · {five.in_5h} in this 5h window / {five.limit_5h}. {_SHARE}"
        )
    return "".join(f"{line}\n" for line in (*lines, "", REACH_FOOTER))


def _subject_lines(block: ReachBlock) -> list[str]:
    origin = escape_plain(block.origin, brackets=True).replace(")", "\\)")
    match block.subject:
        case ReachedPair() as pair:
            judge = re.sub(r"[),]", r"\\\g<0>", escape_plain(pair.judge, brackets=True))
            way = UNCONNECTED if pair.path is None else " → ".join(map(escape_plain, pair.path))
            return [
                f"Reached on **{render_link(pair.from_)} ↔ {render_link(pair.to)}** ({origin}).",
                f"path: {way}",
                f"kept: {escape_plain(pair.reason)} ({judge})",
            ]
        case ReachedSeed(header, source):
            said = f"`{source}`" if re.fullmatch(r"https?://[^\s`]+", source) else escape_plain(source)
            return [f"Reached on **{escape_plain(header)}** ({origin}).", *([f"source: {said}"] if source else [])]
        case _:
            assert_never(block.subject)


def _home_lines(block: ReachBlock) -> list[str]:
    if block.between is not None:
        return ["", f"Between: **{render_link(block.between[0])} ↔ {render_link(block.between[1])}**"]
    return ["", f"{NO_LINK}{escape_plain(block.no_link)}"] if block.no_link else []


def _answer_lines(answer: Answer, home: list[str]) -> list[str]:
    lines = ["Codex argued:", *(f"> {escape_plain(line, line_start=True)}" for line in answer.argument)]
    # A blank line ends each part: without it a reader of Markdown takes the next line for more of the quote or item.
    lines += ["", "Sources:", *map(_render_source, answer.sources)]
    if answer.edge:
        lines += ["", f"Edge: {escape_plain(answer.edge)}"]
    lines += [*home, "", f"Verdict: {_SAID[answer.verdict]}."]
    return [*lines, UNSOURCED] if answer.is_unsourced_orphan else lines


def _render_source(source: Source) -> str:
    if not source.url:
        return f"- {escape_plain(source.title, line_start=True)}"
    return f"- `{source.url}`" + (f" — {escape_plain(source.title)}" if source.title else "")


def _fenced(raw: str) -> list[str]:
    """`raw` as a code block that nothing in it closes."""
    runs = re.findall(r"`+", raw)
    fence = "`" * max(3, 1 + max(map(len, runs), default=0))
    return [f"{fence}text", *raw.split("\n"), fence]
