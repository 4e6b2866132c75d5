"""How many labelled calls are wrong, by language and class of evidence:
`mtbias/scoring/data/expected_wrong.tsv`.

    python scripts/expected_wrong.py --gold LABELS.csv --translations WINOMT/translations/google
        --stanza-dir DIR

The labels are those of ``tests/natural`` (its texts: see ``scripts/label_sets/natural.py``) and the human
labels that ``scripts/labels.py agreement`` reads. Sentences that were written for hard cases
(``tests/challenge``, ``tests/independent``) are left out: their rates are those of hard cases. A
call is wrong where the label is another gender, or where nothing in the translation shows one
(label none; basis X). Labels of WinoMT that follow a pronoun (basis P, C) are left out: they answer
another question.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]


from mtbias.cli.shared import Evaluator  # noqa: E402
from mtbias.corpora.human_labels import read_label_file  # noqa: E402
from mtbias.evaluation.gender_calls import GENDER_MEASURE  # noqa: E402
from mtbias.evaluation.validation import validate  # noqa: E402
from mtbias.scoring.correction import LABELS  # noqa: E402
from mtbias.scoring.evidence import GENDERS, TABLE, EvidenceClass, evidence_class  # noqa: E402
from mtbias.scoring.measure import MeasureOptions  # noqa: E402
from mtbias.settings import EvaluatorSettings  # noqa: E402
from mtbias.translate.bitext import read_bitext  # noqa: E402
from mtbias.types import GenderCall  # noqa: E402
from scripts.label_sets import natural  # noqa: E402
from scripts.label_sets.agreement import LANGUAGES  # noqa: E402
from scripts.labelled import shared_data  # noqa: E402

OUT = ROOT / "mtbias" / "scoring" / "data" / TABLE

Judged = tuple[str, GenderCall, bool]
"""The language, a call, and whether it is wrong."""


def natural_calls(stanza_dir: Path, part: natural.Part) -> Iterator[Judged]:
    """The calls on the persons of `tests/natural`."""
    for lang in natural.FILES:
        for row in natural.evaluate(lang, shared_data(), stanza_dir, part=part):
            yield lang, row.call, not row.gender_right


def winomt_calls(gold: Path, translations: Path, evaluator: EvaluatorSettings) -> Iterator[Judged]:
    """The calls on the human labels of WinoMT that rest on the phrase, on a verb, or on nothing."""
    for lang in LANGUAGES:
        measure = GENDER_MEASURE.open(MeasureOptions(lang=lang, settings=evaluator, device="cpu"))
        found = validate(
            read_label_file(gold).labels(lang),
            read_bitext(translations / f"en-{lang}.txt"),
            measure,
        )
        for label, call in found.rows:
            if label.basis not in {"P", "C"}:
                yield lang, call, label.basis == "X" or call.gender is not LABELS[label.label]


def main(
    *,
    gold: Path,
    translations: Path,
    part: natural.Part = "dev",
    evaluator: Evaluator = EvaluatorSettings(),
) -> None:
    """Write the table.

    Parameters
    ----------
    gold
        The human labels of WinoMT, with the columns that `mtbias validate` reads.
    translations
        Folder of en-LANG.txt that alignment learns from too.
    part
        Of `tests/natural`.
    """
    if evaluator.stanza_dir is None:
        sys.exit("expected --stanza-dir DIR, got none")
    labels, wrong = Counter[tuple[str, str, str]](), Counter[tuple[str, str, str]]()
    for calls in (
        natural_calls(evaluator.stanza_dir, part),
        winomt_calls(gold, translations, evaluator),
    ):
        for lang, call, is_wrong in calls:
            kind = evidence_class(call)
            if kind is not None and call.gender is not None:
                labels[lang, kind, call.gender] += 1
                wrong[lang, kind, call.gender] += is_wrong
    lines = [
        "# Labelled calls, and how many are wrong, by language and evidence. Made by scripts/expected_wrong.py of",
        f"# the labels of tests/natural (part {part}; its README has the sources) and half of mt_gender's human labels",
        "# of WinoMT (MIT, github.com/gabrielStanovsky/mt_gender), with Stanza's small models udsmall.",
        "lang\tclass\tgender\tlabels\twrong",
    ]
    lines += [
        f"{lang}\t{kind}\t{gender}\t{labels[lang, kind, gender]}\t{wrong[lang, kind, gender]}"
        for lang in sorted({lang for lang, *_ in labels})
        for kind in EvidenceClass
        for gender in GENDERS
        if labels[lang, kind, gender]
    ]
    OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    cyclopts.run(main)
