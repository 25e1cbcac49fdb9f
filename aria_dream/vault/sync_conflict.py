"""Copies that a sync made because two machines changed one file: told by their names and by what lies beside them.

One table says how each program names them. A name is never enough: the note that it would be a copy of must be there,
or a note called *Conflict* would be a copy, and the only text that a sync has left would count for nothing. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from aria_dream.vault.names import fold_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


@dataclass(frozen=True, slots=True)
class _Wording:
    programs: str
    """Who names its copies so, for whoever reads the table."""
    expression: str
    """What it adds to a name without its ending; searched from the name's end where it says so."""
    is_weak: bool = False
    """People choose such names as well: it is a copy only where both say the same or nearly so."""


_CONFLICT: Final = (
    r"(?:conflic?t|konfli[ck]t|conflit|conflito|conflitto|konflik|conflicter|bercanggah|motstrid|modstrid|ristirii|sukob|"
    r"ütköz|çakış|конфл[иі]кт|σύγκρουσ|συγκρουόμεν|διένεξη|競合|問題のある|冲突|衝突|충돌|ขัดแย้ง|"
    r"xung đột|تعارض|متعارض|متناقض|תנגש|सिंक विरोध|name clash)"
)
"""The word for a conflict, in the languages that Dropbox and others speak."""
_COPY: Final = (
    r"(?:cop(?:y|ie|ia)|cópia|còpia|kop(?:i|ie|ii|ia|io|ya|ija)\b|kópia|копи[яиюей]|копі[яюї]|αντίγραφ|másolat|salinan|"
    r"コピー|副本|複本|复本|複製|사본|복사본|สำเนา|bản sao|نسخة|עותק)"
)
_INSIDE: Final = r"(?:[^()（）]|\([^()]{0,40}\))"
"""Between brackets, which may hold a pair of their own: `(Anna's iPhone (2)'s conflicted copy)`."""
_DATE: Final = r"\d{4}-?\d{2}-?\d{2}"
_WORDINGS: Final = (
    _Wording("Syncthing", r"\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?(?=$|\.)"),
    _Wording(
        "Dropbox in its languages, Obsidian Sync, Nextcloud, ownCloud, Box",
        rf" ?[(（](?=[^)）]*{_CONFLICT}){_INSIDE}{{0,120}}?{_COPY}{_INSIDE}{{0,120}}?[)）]",
    ),
    _Wording(
        "Dropbox",
        r" ?\((?:unicode encoding|case|whitespace|selective sync|invalid characters?)[ -]conflict"
        r"(?: ?\(?\d{1,3}\)?)?\)",
    ),
    _Wording(
        "Dropbox in other languages",
        rf" ?\((?=[^)]*(?:unicode|schreib|casse|mayúsc|maiusc|maiúsc|регистр|юникод|大文字|大小写)){_INSIDE}{{0,60}}?"
        rf"{_CONFLICT}{_INSIDE}{{0,60}}?\)",
    ),
    _Wording("Seafile", rf" ?\(SFConflict {_INSIDE}{{1,120}}\)"),
    _Wording(
        "Tresorit, Google Drive, others with the date",
        rf" ?\({_INSIDE}{{0,40}}?{_CONFLICT}{_INSIDE}{{0,40}}?{_DATE}{_INSIDE}{{0,40}}?\)",
    ),
    _Wording("ownCloud", r"_conflict-\d{8}-\d{4,6}$"),
    _Wording("Synology Drive", r"_[^_/]{1,60}_[A-Za-z]{3}-\d{2}-\d{4,6}-\d{4}_(?:Case)?Conflict(?:_\d{1,3})?$"),
    _Wording("Synology Drive", r"_[^_/]{1,60}_\d{4}-?\d{2}-?\d{2}[-_\d]{0,20}_(?:Case)?Conflict$"),
    _Wording("pCloud", r"_conf\(\d{1,4}\)$"),
    _Wording("Google Drive, Resilio Sync", r"[ _]\[conflict(?:ed)?[^\[\]]{0,40}\]$"),
    _Wording("Synology Drive, Resilio Sync", r"[_.](?:Case)?Conflict(?:_\d{1,3})?$", is_weak=True),
    _Wording("others", rf" ?\({_INSIDE}{{0,60}}?{_CONFLICT}{_INSIDE}{{0,60}}?\)$", is_weak=True),
    _Wording("rclone, Resilio Sync", r"(?:\.| - |-(?=\w+-\d))conflict(?:ed)?(?:[ -]copy)?[-\d]{0,20}$", is_weak=True),
    _Wording(
        "any, in a language that is not listed here",
        rf" ?[(（]{_INSIDE}{{2,80}}?{_DATE}{_INSIDE}{{0,60}}[)）]$",
        is_weak=True,
    ),
    _Wording("Google Drive, browsers", r" ?\(\d{1,2}\)$", is_weak=True),
    _Wording("iCloud", r" (?:[2-9]|[1-9]\d)$", is_weak=True),
    _Wording("OneDrive", r"-(?-i:(?=[^-\s]*[A-Z]))[A-Za-z]\w*(?:-\w+){0,5}$", is_weak=True),
)
_TABLE: Final = tuple((re.compile(one.expression, re.IGNORECASE), one.is_weak) for one in _WORDINGS)


