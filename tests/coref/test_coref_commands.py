"""What all commands of `mtbias coref` have in common: choices, defaults, wrong usage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args, get_type_hints

import pytest

from mtbias.cli import app, coref_gap_weights, coref_sowinobias, coref_winobias, main
from mtbias.coref.gap_example_weights import PROPERTIES
from mtbias.coref.sowinobias import Reading
from mtbias.coref.winobias_data import Baseline

WINOBIAS = ["winobias", "--data", "x", "--baseline"]


def _choices(hint: object) -> list[object]:
    """The values of a Literal, wherever it stands within a type."""
    return [value for part in get_args(hint) for value in (_choices(part) or [part]) if value is not type(None)]


@pytest.mark.parametrize(
    ("of", "option", "library"),
    [
        (coref_winobias.command, "baseline", get_args(Baseline)),
        (coref_sowinobias.command, "n", get_args(Reading)),
        (coref_gap_weights.command, "over", PROPERTIES),
    ],
)
def test_choices_are_those_of_the_library(of: object, option: str, library: Iterable[str]) -> None:
    assert _choices(get_type_hints(of)[option]) == list(library)


@pytest.mark.parametrize(
    ("words", "resamples"),
    [
        ([*WINOBIAS, "first"], 10_000),
        (["winogender", "--data", "x", "--predictions", "y"], 10_000),
        (["counter-gap", "--data", "x", "--predictions", "y"], 10_000),
        (["bug", "--data", "x", "--predictions", "y"], 10_000),
        (["gap", "--data", "x", "--predictions", "y"], 2000),
        (["sowinobias", "--predictions", "x"], 2000),
    ],
)
def test_a_seed_leaves_the_resamples_as_they_are(
    words: list[str], resamples: int, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed in ([], ["--seed", "0"], ["--seed", "7"]):
        _, bound, _ = app.parse_args(["coref", *words, *seed])
        # An option that is not given is not among the arguments: the default of its parameter counts.
        settings = bound.arguments.get("bootstrap", bound.signature.parameters["bootstrap"].default)
        assert (settings.seed, settings.resamples) == (int(seed[-1]) if seed else 0, resamples)
    assert main(["coref", words[0], "--help"]) == 0
    assert f"[default: {resamples}]" in " ".join(capsys.readouterr().out.replace("│", " ").split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["winobias", "--baseline", "first"], "parameter --data requires an argument"),
        (
            ["winobias", "--data", "x", "--baseline", "best"],
            'Invalid value "best" for --baseline. Choose from: "first"',
        ),
        (
            ["winobias", "--data", "x", "--baseline", "first", "--seed", "-1"],
            "--seed: expected a whole number of at least 0",
        ),
        (["bug", "--data", "x"], "parameter --predictions requires an argument"),
        (["bug", "--data", "x", "--predictions", "y", "--nope"], "Unknown option: --nope"),
        (["augment", "--data", "x", "--out", "y", "--kind", "all"], 'Invalid value "all" for --kind'),
        (["augment", "--data", "x", "--out", "y", "--kind", "names", "--max-names", "0"], "--max-names. Must be >= 1"),
        (["gap-weights", "--data", "x", "--over", "all"], 'Invalid value "all" for --over'),
        (["sowinobias", "--n", "some"], 'Invalid value "some" for --n'),
    ],
)
def test_wrong_usage_ends_with_2_and_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coref", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
