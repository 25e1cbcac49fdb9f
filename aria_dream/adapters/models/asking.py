"""The one loop that asks a language model: a try again where that may help, and an end where it does not.

The judge of a dream, that of a consolidation and Janus ask through it, each with a budget of its own.
"""

from __future__ import annotations

import math
import re
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from aria_dream.adapters.gate.egress import Cleared
from aria_dream.adapters.models.model_server import AskFailed
from aria_dream.judging.prompt_text import NONCE_BYTES
from aria_dream.judging.triage_prompt import Unreadable
from aria_dream.judging.verdict import plain_reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from aria_dream.adapters.models.model_server import Completion, Model, ModelServer

V = TypeVar("V")
R = TypeVar("R")
FAILURES_BORNE: Final = 3
"""So many tries in a row without a usable answer, whatever was wrong with each, and nothing more is asked."""
TRIES: Final = 2
"""A broken connection, a busy server, an error of its own and a refused form have one more try. An answer that cannot
be read has none: at temperature 0 the next one is hardly another."""
LONGEST_EXAMPLE: Final = 80
"""Characters of an answer that are shown where it could not be read."""


def new_nonce() -> str:
    """A nonce for the sentinels of one call."""
    return secrets.token_hex(NONCE_BYTES)


def display_name(model: Model) -> str:
    """The model as a person names it. llama.cpp names one by its file's path."""
    is_file = model.name.lower().endswith(".gguf")
    return re.split(r"[/\\]", model.name)[-1][: -len(".gguf")] if is_file else model.name


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingBudget:
    """How much a model may be asked in one run."""

    owner: str
    """What has this budget: `a dream`."""
    time_s: float = math.inf
    """From the first question on; the last one is given up when the time is over."""
    questions: int | None = None
    """Tries again included; None: any number."""


@dataclass(kw_only=True)
class Asking:
    """The questions of one run to one model."""

    server: ModelServer
    name: str
    """The model, as a person names it."""
    budget: AskingBudget
    clock: Callable[[], float] = time.monotonic
    """Seconds."""
    over: str = ""
    """Why nothing more is asked, as one clause; `""` while it may be."""
    asked: int = 0
    """Questions so far."""
    _trouble: str = ""
    _began_s: float | None = None
    _row: list[str] = field(default_factory=list)
    """The faults since the last usable answer."""
    _answers: int = 0
    _unreadable: int = 0
    _fault: str = ""
    """What was wrong with the last answer that could not be read, and how it began."""

    def ask(
        self,
        question: Callable[[], bytes | Cleared | R],
        parse: Callable[[str], V | Unreadable],
        hear: Callable[[Completion | AskFailed], None] = lambda _answer: None,
    ) -> V | R | Unreadable | AskFailed:
        """What `parse` reads from the model's answer; whatever else than a body `question` gives; `AskFailed` where
        there is no answer, or none is asked for any more.

        `question` is called for each try, so that each has its own nonce. `hear` is told every answer.
        """
        failed: AskFailed | None = None
        for _ in range(TRIES):
            if self._is_over():
                break
            body = question()
            if not isinstance(body, bytes | Cleared):
                return body
            self.asked += 1
            answer = self.server.ask(body, self._left_s())
            hear(answer)
            if not isinstance(answer, AskFailed):
                read = parse(answer.text)
                self._count(read, answer.text)
                return read
            failed = answer
            self._count_failed(answer)
            if not answer.retry:
                break
        return failed or AskFailed(f"not asked, because {self.over}")

    def end(self, why: str) -> None:
        """Ask nothing more: `why`, as one clause."""
        self.over, self._trouble = why, f"“{self.name}” is not asked any more: {why}"

    @property
    def trouble(self) -> str:
        """What a person should know of the asking, as one sentence without its full stop; `""`: every question had an
        answer that could be read."""
        some = f"{self._unreadable} of {self._answers} answers of “{self.name}” could not be read ({self._fault})"
        return self._trouble or (some if self._unreadable else "")

    def _is_over(self) -> bool:
        budget = self.budget
        if not self.over and budget.questions is not None and self.asked >= budget.questions:
            self.over = f"the questions that {budget.owner} may ask ({budget.questions}) are used up"
        elif not self.over and self._left_s() <= 0:
            self.over = f"the time that {budget.owner} may ask a model for ({budget.time_s:g} s) is used up"
        else:
            return bool(self.over)
        some = f", and {self.trouble}" if self._unreadable else ""
        none = "; it had given no answer by then" if self.asked and not self._answers else ""
        reasons = "; ".join(dict.fromkeys(filter(None, self._row)))
        why = f"{none or '; its last questions had no answer'}: {reasons}" if reasons else none
        self._trouble = f"“{self.name}” is not asked any more, because {self.over}{some}{why}"
        return True

    def _left_s(self) -> float:
        if self._began_s is None:
            self._began_s = self.clock()
        return self._began_s + self.budget.time_s - self.clock()

    def _count(self, read: object, text: str) -> None:
        self._answers += 1
        if not isinstance(read, Unreadable):
            self._row = []
            return
        self._unreadable += 1
        self._fault = f"{read.reason}{_example(text)}"
        self._take_fault("")

    def _count_failed(self, failed: AskFailed) -> None:
        if failed.is_gone:
            self.over, self._trouble = failed.reason, f"“{self.name}” did not answer: {failed.reason}"
        elif self._left_s() > 0:
            self._take_fault(failed.reason)
        else:
            self._is_over()  # cut short by us, which says nothing of the model

    def _take_fault(self, fault: str) -> None:
        """`fault`: why there was no answer; `""` where there was one that could not be read."""
        self._row.append(fault)
        if len(self._row) < FAILURES_BORNE:
            return
        reasons = "; ".join(dict.fromkeys(filter(None, self._row)))
        self.over = fault or "its answers cannot be read"
        if reasons:
            unread = "" if all(self._row) else f"; and what it answered cannot be read ({self._fault})"
            self._trouble = f"“{self.name}” gave no answer {len(self._row)} times in a row: {reasons}{unread}"
        else:
            self._trouble = f"“{self.name}” gave {len(self._row)} answers in a row that cannot be read ({self._fault})"


def _example(text: str) -> str:
    """How the answer began, as plain text; `""` where there is nothing to show."""
    shown = plain_reason(text)
    cut = f"{shown[: LONGEST_EXAMPLE - 1].rstrip()}…" if len(shown) > LONGEST_EXAMPLE else shown
    return f", such as “{cut}”" if cut else ""
