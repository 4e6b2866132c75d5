"""Controlled translation: who obeys, what would be so anyway, and what it costs.

The sentences are the first 40 of the demo's corpus, 20 pairs of a man and a woman, with their
German references, in each of which the person stands in the source's gender.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sacrebleu

from mtbias.api import Run, score
from mtbias.cli import main
from mtbias.corpora import load_entities
from mtbias.demo import reference_file
from mtbias.errors import DataError, UsageError
from mtbias.report.controlled_tables import finding, render_controlled
from mtbias.scoring.controlled import ControlledRuns, Obedience, compare_asked
from mtbias.settings import ScoreSettings
from mtbias.stats.results import Difference
from mtbias.types import Gender, Instance

N, HALF = 40, 20
DISOBEYED = 10
"""Women who stay women in what is asked for in the masculine."""
SETTINGS = ScoreSettings(dataset="demo", stanza_dir=Path("mtbias:demo"), resamples=0, part=True)


def sentences() -> list[Instance]:
    return list(load_entities("demo", None).instances[:N])


def references(lang: str = "de") -> dict[str, str]:
    rows = reference_file(lang).read_text(encoding="utf-8").splitlines()[1:]
    return dict(row.split("\t") for row in rows)


def asked_for(gender: Gender | None, *, left: int = 0) -> dict[str, str]:
    """The references of the sentences in that gender; the first women that are `left` stay women.
    None: in the source's gender."""
    own = references()
    texts = {}
    for each in sentences():
        stays = gender is None or each.gold is gender or (each.gold is Gender.FEMALE and left > 0)
        left -= int(each.gold is Gender.FEMALE)
        texts[each.id] = own[each.id if stays else str(each.pair)]
    return texts


TEXTS = {
    "none": asked_for(None),
    "female": asked_for(Gender.FEMALE),
    "male": asked_for(Gender.MALE, left=DISOBEYED),
}


def run(asked: str, out: Path | None = None, lang: str = "de") -> Run:
    return score(TEXTS[asked], lang, system=f"S-{asked}", out=out, settings=SETTINGS)


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    return {asked: run(asked) for asked in TEXTS}


@pytest.fixture(scope="module")
def found(runs: dict[str, Run]) -> ControlledRuns:
    return compare_asked(runs)


def of(found: ControlledRuns, asked: Gender, group: str) -> Obedience:
    (one,) = (each for each in found.obedience if (each.asked, each.group) == (asked, group))
    return one


def changed(one: Obedience) -> tuple[float | None, ...]:
    assert one.change is not None
    return one.obeys.value, one.change.second, one.change.difference


def test_who_obeys_and_who_would_anyway(found: ControlledRuns) -> None:
    # Asked for in the feminine all 40 are; in the masculine the 20 men and 10 of the 20 women.
    # Without saying, 20 of 40 stand in either gender: all of the source's, none of the other.
    assert changed(of(found, Gender.FEMALE, "all")) == (100, 50, 50)
    assert changed(of(found, Gender.FEMALE, "male")) == (100, 0, 100)
    assert changed(of(found, Gender.FEMALE, "female")) == (100, 100, 0)
    assert changed(of(found, Gender.MALE, "all")) == (75, 50, 25)
    assert changed(of(found, Gender.MALE, "male")) == (100, 100, 0)
    assert changed(of(found, Gender.MALE, "female")) == (50, 0, 50)
    assert {one.group for one in found.obedience} == {"all", "male", "female"}


def test_denominators_and_counts(found: ControlledRuns) -> None:
    whole = of(found, Gender.MALE, "all")
    assert (whole.n, whole.obeys.n) == (N, N)
    assert whole.counts == {"male": 30, "female": 10, "neutral": 0, "none": 0}
    women = of(found, Gender.MALE, "female")
    assert (women.n, women.counts) == (HALF, {"male": 10, "female": 10, "neutral": 0, "none": 0})


