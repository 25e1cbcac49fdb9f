"""Real processes reach at once and are torn away at every step: no more is sent than the account allows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aria_dream.reach.reach_reading import parse_reach_blocks
from tests.e2e.test_dream import NOTES
from tests.reach_bench import POLICY, ReachBench

REPOSITORY = Path(__file__).resolve().parents[2]
STEPS = ["begun", "call", "answered", "settled", "remembered", "written", "landed", "none"]


def start(folder: Path, vault: str, step: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "tests.e2e.reach_crash_driver", str(folder), vault, step]
    return subprocess.Popen(
        command, env=environment, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def made(folder: Path, vault: str, allowance: int, seeds: int) -> ReachBench:
    bench = ReachBench(folder, NOTES, vault=vault)
    bench.write("dreaming.md", f"{POLICY}- reach_requests_per_5h: {allowance}\n")
    bench.home()
    text = "".join(
        f"## 2026-11-{number:02} — Claim {number}\n- kind: external-novelty\n- source: Book {number}\n\n"
        for number in range(1, seeds + 1)
    )
    bench.write("dreams/Dream seeds.md", f"---\naria-dream: seeds\n---\n{text}")
    bench.consent()
    return bench


def sent(folder: Path) -> int:
    place = folder / "sent"
    return place.read_text(encoding="ascii").count("sent") if place.exists() else 0


def test_two_vaults_at_once_share_one_allowance_whatever_dies(tmp_path: Path) -> None:
    """Eight processes on two vaults of one account, most of which die somewhere; four requests are allowed."""
    for vault in ("one", "two"):
        made(tmp_path, vault, 4, 8)
    for wave in (STEPS[:4], STEPS[4:]):
        running = [start(tmp_path, vault, step) for step, vault in zip(wave, ["one", "two"] * 2, strict=True)]
        for process in running:
            _, complaint = process.communicate(timeout=120)
            assert process.returncode in (0, 9), complaint
    for _ in range(4):
        process = start(tmp_path, "one", "none")
        process.communicate(timeout=120)
    assert 1 <= sent(tmp_path) <= 4
    assert "spent" in start(tmp_path, "two", "none").communicate(timeout=120)[0]


@pytest.mark.parametrize("step", STEPS)
def test_the_next_run_makes_good_what_a_kill_cut_off(tmp_path: Path, step: str) -> None:
    bench = made(tmp_path, "vault", 9, 2)
    process = start(tmp_path, "vault", step)
    out, complaint = process.communicate(timeout=120)
    assert process.returncode == (0 if step == "none" else 9), complaint
    assert (out == "orphan\n") == (step == "none")
    out, complaint = start(tmp_path, "vault", "none").communicate(timeout=120)
    assert out == "orphan\n", complaint
    counted = sum(row.verdict == "initiated" for row in bench.ledger())
    assert sent(tmp_path) <= counted
    assert sent(tmp_path) == (1 if step == "begun" else 2)
    blocks, problems = parse_reach_blocks(bench.note())
    assert not problems
    kinds = [type(block.outcome).__name__ for block in blocks]
    lost = step in ("call", "answered")
    assert kinds == (["Answer"] if step == "begun" else ["NoAnswer", "Answer"] if lost else ["Answer", "Answer"])
    seeds = bench.read("dreams/Dream seeds.md")
    assert seeds.count("status: dreamt") == len([kind for kind in kinds if kind == "Answer"])
