"""Where state and cache lie."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.disk.places import find_places, vault_key

if TYPE_CHECKING:
    from pathlib import Path


def test_the_environment_decides(tmp_path: Path) -> None:
    places = find_places({"ARIA_DREAM_STATE": str(tmp_path / "s"), "ARIA_DREAM_CACHE": str(tmp_path / "c")})
    assert (places.state, places.cache) == (tmp_path / "s", tmp_path / "c")
    assert places.vault_cache(tmp_path).parent == tmp_path / "c"
    assert not places.cache.exists()


def test_else_the_platform_does(tmp_path: Path) -> None:
    places = find_places({})
    assert places.state.is_absolute()
    assert places.cache.is_absolute()
    assert "aria-dream" in places.state.parts
    assert "aria-dream" in places.cache.parts
    assert places.state != places.cache


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_a_vault_has_one_key_by_whatever_path(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "door").symlink_to("vault")
    assert vault_key(tmp_path / "vault") == vault_key(tmp_path / "door") == vault_key(tmp_path / "x" / ".." / "vault")
    assert vault_key(tmp_path / "vault") != vault_key(tmp_path)
    assert len(vault_key(tmp_path)) == 16
