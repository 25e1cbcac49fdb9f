"""What a writer ticks is carried out by the daemon's child: the real command, a real vault."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from aria_dream.adapters.child.episode_process import Order
from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.cli.run import launch_with
from aria_dream.policy.triggers import Stage
from tests.e2e.test_dream import NOTES, make_vault

if TYPE_CHECKING:
    from aria_dream.adapters.child.episode_process import EpisodeEnd

REPOSITORY = Path(__file__).resolve().parents[2]


def dream(vault: Path, places: Places) -> Path:
    done = subprocess.run(
        [sys.executable, "-m", "aria_dream", "dream", str(vault), "--start", "Compost", "--seed", "4", "--json"],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "ARIA_DREAM_STATE": str(places.state),
             "ARIA_DREAM_CACHE": str(places.cache)},
        capture_output=True,
        check=True,
        timeout=240,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["written"], found
    return vault / str(found["note"])


def errand(vault: Path, places: Places, quiet_s: float) -> EpisodeEnd:
    """The child that carries out ticks, driven to its end as the daemon drives it."""
    folder = read_live_policy(vault, places).state_folder(places)
    order = Order(root=vault, stage=Stage.DREAM, kind="", quiet_s=quiet_s, host="desk", state_folder=folder,
                  errand="ticks")  # fmt: skip
    episode = launch_with(places)(order, lambda: None)
    deadline_s = time.monotonic() + 120
    while (end := episode.ended()) is None:
        assert time.monotonic() < deadline_s, "the child did not end"
        episode.grant_permit()
        time.sleep(0.02)  # between two looks; what ends the loop is the child
    return end


def test_a_tick_becomes_a_link_once_nobody_types(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    places = Places(state=tmp_path / "state", cache=tmp_path / "cache")
    note = dream(vault, places)
    text = note.read_text(encoding="utf-8")
    ticked = re.sub(r"- \[ \] link them", "- [x] link them", text, count=1)
    assert ticked != text
    note.write_text(ticked, encoding="utf-8")
    too_soon = errand(vault, places, quiet_s=3600)
    assert too_soon.result is not None
    assert too_soon.result["applied"] == 0
    assert {path.name: path.read_text(encoding="utf-8") for path in vault.glob("*.md")} == NOTES
    end = errand(vault, places, quiet_s=0)
    assert end.result is not None, end
    assert end.result["applied"] == 1
    assert "[[" in (vault / "Compost.md").read_text(encoding="utf-8").removeprefix(NOTES["Compost.md"].rstrip("\n"))
    assert "linked in Compost" in note.read_text(encoding="utf-8")
    again = errand(vault, places, quiet_s=0)
    assert again.result is not None
    assert again.result["applied"] == 0
