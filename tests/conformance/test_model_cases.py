"""Cases 49 (endless output), 50 (wrapped JSON) and 51 (a proxy for localhost), with the servers they bring."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from aria_dream.adapters.gate.egress import Endpoint, find_endpoint
from aria_dream.adapters.models.model_http import Patience
from aria_dream.adapters.models.model_server import AskFailed, Completion, Model
from aria_dream.adapters.models.ollama import OllamaServer
from aria_dream.judging.prompt_text import Messages
from aria_dream.judging.triage_prompt import ANSWER_TOKENS, VERDICT_SCHEMA, Unreadable
from aria_dream.judging.verdict import parse_object
from tests.conformance.test_write_cases import run_case
from tests.model_servers import FakeModel, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

DEADLINE_S = 5.0


@contextmanager
def started(script: Path, folder: Path, *arguments: str) -> Iterator[int]:
    """The port of a server script, ended with the block."""
    process = subprocess.Popen(
        [sys.executable, str(script), *arguments], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def server_at(port: int) -> OllamaServer:
    endpoint = find_endpoint(f"http://127.0.0.1:{port}")
    assert isinstance(endpoint, Endpoint)
    patience = Patience(connect_s=DEADLINE_S, load_s=DEADLINE_S, read_s=DEADLINE_S, total_s=DEADLINE_S)
    return OllamaServer(endpoint=endpoint, looking=patience, asking=patience)


@pytest.mark.parametrize("mode", ["blank_after", "blank_inside", "slow", "drop", "length"])
def test_case_49(cases: Path, tmp_path: Path, mode: str) -> None:
    """The server's answer has no end, so that this one has is the verdict; how soon, a busy machine would decide."""
    before_bytes = psutil.Process().memory_info().rss
    with started(cases / "49-ollama-endless-output" / "fake_ollama.py", tmp_path, mode) as port:
        server = server_at(port)
        model = server.find_model("stub")
        assert isinstance(model, Model)
        answer = server.ask(server.body(model, Messages("Judge.", "Two notes."), VERDICT_SCHEMA))
    assert psutil.Process().memory_info().rss - before_bytes < 50_000_000
    (request,) = map(json.loads, (tmp_path / "requests.jsonl").read_text(encoding="utf-8").splitlines())
    assert request["options"]["num_predict"] == ANSWER_TOKENS
    if mode == "blank_after":
        assert isinstance(answer, Completion)
        assert parse_object(answer.text) == {"proposals": []}
    else:
        assert isinstance(answer, AskFailed)
        assert answer.retry is (mode == "drop")  # only a line that broke is tried again


def test_case_50(cases: Path, tmp_path: Path) -> None:
    row = run_case(cases, "50", tmp_path, {})
    assert row[4] == "pass", row
    table = json.loads((cases / "50-model-json-wrapping" / "answers.json").read_text(encoding="utf-8"))
    for answer in table:
        found = parse_object(answer["raw"])
        assert ("refuse" if isinstance(found, Unreadable) else found) == answer["want"]


ASK = """
import sys
from aria_dream.adapters.gate.egress import find_endpoint
from aria_dream.adapters.models.model_server import Model, asking_patience
from aria_dream.adapters.models.ollama import OllamaServer
from aria_dream.judging.prompt_text import Messages
for host in sys.argv[2:]:
    endpoint = find_endpoint(f"http://{host}:{sys.argv[1]}")
    server = OllamaServer(endpoint=endpoint, looking=asking_patience(5), asking=asking_patience(5))
    print(type(server.find_model("stub")).__name__, end=" ")
    print(type(server.ask(server.body(Model("stub", ""), Messages("a", "b"), {}))).__name__)
"""


def test_case_51(cases: Path, tmp_path: Path) -> None:
    case = cases / "51-proxy-for-localhost"
    with started(case / "recorder.py", tmp_path) as proxy, started(case / "fake_ollama.py", tmp_path) as port:
        names = ("http_proxy", "https_proxy", "all_proxy")
        proxies = {each: f"http://127.0.0.1:{proxy}" for name in names for each in (name, name.upper())}
        environment = {key: value for key, value in os.environ.items() if key.lower() != "no_proxy"}
        done = subprocess.run(
            [sys.executable, "-c", ASK, str(port), "127.0.0.1", "localhost"],
            env={**environment, **proxies, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
    assert done.stdout.split() == ["Model", "Completion"] * 2
    assert not (tmp_path / "seen.txt").exists()
    assert len((tmp_path / "requests.jsonl").read_text(encoding="utf-8").splitlines()) == 2


def test_a_call_to_another_machine_still_uses_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_endpoint("http://judge.example:11434", resolve=lambda _host, _port: ["203.0.113.9"])
    assert isinstance(found, Endpoint)
    patience = Patience(connect_s=2, load_s=2, read_s=2, total_s=2)
    with serving(FakeModel()) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        OllamaServer(endpoint=found, looking=patience, asking=patience).find_model("judge")
        assert proxy.paths == ["http://judge.example:11434/api/tags"]
