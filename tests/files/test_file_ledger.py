"""No file that was read is written over, and none of a run's own; its links are replaced."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import mtbias
from mtbias.api import Run
from mtbias.cli import main
from mtbias.demo import demo_file, reference_file
from mtbias.errors import OutputError, RunFolderError
from mtbias.files.file_ledger import REPORT, is_run_file, one_command
from mtbias.files.kept_work import PartStore, PlanRecord
from mtbias.files.reading import read_text
from mtbias.files.writing import locked_folder, write_atomic
from mtbias.runs.run_folder import RunFolder
from mtbias.settings import ScoreSettings

ROWS = 6
READ = "expected another file than those that are read"
RUNS_OWN = "expected another name than those of a run's own files"
IDENTITY = {"system": "a", "language": "de"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first rows of the demo's corpus, and of its correct translations."""
    folder = tmp_path_factory.mktemp("files")
    for name, path in (("corpus.tsv", demo_file()), ("target.tsv", reference_file("de"))):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / name).write_text("".join(lines[: 1 + ROWS]), encoding="utf-8")
    return folder


def scored(files: Path, out: Path | None, system: str = "a") -> Run:
    settings = ScoreSettings(
        dataset="demo",
        data=files / "corpus.tsv",
        stanza_dir=Path("mtbias:demo"),
        cache_dir=files / "cache",
        resamples=200,
    )
    return mtbias.score(files / "target.tsv", "de", system=system, out=out, settings=settings)


