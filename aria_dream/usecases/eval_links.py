"""Would the dream have proposed the links that were really made? Measured on a vault of the writer's own.

Either a share of the vault's links is hidden and looked for, or, where the vault lies in a git repository, the vault is
read as it was on a day and the links drawn since are looked for. Nothing is written but the cache.
"""

from __future__ import annotations

import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aria_dream.adapters.index.resonance import rank_notes, read_terms
from aria_dream.errors import MissingPartError, NotFoundError
from aria_dream.evals.link_recovery import Baselines, choose_hidden, recover
from aria_dream.ranking.features import FeatureBlock
from aria_dream.ranking.learn import fit_weights
from aria_dream.ranking.notespace import NoteSpace
from aria_dream.ranking.sparse import link_structure

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from aria_dream.adapters.index.cache_store import ContentCache
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.evals.link_recovery import Recovery, Scorer
    from aria_dream.ranking.sparse import Structure

    Ints = np.ndarray[tuple[int], np.dtype[np.int64]]
    Pairs = np.ndarray[tuple[int, int], np.dtype[np.int64]]
    Floats = np.ndarray[tuple[int, int], np.dtype[np.float32]]

OURS = "aria-dream"
GIT_TIMEOUT_S = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkEvaluation:
    """What was looked for and how well each ranking found it."""

    notes: int
    links: int
    """Linked pairs of the vault that was ranked, hidden ones included."""
    hidden: int
    """Pairs looked for."""
    recoveries: dict[str, Recovery]
    """By ranking, ours last."""


def hidden_links(vault: DreamtVault, fraction: float, seed: int) -> Pairs:
    """The share of the vault's linked pairs that the seed chooses: rows, shape (pairs, 2)."""
    return choose_hidden(link_structure(vault.graph), fraction, seed)


def links_since(then: DreamtVault, now: DreamtVault) -> Pairs:
    """Pairs of notes that both vaults have and only `now` links; rows of `then`, shape (pairs, 2)."""
    rows = {path: row for row, path in enumerate(then.graph.paths)}
    before = {tuple(pair) for pair in link_structure(then.graph).pairs().tolist()}
    found = set()
    for first, second in link_structure(now.graph).pairs().tolist():
        ends = [rows.get(now.graph.paths[row]) for row in (first, second)]
        known = sorted(row for row in ends if row is not None)
        if len(known) == 2 and tuple(known) not in before:
            found.add((known[0], known[1]))
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)


def evaluate_links(
    vault: DreamtVault,
    cache: ContentCache,
    hidden: Pairs,
    *,
    reading: Callable[[int, int], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> LinkEvaluation:
    """How well the `hidden` pairs are found when the vault is ranked without them, by ours and the four baselines.

    A hidden link is hidden from the text as well: the words of links are no part of what is compared.
    """
    notes = rank_notes(vault)
    terms = read_terms(vault, cache, progress=reading)
    whole = link_structure(vault.graph)
    structure = whole.without(hidden)
    space = NoteSpace(notes, terms)
    weights = fit_weights(space, structure)
    scorers = {**Baselines(notes, terms, space, structure).scorers(), OURS: _ours(space, structure, weights.values)}
    total, done = len(scorers) * len(notes), 0
    recoveries: dict[str, Recovery] = {}

    def tell(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(done, total)

    for name, score in scorers.items():
        recoveries[name] = recover(structure, hidden, score, progress=tell)
    return LinkEvaluation(
        notes=len(notes), links=len(whole.pairs()), hidden=len(hidden), recoveries=recoveries
    )


def _ours(space: NoteSpace, structure: Structure, values: tuple[float, ...]) -> Scorer:
    weights = np.array(values, dtype=np.float32)

    def score(sources: Ints, /) -> Floats:
        scores: Floats = np.tensordot(weights, FeatureBlock(space, structure, sources).values, axes=1)
        return scores

    return score


def read_vault_of(root: Path, day: date, into: Path) -> str:
    """The vault at `root` as its git repository had it at the end of `day`, written below `into`; the commit's hash.

    Raises:
        MissingPartError: git is not installed.
        NotFoundError: the vault lies in no repository, or the repository is younger than `day`.
    """
    top = _git(root, "rev-parse", "--show-toplevel").strip()
    prefix = _git(root, "rev-parse", "--show-prefix").strip()
    commit = _git(root, "rev-list", "-1", f"--before={day.isoformat()}T23:59:59", "HEAD").strip()
    if not commit:
        raise NotFoundError(f"the repository has no commit from {day.isoformat()} or earlier; name a later day")
    archive = into / "vault.tar"
    _git(Path(top), "archive", "--format=tar", "--output", str(archive), f"{commit}:{prefix}" if prefix else commit)
    with tarfile.open(archive) as tar:
        tar.extractall(into / "vault", filter="data")
    archive.unlink()
    return commit


def _git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, no shell
            ["git", "-C", str(folder), *words],  # noqa: S607 - the user's git
            check=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_TIMEOUT_S,
        )
    except FileNotFoundError as error:
        raise MissingPartError("--since reads the vault's history with git, and git is not installed") from error
    except subprocess.CalledProcessError as error:
        told = error.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = told[-1].removeprefix("fatal: ") if told else "git failed"
        raise NotFoundError(f"the vault's history cannot be read: {reason}") from error
    return done.stdout.decode("utf-8", "replace")
