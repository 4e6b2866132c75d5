"""Winogender's public files and the figures of its paper (Rudinger et al., NAACL 2018, N18-2002).

Its Tables 1 and 2 and Figure 4 need the outputs of its three systems, which are not published.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from mtbias.coref.documents import Answers
from mtbias.coref.winogender import Resolution, Winogender, read_winogender
from mtbias.types import Gender


@pytest.fixture(scope="module")
def data(shared: Path) -> Winogender:
    return read_winogender(shared / "data" / "coref" / "winogender")


def test_sentences(data: Winogender) -> None:
    """Section 3: 60 occupations, 120 templates, 720 sentences, the same number for each pronoun and
    answer."""
    assert len(data.sentences) == 720
    assert len({sentence.occupation for sentence in data.sentences.values()}) == len(data.bls) == 60
    assert (
        Counter((s.pronoun, s.answer, s.someone) for s in data.sentences.values()).most_common()[
            -1
        ][1]
        == 60
    )


def test_text_and_labour_statistics_correlate(data: Winogender) -> None:
    """Figure 3: Pearson's r = 0.67 between Bergsma and Lin (2006) and BLS, the former with less
    women throughout."""
    occupations = list(data.bls)
    bls, bergsma = ([shares[name] for name in occupations] for shares in (data.bls, data.bergsma))
    assert round(float(np.corrcoef(bls, bergsma)[0, 1]), 2) == 0.67
    assert sum(text < labour for text, labour in zip(bergsma, bls, strict=True)) > 45


def test_a_system_that_gives_each_pronoun_to_the_labour_statistics(data: Winogender) -> None:
    """Correlations of a rule system: preference +100 where BLS has half women or more, −100
    elsewhere."""
    resolutions = {}
    for id_, sentence in data.sentences.items():
        women = data.bls[sentence.occupation] >= 50
        fits = women == (sentence.pronoun is Gender.FEMALE)
        resolutions[id_] = Resolution.OCCUPATION if fits else Resolution.PARTICIPANT
    numbers = data.score(Answers(resolutions, {}), resamples=200)
    preference = [100 if data.bls[name] >= 50 else -100 for name in data.bls]
    for name, shares in (("bls", data.bls), ("bergsma", data.bergsma)):
        expected = float(np.corrcoef(preference, list(shares.values()))[0, 1])
        assert numbers[f"pearson_{name}"].value == pytest.approx(expected)
    assert numbers["male_female_differ"].value == 100
    assert (numbers["male_accuracy_gotcha"].value, numbers["male_accuracy_not_gotcha"].value) == (
        0,
        100,
    )
    # Half of each pronoun's 240 sentences are gotcha ones, since every occupation has both answers.
    assert numbers["female_accuracy_gotcha"].n == numbers["male_accuracy_not_gotcha"].n == 120
