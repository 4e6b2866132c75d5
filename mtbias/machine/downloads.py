"""One file from an address of the network, whoever needs it."""

from __future__ import annotations

from pathlib import Path

from mtbias.errors import MissingResourceError
from mtbias.machine.network import awaited, why_failed

TIMEOUT = 60
"""Seconds without a further kilobyte after which a download is given up."""


def fetch_file(url: str, path: Path, *, advice: str, progress: bool = False) -> None:
    """Write what an address gives into `path`; `advice` is what to do where that fails.

    With `progress` there is a bar on standard error.

    Raises:
        MissingResourceError: it cannot be reached, gives something else, or breaks off; says why.
        OSError: `path` cannot be written.
    """
    import pooch
    from tqdm import tqdm

    get = pooch.HTTPDownloader(timeout=TIMEOUT)
    with tqdm(unit="B", unit_scale=True, disable=not progress) as bar:

        def come() -> int:
            size = path.stat().st_size if path.exists() else 0
            bar.update(size - bar.n)
            return size

        try:
            awaited(lambda: get(url, str(path), None), TIMEOUT, come)
            come()
        except (
            OSError,
            ValueError,
        ) as error:  # requests' errors are OSErrors; ValueError: a strange content length
            raise MissingResourceError(
                f"{url}: could not be downloaded: {why_failed(error)}; {advice}"
            ) from error
