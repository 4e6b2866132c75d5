"""From a model's name to token ids and back: where the files are, what is in them, and what is refused and why."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from mtbias.demo import model_folder_of_demo
from mtbias.errors import MissingResourceError, ModelError, UsageError
from mtbias.machine.network import downloads_allowed
from mtbias.translate.seq2seq.beam_search import Decoding
from mtbias.translate.seq2seq.checkpoints import RECORD, files_hash, locate, read_pins
from mtbias.translate.seq2seq.codec import Codec
from mtbias.translate.seq2seq.families import Direction
from mtbias.translate.seq2seq.transformers_engine import TransformersEngine

from .checkpoints import sentences
from .conftest import Checkpoint

SOURCES = list(sentences()[0][:8])
DECODING = Decoding(beams=3)
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def copied(checkpoint: Checkpoint, tmp_path: Path) -> Callable[[str], Path]:
    """``copied("m2m100")``: a checkpoint that a test may change."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(checkpoint(name), tmp_path / name))

    return copy


def change(path: Path, **values: Any) -> None:
    """Set keys of a JSON file."""
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | values), encoding="utf-8")


def translate(folder: Path, lang: str) -> list[str]:
    """`SOURCES` by the reference engine."""
    codec = Codec(folder, lang)
    batch = [one.ids for one in codec.encode(SOURCES)]
    made = TransformersEngine(folder).generate(batch, decoding=DECODING, limit=40, forced=codec.forced)
    return codec.decode([one.ids for one in made])


# Encoding and decoding.


@pytest.mark.parametrize(
    ("name", "lang", "direction", "first", "generated"),
    [
        ("marian-multi", "ar", Direction(None, None, ">>ara<< "), ">>ara<<", None),
        ("m2m100", "de", Direction("en", "__de__", ""), "__en__", "__de__"),
        ("mbart50", "de", Direction("en_XX", "de_DE", ""), "en_XX", "de_DE"),
        ("nllb", "de", Direction("eng_Latn", "deu_Latn", ""), "eng_Latn", "deu_Latn"),
        ("madlad", "de", Direction(None, None, "<2de> "), "<2de>", None),
    ],
)
def test_every_family_there_and_back(
    checkpoint: Checkpoint, name: str, lang: str, direction: Direction, first: str, generated: str | None
) -> None:
    codec = Codec(checkpoint(name), lang)
    assert codec.direction == direction
    encoded = codec.encode(SOURCES)
    for one in encoded:
        tokens = codec._tokenizer.convert_ids_to_tokens(one.ids)
        assert (tokens[0], tokens[-1]) == (first, "</s>")
        assert not {first, "</s>", "<unk>"} & set(tokens[1:-1])
        assert not one.cut
    engine = TransformersEngine(checkpoint(name))
    made = engine.generate([e.ids for e in encoded], decoding=DECODING, limit=40, forced=codec.forced)
    if generated is not None:
        assert {codec._tokenizer.convert_ids_to_tokens(one.ids)[0] for one in made} == {generated}
    texts = codec.decode([one.ids for one in made])
    assert all(texts)
    assert not [text for text in texts if text.startswith(("<", ">", "__", "de_DE", "deu_Latn"))]
    assert texts == [text.strip() for text in texts]
    # Language tokens are taken out wherever they stand.
    (language,) = codec._tokenizer.convert_tokens_to_ids([generated or first])
    assert codec.decode([[language, *one.ids, language] for one in made]) == texts


@pytest.mark.parametrize("name", ["marian", "m2m100", "mbart50", "nllb"])
def test_a_text_that_is_too_long_is_cut_and_marked(checkpoint: Checkpoint, name: str) -> None:
    codec = Codec(checkpoint(name), "de")
    short, long = codec.encode([SOURCES[0], " ".join(SOURCES * 8)])
    assert (short.cut, long.cut) == (False, True)
    assert len(long.ids) == codec.most_tokens == 256  # the positions of these checkpoints
    assert codec._tokenizer.convert_ids_to_tokens(long.ids)[-1] == "</s>"
    assert long.ids[:1] == short.ids[:1] or name == "marian"  # the source language is still there
    assert codec.encode([]) == []


