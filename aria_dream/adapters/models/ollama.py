"""Ollama's own wire: `/api/tags` and `/api/chat`, as its `docs/api.md` describes them.

Its OpenAI-compatible wire would do for the answers, but cannot set `num_ctx`, and Ollama cuts longer prompts silently.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

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
from aria_dream.judging.triage_prompt import ANSWER_TOKENS, WINDOW

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aria_dream.adapters.gate.egress import Cleared, Endpoint
    from aria_dream.adapters.models.model_http import Patience
    from aria_dream.judging.prompt_text import Messages

_CALL = re.compile(r"/(?:api|v1)(?:/.*)?\Z")
ALWAYS_THINKING = frozenset({"gptoss"})
"""Families that think whatever they are asked: “no” is not heard, “little” is."""
CLOUD = "this model runs in Ollama's cloud, so notes would leave this machine; choose another `triage_model`"


@dataclass(frozen=True, kw_only=True)
class OllamaServer:
    """One Ollama."""

    endpoint: Endpoint
    looking: Patience
    asking: Patience
    answer_tokens: int = ANSWER_TOKENS
    """An answer is cut there, and a cut one is no answer."""

    def find_model(self, name: str) -> Model | NoModel:
        """The model, as `/api/tags` lists it; a tag that is left out means `latest`. One of the cloud is none."""
        if is_cloud_name(name):
            return NoModel(f"“{name}”: {CLOUD}", is_running=True)
        models = self._listed()
        if isinstance(models, NoModel):
            return models
        entry = next((each for each in models if _is_named(each, name)), None)
        if entry is None:
            return NoModel(f"Ollama runs but has no model “{name}”; `ollama pull {name}` gets it", is_running=True)
        if _is_remote(entry):
            return NoModel(f"“{name}”: {CLOUD}", is_running=True)
        digest, details = entry.get("digest"), entry.get("details")
        family = details.get("family") if isinstance(details, dict) else None
        return Model(
            name, digest if isinstance(digest, str) else "", family if isinstance(family, str) else ""
        )

    def forwards(self, name: str) -> bool:
        """Whether this is an Ollama that would send what the model is asked to its cloud; False where it is none."""
        if is_cloud_name(name):
            return True
        models = self._listed()
        if isinstance(models, NoModel):
            return False
        return any(_is_named(entry, name) and _is_remote(entry) for entry in models)

    def _listed(self) -> list[dict[str, object]] | NoModel:
        """What `/api/tags` lists; nothing of a note is asked with it."""
        body = bytearray()
        answer = exchange(self.endpoint, "GET", "/api/tags", patience=self.looking, take=lambda p: _more(body, p))
        found = json_object(bytes(body)) if isinstance(answer, Answered) and answer.status == 200 else None
        models = found.get("models") if found is not None else None
        if not isinstance(models, list):
            return no_list("Ollama", self.endpoint, answer, self.looking.total_s)
        return [entry for entry in models if isinstance(entry, dict)]

    def body(self, model: Model, messages: Messages, schema: dict[str, object]) -> bytes:
        """The request. `truncate` and `shift` are of newer versions and make an error of what older ones cut."""
        return json.dumps(
            {
                "model": model.name,
                "messages": [
                    {"role": role, "content": content}
                    for role, content in (("system", messages.system), ("user", messages.user))
                    if content
                ],
                "format": schema,
                "stream": True,
                "think": "low" if model.family in ALWAYS_THINKING else False,
                "truncate": False,
                "shift": False,
                "options": {
                    "temperature": TEMPERATURE,
                    "seed": SEED,
                    "num_ctx": WINDOW,
                    "num_predict": self.answer_tokens,
                },
            }
        ).encode()

    def ask(self, body: bytes | Cleared, within_s: float = math.inf) -> Completion | AskFailed:
        """The answer, gathered from the stream; ended at blanks, at the first sign of the cloud, and in time."""
        answer = GrowingAnswer()

        def take(piece: bytes) -> bool:
            return any(_take_line(answer, line) for line in answer.lines(piece))

        outcome = exchange(
            self.endpoint, "POST", "/api/chat", patience=self.asking.within(within_s), take=take,
            has_begun=lambda: answer.has_begun, body=body,
        )  # fmt: skip
        if isinstance(outcome, Answered) and outcome.status != 200:
            return refusal_of(outcome.status, outcome.body, "Ollama")
        if isinstance(outcome, Unanswered):
            return answer.failed or failure(outcome)
        if outcome.whole:
            _take_line(answer, answer.rest())
        return answer.result()


def at_root(endpoint: Endpoint) -> Endpoint:
    """`endpoint` without `/api`, `/v1` and what follows: people copy the address of a call."""
    return replace(endpoint, base=_CALL.sub("", endpoint.base))


def is_cloud_name(name: str) -> bool:
    """Whether Ollama would forward the model of that name to its cloud: `…:cloud`, `…-cloud`."""
    return name.strip().casefold().endswith((":cloud", "-cloud"))


def _take_line(answer: GrowingAnswer, line: bytes) -> bool:
    """Whether the answer is over with this line of the stream."""
    if not line:
        return False
    found = json_object(line)
    if found is None:
        return answer.fail("Ollama's answer is not JSON")
    if found.get("error"):
        return answer.fail("Ollama stopped with an error", retry=True)
    if _is_remote(found):
        return answer.fail("the model runs in Ollama's cloud", is_gone=True)
    message = found.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(message, dict) and message.get("thinking"):
        answer.think()
    over = answer.add(content) if isinstance(content, str) else False
    if found.get("done") is True:
        reason, count, said = (found.get(key) for key in ("done_reason", "prompt_eval_count", "eval_count"))
        answer.ending = reason if isinstance(reason, str) and reason else "stop"
        answer.prompt_tokens = count if isinstance(count, int) else None
        answer.answer_tokens = said if isinstance(said, int) else None
        return True
    return over


def _is_named(entry: Mapping[str, object], name: str) -> bool:
    """Whether the entry is the model `name`; `llama3` is `llama3:latest`."""
    wanted = name.strip().casefold()
    full = wanted if ":" in wanted.rpartition("/")[2] else f"{wanted}:latest"
    names = (entry.get("name"), entry.get("model"))
    return any(isinstance(one, str) and one.casefold() in (wanted, full) for one in names)


def _is_remote(entry: Mapping[str, object]) -> bool:
    return bool(entry.get("remote_host") or entry.get("remote_model"))


def _more(body: bytearray, piece: bytes) -> bool:
    body += piece
    return False
