"""Language models behind an HTTP endpoint that speaks OpenAI's protocol: every answer is kept as
soon as it comes.

A request is sent again where that may help, never twice at once.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import logging
import math
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from queue import SimpleQueue
from typing import Any, NamedTuple

from mtbias.errors import DependencyError, MissingResourceError, ModelError, SettingError
from mtbias.files.strict_json import load_json
from mtbias.machine import network
from mtbias.machine.devices import install_command
from mtbias.settings import LanguageModelSettings
from mtbias.translate.language_models.answers import (
    MOST_TOKENS,
    Answer,
    AnswersPlan,
    changed_model,
)
from mtbias.translate.language_models.prompt_files import Prompt, load_prompt
from mtbias.translate.remote_server import (
    begun_date,
    key_from,
    server_address,
    server_line,
    without_key,
)
from mtbias.translate.system import Asked, Begun, Sources, Store, System, SystemKind
from mtbias.types import Json, SourceSentence

SCHEME = "openai"
TRIES = 9
"""Times that a request is sent at most: with the waits between them over a minute, the window of
most rate limits."""
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0
"""Seconds before the second try, doubled for each further one; up to half of it is taken off by
chance."""
_MOST_RETRY_AFTER = 900.0
"""A server that wants more seconds of rest than this has closed for today: waiting would only look
like working."""
_AGAIN = {408, 409, 425, 429}
"""Status codes beside 500 and above after which the same request may be answered."""
_MOST_TOKENS = 10_000_000
"""A server that counts more for one request, more than any model reads, has told nothing."""
_HEADERS = ("content-encoding", "retry-after")
_KEY = "OPENAI_API_KEY"

_log = logging.getLogger(__name__)


class EndpointKind(SystemKind):
    """``openai:NAME``: the model NAME of an endpoint (`mtbias.translate.system.SystemKind`)."""

    needs_network = True
    is_other_program = True

    def place(self, asked: Asked) -> str:
        """The server's address, as the settings have it."""
        return asked.language_model.base_url

    def open(self, asked: Asked) -> EndpointSystem:
        """The model; the server is asked nothing yet. See `SystemKind.open`.

        Raises:
            UsageError: no name, an address that is none, no such prompt, or one for other
                languages.
        """
        if not asked.name.strip():
            raise SettingError(
                "model", f"expected {SCHEME}:NAME, got {SCHEME}: without the name of a model"
            )
        settings = asked.language_model
        prompt = load_prompt(settings.prompt)
        prompt.filled(
            "", asked.lang, asked.source_lang
        )  # refuses a language that it is not for, before anything is loaded
        server_address(settings.base_url)
        offline = asked.offline or network.asked_for()
        return EndpointSystem(asked.name, asked.lang, settings, prompt, offline, asked.source_lang)


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
    """Whether only a server on this machine may be asked."""
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
    """Of the run's beginning (UTC), since what a server answers may change."""

    @cached_property
    def identity(self) -> Mapping[str, Json]:
        """Model, server, prompt and parameters.

        The same identity elsewhere, or later, need not give the same translations: a server with
        temperature 0 is not deterministic.
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
        """Where the server is another machine."""
        return not network.is_local(self.system.host)

    def make(
        self, store: Store, parts: Sequence[int], circumstances: dict[str, Json]
    ) -> Generator[tuple[int, list[Answer]]]:
        """The answers of `parts` as they come, each kept already; `ModelError` as in
        `EndpointClient.ask_all`.

        Requests run in a thread of their own, so they continue while nobody reads answers. Where an
        error or a signal ends it, what is on its way is awaited and kept, at most for --timeout: it
        is paid for. A second signal ends the waiting.
        """
        if not parts:  # nothing is asked, so neither network nor key is needed
            return
        missing = set(parts)
        kept = (self.kept(store, part) for part in range(len(self.parts)) if part not in missing)
        known = next((found[0].model for found in kept if found and found[0].model), None)
        client = EndpointClient(self.system, known)
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
            while (found := answered.get()) is not None:
                yield found
            task.result()
        finally:
            try:
                # After an error it waits already: to cancel it then would end the waiting.
                loop.call_soon_threadsafe(lambda: client.stopped or task.cancel())
                ended.wait()
            finally:
                loop.call_soon_threadsafe(task.cancel)
                ended.wait()
                loop.close()
                _ = (
                    task.cancelled() or task.exception()
                )  # looked at, so that asyncio does not print it
        circumstances |= {
            "requests": client.requests,
            "tokens": client.tokens,
            "concurrency": self.system.settings.concurrency,
            "requests_failed": dict(sorted(client.faults.items())),
        }


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why a request has no answer, where another try may have one."""

    kind: str
    """For the count in the manifest: ``429``, ``timeout``, …"""
    text: str
    wait: float | None = None
    """Seconds that the server asks for."""


