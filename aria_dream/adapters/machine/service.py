"""The daemon as a service of the account: systemd on Linux, launchd on macOS, the Task Scheduler on Windows.

What is written where is a value (`plan_service`), so that it can be shown first and looked at by tests on any system;
only `run_steps` touches anything.
"""

from __future__ import annotations

import os
import plistlib
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, assert_never
from xml.etree import ElementTree as ET

from aria_dream.adapters.disk.places import FOLDER_VARIABLES, vault_key
from aria_dream.errors import AriaDreamError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TIMEOUT_S = 30.0


class ServiceError(AriaDreamError):
    """The system's service manager is missing or refuses; the message holds its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteFile:
    """A file that is written, its folder made where it lacks."""

    path: Path
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveFile:
    """A file that is removed, if it is there."""

    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCommand:
    """A command of the system."""

    words: tuple[str, ...]
    may_fail: bool = False
    """What it wants may be so already."""


Step = WriteFile | RemoveFile | RunCommand


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePlan:
    """The service of one vault on one system."""

    name: str
    file: Path
    """The file that defines it."""
    install: tuple[Step, ...]
    remove: tuple[Step, ...]
    ask: tuple[str, ...]
    """The command that ends with 0 where the service runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What the service starts."""

    python: str
    vault: Path
    """Real path."""
    environ: tuple[tuple[str, str], ...] = ()
    """Variables it needs beside those of a login."""

    @property
    def words_with_folders(self) -> tuple[str, ...]:
        """The command line for a system whose services have no variables of their own."""
        if not self.environ:
            return self.words
        code = f"import os; os.environ.update({dict(self.environ)!r}); from aria_dream.cli import main; main()"
        return (self.python, "-P", "-c", code, *self.words[4:])

    @property
    def words(self) -> tuple[str, ...]:
        """The command line."""
        # -P: no module is imported from the folder the service happens to start in.
        return (self.python, "-P", "-m", "aria_dream", "run", str(self.vault))


def plan_service(
    call: Call, *, platform: str = sys.platform, home: Path, environ: Mapping[str, str] = os.environ, user_id: int = 0
) -> ServicePlan:
    """How to install and remove the service of `call` for the account whose home is `home`. Touches nothing."""
    key = f"{_slug(call.vault.name)}-{vault_key(call.vault)[:8]}"
    if platform == "win32":
        return _scheduled_task(call, key, home, environ)
    if platform == "darwin":
        return _launch_agent(call, key, home, user_id)
    return _systemd_unit(call, key, home, environ)


def find_call(vault: Path, environ: Mapping[str, str] = os.environ) -> Call:
    """The call with this Python, and with the folders that the environment names, absolute: a service starts in another
    folder than a shell."""
    kept = tuple((name, _absolute(environ[name])) for name in FOLDER_VARIABLES if environ.get(name))
    return Call(python=sys.executable, vault=Path(os.path.realpath(vault)), environ=kept)


def _absolute(folder: str) -> str:
    return str(Path(folder).expanduser().absolute())


def folders_in(definition: bytes) -> object:
    """What a service's file says of folders, to be compared with what another one says. Never raises."""
    if definition.startswith((b"\xff\xfe", b"\xfe\xff")):  # a task: its variables stand before the vault
        return re.findall(r"<Arguments>(.*?) run ", definition.decode("utf-16", "replace"), re.DOTALL)
    if definition.lstrip().startswith(b"<?xml"):
        try:
            return plistlib.loads(definition).get("EnvironmentVariables", {})
        except (ValueError, AttributeError, ET.ParseError):
            return {}
    return sorted(line for line in definition.splitlines() if line.startswith(b"Environment="))


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:30] or "vault"


def _systemd_unit(call: Call, key: str, home: Path, environ: Mapping[str, str]) -> ServicePlan:
    name = f"aria-dream-{key}.service"
    folder = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "systemd" / "user"
    file, ctl = folder / name, ("systemctl", "--user")
    return ServicePlan(
        name=name,
        file=file,
        install=(
            WriteFile(path=file, content=render_systemd_unit(call).encode()),
            RunCommand(words=(*ctl, "daemon-reload")),
            RunCommand(words=(*ctl, "enable", name)),
            RunCommand(words=(*ctl, "restart", name)),
        ),
        remove=(
            RunCommand(words=(*ctl, "disable", "--now", name), may_fail=True),
            RemoveFile(path=file),
            RunCommand(words=(*ctl, "daemon-reload"), may_fail=True),
        ),
        ask=(*ctl, "is-active", name),
    )


def render_systemd_unit(call: Call) -> str:
    """The user unit. Exit codes 2 (usage) and 5 (another daemon is there) are no reason to try again."""
    variables = "".join(f"Environment={_quoted(f'{name}={value}')}\n" for name, value in call.environ)
    return f"""\
[Unit]
Description=aria-dream looks after {_specifiers(_one_line(call.vault.name))}
After=graphical-session.target

[Service]
Type=exec
ExecStart={" ".join(_quoted(word, command=True) for word in call.words)}
{variables}Restart=on-failure
RestartSec=60
RestartPreventExitStatus=2 5
KillMode=mixed
TimeoutStopSec=20
Nice=5
NoNewPrivileges=yes

[Install]
WantedBy=default.target
"""


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)


def _specifiers(text: str) -> str:
    return text.replace("%", "%%")


def _quoted(word: str, *, command: bool = False) -> str:
    """The word as systemd.syntax(7) reads it back; in a command line `$` would name a variable as well."""
    text = _specifiers(word.replace("\\", "\\\\").replace('"', '\\"'))
    text = "".join(char if char.isprintable() else "".join(f"\\x{byte:02x}" for byte in char.encode()) for char in text)
    return f'"{text.replace("$", "$$") if command else text}"'


