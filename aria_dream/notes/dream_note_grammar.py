"""The lines our notes are made of, each with its printer and its parser: a link, a pair, a tick box, a decision."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast
from urllib.parse import quote, unquote

from aria_dream.notes.boxes import (
    ITEM,
    MOMENT,
    parse_decided_line,
    render_decided_line,
    tick_mark,
)
from aria_dream.notes.plain_text import clean, escape_plain, unescape_plain
from aria_dream.ranking.juxtaposition import title_of

if TYPE_CHECKING:
    from collections.abc import Callable

Style = Literal["wiki", "markdown", "plain"]
Verdict = Literal["linked", "never again", "expired", "undone", "not placed"]
UNCONNECTED = "only the text connects them"

_NO_WIKILINK = frozenset("^|[]\\`$<>")
"""A target with one of these would end, split or swallow the wikilink; a percent-encoded Markdown link holds it."""
_PERCENT = frozenset('"#$%&()*:<>?[\\]^`{|}~=')
_UNREACHABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SEPARATOR = " ↔ "


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedLink:
    """One end of a pair as a note of ours shows it. Make it with `logged_link`, which keeps its promises."""

    target: str
    """What the link looks up, decoded; `""` for a title no link can reach, which is shown as text."""
    title: str
    """The note's title, cleaned."""
    style: Style


def logged_link(
    path: str,
    link_text: Callable[[str], str],
    *,
    markdown_links: bool = False,
    name_of: Callable[[str], str] = title_of,
) -> LoggedLink:
    """The link to the note at vault path `path`; `link_text(path)` is the unambiguous target without `.md`,
    `name_of(path)` what it shows.

    A name with `#` or space at its ends cannot be reached by any link of Obsidian, nor one with control characters or
    bytes that are no UTF-8: such a note is named, not linked. Other hostile names become percent-encoded Markdown
    links.
    """
    target, title = link_text(path), clean(name_of(path)) or "untitled"
    if not target or target != target.strip() or "#" in target or _UNREACHABLE.search(target):
        return LoggedLink(target="", title=title, style="plain")
    encode = markdown_links or bool(_NO_WIKILINK.intersection(target)) or "%%" in target
    if encode:
        whole = target if target.lower().endswith(".md") else target + ".md"
        return LoggedLink(target=whole, title=title, style="markdown")
    if not _shown_safely(title) and clean(title_of(target)) != title:
        return LoggedLink(target="", title=title, style="plain")
    return LoggedLink(target=target, title=title, style="wiki")


def _shown_safely(title: str) -> bool:
    return escape_plain(title) == title and "|" not in title


def render_link(link: LoggedLink) -> str:
    """The link as Markdown: `[[Compost]]`, `[[Garden/Compost|Compost]]`, `[Compost](Compost.md)`, or plain text."""
    match link.style:
        case "plain":
            return escape_plain(link.title)
        case "markdown":
            encoded = "".join(quote(c, safe="") if c in _PERCENT or c.isspace() else c for c in link.target)
            return f"[{escape_plain(link.title)}]({encoded})"
        case "wiki":
            itself = "/" not in link.target and clean(title_of(link.target)) == link.title
            display = "" if itself or not _shown_safely(link.title) else f"|{link.title}"
            return f"[[{link.target}{display}]]"


_WIKI = re.compile(r"\[\[([^|\[\]\r\n]+)(?:\\?\|([^\[\]\r\n]*))?\]\]")
_MARKDOWN = re.compile(r"\[((?:\\.|[^\[\]\\])*)\]\(<?([^()<>\r\n]*)>?\)")


def parse_link(text: str) -> LoggedLink:
    """The link that `text` is, whole; anything that is no link is a plain title. Inverse of `render_link`."""
    wiki = _WIKI.fullmatch(text)
    if wiki is not None:
        target = wiki[1].strip()
        return LoggedLink(target=target, title=clean(wiki[2] or title_of(target)), style="wiki")
    markdown = _MARKDOWN.fullmatch(text)
    if markdown is not None and markdown[2]:
        return LoggedLink(target=unquote(markdown[2]), title=unescape_plain(markdown[1]), style="markdown")
    return LoggedLink(target="", title=unescape_plain(text), style="plain")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a pair, as its line in the note says."""

    verdict: Verdict
    at: str
    """Local: `07:41`, with the day where it is another (`2 Dec 07:41`)."""
    where: str = ""
    """`linked`: title of the note that got the link; `not placed`: the reason; else `""`."""
    undo_until: str = ""
    """Local end of the undo window; `""` once there is nothing to undo any more."""
    undo_ticked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedPair:
    """A survivor as the note shows it. Scores have three decimals, probabilities two."""

    id: str
    """The proposal's id, without `aria-`."""
    from_: LoggedLink
    to: LoggedLink
    score: float
    path: tuple[str, ...] | None
    """Titles along the way, both ends included; None for a pair that no links connect."""
    reason: str
    judge: str
    probability: float | None
    link_ticked: bool = False
    never_ticked: bool = False
    tails: tuple[str, str] = ("", "")
    """What somebody, or a plugin, wrote behind the two boxes."""
    outcome: Outcome | None = None
    """None while the boxes stand."""


