"""What `init` writes: the plan, pure, from the vault's names and the shipped texts. It never overwrites anything."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.policy.file_layout import Home, VaultNames, choose_home, choose_policy_name, choose_triggers_name
from aria_dream.policy.lines import Form, normal_lines, setting_entries

if TYPE_CHECKING:
    from aria_dream.policy.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Furniture:
    """The texts that are brought along."""

    policy: str
    triggers: str
    review: str
    seeds: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MovingIn:
    """What is to be written, and what the writer should know."""

    creates: tuple[tuple[str, str], ...]
    """`(vault path, text)` of new files."""
    policy: str
    """Vault path of the policy note, new or old; `""` where no name was free."""
    policy_folder: str
    """The `dream_folder` that an existing policy note has to say from now on; `""` where it says so already."""
    triggers: str
    home: Home
    kept: tuple[str, ...]
    """Our own files that are there already."""
    said: tuple[str, ...]


def plan_init(
    names: VaultNames, furniture: Furniture, *, policy: Policy, wanted: str, vault_id: str
) -> MovingIn:
    """The plan for a vault whose policy in force is `policy` (its `path` is empty where there is no note yet).

    `wanted` is the name for a new policy note, `vault_id` the id it gets.
    """
    home = choose_home(names, policy.settings.dream_folder)
    creates: list[tuple[str, str]] = []
    said = [sentence for sentence in home.said if sentence != home.moved]  # the policy is mended right here
    policy_path = policy.path
    if not policy_path:
        policy_path, note = choose_policy_name(names, wanted)
        said += [note] if note else []
        if policy_path:
            text = with_setting(with_property(furniture.policy, "aria-dream-id", vault_id), "dream_folder", home.folder)
            creates.append((policy_path, text))
    triggers = next(iter(names.marked("", "triggers")), "")
    if not triggers:
        triggers, note = choose_triggers_name(names)
        said += [note] if note else []
        creates += [(triggers, furniture.triggers)] if triggers else []
    for path, text in ((home.review, furniture.review), (home.seeds, furniture.seeds)):
        if path not in names.files:
            creates.append((path, text))
    moved = policy.path if home.folder != policy.settings.dream_folder else ""
    touched = {moved, *(path for path, _ in creates)}
    return MovingIn(
        creates=tuple(creates),
        policy=policy_path,
        policy_folder=home.folder if moved else "",
        triggers=triggers,
        home=home,
        kept=tuple(path for path in (policy_path, triggers, home.review, home.seeds) if path and path not in touched),
        said=tuple(said),
    )


def with_setting(text: str, key: str, value: str) -> str:
    """`text` where the list item `key` says `value`; every other byte as it was. Added at the end where there is none.

    `text` is a policy note in which the key is stated at most once and understood.
    """
    entry = next((e for e in setting_entries(text) if e.key == key and e.form is Form.SETTING), None)
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    if entry is None:
        line_end = "\r\n" if "\r\n" in text else "\n"
        gap = "" if not text or text.endswith(("\n", "\r")) else line_end
        return f"{text}{gap}{line_end}- {key}: {value}{line_end}"
    line = lines[entry.line - 1]
    stated = rf"(.*?{re.escape(key)}[*_`]*\s*[:\uff1a][*_`]*[^\S\r\n]*)"
    found = re.match(stated + r"(.*?)([^\S\r\n]*(?:[^\S\r\n]#.*)?[\r\n]*)$", line, re.DOTALL)
    assert found is not None, "the entry was read from this very line"
    space = "" if found[1].endswith((" ", "\t", "\u00a0")) else " "
    lines[entry.line - 1] = f"{found[1]}{space}{value}{found[3]}"
    return "".join(lines)


def with_property(text: str, key: str, value: str) -> str:
    """`text`, a note that begins with frontmatter in `\\n` lines, with `key: value` as its last property."""
    assert normal_lines(text)[0] == "---"
    head, mark, body = text.partition("\n---\n")
    return f"{head}\n{key}: {value}{mark}{body}"
