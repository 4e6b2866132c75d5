"""DeepL through its own client, against a small server on this machine that speaks its protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import deepl
import pytest

from mtbias.errors import MissingResourceError, ModelError, UsageError
from mtbias.machine.network import no_network
from mtbias.settings import TranslationSettings
from mtbias.translate import deepl_system
from mtbias.translate.deepl_system import DeepLKind
from mtbias.translate.system import MemoryStore, Plan, SystemRequest, Translated
from mtbias.translate.system_kinds import find_kind
from mtbias.types import SourceSentence

from .endpoint_server import Reply, Server, serving
from .key_disguises import EACH, UNDONE_BY_NOBODY, UNDONE_IN_A_WORD_ALONE
from .key_disguises import KEY as DISGUISED_KEY

KEY = "0123-a-very-secret-key:fx"


@dataclass
class Speaker(Server):
    """Answers requests for translations as DeepL does; `answer` is given the first sentence of a
    request."""

    requests: list[dict[str, Any]] = field(default_factory=list)

    def reply(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Reply:
        assert path == "/v2/translate"
        self.headers.append(headers)
        self.requests.append(body)
        before = self.asked.count(body["text"][0])
        self.asked.append(body["text"][0])
        return (
            self.answer(body["text"][0], before)
            if self.answer is not german
            else german_of(body["text"])
        )


@dataclass(frozen=True)
class Corpus:
    """Sentences to translate."""

    instances: Sequence[SourceSentence]

    @property
    def rows(self) -> int:
        return len(self.instances)


def german(source: str, _: int) -> Reply:
    return german_of([source])


def german_of(sources: Sequence[str]) -> Reply:
    return Reply(
        json.dumps({"translations": [answered(f"de: {source}") for source in sources]}).encode()
    )


def answered(text: str) -> dict[str, Any]:
    """A translation as DeepL sends it."""
    return {"text": text, "detected_source_language": "EN", "billed_characters": len(text)}


def error(status: int, message: str = "no") -> Reply:
    return Reply(json.dumps({"message": message}).encode(), status)


def sentences(n: int) -> Corpus:
    return Corpus([SourceSentence(f"s{i}", i, f"The cook saw person {i}.") for i in range(n)])


def plan(
    corpus: Corpus,
    begun: dict[str, Any] | None = None,
    *,
    name: str = "quality_optimized",
    **more: Any,
) -> Plan:
    asked = SystemRequest(
        name=name,
        lang=more.pop("lang", "de"),
        source_lang=more.pop("source_lang", "en"),
        settings=TranslationSettings(**more),
        device=None,
        cache=Path("nowhere"),
        offline=False,
    )
    return DeepLKind().open(asked).plan(corpus, begun or {})


def run(made: Plan, store: MemoryStore | None = None) -> Translated:
    store = store or MemoryStore()
    made.translate(store, range(len(made.sizes)), lambda *_: None)
    found = made.collect(store)
    assert isinstance(found, Translated)
    return found


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Speaker]]:
    """Starts a server, and points DeepL's client at it."""
    from contextlib import ExitStack

    monkeypatch.setattr(deepl.http_client._BackoffTimer, "BACKOFF_INITIAL", 0.01)
    monkeypatch.setenv("DEEPL_AUTH_KEY", KEY)
    with ExitStack() as stack:

        def started(answer: Callable[[str, int], Reply] = german) -> Speaker:
            server = Speaker(answer)
            stack.enter_context(serving(server))
            monkeypatch.setenv("DEEPL_SERVER_URL", server.url.removesuffix("/v1"))
            return server

        yield started


def test_what_is_asked_and_what_comes_back(start: Callable[..., Speaker]) -> None:
    server = start()
    corpus = Corpus(
        [*sentences(119).instances, SourceSentence("again", 119, "The cook saw person 0.")]
    )
    made = plan(corpus)
    found = run(made)
    assert [t.id for t in found.translations] == [i.id for i in corpus.instances]
    assert [t.text for t in found.translations] == [f"de: {i.source}" for i in corpus.instances]
    assert [len(body["text"]) for body in server.requests] == [
        50,
        50,
        19,
    ]  # each distinct sentence once
    assert {(b["source_lang"], b["target_lang"], b["model_type"]) for b in server.requests} == {
        ("EN", "DE", "quality_optimized")
    }
    assert server.headers[0]["authorization"] == f"DeepL-Auth-Key {KEY}"
    identity = dict(made.identity)
    assert str(identity.pop("date")).startswith("20")
    assert identity == {
        "model": "deepl:quality_optimized",
        "direction": "en>DE",
        "server": "127.0.0.1",
    }
    assert KEY not in f"{made.identity} {made.settings} {made!r} {found}"
    server.requests.clear()
    french = plan(sentences(1), source_lang="fr")
    run(french)
    assert (server.requests[0]["source_lang"], french.identity["direction"]) == ("FR", "fr>DE")


