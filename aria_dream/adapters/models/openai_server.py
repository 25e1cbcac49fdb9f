"""The wire of OpenAI's chat completions, as llama.cpp, LM Studio and others serve it on this machine."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from aria_dream.adapters.models.model_http import Answered, Unanswered, exchange
from aria_dream.adapters.models.model_server import (
    SEED,
    TEMPERATURE,
    AskFailed,
    Completion,
    GrowingAnswer,
    Model,
    NoModel,
    failure,
    json_object,
    no_list,
    refusal_of,
)
from aria_dream.adapters.models.ollama import CLOUD, OllamaServer, at_root
from aria_dream.judging.triage_prompt import ANSWER_TOKENS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aria_dream.adapters.gate.egress import Cleared, Endpoint
    from aria_dream.adapters.models.model_http import Patience
    from aria_dream.judging.prompt_text import Messages

_NAME: Final = "the model's server"
_CALL = re.compile(r"(?:/chat)?/completions\Z|/chat\Z|/models\Z")
_BLANK = b" \t\r\n\xef\xbb\xbf"
"""White space and the mark of UTF-8 before an answer."""
_FORM, _EXTRAS = "form", "extras"
_FORM_WORDS = ("response_format", "json_schema", "json_object", "schema", "grammar")
"""Words by which a server says that it cannot be held to a form."""


@dataclass(frozen=True, kw_only=True)
class OpenAIServer:
    """One server. Its `endpoint` has the path `/v1`, whether or not the policy wrote it (`with_version`)."""

    endpoint: Endpoint
    looking: Patience
    asking: Patience
    answer_tokens: int = ANSWER_TOKENS
    """An answer is cut there, and a cut one is no answer."""
    refused: set[str] = field(default_factory=set, compare=False)
    """Parts of the question that this server turned out not to know: `extras`, `form`. They are left out from then on,
    and nothing is lost by it but steadiness: no answer is read less strictly."""

    def find_model(self, name: str) -> Model | NoModel:
        """The model of that name, or the only one that can talk: llama.cpp serves one, whatever it is asked for.

        Ollama speaks this wire too, and lists models of its cloud on it as if they were here: none of those is one.
        """
        body = bytearray()

        def take(piece: bytes) -> bool:
            body.extend(piece)
            return False

        answer = exchange(self.endpoint, "GET", "/models", patience=self.looking, take=take)
        found = json_object(bytes(body)) if isinstance(answer, Answered) and answer.status == 200 else None
        data = found.get("data", "") if found is not None else ""
        if data is not None and not isinstance(data, list):
            return no_list(_NAME, self.endpoint, answer, self.looking.total_s)
        entries = [entry for entry in data or () if isinstance(entry, dict)]
        models = {entry["id"]: entry for entry in entries if isinstance(entry.get("id"), str)}
        able = sorted(each for each in models if "embed" not in each.lower())  # LM Studio lists one for vectors too
        chosen = name if name in models else able[0] if len(able) == 1 else ""
        if not chosen:
            listed = ", ".join(able[:5])
            hint = f"`triage_model` can be one of: {listed}" if listed else "it lists none that answers; load one"
            return NoModel(f"the server has no model “{name}”; {hint}", is_running=True)
        for root in dict.fromkeys((at_root(self.endpoint), replace(self.endpoint, base=""))):
            if OllamaServer(endpoint=root, looking=self.looking, asking=self.asking).forwards(chosen):
                return NoModel(f"“{chosen}”: {CLOUD}", is_running=True)
        return Model(chosen, _digest(models[chosen]))

    def body(self, model: Model, messages: Messages, schema: dict[str, object]) -> bytes:
        """The request. Two words beyond the standard go to servers on this machine only; most know or ignore them."""
        request: dict[str, object] = {
            "model": model.name,
            "messages": [
                {"role": role, "content": content}
                for role, content in (("system", messages.system), ("user", messages.user))
                if content
            ],
            "temperature": TEMPERATURE,
            "max_tokens": self.answer_tokens,
            "stream": True,
        }
        if _FORM not in self.refused:
            request["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "verdict", "strict": True, "schema": schema},
            }
        if _EXTRAS not in self.refused:
            request |= {"seed": SEED, "stream_options": {"include_usage": True}}
        if _EXTRAS not in self.refused and self.endpoint.is_loopback:
            # llama.cpp: with its prompt cache, temperature 0 gave 4 equal answers of 8; without it, 8.
            request["cache_prompt"] = False
            request["chat_template_kwargs"] = {"enable_thinking": False, "reasoning_effort": "low"}
        return json.dumps(request).encode()

    def ask(self, body: bytes | Cleared, within_s: float = math.inf) -> Completion | AskFailed:
        """The answer, gathered from the events; ended at blanks and in time.

        A server that refuses a part of the question which is beyond the plainest one is to be asked once more, without.
        """
        answer = GrowingAnswer()
        reply = _Reply()

        def take(piece: bytes) -> bool:
            return not reply.takes(piece) and any(_take_line(answer, line) for line in answer.lines(piece))

        outcome = exchange(
            self.endpoint, "POST", "/chat/completions", patience=self.asking.within(within_s), take=take,
            has_begun=lambda: answer.has_begun or reply.is_whole, body=body,
        )  # fmt: skip
        if isinstance(outcome, Answered) and outcome.status != 200:
            return self._refused(outcome)
        if isinstance(outcome, Unanswered):
            return answer.failed or failure(outcome)
        if outcome.whole:
            _take_line(answer, reply.text() or answer.rest())
        return answer.result()

    def _refused(self, answer: Answered) -> AskFailed:
        """Why there is no answer, and whether a plainer question may get one."""
        failed = refusal_of(answer.status, answer.body, _NAME)
        said = answer.body.decode("utf-8", "replace").lower()
        if answer.status not in (400, 422) or failed != refusal_of(answer.status, b"", _NAME):
            return failed
        likelier = (_FORM, _EXTRAS) if any(word in said for word in _FORM_WORDS) else (_EXTRAS, _FORM)
        part = next((each for each in likelier if each not in self.refused), None)
        if part is None:
            return failed
        self.refused.add(part)
        return replace(failed, retry=True)


def with_version(endpoint: Endpoint) -> Endpoint:
    """`endpoint` with the path `/v1`, which most servers have and most people leave out, and without that of a call."""
    base = _CALL.sub("", endpoint.base)
    return replace(endpoint, base=base or "/v1")


class _Reply:
    """A whole reply to a request that asked for a stream: it may be laid out over many lines."""

    def __init__(self) -> None:
        self._has_begun = False
        self._gathered: bytearray | None = None

    def takes(self, piece: bytes) -> bool:
        """Whether `piece` belongs to a whole reply, and is kept here."""
        if not self._has_begun and (bare := piece.lstrip(_BLANK)):
            self._has_begun = True
            if bare.startswith(b"{"):
                self._gathered = bytearray()
        if self._gathered is None:
            return False
        self._gathered += piece
        return True

    @property
    def is_whole(self) -> bool:
        """Whether such a reply has begun."""
        return self._gathered is not None

    def text(self) -> bytes:
        """The reply; empty where it was a stream."""
        return bytes(self._gathered or b"").strip(_BLANK)


def _take_line(answer: GrowingAnswer, line: bytes) -> bool:
    """Whether the answer is over with this line of the event stream (or of a whole reply to a streamed request)."""
    line = line.lstrip(_BLANK)
    kind, _, value = line.partition(b":")
    data = value.strip() if kind in (b"data", b"error") else line
    if not data or kind in (b"event", b"id", b"retry") or line.startswith(b":"):
        return False
    if data == b"[DONE]":
        answer.ending = answer.ending or "done"
        return True
    found = json_object(data)
    if found is None:
        return answer.fail(f"the answer of {_NAME} is not JSON")
    if found.get("error") or kind == b"error":
        return answer.fail(f"{_NAME} stopped with an error", retry=True)
    usage = found.get("usage")
    if isinstance(usage, dict) and isinstance(usage.get("prompt_tokens"), int):
        answer.prompt_tokens = usage["prompt_tokens"]
        said = usage.get("completion_tokens")
        answer.answer_tokens = said if isinstance(said, int) else None
    return _take_choice(answer, found)


def _take_choice(answer: GrowingAnswer, found: Mapping[str, object]) -> bool:
    choices = found.get("choices")
    listed = [one for one in choices if isinstance(one, dict)] if isinstance(choices, list) else []
    choice: dict[str, object] = next((one for one in listed if not one.get("index")), {})
    said = choice.get("delta") or choice.get("message")
    content = said.get("content") if isinstance(said, dict) else None
    if isinstance(said, dict) and (said.get("reasoning_content") or said.get("reasoning")):
        answer.think()
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
