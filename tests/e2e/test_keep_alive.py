"""What a server sends to keep the line open while it loads and reads is no answer: it neither ends nor lengthens the
wait for one. Scaled down: 20 s of patience for loading here, 0.2 s between two pieces of an answer.
"""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.models.model_http import Patience, _Clock
from aria_dream.adapters.models.model_server import AskFailed, Completion, Model
from aria_dream.judging.triage_prompt import VERDICT_SCHEMA
from tests.e2e.test_ollama_wire import ASKED, ollama, openai
from tests.model_servers import KEEP

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
LOADING = Patience(connect_s=20, load_s=20, read_s=0.2, total_s=60)


def event(delta: dict[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: %s\n\n" % json.dumps({"choices": [choice]}).encode()


def piece(content: str, **more: object) -> bytes:
    return json.dumps({"message": {"role": "assistant", "content": content}, "done": False, **more}).encode() + b"\n"


ANSWER = {
    "openai": event({"content": KEEP}) + event({}, "stop") + b"data: [DONE]\n\n",
    "ollama": piece(KEEP) + piece("", done=True, done_reason="stop"),
}
KEEP_ALIVES = [
    ("openai", b":\n\n"),
    ("openai", b": ping\n\n"),
    ("openai", b"event: ping\ndata: {}\n\n"),
    ("openai", b"data:\n\n"),
    ("openai", b"\n"),
    ("openai", event({"role": "assistant"})),
    ("openai", event({"role": "assistant", "content": ""})),
    ("openai", event({"role": "assistant", "content": None})),
    ("openai", b'data: {"choices": [], "prompt_progress": {"total": 900, "processed": 100}}\n\n'),
    ("ollama", piece("")),
    ("ollama", b"\n"),
]


class Server:
    """Answers one question: `before` so many times (None: until it is stopped), a pause after each, then `answer`."""

    def __init__(self, before: bytes, answer: bytes, *, pieces: int | None, pause_s: float) -> None:
        self.before, self.answer, self.pieces, self.pause_s = before, answer, pieces, pause_s
        self.sent = 0
        self.stop = threading.Event()
        self.url = ""

    def serve(self, listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65_536)
            try:
                connection.sendall(HEAD)
                while not self.stop.is_set() and self.sent != self.pieces:
                    connection.sendall(self.before)
                    self.sent += 1
                    self.stop.wait(self.pause_s)
                connection.sendall(self.answer)
            except OSError:
                pass  # the client gave up


@contextmanager
def keeping_alive(before: bytes, answer: bytes, *, pieces: int | None, pause_s: float) -> Iterator[Server]:
    server = Server(before, answer, pieces=pieces, pause_s=pause_s)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread = threading.Thread(target=server.serve, args=(listener,))
        thread.start()
        try:
            yield server
        finally:
            server.stop.set()
            thread.join()


def ask(url: str, wire: str, patience: Patience) -> Completion | AskFailed:
    server = ollama(url, patience) if wire == "ollama" else openai(url, patience)
    return server.ask(server.body(Model("judge", ""), ASKED, VERDICT_SCHEMA))


@pytest.mark.parametrize(("wire", "before"), KEEP_ALIVES)
def test_it_does_not_end_the_wait(wire: str, before: bytes) -> None:
    with keeping_alive(before, ANSWER[wire], pieces=1, pause_s=3 * LOADING.read_s) as server:
        assert ask(server.url, wire, LOADING) == Completion(KEEP)


@pytest.mark.parametrize(("wire", "before"), [KEEP_ALIVES[0], KEEP_ALIVES[6], KEEP_ALIVES[9]])
def test_it_does_not_lengthen_the_wait(wire: str, before: bytes) -> None:
    hurried = Patience(connect_s=20, load_s=0.5, read_s=20, total_s=60)
    with keeping_alive(before, ANSWER[wire], pieces=None, pause_s=0.05) as server:
        assert ask(server.url, wire, hurried) == AskFailed("the model took too long")
    assert server.sent < 600  # half of the 60 s that an answer would have


@pytest.mark.parametrize(
    ("wire", "begun"),
    [
        ("openai", event({"content": "{"})),
        ("openai", event({"content": "", "reasoning_content": "hm"})),
        ("ollama", piece("{")),
        ("ollama", b'{"message": {"content": "", "thinking": "hm"}, "done": false}\n'),
        ("openai", b'{"choices": '),
    ],
)
def test_an_answer_that_has_begun_must_go_on(wire: str, begun: bytes) -> None:
    with keeping_alive(begun, ANSWER[wire], pieces=1, pause_s=LOADING.load_s / 2) as server:
        assert ask(server.url, wire, LOADING) == AskFailed("the model took too long")


def test_the_waits_by_the_clock() -> None:
    now_s = 100.0
    clock = _Clock(Patience(connect_s=5, load_s=180, read_s=30, total_s=240), lambda: now_s)
    assert (clock.connect_s(), clock.read_s()) == (5, 180)
    now_s += 170
    assert clock.read_s() == 10  # not 180 anew with every comment
    clock.begin()
    assert clock.read_s() == 30
    now_s += 60
    assert clock.read_s() == 10
    now_s += 60
    assert clock.read_s() == 0
    assert Patience(connect_s=5, load_s=180, read_s=30, total_s=240).within(50).total_s == 50
