"""Language models behind an HTTP endpoint as a translation system: every answer is kept as soon as it comes."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from mtbias.errors import MissingResourceError, SettingError
from mtbias.machine import network
from mtbias.settings import LanguageModelSettings
from mtbias.translate.language_models.answers import Answer, AnswersPlan, OneModel, keep_answers
from mtbias.translate.language_models.endpoint_client import EndpointClient, Pacing, Stopping, estimated_tokens
from mtbias.translate.language_models.prompt_files import Prompt, load_prompt
from mtbias.translate.remote_server import server_address
from mtbias.translate.system import Asked, Begun, Sources, Store
from mtbias.translate.system_kinds import ENDPOINT
from mtbias.types import Json, SourceSentence


class EndpointKind:
    """``openai:NAME``: the model NAME of an endpoint (`mtbias.translate.system.SystemKind`)."""

    needs_network = True

    def open(self, asked: Asked) -> EndpointSystem:
        """The model; the server is asked nothing yet. See `SystemKind.open`.

        Raises:
            UsageError: no name, an address that is none, no such prompt, or one for other languages.
        """
        if not asked.name.strip():
            raise SettingError("model", f"expected {ENDPOINT}:NAME, got {ENDPOINT}: without the name of a model")
        settings = asked.language_model
        prompt = load_prompt(settings.prompt)
        prompt.messages("", asked.lang)  # refuses a language that it is not for, before anything is loaded
        server_address(settings.base_url)
        return EndpointSystem(asked.name, asked.lang, settings, prompt, asked.offline or network.asked_for())


ENDPOINT_KIND = EndpointKind()


@dataclass(frozen=True)
class EndpointSystem:
    """Asks one model of one server for translations into one language (`mtbias.translate.system.System`)."""

    model: str
    lang: str
    settings: LanguageModelSettings
    prompt: Prompt
    offline: bool = False
    """Whether only a server on this machine may be asked."""
    needs_network = True
    uses = frozenset(LanguageModelSettings.__dataclass_fields__)
    """The settings that change something."""

    def plan(self, corpus: Sources, begun: Begun) -> EndpointPlan:
        """See `mtbias.translate.system.System`; the date is that of the run's beginning."""
        written = begun.get("date")
        date = written if isinstance(written, str) else datetime.now(tz=UTC).date().isoformat()
        return EndpointPlan(self, corpus.instances, self.prompt, self.lang, date)

    @cached_property
    def host(self) -> str:
        """The server's host."""
        return server_address(self.settings.base_url).hostname or ""

    def client(self) -> EndpointClient:
        """A client of the server, with the budget of the settings before it.

        Only now is it looked at whether it may be asked: who scores a run that has all its answers needs no network.

        Raises:
            MissingResourceError: the network is forbidden, and the endpoint is on another machine.
        """
        if self.offline and not network.is_local(self.host):
            raise MissingResourceError(
                f"the endpoint {self.host} is on another machine, and the network may not be used; start a server on "
                "this machine (--base-url http://127.0.0.1:PORT/v1), or allow the network"
            )
        limits = ("requests_per_minute", "tokens_per_minute", "max_requests", "max_tokens")
        pacing = Pacing(**{name: getattr(self.settings, name) for name in limits})
        return EndpointClient(self.model, self.settings, pacing)


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
    """Of the run's beginning (UTC), since what a server answers may change."""

    @cached_property
    def identity(self) -> Mapping[str, Json]:
        """Model, server, prompt and parameters.

        The same identity elsewhere, or later, need not give the same translations: a server with temperature 0 is not
        deterministic.
        """
        settings, prompt = self.system.settings, self.prompt
        return {
            "model": f"{ENDPOINT}:{self.system.model}",
            "server": self.system.host,
            "prompt": f"{prompt.name}/{prompt.version}#{prompt.sha256[:8]}",
            "temperature": settings.temperature
            if isinstance(settings.temperature, str)
            else f"{settings.temperature:g}",
            "answer_tokens": settings.answer_tokens,
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

    @cached_property
    def key(self) -> str:
        """See `mtbias.translate.system.Plan`."""
        return self._key(self.identity)

    @property
    def frees_cpu(self) -> bool:
        """Where the server is another machine."""
        return not network.is_local(self.system.host)

    def begin(self, store: Store) -> _Asking:
        """See `mtbias.translate.outputs.PartsPlan`."""
        return _Asking(self, store)


def _all_that_come(begun: Sequence[Future[tuple[int, list[Answer]]]]) -> Iterator[tuple[int, list[Answer]]]:
    """The answers, those too that come after an error ended the others; then the error is raised."""
    error: Exception | None = None
    for future in as_completed(begun):
        try:
            answered = future.result()
        except Stopping:
            continue
        except Exception as raised:  # noqa: BLE001 - raised below
            error = error or raised
            continue
        yield answered
    if error is not None:
        raise error


@dataclass
class _Asking:
    """The requests of one process."""

    plan: EndpointPlan
    store: Store
    one_model: OneModel = field(default_factory=OneModel)

    @cached_property
    def client(self) -> EndpointClient:
        return self.plan.system.client()

    def resume(self, pieces: Sequence[Answer]) -> None:
        """See `mtbias.translate.outputs.Work`; `ModelError` where another model answered."""
        for answer in pieces:
            self.one_model.check(answer)

    def make(self, parts: Sequence[int]) -> Generator[tuple[int, list[Answer]]]:
        """The answers of `parts` as they come, each kept already; `ModelError` as in `EndpointClient.ask`.

        An error ends all threads.
        """
        if not parts:
            return
        with closing(self.client) as client:
            client.prepare()
            pool = ThreadPoolExecutor(self.plan.system.settings.concurrency, thread_name_prefix="mtbias-ask")
            try:
                yield from _all_that_come([pool.submit(self._one, part) for part in parts])
            finally:
                # What is on its way is awaited and kept, at most for --timeout: it is paid for. Nothing new is sent. A
                # second signal ends the waiting, and so `close` what is on its way.
                client.pacing.stopped.set()
                pool.shutdown(cancel_futures=True)

    def _one(self, part: int) -> tuple[int, list[Answer]]:
        plan = self.plan
        try:
            answer = self.client.ask(plan.prompt.messages(plan.parts[part][0], plan.lang))
            self.one_model.check(answer)
            keep_answers(self.store, part, [answer])
        except Stopping:
            raise
        except BaseException:
            self.client.pacing.stopped.set()  # at once: otherwise others would go on until this error is read
            raise
        return part, [answer]

    def execution(self, generated: int) -> Mapping[str, Json]:
        """See `mtbias.translate.outputs.Work`."""
        if not generated:  # nothing was asked
            return {}
        pacing = self.client.pacing
        return {
            "requests": pacing.requests,
            "tokens": pacing.tokens,
            "concurrency": self.plan.system.settings.concurrency,
            "requests_failed": dict(sorted(self.client.faults.items())),
        }


# What a run will ask of an endpoint, and what that will cost about, before anything is asked.

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class RequestEstimate:
    """Requests and tokens of what is missing of a run."""

    requests: int
    """One for each distinct source, as often as it is repeated, that has no answer yet."""
    kept: int
    """Answers that are there."""
    prompt_tokens: int
    answer_tokens: int
    basis: str
    """What the tokens are estimated from."""

    def cost(self, price_in: float, price_out: float) -> float:
        """``(prompt tokens × price_in + answer tokens × price_out) / 10⁶``: prices of a million tokens."""
        return (self.prompt_tokens * price_in + self.answer_tokens * price_out) / _MILLION

    def to_json(self, price_in: float | None, price_out: float | None) -> Mapping[str, Json]:
        """The estimate as plain values, with the cost where both prices are given."""
        cost = None if price_in is None or price_out is None else round(self.cost(price_in, price_out), 6)
        return {**{name: getattr(self, name) for name in self.__slots__}, "cost": cost}


def estimate_requests(plan: EndpointPlan, store: Store) -> RequestEstimate:
    """What `plan` lacks in `store`.

    Tokens are those of the answers that are there, by what the server counted, for each character of their sources.
    Without any, a prompt has a token for four bytes, and an answer one for two characters of its source: English has
    about four characters a token, and a translation takes up to twice its source's, more in other scripts.
    """
    counted, missing = [], []
    for part, (source,) in enumerate(plan.parts):
        found = plan.kept(store, part)
        if found is None:
            missing.append(source)
        elif found[0].prompt_tokens is not None and found[0].answer_tokens is not None:
            counted.append((len(source), found[0].prompt_tokens, found[0].answer_tokens))
    characters = sum(map(len, missing))
    known = sum(length for length, _, _ in counted)
    if known:
        prompts, answers = (round(characters * sum(row[n] for row in counted) / known) for n in (1, 2))
        basis = f"{len(counted):,} answers that are there"
    else:
        prompts = sum(estimated_tokens(plan.prompt.messages(source, plan.lang)) for source in missing)
        answers, basis = characters // 2, "a token for four bytes of a prompt, and for two characters of a source"
    return RequestEstimate(len(missing), len(plan.parts) - len(missing), prompts, answers, basis)