@pytest.mark.parametrize(
    ("name", "lang", "token", "piece"),
    [("marian-multi", "ar", ">>ara<<", "▁>>ara<<"), ("m2m100", "de", "__de__", "__de__")],
)
def test_a_language_token_that_is_taken_for_text_is_an_error(
    copied: Callable[[str], Path], name: str, lang: str, token: str, piece: str
) -> None:
    # The vocabulary has it once more, as an ordinary piece: the tokenizer does not know what that is.
    folder = copied(name)
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    number = vocabulary.pop(next(known for known in vocabulary if known.startswith("▁") and len(known) > 2))
    (folder / "vocab.json").write_text(json.dumps(vocabulary | {piece: number}), encoding="utf-8")
    codec = Codec(folder, lang)
    with pytest.raises(
        ModelError, match=f"a translation begins with a language token: '{token}.*does not know its own"
    ):
        codec.decode([[number, *codec.encode(SOURCES)[0].ids[1:]]])


def test_a_prefix_that_is_split_is_an_error(copied: Callable[[str], Path]) -> None:
    # The pieces are in the vocabulary, but nothing says that they are one token: "<2de>" is read as a word, "▁<2de>".
    folder = copied("madlad")
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["added_tokens"] = [entry for entry in content["added_tokens"] if not entry["content"].startswith("<2")]
    path.write_text(json.dumps(content), encoding="utf-8")
    change(folder / "tokenizer_config.json", extra_special_tokens=[])
    with pytest.raises(ModelError, match="the tokenizer splits '<2de>' instead of reading it as one token"):
        Codec(folder, "de").encode(SOURCES)


# Files of a checkpoint.


def test_a_folder_without_config(copied: Callable[[str], Path], tmp_path: Path) -> None:
    folder = copied("m2m100")
    (folder / "config.json").unlink()
    with pytest.raises(ModelError, match=r"m2m100: found no config.json; give the folder of a checkpoint"):
        Codec(folder, "de")
    with pytest.raises(ModelError, match=r"expected a checkpoint in Hugging Face's layout, got no config.json"):
        locate(str(folder), "de", cache=tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"{", "damaged: .*;"), (b"\xff\xfe{", "damaged: .*;"), (b"[]", "expected an object;")],
)
def test_a_damaged_config(copied: Callable[[str], Path], content: bytes, said: str) -> None:
    folder = copied("m2m100")
    (folder / "config.json").write_bytes(content)
    with pytest.raises(ModelError, match=f"config.json: .*{said} download the checkpoint again"):
        Codec(folder, "de")


@pytest.mark.parametrize("kind", ["llama", "nothing-that-exists", None])
def test_an_unknown_architecture(copied: Callable[[str], Path], kind: str | None) -> None:
    folder = copied("m2m100")
    change(folder / "config.json", model_type=kind)
    for name in ("vocab.json", "sentencepiece.bpe.model"):
        (folder / name).unlink()  # what another architecture has may not load at all: that is not what is said
    with pytest.raises(ModelError, match=f"says model_type {kind!r}; expected one of marian .*`mtbias score`"):
        Codec(folder, "de")


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("m2m100", ["vocab.json"]),
        ("m2m100", ["sentencepiece.bpe.model"]),
        ("marian", ["vocab.json"]),
        ("marian", ["source.spm"]),
        ("marian", ["target.spm"]),
        ("mbart50", ["tokenizer.json"]),  # these two would load, with a vocabulary of language codes alone
        ("nllb", ["tokenizer.json"]),
        ("madlad", ["tokenizer.json"]),
    ],
)
def test_a_tokenizer_without_its_files(copied: Callable[[str], Path], name: str, files: list[str]) -> None:
    folder = copied(name)
    for file in files:
        (folder / file).unlink()
    with pytest.raises(
        ModelError,
        match=r"loading the tokenizer with transformers failed: .*again|the tokenizer knows \d+ tokens of",
    ):
        Codec(folder, "de")


