"""The relay between Codex CLI and its server: what passes, what is counted, and what never leaves."""

from __future__ import annotations

import http.client
import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from aria_dream.adapters.codex.codex_relay import Relay
from tests.reaching import wait_until
from tests.responses_server import Reply, ResponsesServer, message, refusal, stream

if TYPE_CHECKING:
    from collections.abc import Mapping


def ask(
    relay: Relay, path: str = "/responses", *, method: str = "POST", body: str = "{}", whole: str = "",
    headers: Mapping[str, str] | None = None,
) -> tuple[int, str]:  # fmt: skip
    """Status and body; status 0 where no answer came."""
    parts = urlsplit(relay.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    try:
        sent = body.encode() if method != "GET" else None
        connection.request(method, whole or f"{parts.path}{path}", sent, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")
    except (http.client.HTTPException, OSError):
        return 0, ""
    finally:
        connection.close()


def test_a_request_passes_as_it_is_and_its_answer_comes_back() -> None:
    with ResponsesServer([stream(message("HOMES"))]) as server, Relay(f"{server.url}/v1/", 2) as relay:
        status, body = ask(relay, body='{"input": "ä"}', headers={"Authorization": "Bearer x", "x-own": "1"})
        (seen,) = server.metered
    assert (status, '"text": "HOMES"' in body) == (200, True)
    assert (seen.path, seen.body) == ("/v1/responses", '{"input": "ä"}')
    assert (seen.headers["Authorization"], seen.headers["x-own"]) == ("Bearer x", "1")
    assert seen.headers["Host"] == urlsplit(server.url).netloc
    assert (relay.sent, relay.heard, relay.refused) == (1, True, False)


@pytest.mark.parametrize("path", ["/responses", "/responses/compact", "/alpha/search", "/models", "/anything"])
def test_whatever_is_posted_counts(path: str) -> None:
    with ResponsesServer() as server, Relay(f"{server.url}/v1", 1) as relay:
        ask(relay, path)
        assert relay.sent == 1
        asking = threading.Thread(target=ask, args=(relay, path), daemon=True)
        asking.start()
        wait_until(lambda: relay.refused, what="the refusal")
        assert len(server.seen) == 1
    asking.join(30)
    assert not asking.is_alive()  # it was let go when the run ended


def test_the_list_of_models_is_free_and_nothing_else_is_read() -> None:
    with ResponsesServer() as server, Relay(f"{server.url}/v1", 1) as relay:
        for path in ("/models", "/models?client_version=1", "/responses", "/x/models", "/models/x", "/../models"):
            ask(relay, path, method="GET")
        assert [seen.path for seen in server.seen] == ["/v1/models", "/v1/models?client_version=1"]
        assert (relay.sent, relay.heard) == (0, False)


def test_who_does_not_know_the_path_gets_nowhere() -> None:
    with ResponsesServer() as server, Relay(f"{server.url}/v1", 1) as relay:
        for whole in ("/v1/responses", "/responses", "/", f"{urlsplit(relay.url).path}x/responses"):
            assert ask(relay, whole=whole)[0] == 404
        assert ask(relay, headers={"Transfer-Encoding": "chunked"})[0] == 411
        assert not server.seen
        assert relay.sent == 0


def test_however_many_ask_at_once_no_more_are_let_out() -> None:
    with ResponsesServer([stream(message("HOMES"))]) as server:
        with Relay(f"{server.url}/v1", 3) as relay:
            asking = [threading.Thread(target=ask, args=(relay,), daemon=True) for _ in range(20)]
            for one in asking:
                one.start()
            wait_until(lambda: relay.refused and len(server.metered) == 3, what="three requests and a refusal")
        for one in asking:
            one.join(30)
        assert len(server.metered) == 3
    assert relay.sent == 3


def test_a_server_that_cannot_be_connected_to_was_sent_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with Relay("http://127.0.0.1:9/v1", 1) as relay:
        assert ask(relay)[0] == 0
        assert (relay.sent, relay.heard) == (0, True)
        assert "127.0.0.1" in relay.unreached
    with ResponsesServer() as proxy:  # turns every connection away
        for name, value in (("HTTPS_PROXY", proxy.url), ("NO_PROXY", ""), ("no_proxy", "")):
            monkeypatch.setenv(name, value)
        with Relay("https://example.invalid/v1", 1) as relay:
            assert ask(relay)[0] == 0
            assert (relay.sent, bool(relay.unreached)) == (0, True)
        assert [seen.path for seen in proxy.seen] == ["example.invalid:443"]
        monkeypatch.setenv("HTTPS_PROXY", "socks5://127.0.0.1:9")
        with Relay("https://example.invalid/v1", 1) as relay:
            assert ask(relay)[0] == 0
            assert (relay.sent, "none for HTTP" in relay.unreached) == (0, True)


def test_a_refused_login_is_repeated_and_not_asked_about_again() -> None:
    with ResponsesServer([refusal(401, "x", "expired")]) as server, Relay(f"{server.url}/v1", 1) as relay:
        assert [ask(relay)[0] for _ in range(3)] == [401, 401, 401]
        assert (len(server.metered), relay.sent, relay.refused) == (1, 1, False)


def test_what_is_cut_off_or_no_answer_is_sent_all_the_same() -> None:
    for reply in (Reply(events=(message("HOMES"),), cut=True), Reply(body=b"\0\xff"), Reply(status=500, body=b"{}")):
        with ResponsesServer([reply]) as server, Relay(f"{server.url}/v1", 1) as relay:
            ask(relay)
            assert (len(server.metered), relay.sent) == (1, 1)


def test_the_end_of_a_run_ends_what_is_under_way() -> None:
    with ResponsesServer([stream(message("HOMES"), hold=True)]) as server:
        with Relay(f"{server.url}/v1", 1) as relay:
            asking = threading.Thread(target=ask, args=(relay,), daemon=True)
            asking.start()
            server.wait_for(1)
            wait_until(lambda: relay._sockets, what="the answer's beginning")
        asking.join(30)
        assert not asking.is_alive()
    assert relay.sent == 1


def test_the_end_of_a_run_ends_what_waits_for_an_answer() -> None:
    with ResponsesServer([Reply(silent=True)]) as server:
        with Relay(f"{server.url}/v1", 1) as relay:
            asking = threading.Thread(target=ask, args=(relay,), daemon=True)
            asking.start()
            server.wait_for(1)
        asking.join(30)
        assert not asking.is_alive()
    assert relay.sent == 1


def test_what_comes_behind_the_end_of_the_program_is_not_let_out_and_says_nothing_about_the_run() -> None:
    with ResponsesServer() as server, Relay(f"{server.url}/v1", 1) as relay:
        relay.ending.set()
        assert ask(relay)[0] == 0
        assert (relay.sent, relay.refused, server.seen) == (0, False, [])
