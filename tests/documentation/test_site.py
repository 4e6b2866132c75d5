"""The documentation site: it builds without a warning, loads nothing from the network, and names
the whole API."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import mtbias
from mtbias.scoring.bias import UNKNOWN_GENDER
from mtbias.scoring.definitions import CONSISTENCY, GENDER_NUMBERS
from mtbias.stats.results import MIN_ROWS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
_LOADING = {
    "href": {"link"},
    "src": {"script", "img", "iframe", "source", "video", "audio", "embed"},
    "data": {"object"},
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it: a page missing in the navigation or a dead link is
    an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    return folder


class _Loaded(HTMLParser):
    """Addresses that a page loads by itself; links that a reader may follow are none."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [
            value for name, value in attrs if value and tag in _LOADING.get(name, ())
        ]


def _loaded(page: str) -> list[str]:
    parser = _Loaded()
    parser.feed(page)
    return parser.addresses


@pytest.mark.slow
def test_every_page_is_built(site: Path) -> None:
    pages = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    made = {Path("404.html"), Path("results/index.html")}
    assert {path.relative_to(site) for path in site.rglob("*.html")} == pages | made


@pytest.mark.slow
def test_the_site_loads_nothing_from_the_network(site: Path) -> None:
    for path in site.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        loaded = _loaded(page)
        assert loaded, path
        canonical = re.findall(r'<link rel="(?:canonical|next|prev)" href="([^"]*)"', page)
        assert [a for a in set(loaded) - set(canonical) if re.match(r"(?:[a-z]+:)?//", a)] == [], (
            path
        )
        assert 'class="mermaid"' not in page, (
            f"{path}: a diagram would be drawn by a script from the network"
        )
    for path in site.rglob("*.css"):
        assert (
            re.findall(
                r"(?:@import|url\()\s*[\"']?(?:https?:)?//", path.read_text(encoding="utf-8")
            )
            == []
        ), path


def test_what_is_loaded_from_elsewhere_is_seen() -> None:
    page = '<a href="https://a"></a><script src="https://b"></script><link href="//c"><img src="d.png">'
    assert _loaded(page) == ["https://b", "//c", "d.png"]


@pytest.mark.parametrize(
    "function", [mtbias.evaluate, mtbias.score, mtbias.read_run, mtbias.compare]
)
def test_every_argument_of_the_api_is_documented(function: Callable[..., Any]) -> None:
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    assert f"`mtbias.{function.__name__}(" in page
    names = [
        name
        for name in inspect.signature(function).parameters
        if name not in {"model", "lang", "path", "compared"}
    ]
    assert [name for name in names if f"`{name}`" not in page and f"{name}=" not in page] == []


def test_every_public_part_of_a_run_is_documented() -> None:
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    members = {name for name in dir(mtbias.Run) if not name.startswith("_")} | set(
        mtbias.Run.__dataclass_fields__
    )
    members -= {"read", "recomputed", "records", "folder"}  # how it is made
    assert sorted(name for name in members if f"`run.{name}" not in page) == []


@pytest.mark.parametrize("settings", [mtbias.EvalSettings, mtbias.ScoreSettings])
def test_every_setting_is_documented(settings: type[mtbias.EvalSettings]) -> None:
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    names = [each.name for each in fields(settings)]
    assert [name for name in names if f"`{name}`" not in page] == []


def test_every_number_of_the_metrics_has_its_formula() -> None:
    files = [*(DOCS / "metrics").glob("*.md"), DOCS / "consistency.md"]
    pages = "".join(path.read_text(encoding="utf-8") for path in files)
    named = set(re.findall(r"\w+", pages))
    numbers = {each.key for each in (*GENDER_NUMBERS, *CONSISTENCY, *UNKNOWN_GENDER.numbers)} - {
        "decided_percent"
    }
    assert sorted(numbers - named) == []
    assert f"fewer than {MIN_ROWS} rows" in pages


@pytest.mark.parametrize("page", sorted(path.name for path in (DOCS / "metrics").glob("*.md")))
def test_every_page_of_a_metric_has_a_formula_and_a_source(page: str) -> None:
    text = (DOCS / "metrics" / page).read_text(encoding="utf-8")
    assert re.search(r"^```text\n.*=.*^```$", text, re.MULTILINE | re.DOTALL)
    assert re.search(r"^## Source\n\n.*(?:19|20)\d\d", text, re.MULTILINE | re.DOTALL)
