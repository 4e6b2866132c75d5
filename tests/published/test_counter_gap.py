"""Xie et al., *Counter-GAP* (EACL 2023), tables 2, 3 and 4, from the predictions published with the
paper."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from mtbias.coref.counter_gap import METRICS, CounterGap, quadruples
from mtbias.coref.counterfactual_quadruples import (
    make_quadruple,
    name_people,
    originals,
    proper_nouns,
    write_quadruples,
)
from mtbias.coref.dataset import DatasetScores
from mtbias.coref.gap import Gap
from mtbias.coref.gap_data import GapFile, read_instances
from mtbias.english.gender_swap import her_is_object, tokenize
from mtbias.english.people import EXAMPLE_NAMES, proper_names, read_names
from mtbias.morphology.stanza_models import StanzaModels, find_package
from mtbias.types import Span

# Per cent with two decimals, ρ with three, in the order of METRICS. One cell differs from the
# paper: ρ of SpanBERT-base is printed there as -0.060 and comes out as -0.0569, with the authors'
# own program too.
PRINTED = {
    "bert_base": (
        "61.33 63.12 59.53 3.59 15.47 16.47 -1.00 15.97 18.26 23.25 -4.99 20.76 4.79 61.58 61.08 0.50 -0.083"
    ),
    "bert_large": (
        "72.36 72.60 72.11 0.50 10.28 10.28 0.00 10.28 10.88 14.27 -3.39 12.57 2.30 72.06 72.65 -0.60 -0.065"
    ),
    "spanbert_base": (
        "70.21 71.36 69.06 2.30 9.98 12.18 -2.20 11.08 12.18 15.07 -2.89 13.62 2.54 70.21 70.21 0.00 -0.057"
    ),
    "spanbert_large": (
        "76.32 77.25 75.40 1.85 5.79 6.29 -0.50 6.04 6.89 8.18 -1.30 7.53 1.50 76.55 76.10 0.45 -0.030"
    ),
}

# Which differences have a star (p < .01) in tables 2, 3 and 4: Acc_M - Acc_F, ΔI, original -
# counterfactual.
STARS = {
    "bert_base": (True, True, False),
    "bert_large": (False, True, False),
    "spanbert_base": (True, True, False),
    "spanbert_large": (True, True, False),
}


# Two models' predictions are in the public data; the others are tested where somebody has put
# theirs beside them.
EVERYWHERE = {"bert_base", "spanbert_large"}


def _is_here(model: str) -> bool:
    public = Path(os.environ.get("MTBIAS_SHARED", "../shared"))
    return model in EVERYWHERE or (public / f"data/coref/countergap/{model}_output.tsv").is_file()


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    folder = shared / "data" / "coref" / "countergap"
    if not folder.is_dir():
        pytest.skip(f"no Counter-GAP at {folder}")
    return folder


@pytest.fixture(scope="module")
def data(folder: Path) -> GapFile:
    return read_instances(folder / "C-GAP.tsv")


@pytest.fixture(scope="module")
def scored(folder: Path, data: GapFile) -> Callable[[str], DatasetScores]:
    """The scores of a model, each read once."""
    counter_gap = CounterGap(data, quadruples(data))
    return cache(
        lambda model: counter_gap.score(
            counter_gap.read([folder / f"{model}_output.tsv"]), resamples=10_000
        )
    )


@pytest.mark.parametrize("model", [model for model in PRINTED if _is_here(model)])
def test_tables_2_to_4(scored: Callable[[str], DatasetScores], model: str) -> None:
    scores = scored(model)
    assert scores.counts["quadruples"] == {"all": 1002, "masculine": 501, "feminine": 501}
    cells = PRINTED[model].split()
    printed = dict(zip(list(METRICS)[: len(cells)], cells, strict=True))
    ours = {name: scores[name].value for name in printed}
    assert {
        name: "None" if value is None else f"{value + 0.0:.{3 if name == 'rho' else 2}f}"
        for name, value in ours.items()
    } == printed


def test_our_gap_of_table_5(
    scored: Callable[[str], DatasetScores], folder: Path, data: GapFile
) -> None:
    # SpanBERT-large on the originals: masculine, feminine, their difference, all; as GAP's texts
    # count, of which is the row above it, "original GAP": 85.10, 79.80, +5.30, 82.45 (outputs
    # unpublished).
    own = scored("spanbert_large")
    originals = Gap(replace(data, instances=tuple(i for i in data.instances if "-" not in i.id)))
    by_texts = originals.score(originals.read([folder / "spanbert_large_output.tsv"]), resamples=0)
    groups = ("masculine", "feminine", "difference", "overall")
    for ours in (
        [own[name].value for name in ("own_m", "own_f", "own_diff", "own")],
        [by_texts[f"texts:{group}"].value for group in groups],
    ):
        assert [None if value is None else f"{value:.2f}" for value in ours] == [
            "75.25",
            "78.44",
            "-3.19",
            "76.85",
        ]


@pytest.mark.parametrize("model", [model for model in STARS if _is_here(model)])
def test_stars(scored: Callable[[str], DatasetScores], model: str) -> None:
    scores = scored(model)
    p = [scores[name].p_one_sided for name in ("acc_diff", "delta", "counter_diff")]
    assert tuple(value is not None and value < 0.01 for value in p) == STARS[model]


def test_correlation_of_bert_base_is_significant_although_the_paper_says_none_is(
    scored: Callable[[str], DatasetScores],
) -> None:
    p = scored("bert_base")["rho"].p
    assert p == pytest.approx(0.0088, abs=5e-5)


def test_the_data_set(data: GapFile) -> None:
    # COREF.md: 4008 rows, read as quoted; 32 quadruples in which neither candidate is meant.
    assert data.quoted
    assert len(data.instances) == 4008
    assert sum(not any(i.gold) for i in data.instances) == 128


def _same(data: GapFile, proper: Callable[[str], Iterable[Span]]) -> dict[str, int]:
    """How many counterfactuals of the 1002 originals are the data set's, given the people of the
    other gender."""
    names = read_names(EXAMPLE_NAMES)
    same = {"-control": 0, "-swap-1": 0, "-swap-2": 0}
    for quadruple in quadruples(data):
        original, _, swap_1, _ = quadruple.instances
        given = replace(original, others=dict(zip("CD", swap_1.names, strict=True)))
        made = make_quadruple(given, name_people(given, names, proper(original.text)))
        for role, ours, theirs in zip(
            same, made.instances[1:], quadruple.instances[1:], strict=True
        ):
            assert ours.id == theirs.id
            if ours.text == theirs.text:
                same[role] += 1
                # Where the texts are equal, so is all else: pronoun, names, labels and offsets.
                assert replace(ours, others=theirs.others) == theirs
    return same


def test_counterfactuals_are_those_of_the_data_set(data: GapFile) -> None:
    """Section 2.2; without a tagger, which finds the forms of the four names, they are fewer."""
    assert _same(data, lambda _: ()) == {"-control": 906, "-swap-1": 788, "-swap-2": 788}


@pytest.mark.exhaustive
def test_people_and_their_counterfactuals_with_a_tagger(
    data: GapFile, stanza_dir: Path, tmp_path: Path
) -> None:
    """The others differ in words (maid, madam), in forms of names, in the reading of *her*, and in
    *hers*, which the data set leaves as it is.
    """
    models = StanzaModels(find_package("en", stanza_dir), "cpu")
    texts = [i.text for i in originals(data.instances)]
    analyses = models.analyse(texts)
    found = {a.text: list(proper_names(a.text, proper_nouns(a))) for a in analyses}
    assert _same(data, found.__getitem__) == {"-control": 944, "-swap-1": 810, "-swap-2": 810}
    report = write_quadruples(data.path, tmp_path / "out.tsv", lambda _: analyses)
    assert (
        report.counts["  other people of the text"] == 248
    )  # with the names of gender-guesser 940


def test_her_is_read_as_in_the_data_set(data: GapFile) -> None:
    """The rule for *her* against the counterfactuals: right where they have him for an object and
    his for a possessive.

    Only quadruples whose other form is word for word parallel, names aside. The data set has errors
    of its own. The rule's word lists were finished on these texts, so this is no estimate for
    others: on half of the books, unseen until then, 494 of 519 (95.2 %) were right.
    """
    right = all_ = 0
    for quadruple in quadruples(data):
        original, swapped = quadruple.instances[0], quadruple.instances[2]
        names = {word for i in (original, swapped) for name in i.names for word in name.split()}
        ours, theirs = ([t.text for t in tokenize(i.text)] for i in (original, swapped))
        if len(ours) != len(theirs) or any(len(name.split()) > 1 for name in names):
            continue
        for n, (word, other) in enumerate(zip(ours, theirs, strict=True)):
            if word.lower() == "her" and other.lower() in {"him", "his"}:
                all_ += 1
                right += her_is_object(ours, n)[0] == (other.lower() == "him")
    assert (right, all_) == (1096, 1124)
