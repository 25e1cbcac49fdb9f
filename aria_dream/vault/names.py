"""Which names a new note may have: ones that every disk a vault may be synced to can hold.

Windows: "Naming Files, Paths, and Namespaces", Microsoft Learn. Linux and macOS: at most 255 bytes a name.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.markdown.note import NotePath

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

NAME_BYTES_MAX = 255
"""Most bytes of UTF-8 in one file name (ext4, APFS, Btrfs; NTFS counts 255 UTF-16 units, which is never fewer)."""

FOLDERS_MAX = 32
"""Deeper than any vault at hand by a factor of four; far below what PATH_MAX allows."""

INSTRUCTION_NOTES = frozenset({"agents.md", "agents.override.md", "claude.md", "gemini.md"})
"""Names that other programs obey as instructions, folded. No proposal may write one."""

_FORBIDDEN = re.compile(r'[<>:"|?*\\/\x00-\x1f\x7f]')
_DEVICE = re.compile(r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9\u00b9\u00b2\u00b3])", re.IGNORECASE)
_ENCODED = re.compile(r"%(?:2e|2f|5c|00)", re.IGNORECASE)
_VARIABLE = re.compile(r"~[^/]*|\$\{?\w+\}?|%\w+%")
_UNTITLED = "Untitled"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no plan. A value, not an error: the caller says it or tries elsewhere."""

    reason: str
    """One sentence for the writer."""


def fold_path(path: str) -> str:
    """The spelling under which two paths are one file on a disk that ignores case and Unicode form.

    Full case folding of the NFC form: stricter than any one file system (`ß` meets `ss`), since a note that is not
    created costs a sentence, and one that overwrites another costs its text.
    """
    if path.isascii():  # most paths, and asked of every path of a vault
        return path.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def name_refusal(name: str) -> str | None:
    """Why no new file or folder may bear `name`; None where every disk can hold it."""
    if not name or not name.strip("."):
        return "a name is empty or only dots"
    if any("\ud800" <= character <= "\udfff" for character in name):
        return "a name is not valid Unicode"
    if len(name.encode()) > NAME_BYTES_MAX:
        return f"a name has more than {NAME_BYTES_MAX} bytes"
    forbidden = _FORBIDDEN.search(name)
    if forbidden:
        return f"a name holds {forbidden[0]!a}, which Windows cannot"
    if name[-1] in ". ":
        return "a name ends with a dot or a space, which Windows drops"
    if _DEVICE.fullmatch(name.split(".", 1)[0].rstrip(" ")):
        return "a name is that of a Windows device"
    if not unicodedata.normalize("NFKC", name).strip("."):
        return "a name is dots in disguise"
    return None


def path_refusal(path: NotePath, *, trash: bool = False) -> str | None:
    """Why nothing may be created at `path`; None where it is a portable path inside the vault, outside dot folders.

    `trash` permits the vault's own `.trash`, whose inside obeys the same rules.
    """
    if path.is_absolute() or ".." in path.parts:
        return "the path leaves the vault"
    if not path.parts:
        return "the path is empty"
    if len(path.parts) - 1 > FOLDERS_MAX:
        return f"the path is more than {FOLDERS_MAX} folders deep"
    for part in path.parts:
        refusal = name_refusal(part)
        if refusal:
            return refusal
    folders = path.parts[1:-1] if trash and path.parts[0] == ".trash" else path.parts[:-1]
    if any(unicodedata.normalize("NFKC", folder).startswith(".") for folder in folders):
        return "the path leads into a hidden folder"
    return None


def parse_target(text: str, protected: Collection[NotePath] = ()) -> NotePath | Refusal:
    """The note that a proposal means by `text`, or why no proposal may name it.

    `text` is untrusted: it may come from a model, a journal edited by hand, or a web page. `protected` are notes that
    no proposal writes, the policy first of all. Nothing is decoded or normalised on the way: what looks like a climb
    under any reading is refused.
    """
    refusal = _text_refusal(text)
    if refusal is None:
        refusal = path_refusal(NotePath(text))
    if refusal is None and not text.lower().endswith(".md"):
        refusal = "only notes (.md) are written"
    folded = fold_path(text)
    if refusal is None and folded in {fold_path(str(path)) for path in protected}:
        refusal = "this note sets policy; only its writer changes it"
    if refusal is None and folded.rsplit("/", 1)[-1] in INSTRUCTION_NOTES:
        refusal = "other programs obey this note as instructions"
    return NotePath(text) if refusal is None else Refusal(f"{text[:80]!a}: {refusal}")


def _text_refusal(text: str) -> str | None:
    if text.startswith("/") or text.endswith("/") or "//" in text:
        return "the path is not one inside the vault"
    if _ENCODED.search(text):
        return "the path holds an encoded dot or separator"
    parts = text.split("/")
    if any(part in (".", "..") for part in parts):
        return "the path climbs"
    if len(parts) > 1 and _VARIABLE.fullmatch(parts[0]):
        return "the path starts with a home folder or a variable"
    return None


def colliding_path(path: NotePath, existing: Iterable[NotePath]) -> NotePath | None:
    """The existing file or folder that a new file at `path` would meet on some disk; None where the way is free.

    A folder of `path` that exists under another spelling collides too: `Dreams/x.md` where `dreams/y.md` exists.
    """
    wanted = fold_path(str(path))
    spelling = {fold_path(str(folder)): str(folder) for folder in path.parents if folder.parts}
    for other in existing:
        if fold_path(str(other)) == wanted or fold_path(str(other)) in spelling:
            return other
        for folder in other.parents:
            folded = fold_path(str(folder))
            if folded == wanted or spelling.get(folded, str(folder)) != str(folder):
                return NotePath(folder)
    return None


def shorten_name(title: str, taken: Collection[str] = ()) -> str:
    """A file name for `title`, `.md` included: portable, at most 255 bytes, unlike every name in `taken`.

    Characters that a disk cannot hold become spaces; a title that is too long is cut where a reader sees a character
    end; a name that is taken (whatever its case) gets a number. `taken` are the names of the same folder.
    """
    stem = " ".join(_FORBIDDEN.sub(" ", title.encode("utf-8", "replace").decode()).split()).strip(". ") or _UNTITLED
    if _DEVICE.fullmatch(stem.split(".", 1)[0].rstrip(" ")):
        stem = f"_{stem}"
    folded = {fold_path(name) for name in taken}
    number = 1
    while True:
        suffix = ".md" if number == 1 else f" {number}.md"
        name = _cut(stem, NAME_BYTES_MAX - len(suffix)).rstrip(". ") + suffix
        if fold_path(name) not in folded:
            return name
        number += 1


def _cut(text: str, size_bytes: int) -> str:
    """The longest beginning of `text` within `size_bytes` that ends between two characters as a reader sees them."""
    if len(text.encode()) <= size_bytes:
        return text
    end = len(text.encode()[:size_bytes].decode("utf-8", "ignore"))
    while end > 1 and (_continues(text[end]) or text[end - 1] == "\u200d"):
        end -= 1
    flags = len(text[:end]) - len(text[:end].rstrip(_FLAG_LETTERS))
    if flags % 2 and text[end] in _FLAG_LETTERS:
        end -= 1
    return text[:end]


_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))


def _continues(character: str) -> bool:
    """Whether `character` is drawn as part of the one before it: marks, joiners, variation selectors, skin tones."""
    return (
        unicodedata.category(character) in ("Mn", "Me", "Mc")
        or character == "\u200d"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
    )
