"""The lines our notes are made of, each with its printer and its parser: a link, a pair, a tick box, a decision."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, cast
from urllib.parse import quote, unquote

from aria_dream.notes.boxes import (
    BULLET,
    ENDINGS,
    LABELS,
    MOMENT,
    Decides,
    parse_decided_line,
    render_decided_line,
    tick_mark,
)
from aria_dream.notes.plain_text import clean, escape_plain, unescape_plain
from aria_dream.ranking.juxtaposition import title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Style = Literal["wiki", "markdown", "plain"]
Verdict = Literal["linked", "knew it", "never again", "expired", "undone", "not placed"]
Place = Literal["near", "far", "tension"]
_NO_TAILS: Mapping[Decides, str] = MappingProxyType({})
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
    place: Place | None = None
    """Where it stands in its dream; None in a block of the first form, which named none."""
    quotes: tuple[str, str] | None = None
    """The passages that it rests on, as `clean` leaves them."""
    goes: str = ""
    """What placing the link would change, in one clause; `""` where it is not known."""
    ticked: frozenset[Decides] = frozenset()
    """The boxes that are ticked: `link`, `known`, `never`."""
    tails: Mapping[Decides, str] = field(default_factory=lambda: _NO_TAILS)
    """What somebody, or a plugin, wrote behind the boxes that have something behind them."""
    outcome: Outcome | None = None
    """None while the boxes stand."""


NUMBER = r"-?\d+(?:\.\d+)?"
_PAIR = re.compile(
    rf"[ \t>]*(?P<bullet>{BULLET})?(?P<ends>.+?)"
    rf"(?:[ \t]+\((?P<score>{NUMBER})\))?(?:[ \t]+\u00b7 (?P<place>near|far|tension))?[ \t]*"
)
_QUOTE = re.compile(r"[ \t>]*“(?P<quote>.*)” \((?P<title>(?:\\.|[^()\\])*)\)[ \t]*")
_GOES = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?goes to:[ \t]*(?P<goes>\S.*)")
_PATH = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?path:[ \t]*(?P<path>.+)")
_KEPT = re.compile(
    r"[ \t>]*(?:[-*+][ \t]+)?kept:[ \t]*(?P<reason>.*) "
    rf"\((?P<judge>(?:\\.|[^()\\])*?)(?:, (?P<p>{NUMBER}))?\)[ \t]*"
)
_PLACED = re.compile(rf"linked in (?P<where>.*), (?P<at>{MOMENT})")
_PLACED_UNDO = re.compile(rf"linked in (?P<where>.*?) (?P<at>{MOMENT})")
_NOT_PLACED = re.compile(rf"not placed, (?P<at>{MOMENT}): (?P<where>.*)")
_PLAIN_OUTCOME = re.compile(rf"(?P<verdict>knew it|never again|expired|undone),? (?P<at>{MOMENT})")
_DAY_AT_END = re.compile(r"(?:^|(?<= ))(\d{1,2}) ([A-Z][a-z]{2}(?: \d{4})?)$")


def render_pair(pair: LoggedPair) -> str:
    """The pair's lines in a dream's block, each with its line end."""
    heading = f"**{_ends(pair)}** · {pair.place or 'near'}"
    facts = [heading, *_facts(pair)]
    quotes = ["", *(f"> {quote}" for quote in _quotes(pair))] if pair.quotes else []
    return "".join(line + "\n" for line in (*facts, *quotes, "", *(f"- {line}" for line in _boxes(pair))))


def render_listed_pair(pair: LoggedPair, before: Sequence[str] = (), behind: Sequence[str] = ()) -> str:
    """The pair as an item of a list, each line with its line end; `before` and `behind` stand around what was kept."""
    path, *facts = _facts(pair)
    quotes = [f"> {quote}" for quote in _quotes(pair)]
    place = f" \u00b7 {pair.place}" if pair.place else ""
    told = (path, *before, *facts, *behind, *quotes)
    lines = [f"- **{_ends(pair)}** ({pair.score:.3f}){place}", *(f"  {line}" for line in told)]
    lines += [f"    - {line}" for line in _boxes(pair)]
    return "".join(line + "\n" for line in lines)


def _ends(pair: LoggedPair) -> str:
    return f"{render_link(pair.from_)}{_SEPARATOR}{render_link(pair.to)}"


def _facts(pair: LoggedPair) -> list[str]:
    way = UNCONNECTED if pair.path is None else " → ".join(escape_plain(title) for title in pair.path)
    sure = "" if pair.probability is None else f", {pair.probability:.2f}"
    judge = re.sub(r"[),]", r"\\\g<0>", escape_plain(pair.judge, brackets=True))
    kept = f"{escape_plain(pair.reason)} ({judge}{sure})"
    goes = [f"goes to: {escape_plain(pair.goes)}"] if pair.goes else []
    return [f"path: {way}", f"kept: {kept}", *goes]


def _quotes(pair: LoggedPair) -> list[str]:
    titles = (escape_plain(end.title, brackets=True).replace(")", "\\)") for end in (pair.from_, pair.to))
    return [f"“{escape_plain(quote)}” ({title})" for quote, title in zip(pair.quotes or (), titles, strict=False)]


def _boxes(pair: LoggedPair) -> list[str]:
    """The boxes, or what became of them."""
    if pair.outcome is not None:
        return [render_outcome(pair.outcome, pair.id)]
    return [
        f"[{tick_mark(ticked=what in pair.ticked)}] {label} ^aria-{pair.id}{ENDINGS[what]}"
        + (f" {pair.tails[what]}" if pair.tails.get(what) else "")
        for what, label in LABELS.items()
    ]


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
        case "knew it" | "never again" | "expired" | "undone":
            said = f"{outcome.verdict}{comma} {outcome.at}"
    return render_decided_line(said, id_, outcome.undo_until, ticked=outcome.undo_ticked)


class PairLine(NamedTuple):
    """A pair's first line."""

    first: LoggedLink
    second: LoggedLink
    score: float | None
    """None where only the place stands there."""
    place: Place | None


def parse_pair_line(line: str) -> PairLine | None:
    """Both ends, and the score or the place, of a pair's first line; None where the line is none."""
    found = _PAIR.fullmatch(line)
    if found is None or not (found["place"] or (found["bullet"] and found["score"])):
        return None
    ends = found["ends"].strip()
    bold = next((m for m in ("**", "__") if ends.startswith(m) and ends.endswith(m) and len(ends) > 2 * len(m)), "")
    if not bold and not found["score"]:
        return None
    ends = ends[len(bold) : len(ends) - len(bold)]
    cut = _end_of_first(ends)
    if cut is None:
        return None
    first, second = parse_link(ends[:cut].strip()), parse_link(ends[cut + len(_SEPARATOR) :].strip())
    if not (first.title and second.title):
        return None
    score = None if found["score"] is None else float(found["score"])
    return PairLine(first, second, score, cast("Place | None", found["place"]))


def parse_quote_line(line: str) -> str | None:
    """The passage that a line quotes; None where it quotes none of ours."""
    found = _QUOTE.fullmatch(line)
    return None if found is None else unescape_plain(found["quote"])


def parse_goes_line(line: str) -> str | None:
    """What placing the link would change; None where the line does not say it."""
    found = _GOES.fullmatch(line)
    return None if found is None else unescape_plain(found["goes"])


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
