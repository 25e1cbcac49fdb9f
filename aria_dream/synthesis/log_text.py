"""Reading `DREAM_LOG.md`: dated sections with their eight labels, improvement candidates, changes of their status.

What stands in a code block or an HTML block is an example or hidden, and is no section and no candidate: it is blanked
before anything is looked for. Everything here is total.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final

from pyromark import Markdown, Options

from aria_dream.markdown.link import ascii_twin
from aria_dream.markdown.properties import find_frontmatter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LABELS: Final = (
    "Sources reviewed",
    "Lessons extracted",
    "Improvement candidates proposed",
    "Patterns observed",
    "Discarded as one-off",
    "Calibration miscalls",
    "Productive surprises",
    "Open trust-decay items to watch",
)
"""The eight labels of a dated section, in order."""

FIELDS: Final = (
    "status",
    "evidence",
    "failure class",
    "proposed_change",
    "mutation proof",
    "operator gate",
    "operator evidence",
)
"""The seven fields of a candidate, in order."""

_MARKDOWN: Final = Markdown(options=Options.ENABLE_TABLES | Options.ENABLE_FOOTNOTES)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_DATED = re.compile(r"^ {0,3}##[ \t]+(\d{4}-\d{2}-\d{2})(?![\w-])([^\n\r]*)", re.MULTILINE)
_TOP = re.compile(r"^ {0,3}#{1,2}(?:[ \t]|$)", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+|$)", re.MULTILINE)
_CANDIDATE = re.compile(
    r"^[ \t>]*(?:[-*+][ \t]+)?(#{1,6})[ \t]+[*_`]*(ni-[\w-]+)[*_`]*([^\n\r]*)", re.MULTILINE | re.IGNORECASE
)
_STATUS = re.compile(r"^ {0,3}###[ \t]+status[ \t]+(ni-\d{8}-\d{2,})(?![\w-])[^\n\r]*", re.MULTILINE)
_FIELD = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?[*_`]*([A-Za-z][A-Za-z_ ]*?)[ \t]*(?::[*_`]+|[*_`]*:)[ \t]*(.*?)[ \t]*$")
_LABEL = {
    label: re.compile(
        rf"^ {{0,3}}(?:(?P<marks>#{{3,6}})[ \t]+|(?P<bullet>(?:[-*+]|\d{{1,3}}[.)])[ \t]+))?"
        rf"(?P<bold>\*\*|__)?[ \t]*{re.escape(label)}[ \t]*(?:\([^)\n]*\)[ \t]*)?(?P<end>:?(?:\*\*|__)?:?|[—–-])"
        r"(?P<rest>(?:(?<=[:*_—–-])[^\n]*|[ \t]*))$",
        re.IGNORECASE,
    )
    for label in LABELS
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One `## YYYY-MM-DD (…)` section."""

    date: str
    start: int
    """Character offset of its heading in the whole text."""
    body: str
    """Everything below the heading up to the next heading of level one or two, hidden text blanked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One improvement candidate as it stands in the log."""

    id: str
    name: str
    level: int
    start: int
    end: int
    fields: tuple[tuple[str, str], ...]
    """`(name, value)` in order; names lower-cased, `_` as a space, repeats kept."""

    def first(self, name: str) -> str:
        """The first value under that field name (of `FIELDS`); "" where there is none."""
        wanted = name.replace("_", " ")
        return next((value for key, value in self.fields if key == wanted), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusChange:
    """One `### status ni-…` block."""

    id: str
    status: str
    operator_evidence: str
    start: int
    end: int


def visible(text: str) -> str:
    """`text` with frontmatter, code blocks and HTML blocks blanked: same length, same lines."""
    frontmatter = find_frontmatter(text)
    at = frontmatter.body_start if frontmatter else 0
    pieces = [_blank(text[:at])]
    body = pieces[0] + text[at:]
    twin = ascii_twin(body) if "<?" not in body else body.encode("ascii", "replace").decode("ascii")
    for event, span in _MARKDOWN.events_with_range(twin):
        start = event.get("Start") if isinstance(event, dict) else None
        is_code = isinstance(start, dict) and "CodeBlock" in start
        if (is_code or start == "HtmlBlock") and span["start"] >= at:
            pieces += [body[at : span["start"]], _blank(body[span["start"] : span["end"]])]
            at = span["end"]
    pieces.append(body[at:])
    return _COMMENT.sub(lambda found: _blank(found[0]), "".join(pieces))


def _blank(text: str) -> str:
    return re.sub(r"[^\n\r]", " ", text)


def find_sections(shown: str) -> tuple[Section, ...]:
    """The dated sections of a text that `visible` has blanked, in order."""
    found = []
    for heading in _DATED.finditer(shown):
        if not _is_date(heading[1]):
            continue
        following = _TOP.search(shown, heading.end())
        body = shown[heading.end() : following.start() if following else len(shown)]
        found.append(Section(date=heading[1], start=heading.start(), body=body))
    return tuple(found)


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def section_labels(body: str) -> Mapping[str, bool]:
    """Of each label that the section has: whether anything is said under it."""
    return {label: _says_something(text) for label, text in section_texts(body).items()}


def section_texts(body: str) -> Mapping[str, str]:
    """Of each label that the section has: what is said under it.

    A label is a heading below the section's, a list item, or bold. What belongs to it stands behind it and below it up
    to the next label or heading; a candidate's heading belongs to the label of candidates, a lower heading to its own.
    """
    said: dict[str, str] = {}
    current, level = "", 7
    for line in body.splitlines():
        label, marks, rest = _label_of(line)
        if label:
            current, level = label, len(marks) or 7
            said[current] = f"{said.get(current, '')}{rest}\n"
            continue
        heading = _HEADING.match(line)
        if heading is not None:
            is_candidate = _CANDIDATE.match(line) is not None and current == LABELS[2]
            if not is_candidate and len(heading[1]) <= level:
                current = ""
        if current:
            said[current] += line + "\n"
    return said


def _label_of(line: str) -> tuple[str, str, str]:
    for label, pattern in _LABEL.items():
        found = pattern.match(line)
        if found and (found["marks"] or found["bullet"] or found["bold"]):
            return label, found["marks"] or "", found["rest"]
    return "", "", ""


def _says_something(text: str) -> bool:
    return re.search(r"[^\W_]", text) is not None


def find_candidates(shown: str) -> tuple[Candidate, ...]:
    """Every candidate, at whatever heading level, in order."""
    found = []
    for heading in _CANDIDATE.finditer(shown):
        end = _block_end(shown, heading.end())
        name = heading[3].strip().lstrip("-–—:").strip()
        found.append(
            Candidate(
                id=heading[2], name=name, level=len(heading[1]), start=heading.start(), end=end,
                fields=tuple(_fields(shown[heading.end() : end])),
            )
        )  # fmt: skip
    return tuple(found)


def find_status_changes(shown: str) -> tuple[StatusChange, ...]:
    """Every `### status ni-…` block, in order."""
    found = []
    for heading in _STATUS.finditer(shown):
        end = _block_end(shown, heading.end())
        fields = dict(reversed(list(_fields(shown[heading.end() : end]))))
        found.append(
            StatusChange(
                id=heading[1], status=fields.get("status", ""), start=heading.start(), end=end,
                operator_evidence=fields.get("operator evidence", ""),
            )
        )  # fmt: skip
    return tuple(found)


def _block_end(shown: str, at: int) -> int:
    following = _HEADING.search(shown, at + 1)
    inner = _CANDIDATE.search(shown, at)
    ends = [found.start() for found in (following, inner) if found is not None]
    return min(ends, default=len(shown))


def _fields(body: str) -> Iterator[tuple[str, str]]:
    known = {name.replace("_", " ") for name in FIELDS}
    key, value = "", ""
    for line in body.splitlines():
        found = _FIELD.match(line)
        name = found[1].strip().lower().replace("_", " ") if found else ""
        if found and (name in known or re.match(r"[ \t]*[-*+][ \t]+[*_`]", line)):
            if key:
                yield key, value
            key, value = name, found[2]
        elif key and line.strip():
            value = f"{value} {line.strip()}".strip()
        elif key:
            yield key, value
            key = ""
    if key:
        yield key, value


def current_status(shown: str) -> Mapping[str, str]:
    """The status that each candidate has now: its own, or that of its last `### status` block."""
    states = {candidate.id: candidate.first("status") for candidate in reversed(find_candidates(shown))}
    states = dict(reversed(states.items()))
    for change in find_status_changes(shown):
        if change.id in states:
            states[change.id] = change.status
    return states
