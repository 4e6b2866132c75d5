"""`mtbias coref eval`: what `mtbias coref score` gives for each data set, in one table; kept,
resumed and compared."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mtbias.cli import main
from mtbias.coref.coref_datasets import file_notes, located, open_dataset
from mtbias.coref.dataset import CorefDataset
from mtbias.coref.documents import Clusters, CorefText, DatasetName
from mtbias.coref.evaluation import compare_evaluations, evaluate, read_evaluation
from mtbias.coref.gap_data import GapInstance, write_instances
from mtbias.coref.systems import Put
from mtbias.errors import DataError, MissingResourceError, UsageError
from mtbias.files.writing import write_atomic
from mtbias.report.coref_page import render_coref_page
from mtbias.settings import BootstrapSettings
from mtbias.stats.results import rounded
from mtbias.types import Span
from scripts.toy_coref import MEN, WOMEN, sentences, write_bug
from tests.coref.small_corpora import gap_instance, write_winobias, write_winogender
from tests.printing import check_prints

SETTINGS = BootstrapSettings(seed=3, resamples=200)
# A system: the first pronoun, the article before it or the first word, and the word behind that.
SYSTEM = """
import json, sys
pronouns = {"he", "she", "his", "her", "him", "they", "their"}
with open(sys.argv[1]) as given, open(sys.argv[2], "w") as made:
    for line in given:
        one = json.loads(line)
        words = [word.lower() for word in one["tokens"]]
        at = next((n for n, word in enumerate(words) if word in pronouns), None)
        person = int(sys.argv[3]) * (len(words) > 4)
        clusters = [] if at is None else [[[person, person + (words[person] == "the")], [at, at]]]
        print(json.dumps({"id": one["id"], "clusters": clusters}), file=made)
"""


def _instance(id_: str, pronoun: str, a_is_meant: bool) -> GapInstance:
    return gap_instance(
        id_,
        f"Kim met Lee. Then {pronoun} left.",
        pronoun,
        18,
        "Kim",
        0,
        a_is_meant,
        "Lee",
        8,
        not a_is_meant,
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of small data sets, laid out by their names."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("winobias", "winogender", "gap", "counter-gap", "bug"):
        (folder / name).mkdir()
    write_winobias(folder / "winobias")
    write_winogender(folder / "winogender")
    gap = [_instance(f"t-{n}", "she" if n % 2 else "he", n % 3 > 0) for n in range(24)]
    write_atomic(folder / "gap" / "gap-test.tsv", write_instances(gap).encode())
    quadruples = [
        _instance(f"{n}{role}", ("he", "she")[(n + swapped) % 2], n % 3 > 0)
        for n in range(12)
        for role, swapped in (("", 0), ("-control", 0), ("-swap-1", 1), ("-swap-2", 1))
    ]
    write_atomic(folder / "counter-gap" / "C-GAP.tsv", write_instances(quadruples).encode())
    write_bug(
        folder / "bug" / "gold_BUG.csv", sentences(30, 1) + sentences(20, 2, stereotypical=False)
    )
    lists = {"male_occupations": MEN[:3], "female_occupations": WOMEN[:3], "positive_adjectives": ["kind", "new"],
             "negative_adjectives": ["late"]}  # fmt: skip
    text = "".join(f"{name} = {json.dumps(words)}\n" for name, words in lists.items())
    (folder / "sowinobias.toml").write_text(text, encoding="utf-8")
    (folder / "system.py").write_text(SYSTEM, encoding="utf-8")
    return folder


def _words(data: Path, out: Path, person: int = 0) -> list[str]:
    command = f"{sys.executable} {data / 'system.py'} {{in}} {{out}} {person}"
    words = [
        "coref",
        "eval",
        "--system",
        "command",
        "--command",
        command,
        "--data",
        str(data),
        "--out",
        str(out),
    ]
    return [*words, "--spans", "included", "--seed", "3", "--resamples", "200"]


@pytest.fixture(scope="module")
def out(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The evaluation of the system with the first word."""
    folder = tmp_path_factory.mktemp("runs") / "first"
    assert main(_words(data, folder)) == 0
    return folder


