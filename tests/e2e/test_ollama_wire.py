"""Ollama's wire, over real sockets: what is asked, what is understood, and what ends however it misbehaves."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from aria_dream.adapters.gate.egress import Endpoint, find_endpoint
from aria_dream.adapters.models.model_http import Patience, is_listening
from aria_dream.adapters.models.model_server import AskFailed, Completion, Model, NoModel
from aria_dream.adapters.models.ollama import OllamaServer, is_cloud_name
from aria_dream.adapters.models.openai_server import OpenAIServer, with_version
from aria_dream.judging.prompt_text import Messages
from aria_dream.judging.triage_prompt import ANSWER_TOKENS, VERDICT_SCHEMA, WINDOW
from tests.model_servers import KEEP, MODEL, FakeModel, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

ASKED = Messages("Judge.", "Two notes.")
PATIENT = Patience(connect_s=30, load_s=30, read_s=30, total_s=30)


def endpoint(url: str) -> Endpoint:
    found = find_endpoint(url)
    assert isinstance(found, Endpoint)
    return found


def ollama(url: str, patience: Patience = PATIENT) -> OllamaServer:
    return OllamaServer(endpoint=endpoint(url), looking=PATIENT, asking=patience)


def openai(url: str, patience: Patience = PATIENT) -> OpenAIServer:
    return OpenAIServer(endpoint=with_version(endpoint(url)), looking=PATIENT, asking=patience)


def answer(model: FakeModel, *, wire: str = "ollama") -> Completion | AskFailed:
    server = ollama(model.url) if wire == "ollama" else openai(model.url)
    found = server.find_model("judge")
    if not isinstance(found, Model):
        found = Model("judge", "")
    return server.ask(server.body(found, ASKED, VERDICT_SCHEMA))


def test_what_is_asked() -> None:
    with serving() as model:
        assert ollama(model.url).find_model("judge") == Model("judge", str(MODEL["digest"]))
        assert answer(model) == Completion(KEEP)
    (request,) = model.requests
    assert request["format"] == VERDICT_SCHEMA
    assert list(request["format"]["properties"]) == ["reason", "verdict"]
    assert request["options"] == {"temperature": 0, "seed": 4711, "num_ctx": WINDOW, "num_predict": ANSWER_TOKENS}
    assert (request["stream"], request["think"]) == (True, False)
    assert [message["role"] for message in request["messages"]] == ["system", "user"]


def test_what_an_openai_compatible_server_is_asked() -> None:
    with serving() as model:
        server = openai(model.url)
        assert isinstance(server.find_model("judge:latest"), Model)
        only = server.find_model("whatever")  # one model, whatever it is asked for
        assert isinstance(only, Model)
        assert only.name == "judge:latest"
        assert answer(model, wire="openai") == Completion(KEEP)
    (request,) = model.requests
    assert request["response_format"]["json_schema"]["schema"] == VERDICT_SCHEMA
    assert (request["temperature"], request["seed"], request["max_tokens"]) == (0, 4711, ANSWER_TOKENS)
    assert model.paths == ["/v1/models", "/api/tags"] * 3 + ["/v1/chat/completions"]


def test_loopback_has_another_address_too() -> None:
    try:
        listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("needs Windows, macOS or Linux with IPv6")
    with listener:
        found = endpoint(f"http://[::1]:{listener.getsockname()[1]}")
        assert found.is_loopback
        assert is_listening(found, 5)

        def reply() -> None:
            connection, _ = listener.accept()  # the look above
            connection.close()
            connection, _ = listener.accept()
            with connection:
                assert b"Host: [::1]:" in connection.recv(65_536)
                connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"models":[]}')

        thread = threading.Thread(target=reply)
        thread.start()
        missing = OllamaServer(endpoint=found, looking=PATIENT, asking=PATIENT).find_model("judge")
        thread.join()
    assert isinstance(missing, NoModel)
    assert "ollama pull" in missing.reason


@pytest.mark.parametrize("name", ["judge", "judge:latest", "JUDGE", "judge:LATEST"])
def test_a_model_is_found_by_its_name(name: str) -> None:
    with serving() as model:
        assert isinstance(ollama(model.url).find_model(name), Model)


@pytest.mark.parametrize("name", ["other", "judge:4b", "jud"])
def test_a_missing_model_says_how_to_get_it(name: str) -> None:
    with serving() as model:
        found = ollama(model.url).find_model(name)
    assert isinstance(found, NoModel)
    assert f"`ollama pull {name}`" in found.reason
    assert found.is_running


@pytest.mark.parametrize(
    "name", ["gpt-oss:120b-cloud", "glm-4.6:cloud", "x/y:CLOUD", "kimi-k2:1t-Cloud ", "deepseek-v3.1:671b-cloud"]
)
def test_models_of_the_cloud_are_refused_by_name(name: str) -> None:
    assert is_cloud_name(name)
    with serving(FakeModel(models=[{**MODEL, "name": name.strip(), "model": name.strip()}])) as model:
        found = ollama(model.url).find_model(name)
    assert isinstance(found, NoModel)
    assert "cloud" in found.reason
    assert model.requests == []


def test_models_of_the_cloud_are_refused_by_what_the_server_tells() -> None:
    assert not is_cloud_name("cloudy:4b")
    with serving(FakeModel(models=[{**MODEL, "remote_host": "https://ollama.com:443"}])) as model:
        found = ollama(model.url).find_model("judge")
    assert isinstance(found, NoModel)
    assert "cloud" in found.reason
    with serving(FakeModel(last_line={"remote_host": "https://ollama.com:443"})) as model:
        failed = answer(model)
    assert isinstance(failed, AskFailed)
    assert failed.is_gone


@pytest.mark.parametrize(
    "entry",
    [
        {**MODEL, "name": "gpt-oss:120b-cloud", "model": "gpt-oss:120b-cloud"},
        {**MODEL, "remote_host": "https://ollama.com:443"},
        {**MODEL, "remote_model": "gpt-oss:120b"},
    ],
)
@pytest.mark.parametrize("asked", ["judge", "judge:latest", "gpt-oss:120b-cloud", "whatever"])
def test_ollamas_other_wire_is_no_way_into_its_cloud(entry: dict[str, Any], asked: str) -> None:
    """`triage_backend: openai` with Ollama's own address; its one model is taken whatever the policy calls it."""
    with serving(FakeModel(models=[entry])) as model:
        found = openai(model.url).find_model(asked)
    assert isinstance(found, NoModel)
    assert "cloud" in found.reason
    assert model.requests == []


