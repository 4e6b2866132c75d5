"""What the signs of alarms show on good translations, and the limits that follow:
`scoring/data/alarm_limits.tsv`.

    python scripts/alarm_limits.py --stanza-dir DIR [--cache-dir DIR] [--lang CODE]…
        [--out FILE.json]
    python scripts/alarm_limits.py --shares FILE.json… [--write]

Good translations are the public ones of WinoMT, a folder for each system
(``data/winomt/translations`` of the folder that ``MTBIAS_SHARED`` names, default ``../shared``),
and the texts with the persons of ``tests/natural``; for signs that texts alone show also
MT-GenEval's references, the parallel treebanks PUD, GEST's translations, and WinoMT by those of
Firefox's models that are installed. Each file is checked
as a whole, and in parts of 1,000, 150 and 25 rows that follow each other, each aligned by itself.

The second form reads what the first wrote and prints the limits, and how many of the good files and
parts are above them. A file of a system is held against the limits that the other systems of its
language give, so that no limit was fitted to it.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.align import Pair  # noqa: E402 - the paths above come first
from mtbias.cli.shared import Evaluator  # noqa: E402
from mtbias.corpora import load_corpus  # noqa: E402
from mtbias.errors import DataError, MtbiasError  # noqa: E402
from mtbias.evaluation.gender_calls import GENDER_MEASURE, GenderMeasure  # noqa: E402
from mtbias.files.text_repair import repair  # noqa: E402
from mtbias.scoring.alarm_limits import SIZES  # noqa: E402
from mtbias.scoring.alarms import LEAST, SIGNS, checks  # noqa: E402
from mtbias.scoring.measure import MeasureOptions  # noqa: E402
from mtbias.settings import EvaluatorSettings  # noqa: E402
from mtbias.stats.resampling import wilson_percent  # noqa: E402
from mtbias.translate.bitext import read_bitext  # noqa: E402
from mtbias.translate.firefox.firefox_system import Workers  # noqa: E402
from mtbias.translate.firefox.model_files import FirefoxModel, installed_model  # noqa: E402
from mtbias.translate.firefox.model_files import Pair as LanguagePair  # noqa: E402
from mtbias.translate.text_language import languages  # noqa: E402
from mtbias.types import Gender, Instance, SourceSentence, Span, Stereotype, Translation  # noqa: E402
from scripts.label_sets.natural import read_persons  # noqa: E402
from scripts.labelled import SHIPPED, shared_data  # noqa: E402

TARGET = ROOT / "mtbias" / "scoring" / "data" / "alarm_limits.tsv"
HEADER = """\
# Above which per cent a sign is none of good translations, by language and number of rows (python
# scripts/alarm_limits.py). Measured on public translations; docs/alarms.md names them.
"""
LARGE = 1000
"""Of a file of so many rows the share itself is taken, of a smaller one the lower end of its
interval."""
RARE = 0.001
"""So great a share of good parts may be above a limit."""

TEXTS_ALONE = "gest"
"""A measure that reads no entities: of its runs only the translations are checked."""

Counts = tuple[int, int]
"""Rows that are counted, of rows."""


@dataclass(frozen=True)
class Output:
    """Good translations: sentences with entities, or texts alone."""

    name: str
    lang: str
    rows: Sequence[tuple[Instance | SourceSentence, str]]
    with_entities: bool


def good_outputs(lang: str, data: Path) -> Iterator[Output]:
    """All that is at hand in a language."""
    corpus = load_corpus("winomt", data / "winomt").instances
    for file in sorted((data / "winomt" / "translations").glob(f"*/en-{lang}.txt")):
        by_source = dict(read_bitext(file))
        texts = [by_source.get(instance.source) for instance in corpus]
        # A French file has 100 lines in Italian.
        own = (None, lang)
        found = zip(corpus, texts, languages(texts, lang), strict=True)
        rows = [(instance, text) for instance, text, language in found if text and language in own]
        yield Output(file.parent.name, lang, rows, with_entities=True)
    with suppress(DataError):  # Portuguese ones are not everywhere
        pairs = [person.pair for person in read_persons(lang, data)]
        instances = [(_instance(n, pair), pair.text) for n, pair in enumerate(pairs)]
        yield Output("natural", lang, instances, with_entities=True)
    for name, pairs_of_texts in _texts_alone(lang, data):
        sentences = [
            (SourceSentence(f"{n}", n, s), t)
            for n, (s, t) in enumerate(pairs_of_texts)
            if t.strip()
        ]
        yield Output(name, lang, sentences, with_entities=False)


def _instance(row: int, pair: Pair) -> Instance:
    head = pair.head or Span(0, 0)
    return Instance(
        pair.id, row, pair.source, head, pair.entity, Gender.NEUTRAL, Stereotype.NONE, "natural", 0
    )


def _texts_alone(lang: str, data: Path) -> Iterator[tuple[str, Sequence[tuple[str, str]]]]:
    for gender in ("feminine", "masculine"):
        stem = data / "mtgeneval" / "sentences" / f"geneval-sentences-{gender}-test.en_{lang}"
        if Path(f"{stem}.{lang}").is_file():
            sides = [
                Path(f"{stem}.{side}").read_text(encoding="utf-8").splitlines()
                for side in ("en", lang)
            ]
            yield f"MT-GenEval, {gender}", list(zip(*sides, strict=True))
    treebanks = json.loads((data / "parallel" / "pud.json").read_text(encoding="utf-8"))
    if own := [(source, text) for source, text, code in treebanks if code == lang]:
        yield "PUD", own
    for file in sorted((data / "gest" / "translations").glob(f"*/{lang}.csv")):
        with file.open(encoding="utf-8", newline="") as lines:
            yield (
                f"GEST, {file.parent.name}",
                [(row["from"], row["to"]) for row in csv.DictReader(lines)],
            )
    if (model := _firefox(lang)) is not None:
        sources = [instance.source for instance in load_corpus("winomt", data / "winomt").instances]
        with closing(Workers(model)) as workers:
            yield "Firefox", list(zip(sources, workers.translate(sources), strict=True))


def _firefox(lang: str) -> FirefoxModel | None:
    """Firefox's model into a language, of those that a package ships."""
    try:
        return installed_model(LanguagePair("en", lang), Path("no-cache"))
    except MtbiasError:
        return None


