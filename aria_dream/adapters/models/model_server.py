"""What every server of a language model offers here, whichever wire it speaks, and how its answers are gathered."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from aria_dream.adapters.models.model_http import Answered, Patience, Unanswered
from aria_dream.judging.triage_prompt import WINDOW, Unreadable
from aria_dream.judging.verdict import LONGEST_ANSWER, parse_object

if TYPE_CHECKING:
    from aria_dream.adapters.gate.egress import Cleared, Endpoint
    from aria_dream.judging.prompt_text import Messages

MOST_BLANKS = 200
"""White space in a row after which an answer is over: models under a grammar print it for ever."""
SEED = 4711
TEMPERATURE = 0


@dataclass(frozen=True, slots=True)
class Model:
    """A model that is there."""

    name: str
    digest: str
    """Changes with its weights; `""` where the server does not tell, and then no verdict of it is kept."""
    family: str = field(default="", compare=False)
    """As Ollama names its build: `qwen3`, `gptoss`; `""` where nobody tells."""


@dataclass(frozen=True, slots=True)
class NoModel:
    """Why there is none."""

    reason: str
    """One sentence for the writer, without its full stop, that says what to do where something can be done."""
    is_running: bool
    """Whether the server itself answers."""


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer that the model ended itself."""

    text: str
    tokens: int | None = field(default=None, compare=False)
    """Of question and answer, as the server counts them; None where it does not tell both."""


@dataclass(frozen=True, slots=True)
class AskFailed:
    """No answer that may be read."""

    reason: str
    """One clause in our words."""
    retry: bool = False
    """Whether the same question may be asked once more, now."""
    is_gone: bool = False
    """Whether the server, not this question, is the cause."""


class ModelServer(Protocol):
    """One server. `OllamaServer` and `OpenAIServer` are the two."""

    @property
    def endpoint(self) -> Endpoint: ...

    def find_model(self, name: str) -> Model | NoModel:
        """The model that answers to `name`, without loading it."""
        ...

    def body(self, model: Model, messages: Messages, schema: dict[str, object]) -> bytes:
        """The request's body: the messages, constrained by `schema`, at temperature 0. Pure."""
        ...

    def ask(self, body: bytes | Cleared, within_s: float = math.inf) -> Completion | AskFailed:
        """The model's answer to a body of `body`; given up after `within_s`."""
        ...


def asking_patience(connect_s: float) -> Patience:
    """For a verdict: a model may have to be read from a slow disk, but then it writes or it is ended."""
    return Patience(connect_s=connect_s, load_s=180.0, read_s=30.0, total_s=240.0)


def looking_patience(timeout_s: float) -> Patience:
    """For a look at what models there are."""
    return Patience(connect_s=timeout_s, load_s=timeout_s, read_s=timeout_s, total_s=timeout_s)


def failure(unanswered: Unanswered) -> AskFailed:
    """What a broken exchange means for the question. Nothing that took long or did not end is asked again."""
    kind = unanswered.kind
    gone = kind in ("unreachable", "moved")
    return AskFailed(unanswered.reason, retry=kind == "broken", is_gone=gone)


