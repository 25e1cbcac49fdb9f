"""A proposed change as the review shows it, whatever its kind: what it is, why, the exact text, and two boxes.

Whatever a note, a model or a page said is text that does nothing: it makes no link, tag, task, query or line of ours.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, cast

from aria_dream.notes.boxes import BULLET, MOMENT, parse_decided_line, render_decided_line
from aria_dream.notes.dream_note_grammar import (
    LoggedLink,
    link_end,
    parse_link,
    render_link,
)
from aria_dream.notes.plain_text import clean, escape_plain, unescape_plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

Said = Literal["done", "never again", "undone", "not done"]

LEADS: Final[Mapping[str, str]] = {
    "link": "Link",
    "place_orphan": "New note",
    "merge": "Merge",
    "update": "Change",
    "obsolete": "Mark obsolete",
    "resolve_contradiction": "Settle",
    "sync_copy": "Unite with its copy",
}
"""Kind of proposal to how its bold line begins."""
VERBS: Final[Mapping[str, str]] = {
    "link": "link them",
    "place_orphan": "place it",
    "merge": "merge them",
    "update": "change it",
    "obsolete": "mark it obsolete",
    "resolve_contradiction": "settle it so",
    "sync_copy": "unite them",
}
"""Kind of proposal to what stands behind its box."""
DONE: Final[Mapping[str, str]] = {
    "link": "linked",
    "place_orphan": "placed",
    "merge": "merged",
    "update": "changed",
    "obsolete": "marked obsolete",
    "resolve_contradiction": "settled",
    "sync_copy": "united",
}
"""Kind of proposal to what is said of it once it is done."""
LONGEST_OPENING: Final = 6_000
"""Characters of a bold line; notes whose names need more are decided in the terminal."""
ASK: Final = "Both boxes are ticked. Untick one, and the other holds."

_ASKED: Final = re.compile(rf"[ \t>]*(?:{BULLET})?{re.escape(ASK)}[ \t]*")


def is_ask(line: str) -> bool:
    """Whether the line asks which of two ticked boxes holds."""
    return _ASKED.fullmatch(line) is not None


_KINDS: Final = {lead: kind for kind, lead in LEADS.items()}
_EXACTLY: Final = "What would be written"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedChange:
    """A change that waits. Make it with `review.showing.shown_change`, whose texts are as these lines can hold them."""

    id: str
    """The proposal's id, without `aria-`."""
    kind: str
    """A key of `LEADS`."""
    ends: tuple[LoggedLink, ...]
    """Its notes, in the proposal's order; those that go, or do not exist yet, are plain."""
    proposed_on: date
    """Local."""
    reason: str
    judge: str
    confidence: float | None
    """0 to 1, two decimals; None where nobody has calibrated it."""
    janus: str = ""
    """`STANDS`, `FALLS`, `UNSURE`, or `""`."""
    janus_reason: str = ""
    remarks: tuple[tuple[str, str], ...] = ()
    """A word and a sentence each: what is lost, what is in conflict."""
    mark: str = ""
    """`review.proposal.plan_mark` of the very edits and the lines that show them. `""` where none are."""
    diff: tuple[str, ...] = ()
    """Lines of the change, as `bare` leaves them."""
    more: int = 0
    """How many lines of it were left out."""
    approve_ticked: bool = False
    never_ticked: bool = False
    tails: tuple[str, str] = ("", "")
    """What somebody, or a plugin, wrote behind the two boxes."""
    asked: bool = False
    """Both boxes are ticked somewhere, and a line asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedChange:
    """A change that was decided, in one line, with one box while it can be undone."""

    id: str
    kind: str
    """A key of `LEADS`; the heading above tells it."""
    ends: tuple[LoggedLink, ...]
    """All plain."""
    said: Said
    at: str
    """Local: `07:41`, with the day where it is another."""
    why: str = ""
    """Of `not done`: the reason."""
    undo_until: str = ""
    undo_ticked: bool = False
    told: tuple[str, ...] = ()
    """Why an undo was not done, and what to do by hand."""


ChangeItem = LoggedChange | DecidedChange


def visible(line: str) -> str:
    """One line of a note with what cannot be seen named by number: `<U+200B>`. Tabs stay."""
    return "".join(f"<U+{ord(c):04X}>" if c != "\t" and unicodedata.category(c) in _UNSEEN else c for c in line)


_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def bare(line: str) -> str:
    """One line of a note as it stands in our fence: exactly it, with what acts or cannot be seen named by number."""
    text = visible(line)
    for acting, at in (("%%", 1), ("<%", 0), ("^aria-", 0)):
        named = f"{acting[:at]}<U+{ord(acting[at]):04X}>{acting[at + 1 :]}"
        while acting in text:
            text = text.replace(acting, named)
    kept = text.rstrip()
    return kept + "".join(f"<U+{ord(c):04X}>" for c in text[len(kept) :])


def inert(text: str, *, brackets: bool = False) -> str:
    """`text` on one line as Markdown that shows exactly it and does nothing; an address is no link. `unescape_plain`
    gives the cleaned text back."""
    return _ADDRESS.sub(r"\1&#58;", escape_plain(text, brackets=brackets))


_ADDRESS: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\?:(?=//)")


def _plain(title: str, *, comma: bool = False) -> str:
    text = inert(title).replace("·", "&middot;").replace("←", "&larr;")
    return text.replace(",", "\\,") if comma else text


def _separators(kind: str, count: int) -> list[str]:
    first = {"merge": " ← ", "sync_copy": " ← ", "link": " → "}.get(kind, " · ")
    return ["", first, *[" · "] * count][:count]


def _ends(kind: str, ends: Sequence[LoggedLink], *, comma: bool = False) -> str:
    shown = (_plain(end.title, comma=comma) if end.style == "plain" else render_link(end) for end in ends)
    return "".join(f"{gap}{end}" for gap, end in zip(_separators(kind, len(ends)), shown, strict=True))


def name_of_change(kind: str, titles: Sequence[str]) -> str:
    """A change in a terminal: `Merge: Keep ← Drop`."""
    gaps = _separators(kind, len(titles))
    return f"{LEADS[kind]}: " + "".join(f"{gap}{title}" for gap, title in zip(gaps, titles, strict=True))


_SEPARATOR: Final = re.compile(" [·←→] ")


def _parse_ends(text: str) -> tuple[LoggedLink, ...]:
    found = []
    at = 0
    while at <= len(text):
        stop = link_end(text, at)
        gap = None if stop is None else _SEPARATOR.match(text, stop)
        if stop is None or (gap is None and stop != len(text)):
            gap = _SEPARATOR.search(text, at)
            stop = gap.start() if gap else len(text)
        found.append(parse_link(text[at:stop].strip()))
        at = gap.end() if gap else len(text) + 1
    return tuple(found)


def opening(kind: str, ends: Sequence[LoggedLink]) -> str:
    """The bold line that names the change's notes."""
    return f"**{LEADS[kind]}: {_ends(kind, ends)}**"


