"""From plain values to a page or a plot: templates with autoescape, and for pages one style, one
script, one policy.

All markup is in ``templates``. A value that is not markup is escaped there, wherever it came from.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from mtbias.report.tables import PrintedTable, cut, note_on_bits, pixels, printable_on_page
from mtbias.stats.results import UNDEFINED, interval_text, number_text, p_text

if TYPE_CHECKING:
    from jinja2 import Environment


def render_page(
    template: str,
    *,
    data: object = None,
    scripts: Sequence[str] = ("page.js",),
    sections: Mapping[str, tuple[str, Any]] | None = None,
    **view: object,
) -> str:
    """The page of a template, by the name of its file, as text to be written in UTF-8.

    `scripts` are the files of the page's scripts, which read `data`; without data the page has
    none. `sections` are headings with their content, by key: one without content is left out.
    `view` is what else the template shows.
    """
    style, script = _source("page.css"), ""
    if data is not None:
        script = "\n".join(map(_source, scripts))
    allowed = f"style-src {_digest(style)}"
    if script:
        allowed += f"; script-src {_digest(script)}"
    policy = f"default-src 'none'; {allowed}; img-src data:; base-uri 'none'; form-action 'none'"
    shown = {key: part for key, part in (sections or {}).items() if part[1]}
    return str(
        render(
            template, style=style, script=script, data=data, policy=policy, sections=shown, **view
        )
    )


def render(template: str, **view: object) -> Markup:
    """The markup that a template makes of these values."""
    html = _environment().get_template(template).render(**view)
    return Markup(html)  # noqa: S704 - its values are escaped


def as_html(table: PrintedTable, finding: Sequence[str] = ()) -> Markup:
    """A table below sentences as a piece of HTML, for a notebook."""
    return render("table.html", table=table, finding=finding)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("mtbias.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=printable_on_page,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": number_text,
        "interval": interval_text,
        "grouped": "{:,}".format,
        "cut": cut,
        "p_value": p_text,
        "px": pixels,
    }
    environment.globals |= {
        "UNDEFINED": UNDEFINED,
        "note_on_bits": note_on_bits,
        "zip": partial(zip, strict=True),
    }
    return environment


@cache
def _source(name: str) -> str:
    """The style or the script as it is."""
    return resources.files("mtbias.report").joinpath("templates", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
