"""``mtbias metric bias``."""

from __future__ import annotations

from pathlib import Path

from mtbias.cli.shared import Bootstrap, Json, print_json
from mtbias.evaluation.metric_contrasts import read_scored
from mtbias.report.metric_bias_table import metric_bias_text
from mtbias.scoring.metric_bias import metric_bias
from mtbias.settings import BootstrapSettings
from mtbias.version import __version__


def command(
    *,
    contrasts: Path,
    scores: list[Path],
    json: Json = False,
    bootstrap: Bootstrap = BootstrapSettings(),
) -> None:
    """Measure whether a metric of translation quality prefers one gender.

    For pairs of translations that differ only in gender: how often, and on average by how much, the
    masculine one has the higher score, for sources about women, about men, and about people whose
    gender the source does not show; and how much more often the metric is right for men than for
    women.

    Parameters
    ----------
    contrasts
        Table of `mtbias metric contrasts`.
    scores
        Table of the metric's scores (.tsv, .csv, .jsonl): id, and a column with the metric's name;
        one or several.
    """
    results = []
    for path in scores:
        signature, scored = read_scored(contrasts, path)
        bias = metric_bias(scored, n_resamples=bootstrap.resamples, seed=bootstrap.seed)
        results.append((f"{signature}|mtbias:{__version__}|seed:{bootstrap.seed}", bias))
    if json:
        print_json([{"signature": signature, **bias.to_json()} for signature, bias in results])
        return
    for signature, bias in results:
        name = signature.removeprefix("metric:").partition("#")[0]
        print(f"{metric_bias_text(name, bias)}Signature: {signature}\n")
