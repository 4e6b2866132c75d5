"""Download of one file."""

from __future__ import annotations

from pathlib import Path

from mtbias.errors import MissingResourceError
from mtbias.machine.network import awaited, why_failed

TIMEOUT = 60
"""Seconds without a further kilobyte after which a download is given up."""


def fetch_file(url: str, path: Path, *, advice: str, progress: bool = False) -> None:
    """Download `url` into `path`.

    Args:
        url: address of the file.
        path: where it is written.
        advice: what a user may do where that fails; the end of the message.
        progress: whether to draw a bar on standard error.

    Raises:
        MissingResourceError: the address cannot be reached, or the download breaks off; says why.
        OSError: `path` cannot be written.
    """
    import pooch
    from tqdm import tqdm

    get = pooch.HTTPDownloader(timeout=TIMEOUT)
    with tqdm(unit="B", unit_scale=True, disable=not progress) as bar:

        def downloaded_size() -> int:
            size = path.stat().st_size if path.exists() else 0
            bar.update(size - bar.n)
            return size

        try:
            awaited(lambda: get(url, str(path), None), TIMEOUT, downloaded_size)
            downloaded_size()
        # The errors of requests are OSErrors; a ValueError comes from a strange content length.
        except (OSError, ValueError) as error:
            raise MissingResourceError(
                f"{url}: could not be downloaded: {why_failed(error)}; {advice}"
            ) from error
