"""Kills a synthesis at every point and looks at what the next start makes of it. Run by `test_synthesis_crash.py`.

`synthesis_crash_driver.py MODE FOLDER`: a point is each step that the vault's writer announces (`steps`), or before,
inside and after each writing system call (`calls`). After each kill the next start must find both files whole: as they
were, as they were with the missing ones made, or as the synthesis leaves them. Prints the number of points.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.state.memory_folder import NoMemory
from aria_dream.errors import MissingPartError
from aria_dream.policy.policy import Policy
from aria_dream.usecases.synthesis import SynthesisRequest, run_synthesis, synthesis_lock
from tests.e2e.crash_driver import Killer

if TYPE_CHECKING:
    from collections.abc import Callable

AT = datetime(2026, 11, 30, 3, 12, tzinfo=UTC)
EVIDENCE = "".join(
    json.dumps({"kind": "command", "ref": f"run:{code}", "at": f"2026-11-2{9 - code}T10:00:00Z", "command": "make x",
                "exit": code, "artifact_ref": "x.txt"}) + "\n"
    for code in (1, 0)
)  # fmt: skip
LOG, LESSONS = "memory/DREAM_LOG.md", "memory/runtime/LESSONS.jsonl"
SESSION = {"memory/SESSION_LOG.md": b"## 2026-11-29\n\n- A pump was mended with a part from the shed.\n"}
OLD = {**SESSION, LOG: b"# Log\r\n\r\n" + b"An old entry.\r\n" * 800, LESSONS: b'{"lesson_id":"l007"}'}


def encode(_texts: object) -> Any:
    """There is no model in this process."""
    raise MissingPartError("none")


def synthesise_once(folder: Path, tick: Callable[[str], None] = lambda _: None) -> None:
    files = DiskVault(folder / "vault", folder / "state", after_step=tick)
    request = SynthesisRequest(at=AT, occasion="nightly", evidence=EVIDENCE)
    result = run_synthesis(files, synthesis_lock(folder / "state"), Policy(), request, encode)
    assert not isinstance(result, NoMemory)
    assert result.verdict.passed, result.verdict


def held(folder: Path) -> dict[str, bytes]:
    root = folder / "vault"
    return {place.relative_to(root).as_posix(): place.read_bytes() for place in root.rglob("*") if place.is_file()}


def fresh(folder: Path, old: dict[str, bytes]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for name, data in old.items():
        place = folder / "vault" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def killed_at(point: int, mode: str, folder: Path) -> bool:
    """Whether a child that synthesises was killed at `point`; False where it finished before."""
    child = os.fork()
    if child == 0:
        killer = Killer(point)
        if mode == "calls":
            killer.watch_calls()
        try:
            synthesise_once(folder, killer.tick if mode == "steps" else lambda _: None)
        except BaseException:  # noqa: BLE001 - the child must not run on as a second driver
            os._exit(3)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        return True
    assert os.WEXITSTATUS(status) == 0, f"the child ended with {status}"
    return False


def main(mode: str, place: str) -> None:
    folder = Path(place) / "run"
    tempfile.tempdir = place  # what a killed child leaves there goes with the test's folder
    points = 0
    for old in (SESSION, OLD):
        fresh(folder, old)
        synthesise_once(folder)
        new = held(folder)
        assert new[LESSONS].startswith(old.get(LESSONS, b""))
        made = {LOG: b"---\naria-dream: synthesis\n---\n\n# Dream log\n", LESSONS: b"", **old}
        point = 0
        while True:
            fresh(folder, old)
            if not killed_at(point, mode, folder):
                assert held(folder) == new
                break
            DiskVault(folder / "vault", folder / "state").recover()
            found = held(folder)
            assert found in (old, made, new), sorted(found)
            assert not list((folder / "vault").rglob(".aria-*"))
            synthesise_once(folder)
            if found != new:
                assert held(folder) == new
            else:  # the run had landed: this one is the day's second, and learns nothing again
                assert held(folder)[LESSONS] == new[LESSONS]
                assert held(folder)[LOG].startswith(new[LOG])
            point += 1
        points += point
    sys.stdout.write(f"{points}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
