"""How well the predicted edits of a wrong gender are those that there are: MT-GenEval's references
in both genders.

    python scripts/edits.py --stanza-dir DIR [--cache-dir DIR] [--lang CODE]… [--rows]

The two references of a sentence differ in the gender of its persons alone, so the words in which
they differ, by Levenshtein's distance over words, are what a post-editor changes where the one
stands for the other. Predicted are the edits of the calls (`mtbias.types.GenderCall.edits`) on all
persons of the sentence who are called by its gender in both versions; a person is a word of the
source that the language's table of nouns translates. Sentences without such a person (named, or
told by a pronoun alone) are left out.

Two lines a language and version, the second of the sentences in which one word alone names
somebody: sentences, predicted and real edits a sentence, the mean error with its 95 % interval over
sentences, and Pearson's correlation. With ``--rows`` the sentences that are off by two or more
follow.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cyclopts
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.align import Pair  # noqa: E402 - the paths above come first
from mtbias.cli.shared import Evaluator  # noqa: E402
from mtbias.corpora.mt_geneval import ReferencedSentence, read_mt_geneval  # noqa: E402
from mtbias.english.words import english_words, singulars  # noqa: E402
from mtbias.evaluation.gender_calls import GenderMeasure, make_aligner, make_analyser  # noqa: E402
from mtbias.language.definition import Language  # noqa: E402
from mtbias.language.installed import get_language  # noqa: E402
from mtbias.scoring.measure import MeasureOptions  # noqa: E402
from mtbias.settings import EvaluatorSettings  # noqa: E402
from mtbias.types import Gender, GenderCall, Span  # noqa: E402
from scripts.labelled import each_language, shared_data  # noqa: E402

LANGUAGES = ("ar", "de", "es", "fr", "it", "ru")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A reference with the words that the calls on its persons want changed, and the other
    reference.
    """

    instance: ReferencedSentence
    spans: tuple[Span, ...]
    words: tuple[str, ...]
    real: int
    alone: bool
    """No other word of the source names somebody."""


def distance(one: Sequence[str], other: Sequence[str]) -> int:
    """Levenshtein's distance: words inserted, left out or exchanged."""
    before = list(range(len(other) + 1))
    for n, word in enumerate(one, 1):
        row = [n]
        for k, against in enumerate(other, 1):
            row.append(min(before[k] + 1, row[-1] + 1, before[k - 1] + (word != against)))
        before = row
    return before[-1]


def persons(instance: ReferencedSentence, language: Language) -> Iterator[tuple[int, Pair]]:
    """The words of the source that name somebody, each by its index."""
    for n, word in enumerate(english_words(instance.source)):
        if any(one in language.glossary for one in singulars(word.form)):
            yield (
                n,
                Pair(
                    f"{instance.id}@{n}", instance.source, instance.reference, word.span, word.form
                ),
            )


def measured(
    lang: str, instances: Sequence[ReferencedSentence], settings: EvaluatorSettings
) -> list[Sentence]:
    """The sentences with a person who is called by the sentence's gender in both versions."""
    language, options = (
        get_language(lang),
        MeasureOptions(lang=lang, settings=settings, device="cpu"),
    )
    pairs = {one.id: dict(persons(one, language)) for one in instances}
    listed = [pair for found in pairs.values() for pair in found.values()]
    calls = GenderMeasure(language, make_aligner(options), make_analyser(options)).call_pairs(
        listed
    )
    called = {call.id: call for call in calls}
    texts = {one.id: [token.text for token in language.tokens(one.reference)] for one in instances}
    gender = {one.id: one.gender for one in instances}

    def right(ident: str, n: int) -> GenderCall | None:
        call = called.get(f"{ident}@{n}")
        return call if call is not None and call.gender is gender[ident] else None

    found = []
    for one in instances:
        both = [call for n in pairs[one.id] if (call := right(one.id, n)) and right(one.pair, n)]
        if both:
            words = {
                edit.span: one.reference[slice(*edit.span)] for call in both for edit in call.edits
            }
            found.append(
                Sentence(
                    one,
                    tuple(words),
                    tuple(words.values()),
                    distance(texts[one.id], texts[one.pair]),
                    len(pairs[one.id]) == 1,
                )
            )
    return found


def line(lang: str, gender: Gender, sentences: Sequence[Sentence], of: int, seed: int = 0) -> str:
    """The figures of one language and version."""
    guessed, real = (
        np.array(v, float) for v in zip(*((len(s.words), s.real) for s in sentences), strict=True)
    )
    draws = np.random.default_rng(seed).integers(len(real), size=(2000, len(real)))
    low, high = np.percentile((guessed - real)[draws].mean(axis=1), (2.5, 97.5))
    error, r = (guessed - real).mean(), np.corrcoef(guessed, real)[0, 1]
    return (
        f"{lang}  {gender:6}  {len(real):3} of {of}  predicted {guessed.mean():.2f}  real {real.mean():.2f}  "
        f"mean error {error:+.2f} [{low:+.2f}, {high:+.2f}]  correlation {r:.2f}"
    )


def main(
    *,
    lang: list[str] | None = None,
    rows: bool = False,
    limit: int | None = None,
    evaluator: Evaluator = EvaluatorSettings(),
) -> int:
    """Print the figures of each language.

    Parameters
    ----------
    lang
        Only these languages.
    rows
        List the sentences that are off by two or more.
    limit
        Only the first sentences of each version.
    """

    def run(code: str) -> None:
        corpus = read_mt_geneval(shared_data() / "mtgeneval" / "sentences", code)
        chosen = [one for one in corpus.instances if limit is None or int(one.id[-3:]) <= limit]
        found = measured(code, chosen, evaluator)
        for gender in (Gender.MALE, Gender.FEMALE):
            of = sum(one.gender is gender for one in chosen)
            part = [each for each in found if each.instance.gender is gender]
            for name, sentences in ((code, part), ("  ", [each for each in part if each.alone])):
                if len(sentences) > 2:
                    print(line(name, gender, sentences, of), flush=True)
        for each in found if rows else ():
            if abs(len(each.words) - each.real) > 1:
                print(
                    f"{each.instance.id} {len(each.words)} for {each.real}: {' '.join(each.words)}"
                )
                print(
                    f"    {each.instance.source}\n    {each.instance.reference}\n    {each.instance.other_reference}"
                )

    return each_language(lang, LANGUAGES, run)


if __name__ == "__main__":
    sys.exit(cyclopts.run(main))
