"""The words and the environment of the wall: nothing that a policy or an environment says makes them weaker."""

from __future__ import annotations

import os
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from aria_dream.adapters.codex.codex_wall import Room, prepare_room, toml_string, wall_arguments, wall_environment
from aria_dream.errors import WriteRefusedError
from aria_dream.policy.policy import parse_policy
from aria_dream.policy.settings import SETTINGS, Settings

SCRATCH = Path("/tmp/scratch")
RELAY = "http://127.0.0.1:4711/x/backend-api/codex"
HOSTILE = (
    "danger-full-access", "workspace-write", "--dangerously-bypass-approvals-and-sandbox", "-s", "off", "on", "999999",
    'x" -c features.shell_tool=true', "x'\n[features]\nshell_tool = true", "a\\", "\u0085\u2028\x7f", "web-off",
    '{sandbox="danger-full-access"}', "-", "resume", "../..", "$(touch /tmp/x)", "`id`", "exec", "\U0001f4a3", "",
)  # fmt: skip


def parts(arguments: list[str]) -> tuple[list[str], dict[str, str]]:
    """The flags, and the settings by key."""
    values = [arguments[place + 1] for place, word in enumerate(arguments) if word == "-c"]
    flags = [word for word in arguments if word != "-c" and word not in values]
    return flags, dict(value.split("=", 1) for value in values)


def test_the_whole_of_it() -> None:
    flags, values = parts(wall_arguments(Settings(), SCRATCH, server=RELAY))
    assert flags == [
        "exec", "--json", "--skip-git-repo-check", "--ephemeral", "--strict-config", "--ignore-user-config",
        "--ignore-rules", "--sandbox=read-only", f"--cd={SCRATCH}", "-",
    ]  # fmt: skip
    assert values["web_search"] == "'live'"
    assert values["approval_policy"] == "'never'"
    for feature in ("shell_tool", "unified_exec", "plugins", "apps", "shell_snapshot", "hooks", "view_image",
                    "unbounded_connection_retries"):  # fmt: skip
        assert values[f"features.{feature}"] == "false"
    assert (values["agents.enabled"], values["analytics.enabled"]) == ("false", "false")
    assert values["project_doc_max_bytes"] == "0"
    provider = tomllib.loads(f"x = {values['model_providers.aria_dream']}")["x"]
    assert provider["requires_openai_auth"] is True
    assert (provider["request_max_retries"], provider["stream_max_retries"]) == (0, 0)
    assert provider["base_url"] == RELAY


def test_retries_and_the_way_past_the_relay_cannot_be_given_back() -> None:
    _, values = parts(wall_arguments(
        Settings(), SCRATCH, server=RELAY, elsewhere={"request_max_retries": 9, "base_url": "x"}
    ))
    provider = tomllib.loads(f"x = {values['model_providers.aria_dream']}")["x"]
    assert (provider["request_max_retries"], provider["base_url"]) == (0, RELAY)


@pytest.mark.parametrize("value", HOSTILE)
def test_no_value_of_any_key_changes_the_wall(value: str) -> None:
    """As text of a policy note, for every key; and as a setting of that very text where the key is one of words."""
    honest_flags, honest = parts(wall_arguments(Settings(), SCRATCH, server=RELAY))
    environ = wall_environment({"PATH": "/bin"}, codex_home=Path("/c"), home=Path("/h"), temporary=Path("/t"),
                               vault=Path("/v"))  # fmt: skip
    told = {"model", "model_reasoning_effort"}
    for name, setting in SETTINGS.items():
        policies = [parse_policy(f"- {name}: {value}\n")[0].settings]
        if isinstance(setting.default, str):
            policies.append(replace(Settings(), **{name: value}))  # type: ignore[arg-type]  # a key of words
        for settings in policies:
            flags, values = parts(wall_arguments(settings, SCRATCH, server=RELAY))
            assert flags == honest_flags
            assert {key: said for key, said in values.items() if key not in told} == {
                key: said for key, said in honest.items() if key not in told
            }
            assert tomllib.loads(f"x = {values['model']}") == {"x": settings.reach_model}
            assert tomllib.loads(f"x = {values['model_reasoning_effort']}") == {"x": settings.reach_effort}
    assert environ == wall_environment({"PATH": "/bin", f"ARIA_{value[:9]}": value}, codex_home=Path("/c"),
                                       home=Path("/h"), temporary=Path("/t"), vault=Path("/v"))  # fmt: skip


def test_a_lone_surrogate_is_no_way_out() -> None:
    assert tomllib.loads(f"x = {toml_string(chr(0xD800))}") == {"x": "?"}


