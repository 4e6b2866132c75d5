"""What the alarms' signs show on good output and on broken, for `docs/alarms.md`: the limits lie between the two.

    python scripts/experiments/alarm_limits.py --stanza-dir DIR [--cache-dir DIR] [--lang CODE]… [--rows 1000]
        [--broken LANG=NAME=FILE]…

Good output: WinoMT's translations, a folder for each system (``data/winomt/translations`` of the folder that
``MTBIAS_SHARED`` names, default ``../shared``), and the persons of ``tests/natural`` (part dev). Each is checked as a
whole, and in files of 25 sentences, each aligned by itself. What is broken is made of the first rows of the first
system's file: the English itself, another language's file, lines moved by one (from the first on, and from the middle
on), lines in random order, words in random order and place; and one line in ten the same, one phrase over and over,
left out, or left in English.
`--broken` takes further files of ``source ||| target`` lines of WinoMT's sentences, such as the output of a model of
random weights.
"""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cyclopts

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from mtbias.align import Pair  # noqa: E402
from mtbias.cli.shared import Evaluator  # noqa: E402
from mtbias.corpora import load_corpus  # noqa: E402
from mtbias.evaluation.gender_calls import GENDER, GenderMeasure  # noqa: E402
from mtbias.scoring.alarms import SIGNS, checks  # noqa: E402
from mtbias.scoring.measure import MeasureOptions  # noqa: E402
from mtbias.settings import EvaluatorSettings  # noqa: E402
from mtbias.translate.bitext import read_bitext  # noqa: E402
from mtbias.types import Gender, Instance, Span, Stereotype, Translation  # noqa: E402
from scripts import natural  # noqa: E402
from scripts.labelled import shared_data  # noqa: E402

LANGUAGES = ("ar", "cs", "de", "es", "he", "it", "ru", "uk")
ALONE = 25
"""Sentences of a newcomer's first file."""

Texts = Sequence[tuple[Instance, str]]


@dataclass(frozen=True)
class Output:
    """Translations that are good, or broken in a way that has a name."""

    name: str
    lang: str
    texts: Texts


def good_outputs(lang: str, data: Path) -> Iterator[Output]:
    """All that is at hand in a language."""
    corpus = load_corpus("winomt", data / "winomt").instances
    for file in sorted((data / "winomt" / "translations").glob(f"*/en-{lang}.txt")):
        by_source = dict(read_bitext(file))
        yield Output(file.parent.name, lang, [(i, by_source[i.source]) for i in corpus if i.source in by_source])
    persons = natural.read_persons(natural.FILES / f"{lang}.tsv", natural.read_texts(lang, data))
    texts = [(_instance(n, person.pair), person.pair.text) for n, person in enumerate(persons) if person.part == "dev"]
    yield Output("natural text", lang, texts)


def _instance(row: int, pair: Pair) -> Instance:
    head = pair.head or Span(0, 0)
    return Instance(pair.id, row, pair.source, head, pair.entity, Gender.NEUTRAL, Stereotype.NONE, "natural", 0)


