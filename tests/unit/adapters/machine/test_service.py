"""Service definitions as their systems read them, looked at on any system."""

from __future__ import annotations

import os
import plistlib
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from aria_dream.adapters.machine.service import (
    Call,
    RemoveFile,
    RunCommand,
    WriteFile,
    find_call,
    folders_in,
    plan_service,
    render_launch_agent,
    render_scheduled_task,
    render_systemd_unit,
)

NAMES = ["vault", "My <vault> & more", 'a "quoted" one', "it's", "日記", "100%"]
TASK = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"


def call(name: str) -> Call:
    return Call(python="/usr/bin/python3", vault=Path("/home/ann", name), environ=(("ARIA_DREAM_STATE", "/a b"),))


@pytest.mark.parametrize("name", NAMES)
def test_launchd_gets_the_words_as_they_are(name: str) -> None:
    agent = plistlib.loads(render_launch_agent(call(name), "label"))
    assert tuple(agent["ProgramArguments"]) == call(name).words
    assert agent["EnvironmentVariables"] == {"ARIA_DREAM_STATE": "/a b"}
    assert agent["KeepAlive"] == {"SuccessfulExit": False}


@pytest.mark.parametrize("name", NAMES)
def test_the_scheduled_task_is_utf_16_and_keeps_the_words(name: str) -> None:
    content = render_scheduled_task(Call(python="C:\\Python\\python.exe", vault=Path("C:/v", name)), "PC\\Ann")
    task = ET.fromstring(content.decode("utf-16").partition("\n")[2])
    assert content[:2] in (b"\xff\xfe", b"\xfe\xff")
    assert task.findtext(f"{TASK}Actions/{TASK}Exec/{TASK}Command") == "C:\\Python\\pythonw.exe"
    arguments = task.findtext(f"{TASK}Actions/{TASK}Exec/{TASK}Arguments") or ""
    assert arguments.startswith("-P -m aria_dream run ")
    if '"' not in name and "'" not in name:
        assert shlex.split(arguments)[-1] == str(Path("C:/v", name))
    settings = task.find(f"{TASK}Settings")
    assert settings is not None
    assert settings.findtext(f"{TASK}StopIfGoingOnBatteries") == "false"
    assert settings.findtext(f"{TASK}MultipleInstancesPolicy") == "IgnoreNew"


def test_no_name_adds_a_line_to_the_unit() -> None:
    text = render_systemd_unit(call("vault\nExecStartPre=/bin/evil"))
    assert [line for line in text.splitlines() if line.startswith("Exec")] == [
        line for line in text.splitlines() if line.startswith("ExecStart=")
    ]


def test_two_vaults_have_two_services() -> None:
    plans = [plan_service(call(name), platform="linux", home=Path("/home/ann"), environ={}) for name in ("a", "b")]
    assert plans[0].file != plans[1].file
    again = plan_service(call("a"), platform="linux", home=Path("/home/ann"), environ={})
    assert again == plans[0]


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_what_is_installed_is_removed(platform: str) -> None:
    plan = plan_service(call("vault"), platform=platform, home=Path("/home/ann"), environ={}, user_id=501)
    written = [step.path for step in plan.install if isinstance(step, WriteFile)]
    removed = [step.path for step in plan.remove if isinstance(step, RemoveFile)]
    assert written == removed == [plan.file]
    assert all(step.may_fail for step in plan.remove if isinstance(step, RunCommand))


FOLDERS = {
    "ARIA_DREAM_STATE": "/a b/state", "ARIA_DREAM_CACHE": "/cache", "XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "/c",
    "XDG_CONFIG_HOME": "/g", "CODEX_HOME": "/codex",
}  # fmt: skip


def content_of(environ: dict[str, str], platform: str) -> bytes:
    plan = plan_service(find_call(Path("/home/ann/v"), environ), platform=platform, home=Path("/home/ann"), environ={})
    return next(step.content for step in plan.install if isinstance(step, WriteFile))


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX paths, not Windows")
@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_every_folder_in_force_is_kept(platform: str) -> None:
    content = content_of(FOLDERS, platform)
    text = content.decode("utf-16" if platform == "win32" else "utf-8")
    for name, folder in FOLDERS.items():
        assert name in text
        assert folder in text
    assert "LANG" not in text
    assert folders_in(content) == folders_in(content_of(dict(FOLDERS), platform))
    for name in FOLDERS:
        fewer = {key: value for key, value in FOLDERS.items() if key != name}
        assert folders_in(content_of(fewer, platform)) != folders_in(content)
        assert folders_in(content_of({**FOLDERS, name: "/other"}, platform)) != folders_in(content)


def test_a_folder_is_named_from_the_root() -> None:
    (state,) = find_call(Path("v"), {"XDG_STATE_HOME": "here"}).environ
    assert state == ("XDG_STATE_HOME", str(Path("here").absolute()))


def test_a_task_sets_its_variables_itself(tmp_path: Path) -> None:
    """Tasks of Windows have none; the same words on any system."""
    state = tmp_path / "it's a \"state\""
    words = find_call(tmp_path / "no vault", {"ARIA_DREAM_STATE": str(state)}).words_with_folders
    assert words[-2:] == ("run", str(tmp_path / "no vault"))
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])}
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 3, done.stderr
    told = words[3].replace("from aria_dream.cli import main; main()", "print(os.environ['ARIA_DREAM_STATE'])")
    shown = (*words[:3], told)
    done = subprocess.run(shown, env=environ, capture_output=True, text=True, check=True, timeout=240)
    assert done.stdout.strip() == str(state)
