"""Pages as a headless Chromium prints and lays them out, with all that is folded away open."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from scripts.look_at_report import find_chromium

SECONDS = 120
"""A page is printed in about 2 s; one that lays itself out again and again takes minutes."""
PHONE = 390

# What juts out of the window and does not stand in something that scrolls by itself; and what is
# cut off in something that does not scroll.
CLIPPED = """
() => [...document.querySelectorAll('body *')].filter((element) => {
  const box = element.getBoundingClientRect();
  if (!box.width || !box.height || element.closest('.scroll, .plots, .skip, .hidden')) return false;
  const hidden = getComputedStyle(element).overflowX === 'hidden';
  const cut = hidden && element.scrollWidth > element.clientWidth;
  return box.right > innerWidth + 0.5 || box.left < -0.5 || cut;
}).map((element) => `${element.tagName} ${element.textContent.trim().slice(0, 60)}`)
"""


def opened_folds(page: str, path: Path) -> Path:
    """The page as a file with every fold open: its policy lets no script of ours do it."""
    path.write_text(page.replace("<details>", "<details open>"), encoding="utf-8")
    return path


def check_prints(page: str, folder: Path) -> None:
    """The page becomes a PDF; skips where there is no Chromium."""
    if (chromium := find_chromium()) is None:
        pytest.skip("no Chromium on the path")
    path, pdf = opened_folds(page, folder / "page.html"), folder / "page.pdf"
    # Time passes as fast as the page takes it: its script has run when it is printed.
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000"]
    command = [chromium, *options, f"--print-to-pdf={pdf}", path.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
    assert pdf.read_bytes().startswith(b"%PDF-")


def clipped(browser: Any, page: str, folder: Path) -> list[str]:
    """What a phone cuts off of the page, with every fold open."""
    path = opened_folds(page, folder / "page.html")
    opened = browser.new_page(viewport={"width": PHONE, "height": 844})
    opened.goto(path.as_uri())
    found: list[str] = opened.evaluate(CLIPPED)
    opened.close()
    return found