def test_weights_that_are_not_there(copied: Callable[[str], Path]) -> None:
    folder = copied("m2m100")
    weights = folder / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[: len(content) // 2])
    with pytest.raises(
        ModelError,
        match=r"m2m100: loading the weights with transformers failed: SafetensorError: .*; download",
    ):
        TransformersEngine(folder)
    weights.unlink()
    with pytest.raises(
        ModelError,
        match=r"m2m100: loading the weights with transformers failed: OSError: .*; download",
    ):
        TransformersEngine(folder)


@pytest.mark.parametrize("name", ["marian", "m2m100", "mbart50", "nllb", "madlad"])
def test_weights_of_which_some_are_lost(copied: Callable[[str], Path], name: str) -> None:
    # transformers would put random numbers in their place and say so where nobody reads it.
    from safetensors.torch import load_file, save_file

    folder = copied(name)
    weights = load_file(folder / "model.safetensors")
    lost = sorted(key for key in weights if ".1." in key and ("fc1" in key or "DenseReluDense" in key))
    for key in lost:
        del weights[key]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=f"the weights lack {lost[0]} and {len(lost) - 1} more; .*: download it again"):
        TransformersEngine(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers(copied: Callable[[str], Path], tmp_path: Path, value: float) -> None:
    # A search with them ends all the same, in text.
    from safetensors.torch import load_file, save_file

    from mtbias.translate.seq2seq.ct2_engine import CTranslate2Engine

    folder = copied("m2m100")
    weights = load_file(folder / "model.safetensors")
    name = "model.decoder.layers.1.fc1.weight"
    weights[name].view(-1)[-1] = value
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    said = f"m2m100: the weights {name} have values that are infinite or not a number in float32; download"
    with pytest.raises(ModelError, match=said):
        TransformersEngine(folder)
    with pytest.raises(ModelError, match=said):
        CTranslate2Engine(folder, cache=tmp_path)


def test_fewer_layers_in_the_config_than_in_the_weights(copied: Callable[[str], Path]) -> None:
    folder = copied("m2m100")
    change(folder / "config.json", decoder_layers=1)
    with pytest.raises(ModelError, match=r"the weights have model\.decoder\.layers\.1\..*config.json does not"):
        TransformersEngine(folder)


@pytest.mark.parametrize("value", [10**6, -1, "</s>", [2, 10**6]])
def test_special_tokens_that_the_vocabulary_lacks(copied: Callable[[str], Path], value: object) -> None:
    folder = copied("m2m100")
    change(folder / "generation_config.json", eos_token_id=value)
    with pytest.raises(
        ModelError, match=r"generation_config.json: eos_token_id: expected an id below \d+, got |failed"
    ):
        TransformersEngine(folder)


def test_what_generation_raises_names_the_checkpoint(copied: Callable[[str], Path]) -> None:
    folder = copied("m2m100")
    change(folder / "generation_config.json", bad_words_ids=[["all"]])
    engine = TransformersEngine(folder)
    with pytest.raises(ModelError, match=r"m2m100: generating with transformers failed: \w+Error: .*download"):
        engine.generate([[3, 4, 2]], decoding=Decoding(beams=1), limit=5, forced=None)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"<html>"])
def test_damaged_settings_of_generation(copied: Callable[[str], Path], content: bytes) -> None:
    folder = copied("m2m100")  # transformers passes over such a file
    (folder / "generation_config.json").write_bytes(content)
    with pytest.raises(ModelError, match=r"generation_config.json: (damaged|expected an object)"):
        Codec(folder, "de")


@pytest.mark.parametrize("length", ["long", -1, 1])
def test_a_length_that_no_sentence_has(copied: Callable[[str], Path], length: object) -> None:
    folder = copied("m2m100")
    change(folder / "tokenizer_config.json", model_max_length=length)
    with pytest.raises(ModelError, match=f"model_max_length: expected a number of at least 8, got {length!r}"):
        Codec(folder, "de")


def test_two_keys_of_a_config_that_name_two_architectures(copied: Callable[[str], Path]) -> None:
    folder = copied("m2m100")
    change(folder / "config.json", model_type="marian")
    with pytest.raises(ModelError, match="model_type 'marian' and architectures 'M2M100ForConditionalGeneration'"):
        Codec(folder, "de")


class Trap:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (str(self.path), "w")


def write_zip(content: dict[str, Any], path: Path) -> None:
    """As ``torch.save`` does it."""
    torch.save(content, path)


def write_pickle(content: dict[str, Any], path: Path) -> None:
    """A bare pickle, of torch's protocol."""
    path.write_bytes(pickle.dumps(content, protocol=2))


@pytest.mark.parametrize("write", [write_zip, write_pickle])
def test_pickled_weights_run_no_code(
    copied: Callable[[str], Path], tmp_path: Path, write: Callable[[dict[str, Any], Path], None]
) -> None:
    folder, sprung = copied("m2m100"), tmp_path / "sprung"
    (folder / "model.safetensors").unlink()
    write({"trap": Trap(sprung)}, folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="expected weights, got a pickle with something else in it"):
        TransformersEngine(folder)
    assert not sprung.exists()
    if write is write_zip:  # it is a trap
        torch.load(folder / "pytorch_model.bin", weights_only=False)["trap"].close()
        assert sprung.exists()


