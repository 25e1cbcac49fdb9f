"""The prompts as they read now: the writer's own copy in the dream folder, else the shipped one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.safe_path import locate, read_plain
from aria_dream.adapters.disk.shipped import read_shipped, shipped_path
from aria_dream.errors import Problem
from aria_dream.judging.prompt_text import LONGEST_PROMPT, Prompt, parse_prompt
from aria_dream.markdown.note import NotePath, decode_note
from aria_dream.vault.names import fold_path
from aria_dream.world import Refused

if TYPE_CHECKING:
    from pathlib import Path

    from aria_dream.policy.file_layout import Home, VaultNames

FOLDER = "prompts"
_NAMES_TRIED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPrompt:
    """A prompt in force."""

    prompt: Prompt
    path: str
    """Vault path of the writer's copy; `""` for the shipped one."""
    text: str
    """Of its file, comments and all."""
    problems: tuple[Problem, ...] = ()
    """Why the writer's copy does not count, where there is one that does not."""


def prompt_names() -> tuple[str, ...]:
    """The names of all shipped prompts, sorted."""
    return tuple(sorted(path.stem for path in shipped_path(FOLDER).glob("*.md")))


def shipped_prompt(name: str) -> FoundPrompt:
    """The prompt that comes with the program; a fault in it is a fault of the program."""
    text = read_shipped(FOLDER, f"{name}.md")
    prompt, problems = _parsed(name, text)
    if prompt is None:
        raise AssertionError(f"the shipped prompt {name} is broken: {problems}")
    return FoundPrompt(prompt=prompt, path="", text=text)


@lru_cache(maxsize=8)
def _parsed(name: str, text: str) -> tuple[Prompt | None, tuple[Problem, ...]]:
    return parse_prompt(name, text)


def read_prompt(name: str, root: Path, names: VaultNames, home: Home) -> FoundPrompt:
    """The prompt `name` in force for the vault at `root`, read afresh.

    A copy counts only in a dream folder that is ours, and only if it can be read and has the shipped placeholders.
    """
    shipped = shipped_prompt(name)
    path = ejected_path(name, names, home)
    if not path:
        return shipped
    text = _read(root, path)
    if text is None:
        problems: tuple[Problem, ...] = (Problem(path, 0, "it cannot be read"),)
        prompt = None
    else:
        prompt, problems = parse_prompt(name, text, path=path, required=shipped.prompt.placeholders)
    if prompt is None or text is None:
        told = tuple(Problem(p.path, p.line, f"{p.message}; the shipped prompt is used meanwhile") for p in problems)
        return FoundPrompt(prompt=shipped.prompt, path="", text=shipped.text, problems=told)
    return FoundPrompt(prompt=prompt, path=path, text=text)


def ejected_path(name: str, names: VaultNames, home: Home) -> str:
    """Vault path of the writer's copy; `""` where there is none."""
    if not home.exists:
        return ""
    candidates = (f"{home.folder}/{FOLDER}/{each}" for each in _file_names(name))
    found = (names.folded.get(fold_path(path), "") for path in candidates)
    return next((path for path in found if path in names.files), "")


def place_for_copy(name: str, names: VaultNames, home: Home) -> str:
    """The vault path that a copy would get: a name that nothing has and no link of the writer's looks up."""
    candidates = (f"{home.folder}/{FOLDER}/{each}" for each in _file_names(name))
    return next((path for path in candidates if names.is_free(path)), "")


def _file_names(name: str) -> list[str]:
    return [f"{name}.md", *(f"{name} {number}.md" for number in range(2, _NAMES_TRIED))]


def _read(root: Path, path: str) -> str | None:
    place = locate(root, NotePath(path))
    if isinstance(place, Refused):
        return None
    try:
        if place.stat().st_size > 4 * LONGEST_PROMPT:
            return " " * (LONGEST_PROMPT + 1)  # its length is all that has to be said of it
        data = read_plain(place)
    except OSError:
        return None
    return None if data is None else decode_note(data)
