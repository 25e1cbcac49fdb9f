"""Codex' event stream: was it sent, what did it cost, what was said, what went wrong."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.reach.reach_events import EventReader, Failure, ReachRun, RequestCount, read_events

THREAD = '{"type":"thread.started","thread_id":"t"}'
STARTED = '{"type":"turn.started"}'
DONE = '{"type":"turn.completed","usage":{"input_tokens":9,"cached_input_tokens":0,"output_tokens":3}}'


def item(kind: str, event: str = "item.completed", **fields: object) -> str:
    return json.dumps({"type": event, "item": {"id": "item_1", "type": kind, **fields}})


def failed(message: str) -> str:
    return json.dumps({"type": "turn.failed", "error": {"message": message}})


def error(message: str) -> str:
    return json.dumps({"type": "error", "message": message})


# The real key occurs twice in a web_search item.
SEARCH = '{"type":"item.completed","item":{"id":"item_1","type":"web_search","id":"ws_1","action":{"type":"search"}}}'


def test_a_whole_turn() -> None:
    run = read_events([
        THREAD, STARTED, item("reasoning", text="hm"), item("web_search", "item.started"), SEARCH,
        item("agent_message", text="I look."), SEARCH, item("agent_message", text="HOMES\nEdge: x"), DONE,
    ])  # fmt: skip
    assert run == ReachRun(sent=True, web_turns=2, requests=3, last_message="HOMES\nEdge: x", failure=None)


def test_searches_at_the_server_are_no_requests_of_their_own() -> None:
    lines = [STARTED, SEARCH, SEARCH, item("command_execution", "item.started"), item("command_execution"), DONE]
    assert read_events(lines, searches_are_requests=False).requests == 2
    assert read_events(lines).requests == 4


def test_an_empty_answer_is_an_answer() -> None:
    assert read_events([STARTED, DONE]) == ReachRun(
        sent=True, web_turns=0, requests=1, last_message="", failure=None
    )  # fmt: skip


@pytest.mark.parametrize("lines", [[], [THREAD], ["error: unexpected argument", ""], [THREAD, item("error")], ["{}"]])
def test_without_a_turn_nothing_was_sent(lines: list[str]) -> None:
    run = read_events(lines)
    assert (run.sent, run.requests) == (False, 0)
    assert run.failure == Failure("not started", "")


@pytest.mark.parametrize("message", ["Connection failed: no route", "Missing environment variable: `KEY`."])
def test_what_never_connected_was_not_sent(message: str) -> None:
    for lines in ([STARTED, failed(message)], [STARTED, error(message), failed(message)],
                  [STARTED, item("error", message="unknown key"), failed(message)]):  # fmt: skip
        run = read_events(lines)
        assert (run.sent, run.requests) == (False, 0)
        assert run.failure is not None
        assert run.failure.kind in ("unreachable", "login")


def test_retries_that_never_connected_were_not_sent() -> None:
    """As the real binary words them, retries on, at a port where nobody listens."""
    reason = "Connection failed: error sending request"
    notices = [error(f"Reconnecting... {number}/2 ({reason})") for number in (1, 2)]
    run = read_events([THREAD, STARTED, *notices, error(reason), failed(reason)])
    assert (run.sent, run.failure) == (False, Failure("unreachable", reason))
    other = error("Reconnecting... 1/2 (stream disconnected before completion)")
    assert read_events([THREAD, STARTED, other, error(reason), failed(reason)]).sent


@pytest.mark.parametrize(
    "lines",
    [
        [STARTED],
        [STARTED, error("Connection failed: x")],  # the end of it was not seen
        [STARTED, SEARCH, failed("Connection failed: x")],
        [STARTED, item("reasoning", "item.started"), failed("Connection failed: x")],
        [STARTED, error("Reconnecting... 1/5"), failed("Connection failed: x")],
        [STARTED, error("stream disconnected before completion"), failed("Connection failed: x")],
        [STARTED, failed("stream disconnected: Connection failed: x")],
        [STARTED, failed("")],
        [STARTED, '{"type":"turn.failed"}'],
        [THREAD, '{"type":"turn.star'],
        [SEARCH],
    ],
)
def test_in_doubt_it_was_sent(lines: list[str]) -> None:
    run = read_events(lines)
    assert run.sent
    assert run.requests >= 1
    assert run.failure is not None


def test_what_was_killed_after_it_began_was_sent() -> None:
    assert read_events([STARTED, failed("Connection failed: x")], ended=True).sent
    run = read_events([STARTED, SEARCH, item("agent_message", text="half")], ended=True)
    assert (run.sent, run.last_message, run.failure) == (True, "half", Failure("cut", ""))
    assert not read_events([THREAD], ended=True).sent


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("unexpected status 401 Unauthorized: {}", "login"),
        ("unexpected status 403 Forbidden", "login"),
        ("To use Codex with your ChatGPT plan, upgrade to Plus.", "login"),
        ("You’ve hit your usage limit. Try again at 7:14 PM.", "usage limit"),
        ("You've hit your usage limit.", "usage limit"),
        ("Quota exceeded. Check your plan and billing details.", "usage limit"),
        ("exceeded retry limit, last status: 429 Too Many Requests", "rate limit"),
        ("Selected model is at capacity. Please try a different model.", "capacity"),
        ("stream disconnected before completion: idle timeout", "cut"),
        ("unexpected status 500 Internal Server Error", "failed"),
        ("We’re currently experiencing high demand, which may cause temporary errors.", "capacity"),
        ("unexpected status 502 Bad Gateway: upstream said 403, url: http://127.0.0.1:401/v1/responses", "failed"),
        ("something new", "failed"),
    ],
)
def test_refused_and_broken_are_spent(message: str, kind: str) -> None:
    run = read_events([THREAD, STARTED, failed(message)])
    assert (run.sent, run.requests) == (True, 1)
    assert run.failure == Failure(kind, message)  # type: ignore[arg-type] # the parameters are the literals


def test_every_retry_is_a_request() -> None:
    retries = [error(f"Reconnecting... {number}/5") for number in range(1, 6)]
    assert read_events([STARTED, *retries, failed("unexpected status 500")]).requests == 6


def test_it_is_read_as_it_comes() -> None:
    reader = EventReader()
    seen = []
    for line in (STARTED, SEARCH, SEARCH):
        reader.take(line)
        seen.append((reader.web_turns, reader.run().sent))
    assert seen == [(0, True), (1, True), (2, True)]


events = st.sampled_from([THREAD, STARTED, DONE, SEARCH, failed("Connection failed: x"), failed("500"), "{", "[]",
                          '{"type":7,"item":[]}', '{"type":"item.completed","item":{"type":[],"text":3}}',
                          '{"type":"error","message":{}}', '{"type":"turn.failed","error":[]}', "[" * 5000])


@given(st.lists(events | st.text()), st.booleans())
def test_no_stream_raises_and_more_of_it_is_never_less(lines: list[str], ended: bool) -> None:
    before = 0
    reader = EventReader()
    for line in lines:
        reader.take(line)
        run = reader.run(ended=ended)
        assert (run.requests > 0) is run.sent
        assert run.web_turns <= run.requests or not run.web_turns
        before = max(before, run.web_turns)
        assert run.web_turns == before


def test_what_acts_is_told_and_what_asks_for_servers_is_not() -> None:
    reader = EventReader()
    for line in (STARTED, item("mcp_tool_call"), SEARCH, item("agent_message", text="x")):
        reader.take(line)
    assert reader.acted == ""
    reader.take(item("command_execution", "item.started"))
    assert reader.acted == "command_execution"


def test_a_search_that_ran_from_here_costs_itself_and_the_turn_that_follows() -> None:
    nested = SEARCH.replace("ws_1", "exec-1f0a")
    assert read_events([STARTED, nested.replace("completed", "started", 1), nested, DONE]).requests == 3
    assert read_events([STARTED, SEARCH, DONE]).requests == 2


def test_a_stream_without_end_fills_no_memory() -> None:
    reader = EventReader()
    reader.take(STARTED)
    for number in range(2000):
        reader.take(item(f"kind-{number}"))
        reader.take(error("x" * 10_000))
    assert len(reader._begun | reader._done) <= 65
    assert reader.run(ended=True).sent


def told(name: str, rest: str = "") -> str:
    return f'2026-11-30T13:09:46Z  INFO codex_otel.trace_safe: event.name="codex.{name}" {rest} app.version=0.171.0'


def test_requests_as_codex_logs_them() -> None:
    count = RequestCount()
    assert not count.heard
    lines = [
        told("conversation_starts", "mcp_server_count=0"), told("user_prompt"),
        told("api_request", 'http.response.status_code=200 endpoint="/responses"'),
        told("code_mode.nested_tool_dispatched", 'tool_name="run" tool_namespace="web"'),
        told("tool_result_ready", 'tool_source="code_mode"'), told("tool_result_ready", 'tool_source="direct"'),
    ]  # fmt: skip
    for line in lines:
        count.take(line)
    assert (count.heard, count.requests, count.has_servers) == (True, 3, False)  # one answered, a search, one under way
    count.take(told("api_request", 'endpoint="/responses"'))
    count.take(told("api_request", 'endpoint="/models"'))
    count.take("a line of anything else")
    assert count.requests == 3
    count.take(told("conversation_starts", "mcp_server_count=12"))
    assert count.has_servers


@given(st.text())
def test_no_line_of_the_log_raises(line: str) -> None:
    RequestCount().take(line)
