"""Two of our processes at once lose nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]

APPENDER = """
import sys
from pathlib import Path
from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.journal import Journal
from aria_dream.adapters.disk.lock import writer_lock
from aria_dream.vault.edit import ChangeSet, plan_append
from aria_dream.markdown.note import NotePath
from aria_dream.world import Conflict, Written

folder, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
vault = DiskVault(folder / "vault", folder / "state", lock_wait_s=60)
journal = Journal(folder / "state" / "runs.jsonl", writer_lock(folder / "state"))
path = NotePath("log.md")
sys.stdin.readline()  # both wait for the same word
for number in range(count):
    while True:
        found = vault.read(path)
        plan = plan_append(path, found.data, f"## {name} {number}\\n\\nx")
        outcome = vault.write(ChangeSet(writes=(plan,)))
        if isinstance(outcome, Written):
            break
        assert isinstance(outcome, Conflict), outcome
    journal.append({"writer": name, "number": number, "change": outcome.change_id})
"""


def start(script: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(*processes: subprocess.Popen[bytes]) -> None:
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
    for process in processes:
        error = process.communicate(timeout=200)[1]
        assert process.returncode == 0, error.decode()


def test_two_processes_that_append_fifty_blocks_each_lose_none(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    log = tmp_path / "vault" / "log.md"
    log.write_bytes(b"# Log\r\n")
    finish(start(APPENDER, str(tmp_path), "one", "50"), start(APPENDER, str(tmp_path), "two", "50"))
    text = log.read_bytes()
    for name in ("one", "two"):
        blocks = [text.index(b"\r\n\r\n## %s %d\r\n\r\nx\r\n" % (name.encode(), number)) for number in range(50)]
        assert blocks == sorted(blocks)
    assert text.count(b"## ") == 100
    records = (tmp_path / "state" / "runs.jsonl").read_bytes().splitlines()
    assert len(records) == len(set(records)) == 100
    assert [place.name for place in (tmp_path / "vault").iterdir()] == ["log.md"]
    assert len(list((tmp_path / "state" / "history").glob("*/outcome.json"))) == 100
