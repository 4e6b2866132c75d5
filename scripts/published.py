"""The WinoMT figures published in 2019 beside mtbias's, on the same translations, and which rule makes the difference.

    python scripts/published.py --data WINOMT --folder WINOMT/translations --stanza-dir DIR [--markdown]

`--folder` holds SYSTEM/en-LANG.txt files of ``source ||| target`` lines. For German, Hebrew and Arabic the rules of the
predecessor (mt_gender, 2019) are simple enough to be put on top of mtbias's own alignment ("2019 rules"): where that
column comes close to the published one, the rules make the difference and not the alignment. For Spanish and Italian
(spaCy of 2019), Russian and Ukrainian (a dictionary) they cannot be run again here.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from mtbias.align import get_aligner
from mtbias.cli.options import ProgressLine, add_machine, make_analyser
from mtbias.corpora import Corpus, load_corpus
from mtbias.evaluation.stages import call_genders
from mtbias.language.installed import get_language
from mtbias.metrics import score
from mtbias.metrics.scores import Scores
from mtbias.plugin import Language
from mtbias.translate.given_translations import read_translations
from mtbias.types import Gender, GenderCall, Instance, Reason, Span

HERE = Path(__file__).parent
GERMAN_WORDS = {
    Gender.MALE: "der ein dem einen des er seiner ihn seinen ihm ihren seinem ihrem sein",
    Gender.FEMALE: "die eine einer sie seine ihrer",
    Gender.NEUTRAL: "ihr ihre das jemanden",
}
"""Articles *and pronouns* that the 2019 rules for German read; *den* is not among them."""


def german(instance: Instance, text: str, target: Sequence[Span]) -> Gender:
    """*nurse* is female; unaligned is male; a word in *-in* is female; else the nearest listed word of the sentence."""
    if instance.entity == "nurse":
        return Gender.FEMALE
    if not target:
        return Gender.MALE
    words = list(re.finditer(r"\w+", text.lower()))
    if any(text[s.start : s.end].endswith("in") for s in target):
        return Gender.FEMALE
    at = next((n for n, w in enumerate(words) if w.start() <= target[0].start < w.end()), 0)
    listed = {word: gender for gender, line in GERMAN_WORDS.items() for word in line.split()}
    found = [(abs(n - at), n, listed[w.group()]) for n, w in enumerate(words) if w.group() in listed]
    return min(found)[2] if found else Gender.MALE


def hebrew(_: Instance, text: str, target: Sequence[Span]) -> Gender:
    """Unaligned is female; any aligned word that ends in ת or ה is female; all others are male."""
    ends = [text[s.start : s.end][-1:] for s in target]
    return Gender.FEMALE if not ends or {"ת", "ה"} & set(ends) else Gender.MALE


def arabic(_: Instance, text: str, target: Sequence[Span]) -> Gender:
    """Any aligned word with a ta marbuta is female; all others, and the unaligned, are male."""
    return Gender.FEMALE if any("ة" in text[s.start : s.end] for s in target) else Gender.MALE


RULES: dict[str, Callable[[Instance, str, Sequence[Span]], Gender]] = {"ar": arabic, "de": german, "he": hebrew}


def by_rules(corpus: Corpus, texts: dict[str, str], calls: Sequence[GenderCall], lang: str) -> Scores | None:
    """Scores of the 2019 rules on mtbias's alignment, where they are known."""
    if lang not in RULES:
        return None
    rule = RULES[lang]
    called = []
    for instance, call in zip(corpus.instances, calls, strict=True):
        text = texts.get(instance.id)
        if text is None:
            called.append(GenderCall(instance.id, None, Reason.UNTRANSLATED))
            continue
        called.append(replace(call, gender=rule(instance, text, call.target), reason=None, evidence=()))
    return score(corpus.instances, called, n_resamples=0)


def triple(accuracy: float | None, delta_g: float | None, delta_s: float | None) -> str:
    """``59.4 / 12.5 / 12.5``."""
    return " / ".join("–" if v is None else f"{v:.1f}" for v in (accuracy, delta_g, delta_s))


def ours(scores: Scores) -> str:
    """The three numbers of `scores`."""
    numbers = scores.overall.numbers
    return triple(numbers.accuracy, numbers.delta_g, numbers.delta_s)


def main() -> None:
    """Score every published pair and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="WinoMT's folder")
    parser.add_argument("--folder", type=Path, required=True, help="folder of SYSTEM/en-LANG.txt")
    add_machine(parser)
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    corpus = load_corpus("winomt", args.data)
    lines = (HERE / "published_2019.tsv").read_text(encoding="utf-8").splitlines()
    table = [row.split("\t") for row in lines if not row.startswith("#")]
    head = [
        "system",
        "lang",
        "published",
        "mtbias",
        "difference",
        "2019 rules, our alignment",
        "failures left out",
        "none",
    ]
    rows = [head]
    for system, lang, *numbers, how in table[1:]:
        language: Language = get_language(lang)
        given = read_translations(args.folder / system / f"en-{lang}.txt", corpus.instances)
        calls = call_genders(
            corpus.instances,
            given.translations,
            language,
            get_aligner(args.aligner),
            make_analyser(args, language),
            progress=ProgressLine(),
        )
        scores = score(corpus.instances, calls, n_resamples=0)
        texts = {t.id: t.text for t in given.translations if t.text is not None}
        rules = by_rules(corpus, texts, calls, lang)
        overall = scores.overall.numbers
        values = (overall.accuracy, overall.delta_g, overall.delta_s)
        bounds = overall.accuracy_bounds
        rows.append(
            [
                system,
                lang,
                triple(*map(float, numbers)) + ("" if how == "recomputed" else " *"),
                ours(scores),
                " / ".join("–" if v is None else f"{v - float(p):+.1f}" for v, p in zip(values, numbers, strict=True)),
                ours(rules) if rules else "–",
                "–" if bounds is None or bounds[1] is None else f"{bounds[1]:.1f}",
                f"{100 * (overall.n - overall.decided) / overall.n:.1f} %",
            ]
        )
    print(render(rows, markdown=args.markdown))
    print("\nAccuracy / ΔG / ΔS. * ΔS from memory of the table. 'none': share of rows without a verdict.")


def render(rows: list[list[str]], *, markdown: bool) -> str:
    """Aligned columns, or a Markdown table."""
    if markdown:
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)


if __name__ == "__main__":
    main()
