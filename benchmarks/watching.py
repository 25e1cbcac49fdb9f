"""What watching a vault costs: idle CPU, wake-ups and memory over a while, and the time from a save to the graph.

    python benchmarks/watching.py VAULT [--idle-s 60] [--saves 20] [--large VAULT]

VAULT is copied first. The watcher runs in a process of its own (`tests/e2e/watch_driver.py`), as the daemon runs it.
The saves are made by this process; the time of the first includes the debounce, that of the others also the rest that
follows each look (ten times its CPU time), since nobody needs the graph while somebody types.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.watched import Driver

DEBOUNCE_MS = 300.0


def switches(process: psutil.Process) -> int:
    """How often any thread of the process has waited and been woken."""
    return sum(
        int(line.split()[1])
        for task in Path(f"/proc/{process.pid}/task").iterdir()
        for line in (task / "status").read_text(encoding="ascii").splitlines()
        if line.startswith("voluntary_ctxt_switches")
    )


def measure(vault: Path, idle_s: float, saves: int) -> None:
    """Prints the figures for one vault."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(shutil.copytree(vault, Path(scratch, "vault"), copy_function=shutil.copy2))
        notes = sorted(root.rglob("*.md"))
        for state in ("cold", "warm"):
            started = time.perf_counter()
            with Driver(root, Path(scratch, "state"), Path(scratch, "cache"), debounce_ms=DEBOUNCE_MS) as driver:
                ready_s = time.perf_counter() - started
                process = psutil.Process(driver.process.pid)
                print(f"{len(notes)} notes, {state}: ready after {ready_s:.2f} s, {driver.ready['ready']}")
                if state == "warm":
                    idle(process, idle_s)
                    save(driver, notes, saves, process)
                    print(f"  memory after the saves {memory_mb(process):.0f} MB")


def idle(process: psutil.Process, idle_s: float) -> None:
    time.sleep(3)  # let the start settle; nothing depends on it
    before, woken = process.cpu_times(), switches(process)
    time.sleep(idle_s)
    after = process.cpu_times()
    spent_s = after.user + after.system - before.user - before.system
    percent, woken = max(0.0, 100 * spent_s / idle_s), switches(process) - woken
    print(f"  idle {idle_s:.0f} s: {percent:.3f} % of a core, {woken} wake-ups, {memory_mb(process):.0f} MB")


def memory_mb(process: psutil.Process) -> float:
    return float(process.memory_info().rss) / 2**20


def save(driver: Driver, notes: list[Path], saves: int, process: psutil.Process) -> None:
    times_s: list[float] = []
    before = process.cpu_times()
    for number in range(saves):
        note = notes[number * len(notes) // saves]
        text = note.read_bytes() + f"\n[[saved {number}]]\n".encode()
        temp = note.with_name(".bench-temp")
        temp.write_bytes(text)
        started = time.perf_counter()
        temp.replace(note)
        driver.next_change()
        times_s.append(time.perf_counter() - started)
    after = process.cpu_times()
    cpu_ms = 1000 * (after.user + after.system - before.user - before.system) / saves
    first_ms, others_ms = 1000 * times_s[0], 1000 * statistics.median(times_s[1:])
    print(f"  save to graph: {first_ms:.0f} ms, of which {DEBOUNCE_MS:.0f} ms are the debounce; {cpu_ms:.0f} ms of CPU")
    print(f"  saved without a pause: {others_ms:.0f} ms (median), with the rest after each look")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--large", type=Path)
    parser.add_argument("--idle-s", type=float, default=60)
    parser.add_argument("--saves", type=int, default=20)
    given = parser.parse_args()
    for vault in filter(None, (given.vault, given.large)):
        measure(vault, given.idle_s, given.saves)


if __name__ == "__main__":
    main()
