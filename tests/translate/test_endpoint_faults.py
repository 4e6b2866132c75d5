"""Endpoints that misbehave: nothing is lost, nothing doubled, the order kept, the key never
shown."""

from __future__ import annotations

import asyncio
import dataclasses
import email.utils
import itertools
import json
import signal
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mtbias.errors import MissingResourceError, ModelError, RunFolderError, SettingError
from mtbias.translate.language_models import endpoint_client, endpoint_system
from mtbias.translate.system import MemoryStore, Translated
from mtbias.types import SourceSentence

from .endpoint_runs import Corpus, german, plan, run, sentences
from .endpoint_server import Reply, refused, said, serving

ROOT = Path(__file__).parents[2]
KEY = "sk-a-very-secret-key"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(endpoint_client, "_FIRST_WAIT", 0.002)


def always(source: str, _: int) -> Reply:
    return said(german(source))


def once(reply: Reply) -> Callable[[str, int], Reply]:
    """Every sentence meets `reply` first."""
    return lambda source, before: said(german(source)) if before else reply


def check_all(found: Translated, corpus: Corpus) -> None:
    assert [t.id for t in found.translations] == [i.id for i in corpus.instances]
    assert [t.text for t in found.translations] == [german(i.source) for i in corpus.instances]


def test_what_is_asked_and_what_is_kept() -> None:
    corpus = Corpus([*sentences(2).instances, SourceSentence("again", 2, "The cook saw person 0.")])
    with serving(always) as server:
        store = MemoryStore()
        found = run(plan(server.url, corpus), store)
    assert sorted(server.asked) == [
        "The cook saw person 0.",
        "The cook saw person 1.",
    ]  # a source is asked once
    assert server.bodies[0]["model"] == "small"
    assert server.bodies[0]["temperature"] == 0
    assert server.bodies[0]["max_tokens"] == 1024
    assert "into German" in server.bodies[0]["messages"][0]["content"]
    assert found.noticed["answered_as"] == "small"
    assert [t.raw for t in found.translations] == [t.text for t in found.translations]
    assert store.parts[0] == [
        {
            "text": "Der Koch sah Person 0.",
            "finish": "stop",
            "model": "small",
            "prompt_tokens": 10,
            "answer_tokens": 5,
        }
    ]


def test_the_language_of_the_sources_is_asked_for() -> None:
    with serving(always) as server:
        made = plan(server.url, sentences(1), source_lang="fr")
        run(made)
    assert "from French into German" in server.bodies[0]["messages"][0]["content"]


def test_a_model_that_takes_no_temperature_gets_none() -> None:
    with serving(always) as server:
        run(plan(server.url, sentences(1), temperature="server", answer_tokens=7))
    assert "temperature" not in server.bodies[0]
    assert server.bodies[0]["max_tokens"] == 7


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (refused(429, retry_after="0.01"), "429"),
        (refused(429), "429"),
        (refused(429, retry_after=email.utils.formatdate(0)), "429"),
        (refused(500), "500"),
        (refused(503, retry_after="0"), "503"),
        (refused(429, retry_after="Fri, 31 Dec 2027 99999999999999999999:59:59 GMT"), "429"),
        (refused(429, retry_after="Fri, 31 Dec 2027 23:59:59 +99999999999999"), "429"),
        (refused(429, retry_after="Fri, 31 Dec 99999 23:59:59 GMT"), "429"),
        (refused(429, retry_after="9" * 400), "429"),
        (
            dataclasses.replace(
                refused(500), headers={"Content-Type": "application/json; charset=hex"}
            ),
            "500",
        ),
        (dataclasses.replace(said("Der halbe Koch"), sent=40), "connection"),
        (dataclasses.replace(said("Nur der Kopf"), sent=0), "connection"),
        (Reply(b'{"choices": [{"message": {"cont'), "malformed"),
        (Reply(b"<html>busy</html>", headers={"Content-Type": "text/html"}), "malformed"),
        (Reply(b'{"choices": []}'), "malformed"),
        (Reply(b'{"choices": [{"message": {"content": ["no", "text"]}}]}'), "malformed"),
        (Reply(b"null"), "malformed"),
        (Reply(b"[" * 100_000 + b"]" * 100_000), "malformed"),
        (Reply(b'{"choices":' * 100_000 + b"1" + b"}" * 100_000), "malformed"),
    ],
)
def test_a_fault_is_met_with_another_try(reply: Reply, kind: str) -> None:
    corpus = sentences(6)

    def answer(source: str, before: int) -> Reply:
        return said(german(source)) if before or source.endswith(" 0.") else reply

    with serving(answer) as server:
        made = plan(server.url, corpus, concurrency=1)
        store = MemoryStore()
        tally = made.translate(store, range(6), lambda *_: None)
        found = made.collect(store)
    assert isinstance(found, Translated)
    check_all(found, corpus)
    assert Counter(server.asked) == {i.source: 1 if i.id == "s0" else 2 for i in corpus.instances}
    assert tally.execution["requests_failed"] == {kind: 5}
    assert tally.execution["requests"] == 11


