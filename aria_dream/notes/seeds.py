"""`Dream seeds.md`: what the writer leaves for the dreamer, read however it was typed and changed only at one word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Literal

from aria_dream.errors import Problem
from aria_dream.markdown.note import Span, parse_note
from aria_dream.notes.dream_log import numbered_lines
from aria_dream.notes.plain_text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SeedKind = Literal["internal", "external-novelty"]
Status = Literal["open", "dreamt"]
KEYS = ("kind", "status", "source", "struck", "resonance")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """One seed. Texts are as written, without surrounding space."""

    deposited_on: date | None
    """Local date of the heading; None where the writer gave none."""
    title: str
    kind: SeedKind
    status: Status
    source: str
    """Verbatim; `""` where there is none, which `external-novelty` does not allow."""
    struck: str
    resonance: str
    links: tuple[str, ...]
    """Targets of the wikilinks in title, struck and resonance, in order: the notes an internal seed names."""
    line: int
    """1-based line of the heading; 0 for a seed that stands in no file yet."""
    status_span: Span | None
    """Characters of the status' value in the text; None where the line is missing (then the seed is open)."""


_HEADING = re.compile(r"\ufeff? {0,3}(#{1,6})[ \t]+(.*)")
_CLOSING = re.compile(r"[ \t]+#+$")
_DATED = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:\s*[—–:-]+\s*|\s+|$)(.*)")
_KEY = re.compile(
    r"[ \t>\x1f]*(?:(?:[-*+–—•]|\d{1,3}[.)])[ \t]+(?:\[.\][ \t]+)?)?(?P<mark>\*\*|__|\*|_|`)?(?P<key>[A-Za-z]+)"
    r"(?:(?P=mark))?[ \t]*:{1,2}(?(mark)(?:(?P=mark))?)[ \t]*(?P<value>.*)"
)
_HIDDEN = "\x1f"
"""Counts as space, and stands in no text."""
_WIKILINK = re.compile(r"\[\[([^\[\]|#\r\n]+)")
_COMMENT = re.compile(r"[ \t]+#[ \t].*$")
_SOURCE_COMMENT = re.compile(r"(?:[ \t]{2,}|\t)#[ \t].*$")
"""A source is quoted verbatim; only what stands well apart from it is a comment."""


def parse_seeds(text: str) -> tuple[tuple[Seed, ...], tuple[Problem, ...]]:
    """The seeds of the note in its order, and for each one that cannot be used a Problem that says why.

    A seed is a heading with a `kind` or `status` key under it, or with two other keys. Bullets of any sort, bold keys,
    capitals and a trailing `# comment` behind kind or status are read; a value may go on over indented lines.
    Fenced examples are no seeds, and what Obsidian hides (`%%`, `<!-- -->`) is as if it were not there.
    """
    seeds: list[Seed] = []
    problems: list[Problem] = []
    for section in _sections(_without_comments(text)):
        if not {"kind", "status"} & section.keys() and len(section.keys()) < 2:
            continue
        made = _seed(section)
        if isinstance(made, Problem):
            problems.append(made)
        else:
            problems.extend(_doubles(made, seeds, section))
            seeds.append(made)
    return tuple(seeds), tuple(problems)


def _without_comments(text: str) -> str:
    """`text` with `_HIDDEN` for all that a comment hides, so that none of it leaves; every place stays where it is."""
    if "%%" not in text and "<!--" not in text:
        return text
    kept, at = [], 0
    for span in parse_note(text).opaque:
        if span.start >= at and text.startswith(("%%", "<!--"), span.start):
            kept += [text[at : span.start], re.sub(r"[^\r\n]", _HIDDEN, text[span.start : span.end])]
            at = span.end
    return "".join((*kept, text[at:]))


@dataclass(slots=True)
class _Section:
    heading: str
    line: int
    values: dict[str, str]
    spans: dict[str, Span]
    repeated: list[tuple[int, str]]

    def keys(self) -> set[str]:
        return set(self.values)


