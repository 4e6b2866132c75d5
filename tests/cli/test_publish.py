"""`mtbias publish`: from run folders to a page, and errors in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtbias.cli import main
from tests.report.run_maker import make_records, untranslated, write_run

RIGHT, LESS = ([n % 5 > least for n in range(80)] for least in (0, 2))


@pytest.fixture
def two(tmp_path: Path) -> list[str]:
    return [
        str(write_run(tmp_path / name, name, make_records(right)))
        for name, right in (("alpha", RIGHT), ("beta", LESS))
    ]  # fmt: skip


def _run(
    capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0
) -> tuple[str, str]:
    capsys.readouterr()
    assert main([str(argument) for argument in arguments]) == code
    out, err = capsys.readouterr()
    return out, err


def test_from_runs_to_a_page(
    two: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "site"
    out, err = _run(
        capsys, "publish", *two, "--out", site, "--name", "Alpha", "--name", "Beta", "--link", "https://a.example",
        "--link", "https://b.example", "--note", "Beam 5.", "--licence", "MIT", "--resamples", "200",
        "--title", "Ours",
    )  # fmt: skip
    # Calls without evidence, of translations that hold no cook: what is wrong with such runs is
    # told of both.
    assert {line.partition(")")[0] for line in err.splitlines()} == {
        "WARNING: Alpha (de",
        "WARNING: Beta (de",
    }
    assert out.splitlines() == [
        "Alpha (de): tested against 1 of the others",
        "Beta (de): tested against 1 of the others",
        f"Page: {site}/index.html (nothing else is needed to open it)",
    ]
    contents = [
        json.loads(line)
        for line in (site / "results.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert {(each["system"], each["link"], each["note"], each["licence"]) for each in contents} == {
        ("Alpha", "https://a.example", "Beam 5.", "MIT"), ("Beta", "https://b.example", "Beam 5.", "MIT"),
    }  # fmt: skip
    page = (site / "index.html").read_text(encoding="utf-8")
    assert "<title>Ours</title>" in page
    assert page.index(">Alpha</a>") < page.index(">Beta</a>")
    out, err = _run(capsys, "publish", "--out", site, "--title", "Ours, again")
    assert (out.count("\n"), err) == (1, "")
    again = (site / "index.html").read_text(encoding="utf-8")
    assert again == page.replace("Ours</", "Ours, again</")


def test_a_page_of_others_is_refused_and_stays(
    two: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "own-site"
    site.mkdir()
    (site / "index.html").write_text("<title>My home page</title>", encoding="utf-8")
    assert main(["publish", *two, "--out", str(site)]) == 2
    assert "expected a page of mtbias or none, got another" in capsys.readouterr().err
    assert [(path.name, path.read_text("utf-8")) for path in site.iterdir()] == [
        ("index.html", "<title>My home page</title>")
    ]


def test_warnings_go_to_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_run(tmp_path / "alpha", "alpha", untranslated(make_records(RIGHT)))
    _, err = _run(capsys, "publish", run, "--out", tmp_path / "results")
    assert err.startswith("WARNING: alpha (de): 80 of 80 ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--link", "https://a"], "--link: expected an address for each of 2 runs, got 1"),
        (
            ["--link", "file:///a", "--link", "https://b"],
            "--link: expected an address that begins with https:// or",
        ),
        (["--name", "a"], "--name: expected a name for each of 2 runs, got 1"),
    ],
)
def test_wrong_options_write_nothing(
    two: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    message: str,
) -> None:
    _, err = _run(capsys, "publish", *two, "--out", tmp_path / "results", *options, code=2)
    assert err.startswith(f"mtbias: {message}")
    assert not (tmp_path / "results").exists()


def test_one_bad_run_writes_nothing(
    two: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (Path(two[1]) / "metrics.json").unlink()
    _, err = _run(capsys, "publish", *two, "--out", tmp_path / "results", code=1)
    assert (err.count("\n"), "the run is not finished" in err) == (1, True)
    assert not (tmp_path / "results").exists()


def test_a_folder_without_results_and_a_file_as_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, err = _run(capsys, "publish", "--out", tmp_path / "site", code=1)
    assert err == (
        f"mtbias: {tmp_path / 'site' / 'results.jsonl'}: expected a file of results, got none; "
        "`mtbias publish RUN --out DIR` writes them\n"
    )
    (tmp_path / "site").write_text("", encoding="utf-8")
    _, err = _run(capsys, "publish", "--out", tmp_path / "site", code=2)
    assert err.startswith("mtbias: --out: expected a folder, got the file")