def test_a_server_is_left_alone_for_as_long_as_it_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[float] = []
    waits: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        waits.append(seconds)
        await sleep(seconds)

    def answer(source: str, before: int) -> Reply:
        times.append(time.monotonic())
        return said(german(source)) if len(times) > 1 else refused(429, retry_after="0.4")

    monkeypatch.setattr(asyncio, "sleep", noted)
    with serving(answer) as server:
        run(plan(server.url, sentences(3), concurrency=1))
    assert times[1] - times[0] >= 0.4
    assert [seconds > 0 for seconds in waits] == [False, True, False, False]  # and no longer


def test_a_server_that_has_closed_for_today_is_not_waited_for() -> None:
    with (
        serving(lambda *_: refused(429, retry_after="7200")) as server,
        pytest.raises(ModelError) as caught,
    ):
        run(plan(server.url, sentences(3), concurrency=1))
    assert "wants no request for 7200 s; run the same command later" in str(caught.value)
    assert len(server.asked) == 1


@pytest.mark.parametrize("pause", [0.02, 9.0])
def test_a_slow_answer_is_given_up_and_asked_for_again(pause: float) -> None:
    # By the byte, a whole answer takes over six seconds; none of its reads does.
    store = MemoryStore()
    with serving(
        lambda s, before: dataclasses.replace(said(german(s)), pause=0 if before else pause)
    ) as server:
        made = plan(server.url, sentences(2), timeout=1)
        tally = made.translate(store, range(2), lambda *_: None)
    found = made.collect(store)
    assert isinstance(found, Translated)
    check_all(found, sentences(2))
    # Each sentence was given up once; a good answer that a busy machine was late with counts too.
    assert tally.execution["requests_failed"] == {"timeout": len(server.asked) - 2}
    assert min(Counter(server.asked).values()) >= 2


def test_faults_that_do_not_end_end_the_run_and_what_came_is_kept() -> None:
    corpus = sentences(4)
    store = MemoryStore()
    bad = "The cook saw person 3."
    with serving(
        lambda source, _: refused(500, "tired") if source == bad else always(source, 0)
    ) as server:
        made = plan(server.url, corpus, concurrency=4)
        with pytest.raises(
            ModelError, match=r"127.0.0.1: HTTP 500: tired, 9 times; .* the same command resumes"
        ):
            run(made, store)
        assert server.asked.count(bad) == 9
        assert sorted(store.parts) == [0, 1, 2]
        server.answer = always
        server.asked.clear()
        check_all(run(made, store), corpus)
        assert server.asked == [bad]


