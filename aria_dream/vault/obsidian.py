"""The files of Obsidian's config folder as values: app settings, daily notes, templates. Pure and total.

Source: Obsidian's help (Settings, Daily notes, Templates) and the config files of the public vaults in
`tests/conformance`. The config folder may have any name that starts with a dot.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass, field
from typing import Literal, cast

from aria_dream.errors import Problem
from aria_dream.markdown.moment import MomentFormat, parse_moment_format

LinkFormat = Literal["shortest", "relative", "absolute"]
NewFileLocation = Literal["root", "current", "folder"]
TrashOption = Literal["system", "local", "none"]

DEFAULT_DAILY_FORMAT = "YYYY-MM-DD"
_PERIODIC_DEFAULTS = {
    "daily": DEFAULT_DAILY_FORMAT,
    "weekly": "gggg-[W]ww",
    "monthly": "YYYY-MM",
    "quarterly": "YYYY-[Q]Q",
    "yearly": "YYYY",
}
_MAX_REGEX_CHARACTERS = 500
_MAX_UNBOUNDED_QUANTIFIERS = 4
"""Each `*` or `+` may multiply the time by the path's length; four over paths of 60 characters stay bearable."""


@dataclass(frozen=True, slots=True)
class IgnoreFilter:
    """One entry of `userIgnoreFilters`."""

    text: str
    """As written: a path prefix, or `/regex/`."""
    pattern: re.Pattern[str]

    def hides(self, path: str) -> bool:
        """Whether the note at `path` is hidden from Obsidian's search and graph by this entry."""
        return self.pattern.search(path) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class AppSettings:
    """`app.json`, as far as a reader or writer of links needs it."""

    ignore_filters: tuple[IgnoreFilter, ...] = ()
    new_link_format: LinkFormat = "shortest"
    use_markdown_links: bool = False
    attachment_folder: str = ""
    """As in `attachmentFolderPath`: `""` or `/` the root, `./` the note's folder, `./x` a folder below the note's."""
    new_file_location: NewFileLocation = "root"
    new_file_folder: str = ""
    always_update_links: bool = False
    trash_option: TrashOption = "system"

    def ignores(self, path: str) -> bool:
        """Whether Obsidian hides the note at `path`. Links to it resolve all the same."""
        return any(entry.hides(path) for entry in self.ignore_filters)


@dataclass(frozen=True, slots=True)
class DatedNotes:
    """Where notes named after a date lie, and how their names are written."""

    folder: str
    """Without slashes at its ends; `""` is the root."""
    format: str
    """Moment format below the folder; may hold `/`."""
    matcher: MomentFormat = field(compare=False)

    def holds(self, path: str) -> bool:
        """Whether `path` is one of these notes. Upper and lower case are not told apart."""
        path = unicodedata.normalize("NFC", path)
        start = f"{self.folder}/" if self.folder else ""
        if not (path[: len(start)].lower() == start.lower() and path[-3:].lower() == ".md"):
            return False
        return self.matcher.matches(path[len(start) : -3])


_DATE_ALONE = re.compile(r"(?:^|/)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])\.md$", re.IGNORECASE)
"""Nobody calls a thought so; a vault whose daily notes were never configured, or were once, still has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObsidianSettings:
    """Everything read from the config folder. The defaults are those of a vault that has none."""

    config_folder: str = ""
    """Name of the folder, usually `.obsidian`; `""` where there is none."""
    app: AppSettings = AppSettings()
    daily: tuple[DatedNotes, ...] = ()
    """Daily notes of the core plugin and all kinds of the plugin Periodic Notes. A vault that configured neither
    has Obsidian's default, `YYYY-MM-DD` at the root."""
    template_folders: tuple[str, ...] = ()
    """Folders of the core plugin Templates and of Templater, without slashes at their ends."""

    def is_daily(self, path: str) -> bool:
        """Whether `path` is a daily (weekly, …) note: as the settings say, or by a name that is only a date."""
        return any(dated.holds(path) for dated in self.daily) or _DATE_ALONE.search(path) is not None

    def is_template(self, path: str) -> bool:
        """Whether `path` lies in a folder of templates."""
        lowered = unicodedata.normalize("NFC", path).lower()
        return any(lowered.startswith(f"{folder.lower()}/") for folder in self.template_folders)