PLACES = {
    "winobias": "winobias",
    "winogender": "winogender",
    "gap": "gap",
    "counter-gap": "counter-gap/C-GAP.tsv",
    "bug": "bug",
    "sowinobias": "sowinobias.toml",
}


def _scored(
    name: str, data: Path, capsys: pytest.CaptureFixture[str], file: Path, *more: object
) -> Mapping[str, Any]:
    """What `mtbias coref score` says of a file."""
    words = ["coref", "score", name, "--data", data / PLACES[name], "--predictions", file, *more]
    assert (
        main(
            [*map(str, words), "--spans", "included", "--seed", "3", "--resamples", "200", "--json"]
        )
        == 0
    )
    said: Mapping[str, Any] = json.loads(capsys.readouterr().out)
    return said


DATASETS = tuple(PLACES)
"""Those that are found in a folder; of CoNLL files, which have no place of their own, there is a
test of theirs."""


@pytest.mark.parametrize("name", DATASETS)
def test_numbers_and_signature_are_those_of_coref_score(
    name: str, data: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (said,) = _scored(name, data, capsys, out / f"{name}.jsonl")["systems"]
    ours = json.loads((out / "metrics.json").read_text(encoding="utf-8"))["datasets"][name]
    assert {key: ours[key] for key in ours if key != "notes"} == rounded(
        {key: value for key, value in said.items() if key not in {"name", "dataset", "notes"}}
    )
    # Averages, differences and shares that are tested have a two-sided p.
    assert any(one["p"] is not None for one in ours["numbers"]) == (
        name in {"winobias", "counter-gap", "sowinobias"}
    )


def test_correlations_and_biases_have_three_decimals_and_all_else_two(
    data: Path, out: Path
) -> None:
    opened = [open_dataset(name, place) for name, place in located({}, [data]).items()]
    results = read_evaluation(out, opened, SETTINGS).results
    three = {
        one.key for result in results.values() for one in result.scores.numbers if one.decimals == 3
    }
    correlations = {f"{of}_{by}" for of in ("pearson", "spearman") for by in ("bls", "bergsma")}
    assert three == correlations | {"rho", "bias:f1", "bias:accuracy"}


def test_denominators_by_hand(out: Path) -> None:
    content = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    n = {
        (name, one["part"], one["key"]): one["n"]
        for name, of in content["datasets"].items()
        for one in of["numbers"]
    }
    assert (
        n["winobias", "dev type 1", "f1_pro"] == n["winobias", "dev type 1", "link_difference"] == 3
    )
    # 3 occupations, 2 answers, with and without "someone", 3 pronouns.
    assert n["winogender", "", "consistency"] == n["winogender", "", "male_accuracy"] == 12
    assert n["winogender", "", "pearson_bls"] == 3
    # Always "Kim" (A), TRUE in 16 of 24: 16 are found, 24 are claimed.
    assert (
        n["gap", "", "f1:overall"]
        == n["gap", "", "accuracy:overall"]
        == n["gap", "", "precision:overall"]
        == 24
    )
    assert n["counter-gap", "", "accuracy"] == 48
    assert n["bug", "", "accuracy"] == n["bug", "", "delta_g"] == n["bug", "", "delta_s"] == 50
    # 3 · 3 occupations, 2 positive adjectives and 1 negative.
    assert n["sowinobias", "", "positive:pro"] == 18
    assert n["sowinobias", "", "all:difference"] == 27


def test_metrics_keep_their_schema_and_nothing_else_is_left(out: Path) -> None:
    schemas = Path(__file__).resolve().parents[2] / "docs" / "schemas"
    schema = json.loads((schemas / "coref_metrics.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    content = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(content)
    assert list(content["datasets"]) == list(DATASETS)
    content["datasets"]["gap"]["numbers"][0]["value"] = "70 %"
    assert not Draft202012Validator(schema).is_valid(content)
    names = {f"{name}{ending}" for name in DATASETS for ending in (".jsonl", ".run.json")}
    assert {path.name for path in out.iterdir()} == names | {"metrics.json", "report.html", ".lock"}


class Counting:
    """Links the first word and the pronoun; is stopped after so many documents, and knows which it
    was asked for."""

    def __init__(self, stops_after: int = 10**6, name: str = "counting") -> None:
        self.signature, self.notes, self._left = name, ("read somehow",), stops_after
        self.asked: list[str] = []

    def resolve(self, texts: Sequence[CorefText], put: Put) -> None:
        for text in texts:
            if not self._left:
                raise KeyboardInterrupt
            self._left -= 1
            self.asked.append(text.id)
            put(text.id, _clusters(text))


def _clusters(text: CorefText) -> Clusters:
    at = next(
        n
        for n, word in enumerate(text.tokens)
        if n and word in {"he", "she", "his", "her", "they", "their"}
    )
    return (((0, 0), (at, at)),)


def _two(data: Path) -> list[CorefDataset]:
    return [open_dataset("winogender", data / "winogender"), open_dataset("bug", data / "bug")]


def test_a_stopped_evaluation_resumes_with_the_same_bytes(data: Path, tmp_path: Path) -> None:
    opened = _two(data)
    assert [len(one.texts) for one in opened] == [36, 50]
    evaluate(Counting(), opened, tmp_path / "whole", SETTINGS)
    with pytest.raises(KeyboardInterrupt):
        evaluate(Counting(40), opened, tmp_path / "stopped", SETTINGS)  # 4 of the second data set
    assert not (tmp_path / "stopped" / "metrics.json").exists()
    system = Counting()
    evaluate(system, opened, tmp_path / "stopped", SETTINGS)
    assert system.asked == [text.id for text in opened[1].texts[4:]]
    for path in (tmp_path / "whole").iterdir():
        assert path.read_bytes() == (tmp_path / "stopped" / path.name).read_bytes(), path.name
    metrics = json.loads((tmp_path / "stopped" / "metrics.json").read_text(encoding="utf-8"))
    unpublished = [
        f"{name} is not the published file"
        for name in ("all_sentences.tsv", "occupations-stats.tsv")
    ]
    assert metrics["datasets"]["winogender"]["notes"] == ["read somehow", *unpublished]
    again = Counting()
    evaluate(again, opened, tmp_path / "stopped", SETTINGS)
    assert again.asked == []


def test_published_files_have_no_note(shared: Path) -> None:
    folder = shared / "data" / "coref"
    places: dict[DatasetName, Path] = {
        "winobias": folder / "winobias",
        "winogender": folder / "winogender",
        "gap": folder / "gap",
        "counter-gap": folder / "countergap" / "C-GAP.tsv",
        "bug": shared / "data" / "bug" / "gold_BUG.csv",
    }
    for name, place in places.items():
        opened = open_dataset(name, place)
        assert opened.files
        assert file_notes(opened) == []


def test_a_kill_around_the_record_loses_nothing(data: Path, tmp_path: Path) -> None:
    bug = [open_dataset("bug", data / "bug")]
    evaluate(Counting(), bug, tmp_path, SETTINGS)
    clusters, record = tmp_path / "bug.jsonl", tmp_path / "bug.run.json"
    whole = {path: path.read_bytes() for path in tmp_path.iterdir()}
    # Before the record: what is to be said of the clusters is lost, and they are found again.
    # After it: they get their name. Without clusters, they are found again.
    for is_recorded, left, asked in (
        (False, "bug.jsonl.new", 50),
        (True, "bug.jsonl.new", 0),
        (True, "elsewhere", 50),
    ):
        clusters.rename(tmp_path / left)
        if not is_recorded:
            record.unlink()
            (tmp_path / "metrics.json").unlink()
        system = Counting()
        evaluate(system, bug, tmp_path, SETTINGS)
        assert len(system.asked) == asked
        (tmp_path / "elsewhere").unlink(missing_ok=True)
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == whole


def test_files_of_other_origin_are_not_written_over(data: Path, tmp_path: Path) -> None:
    bug = [open_dataset("bug", data / "bug")]
    for name, said in (("bug.jsonl", "this file is there already, without bug.run.json"),
                       ("metrics.json", "this is of something else than `mtbias coref eval`")):  # fmt: skip
        out = tmp_path / name.partition(".")[0]
        out.mkdir()
        (out / name).write_text("{}\n", encoding="utf-8")
        with pytest.raises(DataError, match=rf"{name}: {said}"):
            evaluate(Counting(), bug, out, SETTINGS)
        assert (out / name).read_text(encoding="utf-8") == "{}\n"


def test_what_is_of_another_system_or_data_or_was_changed_is_refused(
    data: Path, tmp_path: Path
) -> None:
    opened = _two(data)
    evaluate(Counting(), opened, tmp_path, SETTINGS)
    with pytest.raises(
        DataError,
        match=r"bug\.run\.json: this was found by counting, and now the system is other: ",
    ):
        evaluate(Counting(name="other"), opened[:1], tmp_path, SETTINGS)
    write_bug(tmp_path / "other.csv", sentences(10, 7))
    other = open_dataset("bug", tmp_path / "other.csv")
    with pytest.raises(
        DataError, match=r"bug\.jsonl: this was found in other documents than bug has now"
    ):
        evaluate(Counting(), [other], tmp_path, SETTINGS)
    with pytest.raises(DataError, match="this was found in other documents"):
        read_evaluation(tmp_path, [other], SETTINGS)
    (tmp_path / "bug.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"bug\.jsonl: this file was changed since the system was run \(bug"
    ):
        evaluate(Counting(), opened, tmp_path, SETTINGS)
    (tmp_path / "bug.run.json").write_text("{}", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"bug\.run\.json: expected a record .*system: expected this key"
    ):
        evaluate(Counting(), opened, tmp_path, SETTINGS)
    with pytest.raises(
        DataError, match="expected a folder of `mtbias coref eval` with winogender, bug"
    ):
        read_evaluation(tmp_path / "none", opened, SETTINGS)


def test_what_is_there_is_checked_before_the_system_runs(data: Path, tmp_path: Path) -> None:
    first, second = _two(data)
    evaluate(Counting(), [second], tmp_path / "changed", SETTINGS)
    (tmp_path / "others").mkdir()
    for name, said in (("changed", "was changed since"), ("others", "is there already")):
        (tmp_path / name / "bug.jsonl").write_text("{}\n", encoding="utf-8")
        system = Counting()
        with pytest.raises(DataError, match=rf"bug\.jsonl: this file {said}"):
            evaluate(system, [first, second], tmp_path / name, SETTINGS)
        assert system.asked == []


@pytest.mark.parametrize(
    "name", ["winobias", "winogender", "bug", "sowinobias", "gap", "counter-gap"]
)
def test_differences_are_those_of_coref_score(
    name: str, data: Path, out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, out = tmp_path / "fifth", Path(shutil.copytree(out, tmp_path / "first"))
    assert main([*_words(data, other, 4), "--dataset", name]) == 0
    capsys.readouterr()
    assert main([*_words(data, out), "--dataset", name, "--against", str(other), "--json"]) == 0
    ours = json.loads(capsys.readouterr().out)["against"]
    files = [folder / f"{name}.jsonl" for folder in (out, other)]
    theirs = _scored(name, data, capsys, files[0], "--against", files[1])["differences"]
    names = {"first", "second"}
    assert [{key: one[key] for key in one if key not in names} for one in ours] == [
        {key: one[key] for key in one if key not in names} for one in theirs
    ]
    assert {(one["first"], one["second"], one["dataset"]) for one in ours} == {
        ("first", "fifth", name)
    }
    assert any(one["difference"] for one in ours)


def test_several_systems_in_one_table_and_page(data: Path, tmp_path: Path) -> None:
    opened = _two(data)
    shown = [evaluate(Counting(), opened, tmp_path / "a", SETTINGS)]
    shown.append(evaluate(Counting(name="other"), opened[1:], tmp_path / "b", SETTINGS))
    differences = compare_evaluations(shown[0], shown[1:], SETTINGS)
    assert {one.dataset for one in differences} == {"bug"}
    assert {one.difference.difference for one in differences} == {0.0}
    with pytest.raises(UsageError, match="b and c share no data set: they have bug and winogender"):
        compare_evaluations(
            shown[1], [evaluate(Counting(), opened[:1], tmp_path / "c", SETTINGS)], SETTINGS
        )


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv", "json"])
def test_forms(
    form: str, data: Path, out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, out = tmp_path / "fi<b>fth", Path(shutil.copytree(out, tmp_path / "first"))
    names = ["--dataset", "gap", "--dataset", "counter-gap"]
    assert main([*_words(data, other, 4), *names]) == 0
    capsys.readouterr()
    assert main([*_words(data, out), *names, "--against", str(other), "--format", form]) == 0
    shown = capsys.readouterr().out
    # Kim is TRUE in 16 of 24 examples: 66.67. "Then" (the fifth word) is no candidate.
    assert (
        "66.67" if form not in {"csv", "json"} else "66.66666" if form == "csv" else "66.666667"
    ) in shown
    assert "coref:gap|data:" in shown.replace("\\", "")
    if form == "csv":
        assert shown.startswith("system,minus,dataset,part,key,label,value,n,p,lower,upper,")
        assert "\nfirst,fi<b>fth,gap,,f1:overall," in shown
    if form == "latex":
        assert r"accuracy, masculine $-$ feminine & " in shown
        assert shown.isascii()  # LaTeX knows no other signs without packages
    if form == "text":
        assert "\nfirst minus fi<b>fth\n" in shown
        assert f"\nReport: {out}/report.html\n" in shown
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "fi&lt;b&gt;fth" in page
    assert "fi<b>" not in page
    assert (
        "<small>n 0</small>" in page
    )  # of the precision on GAP: it claims nothing, the first system 24
    content = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    assert list(content["datasets"]) == ["gap", "counter-gap"]
    for result in content["datasets"].values():
        assert all(one["label"].replace("'", "&#39;") in page for one in result["numbers"])
        assert result["signature"].replace("'", "&#39;") in page


def test_the_page_s_sentences(data: Path, out: Path) -> None:
    """What is right there is what the accuracies count; those of a group that flips come first."""
    opened = [open_dataset(name, place) for name, place in located({}, [data]).items()]
    evaluation = read_evaluation(out, opened, SETTINGS)
    for name in ("bug", "counter-gap"):
        result = evaluation.results[name]
        right = [text.right for text in result.texts]
        assert result.scores["accuracy"].value == pytest.approx(100 * sum(right) / len(right))
    (text,) = [text for text in evaluation.results["gap"].texts if text.id == "t-0"]
    # "Kim met Lee. Then he left.": the pronoun means B, the system links it to the first word.
    assert (text.right, text.gold, text.found) == (
        False,
        (Span(8, 11), Span(18, 20)),
        (Span(0, 3), Span(18, 20)),
    )
    groups = {
        name: len({text.group for text in of.texts}) for name, of in evaluation.results.items()
    }
    assert groups == {
        "winobias": 3,
        "winogender": 12,
        "gap": 1,
        "counter-gap": 12,
        "bug": 1,
        "sowinobias": 27,
    }
    quadruples = evaluation.results["counter-gap"]
    *before, last = quadruples.texts
    flipped = replace(quadruples, texts=(*before, replace(last, right=not last.right)))
    page = render_coref_page(
        [replace(evaluation, results={**evaluation.results, "counter-gap": flipped})], []
    )
    assert page.index("<small>11 · counter-gap · some right, some wrong</small>") < page.index(
        "· all alike</small>"
    )
    assert "sentences, whole pairs and quadruples, spread evenly" not in page
    at_most = len(page.encode()) - 1000
    small = render_coref_page([evaluation], [], max_bytes=at_most)
    assert len(small.encode()) <= at_most
    assert "sentences, whole pairs and quadruples, spread evenly" in small


def test_differences_without_resamples(data: Path, out: Path) -> None:
    settings = BootstrapSettings(resamples=0)
    one = read_evaluation(
        out, [open_dataset("counter-gap", data / PLACES["counter-gap"])], settings
    )
    differences = compare_evaluations(one, [replace(one, name="again")], settings)
    assert {(of.difference.difference, of.difference.interval) for of in differences} == {(0, None)}


def test_where_data_sets_are_looked_for(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(located({}, [data], cache=tmp_path)) == list(DATASETS)
    assert located({}, [data], ["bug"], tmp_path) == {"bug": data / "bug" / "gold_BUG.csv"}
    monkeypatch.setenv("MTBIAS_CACHE", str(tmp_path))
    fetched = tmp_path / "datasets" / "bug-gold-paper" / "gold_BUG.csv"
    fetched.parent.mkdir(parents=True)
    fetched.write_text("", encoding="utf-8")
    given = {"gap": data / "gap"}
    with pytest.raises(
        DataError,
        match=r"gold_BUG\.csv: the file in the cache is damaged: expected SHA-256 f3a47e44",
    ):
        located(given, [])
    fetched.unlink()
    assert located(given, []) == given
    # SoWinoBias is made: it needs no data, and is left out where nobody names it.
    assert located({}, [], ["sowinobias"]) == {"sowinobias": None}
    with pytest.raises(
        DataError,
        match=r"winobias: nothing at .*winobias; give its place with --data, or run: mtbias fetch --dataset winobias$",
    ):
        located({}, [], ["winobias"])
    with pytest.raises(DataError, match="no data set: neither given nor in"):
        located({}, [], cache=tmp_path / "empty")
    with pytest.raises(UsageError, match="no coreference data set 'winomt'; there are winobias, "):
        located({}, [], ["winomt"])


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (
            ["--data", "winobais=x"],
            2,
            "--data: expected NAME=PATH, or a folder, got winobais=x; did you mean winobias or ",
        ),
        (["--data", "gap=x", "--data", "gap=y"], 2, "--data: expected gap once, got x and y"),
        (["--data", "gap="], 2, "--data: expected NAME=PATH, or a folder, got gap="),
        (
            ["--data", "gap=/none"],
            1,
            "/none: there is no such file or folder; give another, or run: mtbias fetch --dataset gap",
        ),
        (["--json", "--format", "csv"], 2, "--json and --format csv exclude each other"),
        (["--against", "x/out"], 2, "expected folders of different names, got "),
        (
            ["--against", "/none", "--dataset", "sowinobias"],
            1,
            "/none: expected a folder of `mtbias coref eval`",
        ),
        (["--dataset", "winomt"], 2, 'Invalid value "winomt" for --dataset'),
    ],
)
def test_wrong_usage_is_said_in_a_line(
    options: list[str],
    code: int,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: Any,
) -> None:
    monkeypatch.setenv("MTBIAS_CACHE", str(tmp_path))
    words = [
        "coref",
        "eval",
        "--system",
        "command",
        "--command",
        "false {in} {out}",
        "--out",
        str(tmp_path / "out"),
    ]
    assert main([*words, *options]) == code
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_data_set_that_was_never_fetched_whole_is_there_only_where_it_is_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "datasets" / "winobias").mkdir(parents=True)
    given = {"bug": tmp_path / "bug.csv"}
    assert located(given, [], cache=tmp_path) == given
    with pytest.raises(MissingResourceError, match="mtbias fetch --dataset winobias"):
        located(given, [], ["winobias"], cache=tmp_path)


def test_where_one_copy_was_never_fetched_whole_another_is_taken(
    tmp_path: Path, shared: Path
) -> None:
    (tmp_path / "datasets" / "bug" / "gold_BUG.csv").mkdir(parents=True)  # no file
    whole = tmp_path / "datasets" / "bug-gold-paper" / "gold_BUG.csv"
    whole.parent.mkdir()
    shutil.copyfile(shared / "data" / "bug" / "gold_BUG.csv", whole)
    assert located({}, [], ["bug"], cache=tmp_path) == {"bug": whole}


def test_the_page_is_printed(out: Path, tmp_path: Path) -> None:
    check_prints((out / "report.html").read_text(encoding="utf-8"), tmp_path)