@dataclass
class EndpointClient:
    """Puts messages to one model of one server."""

    system: EndpointSystem
    answered_as: str | None = None
    """The model's name as the server gives it: numbers of two models at once are those of none."""
    requests: int = 0
    """Requests that were sent."""
    tokens: int = 0
    """Tokens of prompts and answers, as the server counts them."""
    faults: Counter[str] = field(default_factory=Counter)
    """Requests that had no answer, by what was wrong."""
    stopped: bool = False
    """Whether nothing is sent any more, and what is on its way is awaited."""
    _next: float = 0.0
    """When the next request may be sent, by the loop's clock."""
    _sending: set[asyncio.Task[Any] | None] = field(default_factory=set)
    """Who waits for an answer."""
    _reached: bool = False

    @property
    def _settings(self) -> LanguageModelSettings:
        return self.system.settings

    @property
    def _host(self) -> str:
        return self.system.host

    @cached_property
    def _key(self) -> str:
        """The key, from the environment; empty where there is none and none is needed."""
        named = self._settings.api_key_env
        if named is None and network.is_local(self._host):
            return ""  # a program that listens on this machine need not be the user's own
        advice = (
            "; name another with --api-key-env (any text will do where the server asks for none)"
        )
        return key_from(named or _KEY, self._host, advice)

    @cached_property
    def _client(self) -> Any:  # noqa: ANN401 - openai.AsyncOpenAI, which is imported late
        try:
            import openai
        except ImportError:
            raise DependencyError(
                f"endpoints need the package openai: {install_command('api')}"
            ) from None
        # No redirect is followed: it would carry the key to another host. On this machine no proxy
        # is asked.
        http = openai.DefaultAsyncHttpxClient(
            follow_redirects=False,
            trust_env=not network.is_local(self._host),
            event_hooks={"response": [self._received]},
        )
        return openai.AsyncOpenAI(
            api_key=self._key or "none",
            base_url=self._settings.base_url,
            timeout=None,  # its own is of each read, ours of the whole request
            max_retries=0,  # ours count against the budget, rest for as long as the server asks, and can be stopped
            http_client=http,
        )

    async def _received(self, response: Any) -> None:  # noqa: ANN401 - httpx2.Response
        """Leave of the head of a response what is used, without the key: the library logs it where
        that is wanted.
        """
        used = {
            name: without_key(response.headers[name], self._key)
            for name in _HEADERS
            if name in response.headers
        }
        response.headers = type(response.headers)(used)
        response.extensions.pop("reason_phrase", None)
        response.encoding = (
            "utf-8"  # as JSON is; some encodings that a server may name break the library
        )

    def connect(self) -> None:
        """Load the library and read the key.

        Only now is it looked at whether the server may be asked: who scores a run that has all its
        answers needs no network.

        Raises:
            MissingResourceError: the network is forbidden, and the endpoint is on another machine.
            DependencyError: the library is not installed.
            ModelError: there is no key.
        """
        if self.system.offline and not network.is_local(self._host):
            raise MissingResourceError(
                f"the endpoint {self._host} is on another machine, and the network may not be used; start a server on "
                "this machine (--base-url http://127.0.0.1:PORT/v1), or allow the network"
            )
        _ = self._client

    async def ask_all(
        self,
        questions: Iterable[tuple[int, Sequence[Mapping[str, str]]]],
        keep: Callable[[int, Answer], object],
    ) -> None:
        """Ask numbered questions, some at the same time; `keep` gets each answer with its number.

        An error, or that the task is cancelled, ends it: nothing is sent any more, and what is on
        its way is awaited, unless the task is cancelled again.

        Raises:
            ModelError: the server refuses a request, or does not answer it even after some tries;
                the budget is used up; another model answers.
        """
        left = iter(questions)

        async def work() -> None:
            for number, messages in left:
                keep(number, await self._ask(messages))

        workers = {asyncio.create_task(work()) for _ in range(self._settings.concurrency)}
        try:
            await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            self.stopped = True
            for each in workers - self._sending:
                each.cancel()
            try:
                ends = await asyncio.gather(*workers, return_exceptions=True)
            finally:
                await self._client.close()
        for error in ends:
            if isinstance(error, Exception):
                raise error

    async def _ask(self, messages: Sequence[Mapping[str, str]]) -> Answer:
        for tried in range(1, TRIES + 1):
            await self._turn()
            found = await self._send(messages)
            if isinstance(found, Answer):
                self.tokens += (found.prompt_tokens or 0) + (found.answer_tokens or 0)
                self.answered_as = self.answered_as or found.model
                if found.model not in {None, self.answered_as}:
                    raise changed_model(str(self.answered_as), str(found.model))
                return found
            if found.kind == "connection" and not self._reached:
                raise ModelError(
                    f"{self._host}: {found.text}; check --base-url, and that the server runs"
                )
            if (found.wait or 0) > _MOST_RETRY_AFTER:
                raise ModelError(
                    f"{self._host}: {found.text}, and wants no request for {found.wait:.0f} s; run the same command "
                    "later, it resumes"
                )
            self.faults[found.kind] += 1
            if self.faults[found.kind] == 1 and tried < TRIES and not self.stopped:
                _log.warning("%s: %s; the request is sent again", self._host, found.text)
            await self._rest(found, tried)
        raise ModelError(
            f"{self._host}: {found.text}, {TRIES} times; what was answered is kept in the folder of the run (--out), "
            "the same command resumes"
        )

    async def _turn(self) -> None:
        """Wait for the turn of a request, and count it.

        Requests are spread evenly over a minute: a server that counts in shorter windows than a
        minute, as most do, refuses bursts that the minute's limit would allow.
        """
        most, now = self._settings.max_requests, asyncio.get_running_loop().time()
        if self.stopped:
            raise asyncio.CancelledError
        if most is not None and self.requests >= most:
            raise ModelError(
                f"--max-requests {most} is reached: {self.requests:,} requests were sent; what was answered is kept in "
                "the folder of the run (--out): the same command continues"
            )
        self.requests += 1
        at = max(now, self._next)
        self._next = at + 60 / (self._settings.requests_per_minute or math.inf)
        await asyncio.sleep(at - now)

    async def _rest(self, fault: _Fault, tried: int) -> None:
        """Wait before the next try; where the server has too many requests, all wait."""
        backoff = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (tried - 1))
        jittered = backoff * random.uniform(0.5, 1)  # noqa: S311 - so that requests do not return at once
        seconds = jittered if fault.wait is None else fault.wait + jittered * 0.1
        if fault.kind == "429":
            self._next = max(self._next, asyncio.get_running_loop().time() + seconds)
        elif tried < TRIES and not self.stopped:
            await asyncio.sleep(seconds)

    async def _send(self, messages: Sequence[Mapping[str, str]]) -> Answer | _Fault:
        """Send one request; `ModelError` where it would not be answered the next time either."""
        import openai

        most = (
            "max_completion_tokens" if self._host == "api.openai.com" else "max_tokens"
        )  # each knows but one
        temperature = self._settings.temperature
        extra = {} if temperature == "server" else {"temperature": temperature}
        request = self._client.chat.completions.with_raw_response.create(
            model=self.system.model,
            messages=list(messages),
            **{most: self._settings.answer_tokens or MOST_TOKENS},
            **extra,
        )
        task = asyncio.current_task()
        self._sending.add(task)
        try:
            # From the connection to the last byte.
            raw = await asyncio.wait_for(request, self._settings.timeout)
            self._reached = True
            return self._read(raw.content)
        except (TimeoutError, openai.APITimeoutError):
            return _Fault(
                "timeout", f"no whole answer after {self._settings.timeout:g} s (--timeout)"
            )
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error  # without the libraries' layers around it
            return _Fault(
                "connection",
                f"the connection failed ({self._line(str(cause)) or type(cause).__name__})",
            )
        except ValueError as error:
            return _Fault(
                "malformed", f"the answer is no chat completion ({self._line(str(error))})"
            )
        except openai.APIStatusError as error:
            self._reached = True
            return self._judge(error)
        finally:
            self._sending.discard(task)

    def _read(self, body: bytes) -> Answer:
        """The answer in the body of a response, of which nothing else is kept; `ValueError` where
        there is none.
        """
        found = load_json(body)
        try:
            choice, usage = found["choices"][0], found.get("usage")
            said = choice["message"].get("content") or choice["message"].get("refusal") or ""
            names = [choice.get("finish_reason"), found.get("model")]
        except (LookupError, TypeError, AttributeError):
            raise ValueError("expected choices with a message") from None
        if not all(text is None or isinstance(text, str) for text in (said, *names)):
            raise ValueError("expected a message of text")
        finish, model = (name and self._line(name) for name in names)
        counts = [
            usage.get(f"{kind}_tokens") if isinstance(usage, dict) else None
            for kind in ("prompt", "completion")
        ]
        tokens = [
            count if type(count) is int and 0 <= count <= _MOST_TOKENS else None for count in counts
        ]
        # Half of a surrogate pair, which JSON can say and no file can hold, becomes the sign for
        # what is unreadable.
        text = said.encode(errors="surrogatepass").decode(errors="replace")
        return Answer(without_key(text, self._key), finish, model, *tokens)

    def _judge(self, error: Any) -> Answer | _Fault:  # noqa: ANN401 - openai.APIStatusError
        """What a response that is an error means."""
        status, said = error.status_code, self._line(_said(error))
        if status in _AGAIN or status >= 500:
            return _Fault(
                str(status), f"HTTP {status}: {said}", _retry_after(error.response.headers)
            )
        if status in {401, 403}:  # what the server says of a key may hold the key
            variable = self._settings.api_key_env or _KEY
            raise ModelError(
                f"{self._host} refuses the key (HTTP {status}); set {variable} to one that may use {self.system.model}"
                + (
                    ""
                    if self._key
                    else "; none was sent: --api-key-env names the variable that holds it"
                )
            ) from None
        if error.code == "content_filter":  # of one sentence alone: there is nothing to correct
            return Answer("", "content_filter")
        advice = (
            "; check --base-url (most end in /v1) and the model's name"
            if status in {404, 405}
            else ""
        )
        raise ModelError(
            f"{self._host} refuses the request (HTTP {status}): {said}{advice}"
        ) from None

    def _line(self, text: str) -> str:
        return server_line(text, self._key)


