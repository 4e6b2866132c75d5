"""Which runs paths mean: folders of runs, folders that hold some, and pages beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.runs.run_paths import run_folders


@pytest.fixture
def both(tmp_path: Path) -> Path:
    """Two runs, one deeper, with the pages of a sweep and of all beside them."""
    for name in ("google-de", "winomt/bing/de"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "manifest.json").write_text("{}")
    for name in ("report.html", "winomt/report-de.html"):
        (tmp_path / name).write_text("")
    return tmp_path


def test_a_run_is_itself_and_a_page_beside_it_is_passed_over(both: Path) -> None:
    run = both / "google-de"
    assert run_folders([both / "report.html", run]) == [run]
    assert run_folders([run, both / "winomt" / "report-de.html", run]) == [run, run]


def test_a_folder_stands_for_the_runs_in_it_in_the_order_of_names(both: Path) -> None:
    runs = [both / "google-de", both / "winomt" / "bing" / "de"]
    assert run_folders([both]) == runs
    assert run_folders(sorted(both.iterdir())) == runs
    (both / "again").symlink_to(both)  # leads back here
    (both / "linked").symlink_to(both / "google-de")
    assert run_folders([both]) == [runs[0], both / "linked", runs[1]]


def test_what_is_no_run_stays_to_be_refused(both: Path) -> None:
    (both / "empty").mkdir()
    others = [both / "empty", both / "missing"]
    assert run_folders(others) == others
    assert run_folders([both / "report.html"]) == [both / "report.html"]
