"""Stanza's models on disk, and real analyses by them."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from mtbias.demo import stanza_folder_of_demo
from mtbias.errors import DataError, MissingResourceError, UsageError
from mtbias.machine.devices import require_device
from mtbias.morphology import (
    AnalysisCache,
    StanzaAnalyser,
    StanzaPackage,
    find_package,
    stanza_folder,
)
from mtbias.morphology.stanza_models import StanzaModels
from mtbias.types import Analysis

Make = Callable[[str], "Spy"]


class SpyModels(StanzaModels):
    """The real models, which remember what they were made to analyse."""

    def __init__(self, package: StanzaPackage) -> None:
        super().__init__(package, "cpu")
        self.seen: list[list[str]] = []

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        self.seen.append(list(texts))
        return super().analyse(texts)


class Spy(StanzaAnalyser):
    """The real analyser with such models."""

    def __init__(self, package: StanzaPackage, cache: AnalysisCache) -> None:
        super().__init__(package, cache, device="cpu")
        self._models: SpyModels = SpyModels(package)

    @property
    def seen(self) -> list[list[str]]:
        return self._models.seen


@pytest.fixture(scope="session")
def analyser(stanza_dir: Path) -> Make:
    """One analyser a language for all tests: loading one takes a second."""

    @cache
    def make(code: str) -> Spy:
        return Spy(find_package(code, stanza_dir), AnalysisCache(None))

    return make


def words(analysis: Analysis) -> list[tuple[str, list[str]]]:
    """Every token with its words; each token's text must be what stands at its span."""
    for token in analysis.tokens:
        assert analysis.text[slice(*token.span)] == token.text
    spans = [t.span for t in analysis.tokens]
    assert spans == sorted(spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    return [(t.text, [w.text for w in t.words]) for t in analysis.tokens]


@pytest.mark.parametrize(
    ("code", "text", "token", "parts"),
    [
        # Contractions that UD splits into preposition and article; the pieces concatenate to the
        # surface form in Hebrew, not in German and Italian.
        ("de", "Sie ging zum Arzt.", "zum", ["ADP", "DET"]),
        ("de", "Er kam vom Bäcker zurück.", "vom", ["ADP", "DET"]),
        ("it", "Ha parlato al medico.", "al", ["ADP", "DET"]),
        ("it", "Il capo dell'assistente rise.", "dell'", ["ADP", "DET"]),
        ("he", "הוא דיבר לרופאה.", "לרופאה", ["ADP", "NOUN"]),
    ],
)
def test_a_contraction_is_one_token_of_several_words(
    analyser: Make, code: str, text: str, token: str, parts: list[str]
) -> None:
    analysis = analyser(code).analysis(text)
    assert token in [t for t, _ in words(analysis)]
    (found,) = [t for t in analysis.tokens if t.text == token]
    tags = [w.upos for w in found.words]
    assert [t for t in tags if t in parts] == parts
    assert len(found.words) > 1


@pytest.mark.parametrize(
    "text",
    [
        "Der Arzt\nging\r\nzum Bäcker. Sie\u2028kam\tdann.",
        "  Der  Arzt\n\n\nging zum   Bäcker.  ",
        "Der Arzt ging. Die Ärztin kam. Wer noch?",
    ],
)
def test_breaks_and_blanks_keep_every_offset(analyser: Make, text: str) -> None:
    analysis = analyser("de").analysis(text)
    assert analysis.text == text
    found = words(analysis)
    assert ("Arzt", ["Arzt"]) in found
    # Nothing but blanks is outside the tokens.
    assert "".join(t for t, _ in found) == "".join(text.split())


@pytest.mark.parametrize("text", ["", " ", "\n\n"])
def test_a_text_without_words_has_no_tokens(analyser: Make, text: str) -> None:
    assert analyser("de").analysis(text) == Analysis(text, ())


def test_gender_of_plain_nouns(analyser: Make) -> None:
    word = analyser("it").analysis("La maestra parla con il medico.").tokens[1].words[0]
    assert (word.text, word.upos) == ("maestra", "NOUN")
    assert word.feat("Gender") == "Fem"
    assert word.feat("Polarity") is None


def test_every_distinct_text_is_analysed_once(stanza_dir: Path, tmp_path: Path) -> None:
    path = tmp_path / "it.sqlite"
    package = find_package("it", stanza_dir)
    first = Spy(package, AnalysisCache(path))
    done: list[int] = []
    first.prepare(["Il medico ride.", "La cuoca dorme.", "Il medico ride."], done.append)
    first.prepare(["La cuoca dorme.", "Il sarto cuce."])
    assert first.seen == [["Il medico ride.", "La cuoca dorme."], ["Il sarto cuce."]]
    assert done == [2]
    before = first.analysis("La cuoca dorme.")
    assert first.seen[2:] == []
    first._cache.close()

    second = Spy(
        package, AnalysisCache(path)
    )  # another run: all comes from the file, nothing is loaded
    second.prepare(["La cuoca dorme.", "Il sarto cuce.", "Il medico ride."])
    assert second.analysis("La cuoca dorme.") == before
    assert second.seen == []
    assert "_pipeline" not in vars(second._models)
    second._cache.close()


def test_a_row_damaged_meanwhile_is_analysed_anew(stanza_dir: Path) -> None:
    spy = Spy(find_package("it", stanza_dir), AnalysisCache(None))
    good = spy.analysis("La cuoca dorme.")
    with spy._cache._db as db:
        db.execute("UPDATE analysis SET value = '{'")
    assert spy.analysis("La cuoca dorme.") == good
    assert spy.analysis("La cuoca dorme.") == good
    assert len(spy.seen) == 2  # and is kept


# ----- where the models are


def _models(folder: Path, code: str = "xx", **packages: str) -> Path:
    """A resource folder with an index and model files that hold nothing useful."""
    chosen = packages or {"tokenize": "small", "pos": "small"}
    for processor, name in chosen.items():
        path = folder / code / processor / f"{name}.pt"
        path.parent.mkdir(parents=True)
        path.write_bytes(processor.encode())
    index = {code: {"packages": {"default": chosen}}, "nickname": {"alias": code}}
    (folder / "resources.json").write_text(json.dumps(index), encoding="utf-8")
    return folder


def test_the_package_names_models_with_their_hashes(tmp_path: Path) -> None:
    package = find_package("xx", _models(tmp_path))
    hashes = {p: hashlib.sha256(p.encode()).hexdigest()[:12] for p in ("tokenize", "pos")}
    assert package.models == (
        ("tokenize", "small", hashes["tokenize"]),
        ("pos", "small", hashes["pos"]),
    )
    assert package.signature == f"tokenize=small:{hashes['tokenize']},pos=small:{hashes['pos']}"


def test_a_multiword_splitter_is_taken_where_there_is_one(tmp_path: Path) -> None:
    package = find_package("xx", _models(tmp_path, tokenize="a", mwt="b", pos="c", lemma="d"))
    assert [(p, n) for p, n, _ in package.models] == [("tokenize", "a"), ("mwt", "b"), ("pos", "c")]


def test_an_alias_leads_to_the_models_of_its_language(tmp_path: Path) -> None:
    assert find_package("nickname", _models(tmp_path)).models == find_package("xx", tmp_path).models


def test_the_signature_names_stanza_and_the_models(tmp_path: Path) -> None:
    package = find_package("xx", _models(tmp_path))
    signature = StanzaAnalyser(package, AnalysisCache(None)).signature
    assert signature.startswith("stanza/1.")
    assert signature.endswith(f"({package.signature})")


def test_what_is_missing_is_named_with_the_command_that_brings_it(tmp_path: Path) -> None:
    command = r"`mtbias fetch --lang xx` downloads it, or --stanza-dir"
    with pytest.raises(MissingResourceError, match=rf"resources\.json is missing.*{command}"):
        find_package("xx", tmp_path / "nowhere")
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(MissingResourceError, match=command):
        find_package("xx", file)
    folder = _models(tmp_path / "models")
    with pytest.raises(
        MissingResourceError, match=r"no tokenize and pos models for 'yy' \(it has: xx\).*--lang yy"
    ):
        find_package("yy", folder)
    with pytest.raises(
        MissingResourceError,
        match=r": leave --stanza-dir mtbias:demo out; without it `mtbias fetch",
    ):
        find_package("fr", stanza_folder_of_demo())
    (folder / "xx" / "pos" / "small.pt").unlink()
    with pytest.raises(
        MissingResourceError,
        match=rf"Stanza's pos model for 'xx' is missing \(.*small\.pt\): {command}",
    ):
        find_package("xx", folder)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"xx": []}', '{"xx": {"packages": []}}', "\x00"]
)
def test_a_damaged_index_is_a_data_error(tmp_path: Path, content: str) -> None:
    _models(tmp_path)
    (tmp_path / "resources.json").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match="mtbias fetch --lang xx") as caught:
        find_package("xx", tmp_path)
    assert caught.value.path == str(tmp_path / "resources.json")


