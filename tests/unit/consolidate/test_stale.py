"""What is stale: a day of the note's own is over, its source is gone, or has changed since."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from aria_dream.consolidate.last_day import last_day
from aria_dream.consolidate.stale import (
    SourceMemory,
    Stale,
    cited_sources,
    property_name,
    propose_obsolete,
    stale_by_date,
    stale_by_source,
)
from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.review.plan import VaultView
from aria_dream.review.proposal import Proposal
from aria_dream.vault.edit import Refusal

TODAY = date(2026, 11, 30)
EAST = timezone(timedelta(hours=9))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-11-29", date(2026, 11, 29)),
        ("2026-1-9", date(2026, 1, 9)),
        ("2026-11", date(2026, 11, 30)),
        ("2026-12", date(2026, 12, 31)),
        ("2024-02", date(2024, 2, 29)),
        ("2026", date(2026, 12, 31)),
        ("20261103", date(2026, 11, 3)),
        ("2026/11/03", date(2026, 11, 3)),
        ("3.11.2026", date(2026, 11, 3)),
        ("03. 11. 2026", date(2026, 11, 3)),
        ("25/12/2026", date(2026, 12, 25)),
        ("12/25/2026", date(2026, 12, 25)),
        ("3/11/2026", date(2026, 11, 3)),  # may be 11 March too: the later one, since a false alarm costs more
        ("3 November 2026", date(2026, 11, 3)),
        ("November 3rd, 2026", date(2026, 11, 3)),
        ("3. März 2026", date(2026, 3, 3)),
        ("3 de noviembre de 2026", date(2026, 11, 3)),
        ("3 août 2026", date(2026, 8, 3)),
        ("Nov 2026", date(2026, 11, 30)),
        ("2026年11月3日", date(2026, 11, 3)),
        ("[[2026-11-29]]", date(2026, 11, 29)),
        ("[[daily/2026-11-29|yesterday]]", date(2026, 11, 29)),
        ("2026-11-29T23:30:00Z", date(2026, 11, 30)),  # in the writer's zone it is the next day
        ("2026-11-29T23:30:00", date(2026, 11, 29)),
        ("2026-11-29 10:00", date(2026, 11, 29)),
        ("2026-13-01", None),
        ("2026-02-30", None),
        ("0000", None),
        ("soon", None),
        ("", None),
        ("next year 2027 maybe", None),
    ],
)
def test_a_date_as_people_write_it(written: str, expected: date | None) -> None:
    assert last_day(written, EAST) == expected


@pytest.mark.parametrize("key", ["validUntil", "Valid until", "valid-until", "VALID_UNTIL", "valid_until"])
def test_a_property_is_known_however_it_is_written(key: str) -> None:
    assert property_name(key) == "valid_until"


def stale(properties: str, today: date = TODAY) -> list[str]:
    note = parse_note(f"---\n{properties}\n---\nThe pass costs 40 euros.\n")
    return [one.reason for one in stale_by_date("Pass.md", note, today=today, zone=UTC)]


def test_a_day_that_is_over() -> None:
    assert stale("valid_until: 2026-11-29") == ["`valid_until: 2026-11-29` has passed"]
    assert stale("valid_until: 2026-11-30") == []  # valid through its day
    assert stale("valid_until: 2026-11-30", date(2026, 12, 1)) != []
    assert stale("Expires: 3. Oktober 2026") == ["`Expires: 2026-10-03` has passed"]
    assert stale("expires: 2025") == ["`expires: 2025-12-31` has passed"]  # a number to YAML
    assert stale("expires: 20261101") != []
    assert stale("review_by: 2026-10") == ["it was to be looked at again: `review_by: 2026-10-31` has passed"]
    assert stale("review_by: someday") == ["`review_by: someday` is no day that can be read; write it as 2026-12-31"]
    assert stale("valid_until: 2026-13-45")[0].startswith("`valid_until: 2026-13-45` is no day")
    assert stale("expired: false") == stale("expires:") == stale("expires: []") == []
    assert stale("gültig bis: 1.10.2026") != []
    assert stale("valid_until: [2027-01-01]") == []
    assert stale("valid_until:\n") == []
    assert stale("valid_until: true") == []
    assert stale("sr-due: 2020-01-01\nnext_review: 2020-01-01\ndate: 2020-01-01\ncreated: 2020-01-01") == []
    assert stale("valid_until: 2020-01-01\nobsolete: true") == []
    assert stale("valid_until: 2020-01-01\nstatus: archived") == []
    assert stale("valid_until: 2020-01-01\nobsolete: false") != []


@pytest.mark.parametrize(
    ("line", "is_stale"),
    [
        ("valid_until:: 2025-01-01", True),
        ("**Valid until**:: 1 March 2025", True),
        ("expires:: [[2025-03-01]]\r", True),
        ("valid_until:: 2999-01-01", False),
        ("valid_until: 2025-01-01", False),
        ("- valid_until:: 2025-01-01", False),
        ("```\nvalid_until:: 2025-01-01\n```", False),
        ("date:: 2025-01-01", False),
    ],
)
def test_a_day_in_a_field_of_its_own_line(line: str, *, is_stale: bool) -> None:
    note = parse_note(f"The pass costs 40 euros.\n\n{line}\n\nIt is blue.\n")
    assert bool(list(stale_by_date("Pass.md", note, today=TODAY, zone=UTC))) == is_stale


def test_what_a_note_calls_its_sources() -> None:
    note = parse_note(
        "---\nsource: '[[report.pdf#page=2|the report]]'\n"
        "sources: ['data/table.csv', 'https://example.org/x.pdf', word]\n"
        "based_on: '[paper](papers/paper.pdf)'\nurl: other.pdf\n---\n"
        "See [[Elsewhere]].\n\n**Source:** [[Interview]] and [[Diary]]\n- Quelle: [[Brief]]\n> open source: [[Not]]\n"
    )
    assert cited_sources(note) == (
        "report.pdf", "data/table.csv", "papers/paper.pdf", "Interview", "Diary", "Brief",
    )  # fmt: skip


class Files:
    """A vault's files, by name, and what they hold."""

    def __init__(self, **files: str) -> None:
        self.files = {name.replace("_", "."): content for name, content in files.items()}

    def seen(
        self, text: str, earlier: SourceMemory | None = None, note_hash: str = "n1"
    ) -> tuple[list[str], SourceMemory | None]:
        def resolve(link: str, _source: str) -> str | None:
            return next((name for name in (link, f"{link}.md") if name in self.files), None)

        found, memory = stale_by_source(
            "A.md", parse_note(text), note_hash, resolve=resolve, hash_of=self.files.get, earlier=earlier
        )
        assert len({one.mark for one in found}) == len(found)
        return [one.why for one in found], memory