def _sections(text: str) -> Iterator[_Section]:
    offsets = [0, *(found.end() for found in re.finditer(r"\r\n|\n|\r", text))]
    section: _Section | None = None
    key = ""
    for number, line in numbered_lines(text, longest=len(text)):
        heading = _HEADING.fullmatch(line)
        if heading is not None:
            if section is not None:
                yield section
            section = _Section(_CLOSING.sub("", _shown(heading[2])), number, {}, {}, [])
            key = ""
        elif section is not None:
            key = _take_line(section, key, number, line, offsets[number - 1])
    if section is not None:
        yield section


def _take_line(section: _Section, key: str, number: int, line: str, offset: int) -> str:
    """Note what the line says; the key that an indented line below it goes on."""
    found = _KEY.fullmatch(line)
    name = found["key"].lower() if found is not None else ""
    if found is not None and name in KEYS:
        if name in section.values:
            section.repeated.append((number, name))
            return ""
        value = found["value"]
        if name in ("kind", "status"):
            value = _COMMENT.sub("", value)
        elif name == "source":
            value = _SOURCE_COMMENT.sub("", value)
        start = offset + found.start("value")
        if value.strip():
            start += len(value) - len(value.lstrip())
            value = value.strip()
        section.values[name] = _shown(value)
        section.spans[name] = Span(start, start + len(value))
        return name
    if not line.strip():
        return key
    if key not in ("", "kind", "status") and line[:1] in (" ", "\t"):
        section.values[key] = f"{section.values[key]} {_shown(line)}".strip()
        return key
    return ""


def _shown(text: str) -> str:
    return re.sub(rf" ?{_HIDDEN}+", "", text).strip()


def _seed(section: _Section) -> Seed | Problem:
    values = section.values
    for line, name in section.repeated:
        return Problem("", line, f"this seed has two lines “{name}”; leave one of them")
    kind = _word(values.get("kind", ""))
    status = _word(values.get("status", "open")) or "open"
    said = _fault(kind, status, values)
    if said:
        return Problem("", section.line, said)
    dated = _DATED.fullmatch(section.heading)
    day = _day(dated)
    title = dated[4].strip() if dated is not None and day is not None else section.heading
    named = " ".join((title, values.get("struck", ""), values.get("resonance", "")))
    links = tuple(dict.fromkeys(found[1].strip() for found in _WIKILINK.finditer(named)))
    seed = Seed(
        deposited_on=day,
        title=title,
        kind="internal" if kind == "internal" else "external-novelty",
        status="dreamt" if status == "dreamt" else "open",
        source=values.get("source", ""),
        struck=values.get("struck", ""),
        resonance=values.get("resonance", ""),
        links=links,
        line=section.line,
        status_span=section.spans.get("status"),
    )
    if seed.kind == "internal" and seed.status == "open" and not links:
        return Problem("", section.line, "an internal seed names at least one note, such as [[Compost]]")
    return seed


def _fault(kind: str, status: str, values: dict[str, str]) -> str:
    if not kind:
        return "this seed has no “kind”: write internal or external-novelty"
    if kind not in ("internal", "external-novelty"):
        return f"“{clean(kind)[:40]}” is no kind of seed: write internal or external-novelty"
    if status not in ("open", "dreamt"):
        return f"“{clean(status)[:40]}” is no status of a seed: write open or dreamt"
    if kind == "external-novelty" and not values.get("source"):
        return "an external-novelty seed needs its “source”, which the reach quotes verbatim"
    return ""


def _word(value: str) -> str:
    return value.strip("*_`\"' \t.").lower().replace(" ", "-").replace("_", "-")


def _day(dated: re.Match[str] | None) -> date | None:
    if dated is None:
        return None
    try:
        return date(int(dated[1]), int(dated[2]), int(dated[3]))
    except ValueError:
        return None


