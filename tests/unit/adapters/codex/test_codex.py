"""Finding the native Codex CLI in the places that installers use, its version, and the login."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aria_dream.adapters.codex.codex import Missing, Platform, find_codex, find_login, read_version

LINUX = Platform(system="linux", machine="x86_64")
MAC = Platform(system="darwin", machine="arm64")
WINDOWS = Platform(system="win32", machine="AMD64")
ELF = b"\x7fELF and the rest"
SCRIPT = b"#!/usr/bin/env node\nimport 'x'\n"


def program(place: Path, content: bytes = ELF) -> Path:
    """An executable file."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    place.chmod(0o755)
    return place


def package(modules: Path, name: str, triple: str, file: str = "codex") -> Path:
    """The package as npm unpacks it, with the platform's own beside it; the native program."""
    program(modules / "@openai" / "codex" / "bin" / "codex.js", SCRIPT)
    return program(modules / "@openai" / name / "vendor" / triple / "bin" / file)


def found(folder: Path, *path: Path, here: Platform = LINUX, **environ: str) -> Path | Missing:
    separator = ";" if here.system == "win32" else ":"
    return find_codex(folder / "vault", {"PATH": separator.join(map(str, path)), **environ}, here)


def test_behind_what_npm_puts_on_the_path(tmp_path: Path) -> None:
    native = package(tmp_path / "lib/node_modules", "codex-linux-x64", "x86_64-unknown-linux-musl")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "codex").symlink_to("../lib/node_modules/@openai/codex/bin/codex.js")
    assert found(tmp_path, tmp_path / "bin") == native


def test_on_a_mac_and_nested_as_some_versions_of_npm_nest(tmp_path: Path) -> None:
    modules = tmp_path / "lib/node_modules"
    package(modules, "codex-linux-x64", "x86_64-unknown-linux-musl")
    nested = modules / "@openai/codex/node_modules/@openai/codex-darwin-arm64/vendor/aarch64-apple-darwin/bin/codex"
    native = program(nested, b"\xcf\xfa\xed\xfe")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "codex").symlink_to(modules / "@openai/codex/bin/codex.js")
    assert found(tmp_path, tmp_path / "bin", here=MAC) == native


def test_the_shims_of_windows(tmp_path: Path) -> None:
    triple = "x86_64-pc-windows-msvc"
    native = package(tmp_path / "npm/node_modules", "codex-win32-x64", triple, "codex.exe")
    shim = b'@ECHO off\r\n"%_prog%"  "%dp0%\\node_modules\\@openai\\codex\\bin\\codex.js" %*\r\n'
    program(tmp_path / "npm" / "codex.cmd", shim)
    assert found(tmp_path, tmp_path / "npm", here=WINDOWS) == native
    native.unlink()  # never a file that a shell would run
    assert isinstance(found(tmp_path, tmp_path / "npm", here=WINDOWS), Missing)


def test_where_a_service_with_a_short_path_does_not_see_it(tmp_path: Path) -> None:
    native = program(tmp_path / ".local/bin/codex")
    assert found(tmp_path, Path("/nowhere"), HOME=str(tmp_path)) == native
    native.unlink()
    (tmp_path / ".nvm/versions/node/v22.1.0/bin").mkdir(parents=True)
    modules = tmp_path / ".nvm/versions/node/v22.1.0/lib/node_modules"
    managed = package(modules, "codex-linux-x64", "x86_64-unknown-linux-musl")
    (tmp_path / ".nvm/versions/node/v22.1.0/bin/codex").symlink_to(modules / "@openai/codex/bin/codex.js")
    assert found(tmp_path, Path("/nowhere"), HOME=str(tmp_path)) == managed
    exe = program(tmp_path / "Programs/OpenAI/Codex/bin/codex.exe", b"MZ")
    assert found(tmp_path, Path("/nowhere"), here=WINDOWS, LOCALAPPDATA=str(tmp_path)) == exe


