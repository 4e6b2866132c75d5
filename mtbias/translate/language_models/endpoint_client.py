"""Requests to an HTTP endpoint with OpenAI's protocol: their pace, retries, faults and answers.

A failed request is sent again where that may help, but never twice at once.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import logging
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mtbias.errors import DependencyError, MissingResourceError, ModelError
from mtbias.files.strict_json import load_json
from mtbias.machine import network
from mtbias.machine.devices import install_command
from mtbias.settings import LanguageModelSettings
from mtbias.translate.language_models.answers import MOST_TOKENS, Answer, changed_model
from mtbias.translate.remote_server import key_from, server_line, without_key

TRIES = 9
"""Most times that a request is sent; with the waits between, over a minute, which is the window of
most rate limits."""
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0
"""Seconds before the second try, doubled for each further one, and shortened at random by up to
half."""
_MOST_RETRY_AFTER = 900.0
"""Seconds of a Retry-After above which the run ends: it would only seem to be working."""
_AGAIN = {408, 409, 425, 429}
"""Status codes below 500 after which the same request may be answered."""
_MOST_TOKENS = 10_000_000
"""A higher count of tokens for one request, more than any model reads, is ignored."""
_HEADERS = ("content-encoding", "retry-after")
_KEY = "OPENAI_API_KEY"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why a request has no answer, though another try may get one."""

    kind: str
    """Name in the manifest's counts: ``429``, ``timeout``, …"""
    text: str
    wait: float | None = None
    """Seconds that the server asks for."""