def test_intervals_of_shares_are_wilsons(found: ControlledRuns) -> None:
    # 30 of 40, z = 1.959964, z² = 3.841459: the middle is (0.75 + z²/80) / (1 + z²/40) = 0.728093,
    # half the width z·√(0.75·0.25/40 + z²/6400) / (1 + z²/40) = 0.130034.
    interval = of(found, Gender.MALE, "all").obeys.interval
    assert interval == pytest.approx((59.8059, 85.8127), abs=1e-3)
    # All of n: the upper end is 100, the lower 100·n/(n + z²) = 4000/43.841459.
    assert of(found, Gender.FEMALE, "all").obeys.interval == pytest.approx((91.2379, 100), abs=1e-3)


def test_gaps_are_over_the_same_sentences(found: ControlledRuns) -> None:
    gaps = {group: gap.difference for group, gap in found.gaps.items()}
    assert gaps == {"all": 75 - 100, "male": 0, "female": 50 - 100}


def test_p_is_exact_and_corrected_over_all_tests_together(found: ControlledRuns) -> None:
    # 10 sentences differ, all in one direction: 2 of the 2¹⁰ exchanges give as much, p = 2/1024.
    # 20 differ: of 2,000 drawn exchanges none gives as much, p = 1/2001. None differs: p = 1.
    of_men = of(found, Gender.MALE, "female").change
    of_women = of(found, Gender.FEMALE, "male").change
    nothing = of(found, Gender.FEMALE, "female").change
    assert of_men is not None
    assert of_women is not None
    assert nothing is not None
    assert (of_men.p, of_women.p, nothing.p) == pytest.approx((2 / 1024, 1 / 2001, 1))
    # Nine tests: two of 1/2001, four of 2/1024, three of 1. Holm: 9 · 1/2001; then 7 · 2/1024.
    assert found.tests == 9
    assert (of_women.p_holm, of_men.p_holm, nothing.p_holm) == pytest.approx(
        (9 / 2001, 14 / 1024, 1)
    )
    assert found.gaps["all"].p_holm == pytest.approx(14 / 1024)


def test_bootstrap_of_a_difference_of_shares(found: ControlledRuns) -> None:
    # 10 of 40 sentences change, a binomial share: √(0.25·0.75/40) = 6.85 points, times 1.96 is 13.4.
    change = of(found, Gender.MALE, "all").change
    assert change is not None
    assert change.interval == pytest.approx((25 - 13.4, 25 + 13.4), abs=2.5)


def test_what_asking_costs_against_references(runs: dict[str, Run]) -> None:
    found = compare_asked(runs, dict.fromkeys(TEXTS, references()))
    scores = {(one.asked, one.metric): one for one in found.quality}
    assert len(scores) == 6
    # Without saying, the translations are the references: 100 by the definition of both scores.
    for metric, function in (("bleu", sacrebleu.corpus_bleu), ("chrf", sacrebleu.corpus_chrf)):
        assert scores["none", metric].score.value == pytest.approx(100)
        texts = [TEXTS["male"][each.id] for each in sentences()]
        own = [references()[each.id] for each in sentences()]
        one = scores["male", metric]
        assert one.score.value == pytest.approx(function(texts, [own]).score)
        assert one.score.n == N
        assert one.change is not None
        assert one.score.value is not None
        assert one.change.difference == pytest.approx(one.score.value - 100)
        assert one.change.interval is not None
        assert one.change.interval[1] < 0
    assert any("bleu:nrefs:1" in signature for signature in found.quality_signatures)
    assert "quality:" in found.signature


def test_references_of_some_sentences_count_these(runs: dict[str, Run]) -> None:
    some = {each.id: references()[each.id] for each in sentences()[:12]}
    found = compare_asked(runs, {"female": some})
    assert [(one.asked, one.score.n, one.change) for one in found.quality] == [
        ("female", 12, None),
        ("female", 12, None),
    ]
    with pytest.raises(DataError, match="no sentence has a reference"):
        compare_asked(runs, {"female": {"other": "X"}})


def test_without_a_run_that_was_not_asked_nothing_is_compared(runs: dict[str, Run]) -> None:
    found = compare_asked({"female": runs["female"]})
    assert [one.change for one in found.obedience] == [None] * 3
    assert (found.gaps, found.tests) == ({}, 0)
    assert list(finding(found)) == [
        "Asked for in the feminine, 100.0 % [91.2, 100.0] of 40 sentences are in it."
    ]