NOTE = "---\nsource: '[[Interview]]'\nfile: report.pdf\n---\nThe pass costs 40 euros.\n"


def test_a_source_that_changes_or_goes() -> None:
    vault = Files(Interview_md="i1", report_pdf="r1")
    found, memory = vault.seen(NOTE)
    assert found == []
    assert memory == SourceMemory(note="n1", sources={"Interview.md": "i1", "report.pdf": "r1"})
    assert vault.seen(NOTE, memory) == ([], memory)
    vault.files["report.pdf"] = "r2"
    assert vault.seen(NOTE, memory) == (["source changed"], memory)  # and again the next night, by the same mark
    # The note was edited after the change: it has seen it.
    found, fresh = vault.seen(NOTE, memory, note_hash="n2")
    assert found == []
    assert fresh == SourceMemory(note="n2", sources={"Interview.md": "i1", "report.pdf": "r2"})
    del vault.files["Interview.md"]
    found, memory = vault.seen(NOTE, fresh, note_hash="n2")
    assert found == ["source gone"]
    assert vault.seen(NOTE, memory, note_hash="n2")[0] == ["source gone"]
    vault.files["Interview.md"] = "i1"
    assert vault.seen(NOTE, memory, note_hash="n2")[0] == []


def test_a_note_that_is_yet_to_be_written_is_no_source_that_is_gone() -> None:
    vault = Files()
    assert vault.seen("---\nsource: '[[Some book]]'\n---\nA.\n") == ([], None)
    assert vault.seen("---\nsource: '[[Scan.pdf]]'\n---\nA.\n")[0] == ["source gone"]
    assert vault.seen("---\nsource: https://example.org/a.pdf\n---\nA.\n") == ([], None)
    assert vault.seen("No properties.\n") == ([], None)


def test_the_proposal_sets_one_property_and_is_never_that_sure() -> None:
    text = b"---\r\nvalid_until: 2026-01-01\r\n---\r\nThe pass costs 40 euros.\r\n"
    view = VaultView(files=("Pass.md",), contents={NotePath("Pass.md"): text})
    (found,) = stale_by_date("Pass.md", parse_note(text.decode()), today=TODAY)
    now = datetime(2026, 11, 30, 3, tzinfo=UTC)
    made = propose_obsolete(found, view, (), now=now, expires_at=now + timedelta(days=60))
    assert isinstance(made, tuple)
    proposal, edits = made
    assert isinstance(proposal, Proposal)
    assert (proposal.kind, proposal.paths, proposal.judge) == ("obsolete", ("Pass.md",), "calendar")
    assert proposal.reason == "`valid_until: 2026-01-01` has passed"
    assert "".join(edit.inserted for edit in edits).strip() == "obsolete: true"
    assert all(edit.removed == "" for edit in edits)
    gone = Stale(path="Gone.md", why="source gone", what="x.pdf", reason="r")
    assert isinstance(propose_obsolete(gone, view, (), now=now, expires_at=None), Refusal)
    assert gone.mark != found.mark
