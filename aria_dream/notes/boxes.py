"""The tick boxes of our notes, whatever list they stand in: how a box is written, and how one is found again in a line
that a person, a plugin or a sync has changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

BULLET = r"(?:[-*+]|\d{1,9}[.)])[ \t]+"
ITEM = rf"[ \t>]*{BULLET}"
ID = r"[a-zA-Z0-9]{6,52}"
MOMENT = r"(?:\d{1,2} [A-Z][a-z]{2}(?: \d{4})? )?\d{1,2}:\d{2}"
_TASK = re.compile(rf"[ \t>]*(?:{BULLET})+\[(?P<mark>.)\]\s+(?P<text>\S.*)")
_LINE = re.compile(rf"[ \t>]*(?:{BULLET})+(?P<text>\S.*)")
_UNDO = re.compile(rf"undo: (?P<said>.*) \(until (?P<until>{MOMENT})\).*")
_UNDO_BEFORE = re.compile(r"(?P<said>.*) — \[(?P<mark>.)\] undo until (?P<until>[^^]+)")
"""As earlier versions wrote it, behind the sentence."""

_OWN_ID = re.compile(r"(?<!\\)\^aria-")
_IDS = re.compile(rf"(?<!\\)\^aria-(?P<id>{ID})(?P<what>-[a-zA-Z]+)?(?![\w-])")
Decides = Literal["link", "known", "never", "undo"]
ENDINGS: Final[dict[Decides, str]] = {"link": "", "known": "-known", "never": "-no", "undo": "-undo"}
"""What a box decides to what stands behind its id."""
LABELS: Final[dict[Decides, str]] = {"link": "link them", "known": "knew it", "never": "never again"}
"""Of the boxes of a pair, in their order, what stands before its id."""
_WHATS: Final = {ending: what for what, ending in ENDINGS.items()}


def bears_id(line: str) -> bool:
    """Whether a line holds an id of ours; in a title or a reason it would stand escaped."""
    return _OWN_ID.search(line) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A tick box of ours as found in a text."""

    id: str
    what: Decides
    ticked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A line that says what was decided, taken apart."""

    id: str
    said: str
    """The sentence, as it stands there."""
    undo_until: str = ""
    undo_ticked: bool = False
    is_old: bool = False
    """Its box stands behind the sentence, as earlier versions wrote it."""


def read_id(line: str) -> tuple[str, str, str] | None:
    """Id, its ending (`-no`), and the text behind both, where the line holds exactly one id.

    The id may stand anywhere in the line: plugins and hands write behind it and before it.
    """
    ids = list(_IDS.finditer(line))
    if len({found[0].lower() for found in ids}) != 1:
        return None
    first = ids[0]
    behind = _IDS.sub("", line[first.end() :])
    return first["id"].lower(), (first["what"] or "").lower(), behind.strip()


def task_of(line: str) -> tuple[bool, str] | None:
    """Whether the line's tick box is ticked, and the text behind the box; None where the line is no task."""
    found = _TASK.fullmatch(line)
    return None if found is None else (found["mark"] in "xX", found["text"])


def render_decided_line(said: str, id_: str, undo_until: str, *, ticked: bool) -> str:
    """A decided line of any list, without its bullet: the sentence, as the text of an undo box while there is one."""
    if undo_until:
        return f"[{tick_mark(ticked=ticked)}] undo: {said} (until {undo_until}) ^aria-{id_}-undo"
    return f"{said} ^aria-{id_}"


def tick_mark(*, ticked: bool) -> str:
    """What stands between the brackets."""
    return "x" if ticked else " "


def parse_box(line: str) -> Box | None:
    """The tick box that `line` holds, an undo box of a decided line included; None where there is none."""
    found = read_id(line)
    what = None if found is None else _WHATS.get(found[1])
    if found is None or what is None:
        return None
    task = task_of(line)
    if task is not None:
        return Box(id=found[0], what=what, ticked=task[0])
    decided = parse_decided_line(line) if what == "undo" else None
    return None if decided is None else Box(id=found[0], what="undo", ticked=decided.undo_ticked)


def box_text(line: str) -> str:
    """What a reader sees behind a tick box, without its id; `""` where the line is no task."""
    task = task_of(line)
    return "" if task is None else " ".join(_IDS.sub("", task[1]).split())


def box_tail(line: str, label: str) -> str:
    """What stands in the line of a box beside its label and its id."""
    return box_text(line).removeprefix(label).strip()


def parse_decided_line(line: str) -> Decided | None:
    """The decided line of any list, bullet included; None where the line is none."""
    found, item = read_id(line), _LINE.fullmatch(line)
    if found is None or item is None or found[1] not in ("", "-undo"):
        return None
    task = task_of(line)
    text = item["text"] if task is None else task[1]
    id_ = _IDS.search(text)
    said = found[2] if id_ is None else text[: id_.start()].strip() or found[2]
    if found[1]:
        undo = _UNDO.fullmatch(said) if task is not None else _UNDO_BEFORE.fullmatch(said)
        if undo is None:
            return None
        ticked = task[0] if task is not None else undo["mark"] in "xX"
        return Decided(
            id=found[0], said=undo["said"], undo_until=undo["until"].strip(), undo_ticked=ticked, is_old=task is None
        )
    return None if task is not None else Decided(id=found[0], said=said)