_OPENING: Final = re.compile(
    rf"[ \t>]*(?:{BULLET})?\*\*(?P<lead>{'|'.join(LEADS.values())}): (?P<ends>.+)\*\*[ \t]*"
)


def parse_opening(line: str) -> tuple[str, tuple[LoggedLink, ...]] | None:
    """Kind and notes of a bold line of ours; None where the line is none."""
    found = _OPENING.fullmatch(line)
    return None if found is None else (_KINDS[found["lead"]], _parse_ends(found["ends"]))


def render_change(change: ChangeItem) -> str:
    """The change's lines, each with its line end."""
    if isinstance(change, DecidedChange):
        told = "".join(f"- not undone: {inert(sentence)}\n" for sentence in change.told)
        return f"- {render_decided(change)}\n{told}"
    judge = re.sub(r"[),]", r"\\\g<0>", inert(change.judge, brackets=True))
    sure = "" if change.confidence is None else f", {change.confidence:.2f}"
    lines = [
        opening(change.kind, change.ends),
        f"proposed: {change.proposed_on.isoformat()}",
        f"why: {inert(change.reason)} ({judge}{sure})",
    ]
    if change.janus:
        lines.append(f"Janus: {change.janus}" + (f", {inert(change.janus_reason)}" if change.janus_reason else ""))
    lines += [f"{label}: {inert(text)}" for label, text in change.remarks]
    if change.mark:
        lines += ["", *_shown(change)]
    approve, never = ("x" if ticked else " " for ticked in (change.approve_ticked, change.never_ticked))
    first, second = (f" {tail}" if tail else "" for tail in change.tails)
    lines += ["", f"- [{approve}] {VERBS[change.kind]} ^aria-{change.id}{first}"]
    lines += [f"- [{never}] never again ^aria-{change.id}-no{second}"]
    lines += [f"- {ASK}"] if change.asked else []
    return "".join(f"{line}\n" for line in lines)