def test_a_damaged_model_is_named_when_it_is_loaded(tmp_path: Path) -> None:
    package = find_package("xx", _models(tmp_path))
    with pytest.raises(
        MissingResourceError, match=r"cannot load its models for 'xx'.*mtbias fetch --lang xx"
    ):
        StanzaAnalyser(package, AnalysisCache(None), device="cpu").prepare(["text"])


def test_a_damaged_model_of_a_real_language_too(stanza_dir: Path, tmp_path: Path) -> None:
    shutil.copytree(stanza_dir / "it", tmp_path / "it")
    shutil.copy(stanza_dir / "resources.json", tmp_path)
    whole = find_package("it", tmp_path)
    for model in (tmp_path / "it").rglob("*.pt"):
        model.write_bytes(model.read_bytes()[:1000])
    package = find_package("it", tmp_path)
    assert package.signature != whole.signature
    with pytest.raises(MissingResourceError, match="cannot load its models for 'it'"):
        StanzaAnalyser(package, AnalysisCache(None), device="cpu").prepare(["testo"])


def test_the_folder_is_the_given_one_else_stanzas_variable_else_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(tmp_path / "variable"))
    assert stanza_folder(tmp_path / "given", tmp_path) == tmp_path / "given"
    assert stanza_folder(None, tmp_path) == tmp_path / "variable"
    monkeypatch.delenv("STANZA_RESOURCES_DIR")
    assert stanza_folder(None, tmp_path) == tmp_path / "stanza"