def test_another_server_is_asked_for_no_tags_that_matter() -> None:
    with serving(FakeModel(models=[{**MODEL, "name": "cloudy:4b"}])) as model:
        assert isinstance(openai(model.url).find_model("cloudy:4b"), Model)


@pytest.mark.parametrize(
    ("status", "error", "why", "retry"),
    [
        (500, "model requires more system memory (5.6 GiB) than is available (2.1 GiB)", "too little memory", False),
        (500, "llama runner process has terminated: cudaMalloc failed: out of memory", "too little memory", False),
        (400, '"embed" does not support chat', "choose another `triage_model`", False),
        (404, "model 'judge' not found", "no longer has this model", False),
        (400, "input length exceeds the context length", "too long for the model's window", False),
        (503, "server busy, please try again.  maximum pending requests exceeded", "busy", True),
        (500, "llama runner process has terminated", "error 500", True),
        (401, "unauthorized", "login", False),
    ],
)
@pytest.mark.parametrize("wire", ["ollama", "openai"])
def test_documented_errors(wire: str, status: int, error: str, why: str, retry: bool) -> None:
    body: object = error if wire == "ollama" else {"message": error, "code": status}
    with serving(FakeModel(status=status, error=body)) as model:
        failed = answer(model, wire=wire)
    assert isinstance(failed, AskFailed)
    assert why in failed.reason
    assert failed.retry is retry
    assert error not in failed.reason


def test_a_form_that_ollama_refuses_is_not_asked_again() -> None:
    with serving(FakeModel(status=400, error="invalid format")) as model:
        assert answer(model) == AskFailed("Ollama answered with error 400")


@pytest.mark.parametrize("wire", ["ollama", "openai"])
def test_an_error_in_the_middle_of_a_stream(wire: str) -> None:
    with serving(FakeModel(last_line={"error": "an error was encountered while running the model"})) as model:
        assert isinstance(answer(model, wire=wire), AskFailed)


@pytest.mark.parametrize("wire", ["ollama", "openai"])
def test_a_connection_that_drops_gives_no_answer(wire: str) -> None:
    with serving(FakeModel(break_after=4)) as model:
        failed = answer(model, wire=wire)
    assert isinstance(failed, AskFailed)
    assert failed.retry


def test_a_prompt_that_filled_the_window_was_cut() -> None:
    with serving(FakeModel(last_line={"prompt_eval_count": WINDOW})) as model:
        failed = answer(model)
    assert isinstance(failed, AskFailed)
    assert "only part" in failed.reason


@pytest.mark.parametrize("wire", ["ollama", "openai"])
def test_a_cut_answer_is_none_and_a_whole_one_at_the_cap_is_one(wire: str) -> None:
    last: dict[str, Any] = (
        {"done_reason": "length"}
        if wire == "ollama"
        else {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}
    )
    with serving(FakeModel(say=lambda _: KEEP[:-1], last_line=last)) as model:
        assert isinstance(answer(model, wire=wire), AskFailed)
    with serving(FakeModel(say=lambda _: KEEP + " and", last_line=last)) as model:
        assert answer(model, wire=wire) == Completion(KEEP + " and")


