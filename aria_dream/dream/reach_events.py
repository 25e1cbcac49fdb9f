"""What Codex CLI says while it works (`codex exec --json`), read as a stream: was a request sent, and what came of it?

Facts of Codex CLI 0.171.0: `turn.started` comes before the request is posted; an item of type `error` is a warning;
`error` is a notice that it tries again, `turn.failed` the end. In doubt a request was sent.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

FailureKind = Literal["unreachable", "login", "usage limit", "rate limit", "capacity", "cut", "not started", "failed"]

LONGEST_MESSAGE = 65_536
"""Characters of the answer that are kept; the contract asks for some hundred."""
_LONGEST_FAILURE = 500
_UNSENT = re.compile(
    r"\s*(?:reconnecting\W+\d+/\d+ \()?(?:connection failed:|missing environment variable\b)", re.IGNORECASE
)
_NOTICE = re.compile(r"^\s*reconnecting", re.IGNORECASE)
_KINDS: tuple[tuple[FailureKind, re.Pattern[str]], ...] = (
    ("usage limit", re.compile(r"hit your usage limit|usage[_ ]limit|quota exceeded", re.IGNORECASE)),
    ("login", re.compile(
        r"\bstatus(?:_code)?\"?:? *40[13]\b|unauthorized|to use codex with your chatgpt plan|token (?:has )?expired"
        r"|log ?in again|not logged in|invalid_api_key|missing environment variable", re.IGNORECASE)),
    ("capacity", re.compile(r"at capacity|high demand|overloaded|try a different model", re.IGNORECASE)),
    ("rate limit", re.compile(r"\b429\b|rate[_ ]limit|too many requests", re.IGNORECASE)),
    ("unreachable", re.compile(r"connection failed:", re.IGNORECASE)),
    ("cut", re.compile(r"stream (?:disconnected|closed)|idle timeout|reconnecting", re.IGNORECASE)),
)  # fmt: skip
_NO_TOOLS = frozenset({"agent_message", "reasoning", "error", "web_search", "todo_list", "plan_update", ""})
"""Items that are no round trip through a tool of ours; web searches are counted by themselves."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer."""

    kind: FailureKind
    message: str
    """As Codex words it, bounded; for the writer and for `reach_pause`. `""` where it said nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachRun:
    """What the events tell of one run. It can be looked at while the run goes on."""

    sent: bool
    """Whether a request left, or may have left: then the reach is spent."""
    web_turns: int
    """Finished searches, page openings and searches inside a page."""
    requests: int
    """Requests that were sent, 0 where nothing was: one a turn, a retry and a round trip through a tool.

    Retries of `request_max_retries` are not in the events (measured: 9 requests at a server that answers 500, 3 told),
    so that key has to be 0."""
    last_message: str
    """The answer, if there was one: the text of the last message of the model."""
    failure: Failure | None
    """None where the turn was completed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachEnd:
    """How a run of the program that reaches out ended."""

    run: ReachRun
    stopped: str = ""
    """Why aria-dream ended it, as one clause; `""` where it ended by itself."""
    partial: str = ""
    """What it had said when it was ended; `""` where it ended by itself or had said nothing."""
    seconds: float = 0.0


class EventReader:
    """Takes the lines as they come; `run()` says at any time what they amount to so far."""

    def __init__(self, *, searches_are_requests: bool = True) -> None:
        """`searches_are_requests`: False for a model whose searches run at the server, inside its one request."""
        self._searches_are_requests = searches_are_requests
        self._turns = self._notices = 0
        self._begun: Counter[str] = Counter()
        self._done: Counter[str] = Counter()
        self._messages: list[str] = []
        self._completed = self._failed = self._torn = False
        self._answer = ""

    @property
    def web_turns(self) -> int:
        """Finished web turns so far."""
        return self._done["web_search"]

    def take(self, line: str) -> None:
        """One line of the stream. Lines that are no event are passed over; one that was cut off counts as sent."""
        text = line.strip()
        if not text.startswith("{"):
            return
        try:
            event = json.loads(text)
        except (ValueError, RecursionError):
            self._torn = True
            return
        match event.get("type") if isinstance(event, dict) else None:
            case "turn.started":
                self._turns += 1
                self._completed = self._failed = False
            case "item.started" | "item.updated" | "item.completed" as kind:
                self._take_item(event.get("item"), begun=kind == "item.started", done=kind == "item.completed")
            case "turn.completed":
                self._completed = True
            case "turn.failed":
                self._failed = True
                self._messages.append(_message(event.get("error")))
            case "error":
                message = _message(event)
                self._notices += bool(_NOTICE.match(message))
                self._messages.append(message)
            case _:
                pass

    def _take_item(self, item: object, *, begun: bool, done: bool) -> None:
        if not isinstance(item, dict):
            return
        kind = item.get("type")
        kind = kind if isinstance(kind, str) else ""
        if kind == "error":
            return
        self._begun[kind] += begun
        self._done[kind] += done
        text = item.get("text")
        if done and kind == "agent_message" and isinstance(text, str):
            self._answer = text[:LONGEST_MESSAGE]

    def run(self, *, ended: bool = False) -> ReachRun:
        """What the lines so far amount to. `ended`: the process was killed, so that what it did last is not known."""
        sent = self._sent(ended=ended)
        tools = self._begun | self._done
        rounds = sum(count for kind, count in tools.items() if kind not in _NO_TOOLS)
        if self._searches_are_requests:
            rounds += tools["web_search"]
        return ReachRun(
            sent=sent,
            web_turns=self.web_turns,
            requests=max(1, self._turns) + rounds + self._notices if sent else 0,
            last_message=self._answer,
            failure=None if self._completed and not self._failed and not ended else self._failure(ended=ended),
        )

    def _sent(self, *, ended: bool) -> bool:
        if self._begun or self._done or self._torn:
            return True
        if not self._turns:
            return False
        only_unreached = bool(self._messages) and all(map(_UNSENT.match, self._messages))
        return not (only_unreached and self._failed and not ended)

    def _failure(self, *, ended: bool) -> Failure:
        message = self._messages[-1][:_LONGEST_FAILURE] if self._messages else ""
        if message and self._failed:
            for kind, pattern in _KINDS:
                if pattern.search(message):
                    return Failure(kind, message)
            return Failure("failed", message)
        if not (self._turns or self._begun or self._done or self._torn):
            return Failure("not started", message)
        return Failure("cut" if ended or not self._failed else "failed", message)


def read_events(lines: Iterable[str], *, searches_are_requests: bool = True, ended: bool = False) -> ReachRun:
    """The whole stream of one run; `ended` where its process was killed. Total: no line raises."""
    reader = EventReader(searches_are_requests=searches_are_requests)
    for line in lines:
        reader.take(line)
    return reader.run(ended=ended)


def _message(holder: object) -> str:
    if not isinstance(holder, dict):
        return holder if isinstance(holder, str) else ""
    message = holder.get("message", "")
    return message if isinstance(message, str) else ""
