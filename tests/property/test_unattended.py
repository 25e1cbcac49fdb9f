"""Two notes that differ in one word, whichever and in whatever language, do not merge without a tick."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aria_dream.consolidate.note_merges import plan_note_merge
from aria_dream.consolidate.unattended_guard import find_doubt
from aria_dream.markdown.note import NotePath
from aria_dream.review.plan import VaultView
from aria_dream.review.proposal import Proposal, ProposalState, proposal_id
from aria_dream.vault.edit import Refusal

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

PATHS = ("Kiln.md", "Kiln 1.md")
SAID = (
    "the kiln is not never nine 9 days Marta ei käy nicht keine läuft никогда воды 300 litres gallons May Juni ne pas"
    " jamais polish Polish двести no sin agua without sold owned 1.5 bar it IT that colour color"
)
WORDS = SAID.split()


def doubt(one: str, other: str) -> str:
    contents = {NotePath(path): text.encode() for path, text in zip(PATHS, (one, other), strict=True)}
    view = VaultView(files=PATHS, contents=contents)
    found = plan_note_merge(view, NotePath(PATHS[0]), [NotePath(PATHS[1])])
    if isinstance(found, Refusal):
        return found.reason
    at = datetime(2026, 11, 30, tzinfo=UTC)
    made = Proposal(id=proposal_id("merge", PATHS, 0), kind="merge", paths=PATHS, round=0, at=at, expires_at=None,
                    titles=(), confidence=1.0)  # fmt: skip
    state = ProposalState(proposal=made, state="proposed", since=at, paths=PATHS)
    return find_doubt(state, found.planned.changes, view, others=())


@st.composite
def two_texts(draw: DrawFn) -> tuple[str, str]:
    """A text, and the same with one word gone, added, exchanged, moved or struck."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=14, max_size=30))
    at = draw(st.integers(1, len(words) - 2))  # a sentence begins with a capital whatever its word
    word = draw(st.sampled_from(WORDS))
    change = draw(st.sampled_from(["gone", "added", "exchanged", "moved", "struck", "apart"]))
    other = list(words)
    match change:
        case "gone":
            del other[at]
        case "added":
            other.insert(at, word)
        case "exchanged":
            other[at] = word
        case "moved":
            other.append(other.pop(at))
        case "struck":
            other[at] = f"~~{other[at]}~~"
        case _:
            other[at] = f"{other[at]}."
    return " ".join(words) + ".\n", " ".join(other) + ".\n"


@settings(max_examples=80)
@given(two_texts())
def test_one_word_sends_it_to_the_writer(texts: tuple[str, str]) -> None:
    one, other = texts
    assert doubt(one, one) == ""
    assume(one != other)
    assert doubt(one, other)
    assert doubt(other, one)
