"""How straight the ways are: which rooms a dream, a tick, and a night pass, and how often one climbs back up.

    python benchmarks/trips.py VAULT [--only dream,tick,night] [--list]

A climb is a call from a module into a module of a floor above it (the floors of `[tool.importlinter]` in
`pyproject.toml`): a callback, or an object that was handed down. Each pair of modules counts once. The vault is copied;
home, state, and cache are scratch folders. Every trip runs in an interpreter of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

ROOT = Path(__file__).parent.parent
PACKAGE = "aria_dream."
TRIPS = {"dream": ["dream", "--seed", "1"], "tick": ["apply"], "night": ["consolidate"]}
"""The command that makes the trip. Another dream, whose boxes are ticked, is dreamt before all of them."""
TICK = re.compile(r"- \[ \] (?=link them)")


def read_floors() -> dict[str, int]:
    """Room to floor, the lowest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = next(one for one in contracts if one["id"] == "floors")["layers"]
    return {room.strip(): floor for floor, names in enumerate(reversed(layers)) for room in names.split(":")}


def trace(words: list[str]) -> None:
    """Runs one command, and prints the modules that it passed and its climbs as JSON on the last line."""
    from aria_dream.cli import main

    floors = read_floors()
    modules: set[str] = set()
    climbs: set[tuple[str, str]] = set()

    def floor_of(name: str) -> int:
        return floors.get(name.removeprefix(PACKAGE).split(".")[0], 0)

    def look(frame: FrameType, event: str, _argument: object) -> None:
        callee = frame.f_globals.get("__name__", "")
        if event != "call" or not callee.startswith(PACKAGE) or frame.f_code.co_name == "<module>":
            return
        modules.add(callee)
        caller = frame.f_back
        while caller is not None and not caller.f_globals.get("__name__", "").startswith(PACKAGE):
            caller = caller.f_back  # a library between the two
        if caller is None or caller.f_code.co_name == "<module>":
            return
        source = caller.f_globals["__name__"]
        if floor_of(source) < floor_of(callee):
            climbs.add((f"{source}:{caller.f_code.co_qualname}", f"{callee}:{frame.f_code.co_qualname}"))

    sys.setprofile(look)
    try:
        main(words, standalone_mode=False)
    finally:
        sys.setprofile(None)
        print(json.dumps({"modules": sorted(modules), "climbs": sorted(climbs)}))


def run(words: list[str], environ: dict[str, str], *, traced: bool) -> str:
    head = [sys.executable, __file__, "--trace"] if traced else [sys.executable, "-m", "aria_dream"]
    done = subprocess.run([*head, *words], env=environ, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def main() -> None:
    """Prints one line a trip, and with `--list` every climb."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--only", default=",".join(TRIPS))
    parser.add_argument("--list", action="store_true", help="name every climb")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        vault = folder / "vault"
        shutil.copytree(given.vault, vault)
        for place in (vault, *vault.rglob("*")):
            place.chmod(0o755 if place.is_dir() else 0o644)
        environ = {
            **os.environ, "HOME": scratch, "XDG_STATE_HOME": f"{scratch}/state", "XDG_CACHE_HOME": f"{scratch}/cache"
        }  # fmt: skip
        run(["init", str(vault)], environ, traced=False)
        run(["dream", str(vault), "--seed", "2"], environ, traced=False)
        for note in vault.rglob("*dream.md"):
            note.write_text(TICK.sub("- [x] ", note.read_text(encoding="utf-8"), count=2), encoding="utf-8")
        for name in given.only.split(","):
            command, *options = TRIPS[name]
            found = json.loads(run([command, str(vault), *options], environ, traced=True).splitlines()[-1])
            pairs = {(source.partition(":")[0], target.partition(":")[0]) for source, target in found["climbs"]}
            print(f"{name}: {len(found['modules'])} modules, {len(pairs)} climbs")
            for source, target in found["climbs"] if given.list else ():
                print(f"    {source.removeprefix(PACKAGE)} -> {target.removeprefix(PACKAGE)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--trace"]:
        trace(sys.argv[2:])
    else:
        main()
