"""`mtbias fetch` from a server on this machine, and what is then found in the cache."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.coref.coref_datasets import located, open_dataset
from mtbias.coref.gap import Gap
from mtbias.corpora import catalog

from .machine import Machine


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
        """Say nothing."""


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that a server on this machine serves, and a catalog whose addresses all point to
    it."""
    folder = tmp_path / "served"
    folder.mkdir()
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.05), daemon=True)
    thread.start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    known, tables = catalog.catalogued(), catalog.tables()
    sets = {
        name: replace(entry, source=_moved(entry.source, base)) for name, entry in known.items()
    }
    monkeypatch.setattr(catalog, "catalogued", lambda: sets)
    moved = {name: _moved(source, base) for name, source in tables.items()}
    monkeypatch.setattr(catalog, "tables", lambda: moved)
    yield folder
    server.shutdown()
    server.server_close()
    thread.join(timeout=10)


def _moved(source: catalog.Source, base: str) -> catalog.Source:
    downloads = tuple(
        replace(d, url=f"{base}/{d.url.rpartition('/')[2]}") for d in source.downloads
    )
    return replace(source, downloads=downloads)


def test_winomt_is_fetched_checked_and_then_used(
    served: Path,
    winomt: Path,
    german: Path,
    prepared: Machine,
    bare: Machine,
    capsys: pytest.CaptureFixture[str],
) -> None:
    hashes = {}
    for name in ("en.txt", "en_pro.txt", "en_anti.txt"):
        (served / name).write_bytes((winomt / name).read_bytes())
        hashes[name] = catalog.datasets()["winomt"].source.hashes[name]
    fetch = ["fetch", "--dataset", "winomt", "--cache-dir", str(bare.cache)]
    assert main(fetch) == 0
    folder = bare.cache / "datasets" / "winomt"
    line = f"data winomt: {folder}, {', '.join(f'sha256 {digest} (checked)' for digest in hashes.values())}\n"
    assert capsys.readouterr() == (line, "")
    assert main(fetch) == 0
    assert capsys.readouterr() == (line.replace(")", ", was here)"), "")
    # The whole corpus is found in the cache now: translations of one sentence of it are too few.
    one = bare.folder / "one.txt"
    one.write_text(german.read_text(encoding="utf-8").partition("\n")[0] + "\n", encoding="utf-8")
    assert (
        main(["score", "--translations", str(one), "--lang", "de", "--cache-dir", str(bare.cache)])
        == 1
    )
    assert "of the corpus's 3888 instances, got 1;" in capsys.readouterr().err


COREFERENCE = (
    "winobias",
    "winogender",
    "gap",
    "gap-spans",
    "gap-weights",
    "counter-gap",
    "sowinobias",
)