def test_a_first_signal_after_an_error_waits_for_what_is_on_its_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clients: list[endpoint_client.EndpointClient] = []
    together, signalled = threading.Barrier(4), threading.Event()

    class Watched(endpoint_client.EndpointClient):
        def connect(self) -> None:
            super().connect()
            clients.append(self)

    def answer(source: str, _: int) -> Reply:
        together.wait(600)
        if source.endswith(" 0."):
            return refused(400)
        assert signalled.wait(600)
        return always(source, 0)

    def interrupt() -> None:
        while not any(client.stopped for client in clients):
            time.sleep(0.01)
        signal.pthread_kill(main, signal.SIGINT)
        time.sleep(0.5)
        signalled.set()

    monkeypatch.setattr(endpoint_system, "EndpointClient", Watched)
    store, main = MemoryStore(), threading.get_ident()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with serving(answer) as server:
            threading.Thread(target=interrupt, daemon=True).start()
            with pytest.raises(KeyboardInterrupt):
                run(plan(server.url, sentences(9), concurrency=4), store)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (sorted(store.parts), len(server.asked)) == ([1, 2, 3], 4)


def test_what_is_kept_of_an_answer_is_looked_for_once() -> None:
    looked: Counter[int] = Counter()

    class Counting(MemoryStore):
        def get(self, part: int) -> Any:
            looked[part] += 1
            return super().get(part)

    with serving(always) as server:
        plan(server.url, sentences(20)).translate(Counting(), range(20), lambda *_: None)
    assert looked == dict.fromkeys(range(20), 1)


def test_what_would_be_refused_again_is_said_at_once() -> None:
    with (
        serving(lambda *_: refused(404, "no model\x1b[31m small\nhere")) as server,
        pytest.raises(ModelError) as caught,
    ):
        run(plan(server.url, sentences(50), concurrency=1))
    assert str(caught.value) == (
        r"127.0.0.1 refuses the request (HTTP 404): no model\x1b[31m small here; check --base-url (most end in /v1) "
        "and the model's name"
    )
    assert len(server.asked) == 1


def test_a_redirect_is_not_followed() -> None:
    with (
        serving(always) as other,
        serving(lambda *_: refused(307, "away", Location=f"{other.url}/x")) as server,
    ):
        with pytest.raises(ModelError, match="HTTP 307"):
            run(plan(server.url, sentences(1)))
        assert other.asked == []


def test_a_refusal_by_the_servers_filter_is_an_answer() -> None:
    corpus = sentences(3)
    filtered = refused(400, "filtered", code="content_filter")
    with serving(
        lambda source, _: filtered if source == corpus.instances[1].source else always(source, 0)
    ) as server:
        found = run(plan(server.url, corpus))
    assert [t.text is None for t in found.translations] == [False, True, False]
    assert found.noticed["untranslated"] == {"refusal": 1}


@pytest.mark.parametrize(
    "message", [{"content": None, "refusal": "I cannot."}, {"content": None}, {}]
)
def test_an_answer_without_text_is_no_fault(message: dict[str, Any]) -> None:
    body = json.loads(said("x").body)
    body["choices"][0]["message"] = message
    with serving(lambda *_: Reply(json.dumps(body).encode())) as server:
        found = run(plan(server.url, sentences(1)))
    assert found.translations[0].raw == message.get("refusal", "")
    assert len(server.asked) == 1


def test_half_a_surrogate_pair_becomes_what_a_file_can_hold() -> None:
    with serving(lambda *_: said("Der Koch \ud83d")) as server:
        found = run(plan(server.url, sentences(1)))
    raw = found.translations[0].raw
    assert raw is not None
    assert raw.startswith("Der Koch \ufffd")
    raw.encode()


@pytest.mark.parametrize(
    "count",
    [
        "9" * 400,
        "10000001",
        "-3",
        "1.5",
        "true",
        "NaN",
        "1e999",
        '"7"',
        "[[1]]",
        '{"a": 1}',
        "null",
    ],
)
def test_a_silly_count_of_tokens_counts_as_none(count: str) -> None:
    store = MemoryStore()
    body = said("Der Koch").body.replace(
        b'"prompt_tokens": 10', b'"prompt_tokens": ' + count.encode()
    )
    with serving(lambda *_: Reply(body)) as server:
        tally = plan(server.url, sentences(1)).translate(store, [0], lambda *_: None)
    assert (store.parts[0][0]["prompt_tokens"], store.parts[0][0]["answer_tokens"]) == (None, 5)
    assert tally.execution["tokens"] == 5
    assert len(server.asked) == 1


