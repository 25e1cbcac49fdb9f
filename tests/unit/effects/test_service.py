"""Service definitions as their systems read them, looked at on any system."""

from __future__ import annotations

import plistlib
import shlex
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from aria_dream.effects.service import (
    Call,
    RemoveFile,
    RunCommand,
    WriteFile,
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