def shares(
    output: Output, rows: Sequence[tuple[Any, str]], measure: GenderMeasure
) -> dict[str, Counts]:
    """How many rows each sign counts, of how many."""
    repaired = [repair(text).text for _, text in rows]
    if not output.with_entities:
        records: Sequence[Any] = [
            _Line(sentence.source, text) for (sentence, _), text in zip(rows, repaired, strict=True)
        ]
        content = checks(records, output.lang, TEXTS_ALONE, n_resamples=0, seed=0)
    else:
        instances = [replace(instance, id=f"{n}") for n, (instance, _) in enumerate(rows)]
        translations = [Translation(f"{n}", text) for n, text in enumerate(repaired)]
        content = checks(
            measure.judge(instances, translations), output.lang, "gender", n_resamples=0, seed=0
        )
    return {key: (share["n"], share["of"]) for key, share in content["alarms"]["shares"].items()}


@dataclass(frozen=True)
class _Line:
    source: str
    translation: str

    def to_json(self) -> dict[str, str]:
        return {"source": self.source, "translation": self.translation}


def measured(lang: str, evaluator: EvaluatorSettings) -> Iterator[dict[str, Any]]:
    """The shares of every good file in a language, as a whole and in parts: objects of JSON."""
    measure = GENDER_MEASURE.open(MeasureOptions(lang=lang, settings=evaluator, device="cpu"))
    for output in good_outputs(lang, shared_data()):
        for size in (*SIZES[:-1], len(output.rows)):
            for start in range(0, len(output.rows) - size + 1, size):
                found = shares(output, output.rows[start : start + size], measure)
                # A file of some hundred rows is a part of a larger one.
                column = max((each for each in SIZES if each <= size), default=SIZES[0])
                yield {
                    "lang": lang,
                    "file": output.name,
                    "rows": column,
                    "whole": size == len(output.rows),
                    "shares": found,
                }


# Limits

Measured = Sequence[Mapping[str, Any]]


