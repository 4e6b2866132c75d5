"""How the evaluator does on natural text: persons of Wikipedia and of first-person sentences,
labelled by sentence.

    python scripts/natural.py --stanza-dir DIR [--lang CODE]… [--part PART] [--alone] [--rows]
        [--evidence stanza] [--aligner statistical+neural --aligner-model MODEL --part all]

The labels are those of ``tests/natural``, whose README has the conventions and names the texts,
which are public data and no part of mtbias: they are read from the folder that ``MTBIAS_SHARED``
names (default ``../shared``). All sentences of a language are aligned together, those of all parts;
with ``--alone`` 25 at a time, as in a newcomer's first file. Portuguese, which is measured where it
is asked for, is analysed by Apertium (``scripts/apertium_tagger.py``), all others by Stanza.

Of the persons that are kept (``keep`` 1) it prints, with the rows that are the denominator:

- head: the first aligned word overlaps the labelled head, of rows that have one;
- agreement: the call is the label, of rows whose noun, determiner or adjective shows a gender
  (basis N, D);
- wrong: another gender is called, of the same rows;
- silent: a gender is called, of rows that show none or leave the person out (basis X).
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.align import Aligner, Pair, StatisticalAligner  # noqa: E402 - the paths above come first
from mtbias.corpora.mt_geneval import REFERENCE, read_mt_geneval_context  # noqa: E402
from mtbias.errors import DataError  # noqa: E402
from mtbias.evaluation.gender_calls import GenderMeasure, make_aligner  # noqa: E402
from mtbias.files.reading import Record, parse_tabs, read_table, read_text  # noqa: E402
from mtbias.files.text_repair import repair  # noqa: E402
from mtbias.language.installed import get_language  # noqa: E402
from mtbias.morphology import Analyser  # noqa: E402
from mtbias.reading.rules import says  # noqa: E402
from mtbias.scoring.measure import MeasureOptions  # noqa: E402
from mtbias.settings import Aligner as AlignerName  # noqa: E402
from mtbias.settings import EvaluatorSettings, EvidenceReader  # noqa: E402
from mtbias.types import Gender, GenderCall, Span  # noqa: E402
from scripts.apertium_tagger import analyser as tagged  # noqa: E402
from scripts.labelled import each_language, shared_data, stanza_of  # noqa: E402

FILES = ROOT / "tests" / "natural"
LABELS = {"m": Gender.MALE, "f": Gender.FEMALE, "n": Gender.NEUTRAL, "none": None}
COLUMNS = ("text", "start", "entity", "head", "label", "basis", "keep", "part", "second", "note")
BY_APERTIUM = ("pt",)
"""Languages for which there are no models of Stanza at hand."""
ALONE = 25
"""Sentences that are aligned together with ``--alone``."""

Part = Literal[
    "dev", "held-out", "held-out-2", "held-out-3", "held-out-4", "held-out-5", "held-out-6", "all"
]
Texts = dict[str, tuple[str, str]]
"""Name of a text → source and translation."""


@dataclass(frozen=True, slots=True)
class Person:
    """One labelled person of one sentence."""

    pair: Pair
    head: Span | None
    """Characters of the translation that render the person; None where it is left out."""
    label: Gender | None
    basis: str
    """N: the noun's form, D: determiner or adjective in the phrase, P: a predicate alone, X:
    nothing."""
    part: str
    note: str


def read_texts(lang: str, data: Path) -> Texts:
    """The texts of a language by the name that the labels give them (``geneval-4``,
    ``context-0012``, ``bing-7``).

    Raises:
        DataError: a file is missing.
    """
    if not data.is_dir():
        raise DataError(
            "expected the public data here; name its parent folder with MTBIAS_SHARED", path=data
        )
    try:
        if lang in ("de", "es"):
            return _marked_persons(lang, data / "mtgeneval" / "entities") | _second_sentences(
                lang, data / "mtgeneval"
            )
        if lang == "pt":
            return _counterfactual_sentences(lang, data / "mtgeneval" / "sentences")
        if lang in ("ar", "it", "ru"):
            counterfactual = _counterfactual_sentences(lang, data / "mtgeneval" / "sentences")
            return counterfactual | _second_sentences(lang, data / "mtgeneval")
        if lang == "fr":
            return _second_sentences(lang, data / "mtgeneval")
        return (
            _first_person(lang, data / "gest")
            if lang in ("cs", "uk")
            else _winomt(lang, data / "winomt")
        )
    except OSError as error:
        raise DataError(
            f"{lang}: expected the texts that tests/natural/README.md names: {error}"
        ) from error


def _marked_persons(lang: str, folder: Path) -> Texts:
    file = read_text(folder / f"geneval.en-{lang}.tsv")
    records = parse_tabs(file, quoted=True).records
    return {
        f"geneval-{each.get('id')}": (each.get("source"), each.get(REFERENCE)) for each in records
    }


def _second_sentences(lang: str, folder: Path) -> Texts:
    contextual = read_mt_geneval_context(folder / "context", lang)
    return {sentence.id: (sentence.second, sentence.reference) for sentence in contextual.instances}


def _counterfactual_sentences(lang: str, folder: Path) -> Texts:
    found: Texts = {}
    for form in ("feminine", "masculine"):
        stem = folder / f"geneval-sentences-{form}-test.en_{lang}"
        sides = [
            Path(f"{stem}.{side}").read_text(encoding="utf-8").split("\n") for side in ("en", lang)
        ]
        for number, (source, target) in enumerate(zip(*sides, strict=True), start=1):
            found[f"{form}-{number}"] = source, target.strip()
    return found


def _first_person(lang: str, folder: Path) -> Texts:
    found: Texts = {}
    for system in ("amazon_translate", "nllb_3b"):
        with (folder / "translations" / system / f"{lang}.csv").open(
            encoding="utf-8", newline=""
        ) as file:
            for number, row in enumerate(csv.DictReader(file), start=1):
                found[f"{system}-{number}"] = row["from"], row["to"].replace("\n", " ")
    return found


def _winomt(lang: str, folder: Path) -> Texts:
    found: Texts = {}
    sources = [
        line.split("\t")[2] for line in (folder / "en.txt").read_text(encoding="utf-8").splitlines()
    ]
    for system in ("google", "bing"):
        lines = (
            (folder / "translations" / system / f"en-{lang}.txt")
            .read_text(encoding="utf-8")
            .splitlines()
        )
        by_source = dict(line.split(" ||| ", 1) for line in lines if " ||| " in line)
        found |= {
            f"{system}-{n}": (s, by_source[s]) for n, s in enumerate(sources) if s in by_source
        }
    return found


def read_persons(path: Path, sentences: Mapping[str, tuple[str, str]]) -> list[Person]:
    """The persons of a file of labels that are kept.

    Raises:
        DataError: a label does not fit its sentence.
    """
    table = read_table(path)
    table.require(*COLUMNS)
    return [_person(record, sentences) for record in table.records if record.get("keep") == "1"]


def _person(record: Record, sentences: Mapping[str, tuple[str, str]]) -> Person:
    name, start, entity = record.get("text"), record.integer("start"), record.get("entity")
    if name not in sentences:
        raise record.error(f"expected a text of the sources, got {name!r}")
    source, target = sentences[name]
    target = repair(target).text  # as `mtbias eval` reads it
    if not source.startswith(entity, start):
        raise record.error(
            f"expected {entity!r} at {start}, got {source[start : start + len(entity)]!r}"
        )
    # The mark may hold more than the head ("police chief"): the head is its last word, as in every
    # corpus.
    noun = re.sub(r"['’]s?$", "", entity)
    last = re.split(r"[\s-]", noun)[-1].strip(".,'’")
    end = start + len(noun)
    word, _, occurrence = repair(record.get("head")).text.partition("@")
    places = (
        [Span(*m.span()) for m in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", target)]
        if word
        else []
    )
    if word and len(places) < int(occurrence or 1):
        raise record.error(f"expected the head {record.get('head')!r} in the translation")
    return Person(
        pair=Pair(f"{name}@{start}", source, target, Span(end - len(last), end), noun.lower()),
        head=places[int(occurrence or 1) - 1] if places else None,
        label=LABELS[record.get("label")],
        basis=record.get("basis"),
        part=record.get("part"),
        note=record.get("note"),
    )


def count(persons: Sequence[Person], calls: Sequence[GenderCall]) -> dict[str, tuple[int, int]]:
    """(rows, of rows) by the names of the module's docstring."""
    rows = list(zip(persons, calls, strict=True))

    def share(
        of: Callable[[Person], bool], what: Callable[[Person, GenderCall], bool]
    ) -> tuple[int, int]:
        chosen = [(p, c) for p, c in rows if of(p)]
        return sum(what(p, c) for p, c in chosen), len(chosen)

    return {
        "head": share(lambda p: p.head is not None, head_right),
        "agreement": share(lambda p: p.basis in "ND", lambda p, c: c.gender is p.label),
        "wrong": share(lambda p: p.basis in "ND", lambda p, c: c.gender not in (None, p.label)),
        "silent": share(lambda p: p.basis == "X", lambda _, c: c.gender is not None),
    }


