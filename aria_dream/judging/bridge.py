"""What speaks for one thought being at work in two notes, before the vault has taught anything by its links.

A bridge joins two notes that each say something, lie in different corners of the vault and are nearer in meaning than
chance has it. What speaks against it: notes that lie side by side, lists and logs (clauses of few words), and a day
that both were written on. The judge heeds this for as long as a vault has too few links to learn from (`judge`).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeGuard

import numpy as np

from aria_dream.ranking.days import days_in, is_dated
from aria_dream.ranking.meaning import Background

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Vectors = NDArray[np.float32]

SIGNS: Final = ("nearness", "jotting", "lift", "dated", "same day")
"""Columns of `sign_row`, in this order."""
WEIGHTS: Final = (0.9, -5.6, -1.1, -1.8, -1.4)
INTERCEPT: Final = 0.3
"""Rounded from a ridge regression over the triage corpus and chance pairs of its notes (`benchmarks/bridge_prior.py`).
"""
FULL_CLAUSE: Final = 6.4
"""Words from which on a clause is as good as a longer one: lists lie below (2 to 3), prose at 6 and above."""
USUAL_SHARE: Final = 0.6
"""Of the vault's notes have shorter clauses than is usual: where most are jottings, jotting tells nothing."""
SAMPLE: Final = 100
"""Notes of a vault that say what is usual."""
COMMON_AXES: Final = 2
"""Directions that the notes of a vault vary in most say which language and what kind of text it is, not what it means.
Without two of them bridges stood out from chance pairs at .85 AUC instead of .82 (triage corpus) and .90 instead of .88
(the example vault's planted pairs, on which nothing was chosen); without four or more they did worse."""
_NOTES_PER_AXIS: Final = 50
_CLAUSE_END = re.compile(
    r"[,.;:!?()\u2013\u2014\u2026\u3001\u3002\uff0c\uff1a\uff1b\uff01\uff1f\u300c\u300d]+"
    r"|\n[ \t]*(?=\n|[-*+>#|]|\d{1,9}[.)][ \t])"
)
_LETTER = re.compile(r"[^\W\d_]")
_WORD_LETTERS: Final = 4.3
"""Of English, German, French, Spanish and Dutch prose, more or less."""
_SIGN_WORTH: Final = (
    (re.compile("[\u3400-\u9fff\uf900-\ufaff]"), 4),
    (re.compile("[\u3041-\u30ff]"), 2),
    (re.compile("[\uac00-\ud7af]"), 3),
)
"""Letters that a Chinese character, a kana and a Korean syllable are worth: what the same thought takes in English."""
_FORM_LINE = re.compile(
    r"^[ \t>]*(?:[-*+][ \t]+)?(?:\|[^\n]*|[!-~]+|\w[\w.-]{0,40}=[!-~]*(?:[ \t]+[!-~]+){0,2}"
    r"|[^\W\d_][\w -]{0,40}::?(?:[ \t]+[^\s,.;!?]+){1,3})[ \t]*\r?$",
    re.MULTILINE,
)
"""A row of a table, one word that stands alone, a field or setting and its value: filled in, not written."""
_READ_CHARACTERS: Final = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteShape:
    """How a note is written, whatever it says."""

    title: str
    clause_words: float
    """Words (of usual length) from one mark of punctuation to the next, on average; 0 for a note without a word. What
    is filled in (a table, fields) counts only where it is most of the note."""
    is_dated: bool
    """Its title names a day."""
    days: frozenset[tuple[int, int]]
    """Months and days that title and text name."""


def note_shape(title: str, prose: str) -> NoteShape:
    """The shape of a note of that title and prose (links left out); its first 4,000 characters count."""
    return NoteShape(
        title=title,
        clause_words=clause_words(prose),
        is_dated=is_dated(title),
        days=days_in(f"{title}\n{prose[:_READ_CHARACTERS]}"),
    )


def clause_words(prose: str) -> float:
    """`NoteShape.clause_words` of a note of this prose."""
    read = prose[:_READ_CHARACTERS]
    whole, written = _clauses(read), _clauses(_FORM_LINE.sub("", read))
    clauses = written if 2 * sum(written) >= sum(whole) else whole
    return sum(clauses) / len(clauses) if clauses else 0.0


def _clauses(text: str) -> list[float]:
    return [words for clause in _CLAUSE_END.split(text) if (words := _words(clause)) > 0]


def _words(clause: str) -> float:
    """Its letters in words of usual length: languages differ in where they put spaces, and in how much a sign holds."""
    letters = len(_LETTER.findall(clause))
    if not clause.isascii():
        letters += sum((worth - 1) * len(signs.findall(clause)) for signs, worth in _SIGN_WORTH)
    return letters / _WORD_LETTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeSigns:
    """A pair of notes as a possible bridge."""

    nearness: float | None
    """z-score of the two vectors against the vault, without its `COMMON_AXES`; None where it is not known."""
    jotting: float
    """How much shorter than usual the clauses of one of them are: log of the ratio, words counted from one up."""
    jotted: str
    """Title of that note."""
    lift: float
    """How telling it is that they lie in one folder (`folder_lift`)."""
    folders: tuple[str, str]
    """Names of the folders that they lie in; `""` for the vault itself."""
    dated: str
    """Title of a note of the two that names a day; `""` where neither does."""
    same_day: bool
    """Both name one day."""


