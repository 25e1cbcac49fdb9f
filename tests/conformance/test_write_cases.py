"""The cases about writing, each in a scratch copy, through the cases' own runner."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

HUNG_S = 900
"""Whatever takes longer hangs."""
ADAPTER = Path(__file__).with_name("adapter.py")
CASES = ("15", "17", "18", "20", "21", "22", "23", "24", "30", "62")


def writable_copy(source: Path, target: Path) -> None:
    """Copy one case; a checkout may be read-only, and a note that is read-only is refused as case 30 wants."""
    for place in [source, *source.rglob("*")]:
        copy = target / place.relative_to(source)
        if place.is_symlink():
            copy.symlink_to(place.readlink())
        elif place.is_dir():
            copy.mkdir(parents=True)
        else:
            copy.write_bytes(place.read_bytes())


def cpu_limit_s(case: Path) -> float:
    """The seconds that the case allows, which are taken out of it: a busy machine decides no test, so it is CPU time
    that is judged, five times as long: the runner alone takes a second of it. Infinity where it names none."""
    found = json.loads((case / "case.json").read_text("utf-8"))
    limits = [float(one["s"]) for one in found["expect"] if one["a"] == "max_seconds"]
    found["expect"] = [one for one in found["expect"] if one["a"] != "max_seconds"]
    if found["kind"] == "parse" and "timeout_s" in found["action"]:
        found["action"]["timeout_s"] = HUNG_S
    (case / "case.json").write_text(json.dumps(found), "utf-8")
    return 5 * min(limits, default=math.inf)


def cpu_s() -> float:
    """What the children so far have used of the processor."""
    used = os.times()
    return used.children_user + used.children_system


def run_case(cases: Path, number: str, tmp_path: Path, environment: Mapping[str, str]) -> list[str]:
    """The columns of the runner's row: id, slug, group, hold, result, failed checks, manual checks, detail."""
    out = tmp_path / "results.tsv"
    command = [sys.executable, str(cases / "run_cases.py"), "--adapter", str(ADAPTER), "--only", number]
    source = next(cases.glob(f"{number}-*"))
    writable_copy(source, tmp_path / "cases" / source.name)
    limit_s, before_s = cpu_limit_s(tmp_path / "cases" / source.name), cpu_s()
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "CASES": str(tmp_path / "cases"), **environment}
    done = subprocess.run(
        [*command, "--out", str(out)], env=environment, capture_output=True, text=True, timeout=HUNG_S, check=False
    )
    assert cpu_s() - before_s <= limit_s
    assert done.returncode == 0, done.stderr
    rows = out.read_text().splitlines()
    assert len(rows) == 2, done.stdout
    return rows[1].split("\t")


@pytest.mark.parametrize(
    ("number", "exchange"),
    # Case 18's shim stands in for os.replace, which a system that exchanges does not call.
    [(number, "none") for number in CASES] + [(number, "native") for number in CASES if number != "18"],
)
def test_case(cases: Path, tmp_path: Path, number: str, exchange: str) -> None:
    row = run_case(cases, number, tmp_path, {"ARIA_CASE_EXCHANGE": exchange})
    assert row[4] == "pass", row
