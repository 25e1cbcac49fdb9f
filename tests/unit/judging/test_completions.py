"""Completions of a real model as they came, whole and malformed: read by the wire and by the parser.

`llama-cpp-*` and `smollm2.jsonl` were recorded from llama.cpp with SmolLM2-135M, asked about pairs of the example
corpus with the verdict's schema, without any (`free`), with a cap of twelve tokens (`cut`), and with plain JSON mode.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from aria_dream.adapters.gate.egress import Endpoint, find_endpoint
from aria_dream.adapters.models.model_http import Patience
from aria_dream.adapters.models.model_server import AskFailed, Completion, Model, refusal_of
from aria_dream.adapters.models.openai_server import OpenAIServer, with_version
from aria_dream.judging.prompt_text import Messages
from aria_dream.judging.triage_prompt import VERDICT_SCHEMA, Drop, Keep, Unreadable
from aria_dream.judging.verdict import parse_verdict
from tests.model_servers import FakeModel, serving

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "completions"
ROWS = [json.loads(line) for line in (FOLDER / "smollm2.jsonl").read_text(encoding="utf-8").splitlines()]
PATIENT = Patience(connect_s=30, load_s=30, read_s=30, total_s=30)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['pair']} {row['asked']}")
def test_text(row: dict[str, str]) -> None:
    verdict = parse_verdict(row["text"])
    match row["asked"]:
        case "schema":
            assert isinstance(verdict, Keep | Drop)
            assert verdict.reason == json.loads(row["text"])["reason"].strip().removesuffix(".")
        case "cut":
            assert verdict == Unreadable("the answer's object is cut or broken")
        case _:
            assert isinstance(verdict, Unreadable)  # echoes, inventions, other objects: nothing is made of them


def test_all_four_ways_of_asking_are_there() -> None:
    assert set(Counter(row["asked"] for row in ROWS)) == {"schema", "free", "cut", "json_object"}


@pytest.mark.parametrize(("name", "kind"), [("schema", Completion), ("cut", AskFailed)])
def test_streams(name: str, kind: type[Completion | AskFailed]) -> None:
    recorded = (FOLDER / f"llama-cpp-{name}.sse").read_bytes()
    with serving(FakeModel(recorded=recorded)) as model:
        endpoint = find_endpoint(model.url)
        assert isinstance(endpoint, Endpoint)
        server = OpenAIServer(endpoint=with_version(endpoint), looking=PATIENT, asking=PATIENT)
        answer = server.ask(server.body(Model("m", ""), Messages("a", "b"), VERDICT_SCHEMA))
    assert isinstance(answer, kind)
    if isinstance(answer, Completion):
        assert isinstance(parse_verdict(answer.text), Keep | Drop)


def test_a_refusal() -> None:
    body = (FOLDER / "llama-cpp-too-long.json").read_bytes()
    assert json.loads(body)["error"]["type"] == "exceed_context_size_error"
    assert refusal_of(400, body, "the model's server") == AskFailed("the two notes are too long for the model's window")
