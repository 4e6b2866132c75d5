"""The catalog, the cache, and loading by name."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import mtbias.corpora
from mtbias.corpora import cache_folder, dataset_names, datasets, load_corpus
from mtbias.corpora.catalog import (
    Downloaded,
    Fetch,
    catalogued,
    read_record,
    unpublished_files,
    write_record,
)
from mtbias.errors import DataError, MissingResourceError, UsageError

BUG = ("bug", "bug-balanced", "bug-gold", "bug-gold-paper")
MT_GENEVAL = ("mt-geneval", "mt-geneval-entities", "mt-geneval-context")
NAMES = ("winomt", *BUG, *MT_GENEVAL, "gest", "demo", "custom")
LICENCES = {
    **dict.fromkeys(MT_GENEVAL, "CC BY-SA 3.0"),
    **dict.fromkeys(("gest", "gap"), "Apache-2.0"),
}
LICENCES["sowinobias"] = "CC BY 4.0"


def test_the_names() -> None:
    assert dataset_names() == NAMES
    with pytest.raises(
        UsageError,
        match=r"unknown dataset 'winmt'; did you mean winomt\? there are winomt, bug, .*custom",
    ):
        load_corpus("winmt", None)
    with pytest.raises(UsageError, match="winobias is for mtbias coref; "):
        load_corpus("winobias", None)


def test_the_catalog_is_complete() -> None:
    for name, dataset in catalogued().items():
        assert dataset.name == name
        source = dataset.source
        assert source.commit
        assert source.licence == LICENCES.get(name, "MIT")
        assert source.citation.startswith(("@inproceedings{", "@article{"))
        assert (
            dataset.file in {file for download in source.downloads for file in download.files}
            or not source.downloads
        )
        for download in source.downloads:
            assert download.url.startswith("https://")
            assert any(commit in download.url for commit in source.commit.split(", "))
            assert download.sha256 == "" or len(bytes.fromhex(download.sha256)) == 32


def test_the_catalogs_hashes_and_rows_are_those_of_the_data(shared: Path) -> None:
    for name, folder in (("winomt", "winomt"), ("bug-gold-paper", "bug")):
        dataset = datasets()[name]
        for file, expected in dataset.source.hashes.items():
            assert (
                hashlib.sha256((shared / "data" / folder / file).read_bytes()).hexdigest()
                == expected
            )
        assert load_corpus(name, shared / "data" / folder).rows == dataset.rows
    gest = shared / "data" / "gest"
    assert (
        hashlib.sha256((gest / "gest.csv").read_bytes()).hexdigest()
        == datasets()["gest"].source.hashes["gest.csv"]
    )
    assert (
        load_corpus("gest", gest).rows
        == load_corpus("gest", gest / "gest_1.1.csv").rows
        == datasets()["gest"].rows
    )
    # Lines of the files; the contextual part has other numbers of them for each language.
    context = {"ar": 1100, "de": 1100, "es": 1096, "fr": 1099, "it": 1094, "ru": 1100}
    for name, place, rows in (
        ("mt-geneval", "sentences", dict.fromkeys(context, 600)),
        ("mt-geneval-context", "context", context),
    ):
        files, dataset = shared / "data" / "mtgeneval" / place, datasets()[name]
        hashes = {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files.iterdir()
        }
        assert (dataset.source.hashes, dataset.rows) == (hashes, rows["ar"])
        for lang, number in rows.items():
            assert load_corpus(name, files, lang=lang).rows == number
    entities = shared / "data" / "mtgeneval" / "entities"
    hashes = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in entities.iterdir()
    }
    assert datasets()["mt-geneval-entities"].source.hashes == hashes


@pytest.mark.parametrize(
    ("name", "folder", "lang", "files"),
    [
        ("winomt", "winomt", None, ["en.txt", "en_pro.txt", "en_anti.txt"]),
        ("bug-gold-paper", "bug", None, ["gold_BUG.csv"]),
        ("gest", "gest", None, ["gest.csv"]),
        ("mt-geneval-entities", "mtgeneval/entities", "de", ["geneval.en-de.tsv"]),
        (
            "mt-geneval",
            "mtgeneval/sentences",
            "de",
            [
                f"geneval-sentences-{of}-test.en_de.{side}"
                for of in ("feminine", "masculine")
                for side in ("en", "de")
            ],
        ),
    ],
)
def test_a_file_with_a_published_name_and_another_text_is_noted(
    shared: Path, tmp_path: Path, name: str, folder: str, lang: str | None, files: list[str]
) -> None:
    for file in files:
        (tmp_path / file).write_bytes((shared / "data" / folder / file).read_bytes())
    assert not [
        note for note in load_corpus(name, tmp_path, lang=lang).notes if "published" in note
    ]
    for file in files:
        (tmp_path / file).write_bytes((tmp_path / file).read_bytes() + b"\n")
    noted = [note for note in load_corpus(name, tmp_path, lang=lang).notes if "published" in note]
    assert noted == [f"{file} is not the published file" for file in files]


def test_a_file_of_which_no_hash_is_known_is_not_judged(shared: Path) -> None:
    # The current release is an archive: the catalog has no hash of the gold_BUG.csv in it.
    gold = shared / "data" / "bug" / "gold_BUG.csv"
    assert not [note for note in load_corpus("bug-gold", gold).notes if "published" in note]
    assert not unpublished_files(["bug-gold", "bug-gold-paper"], {"gold_BUG.csv": "0" * 64})
    assert unpublished_files(["bug-gold-paper"], {"gold_BUG.csv": "0" * 64}) == ["gold_BUG.csv"]
    assert not unpublished_files(["bug-gold-paper"], {"mine.csv": "0" * 64})


def test_the_facade_is_sorted_and_whole() -> None:
    assert mtbias.corpora.__all__ == sorted(mtbias.corpora.__all__)
    assert all(hasattr(mtbias.corpora, name) for name in mtbias.corpora.__all__)


def test_import_loads_nothing_heavy() -> None:
    code = (
        "import sys, mtbias.corpora, mtbias.translate.given_translations;"
        "print([m for m in ('torch', 'stanza', 'pandas', 'numpy', 'pooch', 'requests') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MTBIAS_CACHE", str(tmp_path / "e"))
    assert cache_folder(tmp_path) == tmp_path
    assert cache_folder(None) == tmp_path / "e"
    monkeypatch.delenv("MTBIAS_CACHE")
    assert "mtbias" in str(cache_folder(None))


@pytest.mark.parametrize("name", NAMES[:-2])
def test_what_is_not_in_the_cache_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("MTBIAS_CACHE", str(tmp_path))
    with pytest.raises(MissingResourceError, match=f"run: mtbias fetch --dataset {name}$"):
        load_corpus(name, None, lang="de")


def fill(cache: Path, winomt: Path) -> Path:
    folder = cache / "datasets" / "winomt"
    folder.mkdir(parents=True)
    for name in ("en.txt", "en_pro.txt", "en_anti.txt"):
        (folder / name).write_bytes((winomt / name).read_bytes())
    return folder


def test_the_cache_is_read_and_checked(tmp_path: Path, winomt: Path) -> None:
    folder = fill(tmp_path, winomt)
    assert (
        load_corpus("winomt", None, cache=tmp_path).instances
        == load_corpus("winomt", winomt).instances
    )
    for name in ("en.txt", "en_anti.txt"):
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[:-1])
        with pytest.raises(
            DataError, match=rf"{name}: .*damaged.*run: mtbias fetch --dataset winomt"
        ):
            load_corpus("winomt", None, cache=tmp_path)
        (folder / name).write_bytes(data)
    (folder / "en_pro.txt").unlink()
    with pytest.raises(
        MissingResourceError, match=r"en_pro.txt is not in the cache; run: mtbias fetch"
    ):
        load_corpus("winomt", None, cache=tmp_path)


def test_an_unverified_file_is_checked_against_the_record(tmp_path: Path, shared: Path) -> None:
    folder = tmp_path / "datasets" / "bug"
    folder.mkdir(parents=True)
    data = (shared / "data" / "bug" / "gold_BUG.csv").read_bytes()
    (folder / "gold_BUG.csv").write_bytes(data)
    assert (
        load_corpus("bug-gold", None, cache=tmp_path).rows == 1720
    )  # put there by hand: no hash to check
    write_record(folder, Fetch({"gold_BUG.csv": hashlib.sha256(data).hexdigest()}, {}))
    assert load_corpus("bug-gold", None, cache=tmp_path).rows == 1720
    (folder / "gold_BUG.csv").write_bytes(data + b"\n")
    with pytest.raises(DataError, match=r"damaged.*mtbias fetch --dataset bug-gold"):
        load_corpus("bug-gold", None, cache=tmp_path)


def test_the_record_is_read_back(tmp_path: Path) -> None:
    assert read_record(tmp_path) == Fetch({}, {})
    fetch = Fetch({"a": "1"}, {"http://x": Downloaded("2", verified=False)})
    write_record(tmp_path, fetch)
    assert read_record(tmp_path) == fetch
    assert [path.name for path in tmp_path.iterdir()] == ["fetched.json"]
    for damaged in (
        b"{",
        b"[]",
        b'{"files": 1}',
        json.dumps({"files": {}, "downloads": {"u": 1}}).encode(),
    ):
        (tmp_path / "fetched.json").write_bytes(damaged)
        with pytest.raises(DataError, match="damaged"):
            read_record(tmp_path)