def test_sentences_that_tell_no_gender_are_a_group_of_their_own() -> None:
    texts = ["Die Pilotin schlief.", "Der Pilot ging.", "Die Pilotin sprach."]
    settings = ScoreSettings(stanza_dir=Path("mtbias:demo"), resamples=0)
    one = score(
        texts,
        "de",
        sources=["The pilot slept.", "The pilot left.", "The pilot spoke."],
        entities=["pilot"] * 3,
        genders=["unknown", "unknown", "female"],
        settings=settings,
    )
    found = compare_asked({"female": one})
    assert {each.group: (each.n, each.counts["female"]) for each in found.obedience} == {
        "all": (3, 2),
        "female": (1, 1),
        "unknown": (2, 1),
    }


def test_what_cannot_be_compared(runs: dict[str, Run]) -> None:
    with pytest.raises(
        UsageError, match="expected what was asked for, none, female, male, got 'f'"
    ):
        compare_asked({"f": runs["female"]})
    with pytest.raises(UsageError, match="asked for in the female or the male gender"):
        compare_asked({"none": runs["none"]})
    with pytest.raises(UsageError, match="asked for as its references are, male"):
        compare_asked({"female": runs["female"]}, {"male": references()})
    spanish = score(references("es"), "es", system="S", settings=SETTINGS)
    with pytest.raises(DataError, match="expected runs of one language, got de, es"):
        compare_asked({"female": runs["female"], "male": spanish})


def test_words_say_what_asking_changes(found: ControlledRuns) -> None:
    assert list(finding(found)) == [
        "Asked for in the feminine, 100.0 % [91.2, 100.0] of 40 sentences are in it; 50.0 % are without being asked.",
        "Asked for in the masculine, 75.0 % [59.8, 85.8] of 40 sentences are in it; 50.0 % are without being asked.",
        f"The feminine is obeyed more often: masculine − feminine -25.0 points {_ends(found.gaps['all'])}.",
    ]


def _ends(difference: Difference) -> str:
    assert difference.interval is not None
    low, high = difference.interval
    return f"[{low:.1f}, {high:.1f}]"


def test_a_system_that_does_not_listen(runs: dict[str, Run], tmp_path: Path) -> None:
    deaf = score(TEXTS["none"], "de", system="deaf", out=tmp_path / "deaf", settings=SETTINGS)
    said = list(finding(compare_asked({"none": runs["none"], "female": deaf})))
    (sentence,) = said
    assert sentence.startswith("Asked for in the feminine, 50.0 % [35.2, 64.8] of 40 sentences")
    assert sentence.endswith("50.0 % are without being asked: asking makes no clear difference.")


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_every_form_has_the_numbers(found: ControlledRuns, form: str) -> None:
    shown = render_controlled(found, form)
    assert "75.0 [59.8, 85.8]" in shown or "75.0 {\\scriptsize [59.8, 85.8]}" in shown
    assert found.signature in shown or form == "markdown"


def test_the_command_reads_folders(
    tmp_path: Path, found: ControlledRuns, capsys: pytest.CaptureFixture[str]
) -> None:
    words = []
    for asked in TEXTS:
        run(asked, tmp_path / asked)
        words.append(f"{asked}={tmp_path / asked}")
    table = tmp_path / "references.tsv"
    lines = "".join(f"{id_}\t{text}\n" for id_, text in references().items())
    table.write_text(f"id\ttarget\n{lines}", encoding="utf-8")
    assert main(["controlled", *words, "--references", str(table), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert [each["obeys"] for each in content["obedience"]] == [
        each.obeys.value for each in found.obedience
    ]
    assert content["gaps"]["all"]["difference"] == -25
    assert {each["score"]["n"] for each in content["quality"]} == {N}
    assert main(["controlled", *words]) == 0
    assert capsys.readouterr().out.startswith("Asked for in the feminine, 100.0 %")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["runs/x"], "expected none=RUN, female=RUN, male=RUN, got 'runs/x'"),
        (["female=a", "female=b"], "expected one RUN asked for as female, got a and b"),
        (["female="], "got 'female='"),
    ],
)
def test_the_command_says_how_runs_are_named(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["controlled", *words]) == 2
    assert says in capsys.readouterr().err
