r"""What damage to translations does to a run's numbers, and what the run says of it.

    python scripts/damage.py --stanza-dir DIR --lang es [--lang CODE]… [--system google] [--name
    NAME]…
        [--every N] [--cache-dir DIR]

The translations are public ones of WinoMT (``data/winomt/translations`` of the folder that
``MTBIAS_SHARED`` names, default ``../shared``). Each row of ``tests/attack/translations.tsv``
damages all of them, or a share of the lines; printed are accuracy, ΔG, ΔS and the number of calls,
how many calls differ, what was undone, and the alarms. `tests/attack/test_translations.py` does the
same on the demo's corpus: no call may differ without a word.

A change is a verb and its cells, with ``→`` between them:

- ``recode A → B``: written in the encoding A, read in B; ``twice`` before it does so twice;
- ``replace REGEX → TEXT``: in the whole text, ``\1`` as in Python;
- ``words TEXT``: ``{}`` in it is each word of six letters and more;
- ``normalise FORM``, ``case upper``, ``strip marks``, ``spaced marks``, ``python bytes``: as these
  names say;
- ``cut half``, ``cut comma``: the text ends in the middle, or before its first comma;
- ``source before``, ``source behind``, ``source instead``: the source beside the translation, or in
  its place;
- ``lines moved``, ``later lines moved``, ``lines mixed``, ``words mixed``, ``first line``: each
  line is that before it (from the middle on), lines in random order, words of all lines at random,
  the first line in the place of others.
"""

from __future__ import annotations

import csv
import random
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.cli.shared import Evaluator  # noqa: E402 - the paths above come first
from mtbias.corpora import load_corpus  # noqa: E402
from mtbias.evaluation.gender_calls import GENDER_MEASURE, GenderMeasure  # noqa: E402
from mtbias.runs.call_records import CallRecord  # noqa: E402
from mtbias.scoring.alarms import checks  # noqa: E402
from mtbias.scoring.measure import MeasureOptions  # noqa: E402
from mtbias.settings import EvaluatorSettings  # noqa: E402
from mtbias.translate.bitext import read_bitext  # noqa: E402
from mtbias.translate.outputs import repaired  # noqa: E402
from mtbias.translate.system import Translated  # noqa: E402
from mtbias.types import Instance, Translation  # noqa: E402
from scripts.labelled import shared_data  # noqa: E402

TABLE = ROOT / "tests" / "attack" / "translations.tsv"
_WORD = re.compile(r"[^\W\d_]{6,}")


@dataclass(frozen=True)
class Damage:
    """A row of the table."""

    name: str
    change: str
    percent: int
    """Of the lines."""
    outcome: str
    """``equal``: no call differs; ``undone``: it is undone, counted, and no call differs;
    ``announced``: an alarm;
    ``large``: an alarm in files of many different sentences.
    """

    def applied(self, texts: Sequence[str], sources: Sequence[str]) -> list[str]:
        """The texts after the change, of which a share is drawn with a seed."""
        chance = random.Random(0)
        if self.change in _ORDERS:
            damaged = _ORDERS[self.change](texts, chance)
        else:
            damaged = [
                changed(text, source, self.change)
                for text, source in zip(texts, sources, strict=True)
            ]
        pairs = zip(texts, damaged, strict=True)
        return [
            after if chance.random() * 100 < self.percent else before for before, after in pairs
        ]