def contents(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


OTHER_NAMES: dict[str, Callable[[Path], Path]] = {
    "its own": lambda path: path,
    "a hard link": lambda path: _linked(path, os.link),
    "a symbolic link": lambda path: _linked(path, os.symlink),
    "by a linked folder": lambda path: _linked(path.parent, os.symlink) / path.name,
}


def _linked(path: Path, link: Callable[[Path, Path], object]) -> Path:
    link(path, name := path.with_name("linked"))
    return name


@pytest.mark.parametrize("name", OTHER_NAMES.values(), ids=OTHER_NAMES)
def test_what_was_read_is_not_written_over(name: Callable[[Path], Path], tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.txt"
    path.parent.mkdir()
    path.write_text("labels", encoding="utf-8")
    other = name(path)
    read_text(path)
    with pytest.raises(OutputError, match=READ):
        write_atomic(other, b"page")
    assert path.read_text(encoding="utf-8") == "labels"


def test_what_was_not_read_or_was_written_here_may_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")
    for content in ("first", "second", "third"):
        write_atomic(path, content.encode())
        assert read_text(path).text == content
    # Another file at that place is not the one that was written.
    path.unlink()
    (tmp_path / "b.txt").write_text("of the user", encoding="utf-8")
    (tmp_path / "b.txt").rename(path)
    read_text(path)
    with pytest.raises(OutputError, match=READ):
        write_atomic(path, b"fourth")


def test_an_inode_that_is_used_again_is_another_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("read", encoding="utf-8")
    read_text(path)
    # A file system may give the inode of a file that has gone to the next, as a rename does.
    path.rename(tmp_path / "b.txt")
    write_atomic(tmp_path / "b.txt", b"written")


def test_an_output_that_is_named_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("labels", encoding="utf-8")
    with (
        one_command({path: "rows"}),
        pytest.raises(OutputError, match=f"rows: {READ}, got ") as caught,
    ):
        read_text(path)
    assert caught.value.setting == "rows"
    with one_command({tmp_path / "b.txt": "rows"}):
        read_text(path)
    # Each command has a ledger of its own: what another one read may be written.
    with one_command({path: "out"}):
        write_atomic(path, b"page")


@pytest.mark.parametrize(
    ("manifest", "is_run"),
    [
        (json.dumps({"fingerprint": "0", "identity": {}}), True),
        ('{"fingerprint": "0", "ident', True),  # damaged
        ("", True),
        ('{"name": "an app", "icons": []}', False),
        ("[]", False),
        (None, False),
    ],
)
def test_the_names_of_a_run_beside_its_manifest(
    manifest: str | None,
    is_run: bool,
    tmp_path: Path,
) -> None:
    if manifest is not None:
        (tmp_path / "manifest.json").write_text(manifest, encoding="utf-8")
    names = (
        "manifest.json", "metrics.json", "calls.jsonl", "Calls.JSONL", "translations.jsonl",
        "translations.12.jsonl", "report.html", ".lock", "translations.parts",
        "translations.parts/000000.jsonl", "translations.parts/plan.json",
    )  # fmt: skip
    assert {is_run_file(tmp_path / name) for name in names} == {is_run}
    others = ("page.html", "overall.svg", "results.jsonl", "x/.lock")
    assert not any(is_run_file(tmp_path / name) for name in others)


def test_every_file_of_a_run_is_one_of_these(files: Path, tmp_path: Path) -> None:
    scored(files, tmp_path / "run")
    assert len(contents(tmp_path / "run")) == 6
    assert all(is_run_file(path) for path in (tmp_path / "run").iterdir())


def test_the_page_of_a_run_is_written_over_files_of_none(files: Path, tmp_path: Path) -> None:
    a, b = (scored(files, tmp_path / name, name) for name in "ab")
    before = contents(tmp_path)
    for path in (
        "a/calls.jsonl",
        "a/metrics.json",
        "a/translations.2.jsonl",
        "b/report.html",
        "b/calls.jsonl",
    ):
        with pytest.raises(OutputError):
            a.report(tmp_path / path)
    for path in ("corpus.tsv", "target.tsv"):
        with pytest.raises(OutputError, match=READ):
            a.report(files / path)
    with pytest.raises(OutputError, match=RUNS_OWN):
        mtbias.score_systems({"c": files / "target.tsv"}, ["de"], tmp_path / "b")
    assert contents(tmp_path) == before

    own = tmp_path / "a" / REPORT
    own.write_text("damaged", encoding="utf-8")
    a.report(own)
    a.report(tmp_path / "page.html")
    b.report(tmp_path / "page.html")
    assert contents(tmp_path) == {**before, "page.html": before[f"b/{REPORT}"]}


def test_the_command_makes_the_page_of_a_run_again(files: Path, tmp_path: Path) -> None:
    run = tmp_path / "a"
    scored(files, run)
    page = run / REPORT
    whole = page.read_bytes()
    page.write_text("damaged", encoding="utf-8")
    (tmp_path / "link.html").symlink_to(page)
    assert main(["report", str(run), "--out", str(tmp_path / "link.html")]) == 0
    assert (tmp_path / "link.html").is_symlink()
    assert page.read_bytes() == whole


def test_links_in_a_runs_folder_are_replaced(files: Path, tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    scored(files, a)
    scored(files, b, "b")
    expected = contents(b)
    before = contents(a)
    for path in b.iterdir():
        path.unlink()
        path.symlink_to(a / path.name)
    (b / "manifest.json").unlink()
    (b / "manifest.json").write_bytes(expected["manifest.json"])
    (a / "translations.parts").mkdir()
    (a / "translations.parts" / "000000.jsonl").write_text("{}\n", encoding="utf-8")
    (b / "translations.parts").symlink_to(a / "translations.parts")

    scored(files, b, "b")
    assert not any(path.is_symlink() for path in b.iterdir())
    assert contents(a) == {**before, "translations.parts/000000.jsonl": b"{}\n"}
    made = contents(b)
    for name in ("calls.jsonl", "translations.jsonl", "metrics.json"):
        assert made[name] == expected[name]


def test_parts_behind_a_link_are_those_of_the_other_run(tmp_path: Path) -> None:
    record = PlanRecord("0" * 16, {}, (1,))
    (tmp_path / "b").mkdir()
    with RunFolder(tmp_path / "a").open_or_create(IDENTITY) as a:
        PartStore(a.path, record, alone=True).put(0, [{"text": "of a"}])
        (tmp_path / "b" / "translations.parts").symlink_to(a.path / "translations.parts")
        (tmp_path / "b" / "manifest.json").write_bytes((a.path / "manifest.json").read_bytes())
        with RunFolder(tmp_path / "b").open_or_create(IDENTITY, shared=True) as b:
            store = PartStore(b.path, record, alone=False)
            assert store.get(0) is None
            store.put(0, [{"text": "of b"}])
        assert PartStore(a.path, record, alone=True).get(0) == [{"text": "of a"}]


def test_a_lock_that_is_a_link_leaves_the_file_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("months of work", encoding="utf-8")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").symlink_to(tmp_path / "thesis.tex")
    with (
        locked_folder(tmp_path / "run"),
        pytest.raises(RunFolderError, match="is writing into this folder"),
    ):
        locked_folder(tmp_path / "run").__enter__()
    assert (tmp_path / "thesis.tex").read_text(encoding="utf-8") == "months of work"


VOCABULARY = """male_occupations = ["pilot"]
female_occupations = ["nurse"]
positive_adjectives = ["kind"]
negative_adjectives = ["vain"]
"""


OPENED_BY_A_SHELL = {
    "--data - --out words.toml < words.toml": "words.toml",
    "--data words.toml --out - >> words.toml": "/dev/stdout",
    "--data words.toml --out x.jsonl >> words.toml": "/dev/stdout",
}
"""What is refused of each, by the name that it is known by."""


@pytest.mark.parametrize(("how", "name"), OPENED_BY_A_SHELL.items())
def test_what_a_shell_opens_is_a_file_too(how: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "words.toml"
    path.write_text(VOCABULARY, encoding="utf-8")
    command = f"{sys.executable} -m mtbias coref export sowinobias --format jsonl {how}"
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.endswith(f"{READ}, got '{name}'\n")
    assert path.read_text(encoding="utf-8") == VOCABULARY
    assert [entry.name for entry in tmp_path.iterdir()] == ["words.toml"]
