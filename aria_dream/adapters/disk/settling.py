"""What becomes of a change whose steps were not all done: it is finished, or taken back. A crash at any point of this
leaves a change that can be settled again.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.swap import sync_folder
from aria_dream.world import Settled, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from aria_dream.adapters.disk.history import History, Intent
    from aria_dream.adapters.disk.steps import Steps
    from aria_dream.markdown.note import NotePath


class ChangeSettler:
    """Settles the changes of one vault. Whoever calls holds the vault's writer lock."""

    def __init__(
        self,
        root: Path,
        steps: Steps,
        history: History,
        *,
        now: Callable[[], datetime],
        after_step: Callable[[str], None],
    ) -> None:
        self._root = root
        self._steps = steps
        self._history = history
        self._now = now
        self._after = after_step

    def make_folders(self, intent: Intent) -> None:
        """Make the folders that the change needs and that are not there by now. Raises OSError where it cannot."""
        for folder in intent.folders:
            place = self._root.joinpath(*folder.parts)
            with suppress(FileExistsError):
                place.mkdir()
                self._after("folder made")
                sync_folder(place.parent)

    def settle(self, intent: Intent, *, may_finish: bool) -> Settled:
        """What became of the change. With `may_finish` missing steps are done if every file is as the change left or
        expects it; otherwise the done ones are taken back, but for files that somebody changed since.

        Raises:
            OSError: the disk would not; the change stays pending.
        """
        for number, step in enumerate(intent.steps):
            self._steps.tidy(intent.change_id, number, step)
            self._steps.tidy(intent.change_id, number, step.inverse())
        done = self._states(intent)
        if may_finish and True in done and False in done and None not in done:
            self._finish_steps(intent, done)
            done = self._states(intent)
        if all(done):
            return self.finish(intent, Verdict.APPLIED)
        self._undo_steps(intent, done)
        remaining = zip(intent.steps, done, self._states(intent), strict=True)
        left = tuple(step.moved_to or step.path for step, was, is_now in remaining if was is None or is_now is True)
        self._remove_folders(intent)
        return self.finish(intent, Verdict.UNDONE, left)

    def finish(self, intent: Intent, verdict: Verdict, left: tuple[NotePath, ...] = ()) -> Settled:
        """Record the end. Raises OSError where the disk would not; the change then stays pending."""
        self._history.finish(intent.change_id, verdict, self._now(), left)
        self._after("outcome")
        return Settled(change_id=intent.change_id, label=intent.label, verdict=verdict, left_alone=left)

    def _states(self, intent: Intent) -> list[bool | None]:
        """Per step: done, not done, or neither (somebody changed the file). A written note may have moved on."""
        states = [self._steps.is_done(step) for step in intent.steps]
        moves = {step.path: number for number, step in enumerate(intent.steps) if step.moved_to is not None}
        for number, step in enumerate(intent.steps):
            mover = moves.get(step.path)
            if mover is None or mover == number:
                continue
            if states[mover] is True:
                states[number] = True
            elif states[number] is False:
                states[mover] = False
        return states

    def _finish_steps(self, intent: Intent, done: list[bool | None]) -> None:
        """Do what is missing. A hindrance or an error only means that the change will be undone instead."""
        try:
            self.make_folders(intent)
            for number, step in enumerate(intent.steps):
                if done[number] is False:
                    content = self._history.image(intent.change_id, number, "after")
                    if self._steps.do(intent.change_id, number, step, content) is not None:
                        return
        except OSError:
            for number, step in enumerate(intent.steps):
                self._steps.tidy(intent.change_id, number, step)

    def _undo_steps(self, intent: Intent, done: list[bool | None]) -> None:
        for number, step in reversed(list(enumerate(intent.steps))):
            if done[number] is True:
                content = self._history.image(intent.change_id, number, "before")
                # Hindered: somebody has just changed the file. It is left as it is, and whole.
                self._steps.do(intent.change_id, number, step.inverse(), content)

    def _remove_folders(self, intent: Intent) -> None:
        for folder in reversed(intent.folders):
            try:
                self._root.joinpath(*folder.parts).rmdir()
            except OSError:  # not empty, or gone: somebody uses it
                continue