def _said(error: Any) -> str:  # noqa: ANN401 - openai.APIStatusError
    """The server's own words."""
    body = error.body
    if isinstance(body, dict):
        return str(
            body.get("message") or body.get("detail") or json.dumps(body, ensure_ascii=False)
        )
    return str(body or error.response.reason_phrase or "no reason")


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds of a Retry-After, which may be a date; None where there is none that can be
    read.
    """
    value = headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (
            ValueError,
            OverflowError,
        ):  # no date, or one of no year, hour or zone that there can be
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


class RequestEstimate(NamedTuple):
    """What a run will ask of an endpoint: requests and tokens of what is missing of it."""

    requests: int
    """One for each distinct source, as often as it is repeated, that has no answer yet."""
    kept: int
    """Answers that are there."""
    prompt_tokens: int
    answer_tokens: int


def estimate_requests(plan: EndpointPlan, store: Store) -> RequestEstimate:
    """What `plan` lacks in `store`.

    A prompt has a token for four bytes and four for each message, an answer one for two characters
    of its source: English has about four characters a token, and a translation takes up to twice
    its source's, more in other scripts.
    """
    missing = [
        source for part, (source,) in enumerate(plan.parts) if plan.kept(store, part) is None
    ]
    filled = partial(plan.prompt.filled, lang=plan.lang, source_lang=plan.system.source_lang)
    asked = [message["content"] for source in missing for message in filled(source)]
    prompts = sum(4 + math.ceil(len(text.encode(errors="replace")) / 4) for text in asked)
    return RequestEstimate(
        len(missing), len(plan.parts) - len(missing), prompts, sum(map(len, missing)) // 2
    )
