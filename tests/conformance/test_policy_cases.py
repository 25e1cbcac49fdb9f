"""Cases 67 and 69 of the shared folder, with their placeholder keys mapped to the product's own."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from aria_dream.policy.kinds import Door
from aria_dream.policy.policy import parse_policy

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


@pytest.mark.shared
@pytest.mark.parametrize("name", NAMES)
def test_case_69(shared: Path, name: str) -> None:
    folder = shared / "cases" / "69-policy-parsing-traps"
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


@pytest.mark.shared
@pytest.mark.parametrize("name", NAMES)
def test_case_69_as_it_stands(shared: Path, name: str) -> None:
    """Even with keys that are not ours nothing opens."""
    text = (shared / "cases" / "69-policy-parsing-traps" / "policies" / f"{name}.md").read_bytes().decode("utf-8")
    policy, _ = parse_policy(text)
    assert not policy.settings.autonomous_reach
    assert not policy.settings.allow_remote_triage
