"""Cases 67 and 69, with their placeholder keys mapped to the product's own."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from aria_dream.markdown.note import parse_note
from aria_dream.markdown.scan import read_flags
from aria_dream.policy.kinds import Door
from aria_dream.policy.policy import parse_policy
from aria_dream.privacy.sharing import ShareableExcerpt, Withheld, excerpt_note, survey

if TYPE_CHECKING:
    from pathlib import Path

KEYS = {"write": "autonomous_reach", "wirte": "autonomuos_reach", "cloud": "allow_remote_triage"}
VALUES = {"propose": "off", "auto": "on", "sometimes": "sometimes", "no": "off", '"no"': "off", "yes": "on"}
NAMES = ("bom", "blank-first", "crlf", "fenced", "dup", "typo", "unknown", "empty")


def as_our_note(text: str) -> str:
    """The case's policy with the product's keys, in the product's form: a list in place of the frontmatter."""
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    line_end = "\r\n" if "\r\n" in text else "\n"
    out = [bom + "---", "aria-dream: policy", "---", ""] if not text.startswith("\n") else [""]
    fenced = False
    for line in text.removeprefix("\ufeff").splitlines():
        fenced ^= line.startswith("```")
        pair = re.fullmatch(r"(> )?(\w+): (.+)", line)
        if pair:
            out.append(f"{pair[1] or ''}- {KEYS[pair[2]]}: {VALUES[pair[3]]}")
        elif line != "---" or fenced:
            out.append(line)
    return line_end.join(out) + line_end


@pytest.mark.parametrize("name", NAMES)
def test_case_69(cases: Path, name: str) -> None:
    folder = cases / "69-policy-parsing-traps"
    asked = {row["file"]: row for row in json.loads((folder / "ask.json").read_text(encoding="utf-8"))}
    assert set(asked) == {f"{each}.md" for each in NAMES}
    text = (folder / "policies" / f"{name}.md").read_bytes().decode("utf-8")
    policy, problems = parse_policy(as_our_note(text))
    row = asked[f"{name}.md"]
    assert policy.settings.autonomous_reach is (row["write"] != "propose")
    assert policy.settings.allow_remote_triage is row["cloud"]
    if row["error"] is not None:
        assert bool(problems) is row["error"]
    if row["error"]:
        assert all(policy.refusal(door) for door in (Door.SEND, Door.SPEND, Door.AUTO))
        assert all(problem.line for problem in problems)


@pytest.mark.parametrize("name", NAMES)
def test_case_69_as_it_stands(cases: Path, name: str) -> None:
    """Even with keys that are not ours nothing opens."""
    text = (cases / "69-policy-parsing-traps" / "policies" / f"{name}.md").read_bytes().decode("utf-8")
    policy, _ = parse_policy(text)
    assert not policy.settings.autonomous_reach
    assert not policy.settings.allow_remote_triage


def test_case_67_as_it_stands_sends_nothing(cases: Path) -> None:
    """Its policy names its folders among the properties, and by a kind of pattern that is not ours: all is closed."""
    vault = read_case_67(cases)
    policy, problems = parse_policy(vault["dreaming.md"])
    assert problems
    sharing, _ = survey(facts_of(vault), policy)
    assert sharing.closed
    assert {"Private/Diary.md", "private/lower.md", "Area/Tagged.md", "Area/InlineTag.md"} <= sharing.hidden
    for path, text in vault.items():
        assert isinstance(excerpt_note(sharing, parse_note(text), path), Withheld)


@pytest.mark.parametrize("key", ["exclude", "never_send"])
def test_case_67_in_our_words(cases: Path, key: str) -> None:
    vault = read_case_67(cases)
    vault["dreaming.md"] = f"---\naria-dream: policy\n---\n- {key}:\n  - Private\n  - #secret\n"
    vault["Area/Prop.md"] = vault["Area/Prop.md"].replace("private: true", "dream: false")
    policy, problems = parse_policy(vault["dreaming.md"])
    assert problems == ()
    sharing, problems = survey(facts_of(vault), policy)
    assert problems == ()
    made = {path: excerpt_note(sharing, parse_note(text), path) for path, text in vault.items()}
    shared_notes = {path: each for path, each in made.items() if isinstance(each, ShareableExcerpt)}
    assert set(shared_notes) == {"Public.md", "PrivateNotes.md"}
    for each in shared_notes.values():
        for word in ("CANARY-P", "Diary", "Health", "Codename"):
            assert word.lower() not in f"{each.title} {each.text}".lower()


def read_case_67(cases: Path) -> dict[str, str]:
    root = cases / "67-private-folder-leak" / "vault"
    files = sorted(path for path in root.rglob("*.md"))
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in files}


@dataclass(frozen=True, kw_only=True)
class Facts:
    path: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    dream: bool


def facts_of(vault: dict[str, str]) -> list[Facts]:
    notes = {path: parse_note(text) for path, text in vault.items()}
    return [
        Facts(path=path, tags=note.tags, aliases=note.aliases, dream=read_flags(note.properties)[0])
        for path, note in notes.items()
    ]