def broken_outputs(good: Output, other: Output | None, rows: int) -> Iterator[Output]:
    """What is made of a good output of WinoMT and of another language's."""
    texts = good.texts[:rows]
    instances, targets = [i for i, _ in texts], [text for _, text in texts]
    chance = random.Random(0)
    mixed = chance.sample(targets, len(targets))
    words = [word for text in targets for word in text.split()]
    made: dict[str, Sequence[str]] = {
        "the English itself": [i.source for i in instances],
        "moved by one line": [targets[-1], *targets[:-1]],
        "moved by one from the middle on": [*targets[: rows // 2], targets[0], *targets[rows // 2 : -1]],
        "lines in random order": mixed,
        "words in random order and place": [" ".join(chance.sample(words, len(text.split()))) for text in targets],
        "one translation in ten is the same": [targets[0] if n % 10 == 0 else t for n, t in enumerate(targets)],
        "one phrase over and over in one of ten": [
            " ".join(t.split()[:3] * 6) if n % 10 == 0 else t for n, t in enumerate(targets)
        ],
        "one in ten left out": ["" if n % 10 == 0 else t for n, t in enumerate(targets)],
        "one in ten left in English": [i.source if n % 10 == 0 else t for n, (i, t) in enumerate(texts)],
    }
    if other is not None:
        by_id = {i.id: text for i, text in other.texts}
        made[f"another language's file ({other.lang})"] = [by_id.get(i.id, "") for i in instances]
    for name, found in made.items():
        yield Output(name, good.lang, list(zip(instances, found, strict=True)))


def check(output: Output, measure: GenderMeasure) -> dict[str, Any]:
    """`alarms` of `metrics.json` of an output."""
    instances = [replace(i, id=f"{n}") for n, (i, _) in enumerate(output.texts)]
    translations = [Translation(f"{n}", text or None) for n, (_, text) in enumerate(output.texts)]
    records = measure.judge(instances, translations)
    return dict(checks(records, output.lang, "gender", n_resamples=0, seed=0)["alarms"])


def row(name: str, found: Mapping[str, Any]) -> str:
    """A line of the table: the share of each sign, in bold where it is above its limit."""
    cells = []
    for sign in SIGNS:
        share = found["shares"].get(sign.key, {})  # none where nothing is called
        text = "–" if share.get("percent") is None else f"{share['percent']:.1f}"
        cells.append(f"**{text}**" if share.get("above") else text)
    return f"| {name} | {' | '.join(cells)} |"


def main(
    *,
    lang: list[str] | None = None,
    rows: int = 1000,
    broken: list[str] | None = None,
    alone: bool = True,
    evaluator: Evaluator = EvaluatorSettings(),
) -> None:
    """Print the table of good and broken output, and how often files of 25 raise an alarm.

    Parameters
    ----------
    lang
        Only these languages.
    rows
        Of the broken outputs.
    broken
        LANG=NAME=FILE of a further broken output.
    alone
        Check good output in files of 25, too.
    """
    data = shared_data()
    print("| output | " + " | ".join(sign.key for sign in SIGNS) + " |\n|---|" + "---:|" * len(SIGNS))
    small: defaultdict[str, Counter[str]] = defaultdict(Counter)
    first: Output | None = None
    for code in lang or LANGUAGES:
        measure = GENDER.open(MeasureOptions(lang=code, settings=evaluator, device="cpu"))
        outputs = list(good_outputs(code, data))
        for output in outputs:
            print(row(f"{code}: {output.name}", check(output, measure)), flush=True)
            for start in range(0, len(output.texts) - ALONE + 1, ALONE) if alone else ():
                part = output.texts[start : start + ALONE]
                raised = check(replace(output, texts=part), measure)["raised"]
                small["winomt" if output.name != "natural text" else "natural"].update(["files", *raised])
        if len(outputs) > 1:
            bad = list(broken_outputs(outputs[0], first, rows))
            bad += [_read(text, outputs[0]) for text in broken or () if text.startswith(f"{code}=")]
            for output in bad:
                print(row(f"{code}: {output.name}", check(output, measure)), flush=True)
                part = output.texts[:ALONE]
                small[f"broken: {output.name.split(' (')[0]}"].update(
                    ["files", *check(replace(output, texts=part), measure)["raised"]]
                )
            first = outputs[0]
    print()
    for name, counts in small.items():
        print(f"files of {ALONE}, {name}: {dict(counts)}")


def _read(text: str, good: Output) -> Output:
    lang, name, path = text.split("=", 2)
    by_source = dict(read_bitext(Path(path)))
    return Output(name, lang, [(i, by_source[i.source]) for i, _ in good.texts if i.source in by_source])


if __name__ == "__main__":
    cyclopts.run(main)