NUMBER = r"-?\d+(?:\.\d+)?"
_PAIR = re.compile(ITEM + rf"(?P<ends>.+)[ \t]\((?P<score>{NUMBER})\)[ \t]*")
_PATH = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?path:[ \t]*(?P<path>.+)")
_KEPT = re.compile(
    r"[ \t>]*(?:[-*+][ \t]+)?kept:[ \t]*(?P<reason>.*) "
    rf"\((?P<judge>(?:\\.|[^()\\])*?)(?:, (?P<p>{NUMBER}))?\)[ \t]*"
)
_PLACED = re.compile(rf"linked in (?P<where>.*), (?P<at>{MOMENT})")
_PLACED_UNDO = re.compile(rf"linked in (?P<where>.*?) (?P<at>{MOMENT})")
_NOT_PLACED = re.compile(rf"not placed, (?P<at>{MOMENT}): (?P<where>.*)")
_PLAIN_OUTCOME = re.compile(rf"(?P<verdict>never again|expired|undone),? (?P<at>{MOMENT})")
_DAY_AT_END = re.compile(r"(?:^|(?<= ))(\d{1,2}) ([A-Z][a-z]{2}(?: \d{4})?)$")


def render_pair(pair: LoggedPair) -> str:
    """The pair's lines, each with its line end."""
    ends = f"{render_link(pair.from_)}{_SEPARATOR}{render_link(pair.to)}"
    way = UNCONNECTED if pair.path is None else " → ".join(escape_plain(title) for title in pair.path)
    sure = "" if pair.probability is None else f", {pair.probability:.2f}"
    judge = re.sub(r"[),]", r"\\\g<0>", escape_plain(pair.judge, brackets=True))
    kept = f"{escape_plain(pair.reason)} ({judge}{sure})"
    lines = [f"- **{ends}** ({pair.score:.3f})", f"  path: {way}", f"  kept: {kept}"]
    if pair.outcome is None:
        tails = [f" {tail}" if tail else "" for tail in pair.tails]
        lines.append(f"    - [{tick_mark(ticked=pair.link_ticked)}] link them ^aria-{pair.id}{tails[0]}")
        lines.append(f"    - [{tick_mark(ticked=pair.never_ticked)}] never again ^aria-{pair.id}-no{tails[1]}")
    else:
        lines.append(f"    - {render_outcome(pair.outcome, pair.id)}")
    return "".join(line + "\n" for line in lines)


def render_outcome(outcome: Outcome, id_: str) -> str:
    """The decided line without its bullet and line end: plain text, or one box while it can be undone."""
    where = escape_plain(outcome.where)
    comma = "" if outcome.undo_until else ","
    match outcome.verdict:
        case "linked":
            if outcome.undo_until:  # a title that ends in a day must not be read as a part of the moment
                where = _DAY_AT_END.sub(r"\1&#32;\2", where)
            said = f"linked in {where}{comma} {outcome.at}"
        case "not placed":
            said = f"not placed, {outcome.at}: {where}"
        case "never again" | "expired" | "undone":
            said = f"{outcome.verdict}{comma} {outcome.at}"
    return render_decided_line(said, id_, outcome.undo_until, ticked=outcome.undo_ticked)


def parse_pair_line(line: str) -> tuple[LoggedLink, LoggedLink, float] | None:
    """Both ends and the score of a pair's first line; None where the line is none."""
    found = _PAIR.fullmatch(line)
    if found is None:
        return None
    ends = found["ends"].strip()
    for mark in ("**", "__"):
        if ends.startswith(mark) and ends.endswith(mark) and len(ends) > 2 * len(mark):
            ends = ends[len(mark) : -len(mark)]
            break
    cut = _end_of_first(ends)
    if cut is None:
        return None
    first, second = parse_link(ends[:cut].strip()), parse_link(ends[cut + len(_SEPARATOR) :].strip())
    return (first, second, float(found["score"])) if first.title and second.title else None


def _end_of_first(ends: str) -> int | None:
    """Where the separator between both ends stands: behind the first link, which may hold the arrow itself."""
    cut = ends.find(_SEPARATOR, link_end(ends, 0) or 0)
    return cut if cut > 0 else None


def link_end(text: str, start: int) -> int | None:
    """Offset behind the link that starts at `start`; None where none does."""
    found = _WIKI.match(text, start) or _MARKDOWN.match(text, start)
    return None if found is None else found.end()


def parse_path_line(line: str) -> tuple[str, ...] | Literal["unconnected"] | None:
    """Titles along the way, `"unconnected"`, or None where the line is no `path:` line."""
    found = _PATH.fullmatch(line)
    if found is None:
        return None
    titles = tuple(unescape_plain(title) for title in found["path"].split(" → "))
    return titles if len(titles) > 1 else "unconnected"


def parse_kept_line(line: str) -> tuple[str, str, float | None] | None:
    """Reason, judge and probability of a `kept:` line; None where the line is none."""
    found = _KEPT.fullmatch(line)
    if found is None:
        return None
    probability = None if found["p"] is None else float(found["p"])
    return unescape_plain(found["reason"]), unescape_plain(found["judge"]), probability


def parse_outcome(line: str) -> tuple[str, Outcome] | None:
    """Id and outcome of a decided line, bullet included; None where the line is none."""
    line_ = parse_decided_line(line)
    if line_ is None:
        return None
    placed = _PLACED_UNDO if line_.undo_until and not line_.is_old else _PLACED
    for verdict, pattern in (("linked", placed), ("not placed", _NOT_PLACED), ("", _PLAIN_OUTCOME)):
        if rest := pattern.fullmatch(line_.said):
            named = rest.groupdict()
            return line_.id, Outcome(
                verdict=cast("Verdict", verdict or named["verdict"]),
                at=named["at"],
                where=unescape_plain(named.get("where") or ""),
                undo_until=line_.undo_until,
                undo_ticked=line_.undo_ticked,
            )
    return None