@pytest.mark.parametrize("usage", ["[1]", '"none"', "3", "null"])
def test_counts_in_another_form_are_none(usage: str) -> None:
    body = said("Der Koch").body.replace(b'"usage": ', f'"usage": {usage}, "x": '.encode())
    with serving(lambda *_: Reply(body)) as server:
        run(plan(server.url, sentences(1)))
    assert len(server.asked) == 1


@pytest.mark.parametrize("charset", ["hex", "undefined", "utf-16"])
def test_an_answer_is_utf8_whatever_else_it_is_called(charset: str) -> None:
    body = json.dumps(json.loads(said("Die Köchin").body), ensure_ascii=False).encode()
    head = {"Content-Type": f"application/json; charset={charset}"}
    with serving(lambda *_: Reply(body, headers=head)) as server:
        assert run(plan(server.url, sentences(1))).translations[0].raw == "Die Köchin"


def test_very_long_answers_are_kept_whole() -> None:
    with serving(lambda source, _: said(german(source) + " sehr" * 20_000)) as server:
        found = run(plan(server.url, sentences(20)))
    assert [len(t.raw or "") for t in found.translations] == [
        len(german(i.source)) + 100_000 for i in sentences(20).instances
    ]


def test_another_model_in_the_middle_ends_the_run() -> None:
    store, count = MemoryStore(), itertools.count()

    def answer(source: str, _: int) -> Reply:
        return said(german(source), model="small-2026-01" if next(count) < 5 else "small-2026-07")

    with serving(answer) as server:
        made = plan(server.url, sentences(9), concurrency=1)
        with pytest.raises(ModelError, match="'small-2026-01' and 'small-2026-07'"):
            run(made, store)
        assert len(store.parts) == 5  # the other model's answer is not among them
        with pytest.raises(
            ModelError, match="'small-2026-01' and 'small-2026-07'"
        ):  # the same when it resumes
            run(made, store)
        assert len(server.asked) == 7


def test_two_processes_that_met_two_models_are_noticed_in_the_end() -> None:
    store = MemoryStore()
    for part, model in enumerate(("a", "b")):
        with serving(lambda source, _, model=model: said(german(source), model=model)) as server:  # type: ignore[misc]
            made = plan(server.url, sentences(2))
            own = MemoryStore()  # each looked before the other had an answer
            made.translate(own, [part], lambda *_: None)
            store.parts |= own.parts
    with pytest.raises(ModelError, match="'a' and 'b'"):
        made.collect(store)


def test_many_at_once_in_any_order_lose_and_double_nothing() -> None:
    corpus, arrived, first = sentences(400), itertools.count(), threading.Barrier(9)

    def answer(source: str, before: int) -> Reply:
        n = next(arrived)
        if n < first.parties:
            first.wait(600)  # so many requests are open at once, whatever the machine does
        time.sleep((n * 7919 % 13) / 500)  # up to 24 ms, in no order
        if not before and n % 11 == 0:
            return refused(500)
        return said(german(source))

    with serving(answer) as server:
        store, shown = MemoryStore(), list[str]()
        made = plan(server.url, corpus, concurrency=32)
        tally = made.translate(store, range(400), lambda *_: None, shown.extend)
        found = made.collect(store)
    assert isinstance(found, Translated)
    check_all(found, corpus)
    assert sorted(shown) == sorted(german(i.source) for i in corpus.instances)
    assert server.together >= first.parties
    failed = tally.execution["requests_failed"]
    assert isinstance(failed, dict)
    assert len(server.asked) == 400 + int(str(failed["500"]))
    assert set(server.asked) == {i.source for i in corpus.instances}


