"""``mtbias embeddings measure``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from mtbias.cli.shared import Count, Json, show
from mtbias.embeddings.measure_settings import EmbeddingSettings, Measure

_OPEN = Group.create_ordered("What papers leave open (the signature names it)")


def command(
    *,
    vectors: Path,
    debiased: list[Path] | None = None,
    words: Path | None = None,
    limit: Count | None = None,
    measure: list[Measure] | None = None,
    json: Json = False,
    settings: Annotated[EmbeddingSettings, Parameter(name="*", group=_OPEN)] = EmbeddingSettings(),
) -> None:
    """Measure gender bias in word vectors, before and after debiasing.

    - direct: DB, mean |cos(w, g)|^c of words that tell no gender
    - indirect: β of pairs of words, the share of their similarity that is gender
    - weat: S of one list of targets against two lists of attributes, with the partition test's p
    - weat-two-targets: effect size d of tests with two lists of targets, with p
    - gipe: gender-based illicit proximity of words to their neighbours, and the plain mean of its η
    - clustering: how well two clusters of the most biased words fit the genders
    - recoverability: how well a classifier finds the gender of the most biased words

    The gender direction g, β and which words are most biased are those of --vectors, in the
    debiased ones too. A number is followed by its 95 % interval (direct, gipe: bootstrap over
    words) or its range over starts and splits (clustering, recoverability). Words without a vector
    are named and left out.

    Parameters
    ----------
    vectors
        The word vectors (word2vec's text format), before debiasing where there are both.
    debiased
        The same words' vectors after debiasing; one or several.
    words
        A TOML file: `[direction]` pairs (feminine, masculine); `[direct]` words; `[indirect]`
        pairs; `[weat.NAME]` targets, attributes_1, attributes_2; `[weat-two-targets.NAME]`
        targets_1, targets_2, attributes_1, attributes_2; `[gipe.NAME]` words, or words = "all
        neutral"; `[gendered]` pairs and words that tell a gender, which clustering and
        recoverability leave out. A section that is absent is not measured (default: the example
        that comes with mtbias).
    limit
        Read only the first so many words (default: all).
    measure
        Only this one; one or several (default: all, without scikit-learn all that do not need it).
    """
    from mtbias.embeddings.bias_results import measure_files

    results = measure_files(vectors, debiased or (), words, limit, measure, settings)
    show(results.to_json() if json else results.table(), json=json)
