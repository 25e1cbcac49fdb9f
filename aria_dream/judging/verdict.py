"""A model's answer, read as an enum and one bounded sentence. Tolerant of wrapping, never guessing.

What an answer can do ends here: it keeps or drops the pair that was offered, with a reason that is plain text. It
cannot name a note, carry a path, set a setting or add a line; whatever else it says makes it `Unreadable`.
"""

from __future__ import annotations

import json
import re
from typing import Final

from aria_dream.judging.prompt_text import harmless_text
from aria_dream.judging.triage_prompt import LONGEST_REASON, Drop, Keep, Unreadable
from aria_dream.notes.plain_text import clean

LONGEST_ANSWER = 65_536
"""Characters. A verdict has some hundred; what is longer is a model that does not end."""

_SKIPPED = re.compile(
    r"<(?P<tag>think|thinking|thought|reasoning|reflection|scratchpad)\b[^<>]{0,80}>|\[THINK\]|◁think▷"
    r"|<\|channel\|>\s*(?:analysis|commentary)\b[^<]{0,80}<\|message\|>",
    re.IGNORECASE,
)
"""Where a model's thinking begins, in the spellings of current chat templates."""
_RESUMED = re.compile(
    r"</(?:think|thinking|thought|reasoning|reflection|scratchpad)\s*>|\[/THINK\]|◁/think▷"
    r"|<\|channel\|>\s*final\b[^<]{0,80}<\|message\|>",
    re.IGNORECASE,
)
"""Where it ends and the answer begins."""
_OPENING: Final = re.compile(rf"(?P<thinking>{_SKIPPED.pattern})|(?P<bracket>[{{\[])", re.IGNORECASE)
_ADDRESS = re.compile(
    r"\b(?:www\.|mailto:|data:|javascript:|obsidian:)\S*|\b[\w.-]+\.[a-z]{2,}/\S*", re.IGNORECASE
)
"""Web addresses without a scheme, which Obsidian makes clickable even as plain text, as it does those with one."""
_FENCE = re.compile(r"[`~]{3,}\w*")


class _FaultError(ValueError):
    """Why a text is no object; the message is ours, never the model's."""


def parse_object(raw: str) -> dict[str, object] | Unreadable:
    """The one JSON object that `raw` holds, its values untouched; `Unreadable` where there is none, or more than one.

    Fences, thinking and talk around it are passed over. Refused: a cut object (nothing is mended), two objects, an
    array with objects in it, NaN and Infinity, a key that occurs twice, an object inside thinking that never ends.
    """
    if len(raw) > LONGEST_ANSWER:
        return Unreadable("the answer does not end")
    text = raw.removeprefix("\ufeff").strip()
    if not text:
        return Unreadable("the answer is empty")
    try:
        found = _objects(_after_thinking(text))
    except _FaultError as fault:
        return Unreadable(str(fault))
    except RecursionError:
        return Unreadable("the answer is nested too deeply")
    if len(found) == 1:
        return found[0]
    return Unreadable("the answer holds two objects" if found else "the answer holds no JSON object")


def parse_verdict(raw: str) -> Keep | Drop | Unreadable:
    """The verdict that `raw` states in the form of `VERDICT_SCHEMA`, its reason as one line of plain, bounded text.

    A model gives no probability that means anything, so there is none. Case and space around the enum are forgiven.
    """
    found = parse_object(raw)
    if isinstance(found, Unreadable):
        return found
    if set(found) != {"reason", "verdict"}:
        return Unreadable("the answer is not of the form that was asked for")
    said, verdict = found["reason"], found["verdict"]
    if not isinstance(said, str) or not isinstance(verdict, str):
        return Unreadable("the answer is not of the form that was asked for")
    reason = plain_reason(said)
    if not reason:
        return Unreadable("the answer gives no reason")
    match verdict.strip().lower():
        case "keep":
            return Keep(None, reason)
        case "drop":
            return Drop(None, reason)
        case _:
            return Unreadable("the answer's verdict is neither keep nor drop")


def plain_reason(said: str) -> str:
    """One line of at most `LONGEST_REASON` characters: nothing unseen in it, no address, no full stop at its end."""
    words = clean(harmless_text(said[: 20 * LONGEST_REASON])).split(" ")
    line = clean(" ".join(map(_without_address, words)))
    if len(line) > LONGEST_REASON:
        line = clean(line[: LONGEST_REASON - 1]) + "…"
    return line.removesuffix(".") if not line.endswith("..") else line


def _without_address(word: str) -> str:
    """`word`, which has no space in it and of which more than a reason's length is not looked at."""
    short = word[: LONGEST_REASON + 1]
    at = short.find("@", 1)
    is_mail = at > 0 and short.find(".", at + 2, len(short) - 1) > 0
    return "…" if is_mail or "://" in short else _ADDRESS.sub("…", short)


def _after_thinking(text: str) -> str:
    """`text` from where thinking ends that began before it: some templates open the thinking in the prompt."""
    if _FENCE.sub("", text[:20]).lstrip().startswith(("{", "[")) and not _SKIPPED.match(text):
        return text
    opened, resumed = _SKIPPED.search(text), _RESUMED.search(text)
    return text[resumed.end() :] if resumed and (opened is None or resumed.start() < opened.start()) else text


def _objects(text: str) -> list[dict[str, object]]:
    """Every object that stands by itself in `text`, in order. Linear in its length but for nested arrays in talk."""
    decoder = json.JSONDecoder(object_pairs_hook=_once_each, parse_constant=_no_constant, strict=False)
    found: list[dict[str, object]] = []
    at = 0
    while (opening := _OPENING.search(text, at)) is not None:
        if opening["thinking"]:
            resumed = _RESUMED.search(text, opening.end())
            if resumed is None:
                raise _FaultError("the model was still thinking when it ended")
            at = resumed.end()
            continue
        start = opening.start()
        value, at = _decoded(decoder, text, start)
        if isinstance(value, dict):
            found.append(value)
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            raise _FaultError("the answer is a list, not one object")
    return found


def _decoded(decoder: json.JSONDecoder, text: str, start: int) -> tuple[object, int]:
    """The value that begins at `start` and where it ends; None for a bracket that is part of talk."""
    try:
        return decoder.raw_decode(text, start)
    except _FaultError:
        raise
    except ValueError as error:
        if re.match(r"\{\s*[\"}]|\[\s*[\"\[{]", text[start : start + 400]):
            raise _FaultError("the answer's object is cut or broken") from error
    if text[start] == "[":
        return None, start + 1
    end = _balanced(text, start)
    if end < 0:
        raise _FaultError("the answer's object is cut or broken")
    return None, end


def _balanced(text: str, start: int) -> int:
    """Behind the brace that closes the one at `start`; -1 where none does."""
    depth = 0
    for brace in re.finditer(r"[{}]", text[start:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return start + brace.end()
    return -1


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _FaultError("the answer says the same key twice")
    return value


def _no_constant(_name: str) -> object:
    raise _FaultError("the answer holds a number that is none")
