"""The Python API gives what the commands give, in objects; what is wrong is an error of mtbias."""

from __future__ import annotations

import copy
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

import mtbias
from mtbias.api import Run
from mtbias.cli import main
from mtbias.corpora import load_corpus
from mtbias.demo import demo_file, reference_file
from mtbias.errors import DataError, MissingResourceError, RunFolderError, UsageError
from mtbias.machine.stage_progress import ProgressLine
from mtbias.report.comparison_tables import render_comparison
from mtbias.runs.call_records import metrics_text
from mtbias.settings import BootstrapSettings, EvalSettings, ScoreSettings

ROWS = 48
STANZA = "mtbias:demo"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first rows of the demo's corpus."""
    path = tmp_path_factory.mktemp("data") / "corpus.tsv"
    lines = demo_file().read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[: ROWS + 1]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def _eval(data: Path, cache: Path) -> EvalSettings:
    return EvalSettings(
        dataset="demo",
        data=data,
        beams=2,
        stanza_dir=Path(STANZA),
        cache_dir=cache,
        device="cpu",
        offline=True,
    )


def _score(data: Path | None, cache: Path) -> ScoreSettings:
    return ScoreSettings(dataset="demo", data=data, stanza_dir=Path(STANZA), cache_dir=cache)


@pytest.fixture(scope="module")
def run(data: Path, cache: Path) -> Run:
    return mtbias.evaluate("demo", "de", settings=_eval(data, cache))


