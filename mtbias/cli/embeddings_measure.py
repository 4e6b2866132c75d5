"""``mtbias embeddings measure``."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

from mtbias.cli.coref_shared import show
from mtbias.cli.shared import Count, Json
from mtbias.embeddings.bias_results import Result, measure
from mtbias.embeddings.biased_groups import sklearn_module
from mtbias.embeddings.measure_settings import MEASURES, WITH_SCIKIT_LEARN, EmbeddingSettings, Measure
from mtbias.embeddings.vectors import Vectors, read_vectors
from mtbias.embeddings.word_lists import EXAMPLE_LISTS, SECTIONS, read_lists
from mtbias.errors import DataError, DependencyError, SettingError, escaped
from mtbias.files.signatures import signature_line
from mtbias.report.tables import UNDEFINED, columns, interval, number

_log = logging.getLogger(__name__)

_OPEN = Group.create_ordered("What papers leave open (the signature names it)")


def command(
    *,
    vectors: Path,
    debiased: list[Path] | None = None,
    words: Path | None = None,
    limit: Count | None = None,
    measures: Annotated[list[Measure] | None, Parameter(name="--measure")] = None,
    json: Json = False,
    settings: Annotated[EmbeddingSettings, Parameter(name="*", group=_OPEN)] = EmbeddingSettings(),
) -> None:
    """Measure gender bias in word vectors, before and after debiasing.

    - direct: DB, mean |cos(w, g)|^c of words that tell no gender
    - indirect: β of pairs of words, the share of their similarity that is gender
    - weat: S of one list of targets against two lists of attributes, with the partition test's p
    - weat-two-targets: effect size d of tests with two lists of targets, with p
    - gipe: gender-based illicit proximity of words to their neighbours
    - clustering: how well two clusters of the most biased words fit the genders
    - recoverability: how well a classifier finds the gender of the most biased words

    The gender direction g, β and which words are most biased are those of --vectors, in the debiased ones too. Behind a
    number stands its 95 % interval (direct, gipe: bootstrap over words) or its range over starts and splits
    (clustering, recoverability). Words without vector are named and left out.

    Parameters
    ----------
    vectors
        The word vectors (word2vec's text format), before debiasing where there are both.
    debiased
        The same words' vectors after debiasing; one or several.
    words
        A TOML file: `[direction]` pairs (feminine, masculine); `[direct]` words; `[indirect]` pairs; `[weat]` targets,
        attributes_1, attributes_2; `[weat-two-targets.NAME]` targets_1, targets_2, attributes_1, attributes_2; `[gipe]`
        words; `[gendered]` pairs and words that tell a gender, which clustering and recoverability leave out. A section
        that is absent is not measured (default: the example that comes with mtbias).
    limit
        Read only the first so many words (default: all).
    measures
        Only this one; one or several (default: all, without scikit-learn all that do not need it).
    """
    names = _names([vectors, *(debiased or ())])
    lists = read_lists(words or EXAMPLE_LISTS)
    known = {section.removesuffix(".NAME") for section in SECTIONS}
    absent = [name for name in measures or () if name in known and not lists.has(name)]
    if absent:
        raise DataError(
            f"expected the section [{absent[0]}] for --measure {absent[0]}, got none; add it, or leave the option out",
            path=words,
        )
    chosen = _usable(measures)
    original = read_vectors(vectors, limit=limit)
    spaces: list[dict[str, Any]] = []
    found = []
    for name, path in zip(names, [None, *(debiased or ())], strict=True):
        read = original if path is None else read_vectors(path, limit=limit)  # one at a time: each may be a GiB
        found.append(measure(lists, read, original, settings, chosen))
        spaces.append(_space(name, read, found[-1]))
    digests = {space["name"]: space["sha256"] for space in spaces}
    files = {"vectors": {names[0]: digests.pop(names[0])}, "debiased": digests, "words": {"words": lists.sha256}}
    described = {name.replace("_", "-"): value for name, value in settings.described(chosen).items()}
    options = {"list": "given" if words else "example", "limit": limit or "none", **described}
    result = {"spaces": spaces, "signature": signature_line("embeddings:measure", files, options)}
    show(result, _text(spaces, found), json=json)


def _usable(measures: Sequence[Measure] | None) -> tuple[Measure, ...]:
    """The measures that are asked for, or all of which what they need is installed; the others are named.

    Raises:
        DependencyError: what one needs that is asked for is not.
    """
    chosen = tuple(name for name in MEASURES if not measures or name in measures)
    if WITH_SCIKIT_LEARN.isdisjoint(chosen):
        return chosen
    try:
        sklearn_module("svm")
    except DependencyError as error:
        if measures:
            raise
        _log.warning("left out: %s; %s", " and ".join(sorted(WITH_SCIKIT_LEARN)), error)
        return tuple(name for name in chosen if name not in WITH_SCIKIT_LEARN)
    return chosen


def _names(paths: Sequence[Path]) -> list[str]:
    """The files' names, or their whole paths where two have one name."""
    times = Counter(path.name for path in paths)
    names = [escaped(path.name if times[path.name] == 1 else str(path)) for path in paths]
    if len(set(names)) != len(names):
        raise SettingError("debiased", "expected each file of vectors once, got one twice; leave it out")
    return names


def _space(name: str, vectors: Vectors, found: Result) -> dict[str, Any]:
    return {
        "name": name,
        "words": len(vectors.words),
        "dimensions": int(vectors.matrix.shape[1]),
        "repeated_words": vectors.repeated,
        "zero_vectors": vectors.zeros,
        "sha256": vectors.sha256,
        "missing_words": found.missing,
        "measures": found.to_json(),
    }


def _text(spaces: Sequence[Mapping[str, Any]], found: Sequence[Result]) -> str:
    lines = []
    for space in spaces:
        lines.append(f"{space['name']}: {space['words']} words of {space['dimensions']} dimensions")
        if space["repeated_words"] or space["zero_vectors"]:
            left_out = f"{space['repeated_words']} repeated words, {space['zero_vectors']} vectors of length 0"
            lines.append(f"  left out: {left_out}")
        for section, missing in space["missing_words"].items():
            lines.append(f"  without vector, [{section}]: {', '.join(missing)}")
    tables = [result.rows() for result in found]
    head = ["", *(cell for space in spaces for cell in (space["name"], "")), "rests on"]
    rows = []
    for label in dict.fromkeys(label for table in tables for label in table):
        here = [table.get(label) for table in tables]
        cells = [
            cell
            for row in here
            for cell in (
                (number(row.value, row.decimals), interval(row.ends, row.decimals) if row.ends else "")
                if row
                else (UNDEFINED, "")
            )
        ]
        rests_on = "; ".join(dict.fromkeys(row.rests_on for row in here if row and row.rests_on))
        rows.append([label, *cells, rests_on])
    return "\n".join([*lines, "", columns(head, rows), ""])
