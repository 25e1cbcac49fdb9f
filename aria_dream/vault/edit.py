"""Plans for changing files, made from a known content and pure. `adapters/disk/files` alone carries them out."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NewType

from aria_dream.markdown.ending import open_ending, plugin_owner
from aria_dream.markdown.misread import conflict_line, is_utf16
from aria_dream.markdown.note import NotePath, decode_note
from aria_dream.markdown.properties import find_frontmatter
from aria_dream.vault.names import Refusal, colliding_path, fold_path, path_refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "ABSENT",
    "ChangeSet",
    "ContentHash",
    "Edit",
    "Exists",
    "Move",
    "Refusal",
    "WritePlan",
    "changes_refusal",
    "content_hash",
    "decode_note",
    "encode_note",
    "invert",
    "invert_changes",
    "line_end",
    "note_refusal",
    "plan_append",
    "plan_create",
    "plan_edit",
    "plan_remove",
    "with_line_ends",
]

ContentHash = NewType("ContentHash", str)
"""SHA-256 of a file's bytes, lower-case hex."""

ABSENT = ContentHash("")
"""The expected hash of a file that must not exist yet."""


def content_hash(content: bytes) -> ContentHash:
    """SHA-256 of `content` as 64 lower-case hex digits."""
    return ContentHash(hashlib.sha256(content).hexdigest())


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePlan:
    """One file that is to have exactly this content, provided it still has the content the plan was made from."""

    path: NotePath
    expected_hash: ContentHash
    """Hash of the bytes the plan was made from; `ABSENT` where the file is to be created."""
    content: bytes | None
    """The whole new content; None removes the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One file that is to lie elsewhere, bytes and attributes untouched. Its new place must be free."""

    source: NotePath
    destination: NotePath
    expected_hash: ContentHash
    """Hash of the bytes that move: the content *after* the writes of the same `ChangeSet`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSet:
    """Changes of one approval: all of them happen, or none. Writes come first, in order, then the moves, in order.

    A path is written at most once, and moved at most once; a written note may be moved (its write names the old
    place). Nothing moves onto a path of the same set.
    """

    writes: tuple[WritePlan, ...] = ()
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class Exists:
    """There is already something of that name, if only on a disk that ignores case or Unicode form."""

    path: NotePath
    """The file or folder in the way, as it is spelled."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the characters `start` to `end` (half-open, of the text as `decode_note` gives it) by `new`, exactly."""

    start: int
    end: int
    new: str


