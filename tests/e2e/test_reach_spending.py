"""However the server answers, whatever the program does: no more requests are sent than were set aside."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from aria_dream.adapters.codex import codex_wall
from aria_dream.adapters.codex.codex_reacher import Elsewhere
from aria_dream.adapters.gate.ledger import read_ledger
from tests.e2e.test_codex_login import write_login
from tests.reaching import HOSTED, NESTED, Scene, at_server, codex_program, provider, wait_until
from tests.responses_server import (
    Reply,
    ResponsesServer,
    login,
    message,
    patch,
    refusal,
    script,
    search,
    stream,
    tool,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parents[2]
REFUSED_PATCH = "*** Begin Patch\n*** Add File: owned\n+x\n*** End Patch\n"
SEARCHES = "text(await tools.web__run({search_query: [{q: 'compost'}]}))"
MANY_SEARCHES = "await Promise.all([1,2,3,4,5,6].map((n) => tools.web__run({search_query: [{q: `${n}`}]}))); text('x')"
THOUGHT = {"type": "response.output_item.done",
           "item": {"type": "reasoning", "id": "rs1", "summary": [], "encrypted_content": "x"}}  # fmt: skip
INCOMPLETE = Reply((
    {"type": "response.created", "response": {"id": "r1"}},
    {"type": "response.incomplete", "response": {"id": "r1", "incomplete_details": {"reason": "max_output_tokens"}}},
))  # fmt: skip
TURNS = {
    "a refused patch": stream(patch(REFUSED_PATCH)),
    "an unknown function": stream(tool("no_such_tool", {"x": 1})),
    "a forbidden command": stream(tool("shell", {"command": ["true"]})),
    "a plan": stream(tool("update_plan", {"plan": [{"step": "go on", "status": "pending"}]})),
    "several calls": stream(tool("x", {}, 1), patch(REFUSED_PATCH, 2), search("a", 3)),
    "a script": stream(script("text(1)")),
    "a script that searches": stream(script(SEARCHES)),
    "a script that searches at once": stream(script(MANY_SEARCHES)),
    "a search at the server": stream(search("a"), THOUGHT),
    "a thought": stream(THOUGHT),
    "nothing": stream(),
    "incomplete": INCOMPLETE,
    "cut off": stream(tool("x", {}), cut=True),
    "a limit": refusal(429, "rate_limit_exceeded", "Rate limit reached"),
    "a failure": refusal(500, "server_error", "oops"),
    "unavailable": Reply(status=503, body=b"{}", headers=(("Retry-After", "0"),)),
    "no login": refusal(401, "invalid_request_error", "expired"),
    "forbidden": refusal(403, "forbidden", "no"),
    "elsewhere": Reply(status=307, body=b"{}", headers=(("Location", "/v1/responses"),)),
    "too long": refusal(400, "invalid_request_error", "context", code="context_length_exceeded"),
    "garbage": Reply(body=b"data: {no\n\n", headers=(("Content-Type", "text/event-stream"),)),
}
ENDLESS = "a refused patch"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(folder=tmp_path).made()


@hypothesis_settings(max_examples=8, deadline=None, derandomize=True, database=None,
                     suppress_health_check=[HealthCheck.too_slow])  # fmt: skip
@given(st.lists(st.sampled_from(sorted(TURNS)), min_size=1, max_size=4), st.integers(1, 4),
       st.sampled_from([HOSTED, NESTED]))  # fmt: skip
def test_the_real_program_never_sends_more_than_was_set_aside(turns: list[str], allowed: int, model: str) -> None:
    """Whatever the turns are, they go on without end: the last one is answered to every further request."""
    replies = [TURNS[turn] for turn in (*turns, ENDLESS)]
    with tempfile.TemporaryDirectory() as folder, ResponsesServer(replies) as server:
        scene = Scene(folder=Path(folder)).made().with_settings(requests_per_reach=allowed, reach_model=model)
        reached = scene.reach(at_server(server.url))
        sent = len(server.metered)
    assert sent <= allowed
    assert reached.end.run.requests == sent
    assert reached.spent == (allowed if sent else 0)


@pytest.mark.parametrize("turn", sorted(TURNS))
def test_one_request_is_one_request_whatever_comes_back(scene: Scene, turn: str) -> None:
    with ResponsesServer([TURNS[turn]]) as server:
        reached = scene.reach(at_server(server.url))
        assert len(server.metered) == 1
    assert (reached.end.run.sent, reached.end.run.requests, reached.spent) == (True, 1, 1)
    rows = [(row.verdict, row.requests) for row in read_ledger(scene.state)[0]]
    assert rows == [("initiated", 1), (reached.verdict, 1)]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_server_that_sends_elsewhere_does_not_lead_past_the_relay(scene: Scene, status: int) -> None:
    with ResponsesServer([TURNS[ENDLESS]]) as other, ResponsesServer() as server:
        to_itself, to_other = (
            Reply(status=status, body=b"{}", headers=(("Location", f"{at.url}/v1/responses"),))
            for at in (server, other)
        )
        server.replies = [to_itself, to_other, TURNS[ENDLESS]]
        reached = scene.with_settings(requests_per_reach=2).reach(at_server(server.url))
        assert not other.seen
        assert len(server.metered) == reached.end.run.requests <= 2
        assert {(seen.method, seen.path) for seen in server.seen} <= {
            ("POST", "/v1/responses"), ("GET", "/v1/models")}  # fmt: skip


def test_the_run_says_why_it_was_ended(scene: Scene) -> None:
    with ResponsesServer([TURNS[ENDLESS]]) as server:
        reached = scene.with_settings(requests_per_reach=3).reach(at_server(server.url))
        assert len(server.metered) == 3
    assert reached.end.stopped == (
        "it wanted more than the 3 requests that were set aside for it (`requests_per_reach`), and was ended there")
    assert (reached.verdict, reached.spent) == ("aborted", 3)


GREEDY = """\
import re, signal, sys, threading, time, urllib.request
signal.signal(signal.SIGTERM, signal.SIG_IGN)
base = re.search(r'base_url="([^"]+)"', " ".join(sys.argv))[1]
print('{"type":"turn.started"}', flush=True)
def ask(path, method):
    while True:
        try:
            with urllib.request.urlopen(urllib.request.Request(base + path, data=b"{}", method=method)) as found:
                found.read()
        except Exception:
            time.sleep(0.001)
