"""What every test stands on: the shared folder, and a guard that no test leaves its sandbox."""

from __future__ import annotations

import logging
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from tests.clocks import INSTANTS, clock_at

if TYPE_CHECKING:
    from collections.abc import Iterator

# A busy machine decides no test: neither how long an example takes nor how long making one takes is a verdict. Nor does
# chance: every run tries the same examples, and `make explore` looks for new ones.
settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("exploring", settings.get_profile("steady"), derandomize=False)
settings.load_profile("steady")

NO_VAULTS = "the public vaults are not"
"""How the reason of a skip begins where `ARIA_DREAM_SHARED` is missing."""
REPOSITORY = Path(__file__).resolve().parent.parent
CONFORMANCE_DATA = REPOSITORY / "tests" / "conformance" / "data"
"""Our link cases and fault cases: `link-cases.json` and `cases/`."""


def shared_folder() -> Path:
    """The shared inputs' folder: `ARIA_DREAM_SHARED`, else `../shared` beside the repository."""
    return Path(os.environ.get("ARIA_DREAM_SHARED") or REPOSITORY.parent / "shared").resolve()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared folder; the test is skipped, saying so, where it does not exist."""
    folder = shared_folder()
    if not folder.is_dir():
        pytest.skip(f"{NO_VAULTS} at {folder}; set ARIA_DREAM_SHARED")
    return folder


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of the fault cases, with their runner `run_cases.py`."""
    return CONFORMANCE_DATA / "cases"


@pytest.fixture(autouse=True)
def _sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has a home, state and cache of its own, and no network beyond loopback."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("LOCALAPPDATA", str(home / "appdata"))
    for name in [key for key in os.environ if key.startswith("ARIA_") and key != "ARIA_DREAM_SHARED"]:
        monkeypatch.delenv(name)
    real_connect = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = str(address[0])
            if not (host.startswith("127.") or host in ("::1", "localhost")):
                raise AssertionError(f"a test tried to reach {host}")
        real_connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)
    _heard_again()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--clock leap-day` runs every test at that instant; see `tests/clocks.py`."""
    parser.addoption("--clock", choices=sorted(INSTANTS), help="the instant at which the tests run")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test marked `clocks` runs at each of the instants instead of now."""
    if metafunc.definition.get_closest_marker("clocks") and not metafunc.config.getoption("clock"):
        metafunc.parametrize("_clock", [*INSTANTS], indirect=True)


@pytest.fixture(autouse=True)
def _clock(request: pytest.FixtureRequest, _sandbox: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The wall clock of the test."""
    name = getattr(request, "param", None) or request.config.getoption("clock")
    if name is None:
        yield
        return
    with clock_at(name, monkeypatch):
        yield


def _heard_again() -> None:
    """What our modules log reaches `caplog`, whatever a test before this one, or a library in it, did to logging."""
    logging.disable(logging.NOTSET)
    for name, logger in logging.root.manager.loggerDict.items():
        if name.partition(".")[0] == "aria_dream" and isinstance(logger, logging.Logger):
            logger.disabled = False
            logger.propagate = True
            logger.setLevel(logging.NOTSET)


_skipped: list[tuple[str, str]] = []
OTHER_SYSTEMS = ("needs Windows", "needs macOS")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remembers every skip; the reason of one that belongs to another system starts with one of `OTHER_SYSTEMS`."""
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        allowed = (*OTHER_SYSTEMS, NO_VAULTS) if os.environ.get("ARIA_DREAM_WITHOUT_VAULTS") else OTHER_SYSTEMS
        if not reason.startswith(allowed):
            _skipped.append((report.nodeid, reason))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where `ARIA_DREAM_MUST_RUN` is set (CI), a skipped test fails the run."""
    if os.environ.get("ARIA_DREAM_MUST_RUN") and _skipped and not hasattr(session.config, "workerinput"):
        for name, reason in _skipped:
            print(f"\nmust run, was skipped: {name}: {reason}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
