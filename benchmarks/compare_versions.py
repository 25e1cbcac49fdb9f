"""Two checkouts over the same vaults: all output and every file that is left must be the same, byte for byte.

    python benchmarks/compare_versions.py OLD NEW VAULT... [--only dream,tick,night,reach] [--allow 'REGEX']

OLD and NEW are checkouts with a `.venv` each. A vault is copied for each of them, with a home, state and cache of its
own; a faked clock gives each step the same instant in both, and the policy has a fixed id. Compared are stdout, stderr,
exit code, the vault, and the state folder. What is random or is a duration is blanked first: ids of changes and runs,
process numbers, figures before ` s`. `--allow` takes lines out that match (renamed words). Exits with 1 where anything
differs.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

ID = "aria-dream-id: 7l6df22rb22zrqpn"
START = datetime(2026, 11, 30, 3, 12, tzinfo=UTC).timestamp()
BLANKED = (
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:s|ms|MB)\b"), "N s"),
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "HEX"),
    (re.compile(r'("(?:pid|seconds|started|elapsed|took)[a-z_]*": )[0-9.]+'), r"\1N"),
    (re.compile(r"\d{2}:\d{2}:\d{2}(?:\.\d+)?"), "HH:MM:SS"),
    (re.compile(r"seconds: \d+; most \d+|>seconds: \d+<|\| \d+ \|  \|$", re.MULTILINE), "SECONDS"),
    (re.compile(r"\b\d{8}T\d{6}[\w-]*"), "STAMP"),
)
TICK = """
import pathlib, re, sys
boxes = 0
for note in sorted(pathlib.Path(sys.argv[1]).rglob("*.md")):
    text = note.read_text(encoding="utf-8")
    if "aria-dream: log" in text:
        ticked = re.sub(r"- \\[ \\] (?=link them)", "- [x] ", text, count=2)
        boxes += ticked != text
        note.write_text(ticked, encoding="utf-8")
print(boxes, "notes ticked")
"""
REACH = """
import pathlib, sys, tempfile
sys.path.insert(0, sys.argv[2])
from tests.reach_bench import HOMES, ReachBench, answered
root = pathlib.Path(sys.argv[1])
bench = ReachBench(root.parent, {}, answered(HOMES), vault=root.name)
bench.consent()
found = bench.reach("internal")
print(found.resolution, found.reason, found.note)
for text in bench.reacher.sent:
    print(text)
for name, content in sorted(bench.files().items()):
    if name.startswith(("dreams/", "Dreams/")):
        print(name, content.decode("utf-8", "replace"))
"""
STEPS: dict[str, list[list[str]]] = {
    "dream": [
        ["links", "--json"],
        ["resonances", "--limit", "8"],
        ["init"],
        ["dream", "--seed", "1"],
        ["dream", "--seed", "2"],
        ["dream", "--seed", "3", "--json"],
        ["review"],
        ["review", "--json"],
        ["status"],
        ["policy", "--json"],
    ],
    "tick": [
        ["TICK"],
        ["apply"],
        ["history"],
        ["history", "--json"],
        ["rollback", "--last"],
        ["apply", "--json"],
        ["seeds"],
    ],
    "night": [
        ["consolidate"],
        ["consolidate", "--json"],
        ["review"],
        ["graduation"],
        ["synthesize"],
        ["status", "--json"],
    ],
    "reach": [["reach", "--internal", "--dry-run"], ["REACH"], ["janus"]],
}


def run(checkout: Path, vault: Path, home: Path, words: list[str], at: float) -> str:
    python = checkout / ".venv" / "bin" / "python"
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "TZ": "UTC",
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": str(checkout / "tests" / "faked_clock"),
        "FAKED_CLOCK_AHEAD_S": str(at - time.time()),
        "PYTHONHASHSEED": "0",
    }
    if words[0] in ("TICK", "REACH"):
        line = [str(python), "-c", {"TICK": TICK, "REACH": REACH}[words[0]], str(vault), str(checkout)]
    else:
        line = [str(python), "-m", "aria_dream", words[0], *words[1:]]
        line.insert(4, str(vault))
    done = subprocess.run(line, env=environ, cwd=vault.parent, capture_output=True, check=False, timeout=1200)
    said = done.stdout.decode("utf-8", "replace") + done.stderr.decode("utf-8", "replace")
    return f"{said}exit code {done.returncode}\n"


def contents(folder: Path) -> dict[str, str]:
    found = {}
    changes = {place.name: f"{number:02}" for number, place in enumerate(sorted(folder.glob("**/history/*")))}
    for place in sorted(folder.rglob("*")):
        if place.is_file() and place.suffix not in (".lock", ".log", ".sqlite", ".db"):
            parts = place.relative_to(folder).parts
            found["/".join(changes.get(part, part) for part in parts)] = place.read_bytes().decode("utf-8", "replace")
    return found


def blank(text: str, checkout: Path, allowed: re.Pattern[str] | None) -> list[str]:
    text = text.replace(str(checkout), "CHECKOUT")
    for pattern, by in BLANKED:
        text = pattern.sub(by, text)
    return [line for line in text.split("\n") if allowed is None or not allowed.search(line)]


def compare(old: Path, new: Path, vault: Path, kinds: list[str], allowed: re.Pattern[str] | None) -> int:
    differing = 0
    seen: list[dict[str, str]] = []
    with tempfile.TemporaryDirectory() as scratch:
        for checkout in (old, new):
            world = Path(scratch) / "world"  # the same path for both: it may be printed
            home, copy = world / "home", world / vault.name
            home.mkdir(parents=True)
            shutil.copytree(vault, copy)
            policy = (checkout / "dreaming.md").read_text(encoding="utf-8")
            (copy / "dreaming.md").write_text(policy.replace("policy\n", f"policy\n{ID}\n", 1), encoding="utf-8")
            found: dict[str, str] = {}
            for number, words in enumerate(words for kind in kinds for words in STEPS[kind]):
                found[f"{number:02} {' '.join(words)}"] = run(checkout, copy, home, words, START + 3600 * number)
            found |= {f"vault/{name}": text for name, text in contents(copy).items()}
            found |= {f"state/{name}": text for name, text in contents(home / "state").items()}
            seen.append({re.sub(r"[0-9a-f]{12,}|\d{8}T\d+", "ID", name): text for name, text in found.items()})
            shutil.rmtree(world)
    for name in sorted(seen[0].keys() | seen[1].keys()):
        lines = [blank(each.get(name, "(not there)"), at, allowed) for each, at in zip(seen, (old, new), strict=True)]
        if lines[0] != lines[1]:
            differing += 1
            print(f"=== {vault.name}: {name}")
            for line in list(difflib.unified_diff(lines[0], lines[1], "old", "new", lineterm="", n=1))[2:42]:
                print(f"    {line[:300]}")
    print(f"{vault.name}: {len(seen[0])} outputs and files, {differing} differ")
    return differing


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("vaults", type=Path, nargs="+")
    parser.add_argument("--only", default="dream,tick,night,reach")
    parser.add_argument("--allow", type=re.compile)
    given = parser.parse_args()
    kinds = given.only.split(",")
    results = [compare(given.old.resolve(), given.new.resolve(), vault, kinds, given.allow) for vault in given.vaults]
    return 1 if any(results) else 0


if __name__ == "__main__":
    sys.exit(main())
