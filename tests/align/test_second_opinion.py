"""The statistical aligner with an encoder's second opinion: what that is asked, and by what it
overrules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from mtbias.align import Pair, StatisticalAligner, second_opinion
from mtbias.align.neural_aligner import Compared, NeuralAligner, Text, locate_encoder
from mtbias.align.second_opinion import SecondOpinion
from mtbias.language.definition import Language
from mtbias.language.split_texts import SplitTexts
from mtbias.scoring.measure import MeasureOptions
from mtbias.settings import EvaluatorSettings
from mtbias.types import (
    Alignment,
    Candidate,
    Progress,
    Span,
    quiet,
)

UNKNOWN = ("cook", "dancer", "farmer", "tailor")
"""Entities that are in no table here."""


@pytest.fixture(scope="module")
def given() -> tuple[list[Pair], list[Span], Language]:
    """Sentences of the demo's grammar with the heads of their references, and a table of all
    entities but `UNKNOWN`."""
    from scripts.demo.grammar import GENDERS, Grammar, choices, say_english

    german = Grammar.load("de")
    pairs: list[Pair] = []
    heads: list[Span] = []
    table: dict[str, set[str]] = {}
    for n, choice in enumerate(list(choices())[::131]):
        (source, (start, end)), target = (
            say_english(choice, GENDERS[n % 2]),
            german.say(choice, GENDERS[n % 2]),
        )
        pairs.append(Pair(str(n), source, target.text, Span(start, end), source[start:end]))
        heads.append(Span(target.head.start, target.head.end))
        if source[start:end] not in UNKNOWN:
            table.setdefault(source[start:end], set()).add(target.text[slice(*heads[-1])].lower())
    return (
        pairs,
        heads,
        Language(code="xx", name="X", glossary={k: frozenset(v) for k, v in table.items()}),
    )


@pytest.fixture
def aligner(bert: Path, tmp_path: Path) -> SecondOpinion:
    return SecondOpinion(
        NeuralAligner(locate_encoder(str(bert), "de", cache=tmp_path), device="cpu")
    )


def test_only_what_the_tables_do_not_know_is_asked(
    aligner: SecondOpinion, given: tuple[list[Pair], list[Span], Language]
) -> None:
    pairs, _, language = given
    first = StatisticalAligner().align(pairs, SplitTexts(language))
    second = aligner.align(pairs, SplitTexts(language))
    known = [bool(a.target) and a.target[0] in a.translations for a in first]
    assert {pair.entity for pair, one in zip(pairs, known, strict=True) if not one} == set(UNKNOWN)
    assert all(a == b for a, b, one in zip(first, second, known, strict=True) if one)
    assert aligner.execution["encoder_asked"] == known.count(False)
    assert aligner.execution["encoder_margin_rows"] == known.count(True)
    overruled = sum(a != b for a, b in zip(first, second, strict=True))
    assert aligner.execution["encoder_overruled"] == overruled


def test_a_wrong_head_is_overruled(
    aligner: SecondOpinion,
    given: tuple[list[Pair], list[Span], Language],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A first aligner that takes the first word of the translation for each entity that the table
    has not."""
    pairs, heads, language = given

    class First(StatisticalAligner):
        def align(
            self, pairs: Sequence[Pair], texts: SplitTexts, progress: Progress = quiet
        ) -> tuple[Alignment, ...]:
            found = super().align(pairs, texts, progress)
            first = ((texts.words(pair.text)[0].span,) for pair in pairs)
            return tuple(
                a if a.translations else replace(a, candidates=(Candidate(t, "links"),))
                for a, t in zip(found, first, strict=True)
            )

    monkeypatch.setattr(second_opinion, "StatisticalAligner", First)
    second = aligner.align(pairs, SplitTexts(language))
    asked = [n for n, pair in enumerate(pairs) if pair.entity in UNKNOWN]
    right = sum(second[n].target[:1] == (heads[n],) for n in asked)
    assert right >= 0.9 * len(asked)
    assert aligner.execution["encoder_asked"] == len(asked)


def test_the_margin_rests_on_rows_from_all_over_the_texts(
    aligner: SecondOpinion,
    given: tuple[list[Pair], list[Span], Language],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs, _, language = given
    compared: list[str] = []
    ask = aligner.neural.compared

    def noted(
        rows: Sequence[Pair], texts: SplitTexts, progress: Progress
    ) -> Iterator[tuple[Text, Compared]]:
        compared.extend(pair.id for pair in rows)
        return ask(rows, texts, progress)

    monkeypatch.setattr(aligner.neural, "compared", noted)
    sure = [n for n, pair in enumerate(pairs) if pair.entity not in UNKNOWN]
    most = len(sure) - 1
    monkeypatch.setattr(second_opinion, "SURE_ROWS", most)
    aligner.align(pairs, SplitTexts(language))
    assert compared[-most:] == [str(n) for n in (*sure[: most - 1], sure[-1])]
    assert aligner.execution["encoder_margin_rows"] == most


def test_few_rows_overrule_nothing(
    aligner: SecondOpinion,
    given: tuple[list[Pair], list[Span], Language],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs, _, language = given
    monkeypatch.setattr(
        aligner.neural, "device", "no such device"
    )  # the encoder is not even loaded
    monkeypatch.setattr(second_opinion, "SURE_ROWS", 19)
    assert aligner.align(pairs, SplitTexts(language)) == StatisticalAligner().align(
        pairs, SplitTexts(language)
    )
    assert aligner.execution == {"encoder_asked": 0, "encoder_margin_rows": 19}
    # Nor where there is nothing to ask.
    sure = [pair for pair in pairs if pair.entity not in UNKNOWN]
    assert aligner.align(sure, SplitTexts(language)) == StatisticalAligner().align(
        sure, SplitTexts(language)
    )
    assert aligner.align([], SplitTexts(language)) == ()


def test_the_signature_says_so(bert: Path, tmp_path: Path) -> None:
    from mtbias.evaluation.gender_calls import make_aligner

    settings = EvaluatorSettings(
        aligner="statistical+neural", aligner_model=str(bert), aligner_layer=1, cache_dir=tmp_path
    )
    found = make_aligner(MeasureOptions(lang="de", settings=settings, device="cpu"))
    assert found.signature.startswith("mtbias-agree/1+neural(bert@sha256:")
    assert found.signature.endswith(",1)")