def damages() -> Iterator[Damage]:
    """The rows of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield Damage(row["name"], row["change"], int(row["percent"]), row["outcome"])


def changed(text: str, source: str, change: str) -> str:
    """A translation after a change (see the module)."""
    if change.startswith("twice "):
        rest = change.removeprefix("twice ")
        return changed(changed(text, source, rest), source, rest)
    verb = next(verb for verb in _VERBS if change.startswith(verb))
    cells = [_unescaped(cell) for cell in change.removeprefix(verb).strip(" ").split(" → ")]
    return _VERBS[verb](text, source, *cells)


def _unescaped(cell: str) -> str:
    return re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), cell)


def _spaced_marks(text: str) -> str:
    letters = unicodedata.normalize("NFD", text)
    return "".join(f" {char}" if unicodedata.combining(char) else char for char in letters)


def _without_marks(text: str) -> str:
    letters = unicodedata.normalize("NFD", text)
    return "".join(char for char in letters if not unicodedata.combining(char))


def _later_moved(texts: Sequence[str]) -> list[str]:
    middle = len(texts) // 2
    return [*texts[:middle], texts[0], *texts[middle:-1]]


def _words_mixed(texts: Sequence[str], chance: random.Random) -> list[str]:
    words = [word for text in texts for word in text.split()]
    return [" ".join(chance.sample(words, len(text.split()))) for text in texts]


_ORDERS: Mapping[str, Callable[[Sequence[str], random.Random], list[str]]] = {
    "lines moved": lambda texts, _: [texts[-1], *texts[:-1]],
    "later lines moved": lambda texts, _: _later_moved(texts),
    "lines mixed": lambda texts, chance: chance.sample(texts, len(texts)),
    "words mixed": _words_mixed,
    "first line": lambda texts, _: [texts[0]] * len(texts),
}
_CASES: Mapping[str, Callable[[str], str]] = {
    "upper": str.upper,
    "lower": str.lower,
    "title": str.title,
}
_VERBS: Mapping[str, Callable[..., str]] = {
    "recode": lambda text, _, old, new: text.encode(old, "replace").decode(new, "replace"),
    "replace": lambda text, _, pattern, new: re.sub(pattern, new, text),
    "words": lambda text, _, form: _WORD.sub(lambda match: form.replace("{}", match[0]), text),
    "normalise": lambda text, _, form: unicodedata.normalize(form, text),
    "case": lambda text, _, case: _CASES[case](text),
    "strip marks": lambda text, *_: _without_marks(text),
    "spaced marks": lambda text, *_: _spaced_marks(text),
    "python bytes": lambda text, *_: repr(text.encode()),
    "cut half": lambda text, *_: text[: len(text) // 2],
    "cut comma": lambda text, *_: text.split(",")[0],
    "source before": lambda text, source, *_: f"{source} {text}",
    "source behind": lambda text, source, *_: f"{text} {source}",
    "source instead": lambda _, source, *__: source,
}


@dataclass(frozen=True)
class Reading:
    """What was read of translations, and what is said of them."""

    records: Sequence[CallRecord]
    undone: Mapping[str, int]
    """How many texts by the kind of damage that was undone."""
    raised: Sequence[str]
    """The alarms."""

    @property
    def calls(self) -> list[str]:
        """Of each sentence the gender, or why there is none."""
        return [str(record.call.gender or record.call.reason) for record in self.records]

    def differing(self, other: Reading) -> int:
        """How many calls are not those of another reading."""
        return sum(one != two for one, two in zip(self.calls, other.calls, strict=True))

    @property
    def numbers(self) -> str:
        """Accuracy, ΔG, ΔS and the number of calls."""
        overall = GENDER_MEASURE.score(self.records, n_resamples=0, seed=0).overall.to_json()
        shown = (overall[key] for key in ("accuracy", "delta_g", "delta_s"))
        return (
            " / ".join("–" if value is None else f"{value:.1f}" for value in shown)
            + f" / {overall['decided']:,}"
        )


def read(texts: Sequence[str], instances: Sequence[Instance], measure: GenderMeasure) -> Reading:
    """Read translations as a run does."""
    given = [Translation(i.id, text or None) for i, text in zip(instances, texts, strict=True)]
    translated = repaired(Translated(given, {}))
    records = measure.judge(instances, translated.translations)
    alarms = checks(records, measure.language.code, "gender", n_resamples=0, seed=0)["alarms"]
    undone = {kind: count for kind, count in translated.noticed.items() if kind != "examples"}
    return Reading(records, undone, alarms["raised"])


def main(
    *,
    lang: list[str],
    system: str = "google",
    name: list[str] | None = None,
    every: int = 1,
    evaluator: Evaluator = EvaluatorSettings(),
) -> None:
    """Print what each damage does.

    Parameters
    ----------
    lang
        Languages of the translations.
    system
        Folder of the translations.
    name
        Only the damages of these names.
    every
        Each so many-th sentence alone.
    """
    data = shared_data()
    corpus = load_corpus("winomt", data / "winomt").instances
    head = (
        "language",
        "damage",
        "accuracy / ΔG / ΔS / calls",
        "calls that differ",
        "undone",
        "alarms",
    )
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for code in lang:
        measure = GENDER_MEASURE.open(MeasureOptions(lang=code, settings=evaluator, device="cpu"))
        by_source = dict(read_bitext(data / "winomt" / "translations" / system / f"en-{code}.txt"))
        instances = [instance for instance in corpus if by_source.get(instance.source)][::every]
        texts = [by_source[instance.source] for instance in instances]
        good = read(texts, instances, measure)
        print(f"| {code} | none | {good.numbers} | | | {', '.join(good.raised)} |", flush=True)
        for damage in damages():
            if name is None or damage.name in name:
                found = read(
                    damage.applied(texts, [i.source for i in instances]), instances, measure
                )
                undone = ", ".join(f"{kind} {count:,}" for kind, count in found.undone.items())
                cells = (
                    code,
                    damage.name,
                    found.numbers,
                    f"{found.differing(good):,}",
                    undone,
                    ", ".join(found.raised),
                )
                print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    cyclopts.run(main)
