"""The real embedding model and its guards, on claims that say the same and on others about the same thing."""

from __future__ import annotations

import pytest

from aria_dream.adapters.models.embedding import load_embedder
from aria_dream.synthesis.patterns import Likeness, measure

ALIKE = [
    (
        "The indexer crashes when the cache is cold after a restart.",
        "After a restart with an empty cache the indexer went down.",
    ),
    (
        "Asking for the file path first saved a wrong edit.",
        "Because I checked the path before editing, the wrong file was not changed.",
    ),
    (
        "Estimates of migration time were half of what it took.",
        "I guessed two hours for the migration and it took four.",
    ),
    (
        "The publish step failed because the token had expired.",
        "An expired token made publishing fail again.",
    ),
    (
        "Restarting the indexer before the migration avoids the lock.",
        "The lock did not appear because the indexer was restarted before migrating.",
    ),
    (
        "Backups were never restored, so nobody knew they were empty.",
        "A backup that is not test-restored can turn out to be empty.",
    ),
    (
        "Notes renamed on the phone lose their links.",
        "Links broke when a note was renamed from the mobile app.",
    ),
    (
        "The tests pass locally and fail on the server because of the time zone.",
        "A time zone difference made the test fail on the build machine only.",
    ),
    (
        "Long prompts were cut off silently by the local model.",
        "The local model dropped the end of the prompt without a warning.",
    ),
    (
        "Der Index stürzt ab, wenn der Cache leer ist.",
        "Bei leerem Cache ist der Index wieder abgestürzt.",
    ),
    (
        "Wer vor dem Umbau keine Kopie macht, verliert Seiten.",
        "Ohne Kopie vor dem Umbau gingen wieder Seiten verloren.",
    ),
    (
        "The archive was never opened after it was made.",
        "Nobody opened the archive once it had been written.",
    ),
    (
        "Three small commits were easier to review than one large one.",
        "Splitting the change in small commits made the review quick.",
    ),
    (
        "The phone overwrote the newer note with an old copy.",
        "An older version from the phone replaced the newer note.",
    ),
    (
        "Reading the error to its end would have saved an hour.",
        "An hour was lost because the error message was not read to its end.",
    ),
]
ABOUT_THE_SAME_THING = [
    (
        "The indexer crashes when the cache is cold after a restart.",
        "The indexer is faster since the cache lies on the SSD.",
    ),
    (
        "The publish step failed because the token had expired.",
        "The publish step failed because the changelog was missing.",
    ),
    (
        "Estimates of migration time were half of what it took.",
        "The migration was postponed to Thursday.",
    ),
    (
        "Backups were never restored, so nobody knew they were empty.",
        "Backups now run every night at two.",
    ),
    (
        "Notes renamed on the phone lose their links.",
        "Links in the weekly note point to three projects.",
    ),
    (
        "The tests pass locally and fail on the server because of the time zone.",
        "The tests on the server were moved to another machine.",
    ),
    (
        "Long prompts were cut off silently by the local model.",
        "The local model answers in three seconds.",
    ),
    (
        "Asking for the file path first saved a wrong edit.",
        "The operator prefers short summaries in the morning.",
    ),
    (
        "A dry run showed the rename would hit forty notes.",
        "The review of the chapter took the whole morning.",
    ),
    (
        "The summary claimed the tests were green without running them.",
        "The summary was too long for the phone.",
    ),
    (
        "Three small commits were easier to review than one large one.",
        "The review of the large commit was moved to Friday.",
    ),
    (
        "The phone overwrote the newer note with an old copy.",
        "The phone showed the newer note only after a restart.",
    ),
    (
        "The restart fixed the lock.",
        "The restart did not fix the lock.",
    ),
    (
        "The token expired on Monday because nobody renewed it.",
        "The token expired on Friday because the server clock was wrong.",
    ),
    (
        "The bread was flat since the starter was cold.",
        "The bread was flat since the oven was not hot enough.",
    ),
]


TEXTS = [text for pair in (*ALIKE, *ABOUT_THE_SAME_THING) for text in pair]


@pytest.fixture(scope="module")
def likeness() -> Likeness:
    return measure(TEXTS, load_embedder().encode)


def said_alike(likeness: Likeness, pair: tuple[str, str]) -> bool:
    return likeness.said_alike(TEXTS, TEXTS.index(pair[0]), TEXTS.index(pair[1]))


def test_what_says_the_same_is_mostly_found(likeness: Likeness) -> None:
    assert sum(said_alike(likeness, pair) for pair in ALIKE) >= 12


def test_what_is_about_the_same_thing_is_mostly_kept_apart(likeness: Likeness) -> None:
    assert sum(said_alike(likeness, pair) for pair in ABOUT_THE_SAME_THING) <= 1