def original_of_copy(path: str, *, weak: bool = False) -> str | None:
    """The path of which the file's name says that it is a sync's copy; None for other names.

    `weak`: by a name that a writer chooses as well, such as `Note 2`: then only what both say can tell.
    """
    return next(originals_of_copy(path, weak=weak), None)


def originals_of_copy(path: str, *, weak: bool) -> Iterator[str]:
    """Each path of which the name says so: `a-B-C` may be the copy that the computer *B-C* made of `a`, or *C* of
    `a-B`."""
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".") if "." in name.lstrip(".") else (name, "", "")
    if not stem or not (_may_be_weak(stem) if weak else stem[-1] in ")）]" or "conf" in stem.lower()):
        return
    for expression, is_weak in _TABLE:
        if is_weak is not weak:
            continue
        for start in _starts(expression, stem):
            found = expression.search(stem, start)
            rest = f"{stem[: found.start()]}{stem[found.end() :]}".strip() if found else ""
            if found and rest:
                yield f"{folder}{slash}{rest}{dot}{ending}"


def _may_be_weak(stem: str) -> bool:
    if stem.replace("-", "").isdigit():
        return False  # a day
    return stem[-1] in ")）" or stem[-1].isdigit() or "-" in stem or "conflict" in stem.lower()


def _starts(expression: re.Pattern[str], stem: str) -> list[int]:
    if not expression.pattern.startswith("-"):
        return [0]
    return [at for at, letter in enumerate(stem) if letter == "-"]


def copies_among(names: Iterable[str], files: Collection[str]) -> dict[str, str]:
    """Each of `names` (paths by whose name `original_of_copy` knows a copy) whose original lies among `files`, and that
    original. A copy of a copy is one of the first note."""
    found: dict[str, str] = {}
    folded: dict[str, str] | None = None
    for path in names:
        for original in _chain(path):
            there = original if original in files else ""
            if not there:  # another case, or another form of its accents
                folded = {fold_path(other): other for other in files} if folded is None else folded
                there = folded.get(fold_path(original), "")
            if there and there != path:
                found[path] = there
                break
    return {path: _root(original, found) for path, original in found.items()}


def _chain(path: str) -> Iterator[str]:
    """What the name says it is a copy of, and what that would be a copy of where it is gone itself."""
    for original in originals_of_copy(path, weak=False):
        yield original
        yield from _chain(original)


def _root(path: str, found: dict[str, str]) -> str:
    for _ in range(len(found)):
        if path not in found:
            break
        path = found[path]
    return path


_SHORTEST: Final = 120
"""Characters from which two texts that differ may be called nearly equal: of two lines every template is."""
_NEAR: Final = 0.9


def is_near_copy(first: str, second: str) -> bool:
    """Whether two texts are equal or nearly so: nine of ten lines the same, by their length, and neither is short."""
    one, other = ([line.rstrip() for line in text.splitlines() if line.strip()] for text in (first, second))
    if one == other:
        return bool(one)
    sizes = sorted((sum(map(len, one)), sum(map(len, other))))
    if sizes[0] < _SHORTEST or sizes[0] < _NEAR * _NEAR * sizes[1] or len(one) * len(other) > 4_000_000:
        return False
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    same = sum(len(one[number]) for block in blocks for number in range(block.a, block.a + block.size))
    return 2 * same >= _NEAR * sum(sizes)