def test_plain_pickled_weights_are_loaded(copied: Callable[[str], Path]) -> None:
    from safetensors.torch import load_file

    folder = copied("m2m100")
    expected = translate(folder, "de")
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    assert translate(folder, "de") == expected


def test_code_in_a_checkpoint_is_not_run(copied: Callable[[str], Path], tmp_path: Path) -> None:
    folder = copied("m2m100")
    expected = translate(folder, "de")
    for name in ("config.json", "tokenizer_config.json"):
        change(
            folder / name,
            auto_map={
                "AutoConfig": "own.Config",
                "AutoModelForSeq2SeqLM": "own.Model",
                "AutoTokenizer": ["own.Tokenizer", None],
            },
        )
    (folder / "own.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')", encoding="utf-8")
    assert translate(folder, "de") == expected
    assert not (tmp_path / "sprung").exists()


# Where a model is.


def test_a_local_folder_is_named_by_its_content(copied: Callable[[str], Path], tmp_path: Path) -> None:
    folder = copied("m2m100")
    found = locate(str(folder), "de", cache=tmp_path)
    assert (found.name, found.folder, found.revision) == ("m2m100", folder, f"sha256:{files_hash(folder)[:16]}")
    (folder / "README.md").write_text("no part of the model", encoding="utf-8")
    (folder / "pytorch_model.bin").write_bytes(b"not read beside safetensors")
    assert locate(str(folder), "de", cache=tmp_path) == found
    for name in ("config.json", "generation_config.json", "tokenizer_config.json", "vocab.json", "model.safetensors"):
        before = locate(str(folder), "de", cache=tmp_path).revision
        (folder / name).write_bytes((folder / name).read_bytes() + b"\n")
        assert locate(str(folder), "de", cache=tmp_path).revision != before
    with pytest.raises(UsageError, match=r"--revision is for models of the hub; .*m2m100 is a folder"):
        locate(str(folder), "de", cache=tmp_path, revision="main")
    assert locate("demo", "de", cache=tmp_path).folder == model_folder_of_demo()