class Lines:
    """Pieces of a body as whole lines; memory is bounded by the longest line."""

    def __init__(self) -> None:
        self._rest = b""

    def take(self, piece: bytes) -> list[bytes]:
        """The lines that `piece` ends."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if len(self._rest) > 16 * LONGEST_ANSWER:
            self._rest = b""  # no server writes such a line; what follows will be no JSON either
        return [line.strip() for line in lines]

    def rest(self) -> bytes:
        """What stood behind the last line end."""
        return self._rest.strip()


class GrowingAnswer:
    """An answer as it grows, and whether it has come far enough."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self._blanks = 0
        self._lines = Lines()
        self.failed: AskFailed | None = None
        self.ending: str = ""
        """Why the model stopped, as its server says; `""` while it has not."""
        self.thought = False
        """Whether it thought beside its answer, where nobody reads it."""
        self.has_begun = False
        """Whether the model has said or thought anything."""
        self.prompt_tokens: int | None = None
        self.answer_tokens: int | None = None

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def lines(self, piece: bytes) -> list[bytes]:
        """The lines that `piece` ends."""
        return self._lines.take(piece)

    def rest(self) -> bytes:
        """The last line, where no line end followed it."""
        return self._lines.rest()

    def fail(self, reason: str, *, retry: bool = False, is_gone: bool = False) -> bool:
        """Give up; True, for `take`."""
        self.failed = AskFailed(reason, retry=retry, is_gone=is_gone)
        return True

    def add(self, text: str) -> bool:
        """Whether the answer has come to an end that the model does not see: blanks, or no end at all."""
        if not text:
            return False
        self.has_begun = True
        self._parts.append(text)
        self._size += len(text)
        bare = text.rstrip()
        self._blanks = len(text) - len(bare) if bare else self._blanks + len(text)
        return self._blanks > MOST_BLANKS or self._size > LONGEST_ANSWER

    def think(self) -> None:
        """The model thinks beside its answer."""
        self.thought = self.has_begun = True

    @property
    def _tokens(self) -> int | None:
        if self.prompt_tokens is None or self.answer_tokens is None:
            return None
        return self.prompt_tokens + self.answer_tokens

    def result(self) -> Completion | AskFailed:
        """The answer, once the exchange is over."""
        if self.failed is not None:
            return self.failed
        text = self.text
        if self.prompt_tokens is not None and self.prompt_tokens >= WINDOW - 1:
            return AskFailed("the model was shown only part of the notes")
        if self.ending and self.ending != "length" and self.thought and not text.strip():
            return AskFailed("the model thought and gave no answer; choose one that thinks less")
        if self.ending in ("stop", "load", "eos"):
            return Completion(text, self._tokens)
        # Cut at the cap, endless blanks, an end of another name: only an object that is whole may count.
        if (self.ending or self._blanks > MOST_BLANKS) and not isinstance(parse_object(text), Unreadable):
            return Completion(text, self._tokens)
        if self._blanks > MOST_BLANKS:
            return AskFailed("the model printed white space without an end")
        if self.ending == "length" and self.thought and not text.strip():
            return AskFailed("the model thought so long that no answer was left; choose one that thinks less")
        if self.ending == "length" or self._size > LONGEST_ANSWER:
            return AskFailed("the model's answer does not end")
        return AskFailed("the model's answer broke off", retry=True)


def no_list(
    server: Literal["Ollama", "the model's server"], endpoint: Endpoint, answer: Answered | Unanswered, wait_s: float
) -> NoModel:
    """Why `server` gave no list of its models, where it gave none in the form that it documents.

    `wait_s`: how long it was given.
    """
    if isinstance(answer, Unanswered):
        why = {
            "unreachable": f"{server} does not answer at {endpoint}",
            "slow": f"{server} does not answer at {endpoint} within {wait_s:g} s (`ollama_timeout_s`)",
            "broken": f"the connection to {server} at {endpoint} broke off",
        }.get(answer.kind, f"{server} at {endpoint} is not asked: {answer.reason}")
        return NoModel(why, is_running=answer.kind != "unreachable")
    match answer.status:
        case 401 | 403:
            why = f"{server} at {endpoint} wants a login, which we have not"
        case 429 | 503:
            why = f"{server} at {endpoint} is busy or still loading its model"
        case 200:
            why = f"what answers at {endpoint} is no server of models: its answer is not the list that was asked for"
        case status:
            why = f"what answers at {endpoint} has no list of models (error {status})"
    return NoModel(why, is_running=True)


def json_object(data: bytes) -> dict[str, object] | None:
    """The object that `data` is; None where it is none."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def refusal_of(status: int, body: bytes, server: Literal["Ollama", "the model's server"]) -> AskFailed:
    """What an error status means. The server's own words are looked at for what they say of the window, no more."""
    said = body.decode("utf-8", "replace").lower()
    if status in (429, 503):
        return AskFailed(f"{server} is busy", retry=True)
    if status in (400, 413, 422) and ("context" in said or "too long" in said or "exceed" in said):
        return AskFailed("the two notes are too long for the model's window")
    if status in (401, 403):
        return AskFailed(f"{server} wants a login", is_gone=True)
    if status == 404:
        return AskFailed(f"{server} no longer has this model", is_gone=True)
    if status >= 500 and ("memory" in said or "insufficient" in said):
        return AskFailed(f"{server} has too little memory for this model; choose a smaller one", is_gone=True)
    if status == 400 and ("not support chat" in said or "not support generate" in said):
        return AskFailed("this model cannot answer questions; choose another `triage_model`", is_gone=True)
    return AskFailed(f"{server} answered with error {status}", retry=status >= 500)
