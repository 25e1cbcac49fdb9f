"""Looking things up in the table of `keys.py`, and the texts that are made from it; the writer's local time."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from dataclasses import dataclass, fields
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aria_dream.policy.keys import Group, KeyRow, Settings
from aria_dream.policy.kinds import Door, Ratio, Value, Whole, render_value, wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

__all__ = ["SETTINGS", "Setting", "Settings", "near_keys", "nearest", "render_policy_note", "render_table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One key of the policy, with its row of the table."""

    name: str
    default: Value
    row: KeyRow

    @property
    def env(self) -> str:
        """The environment variable that overrides it for one run; `""` where none may."""
        return "" if self.row.guard else f"ARIA_{self.name.upper()}"

    @property
    def shuts(self) -> tuple[Door, ...]:
        """What is shut while this key is not understood. A line that nobody understands may have been a prohibition,
        so nothing leaves, nothing is spent and nothing happens by itself, whichever key it is."""
        return (Door.SEND, Door.SPEND, Door.AUTO, *self.row.doors)


SETTINGS: Mapping[str, Setting] = {
    entry.name: Setting(name=entry.name, default=getattr(Settings(), entry.name), row=entry.metadata["row"])
    for entry in fields(Settings)
}
"""Every key by name, in the order of the policy note's groups."""

_NEARNESS = 0.8
"""Share of letters in common (Ratcliff-Obershelp) from which a key counts as a slip of the pen for another: `exclud`
has .92, `reach_requests_per_month` .83; two different keys of the table have at most .87, words of prose below .7."""


def normal_key(raw: str) -> str:
    """The key as the table would spell it: lower case, `_` for hyphens and spaces."""
    return re.sub(r"[\s\u2010-\u2015-]+", "_", unicodedata.normalize("NFKC", raw).strip().lower()).strip("_")


@lru_cache(maxsize=4096)
def near_keys(raw: str) -> tuple[str, ...]:
    """The keys that `raw` can be meant for, nearest first; only the key itself where it is one. At most three."""
    return nearest(raw, SETTINGS)


def nearest(raw: str, names: Iterable[str]) -> tuple[str, ...]:
    """Those of `names` that `raw` can be meant for, nearest first, at most three; itself if it is one.

    Near is: another case or hyphens, a letter too many, too few or swapped, a missing unit, or a name with something
    appended. Several words in a row are near only when almost equal, or every list item with a colon would be.
    """
    key = normal_key(raw)
    if key in names:
        return (key,)
    floor = 0.88 if re.search(r"\s", raw.strip()) else _NEARNESS
    scored = sorted(((_likeness(key, name), name) for name in names), key=lambda pair: (-pair[0], pair[1]))
    best = scored[0][0]
    return tuple(name for score, name in scored[:3] if score >= max(floor, best - 0.08))


def _likeness(key: str, name: str) -> float:
    shorter, longer = sorted((key, name), key=len)
    if len(shorter) >= 7 and longer.startswith(shorter + "_"):
        return 0.9
    ratio = SequenceMatcher(None, key, name, autojunk=False).ratio()
    if len(key) == len(name) and sorted(key) == sorted(name):
        return max(ratio, 0.9)  # the same letters in another order
    return ratio


def render_table() -> str:
    """The settings as a Markdown table, one heading a group; ends with a line end."""
    out: list[str] = []
    for group in Group:
        out += [f"**{group.value}**", "", "| key | default | closed | what it means |", "| --- | --- | --- | --- |"]
        for setting in _of(group):
            closed = render_value(setting.row.closed) or "empty"
            cells = (f"`{setting.name}`", _cell(render_value(setting.default)), _cell(closed), _describe(setting))
            out.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        out.append("")
    return "\n".join(out).rstrip("\n") + "\n"


def render_policy_note(values: Mapping[str, str] | None = None, *, vault_id: str = "") -> str:
    """The policy note with every key at its default, except those in `values` (key → text of the value).

    `parse_policy` of it gives those values and no problem. `vault_id`, where given, is written into the frontmatter.
    """
    head = ["---", "aria-dream: policy", *([f"aria-dream-id: {vault_id}"] if vault_id else []), "---", ""]
    return "\n".join([*head, _OPENING, *(_section(group, values or {}) for group in Group)]).rstrip("\n") + "\n"


