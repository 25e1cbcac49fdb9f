"""What the embedded judge learned of a vault, in the cache: as long as nearly all the links it came from are there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from aria_dream.adapters.index.cache_store import OF_VAULT
from aria_dream.judging.calibration import (
    DECISION_WEIGHT,
    LIFT,
    MOST_KEPT,
    PRIOR_STRENGTH,
    RECALL,
    RECALL_MARGIN,
    SHY_OF_HUBS,
    parse_calibration,
    render_calibration,
)
from aria_dream.judging.judge import FEATURES, PRIOR
from aria_dream.judging.pool import HIDDEN_SHARE, ROUNDS
from aria_dream.ranking.meaning import parse_background, render_background
from aria_dream.ranking.structure import link_sketch, still_alike

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aria_dream.adapters.index.cache_store import ContentCache
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.judging.calibration import Calibration
    from aria_dream.ranking.meaning import Background

_LEARNED_BY: Final = repr(
    (FEATURES, PRIOR, RECALL, RECALL_MARGIN, MOST_KEPT, LIFT, SHY_OF_HUBS, PRIOR_STRENGTH, DECISION_WEIGHT,
     HIDDEN_SHARE, ROUNDS)
)  # fmt: skip
LEARNED_KIND: Final = f"{OF_VAULT}learned:1:{sha256(_LEARNED_BY.encode()).hexdigest()[:12]}"
"""What the judge learned. Changes with whatever the learning depends on beside the vault; raise the number when its
code does."""
STATE_KIND: Final = f"{OF_VAULT}state"
"""The state of the vault that the cache was last cleared for."""


@dataclass(frozen=True, slots=True)
class LearnedJudge:
    """What the judge knows of a vault beside its vectors."""

    background: Background
    calibration: Calibration


def read_learned(cache: ContentCache, vault: DreamtVault, told: str, dim: int) -> LearnedJudge | None:
    """What was learned from nearly these links, by the same ranking, embedder and decisions."""
    head, _, blob = cache.get(LEARNED_KIND).partition(b"\n")
    try:
        record = json.loads(head)
        if record["told"] != told:
            return None
        # Two sketches of ten thousand notes take longer than all else here; the state it was kept for needs none.
        same = record["state"] == vault.state_hash
        alike = same or still_alike(list(map(str, record["sketch"])), link_sketch(vault.graph))
        calibration = parse_calibration(json.dumps(record["calibration"]).encode(), len(FEATURES))
        usual = parse_background(blob, dim)
    except (ValueError, TypeError, KeyError):
        return None
    if not alike or usual is None or calibration is None:
        return None
    if not same:
        _put(cache, {**record, "state": vault.state_hash}, usual)
    return LearnedJudge(usual, calibration)


def keep_learned(cache: ContentCache, vault: DreamtVault, told: str, learned: LearnedJudge) -> None:
    """Keep what was learned from the vault as it is; only the latest is kept. `told`: what else it depends on."""
    calibration = json.loads(render_calibration(learned.calibration))
    sketch = link_sketch(vault.graph)
    record = {"told": told, "state": vault.state_hash, "sketch": sketch, "calibration": calibration}
    _put(cache, record, learned.background)


def _put(cache: ContentCache, record: Mapping[str, object], usual: Background) -> None:
    cache.put(LEARNED_KIND, json.dumps(record).encode() + b"\n" + render_background(usual))


def retain_visible(cache: ContentCache, vault: DreamtVault, keys: Sequence[bytes]) -> None:
    """Drop what invisible notes left, once for each state of the vault."""
    state = sha256(vault.state_hash.encode()).digest()
    if cache.get(STATE_KIND) != state:
        cache.retain_only({fact.content_hash for fact in vault.facts} | set(keys))
        cache.put(STATE_KIND, state)