def _doubles(seed: Seed, seeds: Sequence[Seed], section: _Section) -> list[Problem]:
    same = [other for other in seeds if (other.deposited_on, other.title) == (seed.deposited_on, seed.title)]
    if not same or seed.status != "open" or same[0].status != "open":
        return []
    return [Problem("", section.line, f"the same seed stands in line {same[0].line} already; both are read")]


def open_seeds(seeds: Sequence[Seed], kind: SeedKind) -> tuple[Seed, ...]:
    """The open seeds of a kind, oldest first: by date, undated ones last, then in the note's order."""
    waiting = [seed for seed in seeds if seed.status == "open" and seed.kind == kind]
    return tuple(sorted(waiting, key=lambda seed: (seed.deposited_on or date.max, seed.line)))


def mark_dreamt(text: str, seed: Seed) -> str:
    """`text` with the characters of the seed's status value exchanged for `dreamt`, and nothing else changed.

    Where the seed has no status line, one is put under its heading in the note's own line ends. `seed` must come from
    `parse_seeds(text)`; a seed that is `dreamt` leaves the text as it is.
    """
    if seed.status == "dreamt":
        return text
    if seed.status_span is not None and seed.status_span.start < seed.status_span.end:
        word = re.search(r"\w+", text[seed.status_span.start : seed.status_span.end])
        assert word is not None  # a status that parsed as open holds the word
        start = seed.status_span.start + word.start()
        return f"{text[:start]}dreamt{text[start + len(word[0]) :]}"
    if seed.status_span is not None:
        gap = "" if text[: seed.status_span.start].endswith((" ", "\t")) else " "
        return f"{text[: seed.status_span.start]}{gap}dreamt{text[seed.status_span.end :]}"
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    heading = lines[seed.line - 1]
    ending = heading[len(heading.rstrip("\r\n")) :] or "\n"
    lines.insert(seed.line, f"- status: dreamt{ending}")
    return "".join(lines)


def new_seed(
    kind: SeedKind, title: str, deposited_on: date, *, source: str = "", struck: str = "", resonance: str = ""
) -> Seed | Problem:
    """A seed to be added, or why it would be none. Every text becomes one line."""
    values = {"source": clean(source), "struck": clean(struck), "resonance": clean(resonance)}
    heading = re.sub(r"(\s+#+)+$", "", clean(title))
    if not heading:
        return Problem("", 0, "a seed needs a title")
    text = f"## {deposited_on.isoformat()} — {heading}\n- kind: {kind}\n- status: open\n"
    text += "".join(f"- {key}: {value}\n" for key, value in values.items() if value)
    seeds, problems = parse_seeds(text)
    if problems:
        return Problem("", 0, problems[0].message)
    return seeds[0]


def render_seed(seed: Seed) -> str:
    """The seed as it stands in the note, from its heading to its last line end; `parse_seeds` gives it back."""
    day = "" if seed.deposited_on is None else f"{seed.deposited_on.isoformat()} — "
    lines = [f"## {day}{seed.title}", f"- kind: {seed.kind}", f"- status: {seed.status}"]
    for key, value in (("source", seed.source), ("struck", seed.struck), ("resonance", seed.resonance)):
        if value:
            lines.append(f"- {key}: {value}")
    return "".join(line + "\n" for line in lines)


def render_seeds_head() -> str:
    """A new seeds note: our marker, and how to write a seed, as a fenced example that is none."""
    return (
        "---\naria-dream: seeds\ncssclasses: [aria-dream]\n---\n"
        "Leave something here for the dreamer. An internal seed names notes of yours by wikilink, and the next dream\n"
        "starts there; an external-novelty seed quotes a source for the reach. Once dreamt, its status says so.\n\n"
        "```markdown\n"
        "## 2026-11-29 — What compost and sourdough share\n"
        "- kind: internal\n"
        "- status: open\n"
        "- struck: both are kept alive by feeding\n"
        "- resonance: [[Compost]], [[Sourdough starter]]\n"
        "```\n"
    )