asked = [("/responses", "POST"), ("/responses/compact", "POST"), ("/alpha/search", "POST"), ("/responses", "PUT"),
         ("/responses", "GET"), ("/../responses", "POST"), ("/models", "POST"), ("?x=/models", "GET")]
for one in asked * 3:
    threading.Thread(target=ask, args=one).start()
"""


@pytest.mark.parametrize("allowed", [1, 3])
def test_a_program_that_asks_from_all_sides_at_once_is_held_to_it(scene: Scene, allowed: int) -> None:
    program = scene.folder / "codex"
    program.write_text(f"#!{sys.executable}\n{GREEDY}", encoding="utf-8")
    program.chmod(0o755)
    with ResponsesServer([stream(message("HOMES"))]) as server:
        elsewhere = Elsewhere(provider=provider(server.url), program=program)
        reached = scene.with_settings(requests_per_reach=allowed).reach(elsewhere)
        wait_until(lambda: not running(scene.state), what="the end of the program")
        sent = [seen for seen in server.seen if seen.method != "GET"]
        assert len(sent) <= reached.end.run.requests <= allowed  # one may have been taken and not sent when it ended
        assert {seen.path for seen in server.seen if seen.method == "GET"} <= {"/v1/models"}
    assert reached.spent == allowed
    assert "set aside" in reached.end.stopped


PASSING_BY = """\
import sys, time
from pathlib import Path
sent = Path(sys.argv[0]).with_name("sent")
def told(name, more=""):
    print(f'INFO codex_otel.trace_safe: event.name="codex.{name}"{more}', file=sys.stderr, flush=True)
print('{"type":"turn.started"}', flush=True)
told("conversation_starts"); told("user_prompt")
for number in range(1, 1000):
    sent.write_text(str(number))
    told("api_request", ' endpoint="/responses"'); told("tool_result_ready", ' tool_source="direct"')
    time.sleep(0.2)
"""


def test_a_program_that_passes_the_relay_by_is_ended_at_the_first_request_beyond(scene: Scene) -> None:
    """Such a version is not known; what it tells on stderr is believed, and what it sent stands in the ledger."""
    program = scene.folder / "codex"
    program.write_text(f"#!{sys.executable}\n{PASSING_BY}", encoding="utf-8")
    program.chmod(0o755)
    reached = scene.reach(Elsewhere(provider={"name": "none"}, program=program))
    assert "set aside" in reached.end.stopped
    assert int((scene.folder / "sent").read_text()) <= 2
    assert (reached.verdict, reached.spent) == ("aborted", reached.end.run.requests)
    assert reached.spent == 2


def test_a_killed_parent_leaves_nobody_who_goes_on_sending(scene: Scene) -> None:
    code = f"""