def parse_app_settings(text: str) -> tuple[AppSettings, tuple[Problem, ...]]:
    """The settings in `app.json` and what in it could not be understood; an unusable value has its default."""
    values, problems = _parse_object(text)
    filters: list[IgnoreFilter] = []
    listed = values.get("userIgnoreFilters")
    if listed is not None and not isinstance(listed, list):
        problems.append(Problem("", 0, "userIgnoreFilters is not a list and is left out"))
    for entry in listed if isinstance(listed, list) else ():
        made = parse_ignore_filter(entry) if isinstance(entry, str) else f"the filter {entry!r:.60} is not a text"
        if isinstance(made, str):
            problems.append(Problem("", 0, f"userIgnoreFilters: {made}"))
        elif made is not None:
            filters.append(made)

    def chosen(key: str, allowed: tuple[str, ...]) -> str:
        value = values.get(key, allowed[0])
        if value not in allowed:
            problems.append(Problem("", 0, f"{key} is none of {', '.join(allowed)}; {allowed[0]} is assumed"))
            return allowed[0]
        return str(value)

    def switched(key: str) -> bool:
        value = values.get(key, False)
        if not isinstance(value, bool):
            problems.append(Problem("", 0, f"{key} is neither true nor false; false is assumed"))
        return value is True

    return (
        AppSettings(
            ignore_filters=tuple(filters),
            new_link_format=cast("LinkFormat", chosen("newLinkFormat", ("shortest", "relative", "absolute"))),
            use_markdown_links=switched("useMarkdownLinks"),
            attachment_folder=_text(values, "attachmentFolderPath"),
            new_file_location=cast("NewFileLocation", chosen("newFileLocation", ("root", "current", "folder"))),
            new_file_folder=_folder(_text(values, "newFileFolderPath")),
            always_update_links=switched("alwaysUpdateLinks"),
            trash_option=cast("TrashOption", chosen("trashOption", ("system", "local", "none"))),
        ),
        tuple(problems),
    )


def parse_ignore_filter(text: str) -> IgnoreFilter | str | None:
    """The filter; or one clause saying why a regular expression is refused; None for an empty entry."""
    if not text.strip():
        return None
    if not (len(text) > 2 and text[0] == text[-1] == "/"):
        prefix = unicodedata.normalize("NFC", text.removeprefix("./"))
        return IgnoreFilter(text, re.compile(r"\A" + re.escape(prefix), re.IGNORECASE))
    expression = text[1:-1]
    risk = _regex_risk(expression)
    if risk:
        return f"the pattern {text:.60} {risk}"
    # JavaScript writes (?<name>…) where Python writes (?P<name>…), and lets \/ stand for a slash.
    translated = re.sub(r"\(\?<(?![=!])", "(?P<", expression)
    try:
        return IgnoreFilter(text, re.compile(translated))
    except (re.error, RecursionError, OverflowError, ValueError) as error:
        return f"the pattern {text:.60} cannot be read ({error})"


_REGEX_TOKEN = re.compile(
    r"\\(?P<backreference>[1-9])|\\k<|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?[^)\s]?[=!<:]?)?|\)"
    r"|(?P<unbounded>[*+]|\{\d{0,6},\})|(?P<bounded>\?|\{\d{1,6}(?:,\d{1,6})?\})|\||.",
    re.DOTALL,
)


