"""Who reviews a proposal independently, and the one of them that is a server's model. None knows a dream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from aria_dream.adapters.gate.egress import Turned
from aria_dream.adapters.models.asking import new_nonce
from aria_dream.adapters.models.model_server import AskFailed
from aria_dream.judging.prompt_text import Datamark
from aria_dream.judging.triage_prompt import too_long
from aria_dream.privacy.sharing import ShareableExcerpt
from aria_dream.reach.janus import JANUS_SCHEMA, JanusVerdict, excerpts_of, janus_prompt, parse_janus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aria_dream.adapters.gate.egress import Cleared, Gate
    from aria_dream.adapters.models.asking import Asking
    from aria_dream.adapters.models.model_server import Model
    from aria_dream.judging.prompt_text import Messages, Prompt
    from aria_dream.judging.triage_prompt import Unreadable
    from aria_dream.reach.janus import Case

TOO_LONG = "prompt and notes are too long for the model's window"


@dataclass(frozen=True, slots=True)
class NotAsked:
    """Nobody looked at the proposal."""

    reason: str
    """One clause."""
    ends: bool = False
    """Nobody will look at others now either: the server is gone, the budget spent, the gate shut."""


class IndependentReviewer(Protocol):
    """Janus, whoever it is. `LocalReader` and `janus_codex.CodexReader` are the two."""

    @property
    def name(self) -> str:
        """As the journal names it."""
        ...

    @property
    def leaves(self) -> bool:
        """Whether a case leaves this machine, and so must be made of `ShareableExcerpt`s."""
        ...

    def text_of(self, case: Case) -> str:
        """The exact text that `read` would send. Sends, logs and spends nothing."""
        ...

    def read(self, case: Case) -> JanusVerdict | Unreadable | NotAsked:
        """The verdict on a case, or why there is none."""
        ...


def shareable(case: Case) -> Sequence[ShareableExcerpt]:
    """The case's parts, all of which may leave.

    Raises:
        TypeError: one of them may not.
    """
    parts = [part for part in excerpts_of(case) if isinstance(part, ShareableExcerpt)]
    if len(parts) != len(excerpts_of(case)):
        raise TypeError("only a ShareableExcerpt may leave this machine")
    return parts


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalReader:
    """The model of Ollama or of an OpenAI-compatible server, on this machine or where the gate lets text go."""

    asking: Asking
    model: Model
    prompt: Prompt
    gate: Gate
    nonce: Callable[[], str] = new_nonce

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def leaves(self) -> bool:
        """Whether the server is another machine."""
        return not self.asking.server.endpoint.is_loopback

    def text_of(self, case: Case) -> str:
        """Both messages, one under the other."""
        return one_text(self._messages(case))

    def read(self, case: Case) -> JanusVerdict | Unreadable | NotAsked:
        """The verdict; `NotAsked` with `ends` once the model is not asked any more."""
        answer: JanusVerdict | Unreadable | NotAsked | AskFailed = self.asking.ask(
            lambda: self._question(case), parse_janus
        )
        return NotAsked(answer.reason, ends=bool(self.asking.over)) if isinstance(answer, AskFailed) else answer

    def _messages(self, case: Case) -> Messages:
        return janus_prompt(self.prompt, Datamark(self.nonce()), case)

    def _question(self, case: Case) -> bytes | Cleared | NotAsked:
        messages, server = self._messages(case), self.asking.server
        if too_long(messages):
            return NotAsked(TOO_LONG)
        body = server.body(self.model, messages, JANUS_SCHEMA)
        if not self.leaves:
            return body
        cleared = self.gate.clear(server.endpoint, shareable(case), lambda: body)
        return NotAsked(cleared.reason, ends=True) if isinstance(cleared, Turned) else cleared


def one_text(messages: Messages) -> str:
    """Both messages as one text, as a program with a single input takes them."""
    return "\n\n".join(part for part in (messages.system, messages.user) if part) + "\n"
