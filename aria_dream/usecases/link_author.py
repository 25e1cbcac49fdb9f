"""Who linked two notes: the writer, or an applied change of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aria_dream.review.following import links_of
from aria_dream.review.showing import change_name
from aria_dream.vault.resolve import Resolver

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aria_dream.usecases.review_session import ReviewSession
    from aria_dream.world import PastWrite

LINKED_BY_HAND: Final = "you linked them yourself"


def read_link_author(session: ReviewSession, pair: tuple[str, ...]) -> str:
    """Why two notes do not wait for a link any more: an applied change of ours linked them, or the writer did."""
    standing = {
        one.history: one for one in session.store.read().states.values() if one.state == "applied" and one.history
    }
    for change in session.files.past_changes():
        state = standing.get(change.change_id)
        place = session.places(change) if state is not None else {}
        if state is not None and any(_links(file, place, pair) for file in change.files):
            return f"the change “{change_name(state)}” has linked them"
    return LINKED_BY_HAND


def _links(file: PastWrite, place: Mapping[str, str], pair: tuple[str, ...]) -> bool:
    """Whether the file is one of the pair and got a link to the other by being written."""
    source = str(file.path)
    if place.get(source) not in pair or file.moved_to is not None:
        return False
    resolver = Resolver(place)  # among the names of that time
    before, after = (
        {place.get(resolver.resolve(link.path, source) or "") for link in links_of(file.path, content)}
        for content in (file.before, file.after)
    )
    return bool((set(pair) - {place[source]}) & (after - before))