def _section(group: Group, values: Mapping[str, str]) -> str:
    settings = _of(group)
    lines = [f"- {s.name}: {values.get(s.name, render_value(s.default))}".rstrip() for s in settings]
    width = min(max(len(line) for line in lines), 44)  # one long remark must not push all others to the right
    items = [f"{line.ljust(width)}   # {setting.row.meaning}" for line, setting in zip(lines, settings, strict=True)]
    return "\n".join([f"## {group.value}", "", *_paragraph(_ABOUT.get(group, "")), *items, ""])


def _paragraph(text: str) -> tuple[str, ...]:
    return (*textwrap.wrap(text, 116), "") if text else ()


def _of(group: Group) -> list[Setting]:
    return [setting for setting in SETTINGS.values() if setting.row.group is group]


def _cell(text: str) -> str:
    return f"`{text}`" if text and text != "empty" else text


def _describe(setting: Setting) -> str:
    limits = f" ({wanted(setting.row.kind)})" if isinstance(setting.row.kind, Whole | Ratio) else ""
    return setting.row.meaning + limits


_OPENING = """\
# How this vault dreams

This note is read again whenever you change it. A setting is a list item, `name: value`; what follows a `#` is a remark.
Everything else here is prose: add your own, move things, delete what you do not care about. A setting that is not here
has the value you see below.

Where a line cannot be understood, the dream does the careful thing until it is mended: nothing leaves this machine,
nothing is spent, and the setting itself is closed. `aria-dream policy` shows what is in force and where it came from.

Units are in the names: `_s` seconds, `_min` minutes, `_h` hours, `_ms` milliseconds.
"""

_ABOUT = {
    Group.WHEN: "A dream waits until you have been away for a while, and stops the moment you are back.",
    Group.WHAT: "A dream shows a few pairs of notes that have something to do with each other and share no link.",
    Group.PRIVACY: (
        "Two levels. What is excluded is never read for a dream. What is never sent is dreamt of on this machine only, "
        "and its title and aliases are blanked where other notes mention it. A single note can say so itself: write "
        "`dream: false` into its properties, or give it the tag `#private`. A folder counts at any depth, with all "
        "that lies below it. A pattern that matches nothing keeps everything on this machine, in case it is a slip."
    ),
    Group.JUDGE: (
        "Of the pairs a dream finds, a judge keeps the few that are worth your morning. The built-in judge needs "
        "nothing; a local Ollama is used where it runs. Neither sends anything anywhere."
    ),
    Group.CHANGES: (
        "A note of yours changes only after you ticked that very change, and can be put back. Doing it without a tick "
        "must first be earned over many nights, and then switched on by you."
    ),
    Group.REACH: (
        "A reach asks a model outside, through Codex CLI, whether the world knows more about a pair. It costs requests "
        "of your plan. It happens when you ask for it; by itself only with `autonomous_reach: on`, once while you are "
        "away, and only after you confirmed on this machine that text may leave it. An aborted reach counts as spent. "
        "A request beyond `requests_per_reach` is never sent; a reach that wants one is ended there."
    ),
    Group.WALL: (
        "What keeps a reach from acting. Nothing you write here makes the wall weaker; a weaker value closes the reach."
    ),
    Group.NIGHT: (
        "In the quiet hours the vault can be looked through for passages that say the same, or contradict each other. "
        "That only ever makes proposals."
    ),
    Group.SYNTHESIS: "Only where the vault has a memory folder: where its parts lie, in that folder.",
}


def local_now(now: datetime, timezone: str) -> datetime:
    """`now` (aware, in the system's zone) in the zone that the policy names; unchanged for `local` or an unknown one
    (which the policy's own reading has reported)."""
    if timezone == "local":
        return now
    try:
        return now.astimezone(ZoneInfo(timezone))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return now
