"""Language models behind an HTTP endpoint with OpenAI's protocol, as a translation system; every
answer is kept at once.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from queue import SimpleQueue
from typing import NamedTuple

from mtbias.errors import SettingError
from mtbias.machine import network
from mtbias.settings import LanguageModelSettings
from mtbias.translate.language_models.answers import MOST_TOKENS, Answer, AnswersPlan
from mtbias.translate.language_models.endpoint_client import EndpointClient
from mtbias.translate.language_models.prompt_files import Prompt, load_prompt
from mtbias.translate.remote_server import begun_date, server_address
from mtbias.translate.system import Begun, Sources, Store, System, SystemKind, SystemRequest
from mtbias.types import Json, SourceSentence

SCHEME = "openai"


class EndpointKind(SystemKind):
    """``openai:NAME``: the model NAME of an endpoint (`mtbias.translate.system.SystemKind`)."""

    needs_network = True
    is_other_program = True

    def place(self, request: SystemRequest) -> str:
        """The server's address, as the settings have it."""
        return request.language_model.base_url

    def open(self, request: SystemRequest) -> EndpointSystem:
        """The model, to whose server nothing is sent yet. See `SystemKind.open`.

        Raises:
            UsageError: the name is missing, the address is not one, there is no such prompt, or it
                is for other languages.
        """
        if not request.name.strip():
            raise SettingError(
                "model", f"expected {SCHEME}:NAME, got {SCHEME}: without the name of a model"
            )
        settings = request.language_model
        prompt = load_prompt(settings.prompt)
        # Before anything is loaded, refuse languages that the prompt is not for.
        prompt.filled("", request.lang, request.source_lang)
        server_address(settings.base_url)
        offline = request.offline or network.is_forbidden()
        return EndpointSystem(
            request.name, request.lang, settings, prompt, offline, request.source_lang
        )


ENDPOINT_KIND = EndpointKind()


@dataclass(frozen=True)
class EndpointSystem(System):
    """Asks one model of one server for translations into one language
    (`mtbias.translate.system.System`).
    """

    model: str
    lang: str
    settings: LanguageModelSettings
    prompt: Prompt
    offline: bool = False
    """Whether only a server on this machine may be used."""
    source_lang: str = "en"
    needs_network = True
    uses = frozenset(LanguageModelSettings.__dataclass_fields__)
    """The settings that change something."""

    def plan(self, corpus: Sources, begun: Begun) -> EndpointPlan:
        """See `mtbias.translate.system.System`; the date is that of the run's beginning."""
        return EndpointPlan(self, corpus.instances, self.prompt, self.lang, begun_date(begun))

    @cached_property
    def host(self) -> str:
        """The server's host."""
        return server_address(self.settings.base_url).hostname or ""