@pytest.mark.parametrize("wire", ["ollama", "openai"])
def test_blanks_without_an_end_are_ended(wire: str) -> None:
    with serving(FakeModel(say=lambda _: '{"reason": ' + " \n" * 50_000)) as model:
        failed = answer(model, wire=wire)
    assert isinstance(failed, AskFailed)
    assert "white space" in failed.reason
    with serving(FakeModel(say=lambda _: "x" * 90_000)) as model:
        failed = answer(model, wire=wire)
    assert isinstance(failed, AskFailed)
    assert "does not end" in failed.reason


@pytest.mark.parametrize("wire", ["ollama", "openai"])
def test_no_redirect_is_followed(wire: str) -> None:
    with serving() as other, serving(FakeModel(redirect=other.url)) as model:
        server = ollama(model.url) if wire == "ollama" else openai(model.url)
        assert isinstance(server.find_model("judge"), NoModel)
        failed = answer(model, wire=wire)
    assert isinstance(failed, AskFailed)
    assert failed.is_gone
    assert other.paths == []


@contextmanager
def raw(reply: bytes, *, drip_s: float = 0.0) -> Iterator[str]:
    """A socket that answers every request with `reply`, then keeps the line open (and drips a blank at a time)."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)

        def serve() -> None:
            while not stop.is_set():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.recv(65_536)
                    connection.sendall(reply)
                    while not stop.wait(drip_s or 0.05):
                        if drip_s:
                            try:
                                connection.sendall(b" ")
                            except OSError:
                                break

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            stop.set()
            thread.join()


@pytest.mark.parametrize(
    ("reply", "drip_s"),
    [
        (b"", 0.0),  # accepts and never answers
        (b"HTTP/1.1 200 OK\r\nX-", 0.05),  # a head that does not end
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", 0.05),  # a body that trickles
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n{", 0.0),  # and one that stops
    ],
)
@pytest.mark.parametrize("wire", ["ollama", "openai"])
def test_a_server_that_is_slow_is_left_in_time(wire: str, reply: bytes, drip_s: float) -> None:
    patience = Patience(connect_s=0.4, load_s=0.4, read_s=0.4, total_s=0.4)
    with raw(reply, drip_s=drip_s) as url:
        server = ollama(url, patience) if wire == "ollama" else openai(url, patience)
        failed = server.ask(server.body(Model("judge", ""), ASKED, VERDICT_SCHEMA))
    assert failed == AskFailed("the model took too long")


@pytest.mark.parametrize(
    "reply", [b"SSH-2.0-OpenSSH_9.9\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"]
)
def test_what_is_no_ollama_is_told(reply: bytes) -> None:
    with raw(reply) as url:
        found = ollama(url).find_model("judge")
    assert isinstance(found, NoModel)


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        assert is_listening(endpoint(url), 1.0)
    assert not is_listening(endpoint(url), 1.0)
    found = ollama(url).find_model("judge")
    assert isinstance(found, NoModel)
    assert not found.is_running
    server = ollama(url)
    failed = server.ask(server.body(Model("judge", ""), ASKED, VERDICT_SCHEMA))
    assert isinstance(failed, AskFailed)
    assert failed.is_gone


@pytest.mark.skipif(sys.platform == "darwin", reason="there a connection to 127.0.0.9 is not refused but lost")
@pytest.mark.parametrize("wire", ["ollama", "openai"])
@pytest.mark.parametrize("is_first", [False, True])
def test_a_name_with_two_addresses_is_asked_where_somebody_listens(wire: str, is_first: bool) -> None:
    with serving() as model:
        here, port = model.url.rpartition("/")[2].split(":")
        names = [here, "127.0.0.9", here] if is_first else ["127.0.0.9", here, here]
        found = find_endpoint(f"http://localhost:{port}", resolve=lambda _host, _port: names)
        assert isinstance(found, Endpoint)
        assert [found.address, *found.others] == names[:2]
        assert is_listening(found, 1.0)
        server = (
            OllamaServer(endpoint=found, looking=PATIENT, asking=PATIENT)
            if wire == "ollama"
            else OpenAIServer(endpoint=with_version(found), looking=PATIENT, asking=PATIENT)
        )
        assert server.ask(server.body(Model("judge", ""), ASKED, VERDICT_SCHEMA)) == Completion(KEEP)


def test_nothing_goes_to_another_machine_uncleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "create_connection", lambda *_a, **_k: pytest.fail("it connected"))
    found = find_endpoint("http://judge.example:11434", resolve=lambda _host, _port: ["203.0.113.9"])
    assert isinstance(found, Endpoint)
    server = OllamaServer(endpoint=found, looking=PATIENT, asking=PATIENT)
    with pytest.raises(TypeError):
        server.ask(server.body(Model("judge", ""), ASKED, VERDICT_SCHEMA))


def test_the_http_library_is_not_paid_for_unless_a_model_is_asked() -> None:
    script = (
        "import sys, aria_dream.cli, aria_dream.adapters.models.judges, aria_dream.usecases.dream_run; "
        "print([name for name in sys.modules if name.split('.')[0] in ('httpcore', 'h11', 'ssl')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.replace("'", '"')) == []
