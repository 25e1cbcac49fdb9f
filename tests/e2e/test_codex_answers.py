"""The real Codex CLI, driven by a server on this machine: what comes back, what was sent, and what the ledger says."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.codex import codex_reacher, codex_wall
from aria_dream.adapters.codex.codex_reacher import Elsewhere
from aria_dream.adapters.disk.lock import VaultLock
from aria_dream.reach.reach import Answer, Unparsed, parse_answer
from tests.reaching import HOSTED, NESTED, PROMPT, Scene, at_server, wait_until
from tests.responses_server import ANSWER, Reply, ResponsesServer, message, refusal, script, search, stream

if TYPE_CHECKING:
    from pathlib import Path

SEARCHES = "text(await tools.web__run({search_query: [{q: 'compost'}]}))"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(folder=tmp_path).made()


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("ORPHAN\nNobody wrote of it.\nSources:\n- https://example.org/one", "orphan"),
        ("HOMES\nEdge: feeds\nBoth feed a culture.\nSources:\n- https://example.org/one", "homes"),
        (ANSWER, "neither"),
        ("ORPHAN\nNobody wrote of it.", "orphan"),
        ("I looked around, and both are lovely.", "unparsed"),
        ("", "unparsed"),
    ],
)
def test_an_answer_comes_back_and_is_spent(scene: Scene, said: str, verdict: str) -> None:
    with ResponsesServer([stream(search("compost"), message(said))]) as server:
        reached = scene.reach(at_server(server.url))
        assert (reached.verdict, reached.spent, reached.end.stopped) == (verdict, 1, "")
        assert reached.end.run.last_message == said
        assert (reached.end.run.web_turns, reached.end.run.requests) == (1, len(server.metered))
        assert PROMPT in server.metered[0].body
    answer = parse_answer(said)
    assert isinstance(answer, Unparsed) == (verdict == "unparsed")
    if verdict == "orphan":
        assert isinstance(answer, Answer)
        assert answer.is_unsourced_orphan == ("Sources" not in said)


def test_a_turn_without_any_message_is_unparsed(scene: Scene) -> None:
    with ResponsesServer([stream()]) as server:
        reached = scene.reach(at_server(server.url))
    assert (reached.verdict, reached.spent) == ("unparsed", 1)


@pytest.mark.parametrize(
    ("model", "cost", "replies"),
    [
        (HOSTED, 1, [stream(search("a"), search("b", 2), message(ANSWER))]),
        (NESTED, 1, [stream(message(ANSWER))]),
        (NESTED, 3, [stream(script(SEARCHES)), stream(message(ANSWER))]),
        (NESTED, 5, [stream(script(f"{SEARCHES}; {SEARCHES}")), stream(script("text(1)", 2)), stream(message(ANSWER))]),
    ],
)
def test_every_request_is_counted_for_both_kinds_of_search(
    scene: Scene, model: str, cost: int, replies: list[Reply]
) -> None:
    with ResponsesServer(replies) as server:
        scene = scene.with_settings(reach_model=model, requests_per_reach=cost)
        reached = scene.reach(at_server(server.url))
        sent = len(server.metered)
    assert reached.verdict == "neither"
    assert reached.end.run.requests == sent == cost
    assert reached.spent == cost


def test_model_and_effort_are_those_of_the_policy_and_the_web_is_live(scene: Scene) -> None:
    with ResponsesServer() as server:
        scene.with_settings(reach_model="some-model", reach_effort="high").reach(at_server(server.url))
        body = server.metered[0].body
    assert '"model":"some-model"' in body
    assert '"effort":"high"' in body
    assert '{"type":"web_search","external_web_access":true' in body


LIMIT = refusal(429, "usage_limit_reached", "The usage limit has been reached", plan_type="plus", resets_in_seconds=99)


@pytest.mark.parametrize(
    ("reply", "kind", "verdict"),
    [
        (refusal(401, "invalid_request_error", "Incorrect API key"), "login", "refused"),
        (refusal(403, "forbidden", "no"), "login", "refused"),
        (LIMIT, "usage limit", "refused"),
        (refusal(429, "rate_limit_exceeded", "Rate limit reached"), "rate limit", "refused"),
        (refusal(500, "server_error", "oops"), "capacity", "failed"),  # Codex says "high demand" of every 500
        (stream(search("a"), cut=True), "cut", "failed"),
        (stream(message("HOMES"), cut=True), "cut", "failed"),
    ],
)
def test_a_server_that_refuses_or_fails_is_asked_once_and_is_spent(
    scene: Scene, reply: Reply, kind: str, verdict: str
) -> None:
    with ResponsesServer([reply]) as server:
        reached = scene.reach(at_server(server.url))
        sent = len(server.metered)
    assert sent == 1
    assert (reached.verdict, reached.spent, reached.end.run.requests) == (verdict, 1, 1)
    assert reached.end.run.failure is not None
    assert reached.end.run.failure.kind == kind, reached.end.run.failure


def test_garbage_is_a_failure_and_spent(scene: Scene) -> None:
    for body in (b"<html>no</html>", b"data: {not json\n\ndata: [1]\n\n", b"\x00\xff" * 5000):
        with ResponsesServer([Reply(body=body, headers=(("Content-Type", "text/event-stream"),))]) as server:
            reached = scene.reach(at_server(server.url))
            assert len(server.metered) == 1
        assert (reached.verdict, reached.spent) == ("failed", 1)


def test_a_server_that_cannot_be_reached_costs_nothing(scene: Scene) -> None:
    with socket.socket() as taken:  # bound and not listening: a connection is refused
        taken.bind(("127.0.0.1", 0))
        reached = scene.reach(at_server(f"http://127.0.0.1:{taken.getsockname()[1]}"))
    assert (reached.verdict, reached.spent) == ("unsent", 0)
    assert reached.end.run.failure is not None
    assert reached.end.run.failure.kind == "unreachable"


def test_a_silent_server_is_left_at_the_wall_clock(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    with ResponsesServer([Reply(silent=True)]) as server:
        # The clock leaps once the request is there, so that a slow machine has the time it needs until then.
        monkeypatch.setattr(codex_reacher, "monotonic", lambda: 300.0 if server.metered else 0.0)
        reached = scene.reach(at_server(server.url))
        assert len(server.metered) == 1
    assert reached.end.stopped == "it took longer than 300 s"
    assert (reached.verdict, reached.spent) == ("aborted", 1)


def test_somebody_comes_back_in_the_middle_and_what_was_said_is_kept(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    take = codex_reacher._Heard.take

    def listen(heard: codex_reacher._Heard, line: str) -> None:
        take(heard, line)
        lines.append(line)

    def should_stop() -> str:
        return "you typed" if any("I begin to see" in line for line in lines) else ""

    monkeypatch.setattr(codex_reacher._Heard, "take", listen)
    half = stream(search("a"), message("HOMES\nI begin to see"), hold=True)
    with ResponsesServer([half]) as server:
        reached = scene.reach(at_server(server.url), should_stop=should_stop)
        assert len(server.metered) == 1
    assert reached.end.stopped == "you typed"
    assert reached.end.partial == "HOMES\nI begin to see"
    assert (reached.verdict, reached.spent) == ("aborted", 1)


def test_one_that_searches_without_end_is_ended(scene: Scene) -> None:
    replies = [stream(*(search(f"q{number}", number) for number in range(5)), hold=True)]
    with ResponsesServer(replies) as server:
        reached = scene.with_settings(max_web_turns=3).reach(at_server(server.url))
        assert len(server.metered) == 1
    assert reached.end.stopped == "it searched the web more than 3 times"
    assert (reached.verdict, reached.spent) == ("aborted", 1)


def test_whoever_is_back_before_anything_was_sent_pays_nothing(scene: Scene) -> None:
    with ResponsesServer() as server:
        elsewhere = at_server(server.url)
        reached = scene.reach(elsewhere, should_stop=lambda: "you typed")
        sent = len(server.metered)
    # It may have been quicker than the first look: then it counts. Never is a request sent and not counted.
    assert reached.spent >= sent
    assert reached.verdict in ("unsent", "aborted")


def test_a_part_of_the_wall_that_a_version_does_not_know_stops_it_before_anything_is_sent(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codex_wall, "_OFF", (*codex_wall._OFF, "a_feature_of_tomorrow"))
    with ResponsesServer() as server:
        reached = scene.reach(at_server(server.url))
        assert not server.seen
    assert (reached.verdict, reached.spent) == ("unsent", 0)
    assert reached.end.run.failure is not None
    assert "a_feature_of_tomorrow" in reached.end.run.failure.message


def test_a_long_prompt_arrives_whole_and_nothing_is_left_behind(scene: Scene) -> None:
    prompt = "--help\n" + "ä" * 300_000
    with ResponsesServer() as server:
        reached = scene.reach(at_server(server.url), prompt=prompt)
        assert "ä" * 300_000 in server.metered[0].body
    assert reached.verdict == "neither"
    assert sorted(place.name for place in (scene.state / "codex").iterdir()) == ["installation_id"]
    wait_until(lambda: not list((scene.folder / "home").iterdir()), what="an empty home")


def test_two_reaches_of_one_account_take_turns(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codex_reacher, "LOCK_WAIT_S", 0.0)
    with ResponsesServer() as server:
        elsewhere = at_server(server.url)
        with VaultLock(scene.state / codex_wall.LOCK, "another").held():
            reached = scene.reach(elsewhere)
            assert not server.seen
        assert scene.reach(elsewhere).verdict == "neither"
    assert (reached.verdict, reached.spent) == ("unsent", 0)
    assert reached.end.run.failure is not None
    assert "another reach is under way" in reached.end.run.failure.message


STUB = """\
#!/bin/sh
cat > /dev/null
printf '%s' '{events}'
exit {code}
"""
SAID = '{"type":"turn.started"}\n{"type":"item.completed","item":{"type":"agent_message","text":"NEITHER"}}\n'
DONE = '{"type":"turn.completed","usage":{}}'


@pytest.mark.parametrize(
    ("events", "code", "verdict"),
    [
        (f"{SAID}{DONE}", 0, "neither"),  # and no line end after the last line
        (f"noise\n{SAID}more noise\n{DONE}\n", 0, "neither"),
        (f"{SAID}{DONE}\n", 3, "failed"),
        (SAID, 0, "failed"),
        (SAID[:-20], 0, "failed"),
        ("", 0, "unsent"),
        ("", 1, "unsent"),
        ("error: unexpected argument\n", 2, "unsent"),
    ],
)
def test_a_program_that_says_half_of_it(scene: Scene, events: str, code: int, verdict: str) -> None:
    program = scene.folder / "codex"
    program.write_text(STUB.replace("{events}", events).replace("{code}", str(code)), encoding="utf-8")
    program.chmod(0o755)
    reached = scene.reach(Elsewhere(provider={"name": "none"}, program=program))
    assert (reached.verdict, reached.spent) == (verdict, 0 if verdict == "unsent" else 1)