def head_right(person: Person, call: GenderCall) -> bool:
    """The first aligned word overlaps the labelled head."""
    return person.head is not None and bool(call.target) and call.target[0].overlaps(person.head)


def describe(person: Person, call: GenderCall) -> str:
    """One row that went wrong, in three lines."""
    source, target = person.pair.source, person.pair.text
    begin, end = person.pair.head or (0, 0)
    found = target[slice(*call.target[0])] if call.target else "–"
    wanted = target[slice(*person.head)] if person.head else "–"
    evidence = "; ".join(
        f"{e.kind} {e.word}: {e.gender or 'silent'} ({says(e)})" for e in call.evidence
    )
    return (
        f"{person.pair.id} {person.basis} {person.label or 'none'} at {wanted}; got {call.gender or call.reason} at "
        f"{found} [{evidence}] {person.note}\n    {source[:begin]}[[{source[begin:end]}]]{source[end:]}\n    {target}"
    )


def wrong_row(person: Person, call: GenderCall) -> bool:
    """The head or the call is not the labelled one; a predicate alone (basis P) is not counted."""
    misplaced = person.head is not None and not head_right(person, call)
    return misplaced or (person.basis != "P" and call.gender is not person.label)


def evaluate(
    lang: str,
    data: Path,
    stanza_dir: Path,
    *,
    part: Part,
    alone: bool = False,
    evidence: EvidenceReader = "tables",
    aligner: Aligner | None = None,
) -> tuple[list[Person], list[GenderCall]]:
    """The persons of `part` that are kept, and the calls on them; the other part's sentences help
    alignment.
    """
    persons = read_persons(FILES / f"{lang}.tsv", read_texts(lang, data))
    pairs = [person.pair for person in persons]
    by_apertium = lang in BY_APERTIUM
    analyser: Analyser = (
        tagged(pair.text for pair in pairs) if by_apertium else stanza_of(lang, stanza_dir)
    )
    measure = GenderMeasure(get_language(lang), aligner or StatisticalAligner(), analyser, evidence)
    step = ALONE if alone else len(pairs)
    calls = [
        call for k in range(0, len(pairs), step) for call in measure.call_pairs(pairs[k : k + step])
    ]
    chosen = [(p, c) for p, c in zip(persons, calls, strict=True) if part in (p.part, "all")]
    return [p for p, _ in chosen], [c for _, c in chosen]


