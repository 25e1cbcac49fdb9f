"""The wire of OpenAI's chat completions, as llama.cpp, LM Studio and others serve it on this machine."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from aria_dream.dream.triage_prompt import ANSWER_TOKENS
from aria_dream.effects.model_http import Answered, Unanswered, exchange
from aria_dream.effects.model_server import (
    SEED,
    TEMPERATURE,
    Answer,
    AskFailed,
    Completion,
    Model,
    NoModel,
    failure,
    json_object,
    refusal_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aria_dream.dream.prompt_text import Messages
    from aria_dream.effects.egress import Cleared, Endpoint
    from aria_dream.effects.model_http import Patience

_NAME = "the model's server"


@dataclass(frozen=True, kw_only=True)
class OpenAIServer:
    """One server. Its `endpoint` has the path `/v1`, whether or not the policy wrote it (`with_version`)."""

    endpoint: Endpoint
    looking: Patience
    asking: Patience
    answer_tokens: int = ANSWER_TOKENS
    """An answer is cut there, and a cut one is no answer."""

    def find_model(self, name: str) -> Model | NoModel:
        """The model of that name, or the only one there is: llama.cpp serves one, whatever it is asked for."""
        body = bytearray()

        def take(piece: bytes) -> bool:
            body.extend(piece)
            return False

        answer = exchange(self.endpoint, "GET", "/models", patience=self.looking, take=take)
        if isinstance(answer, Unanswered):
            return NoModel(f"no model's server answers at {self.endpoint}", is_running=answer.kind != "unreachable")
        if answer.status == 503:
            return NoModel("the model's server is still loading its model", is_running=True)
        found = json_object(bytes(body)) if answer.status == 200 else None
        data = found.get("data") if found is not None else None
        if not isinstance(data, list):
            return NoModel(f"what answers at {self.endpoint} has no list of models", is_running=True)
        models = {entry["id"]: entry for entry in data if isinstance(entry, dict) and isinstance(entry.get("id"), str)}
        chosen = name if name in models else next(iter(models)) if len(models) == 1 else ""
        if not chosen:
            listed = ", ".join(sorted(models)[:5]) or "none"
            return NoModel(f"the server has no model “{name}”; `triage_model` can be one of: {listed}", is_running=True)
        return Model(chosen, _digest(models[chosen]))

    def body(self, model: Model, messages: Messages, schema: dict[str, object]) -> bytes:
        """The request. Two words beyond the standard go to servers on this machine only, which know or ignore them."""
        request: dict[str, object] = {
            "model": model.name,
            "messages": [
                {"role": role, "content": content}
                for role, content in (("system", messages.system), ("user", messages.user))
                if content
            ],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "verdict", "strict": True, "schema": schema},
            },
            "temperature": TEMPERATURE,
            "seed": SEED,
            "max_tokens": self.answer_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if self.endpoint.is_loopback:
            # llama.cpp: with its prompt cache, temperature 0 gave 4 equal answers of 8; without it, 8.
            request["cache_prompt"] = False
            request["chat_template_kwargs"] = {"enable_thinking": False}
        return json.dumps(request).encode()

    def ask(self, body: bytes | Cleared) -> Completion | AskFailed:
        """The answer, gathered from the events; ended at blanks and in time."""
        answer = Answer()

        def take(piece: bytes) -> bool:
            return any(_take_line(answer, line) for line in answer.lines(piece))

        outcome = exchange(self.endpoint, "POST", "/chat/completions", patience=self.asking, take=take, body=body)
        if isinstance(outcome, Answered) and outcome.status != 200:
            return refusal_of(outcome.status, outcome.body, "the model's server")
        if isinstance(outcome, Unanswered):
            return answer.failed or failure(outcome)
        if outcome.whole:
            _take_line(answer, answer.rest())
        return answer.result()


def with_version(endpoint: Endpoint) -> Endpoint:
    """`endpoint` with the path `/v1`, which most servers have and most people leave out."""
    return endpoint if endpoint.base else replace(endpoint, base="/v1")


def _take_line(answer: Answer, line: bytes) -> bool:
    """Whether the answer is over with this line of the event stream (or of a whole reply to a streamed request)."""
    field, _, value = line.partition(b":")
    data = value.strip() if field in (b"data", b"error") else line
    if not data or field in (b"event", b"id", b"retry") or line.startswith(b":"):
        return False
    if data == b"[DONE]":
        return True
    found = json_object(data)
    if found is None:
        return answer.fail(f"the answer of {_NAME} cannot be read", retry=True)
    if found.get("error") or field == b"error":
        return answer.fail(f"{_NAME} stopped with an error", retry=True)
    usage = found.get("usage")
    if isinstance(usage, dict) and isinstance(usage.get("prompt_tokens"), int):
        answer.prompt_tokens = usage["prompt_tokens"]
        said = usage.get("completion_tokens")
        answer.answer_tokens = said if isinstance(said, int) else None
    return _take_choice(answer, found)


def _take_choice(answer: Answer, found: Mapping[str, object]) -> bool:
    choices = found.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    said = choice.get("delta") or choice.get("message")
    content = said.get("content") if isinstance(said, dict) else None
    over = answer.add(content) if isinstance(content, str) else False
    reason = choice.get("finish_reason")
    if isinstance(reason, str) and reason:
        answer.ending = reason
    return over


def _digest(entry: Mapping[str, object]) -> str:
    """Of what the server tells of the model; its `created` is the time of asking and its file may be replaced, so this
    is less than Ollama's digest and all there is."""
    told = {key: value for key, value in entry.items() if key != "created"}
    return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
