"""What a vault says for either of two claims: the notes' dates, sources and links, and the notes called the truth."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from aria_dream.adapters.index.resonance import read_note_text
from aria_dream.consolidate.evidence import Side, find_drift, read_side, render_evidence, truth_passage
from aria_dream.markdown.note import parse_note
from aria_dream.policy.patterns import matches
from aria_dream.privacy.sharing import Visibility, visibility
from aria_dream.vault.graph import backlinks_of

if TYPE_CHECKING:
    from datetime import tzinfo

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.consolidate.passages import Passage
    from aria_dream.consolidate.verdict import Conflict


@dataclass(frozen=True)
class VaultEvidence:
    """Evidence from one vault, read when it is asked for."""

    vault: DreamtVault
    zone: tzinfo | None
    """The writer's."""

    def text(self, conflict: Conflict) -> str:
        """The facts for both claims, one a line; what a truth note says only where it may be shown."""
        drift = find_drift(conflict, self._truths)
        quotes = drift is not None and self._may_be_quoted(drift.path)
        first = self._side(conflict.first.path, conflict.first_claim)
        second = self._side(conflict.second.path, conflict.second_claim)
        return render_evidence(conflict, first, second, drift, quotes=quotes)

    @property
    def truths(self) -> frozenset[str]:
        """Vault paths of the visible notes that are right when two disagree."""
        return frozenset(passage.path for passage in self._truths)

    def _side(self, path: str, claim: str) -> Side:
        row = self.vault.row(path)
        if row is None:
            return Side()
        changed = datetime.fromtimestamp(self.vault.facts[row].modified_ns / 1e9, UTC).astimezone(self.zone)
        return read_side(
            parse_note(read_note_text(self.vault, row)),
            claim,
            changed_on=changed.date(),
            links_in=len(backlinks_of(self.vault.graph, row)),
            is_truth=self._is_truth(row),
        )

    def _is_truth(self, row: int) -> bool:
        fact = self.vault.facts[row]
        return any(matches(pattern, fact.path, fact.tags) for pattern in self.vault.live.policy.settings.truth)

    @cached_property
    def _truths(self) -> tuple[Passage, ...]:
        """The visible notes that are right when two disagree."""
        if not self.vault.live.policy.settings.truth:
            return ()
        rows = [row for row in range(len(self.vault.facts)) if self._is_truth(row)]
        return tuple(truth_passage(self.vault.facts[row].path, read_note_text(self.vault, row)) for row in rows)

    def _may_be_quoted(self, path: str) -> bool:
        row = self.vault.row(path)
        if row is None:
            return False
        fact, settings = self.vault.facts[row], self.vault.live.policy.settings
        return visibility(settings, path=path, tags=fact.tags, dream=fact.dream) is Visibility.OPEN
