"""Look at a report in headless Chromium: screenshots, console errors, network requests,
accessibility.

    python scripts/look_at_report.py runs/my-system-de/report.html --out shots
        --axe node_modules/axe-core/axe.min.js

It needs Playwright (``pip install playwright``), a Chromium (``--chromium PATH``; default: the
first of ``chromium``, ``chromium-browser``, ``google-chrome`` on the path), and for ``--axe``
axe-core (``npm install axe-core``). The page is opened as a phone (390 px) and on a desktop (1280
px), in light and dark. It prints a line for each, and ends with 1 where there is a console error, a
request other than for the page itself, something that juts out sideways, or a finding of axe-core
that is serious or critical.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

Browser = Any
"""Playwright's: it is not installed where the types are checked."""
Page = Any
Dialog = Any

WIDTHS = {"phone": 390, "desktop": 1280}
SCHEMES = ("light", "dark")
GRAVE = {"serious", "critical"}
READY = "() => { const s = document.querySelector('#status'); return !s || /needs|sentences|judged/.test(s.textContent); }"
SECTIONS = "() => [...document.querySelectorAll('main > section')].map((section) => section.id)"
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


def main() -> int:
    """Look, print, and say whether all is well."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "pages", type=Path, nargs="+", metavar="PAGE", help="page of mtbias report or validate"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the screenshots")
    parser.add_argument("--axe", type=Path, metavar="FILE", help="axe.min.js of axe-core")
    parser.add_argument("--chromium", metavar="PATH", default=find_chromium(), help="the browser")
    args = parser.parse_args()
    if args.chromium is None:
        parser.error("expected a Chromium, found none on the path: name it with --chromium PATH")
    try:
        playwright = import_module("playwright.sync_api")
    except ImportError:
        parser.error("expected Playwright: pip install playwright")
    bad = 0
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=args.chromium, args=["--no-sandbox"])
        for path in args.pages:
            for device, width in WIDTHS.items():
                for scheme in SCHEMES:
                    bad += _look(browser, path, device, width, scheme, args)
        browser.close()
    return 1 if bad else 0


def find_chromium() -> str | None:
    """The first Chromium on the path; None where there is none."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return next((path for path in found if path), None)


def wait_until_ready(page: Page) -> None:
    """Wait until the list of sentences stands, where the page has one."""
    page.wait_for_function(READY, timeout=120_000)


def _look(
    browser: Browser, path: Path, device: str, width: int, scheme: str, args: argparse.Namespace
) -> int:
    """Open the page once; how many things are wrong with it."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, is_mobile=device == "phone",
        has_touch=device == "phone",
    )  # fmt: skip
    page = context.new_page()
    errors: list[str] = []
    requests: list[str] = []
    url = path.resolve().as_uri()

    def refuse(dialog: Dialog) -> None:
        errors.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    page.on(
        "console",
        lambda message: (
            errors.append(message.text) if message.type in {"error", "warning"} else None
        ),
    )
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", refuse)
    page.on(
        "request",
        lambda request: (
            requests.append(request.url) if request.url not in {url, "data:,"} else None
        ),
    )
    start = time.perf_counter()
    page.goto(url)
    wait_until_ready(page)
    seconds = time.perf_counter() - start
    jutting = int(page.evaluate(WIDER))
    status = (
        page.text_content("#status") if page.query_selector("#status") else "no list of sentences"
    )
    if args.out is not None:
        _shoot(page, args.out, f"{path.stem}-{device}-{scheme}")
    findings = _axe(page, args.axe) if args.axe else []
    grave = [finding for finding in findings if finding["impact"] in GRAVE]
    print(
        f"{path.name} {device} {width} px {scheme}: {status}; ready in {seconds:.1f} s; console errors {len(errors)}; "
        f"requests {len(requests)}; juts out {jutting} px; axe-core "
        + (
            f"{len(findings)} findings, {len(grave)} serious or critical"
            if args.axe
            else "not asked"
        )
    )
    for text in [*errors, *requests, *map(_finding, findings)]:
        print(f"  {text}")
    context.close()
    return len(errors) + len(requests) + len(grave) + (jutting > 0)


def _shoot(page: Page, folder: Path, name: str) -> None:
    """The top of the page, and each section from its heading on."""
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"{name}-top.png")
    for part in page.evaluate(SECTIONS):
        page.evaluate(f"document.getElementById({part!r}).scrollIntoView()")
        page.screenshot(path=folder / f"{name}-{part}.png")


def _axe(page: Page, axe: Path) -> list[dict[str, Any]]:
    """The findings of axe-core. It is run by the debugger: the page's policy forbids all scripts
    but its own.
    """
    debugger = page.context.new_cdp_session(page)
    debugger.send("Runtime.evaluate", {"expression": axe.read_text(encoding="utf-8")})
    asked = {"expression": "axe.run()", "awaitPromise": True, "returnByValue": True}
    result = debugger.send("Runtime.evaluate", asked)["result"]["value"]
    if not result["passes"]:
        raise RuntimeError(
            "expected rules of axe-core that the page passes, got none: axe-core did not run"
        )
    found: list[dict[str, Any]] = result["violations"]
    return found


def _finding(finding: dict[str, Any]) -> str:
    where = ", ".join(" ".join(map(str, node["target"])) for node in finding["nodes"][:3])
    return f"{finding['impact']}: {finding['id']}: {finding['help']} ({len(finding['nodes'])} places: {where})"


if __name__ == "__main__":
    sys.exit(main())
