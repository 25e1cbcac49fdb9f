"""A dream that is ended while its model thinks: the question ends with it, and nothing is half-written."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

from tests.e2e.test_dream import make_vault, run

REPOSITORY = Path(__file__).resolve().parents[2]
TAGS = json.dumps({"models": [{"name": "judge:latest", "digest": "1"}]}).encode()


def test_the_question_ends_with_its_dream(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "vault")
    asked, left = threading.Event(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(120)

        def serve() -> None:
            while not left.is_set():
                connection, _ = listener.accept()
                with connection:
                    head = connection.recv(65_536)
                    if head.startswith(b"GET /api/tags"):
                        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(TAGS) + TAGS)
                    elif head.startswith(b"POST /api/chat"):
                        connection.sendall(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{"\r\n')
                        asked.set()
                        try:
                            while connection.recv(65_536):
                                pass
                        except OSError:
                            pass  # Windows resets the line
                        left.set()

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        policy = f"- triage_backend: ollama\n- triage_model: judge\n- ollama_url: {url}\n"
        (root / "dreaming.md").write_text(f"---\naria-dream: policy\n---\n{policy}", encoding="utf-8")
        run("init", root)
        before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
        process = subprocess.Popen(
            [sys.executable, "-m", "aria_dream", "dream", str(root)],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            assert asked.wait(120)
        finally:
            process.kill()
            process.wait()
        assert left.wait(60)
        thread.join()
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
