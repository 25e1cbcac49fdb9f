"""Kills a writing process at every point, again and again, and looks at what the next start makes of it.

Run by `test_crash.py` as a process of its own (it forks): `crash_driver.py SCENARIO MODE FOLDER`. A *point* is a moment
at which the child gets SIGKILL: after each step that `DiskVault` announces (mode `steps`), or before and after each
system call that writes, and in the middle of each `write` (mode `calls`). Mode `recovery` kills a second time, inside
the recovery, at every point of it. Prints the number of points; a broken promise raises.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aria_dream.adapters.disk import swap
from aria_dream.adapters.disk.files import DiskVault
from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import ABSENT, ChangeSet, Exists, Move, WritePlan, content_hash
from aria_dream.world import Conflict, Failed, Refused, Verdict, Written

if TYPE_CHECKING:
    from collections.abc import Callable

BIG = b"x" * 20_000  # more than one page, so that half a write is a torn file
WRITING_CALLS = [
    *("write", "fsync", "rename", "replace", "link", "unlink", "mkdir", "rmdir"),
    *("ftruncate", "fchmod", "fchown", "setxattr"),
]


class Killer:
    """Counts points and kills this process at the one that is wanted."""

    def __init__(self, point: int) -> None:
        self._left = point

    def tick(self, _name: str = "") -> None:
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1

    def watch_calls(self) -> None:
        """Put a point before and after every writing system call of this process."""
        for name in WRITING_CALLS:
            setattr(os, name, self._watched(getattr(os, name)))
        real_open, real_write, real_libc = os.open, os.write, swap._libc_function

        def watched_open(path: Any, flags: int, *rest: Any, **named: Any) -> int:
            if not flags & os.O_CREAT:
                return real_open(path, flags, *rest, **named)
            return int(self._watched(real_open)(path, flags, *rest, **named))

        def torn_write(handle: int, data: Any) -> int:
            if self._left == 0:  # the next point lies inside this call: half of the bytes get out
                real_write(handle, bytes(data)[: len(data) // 2])
            self.tick()
            return real_write(handle, data)

        def watched_libc(name: str) -> Callable[..., int] | None:
            function = real_libc(name)
            return None if function is None else self._watched(function)

        os.open = watched_open
        os.write = torn_write
        swap._libc_function = watched_libc

    def _watched(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any, **named: Any) -> Any:
            self.tick()
            result = call(*arguments, **named)
            self.tick()
            return result

        return watched


def _hash(content: bytes | None) -> Any:
    return ABSENT if content is None else content_hash(content)


def _write(path: str, before: bytes | None, after: bytes | None) -> WritePlan:
    return WritePlan(path=NotePath(path), expected_hash=_hash(before), content=after)


def _no_exchange(_first: Path, second: Path) -> None:
    raise swap.ExchangeUnavailableError(errno.ENOSYS, "as on a system without", str(second))


@dataclass(frozen=True)
class Scenario:
    """A vault, a change, and how the vault reads after it."""

    old: dict[str, bytes]
    changes: ChangeSet
    new: dict[str, bytes]
    exchange: Callable[[Path, Path], None] = swap.exchange
    recovery_stride: int = 1
    """In mode `recovery`, only every so manieth first crash is tried: a long change has hundreds, all much alike."""


OLD = {"a.md": b"# A\n" + BIG, "b.md": b"[[d]]\r\n", "d.md": b"drop\n"}
MERGED = b"# A\n" + BIG + b"\n## Dream\n"
APPEND = Scenario(OLD, ChangeSet(writes=(_write("a.md", OLD["a.md"], MERGED),)), {**OLD, "a.md": MERGED})
MERGE = ChangeSet(
    writes=(
        _write("a.md", OLD["a.md"], MERGED),
        _write("b.md", OLD["b.md"], b"[[a]]\r\n"),
        _write("d.md", OLD["d.md"], b"merged\n"),
        _write("new/n.md", None, b"n\n"),
    ),
    moves=(
        Move(source=NotePath("d.md"), destination=NotePath(".trash/d.md"), expected_hash=content_hash(b"merged\n")),
    ),
)
AFTER_MERGE = {"a.md": MERGED, "b.md": b"[[a]]\r\n", ".trash/d.md": b"merged\n", "new/n.md": b"n\n"}

SCENARIOS = {
    "append": APPEND,
    "append-without-exchange": Scenario(APPEND.old, APPEND.changes, APPEND.new, exchange=_no_exchange),
    "create": Scenario(OLD, ChangeSet(writes=(_write("dreams/x/n.md", None, BIG),)), {**OLD, "dreams/x/n.md": BIG}),
    "remove": Scenario(
        OLD, ChangeSet(writes=(_write("a.md", OLD["a.md"], None),)), {"b.md": OLD["b.md"], "d.md": OLD["d.md"]}
    ),
    "merge": Scenario(OLD, MERGE, AFTER_MERGE, recovery_stride=9),
    "merge-without-exchange": Scenario(OLD, MERGE, AFTER_MERGE, exchange=_no_exchange, recovery_stride=8),
}


def _held(root: Path) -> dict[str, bytes]:
    return {place.relative_to(root).as_posix(): place.read_bytes() for place in root.rglob("*") if place.is_file()}


def _fresh(folder: Path, scenario: Scenario) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for name, data in scenario.old.items():
        place = folder / "vault" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def _vault(folder: Path, scenario: Scenario, killer: Killer | None = None) -> DiskVault:
    tick = killer.tick if killer else lambda _: None
    return DiskVault(folder / "vault", folder / "state", exchange=scenario.exchange, after_step=tick)


def _killed_at(point: int, mode: str, folder: Path, scenario: Scenario, work: Callable[[DiskVault], object]) -> bool:
    """Whether a child that does `work` was killed at `point`; False where it finished before."""
    child = os.fork()
    if child == 0:
        killer = Killer(point)
        vault = _vault(folder, scenario, killer if mode == "steps" else None)
        if mode == "calls":
            killer.watch_calls()
        try:
            work(vault)
        except BaseException:  # noqa: BLE001 - the child must not run on as a second driver
            os._exit(3)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        return True
    assert os.WEXITSTATUS(status) == 0, f"the child ended with {status}"
    return False


def _check(folder: Path, scenario: Scenario) -> None:
    """The next start: everything is old or everything is new, the history agrees, and once is once."""
    vault = _vault(folder, scenario)
    settled = vault.recover()
    held = _held(vault.root)
    assert held in (scenario.old, scenario.new), sorted(held)
    _check_no_remains(folder)
    assert len(settled) <= 1
    for one in settled:
        assert one.left_alone == ()
        assert (one.verdict is Verdict.APPLIED) is (held == scenario.new)
    assert bool(vault.past_changes()) is (held == scenario.new)
    assert vault.recover() == ()
    again: Written | Conflict | Exists | Refused | Failed = vault.write(scenario.changes)
    assert isinstance(again, Written) is (held == scenario.old), again
    assert _held(vault.root) == scenario.new
    assert len(vault.past_changes()) == 1


def _check_no_remains(folder: Path) -> None:
    remains = [str(place) for place in (folder / "vault").rglob(".aria-*")]
    remains += [str(place) for place in (folder / "state").rglob("*") if place.suffix in (".unfinished", ".new")]
    remains += [str(place) for place in (folder / "vault").rglob("*") if place.is_dir() and not any(place.iterdir())]
    assert not remains, remains


def kill_everywhere(mode: str, folder: Path, scenario: Scenario) -> int:
    """How many points were tried; each was followed by a start that kept every promise."""
    point = 0
    while True:
        _fresh(folder, scenario)
        killed = _killed_at(point, mode, folder, scenario, lambda vault: vault.write(scenario.changes))
        if not killed:
            assert _held(folder / "vault") == scenario.new
            return point
        _check(folder, scenario)
        point += 1


def kill_twice(folder: Path, scenario: Scenario) -> int:
    """As `kill_everywhere`, and each recovery is killed too, at each of its points, until one gets through."""
    points = first = 0
    while True:
        _fresh(folder, scenario)
        if not _killed_at(first, "steps", folder, scenario, lambda vault: vault.write(scenario.changes)):
            return points
        crashed = folder.with_name(folder.name + "-crashed")
        shutil.rmtree(crashed, ignore_errors=True)
        shutil.copytree(folder, crashed)
        second = 0
        while True:
            shutil.rmtree(folder)
            shutil.copytree(crashed, folder)
            if not _killed_at(second, "calls", folder, scenario, lambda vault: vault.recover()):
                break
            _check(folder, scenario)
            second += 1
        points += second
        first += scenario.recovery_stride


def edited_after_the_crash(folder: Path, scenario: Scenario) -> int:
    """After each crash somebody types into each file that is there: their text stays, the rest is whole."""
    point = 0
    while True:
        _fresh(folder, scenario)
        if not _killed_at(point, "steps", folder, scenario, lambda vault: vault.write(scenario.changes)):
            return point
        crashed = folder.with_name(folder.name + "-crashed")
        shutil.rmtree(crashed, ignore_errors=True)
        shutil.copytree(folder, crashed)
        for name in _held(crashed / "vault"):
            if Path(name).name.startswith(".aria-"):
                continue
            shutil.rmtree(folder)
            shutil.copytree(crashed, folder)
            place = folder / "vault" / name
            typed = place.read_bytes() + b" typed"
            place.write_bytes(typed)
            vault = _vault(folder, scenario)
            vault.recover()
            held = _held(vault.root)
            assert held.pop(name) == typed, name
            for other, data in held.items():
                assert data in (scenario.old.get(other), scenario.new.get(other), b"merged\n"), other
            assert not list(vault.root.rglob(".aria-*"))
            assert vault.recover() == ()
        point += 1


def raced(mode: str, folder: Path, scenario: Scenario) -> int:
    """An editor saves `b.md` just before it is exchanged, in a child that is killed at every point of what follows.

    The editor's text stays, and the files that were done before are taken back, or none was touched yet.
    """
    typed, saved = b"[[d]] TYPED\r\n", folder.with_name("saved")

    def exchange(temp: Path, place: Path) -> None:
        if place.name == "b.md" and not saved.exists():
            editors = place.with_name(".editor-temp")
            editors.write_bytes(typed)
            editors.rename(place)
            saved.touch()
        swap.exchange(temp, place)

    racing = Scenario(scenario.old, scenario.changes, scenario.new, exchange=exchange)
    point = 0
    while True:
        saved.unlink(missing_ok=True)
        _fresh(folder, racing)
        killed = _killed_at(point, mode, folder, racing, lambda vault: vault.write(racing.changes))
        (folder / "vault" / ".editor-temp").unlink(missing_ok=True)  # the editor was killed too
        is_saved = saved.exists()
        saved.touch()
        vault = _vault(folder, racing)
        vault.recover()
        held = _held(vault.root)
        if held["b.md"] == typed:
            held["b.md"] = racing.old["b.md"]
            assert held == racing.old, sorted(held)
        else:
            assert not is_saved, "the editor's text is gone"
            assert held in (racing.old, racing.new), sorted(held)
        _check_no_remains(folder)
        assert vault.recover() == ()
        if not killed:
            assert is_saved
            return point
        point += 1


def main(scenario: str, mode: str, folder: str) -> None:
    """Run one scenario in one mode below `folder`."""
    chosen = SCENARIOS[scenario]
    if mode == "recovery":
        points = kill_twice(Path(folder) / "run", chosen)
    elif mode.startswith("raced-"):
        points = raced(mode.removeprefix("raced-"), Path(folder) / "run", chosen)
    elif mode == "edited":
        points = edited_after_the_crash(Path(folder) / "run", chosen)
    else:
        points = kill_everywhere(mode, Path(folder) / "run", chosen)
    sys.stdout.write(f"{points}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
