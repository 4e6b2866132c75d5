"""The pictures of the documentation: pages of the demo in headless Chromium.

    python scripts/pictures.py              # docs/images/*.png
    python scripts/pictures.py --all shots  # every section of each page, both widths, light and dark

It makes the report of the demo with Firefox's model, and of its toy that report, a comparison with
its correct translations, and a validation page whose labels are the genders that the demo's grammar
wrote. Nothing is downloaded. It needs Playwright and Pillow (``pip install -c constraints.txt
--group pictures``), the extra ``firefox``, and a Chromium on the path (Debian: ``apt-get install
chromium``).
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mtbias.cli import main as mtbias
from mtbias.demo import demo_file, reference_file
from mtbias.files.reading import read_table
from mtbias.files.writing import write_atomic
from scripts.look_at_report import (
    SCHEMES,
    SECTIONS,
    WIDTHS,
    Browser,
    Page,
    find_chromium,
    wait_until_ready,
)

LANG = "de"
PICTURES = Path(__file__).resolve().parent.parent / "docs" / "images"
LARGEST = 150_000
"""Bytes of a picture: the documentation opens on slow lines, too."""
SHOWN = {
    "firefox": ("firefox", "desktop", "light", "", 1000),
    "report": ("report", "desktop", "light", "", 1000),
    "occupations": ("report", "desktop", "dark", "groups", 900),
    "comparison": ("comparison", "desktop", "light", "", 900),
}
"""The pictures of the documentation: page, width, scheme, section (none: the top), height in
pixels."""


def main() -> int:
    """Make the pages and their pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", type=Path, default=PICTURES, metavar="DIR", help="default: docs/images"
    )
    parser.add_argument(
        "--all", type=Path, metavar="DIR", help="write every section into this folder, too"
    )
    parser.add_argument("--chromium", metavar="PATH", default=find_chromium(), help="the browser")
    args = parser.parse_args()
    if args.chromium is None:
        parser.error("expected a Chromium, found none on the path: name it with --chromium PATH")
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, _chromium(args.chromium) as browser:
        pages = _pages(Path(folder))
        for name, (page, width, scheme, section, height) in SHOWN.items():
            with _open(browser, pages[page], width, scheme, height) as opened:
                _scroll(opened, section)
                picture = _small(opened.screenshot())
            write_atomic(args.out / f"{name}.png", picture)
            print(f"Picture: {args.out / name}.png ({len(picture):,} bytes)")
            if len(picture) > LARGEST:
                parser.error(
                    f"{name}.png: expected at most {LARGEST:,} bytes, got {len(picture):,}; show less of the page"
                )
        if args.all:
            _everything(browser, pages, args.all)
    return 0


def _pages(folder: Path) -> dict[str, Path]:
    """The pages of the demo."""
    demo, correct, real = (str(folder / name) for name in ("demo", "correct", "real"))
    names_of_pages = ("firefox", "report", "comparison", "validation")
    pages = {name: folder / f"{name}.html" for name in names_of_pages}
    labels = folder / "labels.csv"
    labels.write_text(_labels(), encoding="utf-8")
    given = ["--translations", str(reference_file(LANG)), "--stanza-dir", "mtbias:demo"]
    names = ["--name", "demo model", "--name", "correct translations"]
    for command in (
        ["eval", "--model", "firefox:en-pt", "--dataset", "demo", "--lang", "pt", "--stanza-dir", "mtbias:demo",
         "--out", real],
        ["report", real, "--name", "Firefox, en-pt", "--out", str(pages["firefox"])],
        ["eval", "--model", "demo", "--dataset", "demo", "--lang", LANG, "--out", demo],
        ["score", *given, "--dataset", "demo", "--lang", LANG, "--out", correct],
        ["report", demo, "--name", "demo model", "--out", str(pages["report"])],
        ["compare", demo, correct, *names, "--report", str(pages["comparison"])],
        ["validate", "--lang", LANG, "--gold", str(labels), "--stanza-dir", "mtbias:demo", "--correct", demo,
         "--out", str(pages["validation"])],
    ):  # fmt: skip
        with redirect_stdout(io.StringIO()):
            code = mtbias(command)
        if code:
            raise SystemExit(f"mtbias {' '.join(command)}: expected exit code 0, got {code}")
    return pages


def _labels() -> str:
    """The demo's correct translations with the gender that each was written in, in the form of
    human labels.
    """
    targets = {
        record.get("id"): record.get("target")
        for record in read_table(reference_file(LANG)).records
    }
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(
        [
            "lang",
            "system",
            "winomt_index",
            "entity",
            "word_index",
            "source",
            "target",
            "label",
            "usable",
            "annotator",
        ]
    )
    for record in read_table(demo_file()).records:
        source, start = record.get("source"), record.integer("entity_start")
        word = len(source[:start].split())
        label = {"male": "m", "female": "f"}[record.get("gender")]
        writer.writerow(
            [
                LANG,
                "grammar",
                record.row,
                record.get("entity"),
                word,
                source,
                targets[record.get("id")],
                label,
                1,
                1,
            ]
        )
    return file.getvalue()


@contextmanager
def _chromium(path: str) -> Iterator[Browser]:
    playwright = import_module("playwright.sync_api")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def _open(
    browser: Browser, path: Path, width: str, scheme: str, height: int = 900
) -> Iterator[Page]:
    """The page, ready, in a window of that size."""
    context = browser.new_context(
        viewport={"width": WIDTHS[width], "height": height},
        color_scheme=scheme,
        is_mobile=width == "phone",
    )
    page = context.new_page()
    page.goto(path.as_uri())
    wait_until_ready(page)
    yield page
    context.close()


def _scroll(page: Page, section: str) -> None:
    if section:
        page.evaluate(f"document.getElementById({section!r}).scrollIntoView()")


def _small(png: bytes) -> bytes:
    """The picture with a palette of 128 colours, which text and plots do not miss."""
    image = import_module("PIL.Image")
    file = io.BytesIO()
    image.open(io.BytesIO(png)).convert("RGB").quantize(128).save(file, "PNG", optimize=True)
    return file.getvalue()


def _everything(browser: Browser, pages: dict[str, Path], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in pages.items():
        for width in WIDTHS:
            for scheme in SCHEMES:
                with _open(browser, path, width, scheme) as page:
                    for section in ["", *page.evaluate(SECTIONS)]:
                        _scroll(page, section)
                        page.screenshot(
                            path=folder / f"{name}-{width}-{scheme}-{section or 'top'}.png"
                        )


if __name__ == "__main__":
    sys.exit(main())