def test_the_data_of_coreference_are_fetched_and_then_found(
    served: Path,
    shared: Path,
    bare: Machine,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for place in ("winobias", "winogender", "gap", "countergap"):
        for file in (shared / "data" / "coref" / place).iterdir():
            (served / file.name).symlink_to(file)
    monkeypatch.setenv("MTBIAS_CACHE", str(bare.cache))
    assert main(["fetch", *(word for name in COREFERENCE for word in ("--dataset", name))]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert [line.count("(checked)") for line in lines] == [10, 2, 3, 1, 2, 1]
    assert last == "data sowinobias: nothing to download, ships with mtbias"
    cached = bare.cache / "datasets"
    assert located({}, []) == {
        name: cached / name for name in ("winobias", "winogender", "gap")
    } | {"counter-gap": cached / "counter-gap" / "C-GAP.tsv"}
    assert main(["list", "datasets"]) == 0
    listed = {
        line.split()[0]: line
        for line in capsys.readouterr().out.splitlines()
        if not line.startswith(" ")
    }
    assert all(listed[name].endswith("(in the cache)") for name in COREFERENCE[:-1])
    assert listed["sowinobias"].endswith("(ships with mtbias)")
    gap = open_dataset("gap", None)  # with what lies beside it
    assert isinstance(gap, Gap)
    assert gap.names is not None
    assert list(gap.weights) == ["linear_weights.json", "linear_weights_trimmed.json"]
    texts = bare.folder / "texts.txt"
    assert main(["coref", "export", "winogender", "--format", "text", "--out", str(texts)]) == 0
    assert texts.read_text(encoding="utf-8").count("\n") == 720
    (cached / "winobias" / "male_occupations.txt").write_text("carpenter\n", encoding="utf-8")
    assert main(["coref", "score", "winobias", "--baseline", "first"]) == 1
    err = capsys.readouterr().err
    assert "male_occupations.txt: the file in the cache is damaged" in err
    assert "run: mtbias fetch --dataset winobias" in err


def test_other_bytes_than_the_published_are_refused(
    served: Path, bare: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    (served / "en.txt").write_bytes(b"male\t1\tThe cook left.\tcook\n")
    assert main(["fetch", "--dataset", "winomt", "--cache-dir", str(bare.cache)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("mtbias: http://127.0.0.1:")
    assert "nothing was kept" in err
    assert err.count("\n") == 1
    assert not (bare.cache / "datasets" / "winomt" / "en.txt").exists()


def test_what_the_server_lacks_is_one_line(
    served: Path, bare: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fetch", "--dataset", "winomt", "--cache-dir", str(bare.cache)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert (
        "/en.txt: could not be downloaded: HTTP 404: there is nothing at that address; check the network"
        in err
    )
    assert err.count("\n") == 1


def test_a_data_set_nobody_has_checked_needs_a_decision(
    served: Path, bare: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fetch", "--dataset", "bug", "--cache-dir", str(bare.cache)]) == 1
    assert "--sha256 HASH, or --accept-unverified" in capsys.readouterr().err
    assert main(["fetch", "--dataset", "bug", "--sha256", "abc"]) == 2
    assert main(["fetch", "--lang", "tlh"]) == 2
    assert "no language 'tlh' is installed" in capsys.readouterr().err


POLISH = """\
lekarz\tlekarz\tN;NOM;SG;MASC;HUM
lekarz\tlekarza\tN;GEN;SG;MASC;HUM
lekarka\tlekarka\tN;NOM;SG;FEM
lekarka\tlekarki\tN;GEN;SG;FEM
"""


def test_unimorphs_table_is_fetched_by_its_name_and_drafted_from_with_its_licence(
    served: Path, bare: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    listed, out = bare.folder / "nouns.tsv", bare.folder / "mtbias-polish"
    listed.write_text("english\tmasculine\tfeminine\ndoctor\tlekarz\tlekarka\n", encoding="utf-8")
    where = ["--out", str(out), "--cache-dir", str(bare.cache), "--stanza-dir", str(bare.folder)]
    draft = ["languages", "new", "pl", "--lexicon", str(listed), "unimorph", *where]
    fetch = ["fetch", "--dataset", "unimorph-pl", "--cache-dir", str(bare.cache)]
    assert main(draft) == 1
    assert "run: mtbias fetch --dataset unimorph-pl" in capsys.readouterr().err
    (served / "pol").write_text(POLISH, encoding="utf-8")
    assert main(fetch) == 1
    assert "--sha256 HASH, or --accept-unverified" in capsys.readouterr().err
    assert main([*fetch, "--accept-unverified"]) == 0
    assert main(draft) == 0
    line = "UniMorph: CC BY-SA 3.0, https://github.com/unimorph/pol at 021f30f"
    assert f"\n  {line}\n" in capsys.readouterr().out
    assert f"- {line}\n" in (out / "README.md").read_text(encoding="utf-8")
    nouns = (out / "mtbias_polish" / "data" / "pl_nouns.tsv").read_text(encoding="utf-8")
    assert "# check doctor\tlekarz\tm\twhole1\t\n" in nouns
    assert "# check doctor\tlekarka\tf\ta1\t\n" in nouns
    assert (
        main(["languages", "new", "nl", "--lexicon", "unimorph", "--out", str(bare.folder / "nl")])
        == 2
    )
    assert "UniMorph is known for bg, ca, hi, pl, ro, sv alone; got nl" in capsys.readouterr().err
