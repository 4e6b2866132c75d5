"""Publishing: what is refused, and that a result has the run's numbers, its warnings, and no
sentence."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from mtbias.errors import DataError, MtbiasError, RunFolderError, SettingError
from mtbias.report.publishing import (
    About,
    PublishedResult,
    make_results,
    read_checked,
    read_results,
    write_results,
)
from mtbias.report.results_page import publish
from mtbias.settings import BootstrapSettings

from .run_maker import RESAMPLES, make_records, rewrite_metrics, untranslated, write_run

RIGHT = [n % 5 > 0 for n in range(80)]
"""64 of 80: wrong are 0, 5, 10, …, of which every other is a man's."""
LESS = [n % 5 > 2 for n in range(80)]


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return write_run(tmp_path / "alpha", "alpha", make_records(RIGHT))


def _published(path: Path, *folders: Path, n_resamples: int = RESAMPLES) -> list[PublishedResult]:
    """The results of the runs, in their order, written and read again."""
    made = make_results([read_checked(folder) for folder in folders], n_resamples=n_resamples)
    write_results(made, path)
    read = {result.fingerprint: result for result in read_results(path)}
    return [read[result.fingerprint] for result in made]


def test_a_result_has_the_numbers_of_the_run_with_intervals_and_denominators(
    one: Path, tmp_path: Path
) -> None:
    (result,) = _published(tmp_path / "results.jsonl", one)
    assert (result.system, result.language, result.corpus.name, result.sentences) == (
        "alpha",
        "de",
        "own",
        80,
    )
    number = result.number("accuracy")
    assert number is not None
    assert (number.value, dict(number.rows), number.method) == (80.0, {"n": 80}, "wilson")
    # Wilson's interval of 64 of 80 (Wilson 1927), by hand: (p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) /
    # (1 + z²/n), z = 1.96.
    assert number.interval == pytest.approx((69.94, 87.26), abs=0.05)
    gap = result.number("delta_g")
    assert gap is not None
    assert dict(gap.rows) == {"male": 40, "female": 40}
    assert (gap.value, gap.unit, gap.best) == (0.0, "points", "zero")
    assert result.calls == sha256((one / "calls.jsonl").read_bytes()).hexdigest()
    metrics = json.loads((one / "metrics.json").read_bytes())
    assert {n.key: n.value for n in result.numbers} == {
        n.key: metrics["overall"][n.key] for n in result.numbers
    }


def test_no_sentence_leaves_the_run(one: Path, tmp_path: Path) -> None:
    _published(tmp_path / "results.jsonl", one)
    text = (tmp_path / "results.jsonl").read_text(encoding="utf-8")
    for record in make_records(RIGHT):
        assert record.source not in text
        assert f'"{record.translation}"' not in text


def test_runs_given_together_are_tested_and_both_lines_say_so(one: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "beta", "beta", make_records(LESS))
    first, second = _published(tmp_path / "results.jsonl", one, other)
    (here,), (there,) = first.comparisons, second.comparisons
    assert (here.fingerprint, here.calls) == second.identity
    assert (there.fingerprint, there.calls) == first.identity
    # 64 of 80 are right in the first and 32 in the second.
    assert here.numbers["accuracy"].difference == 40.0
    assert here.numbers == {key: found.turned() for key, found in there.numbers.items()}
    # All 32 sentences that differ speak for the first: no rearrangement of 200 comes near, so p is
    # the smallest.
    assert here.numbers["accuracy"].p == pytest.approx(1 / (RESAMPLES + 1), abs=1e-6)


def test_runs_of_another_evaluator_corpus_or_language_are_not_tested(
    one: Path, tmp_path: Path
) -> None:
    others = [
        write_run(tmp_path / "a", "beta", make_records(LESS), plugin="de/2"),
        write_run(tmp_path / "b", "beta", make_records(LESS), data={"own.tsv": "ff00"}),
        write_run(tmp_path / "c", "beta", make_records(LESS), lang="es"),
    ]
    results = _published(tmp_path / "results.jsonl", one, *others)
    assert [result.comparisons for result in results] == [()] * 4


def test_without_resamples_nothing_is_tested(one: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "beta", "beta", make_records(LESS))
    results = _published(tmp_path / "results.jsonl", one, other, n_resamples=0)
    assert not any(result.comparisons for result in results)


def test_warnings_are_carried_along(tmp_path: Path) -> None:
    run = write_run(tmp_path / "alpha", "alpha", untranslated(make_records(RIGHT)))
    (result,) = _published(tmp_path / "results.jsonl", run)
    assert "80 of 80" in result.warnings[0]
    assert result.alarms["raised"]


def test_what_the_user_says_is_kept(one: Path) -> None:
    about = About("Alpha 2", "https://example.org/alpha", "Beam 5.", "MIT")
    (result,) = make_results([read_checked(one)], [about], n_resamples=0)
    assert (result.system, result.link, result.note, result.licence) == (
        about.name,
        about.link,
        about.note,
        "MIT",
    )