def _launch_agent(call: Call, key: str, home: Path, user_id: int) -> ServicePlan:
    name = f"io.github.aria-dream.{key}"
    file, domain = home / "Library" / "LaunchAgents" / f"{name}.plist", f"gui/{user_id}"
    stop = RunCommand(words=("launchctl", "bootout", f"{domain}/{name}"), may_fail=True)
    return ServicePlan(
        name=name,
        file=file,
        install=(
            WriteFile(path=file, content=render_launch_agent(call, name)),
            stop,  # an earlier version of it
            RunCommand(words=("launchctl", "bootstrap", domain, str(file))),
        ),
        remove=(stop, RemoveFile(path=file)),
        ask=("launchctl", "print", f"{domain}/{name}"),
    )


def render_launch_agent(call: Call, label: str) -> bytes:
    """The property list of the agent. `Background` gives it the lowest priority for CPU and disk."""
    agent: dict[str, object] = {
        "Label": label,
        "ProgramArguments": list(call.words),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 60,
        "ProcessType": "Background",
        "ExitTimeOut": 20,
    }
    if call.environ:
        agent["EnvironmentVariables"] = dict(call.environ)
    return plistlib.dumps(agent)


_TASK = "http://schemas.microsoft.com/windows/2004/02/mit/task"


def _scheduled_task(call: Call, key: str, home: Path, environ: Mapping[str, str]) -> ServicePlan:
    name = f"aria-dream-{key}"
    local = Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    file = local / "aria-dream" / f"{name}.xml"
    user = "\\".join(filter(None, (environ.get("USERDOMAIN", ""), environ.get("USERNAME", ""))))
    return ServicePlan(
        name=name,
        file=file,
        install=(
            WriteFile(path=file, content=render_scheduled_task(call, user)),
            RunCommand(words=("schtasks", "/Create", "/F", "/TN", name, "/XML", str(file))),
            RunCommand(words=("schtasks", "/Run", "/TN", name)),
        ),
        remove=(
            RunCommand(words=("schtasks", "/End", "/TN", name), may_fail=True),
            RunCommand(words=("schtasks", "/Delete", "/F", "/TN", name), may_fail=True),
            RemoveFile(path=file),
        ),
        ask=("schtasks", "/Query", "/TN", name),
    )


def render_scheduled_task(call: Call, user: str) -> bytes:
    """The task's XML, in UTF-16 as `schtasks` wants it: at logon of `user`, one instance, without a time limit, at a
    low priority, and not ended on battery (the policy decides about that)."""
    ET.register_namespace("", _TASK)
    task = ET.Element(f"{{{_TASK}}}Task", {"version": "1.3"})
    about = _branch(task, "RegistrationInfo")
    _leaf(about, "Description", f"aria-dream looks after {call.vault.name}")
    trigger = _branch(task, "Triggers", "LogonTrigger")
    if user:
        _leaf(trigger, "UserId", user)
    principal = _branch(task, "Principals", "Principal")
    principal.set("id", "Author")
    if user:
        _leaf(principal, "UserId", user)
    _leaf(principal, "LogonType", "InteractiveToken")
    _leaf(principal, "RunLevel", "LeastPrivilege")
    settings = _branch(task, "Settings")
    for name, value in _TASK_SETTINGS.items():
        _leaf(settings, name, value)
    restart = _branch(settings, "RestartOnFailure")
    _leaf(restart, "Interval", "PT1M")
    _leaf(restart, "Count", "255")
    command = _branch(task, "Actions", "Exec")
    windowless = re.sub(r"(?i)python\.exe$", "pythonw.exe", call.python)
    _leaf(command, "Command", windowless)
    _leaf(command, "Arguments", subprocess.list2cmdline(call.words_with_folders[1:]))
    text = ET.tostring(task, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-16"?>\n{text}'.encode("utf-16")


_TASK_SETTINGS = {
    "MultipleInstancesPolicy": "IgnoreNew",
    "DisallowStartIfOnBatteries": "false",
    "StopIfGoingOnBatteries": "false",
    "StartWhenAvailable": "true",
    "ExecutionTimeLimit": "PT0S",
    "Priority": "8",
}


def _branch(parent: ET.Element, *names: str) -> ET.Element:
    for name in names:
        parent = ET.SubElement(parent, f"{{{_TASK}}}{name}")
    return parent


def _leaf(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, f"{{{_TASK}}}{name}").text = text


def run_steps(steps: Sequence[Step]) -> None:
    """Carries the steps out, in order.

    Raises:
        ServiceError: a file could not be written, or a command is missing or failed.
    """
    for step in steps:
        match step:
            case WriteFile(path=path, content=content):
                try:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
                except OSError as error:
                    raise ServiceError(f"{path} cannot be written: {error.strerror or error}") from error
            case RemoveFile(path=path):
                try:
                    path.unlink(missing_ok=True)
                except OSError as error:
                    raise ServiceError(f"{path} cannot be removed: {error.strerror or error}") from error
            case RunCommand():
                _run(step)
            case _:
                assert_never(step)


def _run(step: RunCommand) -> None:
    code, said = ask(step.words)
    if code and not step.may_fail:
        raise ServiceError(f"`{' '.join(step.words)}` did not work: {said or f'code {code}'}")


def ask(words: Sequence[str]) -> tuple[int, str]:
    """Exit code and words of a command of the system; 127 where it is missing or does not answer."""
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, and names of our own making
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, f"{words[0]} is not there or does not answer ({type(error).__name__})"
    said = (done.stderr.strip() or done.stdout.strip()).decode("utf-8", "replace")
    return done.returncode, said[:300]