def encode_note(text: str) -> bytes:
    """The bytes of `text`, the inverse of `decode_note`. Lone surrogates that stand for no byte become `?`."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udc7f\udd00-\udfff]", "?", text).encode("utf-8", "surrogateescape")


def line_end(text: str) -> str:
    """`"\\r\\n"` where most line ends of `text` are that, else `"\\n"`.

    A lone CR is kept wherever it stands but never written: half of all programs read it as no line end.
    """
    crlf = text.count("\r\n")
    return "\r\n" if crlf > text.count("\n") - crlf else "\n"


def with_line_ends(text: str, end: str) -> str:
    """`text` with every line end (CRLF, LF, lone CR) written as `end`."""
    return re.sub(r"\r\n|\n|\r", lambda _: end, text)


def note_refusal(path: NotePath, content: bytes) -> str | None:
    """Why this file is none that may be edited as a note; None where it is.

    Not a note: any suffix but `.md`, UTF-16 text, and notes whose inside belongs to a plugin (drawings, boards). One
    that git left half merged is nobody's to write into but its writer's.
    """
    if path.suffix.lower() != ".md":
        return f"{path} is no note"
    if path.name.lower().endswith(".excalidraw.md"):
        return f"{path} is a drawing"
    if is_utf16(content):
        return f"{path} is not UTF-8 text"
    if line := conflict_line(content):
        return f"{path} holds conflict markers of git (line {line}); settle them first"
    owner = plugin_owner(decode_note(content))
    return f"{path} belongs to a plugin ({owner})" if owner else None


def plan_append(path: NotePath, before: bytes | None, block: str, *, head: str = "") -> WritePlan | Refusal:
    """The plan that adds `block` at the end of a note, or why it would not be read there as it is meant.

    `before` are the file's bytes, an exact prefix of the new content; None creates the file, beginning with `head`
    (its frontmatter). The block starts on a line of its own after one blank line (none at the top of a note that says
    nothing; more where the note already ends with more), in the note's own line ends, and the file ends with one.

    A note that ends inside a code fence, HTML, a comment, `$$` or an unclosed frontmatter is refused, and so is a
    block that would leave one open. Nothing is closed for the writer: the end of a block they are still typing is
    theirs to choose.
    """
    if before is None:
        return _plan_first(path, block, head)
    refusal = note_refusal(path, before)
    if refusal:
        return Refusal(refusal)
    text = decode_note(before)
    inside = open_ending(text)
    if inside:
        return Refusal(f"{path} ends inside {inside}; what is appended there would not be seen")
    added = _gap(text) + _block(block, line_end(text))
    return _checked(path, before, text + added)


def _plan_first(path: NotePath, block: str, head: str) -> WritePlan | Refusal:
    refusal = path_refusal(path) or note_refusal(path, b"")
    if refusal:
        return Refusal(refusal)
    top = head.strip("\r\n")
    return _checked(path, None, (with_line_ends(top, "\n") + "\n\n" if top else "") + _block(block, "\n"))


def _checked(path: NotePath, before: bytes | None, text: str) -> WritePlan | Refusal:
    inside = open_ending(text)
    if inside:
        return Refusal(f"the text for {path} would end inside {inside}")
    expected = ABSENT if before is None else content_hash(before)
    return WritePlan(path=path, expected_hash=expected, content=encode_note(text))


def _block(block: str, end: str) -> str:
    # A lone surrogate in new text is a model's slip, not a byte of the note's.
    said = block.encode("utf-8", "replace").decode()
    return with_line_ends(said.strip("\r\n"), end) + end


def _gap(text: str) -> str:
    """The line ends that must follow `text` so that what comes next stands alone after a blank line."""
    end = line_end(text)
    frontmatter = find_frontmatter(text)
    body = text[frontmatter.end :] if frontmatter else text.removeprefix("\ufeff")
    lines = re.split(r"\r\n|\n|\r", body)
    blank = 0
    while blank < len(lines) and not lines[-1 - blank].strip(" \t"):
        blank += 1
    if blank == len(lines):
        missing = 1 if lines[-1] else 0
    elif lines[-1]:
        missing = 1 if blank else 2
    else:
        missing = 1 if blank == 1 else 0
    if missing and text.endswith("\r") and end == "\n":
        return end + end * missing  # the first LF only completes the CR to one line end
    return end * missing


def plan_create(path: NotePath, content: str, existing: Iterable[NotePath]) -> WritePlan | Exists | Refusal:
    """The plan that creates `path`; `Exists` where something has that name on any disk; or why it cannot be.

    `existing` are all files of the vault, attachments included.
    """
    refusal = path_refusal(path)
    if refusal:
        return Refusal(f"{str(path)!a}: {refusal}")
    other = colliding_path(path, existing)
    if other is not None:
        return Exists(other)
    return WritePlan(path=path, expected_hash=ABSENT, content=encode_note(content))


def plan_edit(path: NotePath, before: bytes, edits: Sequence[Edit]) -> WritePlan | Refusal:
    """The plan that replaces some spans of characters and changes no byte outside them, or why there is none.

    Spans refer to `decode_note(before)`, may come in any order, and must not overlap; two insertions at one place keep
    the order given. `new` is written as it is: `with_line_ends(new, line_end(text))` fits it to the note.
    """
    text = decode_note(before)
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if not at <= edit.start <= edit.end <= len(text):
            return Refusal(f"the planned changes of {path} overlap or lie outside it")
        pieces += [text[at : edit.start], edit.new]
        at = edit.end
    pieces.append(text[at:])
    # Piece by piece: a byte that is no UTF-8 must not join with a neighbour.
    content = b"".join(map(encode_note, pieces))
    return WritePlan(path=path, expected_hash=content_hash(before), content=content)


def plan_remove(path: NotePath, before: bytes) -> WritePlan:
    """The plan that removes `path`, provided it still reads `before`."""
    return WritePlan(path=path, expected_hash=content_hash(before), content=None)


def invert(plan: WritePlan, before: bytes | None) -> WritePlan:
    """The plan that takes `plan` back, exactly. `before` is what the file held when `plan` was made; None: nothing.

    Raises:
        ValueError: `before` is not what the plan was made from.
    """
    if plan.expected_hash != _hash_or_absent(before):
        raise ValueError(f"{plan.path}: this is not the content that the plan was made from")
    return WritePlan(path=plan.path, expected_hash=_hash_or_absent(plan.content), content=before)


def invert_changes(changes: ChangeSet, before: Mapping[NotePath, bytes | None]) -> ChangeSet:
    """The changes that take `changes` back, exactly. `before` holds each written path's content beforehand.

    Raises:
        ValueError: `before` is not what a plan was made from.
        KeyError: `before` lacks a written path.
    """
    moved = {move.source: move.destination for move in changes.moves}
    writes = []
    restored: dict[NotePath, ContentHash] = {}
    for plan in reversed(changes.writes):
        back = invert(plan, before[plan.path])
        place = moved.get(plan.path, plan.path)
        restored[place] = plan.expected_hash
        writes.append(WritePlan(path=place, expected_hash=back.expected_hash, content=back.content))
    moves = tuple(
        Move(
            source=move.destination,
            destination=move.source,
            expected_hash=restored.get(move.destination, move.expected_hash),
        )
        for move in reversed(changes.moves)
    )
    return ChangeSet(writes=tuple(writes), moves=moves)


def changes_refusal(changes: ChangeSet) -> tuple[NotePath, str] | None:
    """The first path about which the set contradicts itself, and how; None where it is sound (or empty)."""
    written = {plan.path: _hash_or_absent(plan.content) for plan in changes.writes}
    sources = {move.source for move in changes.moves}
    places = [str(plan.path) for plan in changes.writes]
    places += [str(move.source) for move in changes.moves if move.source not in written]
    named = [fold_path(place) for place in places]
    for place, folded in zip(places, named, strict=True):
        if named.count(folded) > 1 and (places.count(place) > 1 or _is_created(changes, place)):
            return NotePath(place), "it is changed twice in one go"
    if len(sources) < len(changes.moves):
        return next(move.source for move in changes.moves), "it is moved twice in one go"
    goals: set[str] = set()
    for move in changes.moves:
        goal = fold_path(str(move.destination))
        if goal in goals or (goal in named and goal != fold_path(str(move.source))):
            return move.destination, "something moves onto a note of the same change"
        goals.add(goal)
        if move.source in written and written[move.source] != move.expected_hash:
            return move.source, "it is written and moved, and the two plans disagree"
        if move.expected_hash == ABSENT:
            return move.source, "what is moved must exist"
    return _meeting(changes)


def _meeting(changes: ChangeSet) -> tuple[NotePath, str] | None:
    """The first new place that meets another of the same set on some disk: `f/a.md` and `F/b.md`, `x` and `x/y.md`."""
    new = [plan.path for plan in changes.writes if plan.expected_hash == ABSENT and plan.content is not None]
    new += [move.destination for move in changes.moves]
    for number, path in enumerate(new):
        if colliding_path(path, new[:number]) is not None:
            return path, "it would meet another new note or folder of the same change on a disk that ignores case"
    return None


def _is_created(changes: ChangeSet, place: str) -> bool:
    return any(str(plan.path) == place and plan.expected_hash == ABSENT for plan in changes.writes)


def _hash_or_absent(content: bytes | None) -> ContentHash:
    return ABSENT if content is None else content_hash(content)
