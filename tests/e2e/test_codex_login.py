"""The login of the real Codex CLI: one file, shared and never copied; a refresh ends in the user's own place."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.codex.codex_reacher import Elsewhere
from aria_dream.adapters.codex.codex_wall import bring_back
from tests.reaching import Scene, codex_program, snapshot
from tests.responses_server import ResponsesServer, login

if TYPE_CHECKING:
    from pathlib import Path

OLD, NEW = "refresh-1", "refresh-2"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(folder=tmp_path).made()


def write_login(scene: Scene, text: str) -> Path:
    """A login as `codex login` leaves it, beside things of the user's that are none of a reach's."""
    folder = scene.home / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text('model = "the-users-own"\n[mcp_servers.x]\ncommand = "x"\n', encoding="utf-8")
    (folder / "AGENTS.md").write_text("the user's own instructions", encoding="utf-8")
    place = folder / "auth.json"
    place.write_text(text, encoding="utf-8")
    place.chmod(0o600)
    return place


def at_account(url: str) -> Elsewhere:
    """The account's own provider and login, at a server of ours."""
    provider = {"name": "aria-dream test", "base_url": f"{url}/backend-api/codex", "wire_api": "responses",
                "requires_openai_auth": True, "supports_websockets": False}  # fmt: skip
    return Elsewhere(provider=provider, environ={"CODEX_REFRESH_TOKEN_URL_OVERRIDE": f"{url}/oauth/token",
                                                 "HTTPS_PROXY": url, "NO_PROXY": "127.0.0.1"},
                     program=codex_program())  # fmt: skip


def refresh_token(place: Path) -> str:
    return str(json.loads(place.read_text(encoding="utf-8"))["tokens"]["refresh_token"])


def test_a_login_is_used_and_neither_copied_nor_changed(scene: Scene) -> None:
    place = write_login(scene, login(expires_at=4e9, refresh_token=OLD))
    before = snapshot(scene.home)
    with ResponsesServer() as server:
        reached = scene.reach(at_account(server.url))
        assert server.metered[0].headers["authorization"].startswith("Bearer ")
        assert "the user's own" not in server.everything()
    assert reached.verdict == "neither"
    assert {path: value for path, value in snapshot(scene.home).items() if not path.endswith(".lock")} == before
    files = [one for one in scene.state.rglob("*") if one.is_file() and not one.is_symlink()]
    assert not [one for one in files if OLD.encode() in one.read_bytes()]
    assert (scene.state / "codex" / "auth.json").resolve() == place.resolve()


def test_a_refresh_ends_in_the_users_own_file(scene: Scene) -> None:
    place = write_login(scene, login(expires_at=1.7e9, refresh_token=OLD))
    with ResponsesServer(refreshed=NEW) as server:
        reached = scene.reach(at_account(server.url))
        assert OLD in next(seen.body for seen in server.seen if seen.path == "/oauth/token")
        again = scene.reach(at_account(server.url))
        assert sum(seen.path == "/oauth/token" for seen in server.seen) == 1
    assert (reached.verdict, again.verdict) == ("neither", "neither")
    assert refresh_token(place) == NEW
    assert place.stat().st_mode & 0o777 == 0o600
    assert not place.is_symlink()


def test_an_api_key_is_shared_the_same_way(scene: Scene) -> None:
    place = write_login(scene, json.dumps({"auth_mode": "apikey", "OPENAI_API_KEY": "sk-of-the-test"}))
    before = place.read_bytes()
    with ResponsesServer() as server:
        assert scene.reach(at_account(server.url)).verdict == "neither"
        assert server.metered[0].headers["authorization"] == "Bearer sk-of-the-test"
    assert place.read_bytes() == before


def test_a_login_that_leads_elsewhere_stays_a_link(scene: Scene) -> None:
    """Whoever keeps dotfiles in another folder has a link there; the refresh goes through it too."""
    place = write_login(scene, login(expires_at=1.7e9, refresh_token=OLD))
    kept = scene.folder / "dotfiles-auth.json"
    place.rename(kept)
    place.symlink_to(kept)
    with ResponsesServer(refreshed=NEW) as server:
        assert scene.reach(at_account(server.url)).verdict == "neither"
    assert place.is_symlink()
    assert refresh_token(kept) == NEW


