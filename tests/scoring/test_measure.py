"""Measures by their names, what each says of itself, and what is usual."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mtbias.cluster.inventory import inventory
from mtbias.cluster.sweep_file import Sweep
from mtbias.corpora.corpus import GENDER
from mtbias.entry_points import installed
from mtbias.errors import PluginError, SettingError
from mtbias.evaluation.preparation import _measure_kind
from mtbias.files.text_repair import KINDS
from mtbias.scoring.measure import GROUP, Measure, find_measure, measure_entry, measure_in
from mtbias.settings import ScoreSettings

USES = {
    "gender": {"aligner", "evidence"},  # the entity's words are aligned, their gender is read
    "gest": set[str](),  # the speaker is read from verbs, nothing is aligned
    "mt-geneval": {"variant", "scores"},  # words are compared with references
    "mt-geneval-context": {"variant"},
    "whole-person": {"aligner"},  # nouns are read by the tables; other words have one reader only
}
SET = {
    "aligner": ScoreSettings(aligner="eflomal"),
    "evidence": ScoreSettings(evidence="stanza"),
    "scores": ScoreSettings(scores=Path("comet.tsv")),
    "variant": ScoreSettings(variant="repository"),
}
USUAL = """\
from mtbias.scoring.measure import MeasureKind

class Kind(MeasureKind):
    def open(self, options):
        raise NotImplementedError
    def read(self, line):
        raise NotImplementedError

TOY = Kind()
"""


def test_every_measure_is_listed_here() -> None:
    ours = {name for name, made in installed(GROUP).items() if made[0].startswith("mtbias ")}
    assert ours == USES.keys()


@pytest.mark.parametrize("setting", SET)
@pytest.mark.parametrize("name", USES)
def test_a_setting_is_refused_where_it_changes_nothing(name: str, setting: str) -> None:
    if setting in USES[name]:
        assert _measure_kind(name, SET[setting]) is find_measure(name)
        return
    with pytest.raises(SettingError, match="; leave it out here") as caught:
        _measure_kind(name, SET[setting])
    assert caught.value.setting == setting


def test_what_is_not_set_is_refused_nowhere() -> None:
    for name in USES:
        assert _measure_kind(name, ScoreSettings()) is find_measure(name)


def test_stanza_is_needed_where_genders_are_read_and_an_aligner_for_entities(
    tmp_path: Path,
) -> None:
    def kinds(dataset: str) -> set[str]:
        sweep = Sweep(
            out=tmp_path / "out",
            models=("opus-mt",),
            languages=("de",),
            datasets=(dataset,),
            aligner="neural",
            cache_dir=tmp_path,
        )
        return {part.kind for part in inventory(sweep)}

    assert kinds("winomt") == {"model", "data", "stanza", "aligner"}
    assert kinds("gest") == {"model", "data", "stanza"}
    assert kinds("mt-geneval") == {"model", "data"}


def test_a_plugin_says_only_what_is_unusual(install: Callable[..., None]) -> None:
    install("toy-measure", "toy", "toy_measure", USUAL, group=GROUP)
    kind = find_measure("toy")
    assert (kind.uses, kind.needs_stanza, kind.reads_entities) == (frozenset(), False, False)
    assert kind.repairs == KINDS


def test_what_is_no_measure_is_refused_with_its_distribution(install: Callable[..., None]) -> None:
    install("toy-measure", "toy", "toy_measure", "TOY = len\n", group=GROUP)
    with pytest.raises(PluginError) as caught:
        find_measure("toy")
    expected = "expected a mtbias.scoring.measure.MeasureKind, got <built-in function len>"
    assert str(caught.value) == f"measure 'toy' of toy-measure 1.0: {expected}"


def test_a_measure_need_not_begin_early_nor_refuse_anything() -> None:
    class Silent(Measure):
        identity = {"silent": True}  # noqa: RUF012

        def judge(self, *_: object) -> list[object]:  # type: ignore[override]
            return []

    silent = Silent()
    silent.check([], [])
    silent.hint(["Der Arzt kam."])
    silent.abandon()
    assert silent.execution == {}


def test_files_name_no_measure_where_it_is_the_default() -> None:
    # Runs that were made before there were others have no key either.
    assert measure_entry(GENDER) == {}
    assert measure_entry("gest") == {"measure": "gest"}
    assert [measure_in(measure_entry(name)) for name in USES] == [*USES]
