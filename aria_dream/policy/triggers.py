"""`triggers.md` as a value: which occasion starts which stage. Read by the same rules as the policy."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from aria_dream.errors import Problem
from aria_dream.policy.lines import Form, SettingLine, note_properties, setting_entries
from aria_dream.policy.settings import nearest, normal_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TRIGGERS_NAMES = ("triggers.md", "aria triggers.md")
"""Names, in any case, that the triggers note at the vault's root may have."""


class Stage(Enum):
    DREAM = "dream"
    CONSOLIDATE = "consolidate"
    SYNTHESIZE = "synthesize"
    REACH = "reach"


BUILT = frozenset(Stage)
"""Stages that exist; the others may be named, and are reported until they do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Triggers:
    """What each occasion starts, in order. `Triggers()` are the documented defaults; `()` starts nothing."""

    on_idle: tuple[Stage, ...] = (Stage.DREAM,)
    on_nightly: tuple[Stage, ...] = (Stage.CONSOLIDATE, Stage.SYNTHESIZE)
    on_seed: tuple[Stage, ...] = (Stage.DREAM,)
    on_start: tuple[Stage, ...] = ()
    closed: tuple[str, ...] = field(default=())
    """The occasions that start nothing because their line is not understood."""


MEANINGS: Mapping[str, str] = {
    "on_idle": "when nobody has touched the machine for a while",
    "on_nightly": "once a night, in the quiet hours",
    "on_seed": "when you have written a new seed",
    "on_start": "when aria-dream starts",
}


def parse_triggers(text: str | None, *, path: str = "triggers.md") -> tuple[Triggers, tuple[Problem, ...]]:
    """What `text` states, and what in it needs mending. None is a vault without the note: the defaults.

    An absent occasion has its default. One that is not understood, stands there twice with different stages, or is
    nearly a known one, starts nothing. Never raises.
    """
    if text is None:
        return Triggers(), ()
    if "\x00" in text:
        return _nothing(), (Problem(path, 0, "this is not UTF-8 text; until it is saved as such nothing starts"),)
    said: dict[str, list[tuple[tuple[Stage, ...] | None, int]]] = {}
    problems: list[Problem] = []
    for entry in setting_entries(text):
        if entry.form is Form.LOOKALIKE or (entry.form is Form.PROPERTY and normal_key(entry.key) not in MEANINGS):
            continue
        names = nearest(entry.key, MEANINGS)
        stages, complaint = _stages(entry)
        if not names:
            problems.append(Problem(path, entry.line, f"`{entry.key}` is no occasion; known are {', '.join(MEANINGS)}"))
        elif entry.form is not Form.SETTING or entry.key not in MEANINGS:
            complaint = f"`{entry.key}` does not count here; write it as a list item, `- {names[0]}: …`"
        if names and complaint:
            problems.append(Problem(path, entry.line, f"{complaint}. Until then it starts nothing"))
        for name in names:
            said.setdefault(name, []).append((None if complaint else stages, entry.line))
    return _assembled(said, problems, path)


def unbuilt(triggers: Triggers) -> tuple[str, ...]:
    """Stages that the triggers name and that this version does not have, in words for the writer, sorted."""
    named = {stage for name in MEANINGS for stage in getattr(triggers, name)}
    return tuple(sorted(stage.value for stage in named - BUILT))


def is_triggers_name(name: str) -> bool:
    """True where a root file of this name has to be read to find the triggers."""
    return name.lower() in TRIGGERS_NAMES


def choose_triggers(candidates: Mapping[str, str]) -> tuple[Triggers, tuple[Problem, ...]]:
    """The triggers of a vault whose root notes are `candidates` (vault path → text); two marked ones start nothing."""
    marked = [path for path, text in sorted(candidates.items()) if is_triggers_note(path, text)]
    if len(marked) > 1:
        message = f"{' and '.join(marked)} both say that they are the triggers; keep one of them"
        return _nothing(), (Problem(marked[-1], 1, message),)
    return parse_triggers(candidates[marked[0]], path=marked[0]) if marked else parse_triggers(None)


def is_triggers_note(name: str, text: str) -> bool:
    """True where the root file `name` is our triggers note: one of its names, and marked `aria-dream: triggers`."""
    properties = note_properties(text) or {}
    marker = next((str(value) for key, value in properties.items() if key.lower() == "aria-dream"), "")
    return is_triggers_name(name) and marker.strip().lower() == "triggers"


def render_triggers_note() -> str:
    """The triggers note with every occasion at its default; `parse_triggers` of it gives `Triggers()`."""
    lines = []
    for name in MEANINGS:
        stages: tuple[Stage, ...] = getattr(Triggers(), name)
        lines.append((f"- {name}: {', '.join(stage.value for stage in stages) or 'none'}", MEANINGS[name]))
    width = max(len(line) for line, _ in lines)
    items = "\n".join(f"{line.ljust(width)}   # {meaning}" for line, meaning in lines)
    return f"{_OPENING}\n{items}\n"


def _stages(entry: SettingLine) -> tuple[tuple[Stage, ...], str]:
    words = re.sub(r"(^|\s)#.*", "", entry.value).replace(",", " ").lower().split()
    if words == ["none"]:
        return (), ""
    known = {stage.value: stage for stage in Stage}
    strange = [word for word in words if word not in known]
    if strange or not words:
        which = f"`{strange[0]}` is no stage" if strange else f"`{entry.key}` names no stage"
        return (), f"{which}; write none, or some of {', '.join(known)}"
    return tuple(dict.fromkeys(known[word] for word in words)), ""


def _assembled(
    said: Mapping[str, list[tuple[tuple[Stage, ...] | None, int]]], problems: list[Problem], path: str
) -> tuple[Triggers, tuple[Problem, ...]]:
    values: dict[str, Any] = {}
    closed: list[str] = []
    for name, readings in said.items():
        stages = {reading for reading, _ in readings}
        if len(stages) > 1 and None not in stages:
            message = f"`{name}` stands here once more and says something else. Until then it starts nothing"
            problems.append(Problem(path, readings[-1][1], message))
        only = next(iter(stages)) if len(stages) == 1 else None
        values[name] = only or ()
        if only is None:
            closed.append(name)
    found = tuple(sorted(problems, key=lambda problem: problem.line))
    return replace(Triggers(**values), closed=tuple(sorted(closed))), found


def _nothing(names: Iterable[str] = MEANINGS) -> Triggers:
    nothing: dict[str, Any] = dict.fromkeys(names, ())
    return Triggers(**nothing, closed=tuple(names))


_OPENING = """\
---
aria-dream: triggers
---

# What wakes the dreamer

On the left an occasion, on the right what it starts, in that order: `dream`, `consolidate`, `synthesize`, `reach`, or
`none`. Whether it may start at that moment, and how often, stands in the policy note beside this one.
"""