def test_a_local_folder_comes_before_a_hub_id(
    checkpoint: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(checkpoint("m2m100"), tmp_path / "facebook" / "m2m100_418M")
    monkeypatch.chdir(tmp_path)
    found = locate("facebook/m2m100_418M", "de", cache=tmp_path / "cache", offline=True)
    assert (found.name, found.folder) == ("m2m100_418M", Path("facebook/m2m100_418M"))
    assert found.revision.startswith("sha256:")


@pytest.mark.parametrize("model", ["nothing", "./nothing", "../facebook/m2m100", "no thing/x", "a/b/c"])
def test_what_is_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    monkeypatch.chdir(tmp_path)
    said = rf"model: expected a short name \(opus-mt, m2m100, .*a folder with a checkpoint, got '{model}'; .*OWNER/NAME"
    with pytest.raises(UsageError, match=said):
        locate(model, "de", cache=tmp_path, offline=True)


@pytest.mark.parametrize("repository", ["facebook/mbart-large-50", "facebook/mbart-large-50-many-to-one-mmt"])
def test_the_mbart50_that_does_not_translate(tmp_path: Path, repository: str) -> None:
    with pytest.raises(ModelError, match=r"does not translate into the language asked for; use .*many-to-many-mmt"):
        locate(repository, "de", cache=tmp_path, offline=True)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hugging Face's cache, empty (``HF_HOME`` is read when the library is imported)."""
    from huggingface_hub import constants

    folder = tmp_path / "hub"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    monkeypatch.setattr(constants, "HF_HOME", str(tmp_path))
    return folder


def pin(cache: Path, **commits: str) -> None:
    """Write down the commits of repositories."""
    cache.mkdir(exist_ok=True)
    named = {name.replace("__", "/"): commit for name, commit in commits.items()}
    (cache / RECORD).write_text(json.dumps(named), encoding="utf-8")


@pytest.mark.parametrize(
    ("model", "lang", "revision", "said"),
    [
        ("m2m100", "de", None, "facebook/m2m100_418M is .* mtbias fetch --model m2m100 --lang de$"),
        ("opus-mt", "uk", None, "Helsinki-NLP/opus-mt-en-uk is .* mtbias fetch --model opus-mt --lang uk$"),
        ("some/one", "es", None, "some/one is .* mtbias fetch --model some/one --lang es$"),
        ("some/one", "es", COMMIT, f"some/one at 0123456789ab is .* --lang es --revision {COMMIT}$"),
        ("some/one", "es", "main", "some/one at main is .* --lang es --revision main$"),
    ],
)
def test_a_model_that_is_not_here_names_the_command_that_downloads_it(
    hub: Path, tmp_path: Path, model: str, lang: str, revision: str | None, said: str
) -> None:
    expected = pytest.raises(MissingResourceError, match=f"the model {said}")
    with expected:
        locate(model, lang, cache=tmp_path, revision=revision, offline=True)
    with expected:  # HF_HUB_OFFLINE=1 says the same
        locate(model, lang, cache=tmp_path, revision=revision)
    assert not hub.exists()


def test_a_fetched_model_is_used_at_the_commit_that_was_written_down(
    hub: Path, tmp_path: Path, checkpoint: Checkpoint
) -> None:
    cache, other = tmp_path / "cache", COMMIT[::-1]
    at = hub / "models--some--one" / "snapshots" / COMMIT
    shutil.copytree(checkpoint("m2m100"), at)
    pin(cache, some__one=COMMIT)
    found = locate("some/one", "de", cache=cache, offline=True)
    assert (found.name, found.revision, found.folder) == ("some/one", COMMIT, at)
    assert Codec(found.folder, "de").direction.forced == "__de__"
    assert locate("some/one", "de", cache=tmp_path, revision=COMMIT, offline=True) == found
    for cache_of, revision in ((cache, other), (tmp_path, None)):  # another commit; none that is known
        with pytest.raises(MissingResourceError, match=r"some/one.* is not on this machine"):
            locate("some/one", "de", cache=cache_of, revision=revision, offline=True)
    (at / "model.safetensors").unlink()  # a download that was stopped
    said = "some/one at 0123456789ab is here without model.safetensors or pytorch_model.bin, and the network may not"
    with pytest.raises(MissingResourceError, match=said):
        locate("some/one", "de", cache=cache, offline=True)


def test_a_branch_is_at_the_commit_at_which_it_was_fetched(hub: Path, tmp_path: Path, checkpoint: Checkpoint) -> None:
    repository = hub / "models--some--one"
    shutil.copytree(checkpoint("m2m100"), repository / "snapshots" / COMMIT)
    (repository / "refs" / "pr").mkdir(parents=True)
    for branch in ("main", "pr/7"):
        (repository / "refs" / branch).write_text(COMMIT, encoding="utf-8")
        found = locate("some/one", "de", cache=tmp_path, revision=branch, offline=True)
        assert (found.name, found.revision, found.folder) == ("some/one", COMMIT, repository / "snapshots" / COMMIT)
    with pytest.raises(MissingResourceError, match="some/one at other is not on this machine"):
        locate("some/one", "de", cache=tmp_path, revision="other", offline=True)


def test_a_branch_is_downloaded_under_its_name(
    hub: Path, tmp_path: Path, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    class Hub:
        """A hub whose branch is at `COMMIT`."""

        def model_info(self, repository: str, *, revision: str) -> SimpleNamespace:
            assert (repository, revision) == ("some/one", "experiment")
            return SimpleNamespace(sha=COMMIT, siblings=[SimpleNamespace(rfilename="model.safetensors")])

    asked: list[str] = []

    def download(_: str, *, revision: str, **__: object) -> str:
        asked.append(revision)
        at = hub / "models--some--one" / "snapshots" / COMMIT
        shutil.copytree(checkpoint("m2m100"), at)
        return str(at)

    monkeypatch.setattr(huggingface_hub, "HfApi", Hub)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    monkeypatch.setattr("mtbias.translate.seq2seq.checkpoints.downloads_allowed", lambda **_: True)
    found = locate("some/one", "de", cache=tmp_path / "cache", revision="experiment")
    assert (found.revision, asked) == (COMMIT, ["experiment"])  # the library writes refs/experiment
    assert read_pins(tmp_path / "cache") == {}  # the branch is not what --model alone means


@pytest.mark.parametrize("content", ["{", "[]", '{"some/one": 1}', "\x00"])
def test_a_damaged_record_of_commits(hub: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / RECORD).write_text(content, encoding="utf-8")
    for read in (lambda: read_pins(tmp_path), lambda: locate("some/one", "de", cache=tmp_path, offline=True)):
        with pytest.raises(ModelError, match=r"models\.json: .*; delete it and run mtbias fetch again"):
            read()


_PINNING = """
import sys
from pathlib import Path
from mtbias.translate.seq2seq.checkpoints import _pin
for n in range(int(sys.argv[2]), 60, 2):
    _pin(Path(sys.argv[1]), f"some/model{n}", "0" * 40)
print(_pin(Path(sys.argv[1]), "some/one", sys.argv[2] * 40))
"""


def test_two_processes_write_down_all_commits_and_agree_on_one(tmp_path: Path) -> None:
    started = [
        subprocess.Popen([sys.executable, "-c", _PINNING, str(tmp_path), which], stdout=subprocess.PIPE, text=True)
        for which in "01"
    ]
    said = {process.communicate(timeout=60)[0].strip() for process in started}
    assert [process.returncode for process in started] == [0, 0]
    pins = read_pins(tmp_path)
    assert pins.keys() == {"some/one", *(f"some/model{n}" for n in range(60))}
    assert said == {pins["some/one"]}


def test_no_record_of_commits_is_an_empty_one(tmp_path: Path) -> None:
    assert read_pins(tmp_path) == {}


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("true", True), ("ON", True), ("0", False), ("", False)])
def test_who_forbids_the_network(monkeypatch: pytest.MonkeyPatch, value: str, expected: bool) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", value)
    assert downloads_allowed(offline=False) is not expected
    assert not downloads_allowed(offline=True)


