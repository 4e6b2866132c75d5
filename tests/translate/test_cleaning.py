"""Answers of language models, each kind of what is around a translation, and what is none."""

from __future__ import annotations

import csv
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mtbias.files.text_repair import repair
from mtbias.translate.language_models.cleaning import KINDS, Cleaned, clean, needs_cleaning, tally
from mtbias.translate.language_models.prompt_files import AnswerForm, load_prompt
from mtbias.types import frozen
from tests.attack.preparations import unescaped
from tests.draws import crossed, sampled

SOURCE = "The doctor asked the nurse to help her with the procedure."
ES = "La doctora le pidió al enfermero que la ayudara con el procedimiento."
ES_MALE = "El doctor le pidió a la enfermera que lo ayudara con el procedimiento."
DE = "Die Ärztin bat den Pfleger, ihr bei dem Eingriff zu helfen."
RU = "Врач попросила медбрата помочь ей с процедурой."
HE = "הרופאה ביקשה מהאח לעזור לה בהליך."
AR = "طلبت الطبيبة من الممرض أن يساعدها في الإجراء."
CS = "Lékařka požádala ošetřovatele, aby jí pomohl se zákrokem."
UK = "Лікарка попросила медбрата допомогти їй із процедурою."
IT = "La dottoressa chiese all'infermiere di aiutarla con la procedura."
CLEAN = {"es": ES, "de": DE, "ru": RU, "he": HE, "ar": AR, "cs": CS, "uk": UK, "it": IT}
TEXTS = {"EN": SOURCE, "ES_MALE": ES_MALE, **{code.upper(): text for code, text in CLEAN.items()}}
PLAIN = load_prompt("plain")


@frozen
class Case:
    """A row of ``cleaning.tsv``: an answer, and what becomes of it.

    In its cells ``$ES$`` stands for the Spanish translation above, ``$ES…$`` for the same without
    its full stop, ``$EN$`` for the source; `unescaped` has the rest.
    """

    rule: str
    lang: str
    source: str
    answer: str
    finish: str | None
    """Why the engine stopped; None where nobody says."""
    text: str | None
    removed: tuple[str, ...]
    """The kinds of what was around the translation."""
    none: str
    """The reason why there is no translation; empty where there is one."""

    @property
    def found(self) -> Cleaned:
        """What is made of the answer."""
        return clean(self.answer, self.source, PLAIN, self.lang, finish=self.finish)


def _meant(cell: str) -> str:
    for name, text in TEXTS.items():
        cell = cell.replace(f"${name}$", text).replace(f"${name}…$", text[:-1])
    return unescaped(cell)


