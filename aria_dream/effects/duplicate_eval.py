"""The judge inside over a labelled corpus of pairs of notes. No vault is read, nothing is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.atoms import Atom, atoms_of
from aria_dream.consolidate.comparison import embedded_compare
from aria_dream.consolidate.duplicate_score import Measured
from aria_dream.consolidate.near import overlap_of, sketch_of
from aria_dream.consolidate.verdict import Merge, NearPair, NotDuplicate
from aria_dream.dream.embedding import passages, pooled
from aria_dream.dream.juxtaposition import title_of
from aria_dream.vault.note import parse_note
from aria_dream.vault.obsidian import ObsidianSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from aria_dream.consolidate.duplicate_score import CorpusNote, Decision, LabelledNotes
    from aria_dream.effects.embedding import Embedder

_NO_SETTINGS: Final = ObsidianSettings()


def measure_pairs(
    pairs: Sequence[LabelledNotes],
    embedder: Embedder,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Measured, ...]:
    """Both signals and the judge's decision for every pair, in order.

    Raises `MissingPartError` where the embedder is not there.
    """
    measured = []
    for number, pair in enumerate(pairs, start=1):
        (first, one), (second, other) = _read(pair.a, embedder), _read(pair.b, embedder)
        cosine, overlap = float(one @ other), 0.0
        decision: Decision = "no_atom"
        reason = "one of the two is no passage to compare"
        if first is not None and second is not None:
            overlap = overlap_of(sketch_of(first.words), sketch_of(second.words))
            near = NearPair(first=first, second=second, cosine=cosine, overlap=overlap, rank=number)
            verdict = embedded_compare(near)
            reason, decision = verdict.reason, _DECISIONS.get(type(verdict), "escalated")
        measured.append(Measured(pair=pair, cosine=cosine, overlap=overlap, decision=decision, reason=reason))
        if progress is not None:
            progress(number, len(pairs))
    return tuple(measured)


_DECISIONS: Final[dict[type, Decision]] = {Merge: "merge", NotDuplicate: "not_duplicate"}


def _read(side: CorpusNote, embedder: Embedder) -> tuple[Atom | None, NDArray[np.float32]]:
    note = parse_note(side.text)
    atom = next(iter(atoms_of(side.path, note, set_apart=_NO_SETTINGS.is_daily(side.path))), None)
    cut = passages(title_of(side.path), note)
    return atom, pooled(embedder.encode([one.text for one in cut]), [one.weight for one in cut])
