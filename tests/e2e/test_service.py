"""`aria-dream service` as it is run, and the Linux unit as systemd reads it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aria_dream.adapters.machine.service import Call, WriteFile, plan_service

REPOSITORY = Path(__file__).resolve().parents[2]
ODD = ["vault", "My vault", 'a "quoted" one', "100% $HOME ${PATH}", "back\\slash", "日記 — ünï", "it's; a # name"]


def run(*words: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "utf-8"}
    if path is not None:
        environ["PATH"] = path
    return subprocess.run(
        [sys.executable, "-m", "aria_dream", "service", *words], env=environ, capture_output=True, text=True,
        encoding="utf-8", check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="needs systemd, not Windows")
@pytest.mark.parametrize("name", ODD)
def test_systemd_reads_the_unit_as_it_is_meant(tmp_path: Path, name: str) -> None:
    """`systemd-analyze verify` finds nothing to say, and the command line comes back word for word."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    call = Call(python=sys.executable, vault=tmp_path / name, environ=(("ARIA_DREAM_STATE", f"/a b/{name}"),))
    plan = plan_service(call, platform="linux", home=tmp_path, environ={})
    (written,) = (step for step in plan.install if isinstance(step, WriteFile))
    unit = tmp_path / plan.name
    unit.write_bytes(written.content)
    (tmp_path / "run").mkdir(mode=0o700)
    verify = ["systemd-analyze", "--user", "verify", "--man=no", "--recursive-errors=no", str(unit)]
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "run"), "SYSTEMD_LOG_LEVEL": "info"}
    done = subprocess.run(verify, env=environ, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    unit.write_bytes(written.content.replace(b"KillMode=mixed", b"KillMode=odd"))
    done = subprocess.run(verify, env=environ, capture_output=True, text=True, check=False, timeout=60)
    assert "KillMode" in done.stderr or "kill mode" in done.stderr  # it does look


def test_a_dry_run_shows_and_writes_nothing(tmp_path: Path) -> None:
    vault = tmp_path / "My vault"
    vault.mkdir()
    before = sorted(tmp_path.rglob("*"))
    done = run("install", str(vault), "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "aria_dream" in done.stdout
    assert str(vault) in done.stdout
    found = json.loads(run("install", str(vault), "--dry-run", "--json").stdout)
    assert found["done"] is False
    assert "write" in found["steps"][0]
    assert json.loads(run("remove", str(vault), "--dry-run", "--json").stdout)["steps"]
    assert sorted(tmp_path.rglob("*")) == before


FAKE = """#!{python}
import os, sys
open({log!r}, "a").write(" ".join(sys.argv[1:]) + "\\n")
sys.exit(3 if "is-active" in sys.argv and not os.path.exists({active!r}) else 0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs systemctl, not macOS or Windows")
def test_install_status_remove(tmp_path: Path) -> None:
    """With a `systemctl` that writes down what it is asked."""
    vault, bin_, log, active = tmp_path / "vault", tmp_path / "bin", tmp_path / "log", tmp_path / "active"
    vault.mkdir()
    bin_.mkdir()
    fake = bin_ / "systemctl"
    fake.write_text(FAKE.format(python=sys.executable, log=str(log), active=str(active)), encoding="utf-8")
    fake.chmod(0o755)
    assert run("status", str(vault), path=str(bin_)).stdout.startswith("Not installed")
    done = run("install", str(vault), path=str(bin_))
    assert done.returncode == 0, done.stderr
    (unit,) = (tmp_path / "home" / "config" / "systemd" / "user").iterdir()
    assert str(vault) in unit.read_text("utf-8")
    assert log.read_text("utf-8").splitlines() == [
        "--user daemon-reload", f"--user enable {unit.name}", f"--user restart {unit.name}",
    ]  # fmt: skip
    assert "not running" in run("status", str(vault), path=str(bin_)).stdout
    active.touch()
    assert "Installed and running" in run("status", str(vault), path=str(bin_)).stdout
    done = run("remove", str(vault), path=str(bin_))
    assert done.returncode == 0, done.stderr
    assert not unit.exists()
    assert run("remove", str(vault), path=str(bin_)).returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs systemctl, not macOS or Windows")
def test_a_system_without_systemd_says_so(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    done = run("install", str(tmp_path / "vault"), path=str(tmp_path))
    assert done.returncode == 1
    assert "systemctl" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_service_for_a_vault_that_is_not_there(tmp_path: Path) -> None:
    assert run("install", str(tmp_path / "none")).returncode == 3