class FullStore(MemoryStore):
    """Has room for three answers."""

    def put(self, part: int, records: Sequence[Mapping[str, Any]]) -> None:
        if len(self.parts) == 3:
            raise RunFolderError("disk: cannot write: No space left on device; make room")
        super().put(part, records)


def test_a_full_disk_ends_the_requests() -> None:
    with serving(always) as server:
        made = plan(server.url, sentences(200), concurrency=2)
        with pytest.raises(RunFolderError, match="No space left"):
            run(made, FullStore())
    assert len(server.asked) < 10  # nobody pays for answers that cannot be kept


def test_no_more_requests_than_the_budget_has() -> None:
    store, corpus = MemoryStore(), sentences(10)
    with serving(always) as server:
        made = plan(server.url, corpus, max_requests=4)
        with pytest.raises(ModelError, match="--max-requests 4 is reached: 4 requests were sent"):
            run(made, store)
        assert len(server.asked) == len(store.parts) == 4
        with pytest.raises(ModelError, match="--max-requests"):
            run(made, store)
        check_all(run(made, store), corpus)
    assert len(server.asked) == 10


def test_requests_that_are_sent_again_count_too() -> None:
    with serving(once(refused(500))) as server:
        with pytest.raises(ModelError, match="--max-requests"):
            run(plan(server.url, sentences(5), max_requests=7, concurrency=1))
        assert len(server.asked) == 7


def test_a_limit_a_minute_spaces_the_requests() -> None:
    times: list[float] = []

    def answer(source: str, _: int) -> Reply:
        times.append(time.monotonic())
        return said(german(source))

    begin = time.monotonic()
    with serving(answer) as server:
        run(plan(server.url, sentences(4), requests_per_minute=600, concurrency=4))
    assert (
        max(times) - begin >= 0.3
    )  # the first of four waits for nothing, the last for three tenths


# The key


def test_the_key_comes_from_the_environment_and_is_shown_nowhere(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)

    def answer(source: str, before: int) -> Reply:
        return said(f"{german(source)} {KEY}") if before else refused(500, f"bad key {KEY}")

    store = MemoryStore()
    with serving(answer) as server:
        made = plan(server.url, sentences(2), api_key_env="MY_KEY")
        found = run(made, store)
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    shown = [str(found), str(store.parts), str(made.identity), made.key, caplog.text, repr(made)]
    assert not any(KEY in text for text in shown)
    assert "bad key [key]" in caplog.text


def test_all_that_is_kept_of_an_answer_is_without_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    store = MemoryStore()
    with serving(
        lambda *_: said(f"Der {KEY}", model=f"m\n{KEY}\x1b[31m", finish=f"{KEY}\u202e")
    ) as server:
        found = run(plan(server.url, sentences(1), api_key_env="MY_KEY"), store)
    (kept,) = store.parts[0]
    assert (kept["text"], kept["model"], kept["finish"]) == (
        "Der [key]",
        r"m [key]\x1b[31m",
        r"[key]\u202e",
    )
    assert found.noticed["answered_as"] == r"m [key]\x1b[31m"


@pytest.mark.parametrize("before", [150, 190, 210, 235])
def test_no_part_of_a_key_is_in_a_message_that_is_cut(
    before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-" + "0123456789" * 16
    monkeypatch.setenv("MY_KEY", key)
    reply = refused(400, f"{'x' * before}{key}{'y' * 400}")
    with serving(lambda *_: reply) as server, pytest.raises(ModelError) as caught:
        run(plan(server.url, sentences(1), api_key_env="MY_KEY"))
    assert "sk-" not in str(caught.value)


def test_a_placeholder_for_a_key_is_a_word_like_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "o")
    with serving(always) as server:
        check_all(run(plan(server.url, sentences(2), api_key_env="MY_KEY")), sentences(2))