def report(lang: str, persons: Sequence[Person], calls: Sequence[GenderCall]) -> str:
    """The line of one language."""
    counts = count(persons, calls)
    shares = "  ".join(
        f"{name} {100 * a / n if n else 0:5.1f} % ({a}/{n})" for name, (a, n) in counts.items()
    )
    bases = Counter(person.basis for person in persons)
    return f"{lang}  {shares}  of {len(persons)}: " + ", ".join(
        f"{basis} {bases[basis]}" for basis in "NDPX"
    )


def main(
    *,
    stanza_dir: Path,
    lang: list[str] | None = None,
    part: Part = "dev",
    alone: bool = False,
    rows: bool = False,
    evidence: EvidenceReader = "tables",
    aligner: AlignerName = "statistical",
    aligner_model: str | None = None,
) -> int:
    """Print one line per language, and with ``--rows`` what went wrong.

    Parameters
    ----------
    stanza_dir
        Folder of Stanza models.
    lang
        Only these languages.
    part
        The part of the labels that rules may be corrected by (dev), those that were not looked at
        until they had been measured once (held-out, held-out-2, held-out-3, held-out-4, held-out-5,
        held-out-6), or all.
    alone
        Align 25 persons at a time.
    rows
        List the rows whose call or head is wrong.
    evidence
        What tells the gender, as the option of mtbias eval.
    aligner
        What finds the heads, as the option of mtbias eval; what an encoder was asked is printed
        below the language.
    aligner_model
        The aligner's encoder.
    """
    settings = EvaluatorSettings(aligner=aligner, aligner_model=aligner_model)

    def run(code: str) -> None:
        chosen = make_aligner(MeasureOptions(lang=code, settings=settings, device=None))
        persons, calls = evaluate(
            code,
            shared_data(),
            stanza_dir,
            part=part,
            alone=alone,
            evidence=evidence,
            aligner=chosen,
        )
        if not persons:
            print(f"{code}  no persons in this part")
            return
        print(report(code, persons, calls), flush=True)
        for name, value in getattr(chosen, "execution", {}).items():
            print(f"    {name} {value}")
        for person, call in zip(persons, calls, strict=True):
            if rows and wrong_row(person, call):
                print(describe(person, call))

    known = sorted(path.stem for path in FILES.glob("*.tsv"))
    return each_language(lang or [code for code in known if code not in BY_APERTIUM], known, run)


if __name__ == "__main__":
    sys.exit(cyclopts.run(main))
