"""Verdicts by content: found in either direction, gone with either note, harmless when damaged."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.index.cache_store import ContentCache
from aria_dream.adapters.models.verdict_cache import VerdictCache, verdict_kind
from aria_dream.judging.triage_prompt import Drop, Keep, Unreadable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

KIND = verdict_kind("prompt", "model", "digest")
A, B, C = ((bytes([number]) * 32, f"title {number}") for number in (1, 2, 3))
TODAY = date(2026, 11, 30)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[ContentCache]:
    with ContentCache(tmp_path) as cache:
        yield cache


def verdicts(
    cache: ContentCache, *, visible: Collection[bytes] = (A[0], B[0], C[0]), today: date = TODAY, kind: str = KIND
) -> VerdictCache:
    return VerdictCache(cache=cache, kind=kind, visible=visible, today=today)


def test_a_pair_has_no_direction(cache: ContentCache) -> None:
    verdicts(cache).put(A, B, Keep(None, "both turn"))
    verdicts(cache).put(C, A, Drop(None, "a month"))
    assert verdicts(cache).get(B, A) == Keep(None, "both turn")
    assert verdicts(cache).get(A, C) == Drop(None, "a month")
    assert verdicts(cache).get(B, C) is None
    assert verdicts(cache).get((A[0], "renamed"), B) is None


@pytest.mark.parametrize("gone", [A, B])
def test_it_goes_with_either_note(cache: ContentCache, gone: tuple[bytes, str]) -> None:
    first = verdicts(cache)
    first.put(A, B, Keep(None, "both turn"))
    first.put(A, C, Keep(None, "stays"))
    first.put(B, C, Keep(None, "stays"))
    left = {A[0], B[0], C[0]} - {gone[0]}
    verdicts(cache, visible=left).prune()
    assert verdicts(cache).get(A, B) is None
    other = B if gone == A else A
    assert verdicts(cache).get(other, C) == Keep(None, "stays")


def test_other_prompts_and_models_have_their_own(cache: ContentCache) -> None:
    verdicts(cache).put(A, B, Keep(None, "both turn"))
    for told in (("other", "model", "digest"), ("prompt", "other", "digest"), ("prompt", "model", "other")):
        assert verdicts(cache, kind=verdict_kind(*told)).get(A, B) is None


def test_a_failure_is_of_its_day(cache: ContentCache) -> None:
    verdicts(cache).put(A, B, Unreadable("it took too long"))
    assert verdicts(cache).get(A, B) == Unreadable("it took too long")
    assert verdicts(cache, today=date(2026, 12, 1)).get(A, B) is None


@pytest.mark.parametrize("blob", [b"", b"\xff", b"[]", b'{"x": 1}', b'{"x": {"verdict": 1}}', b"[" * 10_000])
def test_a_damaged_blob_is_no_verdict(cache: ContentCache, blob: bytes) -> None:
    cache.put_many(KIND, {A[0]: blob})
    here = verdicts(cache)
    here.prune()
    assert here.get(A, B) is None
    here.put(A, B, Keep(None, "both turn"))
    assert verdicts(cache).get(A, B) == Keep(None, "both turn")
