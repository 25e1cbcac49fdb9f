"""Claims that say the same, found by their vectors and guarded by their words.

A cosine finds candidates and decides nothing: two sentences of one template, one of them denied, or with two different
causes are near for every model (`contrast` tells them apart). What passes here is a *pattern*; whether it becomes a
lesson is `admission`'s to say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.synthesis.claim_words import Role
from aria_dream.synthesis.claims import events
from aria_dream.synthesis.contrast import contrast, says_otherwise

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from aria_dream.synthesis.claims import Claim

    Encode = Callable[[Sequence[str]], NDArray[np.float32]]

LIKENESS_LEAST: Final = 0.55
"""Cosine from which two claims may say the same. Measured with the shipped embedder on re-worded claims (.51 to .94,
median .71) and on others about the same thing (.10 to .50, one template .71)."""
LIKENESS_DEVIATIONS: Final = 2.0
"""And so many standard deviations above this memory's own background, where there is enough of it."""
BACKGROUND_LEAST: Final = 200
"""Pairs of claims from which the background is trusted."""
CAUSE_LEAST: Final = 0.5
"""Two claims that each name a cause must name like causes."""
FEW_CLAIMS: Final = 2

_CAUSE = re.compile(
    r"\b(?:because(?: of)?|due to|since|owing to|weil|parce que|porque|perché|omdat|ponieważ)\b(.{6,})", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Claims that say the same, the one that says it best first."""

    claims: tuple[Claim, ...]
    events: tuple[tuple[Claim, ...], ...]
    """The claims by independent event."""
    against: tuple[Claim, ...] = ()
    """Claims in like words that say otherwise, one an independent event."""

    @property
    def text(self) -> str:
        return self.claims[0].text

    @property
    def refs(self) -> tuple[str, ...]:
        """One reference an independent event, the best claim's first."""
        ordered = sorted(self.events, key=lambda group: min(map(self.claims.index, group)))
        return tuple(min(group, key=self.claims.index).ref for group in ordered)


@dataclass(frozen=True, slots=True)
class Likeness:
    """How near texts are, by index; `said_alike` decides."""

    cosines: NDArray[np.float32]
    causes: NDArray[np.float32]
    """Cosine of the causes that two texts name; 1 where one names none."""
    floor: float

    def said_alike(self, texts: Sequence[str], a: int, b: int) -> bool:
        """Whether the texts at `a` and `b` say the same, as far as vectors and words can tell."""
        return self.is_near(a, b) and not contrast(texts[a], texts[b])

    def is_near(self, a: int, b: int) -> bool:
        """Whether the texts at `a` and `b` speak of the same, whatever they say about it."""
        return bool(self.cosines[a, b] >= self.floor and self.causes[a, b] >= CAUSE_LEAST)


def measure(texts: Sequence[str], encode: Encode, *, own: int | None = None) -> Likeness:
    """The likeness of every two texts. `encode` gives L2-normalised rows.

    The first `own` texts (None: all) are the background. What a memory has learned from its claims is no part of it: a
    lesson more would move the floor, and the same sources would teach something else the next night.
    """
    import numpy as np

    count = len(texts)
    vectors = encode(list(texts))
    cosines = (vectors @ vectors.T).astype(np.float32)
    causes = np.ones((count, count), np.float32)
    named = [(at, found[1]) for at, text in enumerate(texts) if (found := _CAUSE.search(text))]
    if len(named) >= FEW_CLAIMS:
        rows = np.array([at for at, _ in named])
        told = encode([cause for _, cause in named])
        causes[np.ix_(rows, rows)] = told @ told.T
    return Likeness(cosines=cosines, causes=causes, floor=_floor(cosines[:own, :own]))


def _floor(cosines: NDArray[np.float32]) -> float:
    import numpy as np

    pairs = cosines[np.triu_indices(len(cosines), 1)]
    if len(pairs) < BACKGROUND_LEAST:
        return LIKENESS_LEAST
    middle = float(np.median(pairs))
    # A robust standard deviation: the patterns that are looked for are no background.
    spread = float(np.median(np.abs(pairs - middle))) * 1.4826
    return max(LIKENESS_LEAST, min(0.75, middle + LIKENESS_DEVIATIONS * spread))


def find_patterns(claims: Sequence[Claim], likeness: Likeness) -> tuple[Pattern, ...]:
    """The patterns, each claim in at most one, those of most independent events first.

    Stars, not chains: every claim of a pattern says the same as its first one. A remedy is no part of one: it is
    proposed, and nothing was observed.
    """
    texts = [claim.text for claim in claims]
    near = [[b for b in range(len(texts)) if b != a and likeness.is_near(a, b)] for a in range(len(texts))]
    alike = [[b for b in others if not contrast(texts[a], texts[b])] for a, others in enumerate(near)]
    free = {at for at, claim in enumerate(claims) if claim.role is not Role.REMEDY}
    known: dict[tuple[int, ...], tuple[tuple[Claim, ...], ...]] = {}
    found: list[Pattern] = []
    while True:
        best: tuple[tuple[int, int, float, int], tuple[int, ...]] | None = None
        for centre in sorted(free):
            members = (centre, *(other for other in alike[centre] if other in free))
            if len(members) < FEW_CLAIMS:
                continue
            if members not in known:
                known[members] = events(claims[member] for member in members)
            nearness = float(sum(likeness.cosines[centre, other] for other in members[1:]))
            rank = (len(known[members]), len(members), nearness, -centre)
            best = max(best, (rank, members)) if best is not None else (rank, members)
        if best is None:
            return tuple(found)
        free -= set(best[1])
        centre = best[1][0]
        denying = events(claims[b] for b in near[centre] if says_otherwise(texts[centre], texts[b]))
        found.append(
            Pattern(
                claims=tuple(claims[member] for member in best[1]),
                events=known[best[1]],
                against=tuple(group[0] for group in denying),
            )
        )