def _regex_risk(expression: str) -> str:
    """Why matching could take far longer than linear time (Python backtracks); "" when it cannot.

    Refused are back references, a repetition over a group that itself repeats or branches, and many repetitions.
    """
    if len(expression) > _MAX_REGEX_CHARACTERS:
        return "is too long"
    repeats = 0
    groups: list[bool] = [False]  # per open group: does it hold a repetition or a branch?
    closed = False
    """Whether the token before closed a group that repeats or branches."""
    for token in _REGEX_TOKEN.finditer(expression):
        text = token.group()
        if token["backreference"] or text == "\\k<":
            return "refers back to one of its own groups, which may take for ever"
        many = token["unbounded"] or (token["bounded"] and token["bounded"] != "?")
        if many and closed:
            return "repeats a group that itself repeats or branches, which may take for ever"
        repeats += bool(many)
        if many or token["bounded"] or text == "|":
            groups[-1] = True
        closed = False
        if text.startswith("("):
            groups.append(False)
        elif text == ")" and len(groups) > 1:
            closed = groups.pop()
            groups[-1] = groups[-1] or closed
    return "repeats too many things at once" if repeats > _MAX_UNBOUNDED_QUANTIFIERS else ""


def parse_daily_notes(text: str) -> tuple[DatedNotes, tuple[Problem, ...]]:
    """Folder and format in `daily-notes.json`; an unusable value has its default (root, `YYYY-MM-DD`)."""
    values, problems = _parse_object(text)
    return _dated(values, DEFAULT_DAILY_FORMAT), tuple(problems)


def default_daily_notes() -> DatedNotes:
    """Obsidian's own default for a vault that has no `daily-notes.json`."""
    return _dated({}, DEFAULT_DAILY_FORMAT)


def parse_periodic_notes(text: str) -> tuple[tuple[DatedNotes, ...], tuple[Problem, ...]]:
    """The enabled kinds in the `data.json` of the plugin Periodic Notes, in its old or its new (calendar set) form."""
    values, problems = _parse_object(text)
    sets = values.get("calendarSets")
    holders = [entry for entry in sets if isinstance(entry, dict)] if isinstance(sets, list) else [values]
    kinds: list[DatedNotes] = []
    for holder in holders:
        for name, default in _PERIODIC_DEFAULTS.items():
            kind = holder.get(name, holder.get({"daily": "day", "weekly": "week", "monthly": "month",
                                                "quarterly": "quarter", "yearly": "year"}[name]))  # fmt: skip
            if isinstance(kind, dict) and kind.get("enabled") is True:
                kinds.append(_dated(kind, default))
    return tuple(kinds), tuple(problems)


def parse_template_folder(text: str, key: str = "folder") -> tuple[str, tuple[Problem, ...]]:
    """The folder in `templates.json` (or, with `templates_folder`, in Templater's `data.json`); `""` if none."""
    values, problems = _parse_object(text)
    return _folder(_text(values, key)), tuple(problems)


def _dated(values: dict[str, object], default: str) -> DatedNotes:
    written = _text(values, "format").strip().removesuffix(".md") or default
    return DatedNotes(_folder(_text(values, "folder")), written, parse_moment_format(written))


def _parse_object(text: str) -> tuple[dict[str, object], list[Problem]]:
    """The JSON object in `text`, empty with a problem where there is none. An empty file is an empty object."""
    text = text.removeprefix("\ufeff").strip()
    if not text:
        return {}, []
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        return {}, [Problem("", error.lineno, "is not valid JSON; Obsidian's defaults are assumed")]
    except (ValueError, RecursionError):
        return {}, [Problem("", 0, "is not valid JSON; Obsidian's defaults are assumed")]
    if not isinstance(value, dict):
        return {}, [Problem("", 0, "holds no JSON object; Obsidian's defaults are assumed")]
    return value, []


def _text(values: dict[str, object], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""


def _folder(text: str) -> str:
    """A folder as Obsidian normalises paths: NFC, plain spaces, single slashes, none at the ends."""
    parts = unicodedata.normalize("NFC", text.replace("\u00a0", " ").replace("\\", "/")).split("/")
    return "/".join(part for part in parts if part and part != ".")