@dataclass
class EndpointClient:
    """Sends messages to one model of one server."""

    model: str
    settings: LanguageModelSettings
    host: str
    offline: bool = False
    """Whether only a server on this machine may be used."""
    answered_as: str | None = None
    """The server's name of the model, which must stay the same."""
    requests: int = 0
    """Requests that were sent."""
    tokens: int = 0
    """Tokens of prompts and answers, as the server counts them."""
    faults: Counter[str] = field(default_factory=Counter)
    """Requests without an answer, by the kind of fault."""
    stopped: bool = False
    """Whether nothing is sent any more, while answers on their way are awaited."""
    _next: float = 0.0
    """Time of the next request, by the loop's clock."""
    _sending: set[asyncio.Task[Any] | None] = field(default_factory=set)
    """Tasks that wait for an answer."""
    _reached: bool = False

    @cached_property
    def _key(self) -> str:
        """The key, from the environment; empty if there is none and none is needed."""
        named = self.settings.api_key_env
        if named is None and network.is_local(self.host):
            return ""  # a program that listens on this machine need not be the user's own
        advice = (
            "; name another with --api-key-env (any text will do where the server asks for none)"
        )
        return key_from(named or _KEY, self.host, advice)

    @cached_property
    def _client(self) -> Any:  # noqa: ANN401 - openai.AsyncOpenAI, which is imported late
        try:
            import openai
        except ImportError:
            raise DependencyError(
                f"endpoints need the package openai: {install_command('api')}"
            ) from None
        # No redirect is followed: it would carry the key to another host. On this machine no proxy
        # is used.
        http = openai.DefaultAsyncHttpxClient(
            follow_redirects=False,
            trust_env=not network.is_local(self.host),
            event_hooks={"response": [self._received]},
        )
        return openai.AsyncOpenAI(
            api_key=self._key or "none",
            base_url=self.settings.base_url,
            # The library's limit is for each read, ours for the whole request.
            timeout=None,
            # Our retries count against the budget, wait as the server asks, and can be stopped.
            max_retries=0,
            http_client=http,
        )

    async def _received(self, response: Any) -> None:  # noqa: ANN401 - httpx2.Response
        """Remove the key, and all headers that are not used, from a response, which the library may
        log.
        """
        names = [name for name in _HEADERS if name in response.headers]
        used = {name: without_key(response.headers[name], self._key) for name in names}
        response.headers = type(response.headers)(used)
        response.extensions.pop("reason_phrase", None)
        # As JSON is; some encodings that a server may name break the library.
        response.encoding = "utf-8"

    def connect(self) -> None:
        """Load the library and read the key.

        Whether the network may be used is checked only here: a run that has all its answers needs
        none.

        Raises:
            MissingResourceError: the network is forbidden, and the endpoint is on another machine.
            DependencyError: the library is not installed.
            ModelError: there is no key.
        """
        if self.offline and not network.is_local(self.host):
            raise MissingResourceError(
                f"the endpoint {self.host} is on another machine, and the network may not be "
                "used; start a server on this machine (--base-url http://127.0.0.1:PORT/v1), "
                "or allow the network"
            )
        _ = self._client

    async def ask_all(
        self,
        questions: Iterable[tuple[int, Sequence[Mapping[str, str]]]],
        keep: Callable[[int, Answer], object],
    ) -> None:
        """Ask numbered questions, several at a time; `keep` gets each answer with its number.

        After an error, or when the task is cancelled, nothing more is sent, and answers on their
        way are awaited unless the task is cancelled again.

        Raises:
            ModelError: the server refuses a request, or does not answer it after several tries;
                the budget is used up; another model answers.
        """
        remaining = iter(questions)

        async def work() -> None:
            for number, messages in remaining:
                keep(number, await self._ask(messages))

        workers = {asyncio.create_task(work()) for _ in range(self.settings.concurrency)}
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
        """The answer to one conversation, after as many tries as it takes."""
        for attempt in range(1, TRIES + 1):
            await self._turn()
            response = await self._send(messages)
            if isinstance(response, Answer):
                return self._checked(response)
            if response.kind == "connection" and not self._reached:
                raise ModelError(
                    f"{self.host}: {response.text}; check --base-url, and that the server runs"
                )
            if (response.wait or 0) > _MOST_RETRY_AFTER:
                raise ModelError(
                    f"{self.host}: {response.text}, and wants no request for "
                    f"{response.wait:.0f} s; run the same command later, it resumes"
                )
            self.faults[response.kind] += 1
            if self.faults[response.kind] == 1 and attempt < TRIES and not self.stopped:
                _log.warning("%s: %s; the request is sent again", self.host, response.text)
            await self._rest(response, attempt)
        raise ModelError(
            f"{self.host}: {response.text}, {TRIES} times; "
            "what was answered is kept in the folder of the run (--out), the same command resumes"
        )

    def _checked(self, answer: Answer) -> Answer:
        """An answer of the same model as the others, with its tokens counted."""
        self.tokens += (answer.prompt_tokens or 0) + (answer.answer_tokens or 0)
        self.answered_as = self.answered_as or answer.model
        if answer.model not in {None, self.answered_as}:
            raise changed_model(str(self.answered_as), str(answer.model))
        return answer

    async def _turn(self) -> None:
        """Wait for the turn of a request, and count it.

        Requests are spread evenly over a minute: most servers count in shorter windows, and refuse
        bursts that the minute's limit would allow.
        """
        most, now = self.settings.max_requests, asyncio.get_running_loop().time()
        if self.stopped:
            raise asyncio.CancelledError
        if most is not None and self.requests >= most:
            raise ModelError(
                f"--max-requests {most} is reached: {self.requests:,} requests were sent; "
                "what was answered is kept in the folder of the run (--out): "
                "the same command continues"
            )
        self.requests += 1
        at = max(now, self._next)
        self._next = at + 60 / (self.settings.requests_per_minute or math.inf)
        await asyncio.sleep(at - now)

    async def _rest(self, fault: _Fault, attempt: int) -> None:
        """Wait before the next try; where the server has too many requests, all wait."""
        backoff = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (attempt - 1))
        # Random, so that requests do not all return at once.
        jittered = backoff * random.uniform(0.5, 1)  # noqa: S311
        seconds = jittered if fault.wait is None else fault.wait + jittered * 0.1
        if fault.kind == "429":
            self._next = max(self._next, asyncio.get_running_loop().time() + seconds)
        elif attempt < TRIES and not self.stopped:
            await asyncio.sleep(seconds)

    async def _send(self, messages: Sequence[Mapping[str, str]]) -> Answer | _Fault:
        """Send one request; `ModelError` where it would not be answered the next time either."""
        import openai

        # OpenAI knows only the one name, other servers only the other.
        is_openai = self.host == "api.openai.com"
        limit_name = "max_completion_tokens" if is_openai else "max_tokens"
        temperature = self.settings.temperature
        extra = {} if temperature == "server" else {"temperature": temperature}
        request = self._client.chat.completions.with_raw_response.create(
            model=self.model,
            messages=list(messages),
            **{limit_name: self.settings.answer_tokens or MOST_TOKENS},
            **extra,
        )
        task = asyncio.current_task()
        self._sending.add(task)
        try:
            # From the connection to the last byte.
            raw = await asyncio.wait_for(request, self.settings.timeout)
            self._reached = True
            return self._read(raw.content)
        except (TimeoutError, openai.APITimeoutError):
            return _Fault(
                "timeout", f"no whole answer after {self.settings.timeout:g} s (--timeout)"
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
            return self._error_response(error)
        finally:
            self._sending.discard(task)

    def _read(self, body: bytes) -> Answer:
        """The answer in the body of a response.

        Raises:
            ValueError: it is not JSON of the protocol.
        """
        response = load_json(body)
        try:
            choice, usage = response["choices"][0], response.get("usage")
            content = choice["message"].get("content") or choice["message"].get("refusal") or ""
            names = [choice.get("finish_reason"), response.get("model")]
        except (LookupError, TypeError, AttributeError):
            raise ValueError("expected choices with a message") from None
        if not all(text is None or isinstance(text, str) for text in (content, *names)):
            raise ValueError("expected a message of text")
        finish, model = (name and self._line(name) for name in names)
        # Half of a surrogate pair, which JSON can write and no file can hold, becomes U+FFFD.
        text = content.encode(errors="surrogatepass").decode(errors="replace")
        tokens = [_token_count(usage, kind) for kind in ("prompt", "completion")]
        return Answer(without_key(text, self._key), finish, model, *tokens)

    def _error_response(
        self,
        error: Any,  # noqa: ANN401 - openai.APIStatusError
    ) -> Answer | _Fault:
        """The meaning of an error of the server.

        Raises:
            ModelError: the request would fail again.
        """
        status, reason = error.status_code, self._line(_server_reason(error))
        if status in _AGAIN or status >= 500:
            wait = _retry_after(error.response.headers)
            return _Fault(str(status), f"HTTP {status}: {reason}", wait)
        if status in {401, 403}:  # the server's reason may hold the key
            variable = self.settings.api_key_env or _KEY
            advice = "; none was sent: --api-key-env names the variable that holds it"
            raise ModelError(
                f"{self.host} refuses the key (HTTP {status}); "
                f"set {variable} to one that may use {self.model}"
                f"{'' if self._key else advice}"
            ) from None
        if error.code == "content_filter":  # of this sentence alone: there is nothing to correct
            return Answer("", "content_filter")
        advice = ""
        if status in {404, 405}:
            advice = "; check --base-url (most end in /v1) and the model's name"
        raise ModelError(
            f"{self.host} refuses the request (HTTP {status}): {reason}{advice}"
        ) from None

    def _line(self, text: str) -> str:
        return server_line(text, self._key)


def _token_count(usage: object, kind: str) -> int | None:
    """The server's count of ``prompt`` or ``completion`` tokens; None where it is missing or
    absurd.
    """
    count = usage.get(f"{kind}_tokens") if isinstance(usage, dict) else None
    return count if type(count) is int and 0 <= count <= _MOST_TOKENS else None


def _server_reason(error: Any) -> str:  # noqa: ANN401 - openai.APIStatusError
    """The server's reason for an error, in its own words."""
    body = error.body
    if isinstance(body, dict):
        message = body.get("message") or body.get("detail")
        return str(message or json.dumps(body, ensure_ascii=False))
    return str(body or error.response.reason_phrase or "no reason")


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds of a Retry-After, which may be a date; None where it is missing or unreadable."""
    value = headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):  # not a date, or with an impossible year, hour or zone
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