def test_behind_the_shim_of_pnpm(tmp_path: Path) -> None:
    store = tmp_path / "global/5/.pnpm/@openai+codex@1/node_modules"
    native = package(store, "codex-linux-x64", "x86_64-unknown-linux-musl")
    modules = tmp_path / "global/5/node_modules/@openai"
    modules.mkdir(parents=True)
    (modules / "codex").symlink_to(store / "@openai/codex")
    shim = b'#!/bin/sh\nexec node  "$basedir/global/5/node_modules/@openai/codex/bin/codex.js" "$@"\n'
    program(tmp_path / "codex", shim)
    assert found(tmp_path, tmp_path) == native


def test_one_that_is_native_is_taken_and_the_first_on_the_path_decides(tmp_path: Path) -> None:
    first, second = program(tmp_path / "a/codex"), program(tmp_path / "b/codex")
    (tmp_path / "a/note").write_bytes(b"")
    assert found(tmp_path, tmp_path / "a", tmp_path / "b") == first
    assert found(tmp_path, tmp_path / "nowhere", tmp_path / "b") == second
    first.chmod(0o644)
    assert found(tmp_path, tmp_path / "a", tmp_path / "b") == second


def test_never_one_inside_the_vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = program(tmp_path / "vault/bin/codex")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/codex").symlink_to(inside)
    (tmp_path / "linked").symlink_to(tmp_path / "vault/bin")
    for folder in (inside.parent, tmp_path / "outside", tmp_path / "linked"):
        refused = found(tmp_path, folder)
        assert isinstance(refused, Missing), folder
        assert "inside the vault" in refused.reason
    native = program(tmp_path / "b/codex")
    assert found(tmp_path, inside.parent, tmp_path / "b") == native
    monkeypatch.chdir(inside.parent)
    missing = find_codex(tmp_path / "vault", {"PATH": ".::bin"}, LINUX)  # relative parts mean the working folder
    assert isinstance(missing, Missing)
    assert "npm install" in missing.reason


def test_the_version_is_what_it_says(tmp_path: Path) -> None:
    told = program(tmp_path / "codex", b"#!/bin/sh\necho codex-cli 0.171.0\n")
    assert read_version(told, {"PATH": os.defpath}) == "0.171.0"
    assert read_version(program(tmp_path / "mute", b"#!/bin/sh\nexit 3\n"), {"PATH": os.defpath}) == ""
    assert read_version(tmp_path / "none", {}) == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "nobody is logged in"),
        ("", "cannot be read"),
        ("[]", "nobody is logged in"),
        ('{"tokens": null, "OPENAI_API_KEY": null}', "nobody is logged in"),
    ],
)
def test_nobody_is_logged_in(tmp_path: Path, text: str | None, says: str) -> None:
    if text is not None:
        (tmp_path / "auth.json").write_text(text, encoding="utf-8")
    missing = find_login({"CODEX_HOME": str(tmp_path)})
    assert isinstance(missing, Missing)
    assert says in missing.reason


def test_a_login_in_the_keyring_is_said_as_such(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('model = "x"\ncli_auth_credentials_store = "keyring"\n', encoding="utf-8")
    missing = find_login({"CODEX_HOME": str(tmp_path)})
    assert isinstance(missing, Missing)
    assert "keyring" in missing.reason
    config.write_text('cli_auth_credentials_store = "file"\n', encoding="utf-8")
    missing = find_login({"CODEX_HOME": str(tmp_path)})
    assert isinstance(missing, Missing)
    assert "keyring" not in missing.reason


@pytest.mark.parametrize("text", ['{"tokens": {"refresh_token": "x"}}', '{"OPENAI_API_KEY": "sk"}'])
def test_somebody_is_logged_in(tmp_path: Path, text: str) -> None:
    place = tmp_path / ".codex" / "auth.json"
    place.parent.mkdir()
    place.write_text(text, encoding="utf-8")
    assert find_login({"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}) == place
    assert find_login({"CODEX_HOME": str(place.parent), "HOME": "/nowhere"}) == place
