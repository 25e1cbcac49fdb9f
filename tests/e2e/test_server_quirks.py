"""What servers of models do beyond their documents: fields refused, ends without a name, addresses as pasted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from aria_dream.adapters.gate.egress import Endpoint, find_endpoint
from aria_dream.adapters.models.model_server import AskFailed, Completion, Model, NoModel
from aria_dream.adapters.models.ollama import OllamaServer, at_root
from aria_dream.adapters.models.openai_server import with_version
from aria_dream.judging.triage_prompt import VERDICT_SCHEMA
from tests.e2e.test_ollama_wire import ASKED, PATIENT, answer, endpoint, ollama, openai
from tests.model_servers import KEEP, MODEL, FakeModel, serving

if TYPE_CHECKING:
    from collections.abc import Callable


def extras(request: dict[str, Any]) -> str:
    """As vLLM refused what it did not know."""
    unknown = {"cache_prompt", "chat_template_kwargs"} & set(request)
    return f"Extra inputs are not permitted: {sorted(unknown)}" if unknown else ""


def form(request: dict[str, Any]) -> str:
    """As LM Studio refuses a form that its engine does not know."""
    return "'response_format.type' must be 'text'" if "response_format" in request else ""


@pytest.mark.parametrize(("refuse", "without"), [(extras, {"cache_prompt", "seed"}), (form, {"response_format"})])
def test_what_a_server_does_not_know_is_left_out_the_second_time(
    refuse: Callable[[dict[str, Any]], str], without: set[str]
) -> None:
    with serving(FakeModel(refuse=refuse)) as model:
        server = openai(model.url)
        first = server.ask(server.body(Model("judge", ""), ASKED, VERDICT_SCHEMA))
        assert first == AskFailed("the model's server answered with error 400", retry=True)
        assert server.ask(server.body(Model("judge", ""), ASKED, VERDICT_SCHEMA)) == Completion(KEEP)
    told, plainer = model.requests
    assert without <= set(told)
    assert not without & set(plainer)
    kept = {"cache_prompt", "response_format", "seed"} - without if refuse is form else {"response_format"}
    assert kept <= set(plainer)


def test_a_server_that_refuses_the_plainest_question_is_not_asked_for_ever() -> None:
    with serving(FakeModel(refuse=lambda _request: "no")) as model:
        server = openai(model.url)
        tries = [server.ask(server.body(Model("judge", ""), ASKED, VERDICT_SCHEMA)) for _ in range(3)]
    assert [isinstance(failed, AskFailed) and failed.retry for failed in tries] == [True, True, False]
    assert set(model.requests[-1]) == {"model", "messages", "temperature", "max_tokens", "stream"}


WHOLE = {
    "choices": [{"index": 0, "message": {"role": "assistant", "content": KEEP}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 900, "completion_tokens": 30},
}


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps(WHOLE).encode(),
        json.dumps(WHOLE, indent=2).encode(),
        b"\xef\xbb\xbf\r\n" + json.dumps(WHOLE, indent="\t").replace("\n", "\r\n").encode() + b"\r\n",
    ],
)
def test_a_reply_that_is_no_stream_is_read_whole(reply: bytes) -> None:
    with serving(FakeModel(recorded=reply)) as model:
        assert answer(model, wire="openai") == Completion(KEEP)


def events(*choices: dict[str, Any], end: bytes = b"data: [DONE]\n\n") -> bytes:
    return b"".join(b"data: %s\n\n" % json.dumps({"choices": [choice]}).encode() for choice in choices) + end


@pytest.mark.parametrize(
    "reply",
    [
        events({"delta": {"content": KEEP}}),  # an end without a reason
        events({"delta": {"content": KEEP}}, {"delta": {}, "finish_reason": "eos_token"}),
        events({"delta": {"content": KEEP}}, {"delta": {}, "finish_reason": "stop_sequence"}, end=b""),
        b"\xef\xbb\xbf" + events({"delta": {"content": KEEP}}),
        events({"delta": {"content": KEEP}, "finish_reason": "tool_calls"}),
        events({"index": 1, "delta": {"content": "x"}}, {"index": 0, "delta": {"content": KEEP}}),
    ],
)
def test_an_end_of_another_name(reply: bytes) -> None:
    with serving(FakeModel(recorded=reply)) as model:
        assert answer(model, wire="openai") == Completion(KEEP)
    with serving(FakeModel(recorded=reply.replace(b'\\"keep\\"}', b'\\"ke'))) as model:
        assert isinstance(answer(model, wire="openai"), AskFailed)


@pytest.mark.parametrize(
    ("wire", "reply"),
    [
        ("openai", events({"delta": {"content": "", "reasoning_content": "hm"}}, {"finish_reason": "length"})),
        ("openai", events({"delta": {"content": "", "reasoning": "hm"}}, {"finish_reason": "length"})),
        ("ollama", b'{"message":{"content":"","thinking":"hm"}}\n{"done":true,"done_reason":"length"}\n'),
    ],
)
def test_a_model_that_only_thought_says_what_to_do(wire: str, reply: bytes) -> None:
    with serving(FakeModel(recorded=reply)) as model:
        failed = answer(model, wire=wire)
    assert isinstance(failed, AskFailed)
    assert "choose one that thinks less" in failed.reason


def test_a_family_that_thinks_anyhow_is_asked_to_think_little() -> None:
    entry = {**MODEL, "details": {"family": "gptoss"}}
    for models, think in (([entry], "low"), ([{**MODEL, "details": {"family": "qwen3"}}], False), ([MODEL], False)):
        with serving(FakeModel(models=models)) as model:
            answer(model)
        assert model.requests[0]["think"] == think


@pytest.mark.parametrize("data", [[], None])
def test_a_server_without_a_model_says_so(data: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.model_servers._Handler.do_GET", lambda self: self._whole(200, {"data": data}))
    with serving() as model:
        found = openai(model.url).find_model("judge")
    assert found == NoModel("the server has no model “judge”; it lists none that answers; load one", is_running=True)


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["some-llm", "text-embedding-nomic-embed-text-v1.5"], "some-llm"),
        (["some-llm", "another-llm"], ""),
        (["text-embedding-nomic-embed-text-v1.5"], ""),
    ],
)
def test_a_model_for_vectors_is_none_that_judges(names: list[str], chosen: str) -> None:
    with serving(FakeModel(models=[{"name": name} for name in names])) as model:
        found = openai(model.url).find_model("qwen3:4b")
    if chosen:
        assert isinstance(found, Model)
        assert found.name == chosen
    else:
        assert isinstance(found, NoModel)
        assert "embed" not in found.reason


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/models", "/v1/chat/completions"])
def test_an_address_as_people_paste_it(path: str) -> None:
    with serving() as model:
        assert isinstance(openai(model.url + path).find_model("judge:latest"), Model)
        server = ollama(model.url)
        assert at_root(endpoint(model.url + path)) == server.endpoint
        assert at_root(endpoint(f"{model.url}/api/chat")) == server.endpoint
        assert at_root(endpoint(f"{model.url}/mine/v1")).base == with_version(endpoint(f"{model.url}/mine")).base


ELSEWHERE = find_endpoint("http://judge.example:11434", resolve=lambda _host, _port: ["203.0.113.9"])


def through(proxy: str, monkeypatch: pytest.MonkeyPatch, name: str = "http_proxy") -> Model | NoModel:
    for each in ("http_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(each, raising=False)
        monkeypatch.delenv(each.upper(), raising=False)
    monkeypatch.setenv(name, proxy)
    assert isinstance(ELSEWHERE, Endpoint)
    return OllamaServer(endpoint=ELSEWHERE, looking=PATIENT, asking=PATIENT).find_model("judge")


@pytest.mark.parametrize("name", ["http_proxy", "ALL_PROXY"])
def test_a_proxy_is_understood_as_others_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    headers: list[str | None] = []

    def tags(self: Any) -> None:
        headers.append(self.headers["Proxy-Authorization"])
        self._whole(200, {"models": self.model.models})

    monkeypatch.setattr("tests.model_servers._Handler.do_GET", tags)
    with serving() as proxy:
        bare = proxy.url.removeprefix("http://")
        assert isinstance(through(bare, monkeypatch, name), Model)
        assert isinstance(through(f"http://me:p%40ss@{bare}/", monkeypatch, name), Model)
    assert headers == [None, "Basic bWU6cEBzcw=="]


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "http://127.0.0.1:none", "socks5h://127.0.0.1:9", "http://"])
def test_a_proxy_that_is_not_understood_is_not_gone_round(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.create_connection", lambda *_a, **_k: pytest.fail("it connected"))
    assert isinstance(through(proxy, monkeypatch, "ALL_PROXY"), NoModel)