# Parts of a download.


def write_shards(folder: Path) -> Path:
    """The weights in two files with an index, as large checkpoints have them."""
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(weights)
    parts = {"model-00001-of-00002.safetensors": names[::2], "model-00002-of-00002.safetensors": names[1::2]}
    for file, some in parts.items():
        save_file({name: weights[name] for name in some}, folder / file, metadata={"format": "pt"})
    index = {"metadata": {}, "weight_map": {name: file for file, some in parts.items() for name in some}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("marian", "source.spm"),
        ("marian", "target.spm"),
        ("marian", "vocab.json"),
        ("m2m100", "sentencepiece.bpe.model"),
        ("mbart50", "tokenizer.json"),
        ("nllb", "tokenizer.json"),
        ("madlad", "tokenizer.json"),
        ("madlad", "config.json"),
        ("madlad", "model.safetensors"),
        ("m2m100 in parts", "model-00002-of-00002.safetensors"),
        ("m2m100 in parts", "model.safetensors.index.json"),
    ],
)
def test_a_part_of_a_download_is_not_the_whole(
    hub: Path, tmp_path: Path, copied: Callable[[str], Path], name: str, file: str
) -> None:
    whole = copied(name.removesuffix(" in parts"))
    if name.endswith(" in parts"):
        write_shards(whole)
    at = hub / "models--some--one" / "snapshots" / COMMIT
    shutil.copytree(whole, at)
    assert locate("some/one", "de", cache=tmp_path, revision=COMMIT, offline=True).folder == at
    (at / file).unlink()
    name = file.removesuffix(".index.json")
    said = f"some/one at 0123456789ab is here without .*{name}.*, and the network may not be used"
    with pytest.raises(MissingResourceError, match=said):
        locate("some/one", "de", cache=tmp_path, revision=COMMIT, offline=True)


def test_a_checkpoint_in_parts_translates_like_a_whole_one(
    copied: Callable[[str], Path], checkpoint: Checkpoint
) -> None:
    assert translate(write_shards(copied("m2m100")), "de") == translate(checkpoint("m2m100"), "de")


def test_what_another_program_downloaded_is_used_without_network(
    hub: Path, tmp_path: Path, checkpoint: Checkpoint
) -> None:
    # Nothing is written down yet; the hub's cache says which commit its main branch had.
    repository, cache = hub / "models--some--one", tmp_path / "cache"
    at = repository / "snapshots" / COMMIT
    shutil.copytree(checkpoint("m2m100"), at)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT, encoding="utf-8")
    found = locate("some/one", "de", cache=cache, offline=True)
    assert (found.revision, found.folder) == (COMMIT, at)
    assert read_pins(cache) == {"some/one": COMMIT}  # and it stays that one


def test_a_commit_that_was_written_down_is_not_exchanged_for_the_one_that_is_here(
    hub: Path, tmp_path: Path, checkpoint: Checkpoint
) -> None:
    repository = hub / "models--some--one"
    shutil.copytree(checkpoint("m2m100"), repository / "snapshots" / COMMIT)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT, encoding="utf-8")
    pin(tmp_path / "cache", some__one=COMMIT[::-1])
    with pytest.raises(MissingResourceError, match=f"some/one at {COMMIT[::-1][:12]} is not on this machine"):
        locate("some/one", "de", cache=tmp_path / "cache", offline=True)