@dataclass(frozen=True, eq=False)
class EndpointPlan(AnswersPlan):
    """How an endpoint translates one corpus (`mtbias.translate.system.Plan`): a part is one answer.

    So a killed run has lost no answer that came, which was paid for.
    """

    system: EndpointSystem
    instances: Sequence[SourceSentence]
    prompt: Prompt
    lang: str
    date: str
    """Date of the run's beginning (UTC), since a server's answers may change."""

    @cached_property
    def identity(self) -> Mapping[str, Json]:
        """Model, server, prompt and parameters.

        The same identity need not give the same translations elsewhere or later: even with
        temperature 0 a server is not deterministic.
        """
        settings, temperature = self.system.settings, self.system.settings.temperature
        return {
            "model": f"{SCHEME}:{self.system.model}",
            "server": self.system.host,
            "prompt": self.prompt.label,
            "temperature": temperature if isinstance(temperature, str) else f"{temperature:g}",
            "answer_tokens": settings.answer_tokens or MOST_TOKENS,
            **({} if settings.repeat == 1 else {"repeat": settings.repeat}),
            "date": self.date,
        }

    @property
    def settings(self) -> Mapping[str, Json]:
        """The date, on which processes that begin around midnight must agree."""
        return {"date": self.date}

    @cached_property
    def parts(self) -> Sequence[tuple[str]]:
        """See `mtbias.translate.outputs.PartsPlan`: all sources, then all again."""
        return [(source,) for source in self.distinct * self.system.settings.repeat]

    @property
    def frees_cpu(self) -> bool:
        """Whether the server is another machine."""
        return not network.is_local(self.system.host)

    def make(
        self, store: Store, parts: Sequence[int], circumstances: dict[str, Json]
    ) -> Generator[tuple[int, list[Answer]]]:
        """The answers of `parts` as they come, each kept already; `ModelError` as in
        `EndpointClient.ask_all`.

        Requests run in a thread of their own, and continue while nobody reads answers. After an
        error or a signal, answers on their way are awaited, at most for --timeout, and kept, since
        they are paid for. A second signal ends the waiting.
        """
        if not parts:  # without a request neither network nor key is needed
            return
        system = self.system
        client = EndpointClient(
            system.model,
            system.settings,
            system.host,
            system.offline,
            self._earlier_model(store, set(parts)),
        )
        client.connect()
        answered: SimpleQueue[tuple[int, list[Answer]] | None] = SimpleQueue()

        def keep(part: int, answer: Answer) -> None:
            self.put(store, part, [answer])
            answered.put((part, [answer]))

        def run() -> None:
            loop.run_until_complete(asyncio.wait({task}))
            ended.set()
            answered.put(None)

        questions = (
            (part, self.prompt.filled(self.parts[part][0], self.lang, self.system.source_lang))
            for part in parts
        )
        loop, ended = asyncio.new_event_loop(), threading.Event()
        task = loop.create_task(client.ask_all(questions, keep))
        threading.Thread(target=run, name="mtbias-requests", daemon=True).start()
        try:
            while (part_and_answer := answered.get()) is not None:
                yield part_and_answer
            task.result()
        finally:
            try:
                # After an error it is already waiting, which a cancellation would end.
                loop.call_soon_threadsafe(lambda: client.stopped or task.cancel())
                ended.wait()
            finally:
                loop.call_soon_threadsafe(task.cancel)
                ended.wait()
                loop.close()
                # Unless an exception is read, asyncio prints it.
                _ = task.cancelled() or task.exception()
        circumstances |= {
            "requests": client.requests,
            "tokens": client.tokens,
            "concurrency": self.system.settings.concurrency,
            "requests_failed": dict(sorted(client.faults.items())),
        }

    def _earlier_model(self, store: Store, missing: Collection[int]) -> str | None:
        """The model of the answers that are kept; None if there are none, or it is unknown."""
        for part in range(len(self.parts)):
            answers = None if part in missing else self.get(store, part)
            if answers and answers[0].model:
                return answers[0].model
        return None


class RequestEstimate(NamedTuple):
    """An estimate of the requests and tokens that a run still needs."""

    requests: int
    """Answers that are missing: one for each distinct source and repeat."""
    kept: int
    """Answers that exist."""
    prompt_tokens: int
    answer_tokens: int


def estimate_requests(plan: EndpointPlan, store: Store) -> RequestEstimate:
    """Estimate the requests for what `plan` lacks in `store`.

    A prompt is taken to have a token for four bytes and four for each message, an answer one for
    two characters of its source: English has about four characters a token, and a translation takes
    up to twice its source's tokens, more in other scripts.
    """
    parts = enumerate(plan.parts)
    missing = [source for part, (source,) in parts if plan.get(store, part) is None]
    prompt_tokens = 0
    for source in missing:
        for message in plan.prompt.filled(source, plan.lang, plan.system.source_lang):
            size = len(message["content"].encode(errors="replace"))
            prompt_tokens += 4 + math.ceil(size / 4)
    answered = len(plan.parts) - len(missing)
    return RequestEstimate(len(missing), answered, prompt_tokens, sum(map(len, missing)) // 2)
