"""``mtbias publish``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from mtbias.cli.shared import Bootstrap, Names, Runs, checked_names
from mtbias.errors import SettingError, escaped
from mtbias.settings import BootstrapSettings


def command(
    runs: Runs,
    /,
    *,
    out: Path,
    names: Names = None,
    links: Annotated[list[str] | None, Parameter(name="--link")] = None,
    note: str | None = None,
    licence: str | None = None,
    bootstrap: Bootstrap = BootstrapSettings(),
) -> None:
    """Check finished runs and write their numbers for a results page.

    Each run is checked against its own calls and becomes one file without any sentence: numbers with intervals and
    denominators, warnings, signature. Runs of one corpus, language and evaluator that are given together are tested
    against each other, in pairs; only such pairs are ranked on the page.

    Parameters
    ----------
    out
        Folder for the results; that of a run which is there is replaced.
    links
        Address where more about a run is (http or https), once for each RUN in their order.
    note
        A remark beside every run.
    licence
        Licence of the systems' translations.
    """
    names = checked_names(names, runs)
    if links and len(links) != len(runs):
        raise SettingError("link", f"expected an address for each of {len(runs)} runs, got {len(links)}")

    from mtbias.report.publishing import DescribedRun, publish, read_checked, write_results
    from mtbias.report.result_file import check_link

    for link in links or ():
        try:
            check_link(link)
        except ValueError as error:
            raise SettingError("link", str(error).removeprefix("link: ")) from error
    note, licence = (None if text is None else escaped(text) for text in (note, licence))
    described = [
        DescribedRun(names[n] if names else None, links[n] if links else None, note, licence) for n in range(len(runs))
    ]
    read = [read_checked(path) for path in runs]
    results = publish(read, described, n_resamples=bootstrap.resamples, seed=bootstrap.seed)
    for result, path in zip(results, write_results(results, out), strict=True):
        tested = len(result.comparisons)
        print(f"{path}: {result.system} ({result.language}), tested against {tested} of the others")
        for text in result.warnings:
            print(f"WARNING: {result.system} ({result.language}): {text}", file=sys.stderr)
