"""Patterns for `exclude`, `never_send` and `truth`: a folder, a note, a glob or a `#tag`.

Every doubt is decided for privacy: a name matches at any depth and in any case, a folder takes all that lies below it,
and a pattern that is not understood is a complaint (never silently nothing).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from typing import TYPE_CHECKING

from aria_dream.vault.names import fold_path

if TYPE_CHECKING:
    from collections.abc import Iterable

_NOT_IN_TAGS = re.compile(r"[\s'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\u2000-\u206f\u2e00-\u2e7f]")
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotePattern:
    """What one entry of a pattern list means."""

    raw: str
    """As the writer wrote it, for messages."""
    tag: str
    """Folded tag without `#`; `""` where the pattern is a path."""
    segments: tuple[str, ...]
    """Folded path segments, globs included; empty where the pattern is a tag."""
    rooted: bool
    """Written with a leading `/`: counts from the vault's root only."""

    def __str__(self) -> str:
        return self.raw


def fold(text: str) -> str:
    """`text` so that two spellings of one name are equal: NFC, case folded, invisible characters dropped."""
    return fold_path(_INVISIBLE.sub("", text))


def parse_pattern(raw: str) -> NotePattern | str:
    """The pattern, or a complaint that fits behind the pattern's name in a sentence."""
    text = raw.strip()
    if text.startswith("[[") and text.endswith("]]"):
        text = text[2:-2].split("|")[0].split("#")[0].strip()
    if text.startswith("#"):
        tag = fold(text[1:]).strip("/")
        if not tag or _NOT_IN_TAGS.search(tag):
            return "is no tag that a note could bear"
        return NotePattern(raw=raw, tag=tag, segments=(), rooted=False)
    path = text.replace("\\", "/")
    if re.match(r"[A-Za-z][A-Za-z_-]*:", path):
        return "is neither a folder, a glob nor a #tag (to hide a single note, write `dream: false` into it)"
    rooted = path.startswith("/")
    segments = tuple(segment for segment in fold(path).split("/") if segment not in ("", "."))
    if not segments:
        return "is empty"
    if ".." in segments:
        return "leaves the vault"
    if any(_unbalanced(segment) for segment in segments):
        return "has a [ without its ]"
    return NotePattern(raw=raw, tag="", segments=segments, rooted=rooted)


def render_pattern(pattern: NotePattern) -> str:
    """The pattern as it stands in a list: quoted where it holds a separator."""
    return f'"{pattern.raw}"' if re.search(r"[,;]", pattern.raw) else pattern.raw


def matches(pattern: NotePattern, path: str, tags: Iterable[str]) -> bool:
    """True where the note at vault path `path` with these tags (without `#`, any case) is meant."""
    if pattern.tag:
        return any(_tag_is_within(fold(tag).strip("/"), pattern.tag) for tag in tags)
    return path_matches(pattern, path)


def path_matches(pattern: NotePattern, path: str) -> bool:
    """True where `path`, or a folder above it, is meant. The last segment also counts without its extension."""
    segments = fold(path).split("/")
    starts = [0] if pattern.rooted else range(len(segments))
    return any(_match_from(pattern.segments, segments[start:]) for start in starts)


def _tag_is_within(tag: str, outer: str) -> bool:
    return tag == outer or tag.startswith(outer + "/")


def _match_from(wanted: tuple[str, ...], segments: list[str]) -> bool:
    """True where `wanted` covers a prefix of `segments`: what is left over lies below the folder that is meant."""
    if not wanted:
        return True
    if wanted[0] == "**":
        return any(_match_from(wanted[1:], segments[skip:]) for skip in range(len(segments))) or not wanted[1:]
    if not segments:
        return False
    last = len(segments) == 1
    return _segment_matches(wanted[0], segments[0], last=last) and _match_from(wanted[1:], segments[1:])


def _segment_matches(wanted: str, segment: str, *, last: bool) -> bool:
    expression = _expression(wanted)
    if expression.fullmatch(segment):
        return True
    return last and "." in segment and expression.fullmatch(segment.rpartition(".")[0]) is not None


@lru_cache(maxsize=1024)
def _expression(segment: str) -> re.Pattern[str]:
    """A glob segment (`*`, `?`, `[abc]`, `[!abc]`) as an expression that matches in linear time."""
    return re.compile(translate(segment))


def _unbalanced(segment: str) -> bool:
    return segment.count("[") != segment.count("]")
