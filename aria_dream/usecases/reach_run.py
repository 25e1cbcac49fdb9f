"""A reach over a real vault: who is asked, and what it is made with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aria_dream.adapters.codex.codex_reacher import CodexReacher
from aria_dream.adapters.gate.reach_store import ReachStore
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.usecases.dream_run import run_dream
from aria_dream.usecases.reach_course import Means
from aria_dream.world import show_nothing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from aria_dream.adapters.disk.places import Places
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.usecases.reach_course import Reacher
    from aria_dream.world import ShowProgress, VaultFiles


def open_reacher(vault: DreamtVault, places: Places) -> CodexReacher:
    """Who is asked: Codex CLI, with the model that the policy names."""
    return CodexReacher(vault=vault.root, state=places.state, settings=vault.live.policy.settings)


def open_means(
    root: Path,
    places: Places,
    vault: DreamtVault,
    *,
    files: VaultFiles,
    reacher: Reacher,
    confirm: Callable[[str], bool],
    show: ShowProgress = show_nothing,
) -> Means:
    """What a reach over the vault at `root` is made with; its first look at the vault is `vault`."""
    state = vault.live.state_folder(places)
    store, looks = RecordStore(state), iter([vault])
    return Means(
        state=places.state,
        look=lambda: next(looks, None) or read_dreamt_vault(root, places),
        policy_now=lambda: read_live_policy(vault.root, places).policy,
        files=files,
        records=store,
        store=ReachStore(state),
        reacher=reacher,
        dream=lambda seen, asked: run_dream(seen, places, store, asked, show=show)[0],
        confirm=confirm,
    )