def _shown(change: LoggedChange) -> list[str]:
    runs = [len(run) for line in change.diff for run in re.findall("`+", line)]
    fence = "`" * max(3, 1 + max(runs, default=0))
    lines = [f"> [!example]- {_EXACTLY} ({change.mark})", f"> {fence}diff"]
    lines += [f"> {line}".rstrip() for line in change.diff]
    lines.append(f"> {fence}")
    if change.more:
        lines.append(f"> {change.more} more lines: `aria-dream review {change.id}`")
    return lines


def render_decided(change: DecidedChange) -> str:
    """The decided line without its bullet and line end."""
    done = DONE[change.kind]
    lead = {"done": done, "not done": f"not {done}"}.get(change.said, change.said)
    why = f": {inert(change.why)}" if change.said == "not done" and change.why else ""
    said = f"{lead}: {_ends(change.kind, change.ends, comma=True)}, {change.at}{why}"
    return render_decided_line(said, change.id, change.undo_until, ticked=change.undo_ticked)


_DECIDED: Final = re.compile(
    rf"(?P<lead>never again|undone|(?:not )?(?:{'|'.join(DONE.values())})): (?P<ends>(?:\\.|[^,\\])+), "
    rf"(?P<at>{MOMENT})(?:: ?(?P<why>.*))?"
)


def parse_decided(line: str) -> DecidedChange | None:
    """What a decided line says, bullet included; None where the line is none. Its kind is known where it was done or
    not; else it is `""`, and the heading above tells it."""
    line_ = parse_decided_line(line)
    found = None if line_ is None else _DECIDED.fullmatch(line_.said)
    if line_ is None or found is None:
        return None
    lead = found["lead"]
    kind = next((kind for kind, done in DONE.items() if lead in (done, f"not {done}")), "")
    said = "done" if kind and not lead.startswith("not ") else "not done" if kind else lead
    return DecidedChange(
        id=line_.id,
        kind=kind,
        ends=tuple(replace(end, target="", style="plain") for end in _parse_ends(found["ends"])),
        said=cast("Said", said),
        at=found["at"],
        why=unescape_plain(found["why"] or ""),
        undo_until=line_.undo_until,
        undo_ticked=line_.undo_ticked,
    )


_CALLOUT: Final = re.compile(rf"[ \t]*> ?\[![a-z]+\][-+]? {_EXACTLY} \((?P<mark>[0-9a-f]{{8,64}})\)")
_FENCE: Final = re.compile(r">[ \t]*(`{3,})(?:diff)?")


def parse_mark(line: str) -> str:
    """The mark of the change that the callout below shows; `""` where the line begins none."""
    found = _CALLOUT.fullmatch(line)
    return found["mark"] if found else ""


def parse_fence(line: str) -> str:
    """The fence that the line opens in our callout; `""` where it opens none."""
    found = _FENCE.fullmatch(line.rstrip())
    return found[1] if found else ""


def parse_fenced(line: str, fence: str) -> str | None:
    """The line of a change that a line inside `fence` shows; None where it closes it."""
    text = line.rstrip()
    if text.removeprefix(">").strip() == fence:
        return None
    return text.removeprefix("> ") if text.startswith("> ") else text.removeprefix(">")


def lines_shown(lines: Sequence[str]) -> tuple[str, ...]:
    """What the callout shows whose first line stands before `lines`; nothing where its fence is not whole."""
    fence = parse_fence(lines[0]) if lines else ""
    shown: list[str] = []
    for line in lines[1:] if fence else ():
        said = parse_fenced(line, fence)
        if said is None:
            return tuple(shown)
        shown.append(said)
    return ()


def plain_ends(ends: Sequence[LoggedLink]) -> tuple[LoggedLink, ...]:
    """The notes as text."""
    return tuple(LoggedLink(target="", title=clean(end.title), style="plain") for end in ends)
