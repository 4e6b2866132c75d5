"""What all commands of `mtbias coref` have in common: choices, defaults, wrong usage."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from mtbias.cli import coref_gap_weights, coref_score, main, make_app
from mtbias.coref.documents import DATASETS
from mtbias.coref.gap_weights import PROPERTIES
from tests.coref.small_corpora import write_winobias

WINOBIAS = ["score", "winobias", "--data", "x", "--baseline"]


def _choices(hint: object) -> list[object]:
    """The values of a Literal, wherever it stands within a type."""
    return [
        value
        for part in get_args(hint)
        for value in (_choices(part) or [part])
        if value is not type(None)
    ]


@pytest.mark.parametrize(
    ("of", "option", "library"),
    [
        (coref_score.command, "dataset", DATASETS),
        (coref_gap_weights.command, "over", PROPERTIES),
    ],
)
def test_choices_are_those_of_the_library(of: object, option: str, library: Iterable[str]) -> None:
    assert _choices(get_type_hints(of)[option]) == list(library)


@pytest.mark.parametrize(
    "words", [[*WINOBIAS, "first"], ["eval", "--system", "stanza", "--out", "x"]]
)
def test_a_seed_leaves_the_resamples_as_they_are(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for seed in ([], ["--seed", "0"], ["--seed", "7"]):
        _, bound, _ = make_app().parse_args(["coref", *words, *seed])
        # An option that is not given is not among the arguments: the default of its parameter
        # counts.
        settings = bound.arguments.get("bootstrap", bound.signature.parameters["bootstrap"].default)
        assert (settings.seed, settings.resamples) == (int(seed[-1]) if seed else 0, 10_000)
    assert main(["coref", words[0], "--help"]) == 0
    assert "[default: 10000]" in " ".join(capsys.readouterr().out.replace("│", " ").split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([*WINOBIAS, "first", "--seed", "-1"], "--seed: expected a whole number of at least 0"),
        (["score", "bug", "--data", "x"], "nothing to score: give --predictions FILE"),
        (["score", "bug", "--data", "x", "--predictions", "y", "--nope"], "Unknown option: --nope"),
        (
            ["score", "bug", "--data", "x", "--baseline", "first"],
            "--baseline goes with winobias and gap and conll, not",
        ),
        (
            ["score", "gap", "--predictions", "y", "--over", "occupations"],
            "--over goes with winobias and bug and sow",
        ),
        (["score", "bugs"], 'Invalid value "bugs" for DATASET'),
        (
            ["augment", "--data", "x", "--out", "y", "--kind", "all"],
            'Invalid value "all" for --kind',
        ),
        (
            ["augment", "--data", "x", "--out", "y", "--kind", "names", "--max-names", "0"],
            "--max-names. Must be >= 1",
        ),
        (["gap-weights", "--data", "x", "--over", "all"], 'Invalid value "all" for --over'),
    ],
)
def test_wrong_usage_ends_with_2_and_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["coref", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


def test_each_system_has_its_own_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # The same clusters, once with ends included, once excluded.
    write_winobias(tmp_path)
    ids = [f"nw/{condition}//{n}" for condition in ("pro", "anti") for n in range(3)]
    for name, end in (("included", 0), ("excluded", 1)):
        lines = [json.dumps({"id": id_, "clusters": [[[0, 1 + end], [6, 6 + end]]]}) for id_ in ids]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    words = [
        "coref",
        "score",
        "winobias",
        "--data",
        str(tmp_path),
        "--predictions",
        str(tmp_path / "included.jsonl"),
    ]
    words += ["--against", str(tmp_path / "excluded.jsonl"), "--resamples", "200", "--json"]

    def differences() -> dict[str, Any]:
        return {one["key"]: one for one in json.loads(capsys.readouterr().out)["differences"]}

    assert main([*words, "--spans", "included", "--spans", "excluded"]) == 0
    said = differences()
    assert {one["difference"] for one in said.values()} == {0.0}
    assert said["link_pro"]["values"][0] == pytest.approx(
        100 / 3
    )  # the plumber in the first sentence
    assert main(words) == 1
    assert (
        "excluded.jsonl:1: id 'nw/pro//0': cannot tell what mentions count"
        in capsys.readouterr().err
    )
    assert main([*words, "--spans", "included"]) == 0  # of both, wrong for the second
    assert differences()["f1_pro"]["difference"] > 0
    assert main([*words, *(["--spans", "included"] * 3)]) == 2
    assert (
        "--spans: expected it once, or once for each of 2 systems, got it 3 times"
        in capsys.readouterr().err
    )
