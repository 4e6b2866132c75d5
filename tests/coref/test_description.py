"""`mtbias corpora describe` of the data sets of coreference."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.coref.description import TextsDescription, describe_texts
from mtbias.errors import DataError

HEADER = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tBook\n"
ROWS = (
    "1\tAnn told Bea that she won.\tshe\t18\tAnn\t0\tTRUE\tBea\t9\tFALSE\tOne\n"
    "2\tTom told Sam that he won.\the\t18\tTom\t0\tFALSE\tSam\t9\tFALSE\tTwo\n"
)


def _kinds(found: TextsDescription) -> dict[str, int]:
    return {str(kind["kind"]): int(kind["texts"]) for kind in found.kinds}


def test_a_file_of_gaps_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Eight words: ann bea he sam she that told tom won are nine."""
    (tmp_path / "gap-validation.tsv").write_text(HEADER + ROWS, encoding="utf-8")
    found = describe_texts("gap", tmp_path)
    assert (found.texts, found.vocabulary, found.occupations) == (2, 9, None)
    assert _kinds(found) == {
        "part, gap-validation": 2,
        "gender, male": 1,
        "gender, female": 1,
        "pronoun, he": 1,
        "pronoun, she": 1,
        "right candidate, A": 1,
        "right candidate, neither": 1,
    }
    assert main(["corpora", "describe", "--dataset", "gap", "--data", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["vocabulary"] == 9


def test_a_folder_without_gap(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected gap-development, gap-validation, gap-test"):
        describe_texts("gap", tmp_path)


def test_gap(shared: Path) -> None:
    """Webster et al. (2018): 4,454 texts, half of either gender."""
    kinds = _kinds(describe_texts("gap", shared / "data" / "coref" / "gap"))
    assert (kinds["gender, male"], kinds["gender, female"]) == (2227, 2227)
    assert (kinds["part, gap-development"], kinds["part, gap-validation"]) == (2000, 454)


def test_counter_gap(shared: Path) -> None:
    """Xie et al. (2023): 4,008 texts, 1,002 quadruples, and as many men as women."""
    path = shared / "data" / "coref" / "countergap" / "C-GAP.tsv"
    found = describe_texts("counter-gap", path)
    assert (found.texts, found.facts["quadruples"]) == (4008, 1002)
    kinds = _kinds(found)
    assert (kinds["gender, male"], kinds["gender, female"]) == (2004, 2004)
    assert kinds["right candidate, neither"] == 128  # 32 quadruples


def test_winobias(shared: Path) -> None:
    """Zhao et al. (2018): 40 occupations, split equally; eight files of 396 sentences."""
    found = describe_texts("winobias", shared / "data" / "coref" / "winobias")
    kinds = _kinds(found)
    halves = ("split, dev", "split, test", "type, 1", "type, 2", "condition, pro")
    assert [kinds[half] for half in halves] == [4 * 396] * 5
    assert found.occupations is not None
    assert len(found.occupations) == found.facts["occupations"] == 40
    assert sum(one.masculine + one.feminine for one in found.occupations) == 8 * 396
    first, last = found.occupations[0], found.occupations[-1]
    assert (first.occupation, first.women) == ("carpenter", 2)
    assert (last.occupation, last.women) == ("secretary", 95)


def test_winogender(shared: Path) -> None:
    """Rudinger et al. (2018): 60 occupations, 720 sentences, a third of them neutral."""
    found = describe_texts("winogender", shared / "data" / "coref" / "winogender")
    assert (found.texts, found.facts["occupations"]) == (720, 60)
    assert _kinds(found)["pronoun, neutral"] == 240


def test_sowinobias() -> None:
    """16 × 16 occupations with 16 adjectives of either polarity, in two directions."""
    found = describe_texts("sowinobias", None)
    assert found.texts == 2 * 2 * 16**3
    assert _kinds(found)["direction and polarity, anti, negative"] == 16**3
    # 4 × 16 words of the lists, and the, liked, disliked, because, they, were; "nurse practitioner"
    # and the like are two words.
    assert found.vocabulary == 70
