"""The line that says what a number rests on: files by their hashes, options by their values, the release."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256


def signature_line(head: str, files: Mapping[str, Mapping[str, str]], options: Mapping[str, object]) -> str:
    """``<head>|<role>:<hashes>|<option>:<value>|…|mtbias:<version>``.

    Of `files` (SHA-256 by name, by role) up to three are named by the first 12 digits of each, more of them by those of
    the hash over all, and their number.
    """
    from mtbias import __version__

    parts = [head]
    for role, digests in files.items():
        hashes = [digest[:12] for digest in digests.values()]
        if len(hashes) > 3:
            together = sha256("\n".join(f"{name} {digest}" for name, digest in sorted(digests.items())).encode())
            hashes = [f"{together.hexdigest()[:12]}({len(hashes)} files)"]
        if hashes:
            parts.append(f"{role}:{'+'.join(hashes)}")
    parts += [f"{name}:{value}" for name, value in options.items()]
    return "|".join([*parts, f"mtbias:{__version__}"])