def _cases() -> Iterator[Case]:
    with Path(__file__).with_name("cleaning.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            answer = _meant(row["answer"])
            text = answer if row["text"] == "=" else _meant(row["text"])
            yield Case(
                rule=row["rule"],
                lang=row["lang"],
                source=_meant(row["source"]),
                answer=answer,
                finish=row["finish"] or None,
                text=text or None,
                removed=tuple(row["removed"].split()),
                none=row["none"],
            )


CASES = tuple(_cases())
CLEANED = [case for case in CASES if case.text not in (None, case.answer)]
KEPT = [case for case in CASES if case.text == case.answer]
NONE = [case for case in CASES if case.text is None]
WHOLE_ANSWERS = [
    case
    for case in (*CLEANED, *NONE)
    if case.finish is None
    and case.source not in case.answer
    and ("\n" in case.answer.strip() or case.answer.endswith(("*", '"', "»", ")")))
]


def by_rule(cases: Sequence[Case]) -> list[Any]:
    """The cases as parameters that have their rule as id."""
    return [pytest.param(case, id=f"{case.rule} ({case.lang})") for case in cases]


@pytest.mark.parametrize("case", by_rule(CLEANED))
def test_what_is_around_a_translation_is_removed_and_counted(case: Case) -> None:
    assert case.found == Cleaned(case.text, case.removed)


@pytest.mark.parametrize("case", by_rule(KEPT))
def test_what_only_looks_like_it_stays(case: Case) -> None:
    """Both forms of a word, too: the evaluator reads them as neutral (tests/policy), and removing
    one would choose a gender."""
    assert case.found == Cleaned(case.text)


@pytest.mark.parametrize("case", by_rule(NONE))
def test_what_is_no_translation_is_none(case: Case) -> None:
    found = case.found
    assert (found.text, found.reason) == (None, case.none)
    assert case.none in found.kinds


@pytest.mark.parametrize("case", by_rule(WHOLE_ANSWERS))
def test_whole_answers_need_cleaning(case: Case) -> None:
    assert needs_cleaning(case.answer, SOURCE, case.lang)


@pytest.mark.parametrize("lang", CLEAN)
def test_a_translation_alone_needs_none(lang: str) -> None:
    assert not needs_cleaning(CLEAN[lang], SOURCE, lang)


@pytest.mark.parametrize("lang", CLEAN)
def test_a_translation_alone_is_kept(lang: str) -> None:
    assert clean(CLEAN[lang], SOURCE, PLAIN, lang) == Cleaned(CLEAN[lang])


def test_what_several_lines_are_depends_on_the_prompt() -> None:
    first = replace(PLAIN, answer=AnswerForm(lines="first"))
    assert clean(f"{ES}\n{ES_MALE}", SOURCE, first, "es") == Cleaned(ES, ("lines",))
    other = "Algo distinto que también se podría decir."
    assert clean(f"{ES}\n{other}", SOURCE, PLAIN, "es") == Cleaned(ES, ("lines",))
    assert (
        clean(f"{ES}\n{other}", SOURCE, load_prompt("alternatives"), "es").reason == "alternatives"
    )
    assert clean(ES, SOURCE, load_prompt("alternatives"), "es") == Cleaned(ES)


def test_a_first_line_that_may_be_a_part_of_the_translation_is_none() -> None:
    two = "Her mother was a teacher. She herself became a doctor."
    lines = "Ihre Mutter war Lehrerin.\nSie selbst wurde Ärztin."
    assert clean(lines, two, PLAIN, "de") == Cleaned(None, ("shape",), "shape")
    one = "Ihre Mutter war Lehrerin, und sie selbst wurde Ärztin."
    assert clean(
        f"{one}\n\nNote: I joined the two sentences into one.", two, PLAIN, "de"
    ) == Cleaned(one, ("lines",))
    whole = lines.replace("\n", " ")
    assert clean(f"{whole}\n\nAnmerkung: weiblich.", two, PLAIN, "de") == Cleaned(whole, ("lines",))
    assert (
        clean(lines, two, replace(PLAIN, answer=AnswerForm(lines="first")), "de").text
        == lines.partition("\n")[0]
    )


def test_a_translation_between_the_marks_that_the_prompt_asks_for() -> None:
    marked = replace(PLAIN, answer=AnswerForm(between=("<es>", "</es>")))
    assert clean(f"The doctor is a woman.\n<es>{ES}</es>\nDone.", SOURCE, marked, "es") == Cleaned(
        ES
    )
    assert clean(ES, SOURCE, marked, "es") == Cleaned(None, ("unmarked",), "unmarked")


def test_the_counts_are_of_answers_and_the_examples_first_those_without_a_translation() -> None:
    rows = [
        ("a", Cleaned(ES)),
        ("b", Cleaned(ES, ("note", "quotes"))),
        ("c", Cleaned(None, ("refusal",), "refusal")),
        ("d", Cleaned(None, ("note",), "note")),
    ]
    assert tally(rows) == {
        "cleaned": {"refusal": 1, "note": 2, "quotes": 1},
        "untranslated": {"refusal": 1, "note": 1},
        "examples": {"refusal": ["c"], "note": ["d", "b"], "quotes": ["b"]},
    }


PARTS = [
    *CLEAN.values(), ES_MALE, SOURCE, SOURCE.upper(), "Sure!", "Here is the translation:", "Note:", "Nota: ", "(",
    ")", " (", ") ", "[", "]", '"', "“", "”", "„", "«", "»", "'", "*", "**", "_", "`", "```", "\n", "\n\n", "- ", "1. ",
    "> ", "# ", " / ", "|", " ||| ", " → ", ": ", ". ", "! ", "<think>", "</think>", "<|im_end|>", "<t>", "</t>",
    "</s>", "English: ", "Spanish: ", "\u2028", "\ufeff", "\u200f", "I'm sorry", "Lo siento", "doctora", "la", "{", "}",
]  # fmt: skip
ANSWERS = st.lists(st.sampled_from(PARTS) | st.text(max_size=8), max_size=12).map("".join)
MARKS = re.compile("[*_`]")


@example(answer="Here is the translation:```doctora", lang="es", finish=None)
@example(answer="</think><think>", lang="es", finish=None)
@example(answer="Here is the translation:<think>", lang="es", finish=None)
@given(
    answer=ANSWERS,
    lang=st.sampled_from(sorted(CLEAN)),
    finish=st.sampled_from([None, "stop", "length", "loop"]),
)
@settings(max_examples=400, deadline=None)
def test_the_translation_is_a_part_of_the_answer_and_clean_itself(
    answer: str, lang: str, finish: str | None
) -> None:
    found = clean(answer, SOURCE, PLAIN, lang, finish=finish)
    assert (found.text is None) == (found.reason is not None)
    assert set(found.kinds) <= set(KINDS)
    if found.text is None:
        assert found.reason in found.kinds
    else:
        assert found.text.strip()
        composed = unicodedata.normalize("NFC", answer)
        assert found.text in composed or MARKS.sub("", found.text) in MARKS.sub("", composed)
        assert clean(found.text, SOURCE, PLAIN, lang) == Cleaned(found.text)


@given(sources=ANSWERS, answer=ANSWERS)
@settings(max_examples=100, deadline=None)
def test_any_source_and_any_answer_are_taken(sources: str, answer: str) -> None:
    found = clean(answer, sources, PLAIN, "es")
    assert found.text is None or clean(found.text, sources, PLAIN, "es").text == found.text


REPEATED = [
    "(", " (a", "a) ", '"', "“", "*", " *a", "**a ", "_a_ ", "`", "<think>", "</think>", "<|a|>", "<a>", "</a>", "\n",
    "a\n", "- ", " ", ": ", "a: ", "Note: ", "Nota:\n", "a / ", ". ", "A b c d e. ", "1. ", "English: a\n", f"{ES}\n",
    f"{ES} ", f"{SOURCE}\n", f"{SOURCE} → ", "״", "-", "```\n", "! ", "Sure! ", "[", "á", "ا",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("part", sampled(zip(REPEATED, REPEATED)))
def test_the_time_is_linear_in_the_answers_length(part: str) -> None:
    answer = part * (50_000 // len(part))
    begin = time.process_time()
    for text in (
        answer,
        f"{ES} {answer}",
        f"{ES}\n{answer}",
        f"{answer}{ES}",
        f"({answer})",
        f'"{answer}"',
    ):
        clean(text, SOURCE, PLAIN, "es")
        repair(text)
    assert (
        time.process_time() - begin < 60
    )  # 0.05 to 1 s where it is linear, many minutes where it is not


SYSTEMS = [
    *(f"{name}/en-{lang}" for name in ("google", "bing") for lang in CLEAN if lang != "cs"),
    "2025-opus/en-fr",
]


@pytest.mark.parametrize("file", SYSTEMS)
def test_what_translation_systems_write_stays_as_it_is(file: str, winomt: Path) -> None:
    for line in (
        (winomt / "translations" / f"{file}.txt").read_text(encoding="utf-8").splitlines()[::10]
    ):
        source, _, target = line.partition(" ||| ")
        assert clean(target, source, PLAIN, file[-2:]) == Cleaned(target.strip())


@pytest.mark.parametrize(
    ("lang", "version"), crossed(["ar", "de", "es", "fr", "it", "ru"], ["feminine", "masculine"])
)
def test_what_translators_write_of_wikipedia_stays_as_it_is(
    lang: str, version: str, shared: Path
) -> None:
    """Quotations, brackets, colons, names in Latin letters."""
    file = f"data/mtgeneval/sentences/geneval-sentences-{version}-test.en_{lang}"
    sources, targets = (
        (shared / f"{file}.{code}").read_text(encoding="utf-8").splitlines()
        for code in ("en", lang)
    )
    for source, target in zip(sources, targets, strict=True):
        # NFC: some write the marks of one Arabic letter in another order.
        assert clean(target, source, PLAIN, lang) == Cleaned(
            unicodedata.normalize("NFC", target.strip())
        )


@pytest.mark.parametrize(
    ("file", "reasons"),
    [
        # Read by eye. A block of 100 lines of the French file is Italian.
        ("gpt/en-fr", {"language": 100}),
        ("llama-inst/en-es", {"refusal": 1, "note": 1, "echo": 1}),
        *(
            pytest.param(file, reasons, marks=pytest.mark.exhaustive)
            for file, reasons in {
                "gpt/en-es": {},
                "gpt/en-it": {},
                "llama-inst/en-fr": {"refusal": 1},
                "llama-inst/en-it": {"introduction": 1},
            }.items()
        ),
    ],
)
def test_what_two_language_models_wrote(file: str, reasons: dict[str, int], winomt: Path) -> None:
    lines = (winomt / "translations" / f"2025-{file}.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.partition(" ||| ") for line in lines]
    found = [(target, clean(target, source, PLAIN, file[-2:])) for source, _, target in rows]
    assert Counter(cleaned.reason for _, cleaned in found if cleaned.reason) == reasons
    assert all(
        cleaned == Cleaned(target.strip()) for target, cleaned in found if cleaned.text is not None
    )