def test_an_account_that_is_offline_pays_nothing(scene: Scene) -> None:
    """With the login's own provider the first question is another one than the model's; it fails first."""
    write_login(scene, login(expires_at=4e9, refresh_token=OLD))
    with ResponsesServer() as proxy:  # turns every connection away, as a network without a way out does
        elsewhere = Elsewhere(environ={"HTTPS_PROXY": proxy.url}, program=codex_program())
        reached = scene.reach(elsewhere)
        hosts = {seen.path for seen in proxy.seen}
    assert (reached.verdict, reached.spent) == ("unsent", 0), reached.end.run.failure
    assert reached.end.run.failure is not None
    assert reached.end.run.failure.kind == "unreachable"
    assert hosts == {"chatgpt.com:443"}


def test_nobody_logged_in_is_said_before_anything_starts(scene: Scene) -> None:
    with ResponsesServer() as server:
        elsewhere = at_account(server.url)
        assert "codex login" in scene.reacher(elsewhere).missing()
        reached = scene.reach(elsewhere)
        assert not server.seen
    assert (reached.verdict, reached.spent) == ("unsent", 0)


REPLACING = """\
#!/bin/sh
rm "$CODEX_HOME/auth.json"
echo '{"tokens": {"refresh_token": "refresh-2"}}' > "$CODEX_HOME/auth.json"
echo '{"type":"turn.started"}'
"""


def test_a_version_that_replaces_the_file_is_followed_home(scene: Scene) -> None:
    place = write_login(scene, login(expires_at=4e9, refresh_token=OLD))
    os.utime(place, (time.time() - 60, time.time() - 60))
    program = scene.folder / "codex"
    program.write_text(REPLACING, encoding="utf-8")
    program.chmod(0o755)
    scene.reach(Elsewhere(program=program))
    assert refresh_token(place) == NEW
    assert (place.stat().st_mode & 0o777, place.is_symlink()) == (0o600, False)
    assert not [one for one in place.parent.iterdir() if one.name.startswith(".auth")]


def test_what_a_crash_left_in_our_place_goes_home_before_the_next_reach(scene: Scene) -> None:
    place = write_login(scene, login(expires_at=4e9, refresh_token=OLD))
    os.utime(place, (time.time() - 60, time.time() - 60))
    own = scene.state / "codex" / "auth.json"
    own.parent.mkdir()
    own.write_text(login(expires_at=4e9, refresh_token=NEW), encoding="utf-8")
    with ResponsesServer() as server:
        assert scene.reach(at_account(server.url)).verdict == "neither"
    assert refresh_token(place) == NEW
    assert own.is_symlink()


def test_an_older_or_torn_file_in_our_place_never_goes_home(tmp_path: Path) -> None:
    place, own = tmp_path / "auth.json", tmp_path / "own" / "auth.json"
    own.parent.mkdir()
    own.write_text(login(expires_at=4e9, refresh_token=OLD), encoding="utf-8")
    os.utime(own, (time.time() - 60, time.time() - 60))
    place.write_text(login(expires_at=4e9, refresh_token=NEW), encoding="utf-8")
    assert not bring_back(own, place)
    os.utime(place, (time.time() - 120, time.time() - 120))
    own.write_text('{"tokens": {"refr', encoding="utf-8")
    assert not bring_back(own, place)
    own.unlink()
    own.symlink_to(place)
    assert not bring_back(own, place)
    assert refresh_token(place) == NEW


@pytest.mark.parametrize("kind", ["no links", "hard-linked"])
def test_a_login_that_cannot_be_shared_is_neither_copied_nor_used_up(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A hard link would be worse than none: Codex uses the login up and then refuses to write the new one (tried)."""

    def refuse(*_arguments: object, **_named: object) -> None:
        raise OSError(1314, "a required privilege is not held")

    place = write_login(scene, login(expires_at=1.7e9, refresh_token=OLD))
    if kind == "no links":
        monkeypatch.setattr(type(scene.home), "symlink_to", refuse)
    else:
        (scene.folder / "another-name").hardlink_to(place)
    with ResponsesServer() as server:
        reached = scene.reach(at_account(server.url))
        assert not server.seen
    assert (reached.verdict, reached.spent) == ("unsent", 0)
    assert not (scene.state / "codex" / "auth.json").exists()
    assert refresh_token(place) == OLD