import sys
sys.path.insert(0, {str(REPOSITORY)!r})
from pathlib import Path
from tests.reaching import Scene, provider
from aria_dream.adapters.codex.codex_reacher import Elsewhere
scene = Scene(folder=Path({str(scene.folder)!r})).with_settings(requests_per_reach=900)
scene.reach(Elsewhere(provider=provider("URL"), environ={{"TEST_KEY": "x"}}, program=Path({str(codex_program())!r})))
"""
    with ResponsesServer([TURNS[ENDLESS]]) as server:
        asking = subprocess.Popen([sys.executable, "-c", code.replace("URL", server.url)])
        try:
            server.wait_for(3)
        finally:
            asking.kill()
            asking.wait()
        sent = len(server.metered)
        wait_until(lambda: not running(scene.state), what="the end of Codex")
        assert len(server.metered) <= sent + 1  # one that was on its way
    (row,) = read_ledger(scene.state)[0]
    assert (row.verdict, row.requests) == ("initiated", 900)


@pytest.fixture
def account(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Scene, ResponsesServer, ResponsesServer]]:
    """The account's own provider and login: first its workspace is asked for, at another server than the model's."""
    write_login(scene, login(expires_at=4e9, refresh_token="refresh-1"))
    with ResponsesServer() as model, ResponsesServer() as chat:
        base = f"chatgpt_base_url='{chat.url}/backend-api'"
        monkeypatch.setattr(codex_wall, "_SETTINGS", (*codex_wall._SETTINGS, base))
        yield scene, model, chat


def at_account(model: ResponsesServer) -> Elsewhere:
    server = {**codex_wall.ACCOUNT, "base_url": f"{model.url}/backend-api/codex"}
    return Elsewhere(provider=server, program=codex_program(), environ={
        "CODEX_REFRESH_TOKEN_URL_OVERRIDE": f"{model.url}/oauth/token"})  # fmt: skip


WORKSPACE = {"id": "account-1", "workspace_backend_origin": "https://chatgpt.com",
             "account_routing_override": "NO_CONSTRAINT"}  # fmt: skip


def test_the_accounts_own_login_passes_the_relay(account: tuple[Scene, ResponsesServer, ResponsesServer]) -> None:
    scene, model, chat = account
    chat.pages = {"/backend-api/wham/accounts/check": (200, json.dumps({"accounts": [WORKSPACE]}).encode())}
    reached = scene.reach(at_account(model))
    assert (reached.verdict, reached.spent) == ("neither", 1), reached.end
    (asked,) = model.metered
    assert asked.path == "/backend-api/codex/responses"
    assert asked.headers["authorization"].startswith("Bearer ")
    assert asked.headers["chatgpt-account-id"] == "account-1"


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500])
def test_what_fails_before_the_first_request_spends_nothing(
    account: tuple[Scene, ResponsesServer, ResponsesServer], status: int
) -> None:
    scene, model, chat = account
    chat.pages = {"/backend-api/wham/accounts/check": (status, b"{}")}
    reached = scene.reach(at_account(model))
    assert not model.metered
    assert (reached.verdict, reached.spent) == ("unsent", 0), reached.end
    assert reached.end.run.failure is not None


def test_a_login_refused_at_the_first_request_is_spent_and_renewing_it_sends_no_second(
    account: tuple[Scene, ResponsesServer, ResponsesServer],
) -> None:
    scene, model, chat = account
    chat.pages = {"/backend-api/wham/accounts/check": (200, json.dumps({"accounts": [WORKSPACE]}).encode())}
    model.replies = [TURNS["no login"]]
    reached = scene.reach(at_account(model))
    assert [seen.path for seen in model.seen].count("/oauth/token") >= 1
    assert len(model.metered) == 1
    assert (reached.verdict, reached.spent) == ("refused", 1), reached.end
    assert reached.end.run.failure is not None
    assert reached.end.run.failure.kind == "login"


def running(state: Path) -> list[int]:
    from tests.e2e.test_codex_wall import _running

    return _running(state)