def test_a_run_published_again_replaces_its_result_and_others_stay(
    one: Path, tmp_path: Path
) -> None:
    other = write_run(tmp_path / "beta", "beta", make_records(LESS))
    out = tmp_path / "site"
    publish([one, other], out, note="checked", bootstrap=BootstrapSettings(resamples=RESAMPLES))
    publish([one], out, ["Alpha 2"], bootstrap=BootstrapSettings(resamples=RESAMPLES))
    beta, alpha = sorted(
        read_results(out / "results.jsonl"), key=lambda result: result.system, reverse=True
    )
    assert (alpha.system, alpha.note, beta.system) == ("Alpha 2", "checked", "beta")
    # Both lines still hold the test of both.
    for line, tested in ((alpha, beta), (beta, alpha)):
        ((comparison,),) = (line.comparisons,)
        assert (comparison.fingerprint, comparison.calls) == tested.identity
    third = write_run(tmp_path / "gamma", "gamma", make_records(LESS[::-1]))
    publish(
        [one, third],
        out,
        ["Alpha 2", "gamma"],
        note="again",
        bootstrap=BootstrapSettings(resamples=RESAMPLES),
    )
    (alpha,) = (
        result for result in read_results(out / "results.jsonl") if result.system == "Alpha 2"
    )
    assert (alpha.note, len(alpha.comparisons)) == ("again", 2)
    with pytest.raises(SettingError, match="note: expected the runs that it is about"):
        publish([], out, note="of none")
    page = (out / "index.html").read_bytes()
    (out / "index.html").unlink()
    publish([], out)
    assert (out / "index.html").read_bytes() == page


def test_a_name_that_is_there_is_refused_before_anything_is_written(
    one: Path, tmp_path: Path
) -> None:
    out = tmp_path / "site"
    publish([one], out)
    before = {path: path.read_bytes() for path in out.iterdir()}
    other = write_run(tmp_path / "beta", "beta", make_records(LESS))
    with pytest.raises(
        DataError, match="expected a name for each system, got 'alpha' twice on own in de"
    ):
        publish([other], out, ["alpha"])
    assert {path: path.read_bytes() for path in out.iterdir()} == before


def test_a_run_that_is_not_complete_is_refused(one: Path) -> None:
    (one / "metrics.json").unlink()
    with pytest.raises(RunFolderError, match=r"not finished, there is no metrics\.json"):
        read_checked(one)


def test_changed_calls_are_refused(one: Path) -> None:
    calls = one / "calls.jsonl"
    calls.write_text(
        calls.read_text(encoding="utf-8").replace('"gender": "male"', '"gender": "female"', 1),
        "utf-8",
    )
    with pytest.raises(
        RunFolderError, match=r"calls\.jsonl was changed since metrics\.json was computed from it"
    ):
        read_checked(one)


def test_changed_numbers_are_refused(one: Path) -> None:
    file = one / "metrics.json"
    file.write_text(
        file.read_text(encoding="utf-8").replace('"accuracy": 80.0', '"accuracy": 90.0', 1), "utf-8"
    )
    with pytest.raises(RunFolderError, match=r"metrics\.json was changed since it was written"):
        read_checked(one)


def test_numbers_that_do_not_follow_from_the_calls_are_refused_even_with_their_hash(
    one: Path,
) -> None:
    rewrite_metrics(one, lambda content: content["overall"].update(accuracy=90.0))
    with pytest.raises(
        DataError, match=r"expected what follows from calls\.jsonl, got other content \(overall\)"
    ):
        read_checked(one)


def test_a_hidden_warning_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "alpha", "alpha", untranslated(make_records(RIGHT)))
    rewrite_metrics(run, lambda content: content["alarms"].update(raised=[]))
    with pytest.raises(DataError, match=r"got other content \(alarms\)"):
        read_checked(run)
    rewrite_metrics(run, lambda content: content.pop("alarms"))
    with pytest.raises(DataError, match=r"got other content \(alarms"):
        read_checked(run)


def test_another_signature_is_refused(one: Path) -> None:
    manifest = one / "manifest.json"
    manifest.write_text(
        manifest.read_text(encoding="utf-8").replace("system:alpha", "system:gamma"), "utf-8"
    )
    with pytest.raises(
        DataError,
        match=r"manifest\.json: expected the signature dataset:own\|lang:de\|system:alpha",
    ):
        read_checked(one)


def test_another_identity_under_the_old_fingerprint_is_refused(one: Path) -> None:
    manifest = one / "manifest.json"
    manifest.write_text(
        manifest.read_text(encoding="utf-8").replace('"system": "alpha"', '"system": "gamma"'),
        "utf-8",
    )
    with pytest.raises(MtbiasError, match="fingerprint"):
        read_checked(one)


def test_a_run_twice_and_a_name_twice_are_refused(one: Path, tmp_path: Path) -> None:
    run = read_checked(one)
    with pytest.raises(DataError, match="expected each run once"):
        make_results([run, run], n_resamples=0)
    other = read_checked(write_run(tmp_path / "beta", "beta", make_records(LESS)))
    with pytest.raises(
        DataError, match="expected a name for each system, got 'x' twice on own in de"
    ):
        make_results([run, other], [About("x"), About("x")], n_resamples=0)


def test_translations_of_another_run_are_refused_even_with_their_hash(one: Path) -> None:
    file = one / "translations.jsonl"
    file.write_text(file.read_text(encoding="utf-8").replace("Satz 7", "Satz 8"), encoding="utf-8")
    digest = sha256(file.read_bytes()).hexdigest()
    rewrite_metrics(one, lambda content: content["files"].update({"translations.jsonl": digest}))
    with pytest.raises(
        DataError,
        match=r"translations\.jsonl: expected the translations of calls\.jsonl, got others",
    ):
        read_checked(one)


def test_another_number_of_rows_is_refused_even_with_its_hash(one: Path) -> None:
    rewrite_metrics(one, lambda content: content["corpus"].update(rows=81))
    with pytest.raises(
        DataError, match=r"expected what follows from calls\.jsonl, got other content \(corpus\)"
    ):
        read_checked(one)