@pytest.fixture(scope="module")
def folder(data: Path, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the command writes for the same run."""
    out = tmp_path_factory.mktemp("runs") / "demo-de"
    options = [
        "--dataset",
        "demo",
        "--data",
        data,
        "--beams",
        "2",
        "--stanza-dir",
        STANZA,
        "--cache-dir",
        cache,
    ]
    command = ["eval", "--model", "demo", "--lang", "de", *options, "--offline", "--out", out]
    assert main([str(part) for part in command]) == 0
    return out


@pytest.fixture(scope="module")
def references(data: Path) -> list[str]:
    """Correct translations of those rows, in their order."""
    table = pd.read_csv(reference_file("de"), sep="\t").set_index("id")["target"]
    return [table[i.id] for i in load_corpus("demo", data).instances]


def test_evaluate_gives_the_bytes_of_the_command(run: Run, folder: Path, tmp_path: Path) -> None:
    written = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    hashes = written.pop("files")  # a run in memory has no files
    del written["sha256"]
    assert metrics_text(run.metrics) == metrics_text(written)
    assert run.metrics["n"] == len(run.calls) == ROWS
    assert set(hashes) == {"calls.jsonl", "translations.jsonl"}
    lines = (folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [record.to_json() for record in run.calls]


def test_a_folder_that_the_api_writes_is_the_one_of_the_command(
    folder: Path, data: Path, cache: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    found = mtbias.evaluate("demo", "de", out=out, settings=_eval(data, cache))
    for name in ("metrics.json", "calls.jsonl", "translations.jsonl"):
        assert (out / name).read_bytes() == (folder / name).read_bytes(), name
    # The page names the folder, in the command that explains a call.
    page = (out / "report.html").read_text(encoding="utf-8")
    assert f"mtbias explain --stanza-dir mtbias:demo {out} demo-" in page
    expected = (folder / "report.html").read_text(encoding="utf-8")
    assert page.replace(str(out), str(folder)) == expected
    assert found.path == out
    assert mtbias.read_run(out).metrics == found.metrics


def test_score_gives_the_bytes_of_the_command(
    folder: Path, data: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "translations.jsonl"
    found = mtbias.score(file, "de", settings=_score(data, cache))
    options = [
        "--dataset",
        "demo",
        "--data",
        data,
        "--stanza-dir",
        STANZA,
        "--cache-dir",
        cache,
        "--json",
    ]
    assert (
        main([str(part) for part in ["score", "--translations", file, "--lang", "de", *options]])
        == 0
    )
    assert metrics_text(found.metrics) == capsys.readouterr().out


@pytest.mark.parametrize("form", ["sequence", "mapping", "file"])
def test_translations_in_memory_are_those_of_a_file(
    form: str, references: list[str], data: Path, cache: Path, tmp_path: Path
) -> None:
    ids = [i.id for i in load_corpus("demo", data).instances]
    by_id = dict(zip(ids, references, strict=True))
    file = tmp_path / "translations.jsonl"
    lines = [
        json.dumps({"id": id_, "target": text}, ensure_ascii=False) + "\n"
        for id_, text in by_id.items()
    ]
    file.write_text("".join(lines), encoding="utf-8")
    given: str | Sequence[str] | Mapping[str, str]
    given = references if form == "sequence" else by_id if form == "mapping" else str(file)
    found = mtbias.score(given, "de", settings=_score(data, cache))
    expected = mtbias.score(file, "de", settings=_score(data, cache))
    assert metrics_text(found.metrics) == metrics_text(expected.metrics)
    # Every reference is right by construction: all of accuracy and F1 are 100, so ΔG and ΔS are 0.
    overall = found.scores.overall
    assert [overall[key].value for key in ("accuracy", "delta_g", "delta_s")] == [100.0, 0.0, 0.0]


def test_sentences_in_memory_have_the_numbers_of_the_command(
    references: list[str],
    data: Path,
    cache: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = load_corpus("demo", data).instances
    columns = {
        "source": [row.source for row in rows],
        "entity": [row.entity for row in rows],
        "gender": [str(row.gold) for row in rows],
        "stereotype": [row.stereotype.value for row in rows],
    }
    texts = [
        *references[1:],
        references[0],
    ]  # of other sentences, so some are wrong or without a call
    settings = ScoreSettings(stanza_dir=Path(STANZA), cache_dir=cache)
    before = sorted(tmp_path.iterdir())
    sources, entities, genders, stereotypes = columns.values()
    found = mtbias.score(
        texts,
        "de",
        sources=sources,
        entities=entities,
        genders=genders,
        stereotypes=stereotypes,
        settings=settings,
    )
    assert sorted(tmp_path.iterdir()) == before == []

    file, given = tmp_path / "sentences.jsonl", tmp_path / "translations.jsonl"
    lines = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    ids = [f"custom-{n:05d}" for n in range(1, len(texts) + 1)]
    made = [{"id": id_, "target": text} for id_, text in zip(ids, texts, strict=True)]
    given.write_text(
        "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in made), encoding="utf-8"
    )
    command = [
        "score",
        "--translations",
        given,
        "--lang",
        "de",
        "--dataset",
        "custom",
        "--data",
        file,
        "--json",
    ]
    capsys.readouterr()
    assert (
        main([str(part) for part in [*command, "--stanza-dir", STANZA, "--cache-dir", cache]]) == 0
    )
    assert metrics_text(found.metrics) == capsys.readouterr().out
    assert found.scores.overall["accuracy"].interval is not None
    first, *rest = str(found).splitlines()
    assert first.startswith(
        "WARNING: 2 of 48 translations are much longer"
    )  # they are other sentences'
    assert any(line.startswith(f"{ROWS} sentences, ") for line in rest)


def test_sentences_in_memory_that_do_not_fit_are_refused(cache: Path) -> None:
    one = partial(mtbias.score, ["Der Koch."], "de", sources=["The cook."])
    with pytest.raises(
        UsageError, match="of the same length, got 1 of source, 2 of entity, 1 of gender"
    ):
        one(entities=["cook", "cook"], genders=["male"])
    with pytest.raises(
        UsageError,
        match="expected sources, entities and genders of the same length, got 1 of source",
    ):
        one()
    with pytest.raises(
        DataError, match=r"sentences\.jsonl:1: expected entity 'baker' once in the sentence"
    ):
        one(entities=["baker"], genders=["male"])
    with pytest.raises(UsageError, match="got both; leave one out"):
        one(entities=["cook"], genders=["male"], settings=_score(None, cache))


def test_a_missing_translation_is_counted(references: list[str], data: Path, cache: Path) -> None:
    given = [
        None,
        "",
        *references[2:],
    ]  # 47 of 48 have a target, the empty one too: 97.9 per cent, enough
    found = mtbias.score(given, "de", settings=_score(data, cache), system="mine")
    counts = found.metrics["translations"]
    assert (counts["missing"], counts["empty"], found.system) == (1, 1, "mine")
    assert found.metrics["reasons"] == {"untranslated": 2}
    assert found.scores.overall["accuracy"].value == pytest.approx(100 * 46 / 48)


def test_the_scores_are_the_metrics_unrounded(run: Run) -> None:
    scores = run.scores
    made = scores.to_json(signature=run.signature, fingerprint=run.manifest.fingerprint)
    assert made == {name: run.metrics[name] for name in made}
    assert scores.overall["delta_g"].interval is not None
    assert run.signature == run.metrics["signature"]
    assert (run.system, run.lang, run.corpus[0], run.path) == ("demo", "de", "demo", None)
    assert repr(run) == "Run('demo', lang='de', dataset='demo', n=48)"


def test_the_numbers_as_a_frame(run: Run) -> None:
    frame = run.to_frame()
    overall = frame.iloc[0].to_dict()
    assert (overall["breakdown"], overall["group"], overall["n"]) == ("overall", "", ROWS)
    domains = frame[frame["breakdown"] == "by_domain"]
    assert domains["n"].sum() == ROWS
    assert overall["accuracy"] == pytest.approx(run.metrics["overall"]["accuracy"], abs=1e-6)


def test_the_sentences_as_a_frame(run: Run) -> None:
    frame = run.calls_frame()
    assert list(frame.index) == [record.id for record in run.calls]
    expected = "row source translation entity gold stereotype domain pronouns distance pair control gender reason"
    expected += " stanza_gender does basis trust"
    assert list(frame.columns) == [*expected.split(), "correct", "target", "decided_by", "edits"]
    # Accuracy is the share of correct rows, rows without a call included.
    assert 100 * frame["correct"].mean() == pytest.approx(
        run.metrics["overall"]["accuracy"], abs=1e-6
    )
    assert frame["gender"].notna().sum() == run.metrics["decided"]
    assert frame["decided_by"].value_counts().to_dict() == run.metrics["evidence"]
    first = run.calls[0]
    assert frame["source"].iloc[0] == first.source
    assert first.translation is not None
    start, end = first.call.target[0]
    assert str(frame["target"].iloc[0]).startswith(first.translation[start:end])


def test_a_run_in_memory_has_the_report_of_the_folder(
    run: Run, folder: Path, tmp_path: Path
) -> None:
    written = run.report(tmp_path / "page.html")
    page = (folder / "report.html").read_text(encoding="utf-8")
    day, of_files = (
        r" · scored \d{4}-\d\d-\d\d ",
        r"<dd>SHA-256 of (translations|calls)\.jsonl: .*</dd>\n",
    )
    # Nor is there a folder to name in the command that explains a call.
    command = r'<dt>all steps</dt>.*\n|The command at the end .*\n|"explain": \["[^"]*"\]'
    shown = [re.sub(day, " · scored ", re.sub(of_files, "", page))]
    shown.append(re.sub(day, " · scored ", written.read_text(encoding="utf-8")))
    expected, found = (re.sub(command, "", text) for text in shown)
    assert found == expected


def test_compare_gives_what_the_command_gives(
    run: Run,
    folder: Path,
    references: list[str],
    data: Path,
    cache: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "reference"
    right = mtbias.score(
        references, "de", out=out, settings=_score(data, cache), system="reference"
    )
    assert main(["compare", str(folder), str(out), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert json.loads(json.dumps(mtbias.compare(run, right).to_json())) == printed
    assert json.loads(json.dumps(mtbias.compare(folder, str(out)).to_json())) == printed
    with pytest.raises(UsageError, match="got none"):
        mtbias.compare()
    with pytest.raises(DataError, match="two runs or more"):
        mtbias.compare(run)


def test_progress_is_told(references: list[str], data: Path, cache: Path) -> None:
    stages: dict[str, tuple[int, int]] = {}
    mtbias.score(
        references, "de", settings=_score(data, cache),
        progress=lambda stage, done, total: stages.update({stage: (done, total)}),
    )  # fmt: skip
    assert list(stages) == ["align", "analyse", "decide"]
    assert stages["decide"] == (ROWS, ROWS)


def test_progress_true_shows_lines_on_standard_error(
    references: list[str],
    data: Path,
    cache: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mtbias.api.ProgressLine", partial(ProgressLine, interval=0))
    mtbias.score(references, "de", settings=_score(data, cache), progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert [line.split()[0] for line in lines] == sorted(
        line.split()[0] for line in lines
    )  # align, analyse, decide
    assert lines[0].startswith(f"align {ROWS} of {ROWS} (100 %), ")
    assert lines[0].endswith(" sentences/s, 00:00 left")
    mtbias.score(references, "de", settings=_score(data, cache))
    assert capsys.readouterr() == ("", "")


def test_a_run_is_printed_as_the_table_of_the_command(
    folder: Path, data: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "translations.jsonl"
    run = mtbias.score(file, "de", settings=_score(data, cache))
    print(run)
    table = capsys.readouterr().out
    options = ["--dataset", "demo", "--data", data, "--stanza-dir", STANZA, "--cache-dir", cache]
    assert (
        main([str(part) for part in ["score", "--translations", file, "--lang", "de", *options]])
        == 0
    )
    assert capsys.readouterr().out == table
    assert str(run).startswith(f"{ROWS} sentences, ")


def test_a_notebook_shows_the_numbers_escaped(run: Run, folder: Path) -> None:
    page = run._repr_html_()
    overall = run.metrics["overall"]
    row = re.search(r'<tr><th scope="row">ΔG</th><td>(.*?)</td><td>(.*?)</td>', page)
    assert row is not None
    low, high = overall["ci"]["delta_g"]
    assert row.groups() == (f"{overall['delta_g']:.1f}", f"[{low:.1f}, {high:.1f}]")
    assert f"<caption>{ROWS} sentences, " in page
    assert "Precision, male" in page
    named = replace(run, metrics={**run.metrics, "signature": "<script>alert(1)</script>"})
    assert "&lt;script&gt;alert(1)" in named._repr_html_()
    assert "<script" not in named._repr_html_()


def test_a_notebook_shows_first_what_was_found(run: Run, folder: Path) -> None:
    said = run.metrics["finding"][0]["text"]
    assert run._repr_html_().startswith(f"<p><strong>{said}</strong></p>\n")
    other = replace(
        run, manifest=replace(run.manifest, identity={**run.manifest.identity, "system": "b"})
    )
    compared = mtbias.compare(run, other, settings=BootstrapSettings(resamples=0))
    page = compared._repr_html_()
    assert page.startswith(f"<p><strong>{compared.finding[0].text}</strong></p>\n")
    assert "about women" in page[page.index("<caption>") : page.index("</caption>")]
    assert str(compared) == render_comparison(compared).rstrip("\n")


def test_every_overall_number_is_an_attribute(run: Run) -> None:
    overall = run.metrics["overall"]
    for number in run.counting.numbers:
        assert getattr(run, number.key) == overall[number.key]
        assert number.key in dir(run)
    assert run.delta_g == overall["delta_g"]
    assert {"calls", "report", "signature"} <= set(dir(run))
    with pytest.raises(
        AttributeError,
        match=r"^a run has no 'delta_q'; did you mean delta_s or delta_i or delta_g\?",
    ):
        _ = run.delta_q
    with pytest.raises(
        AttributeError, match=r"^a run has no 'zzz'; there are decided_percent, accuracy, "
    ):
        _ = run.zzz
    alone = replace(
        run, metrics={key: part for key, part in run.metrics.items() if key != "consistency"}
    )
    assert (hasattr(run, "delta_i"), hasattr(alone, "delta_i")) == (True, False)
    assert copy.copy(run).accuracy == run.accuracy
    assert (
        pickle.loads(pickle.dumps(mtbias.Run(run.manifest, dict(run.metrics)))).accuracy
        == run.accuracy
    )


def test_numbers_over_pairs_are_attributes_where_there_are_pairs(run: Run) -> None:
    part = {"n": 4, "ci": {}}
    across = {
        **part,
        "inconsistent": 25.0,
        "male_only": 25.0,
        "female_only": 0.0,
        "both_right": 50.0,
    }
    pairs = {"across": {**across, "neither_right": 25.0}, "within": {**part, "inconsistent": None}}
    pairs["delta_i"] = {**part, "delta_i": None}
    left = {"pairs_without_controls": 4, "left_out": {}}
    consistency = {"all": pairs, "decided": pairs, **left}
    with_pairs = replace(run, metrics={**run.metrics, "consistency": consistency})
    assert (with_pairs.across, with_pairs.both_right, with_pairs.delta_i) == (25.0, 50.0, None)


def test_what_is_wrong_is_an_error_of_mtbias(
    references: list[str], data: Path, cache: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="unknown dataset"):
        mtbias.score(references, "de", settings=ScoreSettings(dataset="nonsense"))
    with pytest.raises(UsageError, match="no language 'xx' is installed; there are ar, cs, de"):
        mtbias.evaluate("demo", "xx", settings=EvalSettings(offline=True))
    settings = _score(data, cache)
    with pytest.raises(DataError, match=r"each of the corpus's 48 instances, in its order, got 47"):
        mtbias.score(references[1:], "de", settings=settings)
    with pytest.raises(DataError, match=r"got 49; or give a mapping"):
        mtbias.score([references[0], "", *references[1:]], "de", settings=settings)
    with pytest.raises(DataError, match="got none"):
        mtbias.score([None] * ROWS, "de", settings=settings)
    with pytest.raises(DataError, match="of the corpus's 48 instances, got 0;"):
        mtbias.score({"stranger": "x"}, "de", settings=settings)
    with pytest.raises(DataError, match="no such file"):
        mtbias.score(tmp_path / "absent.txt", "de", settings=settings)
    with pytest.raises(MissingResourceError, match="mtbias fetch --dataset winomt"):
        mtbias.score(references, "de", settings=ScoreSettings(cache_dir=cache))
    with pytest.raises(MissingResourceError):
        mtbias.evaluate(
            "demo", "de", settings=EvalSettings(dataset="winomt", cache_dir=cache, offline=True)
        )
    with pytest.raises(RunFolderError, match="no such file"):
        mtbias.read_run(tmp_path / "absent")
    for systems, langs in (({}, ["de"]), ({"a": "x"}, [])):
        with pytest.raises(UsageError, match="expected systems and languages, got"):
            mtbias.score_systems(systems, langs, tmp_path)
    with pytest.raises(UsageError, match=r"x\.txt: expected a system's name .*; give NAME=FILE"):
        mtbias.score_systems({"": "x.txt"}, ["de"], tmp_path)


def test_importing_the_package_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys, mtbias; assert 'mtbias.api' not in sys.modules; mtbias.evaluate, mtbias.score, mtbias.read_run;"
        "heavy = {'torch', 'stanza', 'pandas', 'transformers', 'scipy'};"
        "print(heavy & set(sys.modules), dir(mtbias)[:1])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set() ['EvalSettings']\n"
    with pytest.raises(AttributeError, match="'mtbias' has no attribute 'nonsense'"):
        mtbias.nonsense  # type: ignore[attr-defined] # noqa: B018
