"""How mtbias is installed here, and so which command adds an extra to this installation."""

from __future__ import annotations

import json
import os
import shlex
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

_NAME = "mtbias"


def install_command(extra: str = "") -> str:
    """The command that installs mtbias with an extra, as this installation was made.

    ``pip install -e '.[ct2]'`` where it is editable (with the folder's path where that is not the current one),
    ``pip install 'FOLDER[ct2]'`` where it came from a folder, ``pip install 'mtbias[ct2] @ URL'`` where it came from an
    archive or a repository, and ``pip install 'mtbias[ct2]'`` where it came from a package index. Whether that was so
    stands in ``direct_url.json`` beside the installed package (PEP 610), which an index does not leave. Where uv
    installed it, the command is ``uv pip install``.
    """
    try:
        found: Distribution | None = distribution(_NAME)
    except PackageNotFoundError:  # run from its source
        found = None
    options, what = _requirement(found, f"[{extra}]" if extra else "")
    installer = "" if found is None else (found.read_text("INSTALLER") or "").strip()
    return f"{'uv pip' if installer == 'uv' else 'pip'} install {options}{shlex.quote(what)}"


def _requirement(found: Distribution | None, extra: str) -> tuple[str, str]:
    """Options of pip, and what it is to install."""
    if found is None:
        return "-e ", f"{_shown(Path(__file__).parents[2])}{extra}"
    record = json.loads(found.read_text("direct_url.json") or "{}")
    url = str(record.get("url", ""))
    if not url:
        return "", f"{_NAME}{extra}"
    if "dir_info" in record:
        folder = Path(url2pathname(urlsplit(url).path))
        return ("-e " if record["dir_info"].get("editable") else ""), f"{_shown(folder)}{extra}"
    vcs = record.get("vcs_info")
    if vcs:
        return "", f"{_NAME}{extra} @ {vcs['vcs']}+{url}@{vcs['commit_id']}"
    return "", f"{_NAME}{extra} @ {url}"


def _shown(folder: Path) -> str:
    """The current folder as a dot, which is how people write it."""
    return "." if os.path.realpath(folder) == os.path.realpath(Path.cwd()) else str(folder)
