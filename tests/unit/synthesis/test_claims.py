"""Claims know their event: what ties two of them together, and what keeps a sentence from being a claim at all."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from aria_dream.synthesis.claim_words import Role
from aria_dream.synthesis.claims import (
    CLAIMS_OF_A_KIND,
    Claim,
    claims_to_compare,
    events,
    find_claims,
    one_event,
)
from aria_dream.synthesis.sources import Entry, MemoryFile, SourceKind, read_capsules

A = "The indexer crashes when its cache is cold after a restart."
B = "After a restart with an empty cache the indexer went down again."


def place(ref: str) -> str:
    """File and line of a reference."""
    return ref.partition("#")[0]


def entry(text: str, number: int = 1, *, kind: SourceKind = SourceKind.SESSION, **properties: str) -> Entry:
    return Entry(
        kind=kind, path=f"S{number}.md", line=1, title=f"block {number}", text=text, text_line=2,
        day=date(2026, 11, 20 + number), properties=properties, ref=f"S{number}.md:1",
    )  # fmt: skip


def claims(*entries: Entry) -> tuple[Claim, ...]:
    return find_claims(entries)[0]


def pair(first: str, second: str, **properties: str) -> tuple[Claim, Claim]:
    kind = SourceKind.SESSION
    a, b = claims(entry(first, 1, kind=kind, **properties), entry(second, 2, kind=kind, **properties))
    return a, b


def test_two_tellings_from_two_days_are_two_events() -> None:
    a, b = pair(A, B)
    assert not one_event(a, b)
    assert len(events([a, b])) == 2


@pytest.mark.parametrize(
    ("first", "second", "properties"),
    [
        (A, B, {"session": "s-17"}),
        (A, B, {"incident_id": "7"}),
        (f"{A[:-1]} (INC-204).", f"{B[:-1]}, see INC-204.", {}),
        (f"{A[:-1]} in run 12.", f"{B[:-1]} (run-12).", {}),
        (f"{A[:-1]} at 5f3c2a9.", f"{B[:-1]} since 5f3c2a9.", {}),
        (f"{A[:-1]} (#41).", f"{B[:-1]}, that was #41.", {}),
        (f"{A[:-1]} at 2026-11-21 14:32.", f"{B[:-1]} on 2026-11-21T14:32:05.", {}),
        (f"{A[:-1]} at 14:32.", f"{B[:-1]}, at 2026-11-21 14:32.", {}),
        (A, f'The log said "{A[:-1]}" and nothing else.', {}),
        (A, "As was noted: “the indexer crashes when its cache is cold” once more.", {}),
        (A, f"> {A}", {}),
        (
            "The indexer crashes when its cache is cold and nobody has warmed it before the first query.",
            "Again: the indexer crashes when its cache is cold and nobody has warmed it before work.",
            {"note": "no id"},
        ),
    ],
)
def test_retellings_of_one_event_are_one(first: str, second: str, properties: dict[str, str]) -> None:
    a, b = pair(first, second, **properties)
    assert one_event(a, b)
    assert one_event(b, a)
    assert len(events([a, b])) == 1


def test_the_same_words_under_different_sessions_are_two_events() -> None:
    long = "The indexer crashes when its cache is cold and nobody has warmed it before the first query of a day."
    a, b = claims(entry(long, 1, session="1"), entry(long, 2, session="2"))
    assert not one_event(a, b)
    c, d = claims(entry(long, 1), entry(long, 2))
    assert one_event(c, d)


def test_entries_of_one_minute_are_one_event() -> None:
    at = datetime(2026, 11, 21, 21, 40, tzinfo=UTC)
    a, b = claims(replace(entry(A), at=at), replace(entry(B, 2), at=at.replace(second=9)))
    assert one_event(a, b)
    midnight = at.replace(hour=0, minute=0)
    c, d = claims(replace(entry(A), at=midnight), replace(entry(B, 2), at=midnight))
    assert not one_event(c, d)


def test_the_same_words_on_one_day_are_a_copy() -> None:
    a, b = claims(entry(A, 1), replace(entry(A, 2), day=date(2026, 11, 21)))
    assert one_event(a, b)
    c, d = claims(entry(A, 1), entry(A, 2))
    assert not one_event(c, d)


def test_names_of_things_are_no_events() -> None:
    a, b = pair(f"{A[:-1]} with UTF-8 and SHA-256.", f"{B[:-1]}, UTF-8 or not, SHA-256 or not.")
    assert not one_event(a, b)


def test_ties_are_transitive() -> None:
    found = claims(entry(f"{A[:-1]} (#1).", 1), entry(f"{B[:-1]} (#1, #2).", 2), entry(f"It went down, #2, {A}", 3))
    assert len(events(found)) == 1


def test_a_block_that_names_a_capsule_retells_it() -> None:
    file = MemoryFile(path="c/2026-11-20-index.md", text=f"---\nid: cap-index-20\ncreated_at: 2026-11-20\n---\n{A}\n")
    (capsule,) = read_capsules([file], UTC).entries
    for name in ("cap-index-20", "[[2026-11-20-index]]"):
        first, second = claims(capsule, entry(f"{B[:-1]}, as {name} tells."))
        assert one_event(first, second)
    first, second = claims(capsule, entry(B))
    assert not one_event(first, second)


def test_two_capsules_of_one_instant_are_one_event() -> None:
    at = datetime(2026, 11, 20, 10, 0, 3, tzinfo=UTC)
    texts = {"a": A, "b": B}
    head = f"---\ncreated_at: {at.isoformat()}\n---\n"
    files = [MemoryFile(path=f"c/{name}.md", text=f"{head}{text}\n") for name, text in texts.items()]
    found = claims(*read_capsules(files, UTC).entries)
    assert len(found) == 2
    assert one_event(*found)


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("Operator directive: take a copy before every import.", Role.DIRECTIVE),
        ("- **Operator:** take a copy before every import.", Role.DIRECTIVE),
        ("The operator asked for a copy before every import.", Role.DIRECTIVE),
        ("> **Operator directive (2026-11-20):** take a copy before every import.", Role.DIRECTIVE),
        ("Directive (operator): take a copy before every import.", Role.DIRECTIVE),
        ("**Outcome**: the copy brought back nine of the notes.", Role.OUTCOME),
        ("- Observed: the copy brought back nine of the notes.", Role.OUTCOME),
        ("Guard: list every link that was lost overnight.", Role.REMEDY),
        ("- Miscall: said it would take ten minutes at most.", Role.MISCALL),
        ("Surprise: the shaded bed had the best soil.", Role.SURPRISE),
        ("Nothing checks for links that broke overnight.", Role.GAP),
        ("The operator room was painted green last week.", Role.PLAIN),
        ("An outcome like this one was never seen before.", Role.PLAIN),
        ("A cat: it sat on the mat for an hour.", Role.PLAIN),
    ],
)
def test_roles(text: str, role: Role) -> None:
    (claim,) = claims(entry(text))
    assert claim.role is role
    assert ":" not in claim.text[:22] or role is Role.PLAIN


@pytest.mark.parametrize(
    "text",
    [
        "Is it really so that the cache is cold?", "Too short.", "Updated the README and the changelog today.",
        "status: the whole thing is active now", "```\nThe code is no claim at all here.\n```",
        "### A heading is not a claim either", "| a table | is | no | claim | too |",
        "waiting_on: an answer from the shop",
    ],
)  # fmt: skip
def test_what_is_no_claim(text: str) -> None:
    from aria_dream.synthesis.log_text import visible

    assert find_claims([entry(visible(text))]) == ((), ())


@pytest.mark.parametrize(
    "text",
    [
        "It probably hung because the disk was full.", "I think the cache was cold on that morning.",
        "As the lesson predicted, the cache was cold.", "This confirms l004 about the cold cache again.",
    ],
)  # fmt: skip
def test_what_is_set_aside(text: str) -> None:
    kept, aside = find_claims([entry(text)])
    assert kept == ()
    assert len(aside) == 1


def test_properties_of_a_capsule_tell_too() -> None:
    told = "operator_directive: take a copy before every import\nobjective: get all letters in today"
    head = f"created_at: 2026-11-20\n{told}"
    file = MemoryFile(path="c/x.md", text=f"---\n{head}\n---\nThe letters of the first year are all in.\n")
    found = claims(*read_capsules([file], UTC).entries)
    roles = [(claim.role, place(claim.ref)) for claim in found]
    assert roles == [(Role.DIRECTIVE, "c/x.md:1"), (Role.PLAIN, "c/x.md:6")]


def test_a_block_without_a_body_is_its_title() -> None:
    (claim,) = claims(replace(entry(""), title="The indexer crashed on the cold cache again"))
    assert place(claim.ref) == "S1.md:1"


def test_a_claim_knows_its_line_and_wrapped_lines_are_one() -> None:
    item = "- A first claim that stands\n  on two lines of the file.\n"
    text = f"\n{item}\nA paragraph of its own. And a second sentence in it.\n"
    found = claims(entry(text))
    assert [(claim.text, place(claim.ref)) for claim in found] == [
        ("A first claim that stands on two lines of the file.", "S1.md:3"),
        ("A paragraph of its own.", "S1.md:6"),
        ("And a second sentence in it.", "S1.md:6"),
    ]


def test_links_and_marks_are_read_as_text() -> None:
    (claim,) = claims(entry("**The** [[Cache|cold cache]] of the [indexer](x.md) was `empty` again."))
    assert claim.text == "The cold cache of the indexer was empty again."


def test_no_kind_crowds_out_another() -> None:
    crowd = entry("\n".join(f"- The pump number {number} was mended with a part." for number in range(400)))
    other = entry(A, 2, kind=SourceKind.FAILURE_MODE)
    kept = claims_to_compare(claims(crowd, other))
    assert len(kept) == CLAIMS_OF_A_KIND + 1
    assert kept[-1].text == A


def test_earlier_lessons_and_staged_rows_claim_nothing() -> None:
    kinds = (SourceKind.LESSON, SourceKind.STAGED, SourceKind.EVIDENCE)
    assert find_claims([entry(A, kind=kind) for kind in kinds]) == ((), ())
