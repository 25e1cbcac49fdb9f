"""Why a pair was kept or dropped, in words that a writer understands and that are true of the two notes.

Every clause can be checked against the notes: a named word is written in both, a named note is a neighbour of both, a
mention stands in the prose as quoted. What the quoted passages show is not said again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aria_dream.judging.common_ground import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.judging.common_ground import Common

MAX_WORDS: Final = 3


def join_words(words: Sequence[str]) -> str:
    """`"a"`, `"a and b"`, `"a, b and c"`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def named(title: str) -> str:
    """`title` as it stands in a sentence: one in small letters is quoted, or it reads as a word of ours."""
    return f"“{title}”" if title[:1].islower() else title


def speak_of(common: Common) -> str | None:
    """The clause that names the shared words: what one of the two dwells on, else what both say by the way.

    Words that the mention names already are left to it.
    """
    mention = fold(common.mention[1]) if common.mention else ""
    words = [word for word in common.words if fold(word) not in mention]
    subjects = [word for word in words if word not in common.by_the_way]
    if subjects:
        return f"both speak of {join_words(subjects[:MAX_WORDS])}"
    if not words:
        return None
    quoted = [f"“{word}”" for word in words[:MAX_WORDS]]
    return f"both use the word{'s' if len(quoted) > 1 else ''} {join_words(quoted)}"


def quote_mention(common: Common) -> str | None:
    """The clause that quotes a mention."""
    return f"{named(common.mention[0])} mentions “{common.mention[1]}” without a link" if common.mention else None


def meet(common: Common) -> str | None:
    """The clause that names the note between them, with the direction of its links."""
    between = common.between
    if between is None:
        return None
    if between.from_first and between.from_second:
        return f"both lead to {named(between.title)}"
    if not between.from_first and not between.from_second:
        return f"{named(between.title)} leads to both"
    return f"{named(between.title)} lies between them"


def apart_from_text(common: Common) -> list[str]:
    """Clauses that name what the two share beside words, mentions and links between them; the most telling first."""
    clauses = []
    if common.missing:
        clauses.append(f"both link to {named(common.missing)}, which is not written yet")
    if common.tags:
        clauses.append(f"both are tagged #{common.tags[0]}")
    return clauses