def test_a_run_that_was_interrupted_asks_only_for_the_rest(start: Callable[..., Speaker]) -> None:
    server = start(lambda *_: error(456))
    store, made = MemoryStore(), plan(sentences(120))
    with pytest.raises(
        ModelError,
        match="the characters of this billing period are used up; what was translated is",
    ):
        run(made, store)
    server.answer = german
    made.translate(store, [1], lambda *_: None)
    server.requests.clear()
    run(plan(sentences(120), dict(made.settings)), store)
    assert [body["text"][0] for body in server.requests] == [
        "The cook saw person 0.",
        "The cook saw person 100.",
    ]


def test_the_date_is_that_of_the_runs_beginning() -> None:
    assert plan(sentences(1), {"date": "2026-01-02"}).identity["date"] == "2026-01-02"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(status: int, start: Callable[..., Speaker]) -> None:
    server = start(lambda source, before: german(source, 0) if before else error(status))
    assert run(plan(sentences(1))).translations[0].text == "de: The cook saw person 0."
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (
            error(403, f"wrong key {KEY}"),
            "DeepL refuses the key; set DEEPL_AUTH_KEY to one of yours",
        ),
        (
            error(400, f"no such language, {KEY}"),
            "DeepL: Bad request, message: no such language, [key]; what was",
        ),
        (error(413, "large"), "DeepL: Unexpected status code: 413"),
        (Reply(b"<html>hello</html>"), "expected translations of 1 sentences"),
        (Reply(b"[" * 100_000 + b"]" * 100_000), "expected translations of 1 sentences"),
        (Reply(b'{"translations": []}'), "expected translations of 1 sentences"),
        (Reply(b'{"translations": [{"text": "x"}]}'), "expected translations of 1 sentences"),
        (
            Reply(b'{"translations": [{"text": 3, "billed_characters": 1}]}'),
            "expected translations of 1 sentences",
        ),
    ],
)
def test_what_goes_wrong_is_a_line_without_the_key(
    reply: Reply, said: str, start: Callable[..., Speaker]
) -> None:
    start(lambda *_: reply)
    with pytest.raises(ModelError) as caught:
        run(plan(sentences(1)))
    assert said in str(caught.value)
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_translation_has_no_key(
    start: Callable[..., Speaker], monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = UNDONE_BY_NOBODY | UNDONE_IN_A_WORD_ALONE
    disguises = [disguise for name, disguise in EACH if name not in nowhere]
    said = [f"Der Koch sah {disguise(DISGUISED_KEY)} hier." for disguise in disguises]
    start(
        lambda *_: Reply(json.dumps({"translations": [answered(text) for text in said]}).encode())
    )
    monkeypatch.setenv("DEEPL_AUTH_KEY", DISGUISED_KEY)
    store = MemoryStore()
    run(plan(sentences(len(disguises))), store)
    (kept,) = store.parts.values()
    hidden = re.compile(r"Der ?Koch ?sah ▁?\[key\][*`_]* ?hier\.")
    assert [record["text"] for record in kept if not hidden.fullmatch(record["text"])] == []


def test_an_answer_that_does_not_come_to_an_end_is_not_waited_for(
    start: Callable[..., Speaker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deepl_system, "TIMEOUT", 2)
    server = start(lambda *_: Reply(b"x" * 100_000, pause=0.2))
    with pytest.raises(
        ModelError, match="DeepL: no whole answer after 2 s; what was translated is kept"
    ):
        run(plan(sentences(1)))
    assert len(server.requests) == 1


def test_a_missing_key_is_named_before_anything_is_sent(
    start: Callable[..., Speaker], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start()
    monkeypatch.delenv("DEEPL_AUTH_KEY")
    with pytest.raises(
        ModelError, match="in the environment variable DEEPL_AUTH_KEY, which is not set"
    ):
        run(plan(sentences(1)))
    assert server.requests == []


def test_offline_allows_a_server_on_this_machine_alone(
    start: Callable[..., Speaker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MTBIAS_NO_NETWORK", "1")
    start()
    with no_network("--offline"):
        run(plan(sentences(1)))
    monkeypatch.delenv("DEEPL_SERVER_URL")
    with pytest.raises(MissingResourceError, match="DeepL is on another machine"):
        run(plan(sentences(1)))


def test_it_is_a_kind_of_system() -> None:
    kind, name = find_kind("deepl:latency_optimized")
    assert (isinstance(kind, DeepLKind), kind.needs_network, name) == (
        True,
        True,
        "latency_optimized",
    )


@pytest.mark.parametrize("name", ["", "prefer_quality_optimized", "x"])
def test_another_model_is_refused(name: str) -> None:
    with pytest.raises(
        UsageError, match=r"expected deepl:quality_optimized or deepl:latency_optimized, got deepl:"
    ):
        plan(sentences(1), name=name)


def test_a_language_of_two_varieties_must_be_named() -> None:
    with pytest.raises(
        UsageError, match="target_code: expected PT-BR or PT-PT: DeepL must be told which"
    ):
        plan(sentences(1), lang="pt")
    assert plan(sentences(1), lang="pt", target_code="pt-br").identity["direction"] == "en>PT-BR"


def test_an_address_that_holds_a_secret_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPL_SERVER_URL", f"https://me:{KEY}@deepl.example")
    with pytest.raises(
        UsageError, match=r"^DEEPL_SERVER_URL: expected an address such as"
    ) as caught:
        plan(sentences(1))
    assert KEY not in str(caught.value)