@pytest.mark.parametrize("status", [401, 403, 400, 404, 418])
def test_a_wrong_key_is_not_in_the_error(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    wrong = refused(status, f"Incorrect API key provided: {KEY}")
    with serving(lambda *_: wrong) as server, pytest.raises(ModelError) as caught:
        run(plan(server.url, sentences(3), api_key_env="MY_KEY"))
    assert KEY not in "".join(traceback.format_exception(caught.value))
    if status in {401, 403}:
        assert (
            str(caught.value)
            == f"127.0.0.1 refuses the key (HTTP {status}); set MY_KEY to one that may use small"
        )


def test_a_server_on_this_machine_gets_no_key_that_was_not_meant_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(always) as server:
        run(plan(server.url, sentences(1)))
    assert KEY not in str(server.headers)


def test_a_missing_key_is_named_before_anything_is_sent() -> None:
    with pytest.raises(
        ModelError, match="in the environment variable OPENAI_API_KEY, which is not set"
    ):
        run(plan("https://models.invalid/v1", sentences(1)))


@pytest.mark.parametrize(
    "url",
    [
        "",
        "models.example/v1",
        "ftp://models.example",
        "http://[::1",
        "http://:80/v1",
        "http://a:x/v1",
        f"https://me:{KEY}@models.example/v1",
        f"https://models.example/v1?key={KEY}",
    ],
)
def test_an_address_that_cannot_be_or_holds_a_secret_is_refused(url: str) -> None:
    with pytest.raises(SettingError, match=r"^base_url: expected an address such as") as caught:
        plan(url, sentences(1))
    assert KEY not in str(caught.value)


# Network


def test_offline_allows_this_machine_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MTBIAS_NO_NETWORK", "1")
    from mtbias.machine.network import no_network

    with serving(always) as server, no_network("--offline"):
        check_all(run(plan(server.url, sentences(3))), sentences(3))
    with pytest.raises(
        MissingResourceError, match=r"the endpoint models.invalid is on another machine"
    ):
        run(plan("https://models.invalid/v1", sentences(1)))


def test_who_has_all_answers_needs_neither_network_nor_key(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    with serving(always) as server:
        run(plan(server.url, sentences(3)), store)
    monkeypatch.setenv("MTBIAS_NO_NETWORK", "1")
    check_all(run(plan("https://models.invalid/v1", sentences(3)), store), sentences(3))


def test_no_proxy_is_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(always) as proxy, serving(always) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        run(plan(server.url, sentences(1)))
    assert (len(server.asked), len(proxy.asked)) == (1, 0)


def test_a_server_that_is_not_there_is_said_at_once(caplog: pytest.LogCaptureFixture) -> None:
    with serving(always) as server:
        url = server.url
    with pytest.raises(ModelError, match="check --base-url, and that the server runs"):
        run(plan(url, sentences(3), concurrency=1))
    assert caplog.text == ""  # nothing is sent again


# What the plan depends on


def test_the_date_is_that_of_the_runs_beginning() -> None:
    url = "http://127.0.0.1:9/v1"
    assert plan(url, sentences(1), {"date": "2026-01-02"}).identity["date"] == "2026-01-02"
    first, again = plan(url, sentences(3)), plan("http://127.0.0.1:10/v1", sentences(3))
    assert (
        first.identity == again.identity
    )  # the port is no part of it: a server is started again on another
    assert first.key == again.key


@pytest.mark.parametrize(
    "other", [{"prompt": "tower"}, {"temperature": 1.0}, {"answer_tokens": 99}, {"repeat": 2}]
)
def test_answers_to_other_questions_are_of_no_use(other: dict[str, Any]) -> None:
    url = "http://127.0.0.1:9/v1"
    assert plan(url, sentences(3)).key != plan(url, sentences(3), **other).key
    assert plan(url, sentences(3)).identity != plan(url, sentences(3), **other).identity


def test_settings_of_speed_change_nothing() -> None:
    url = "http://127.0.0.1:9/v1"
    other: dict[str, Any] = {
        "concurrency": 3,
        "requests_per_minute": 5,
        "max_requests": 7,
        "timeout": 1.0,
    }
    assert plan(url, sentences(3)).identity == plan(url, sentences(3), **other).identity


# Throughput
