"""The plan that puts a reach's block into the day's dream note, and with it the seed's `dreamt`. Pure."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

from aria_dream.markdown.note import NotePath, decode_note
from aria_dream.notes.dream_log import render_head
from aria_dream.notes.review_note import render_managed, render_review_head
from aria_dream.notes.seeds import mark_dreamt, parse_seeds
from aria_dream.reach.reach import Answer
from aria_dream.reach.reach_block import NoAnswer, render_reach_block
from aria_dream.reach.reach_reading import parse_reach_blocks
from aria_dream.vault.edit import ABSENT, ChangeSet, Refusal, WritePlan, content_hash, encode_note, plan_append

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import time

    from aria_dream.policy.file_layout import Home
    from aria_dream.reach.reach_block import ReachBlock
    from aria_dream.reach.reach_record import ReachRecord


_LATE = re.compile(r"; asked on (\d{4}-\d{2}-\d{2}), whose note took no block")


def paths_to_read(note: str, home: Home) -> tuple[str, ...]:
    """Vault paths of the notes that `plan_landing` has to know; `note` is the dream note."""
    return (note, home.seeds, home.review)


def plan_landing(
    reach: ReachRecord, day: date, note: str, home: Home, before: Mapping[str, bytes | None], *, host: str = ""
) -> ChangeSet | Refusal:
    """Every change of the landing, to be made together and in this order: the block, then the seed; or why not.

    `note`: vault path of the dream note of `day`. `before`: the bytes of each of `paths_to_read`, None where there is
    no such file. No writes where the block stands there already. A seed becomes `dreamt` only where it was answered;
    one that was taken away or done meanwhile is left.
    """
    text = before[note]
    if text is not None and stands_in(decode_note(text), reach.block):
        block: list[WritePlan] = []
    else:
        head = render_head(day, host)
        appended = plan_append(NotePath(note), text, render_reach_block(reach.block), head=head)
        if isinstance(appended, Refusal):
            return appended
        block = [appended]
    if block and not home.exists and before[home.review] is None:  # its marker is what makes the folder ours
        opening = encode_note(render_review_head() + render_managed(()) + "\n")
        block.append(WritePlan(path=NotePath(home.review), expected_hash=ABSENT, content=opening))
    return ChangeSet(writes=(*block, *_seed(reach, home.seeds, before[home.seeds])))


def late_origin(origin: str, day: date) -> str:
    """The origin of a block that stands in the note of a later day than that of its reach."""
    return f"{origin}; asked on {day.isoformat()}, whose note took no block"


def parse_asked_day(origin: str) -> date | None:
    """The day of the reach, where `late_origin` made its origin; None where the note's own day is meant."""
    found = _LATE.search(origin)
    try:
        return None if found is None else date.fromisoformat(found[1])
    except ValueError:
        return None


def stands_in(text: str, block: ReachBlock) -> bool:
    """Whether a dream note holds the block: one of that minute, on that subject, with that outcome."""
    return any(
        (one.at, one.subject, one.outcome) == (block.at, block.subject, block.outcome)
        for one in parse_reach_blocks(text)[0]
    )


def said_already(text: str, block: ReachBlock) -> time | None:
    """When the last block of a dream note on that subject said that nothing was sent, for the same reason; else None.

    Somebody who tries again and again without a network wants one block of it.
    """
    last = next((one for one in reversed(parse_reach_blocks(text)[0]) if one.subject == block.subject), None)
    if last is None or not isinstance(block.outcome, NoAnswer) or block.outcome.sent:
        return None
    return last.at if last.outcome == block.outcome else None


def _seed(reach: ReachRecord, path: str, before: bytes | None) -> list[WritePlan]:
    """The seed flipped, found again by its heading: the note may have changed since it was read."""
    if before is None or reach.seed is None or not isinstance(reach.block.outcome, Answer):
        return []
    text = decode_note(before)
    wanted: tuple[str, date | None] = reach.seed
    for seed in parse_seeds(text)[0]:
        if seed.status == "open" and seed.kind == "external-novelty" and (seed.title, seed.deposited_on) == wanted:
            flipped = encode_note(mark_dreamt(text, seed))
            return [WritePlan(path=NotePath(path), expected_hash=content_hash(before), content=flipped)]
    return []
