"""The policy and the prompts as they stand on the disk now, and the memory of whether there ever was a policy.

The memory lies in the state folder under a key of the vault's real path, because the vault's own id stands in the very
note that may vanish. A prompt is the writer's own copy in the dream folder, else the shipped one.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.places import read_shipped, shipped_path, vault_key
from aria_dream.adapters.disk.safe_path import is_placeholder, locate, read_plain
from aria_dream.errors import Problem, VaultUnreadableError
from aria_dream.judging.prompt_text import LONGEST_PROMPT, Prompt, parse_prompt
from aria_dream.markdown.note import NotePath, decode_note
from aria_dream.policy.policy import Policy, choose_policy, close_policy, find_policy_note, is_policy_name
from aria_dream.policy.triggers import Triggers, choose_triggers, is_triggers_name
from aria_dream.vault.names import fold_path
from aria_dream.world import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from aria_dream.adapters.disk.places import Places
    from aria_dream.policy.file_layout import Home, VaultNames

@dataclass(frozen=True, slots=True, kw_only=True)
class LivePolicy:
    """What the vault's policy and triggers say now."""

    policy: Policy
    triggers: Triggers
    problems: tuple[Problem, ...]
    vault_id: str
    """The id in the policy note, the one it had when it was last seen, or the key of the vault's path."""

    in_doubt: bool
    """There is something that may be the policy and cannot be read: nothing may be put in its place."""

    def state_folder(self, places: Places) -> Path:
        """The folder of this vault's state. It need not exist."""
        return places.state / self.vault_id


def read_live_policy(root: Path, places: Places, environ: Mapping[str, str] = os.environ) -> LivePolicy:
    """The policy in force for the vault at `root`, read afresh; remembers in the state folder that there is one.

    A policy note that cannot be read, or lies in the cloud only, closes everything, as one that has vanished does.

    Raises:
        VaultUnreadableError: the vault's folder cannot be listed.
    """
    memory = places.state / "policies" / f"{vault_key(root)}.json"
    seen = _read_memory(memory)
    texts, unreadable = _read_root_notes(root, is_policy_name)
    in_doubt = bool(unreadable or find_policy_note(texts)[1])
    if unreadable:
        policy, problems = close_policy("it cannot be read", unreadable[0].path), unreadable
    else:
        policy, problems = choose_policy(texts, was_there=seen is not None, env=environ)
    if policy.path:
        _write_memory(memory, seen, policy.vault_id)
    trigger_texts, unread = _read_root_notes(root, is_triggers_name)
    triggers, found = choose_triggers(trigger_texts)
    return LivePolicy(
        policy=policy,
        triggers=triggers,
        problems=(*problems, *unread, *found),
        vault_id=policy.vault_id or seen or vault_key(root),
        in_doubt=in_doubt,
    )


def _read_root_notes(root: Path, wanted: Callable[[str], bool]) -> tuple[dict[str, str], tuple[Problem, ...]]:
    """Texts of the wanted files at the vault's root, by name; and those that are there but cannot be read."""
    texts: dict[str, str] = {}
    problems: list[Problem] = []
    try:
        with os.scandir(root) as entries:
            names = sorted(entry.name for entry in entries if not entry.is_dir())
    except OSError as error:
        raise VaultUnreadableError(f"{root} cannot be read: {error.strerror or error}") from error
    for name in names:
        evicted = re.fullmatch(r"\.(.+)\.icloud", name)
        if evicted and wanted(evicted[1]):
            problems.append(Problem(evicted[1], 0, "it lies in iCloud only; open it once on this machine"))
        if not wanted(name):
            continue
        try:
            data = None if is_placeholder((root / name).stat()) else read_plain(root / name)
        except OSError as error:
            problems.append(Problem(name, 0, f"it cannot be read ({error.strerror or error})"))
            continue
        if data is None:
            problems.append(Problem(name, 0, "its text is not on this machine; open it once in the app"))
        else:
            texts[name] = decode_note(data)
    return texts, tuple(problems)


def _read_memory(path: Path) -> str | None:
    """The id that the policy had when it was last seen (`""`: none); None where there never was a policy."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeError):
        return ""  # there is a memory, whatever it says
    with suppress(ValueError):
        value = json.loads(text)
        found = value.get("vault_id") if isinstance(value, dict) else None
        if isinstance(found, str) and re.fullmatch(r"[a-z0-9]{8,40}", found):
            return found
    return ""


def _write_memory(path: Path, seen: str | None, vault_id: str) -> None:
    if seen == vault_id:
        return
    temp = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with suppress(OSError):  # a state folder that cannot be written is reported by what needs it
        path.parent.mkdir(parents=True, exist_ok=True)
        temp.write_text(json.dumps({"vault_id": vault_id}) + "\n", encoding="utf-8")
        temp.replace(path)


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
