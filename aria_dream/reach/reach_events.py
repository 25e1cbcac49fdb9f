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

_TOLD = re.compile(r'\bcodex_otel\.trace_safe: event\.name="codex\.(?P<name>[a-z_.]+)"')
_SERVERS = re.compile(r"\bmcp_server_count=[1-9]")

FailureKind = Literal["unreachable", "login", "usage limit", "rate limit", "capacity", "cut", "not started", "failed"]

LONGEST_MESSAGE = 65_536
"""Characters of the answer that are kept; the contract asks for some hundred."""
_LONGEST_FAILURE = 500
_UNSENT = re.compile(
    r"\s*(?:reconnecting\W+\d+/\d+ \()?"
    r"(?:connection failed:|missing environment variable\b|[\w ]{0,60}\b(?:workspace routing|routing discovery)\b"
    r"|your (?:access|refresh) token|[\w ]{0,40}\btoken could not be refreshed|not logged in)", re.IGNORECASE
)
"""What goes wrong before the first request: no connection, no login, a question about the workspace, a renewal."""
_NOTICE = re.compile(r"^\s*reconnecting", re.IGNORECASE)
_KINDS: tuple[tuple[FailureKind, re.Pattern[str]], ...] = (
    ("usage limit", re.compile(r"hit your usage limit|usage[_ ]limit|quota exceeded", re.IGNORECASE)),
    ("login", re.compile(
        r"\bstatus(?:_code)?\"?:? *40[13]\b|unauthorized|to use codex with your chatgpt plan|token (?:has )?expired"
        r"|(?:log|sign) ?in again|not logged in|invalid_api_key|missing environment variable", re.IGNORECASE)),
    ("capacity", re.compile(r"at capacity|high demand|overloaded|try a different model", re.IGNORECASE)),
    ("rate limit", re.compile(r"\b429\b|rate[_ ]limit|too many requests", re.IGNORECASE)),
    ("unreachable", re.compile(r"connection failed:|routing discovery (?:failed|timed out)", re.IGNORECASE)),
    ("cut", re.compile(r"stream (?:disconnected|closed)|idle timeout|reconnecting", re.IGNORECASE)),
)  # fmt: skip
_MOST_KINDS = 64
"""Kinds of items that are told apart; a stream that names more is broken, and must not fill the memory."""
_NESTED_ID = "exec-"
"""Begins the second `id` of a search that a script of the model's ran from here: a request, and one more for the turn
that goes on with what it found. `ws…` is one that ran at the server."""
_ACTS = ("command_execution", "file_change")
"""Not `mcp_tool_call`: a model may ask which tool servers there are, and is told that there are none."""
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
        self._nested: Counter[bool] = Counter()
        self._message = ""
        self._heard = False
        self._only_unreached = True
        self._completed = self._failed = self._torn = False
        self._answer = ""

    @property
    def web_turns(self) -> int:
        """Finished web turns so far."""
        return self._done["web_search"]

    @property
    def has_items(self) -> bool:
        """Whether the model said or did anything, so that a request was sent."""
        return bool(self._begun or self._done or self._torn)

    @property
    def acted(self) -> str:
        """The kind of item by which it did more than read and talk; `""` where there was none."""
        return next((kind for kind in _ACTS if kind in self._begun or kind in self._done), "")

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
                self._hear(_message(event.get("error")))
            case "error":
                message = _message(event)
                self._notices += bool(_NOTICE.match(message))
                self._hear(message)
            case _:
                pass

    def _hear(self, message: str) -> None:
        self._message = message[:_LONGEST_FAILURE]
        self._heard = True
        self._only_unreached = self._only_unreached and bool(_UNSENT.match(message))

    def _take_item(self, item: object, *, begun: bool, done: bool) -> None:
        if not isinstance(item, dict):
            return
        kind = item.get("type")
        kind = kind if isinstance(kind, str) else ""
        if kind == "error":
            return
        if len(self._begun | self._done) >= _MOST_KINDS:
            kind = ""
        self._begun[kind] += begun
        self._done[kind] += done
        if kind == "web_search" and str(item.get("id", "")).startswith(_NESTED_ID):
            self._nested[done] += 1
        text = item.get("text")
        if done and kind == "agent_message" and isinstance(text, str):
            self._answer = text[:LONGEST_MESSAGE]

    def run(self, *, ended: bool = False) -> ReachRun:
        """What the lines so far amount to. `ended`: the process was killed, so that what it did last is not known."""
        sent = self._sent(ended=ended)
        tools = self._begun | self._done
        rounds = sum(count for kind, count in tools.items() if kind not in _NO_TOOLS)
        if self._searches_are_requests:
            rounds += tools["web_search"] + max(self._nested.values(), default=0)
        return ReachRun(
            sent=sent,
            web_turns=self.web_turns,
            requests=max(1, self._turns) + rounds + self._notices if sent else 0,
            last_message=self._answer,
            failure=None if self._completed and not self._failed and not ended else self._failure(ended=ended),
        )

    def _sent(self, *, ended: bool) -> bool:
        if self.has_items:
            return True
        if not self._turns:
            return False
        return not (self._heard and self._only_unreached and self._failed and not ended)

    def _failure(self, *, ended: bool) -> Failure:
        message = self._message
        if message and self._failed:
            for kind, pattern in _KINDS:
                if pattern.search(message):
                    return Failure(kind, message)
            return Failure("failed", message)
        if not (self._turns or self._begun or self._done or self._torn):
            return Failure("not started", message)
        return Failure("cut" if ended or not self._failed else "failed", message)


class RequestCount:
    """How many metered requests were made, by what Codex logs on stderr with `RUST_LOG=off,codex_otel.trace_safe=info`.

    What passes the relay is counted there; this is for a program that would pass it by. Exact for Codex CLI 0.171.0,
    against a server that counted. The events say too little or too much: a script of the model's may search often or
    never, and a hosted search is no request of its own.
    """

    def __init__(self) -> None:
        self._answered = self._searches = 0
        self._waits = False
        self.is_told = False
        """Whether it told anything at all: another version may word it in another way."""
        self.has_servers = False
        """Whether it said that it has tool servers (MCP) running."""

    def take(self, line: str) -> None:
        """One line of stderr."""
        found = _TOLD.search(line)
        self.is_told = self.is_told or found is not None
        match found["name"] if found else "":
            case "api_request" if 'endpoint="/responses"' in line:
                self._answered += 1
                self._waits = False
            case "code_mode.nested_tool_dispatched" if 'tool_namespace="web"' in line:
                self._searches += 1
            case "conversation_starts" if _SERVERS.search(line):
                self.has_servers = True
            case "user_prompt":
                self._waits = True
            case "tool_result_ready" if 'tool_source="direct"' in line:
                self._waits = True  # what the tool said goes out with the next request
            case _:
                pass

    @property
    def heard(self) -> bool:
        """Whether it told of a request."""
        return self._answered > 0

    @property
    def requests(self) -> int:
        """Those that were answered, the searches, and the one that may be on its way."""
        return self._answered + self._searches + self._waits


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