def test_the_environment_is_a_list_of_what_may_pass(tmp_path: Path) -> None:
    inside = tmp_path / "vault" / "bin"
    inside.mkdir(parents=True)
    account = {
        "PATH": os.pathsep.join(["", ".", "relative", str(inside), "/usr/bin"]), "HOME": "/home/me", "LANG": "C.UTF-8",
        "AWS_SECRET_ACCESS_KEY": "x", "GH_TOKEN": "x", "OPENAI_API_KEY": "x", "CODEX_API_KEY": "x", "RUST_LOG": "trace",
        "SSH_AUTH_SOCK": "x", "CODEX_HOME": "/home/me/.codex", "LD_PRELOAD": "x", "NODE_OPTIONS": "x", "PWD": "/v",
        "HTTPS_PROXY": "http://proxy:1", "BASH_ENV": "x", "DYLD_INSERT_LIBRARIES": "x", "CODEX_SANDBOX": "x",
        "OPENAI_BASE_URL": "http://evil", "CODEX_REFRESH_TOKEN_URL_OVERRIDE": "http://evil",
    }  # fmt: skip
    found = wall_environment(account, codex_home=Path("/c"), home=Path("/h"), temporary=Path("/t"),
                             vault=tmp_path / "vault")  # fmt: skip
    assert found == {
        "PATH": "/usr/bin", "LANG": "C.UTF-8", "HTTPS_PROXY": "http://proxy:1", "CODEX_HOME": "/c", "HOME": "/h",
        "TMPDIR": "/t", "TEMP": "/t", "TMP": "/t", "RUST_LOG": "off,codex_otel.trace_safe=info", "NO_COLOR": "1",
        "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy"])
def test_no_proxy_stands_before_the_relay_and_the_accounts_own_exceptions_stay(name: str) -> None:
    found = wall_environment({"PATH": "/bin", name: "corp.example,10.0.0.0/8"}, codex_home=Path("/c"), home=Path("/h"),
                             temporary=Path("/t"), vault=Path("/v"))  # fmt: skip
    assert found["NO_PROXY"] == found["no_proxy"] == "corp.example,10.0.0.0/8,127.0.0.1"


def test_a_room_is_empty_private_outside_and_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault, state = tmp_path / "vault", tmp_path / "state"
    vault.mkdir()
    for name in ("config.toml", "AGENTS.md", "skills/x/SKILL.md", "logs_2.sqlite"):
        (state / "codex" / name).parent.mkdir(parents=True, exist_ok=True)
        (state / "codex" / name).write_text("from elsewhere", encoding="utf-8")
    (state / "codex" / "installation_id").write_text("1", encoding="utf-8")
    rooms: list[Room] = []
    for _ in range(2):
        with prepare_room(state, vault, None) as room:
            assert [place.name for place in room.codex_home.iterdir()] == ["installation_id"]
            assert room.codex_home.stat().st_mode & 0o777 == 0o700
            for place in (room.scratch, room.home, room.temporary):
                assert not list(place.iterdir())
                assert not place.is_relative_to(vault)
            (room.scratch / "left").write_text("x", encoding="utf-8")
            (room.codex_home / "left").write_text("x", encoding="utf-8")
            rooms.append(room)
    assert rooms[0].scratch != rooms[1].scratch
    assert not any(place.exists() for room in rooms for place in (room.scratch, room.home, room.temporary))
    assert not (state / "codex" / "left").exists()
    monkeypatch.setattr("tempfile.tempdir", str(vault))  # a TMPDIR inside the vault is passed over
    with prepare_room(state, vault, None) as room:
        assert not room.scratch.is_relative_to(vault)
    with pytest.raises(WriteRefusedError), prepare_room(vault / "state", vault, None):
        pass


def test_a_project_is_avoided_where_another_place_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, state = tmp_path / "project", tmp_path / "state"
    (project / "tmp").mkdir(parents=True)
    (project / "AGENTS.md").write_text("do", encoding="utf-8")
    monkeypatch.setattr("tempfile.tempdir", str(project / "tmp"))
    with prepare_room(state, tmp_path / "vault", None) as room:
        assert room.scratch.is_relative_to(state)


def test_an_own_home_that_leads_elsewhere_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "config.toml").write_text("mine", encoding="utf-8")
    (tmp_path / "state" / "codex").symlink_to(tmp_path / "theirs")
    with pytest.raises(WriteRefusedError), prepare_room(tmp_path / "state", tmp_path / "vault", None):
        pass
    assert (tmp_path / "theirs" / "config.toml").read_text(encoding="utf-8") == "mine"
