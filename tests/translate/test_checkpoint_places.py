"""Where a checkpoint is: a folder, the hub at a commit that was written down, a part of a
download."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from mtbias.demo import model_folder_of_demo
from mtbias.errors import MissingResourceError, ModelError, UsageError
from mtbias.machine.network import downloads_allowed
from mtbias.translate.seq2seq.checkpoints import RECORD, files_hash, locate, read_pins
from mtbias.translate.seq2seq.codec import Codec

from .conftest import Checkpoint
from .layouts import in_parts

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_a_local_folder_is_named_by_its_content(
    copied: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = copied("m2m100")
    found = locate(str(folder), "de", cache=tmp_path)
    assert (found.name, found.folder, found.revision) == (
        "m2m100",
        folder,
        f"sha256:{files_hash(folder)[:16]}",
    )
    (folder / "README.md").write_text("no part of the model", encoding="utf-8")
    (folder / "pytorch_model.bin").write_bytes(b"not read beside safetensors")
    assert locate(str(folder), "de", cache=tmp_path) == found
    for name in (
        "config.json",
        "generation_config.json",
        "tokenizer_config.json",
        "vocab.json",
        "model.safetensors",
    ):
        before = locate(str(folder), "de", cache=tmp_path).revision
        (folder / name).write_bytes((folder / name).read_bytes() + b"\n")
        assert locate(str(folder), "de", cache=tmp_path).revision != before
    with pytest.raises(
        UsageError, match=r"--revision is for models of the hub; .*m2m100 is a folder"
    ):
        locate(str(folder), "de", cache=tmp_path, revision="main")
    assert locate("demo", "de", cache=tmp_path).folder == model_folder_of_demo()
    (folder / "adapter_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(
        ModelError, match=r"m2m100: expected whole weights, got an adapter too; merge it into them"
    ):
        locate(str(folder), "de", cache=tmp_path)


def test_a_local_folder_comes_before_a_hub_id(
    checkpoint: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(checkpoint("m2m100"), tmp_path / "facebook" / "m2m100_418M")
    monkeypatch.chdir(tmp_path)
    found = locate("facebook/m2m100_418M", "de", cache=tmp_path / "cache", offline=True)
    assert (found.name, found.folder) == ("m2m100_418M", Path("facebook/m2m100_418M"))
    assert found.revision.startswith("sha256:")


@pytest.mark.parametrize(
    "model", ["nothing", "./nothing", "../facebook/m2m100", "no thing/x", "a/b/c"]
)
def test_what_is_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    monkeypatch.chdir(tmp_path)
    said = rf"model: expected a short name, a hub id \(OWNER/NAME\) or a folder with a checkpoint, got '{model}'; "
    with pytest.raises(UsageError, match=said):
        locate(model, "de", cache=tmp_path, offline=True)


def test_opus_mt_from_another_language_than_english(tmp_path: Path) -> None:
    fetch = "mtbias fetch --model opus-mt --lang es --source-lang de"
    with pytest.raises(MissingResourceError, match=rf"Helsinki-NLP/opus-mt-de-es .*{fetch}"):
        locate("opus-mt", "es", cache=tmp_path, offline=True, source_lang="de")


@pytest.mark.parametrize(
    "repository", ["facebook/mbart-large-50", "facebook/mbart-large-50-many-to-one-mmt"]
)
def test_the_mbart50_that_does_not_translate(tmp_path: Path, repository: str) -> None:
    with pytest.raises(
        ModelError, match=r"does not translate into the language asked for; use .*many-to-many-mmt"
    ):
        locate(repository, "de", cache=tmp_path, offline=True)


def pin(cache: Path, **commits: str) -> None:
    """Write down the commits of repositories."""
    cache.mkdir(exist_ok=True)
    named = {name.replace("__", "/"): commit for name, commit in commits.items()}
    (cache / RECORD).write_text(json.dumps(named), encoding="utf-8")


@pytest.mark.parametrize(
    ("model", "lang", "revision", "said"),
    [
        ("m2m100", "de", None, "facebook/m2m100_418M is .* mtbias fetch --model m2m100 --lang de$"),
        (
            "opus-mt",
            "uk",
            None,
            "Helsinki-NLP/opus-mt-en-uk is .* mtbias fetch --model opus-mt --lang uk$",
        ),
        ("some/one", "es", None, "some/one is .* mtbias fetch --model some/one --lang es$"),
        (
            "some/one",
            "es",
            COMMIT,
            f"some/one at 0123456789ab is .* --lang es --revision {COMMIT}$",
        ),
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
    for cache_of, revision in (
        (cache, other),
        (tmp_path, None),
    ):  # another commit; none that is known
        with pytest.raises(MissingResourceError, match=r"some/one.* is not on this machine"):
            locate("some/one", "de", cache=cache_of, revision=revision, offline=True)
    (at / "model.safetensors").unlink()  # a download that was stopped
    said = "some/one at 0123456789ab is here without model.safetensors or pytorch_model.bin, and the network may not"
    with pytest.raises(MissingResourceError, match=said):
        locate("some/one", "de", cache=cache, offline=True)


def test_a_branch_is_at_the_commit_at_which_it_was_fetched(
    hub: Path, tmp_path: Path, checkpoint: Checkpoint
) -> None:
    repository = hub / "models--some--one"
    shutil.copytree(checkpoint("m2m100"), repository / "snapshots" / COMMIT)
    (repository / "refs" / "pr").mkdir(parents=True)
    for branch in ("main", "pr/7"):
        (repository / "refs" / branch).write_text(COMMIT, encoding="utf-8")
        found = locate("some/one", "de", cache=tmp_path, revision=branch, offline=True)
        assert (found.name, found.revision, found.folder) == (
            "some/one",
            COMMIT,
            repository / "snapshots" / COMMIT,
        )
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
            return SimpleNamespace(
                sha=COMMIT, siblings=[SimpleNamespace(rfilename="model.safetensors")]
            )

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
    for read in (
        lambda: read_pins(tmp_path),
        lambda: locate("some/one", "de", cache=tmp_path, offline=True),
    ):
        with pytest.raises(
            ModelError, match=r"models\.json: .*; delete it and run mtbias fetch again"
        ):
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
        subprocess.Popen(
            [sys.executable, "-c", _PINNING, str(tmp_path), which],
            stdout=subprocess.PIPE,
            text=True,
        )
        for which in "01"
    ]
    said = {process.communicate(timeout=600)[0].strip() for process in started}
    assert [process.returncode for process in started] == [0, 0]
    pins = read_pins(tmp_path)
    assert pins.keys() == {"some/one", *(f"some/model{n}" for n in range(60))}
    assert said == {pins["some/one"]}


def test_no_record_of_commits_is_an_empty_one(tmp_path: Path) -> None:
    assert read_pins(tmp_path) == {}


@pytest.mark.parametrize(
    ("value", "expected"), [("1", True), ("true", True), ("ON", True), ("0", False), ("", False)]
)
def test_who_forbids_the_network(
    monkeypatch: pytest.MonkeyPatch, value: str, expected: bool
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", value)
    assert downloads_allowed(offline=False) is not expected
    assert not downloads_allowed(offline=True)


# Parts of a download.


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
        in_parts(whole)
    at = hub / "models--some--one" / "snapshots" / COMMIT
    shutil.copytree(whole, at)
    assert locate("some/one", "de", cache=tmp_path, revision=COMMIT, offline=True).folder == at
    (at / file).unlink()
    if file == "tokenizer.json":  # one of two will do
        assert locate("some/one", "de", cache=tmp_path, revision=COMMIT, offline=True).folder == at
        (pieces,) = at.glob("s*piece*.model")
        pieces.unlink()
    name = file.removesuffix(".index.json")
    said = f"some/one at 0123456789ab is here without .*{name}.*, and the network may not be used"
    with pytest.raises(MissingResourceError, match=said):
        locate("some/one", "de", cache=tmp_path, revision=COMMIT, offline=True)


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
    with pytest.raises(
        MissingResourceError, match=f"some/one at {COMMIT[::-1][:12]} is not on this machine"
    ):
        locate("some/one", "de", cache=tmp_path / "cache", offline=True)