@pytest.mark.parametrize(
    ("name", "message"), [("nope", "got 'nope'"), ("meta", "got 'meta'"), ("cuda:99", "torch sees")]
)
def test_a_device_that_is_not_here(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        require_device(name)
    require_device("cpu")


@pytest.mark.slow
def test_loading_does_not_import_pytorchs_compiler(stanza_dir: Path) -> None:
    # Stanza would make optimizers, which import it: two seconds of every run. One that is trained
    # has them again. A trainer would import transformers, which nothing here uses.
    code = (
        "import sys; from pathlib import Path\n"
        "from mtbias.morphology.stanza_models import find_package, load_pipeline\n"
        "said = load_pipeline(find_package('de', Path(sys.argv[1])), 'cpu')('Der Arzt kam.')\n"
        "print(said.sentences[0].words[1].upos, 'torch._dynamo' in sys.modules)\n"
        "print('transformers' in sys.modules)\n"
        "import torch; from stanza.models.common import utils\n"
        "weights = torch.nn.Linear(1, 1).parameters()\n"
        "print(type(utils.dispatch_optimizer('adam', weights, utils.logger, 0.1, (0.9, 0.9), 1e-6)).__name__)"
    )
    command = [sys.executable, "-c", code, str(stanza_dir)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["NOUN", "False", "False", "Adam"]


def test_transformers_is_hidden_in_the_block_alone() -> None:
    code = (
        "import sys; from importlib.util import find_spec\n"
        "from mtbias.morphology.stanza_models import without_transformers\n"
        "with without_transformers():\n"
        "    try: import transformers; print('found')\n"
        "    except ImportError: print('hidden')\n"
        "print('transformers' in sys.modules, find_spec('transformers') is not None)\n"
        "sys.modules['transformers'] = sys\n"
        "with without_transformers():\n"
        "    import transformers; print(transformers is sys)\n"
        "print(sys.modules['transformers'] is sys)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["hidden", "False", "True", "True", "True"]