def limits(rows: Measured) -> dict[tuple[str, str], list[int]]:
    """By sign and language the limit for each of `SIZES`, in whole per cent.

    With s the greatest share of a good file in per cent, the limit of large files is

        s + min(s, (100 − s) / 3) + 2, where s is 0.3 or more, else s + min(s, …) + 0.5

    With e the greatest lower end (of Wilson's interval) among good parts of a size, but for the
    share `RARE` of these, that of parts is e + min(e / 2, (100 − e) / 3) + 3, and never below the
    limit of larger ones.
    """
    parts: defaultdict[tuple[str, str], dict[int, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    whole: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        for sign, (n, of) in row["shares"].items():
            end = _lower_end(n, of)
            parts[sign, row["lang"]][row["rows"]].append(end)
            if row["whole"] and of:
                whole[sign, row["lang"]].append(100 * n / of if row["rows"] >= LARGE else end)
    return {key: _limits_of(by_size, max(whole[key], default=0)) for key, by_size in parts.items()}


def _limits_of(ends_by_size: Mapping[int, Sequence[float]], share: float) -> list[int]:
    more = 2 if share >= 0.3 else 0.5
    columns = [math.ceil(share + min(share, (100 - share) / 3) + more)]
    for size in reversed(SIZES[:-1]):
        ends = sorted(ends_by_size.get(size, ()), reverse=True)
        end = ends[int(RARE * len(ends))] if ends else 0
        allowed = math.ceil(end + min(end / 2, (100 - end) / 3) + 3) if end else 0
        columns.append(max(columns[-1], allowed))
    return columns[::-1]


def _lower_end(n: int, of: int) -> float:
    """The lower end that an alarm compares; 0 where it compares none."""
    ends = wilson_percent(n, of)
    return ends[0] if ends is not None and n >= LEAST else 0


def above_own_limits(rows: Measured) -> dict[int, Counts]:
    """By size how many good files or parts are above the limits that they gave with all others, of
    how many.
    """
    given = limits(rows)
    above: defaultdict[int, list[bool]] = defaultdict(list)
    for row in rows:
        above[row["rows"]].append(bool(_raised(row, given)))
    return {size: (sum(flags), len(flags)) for size, flags in above.items()}


def _raised(row: Mapping[str, Any], given: Mapping[tuple[str, str], Sequence[int]]) -> list[str]:
    """The signs of a file or part that are above their limits."""
    column = SIZES.index(row["rows"])
    signs = [sign for sign in row["shares"] if (sign, row["lang"]) in given]
    return [
        sign
        for sign in signs
        if _lower_end(*row["shares"][sign]) > given[sign, row["lang"]][column]
    ]


def false_alarms(rows: Measured) -> dict[tuple[int, str], Counts]:
    """By size and sign how many good files or parts are above the limits that the other files of
    their language give, of how many; by size alone how many have any alarm (sign ``any``).
    Languages with one file are left out.
    """
    files: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        files[row["lang"]].add(row["file"])
    above: defaultdict[tuple[int, str], list[bool]] = defaultdict(list)
    for lang, names in files.items():
        for name in names if len(names) > 1 else ():
            others = limits([row for row in rows if row["lang"] == lang and row["file"] != name])
            for row in rows:
                if (row["lang"], row["file"]) == (lang, name):
                    raised = _raised(row, others)
                    above[row["rows"], "any"].append(bool(raised))
                    for sign in row["shares"]:
                        above[row["rows"], sign].append(sign in raised)
    return {key: (sum(flags), len(flags)) for key, flags in above.items()}


def main(
    *,
    lang: list[str] | None = None,
    out: Path | None = None,
    shares: Annotated[list[Path] | None, cyclopts.Parameter(consume_multiple=True)] = None,
    write: bool = False,
    evaluator: Evaluator = EvaluatorSettings(),
) -> None:
    """Measure good translations, or derive the limits from what was measured.

    Parameters
    ----------
    lang
        Only these languages.
    out
        File for what is measured.
    shares
        Files that were written so: print the limits.
    write
        Write the limits to where mtbias reads them.
    """
    if shares is None:
        rows = [row for code in lang or SHIPPED for row in measured(code, evaluator)]
        text = json.dumps(rows)
        print(text) if out is None else out.write_text(text, encoding="utf-8")
        return
    rows = [row for path in shares for row in json.loads(path.read_text(encoding="utf-8"))]
    order = {sign.key: n for n, sign in enumerate(SIGNS)}
    lines = ["\t".join(["sign", "lang", *map(str, SIZES)])]
    for (sign, code), values in sorted(
        limits(rows).items(), key=lambda item: (order[item[0][0]], item[0][1])
    ):
        lines.append("\t".join([sign, code, *(f"{value:g}" for value in values)]))
    table = "\n".join(lines) + "\n"
    if write:
        TARGET.write_text(HEADER + table, encoding="utf-8")
    print(table)
    for size, (above, of) in sorted(above_own_limits(rows).items()):
        print(f"files of {size} rows: {above} of {of} above the limits of all files")
    for (size, sign), (above, of) in sorted(false_alarms(rows).items()):
        if above or sign == "any":
            print(
                f"files of {size} rows, {sign}: {above} of {of} above the limits of the other files"
            )


if __name__ == "__main__":
    cyclopts.run(main)