def bridge_signs(
    first: NoteShape,
    second: NoteShape,
    *,
    usual: float,
    nearness: float,
    lift: float,
    folders: tuple[str, str] = ("", ""),
) -> BridgeSigns:
    """The signs of two notes in a vault whose clauses are as long as is `usual`; `nearness` is NaN if it is not known.
    """
    jotted = min(first, second, key=lambda shape: shape.clause_words)
    return BridgeSigns(
        nearness=None if math.isnan(nearness) else nearness,
        jotting=math.log1p(usual) - math.log1p(min(jotted.clause_words, usual)),
        jotted=jotted.title,
        lift=lift,
        folders=folders,
        dated=next((shape.title for shape in (first, second) if shape.is_dated), ""),
        same_day=bool(first.days & second.days),
    )


def usual_clause(clauses: Sequence[float]) -> float:
    """Words of the clauses that are usual among some notes of a vault, given each note's; at most `FULL_CLAUSE`."""
    found = [words for words in clauses if words > 0]
    return min(FULL_CLAUSE, float(np.quantile(found, USUAL_SHARE))) if found else FULL_CLAUSE


def folder_lift(notes: int, folder_notes: int) -> float:
    """How telling a folder of `folder_notes` of all `notes` is for two notes that lie in it: log of their ratio.

    0 where the two have no folder in common, and in a vault without folders.
    """
    return math.log(notes / folder_notes) if 0 < folder_notes < notes else 0.0


def sign_row(signs: BridgeSigns) -> tuple[float, ...]:
    """The numbers that are weighed, in the order of `SIGNS`. What is not known counts as nothing."""
    return (
        0.0 if signs.nearness is None else signs.nearness,
        signs.jotting,
        signs.lift,
        float(bool(signs.dated)),
        float(signs.same_day),
    )


def is_known(signs: BridgeSigns | None) -> TypeGuard[BridgeSigns]:
    """Whether there are signs to go by: without meaning the others would keep whatever is prose and lies apart."""
    return signs is not None and signs.nearness is not None


def bridge_log_odds(signs: BridgeSigns) -> float:
    """Log odds that the pair is a bridge; above 0: rather one than not."""
    return INTERCEPT + sum(weight * sign for weight, sign in zip(WEIGHTS, sign_row(signs), strict=True))


_USUAL: Final = (1.0, 0.0, 0.0, 0.0, 0.0)
"""The signs of a good bridge: what a pair lacks is counted from here."""
NEARER_Z: Final = 0.3
NEARER: Final = "they are nearer in meaning than most notes here are to each other"
"""Three pairs in four lie below `NEARER_Z`."""
_FAR_Z: Final = 0.0
"""Below, two notes are no nearer than chance has it."""


def speaks_against(signs: BridgeSigns) -> str | None:
    """What tells most against a bridge, as the end of a sentence about the two; None where nothing can be named."""
    near, jotting, lift, dated, same = (
        weight * (sign - usual) for weight, sign, usual in zip(WEIGHTS, sign_row(signs), _USUAL, strict=True)
    )
    said = [
        (lift, f"lie side by side in {signs.folders[0]}" if signs.folders[0] else None),
        (jotting, f"do not go together: {signs.jotted} is written in jottings" if jotting < -1 else None),
        (dated, f"do not go together: {signs.dated} is a note of its day" if signs.dated else None),
        (same, "name one day" if signs.same_day else None),
        (near, "are no nearer in meaning than chance has it" if sign_row(signs)[0] < _FAR_Z else None),
    ]
    named = [(value, clause) for value, clause in said if clause and value < 0]
    return min(named)[1] if named else None


def speaks_for(signs: BridgeSigns) -> str:
    """What can be said for a bridge that shares no word and no neighbour."""
    one, two = signs.folders
    apart = f", and they lie apart, in {one} and in {two}" if one and two and one != two else ""
    near = sign_row(signs)[0] >= NEARER_Z
    return f"{NEARER if near else 'both are written out in whole sentences'}{apart}"


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """What is usual in a vault."""

    clause_words: float
    """`usual_clause` of some notes."""
    keep: Vectors
    """Projection that takes the directions out that the notes vary in most, float32 [dim, dim]."""
    background: Background
    """Of the projected vectors."""

    def nearness(self, first: Vectors, second: Vectors) -> Floats:
        """For each row pair its z-score; NaN where a row is zero (no vector is known)."""
        known = first.any(axis=1) & second.any(axis=1)
        z = self.background.z_scores(first @ self.keep, second @ self.keep)
        return np.where(known, z, np.nan)


def surroundings(found: Background, notes: int, clauses: Sequence[float]) -> Surroundings:
    """Of `found`, which `notes` vectors made, without its common axes (with them where notes are few), and of the
    `clause_words` of some notes."""
    axes = min(COMMON_AXES, notes // _NOTES_PER_AXIS)
    spread = found.spread.astype(np.float64)
    common = np.linalg.eigh(spread)[1][:, len(spread) - axes :]
    keep = np.eye(len(spread)) - common @ common.T
    kept = Background((found.centre @ keep).astype(np.float32), (keep @ spread @ keep).astype(np.float32))
    return Surroundings(usual_clause(clauses), keep.astype(np.float32), kept)
