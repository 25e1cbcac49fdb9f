"""The changes of a review note read back, line by line; `logged_change.render_change` is the inverse."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Final

from aria_dream.notes.boxes import ITEM, bears_id, box_tail, parse_box
from aria_dream.notes.change_grammar import (
    VERBS,
    DecidedChange,
    LoggedChange,
    is_ask,
    parse_decided,
    parse_fence,
    parse_fenced,
    parse_mark,
    parse_opening,
)
from aria_dream.notes.dream_note_grammar import NUMBER
from aria_dream.notes.plain_text import unescape_plain

if TYPE_CHECKING:
    from aria_dream.notes.change_grammar import ChangeItem

_PROPOSED: Final = re.compile(r"proposed: (\d{4}-\d{2}-\d{2})")
_WHY: Final = re.compile(rf"why: (?P<reason>.*) \((?P<judge>(?:\\.|[^()\\])*?)(?:, (?P<p>{NUMBER}))?\)")
_JANUS: Final = re.compile(r"Janus: (STANDS|FALLS|UNSURE)(?:, (.+))?")
_REMARK: Final = re.compile(r"([a-z][a-z ]{0,30}): (.+)")
_TOLD: Final = re.compile(ITEM + r"not undone: (.+)")
_MORE: Final = re.compile(r">[ \t]*(\d{1,9}) more lines: .*")


@dataclass(slots=True)
class ChangeReading:
    """One pass over the lines of a managed block; every line goes to `take`, and `items` are what they said."""

    items: list[ChangeItem] = field(default_factory=list)
    fence: str = ""
    """Of the fence that is open."""

    def begins(self, line: str) -> bool:
        """Whether the line is the first of a change."""
        return parse_opening(line) is not None or (bears_id(line) and parse_decided(line) is not None)

    def take(self, line: str, kind: str) -> None:
        """One more line; `kind` is what the heading above says. Raises ValueError where its date is none."""
        if self.fence:
            self._take_fenced(line)
        elif opened := parse_opening(line):
            self.items.append(
                LoggedChange(
                    id="", kind=opened[0], ends=opened[1], proposed_on=date.min, reason="", judge="", confidence=None
                )
            )
        elif bears_id(line) and (decided := parse_decided(line)):
            self.items.append(replace(decided, kind=kind))
        elif self.items:
            self.items[-1] = self._with_line(self.items[-1], line.rstrip())

    def _take_fenced(self, line: str) -> None:
        item, said = self.items[-1], parse_fenced(line, self.fence)
        assert isinstance(item, LoggedChange)
        if said is None:
            self.fence = ""
        else:
            self.items[-1] = replace(item, diff=(*item.diff, said))

    def _with_line(self, item: ChangeItem, line: str) -> ChangeItem:
        if isinstance(item, DecidedChange):
            told = _TOLD.fullmatch(line)
            return item if told is None else replace(item, told=(*item.told, unescape_plain(told[1])))
        if is_ask(line):
            return replace(item, asked=True)
        if mark := parse_mark(line):
            return replace(item, mark=mark)
        if fence := parse_fence(line):
            self.fence = fence
            return item
        if more := _MORE.fullmatch(line):
            return replace(item, more=int(more[1]))
        box = parse_box(line) if bears_id(line) else None
        if box is not None:
            if box.what == "never":
                tails = (item.tails[0], box_tail(line, "never again"))
                return replace(item, id=box.id, never_ticked=box.ticked, tails=tails)
            tails = (box_tail(line, VERBS[item.kind]), item.tails[1])
            return replace(item, id=box.id, approve_ticked=box.ticked, tails=tails)
        return _with_words(item, line)


def _with_words(item: LoggedChange, line: str) -> LoggedChange:
    if proposed := _PROPOSED.fullmatch(line):
        return replace(item, proposed_on=date.fromisoformat(proposed[1]))
    if why := _WHY.fullmatch(line):
        reason, judge = unescape_plain(why["reason"]), unescape_plain(why["judge"])
        return replace(item, reason=reason, judge=judge, confidence=None if why["p"] is None else float(why["p"]))
    if janus := _JANUS.fullmatch(line):
        return replace(item, janus=janus[1], janus_reason=unescape_plain(janus[2] or ""))
    if remark := _REMARK.fullmatch(line):
        return replace(item, remarks=(*item.remarks, (remark[1], unescape_plain(remark[2]))))
    return item
