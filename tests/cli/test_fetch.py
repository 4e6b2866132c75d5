"""`mtbias fetch` from a server on this machine, and what is then found in the cache."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.corpora import catalog

from .machine import Machine


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
        """Say nothing."""


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that a server on this machine serves, and a catalog whose addresses all point to it."""
    folder = tmp_path / "served"
    folder.mkdir()
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.05), daemon=True)
    thread.start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setattr(catalog, "datasets", partial(_moved, catalog.datasets(), base))
    yield folder
    server.shutdown()
    server.server_close()
    thread.join(timeout=10)


def _moved(known: Mapping[str, catalog.Dataset], base: str) -> dict[str, catalog.Dataset]:
    moved = {}
    for name, entry in known.items():
        downloads = tuple(replace(d, url=f"{base}/{d.url.rpartition('/')[2]}") for d in entry.source.downloads)
        moved[name] = replace(entry, source=replace(entry.source, downloads=downloads))
    return moved


def test_winomt_is_fetched_checked_and_then_used(
    served: Path, winomt: Path, german: Path, prepared: Machine, bare: Machine, capsys: pytest.CaptureFixture[str]
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
    assert main(["score", "--translations", str(one), "--lang", "de", "--cache-dir", str(bare.cache)]) == 1
    assert "of the corpus's 3888 instances, got 1;" in capsys.readouterr().err


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


def test_what_the_server_lacks_is_one_line(served: Path, bare: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fetch", "--dataset", "winomt", "--cache-dir", str(bare.cache)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "/en.txt: could not be downloaded: HTTP 404: there is nothing at that address; check the network" in err
    assert err.count("\n") == 1


def test_a_data_set_nobody_has_checked_needs_a_decision(
    served: Path, bare: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fetch", "--dataset", "bug", "--cache-dir", str(bare.cache)]) == 1
    assert "--sha256 HASH, or --accept-unverified" in capsys.readouterr().err
    assert main(["fetch", "--dataset", "bug", "--sha256", "abc"]) == 2
    assert main(["fetch", "--lang", "tlh"]) == 2
    assert "no language 'tlh' is installed" in capsys.readouterr().err
