"""The scripts that measure how right finds are, how many names are missed, and how far two parses agree."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from mtbias.errors import DataError, MissingResourceError
from mtbias.mining.confidence import TERMS, ConfidenceModel, shipped_model, term_values
from mtbias.mining.occupations import Occupations, Workers
from mtbias.mining.patterns import read_patterns
from mtbias.types import Gender
from scripts.mining_confirmed import judged
from scripts.mining_names import counted
from scripts.mining_overlap import main as overlap_main
from scripts.mining_overlap import overlap, share_of_both
from scripts.mining_precision import (
    LABELS,
    ReadFind,
    fitted,
    found_again,
    readings,
    report,
    unseen_patterns,
    write_weights,
)
from scripts.mining_recall import Row
from scripts.mining_texts import plain_text
from tests.mining.small_trees import tree

HEADER = "file\tline\tprofession_at\tpronoun_at\tprofession\tpronoun\tline_sha256\tsample\tfirst\tsecond\tlabel\n"
TEXT = "Ann saw it. The nurse lost her pen and his book"
NURSES = Occupations({"nurse": Workers(men=10, women=90)}, sha256="")
PATTERNS = read_patterns()
# The nurse lost her pen and his book: pattern 11 finds her, and, as a conjunct has the role of the first, his.
LOST = tree(
    "The/2/det/DT nurse/3/nsubj/NN lost/0/root/VBD her/5/nmod:poss/PRP$ pen/3/obj/NN and/8/cc/CC his/8/nmod:poss/PRP$ "
    "book/5/conj/NN"
)


def labels(folder: Path, digest: str) -> Path:
    path = folder / "finds.tsv"
    row = f"ward.txt\t2\t16\t27\tnurse\ther\t{digest}\t2\tright\tright\tright\n"
    path.write_text(HEADER + row, encoding="utf-8")
    return path


def test_a_find_that_was_read_is_found_again(tmp_path: Path) -> None:
    (tmp_path / "ward.txt").write_text(f"Nothing\n{TEXT}\n", encoding="utf-8")
    (reading,) = readings(tmp_path, labels(tmp_path, sha256(TEXT.encode()).hexdigest()[:12]))
    assert TEXT[16:21] == "nurse"
    assert TEXT[27:30] == "her"
    (again,), unread = found_again(reading, [(12, LOST)], PATTERNS, NURSES)
    assert (again.place, again.label, again.sample, again.pattern) == (("ward.txt", 2, 16, 27), "right", 2, "11")
    assert (again.authors_reason, again.doubts) == (None, ())
    assert again.values[-1] == math.log(2)
    assert again.around == "annsawitthenurselostherpenandhisbook"
    assert unread == 1  # his


def test_another_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ward.txt").write_text(f"Nothing\n{TEXT}\n", encoding="utf-8")
    with pytest.raises(DataError, match="the paragraph is not the one"):
        readings(tmp_path, labels(tmp_path, "0" * 12))
    (tmp_path / "ward.txt").unlink()
    with pytest.raises(DataError, match=r"mining_texts\.py"):
        readings(tmp_path, labels(tmp_path, "0" * 12))


def made(term: str | None, right: int, wrong: int) -> list[ReadFind]:
    values = tuple(float(name == term) for name in TERMS)
    place = ("ward.txt", 1, 0, 1)
    return [
        ReadFind(place, "right" if n < right else "wrong", 1, "A", "11", Gender.MALE, None, (), values, "")
        for n in range(right + wrong)
    ]


def test_the_fit_is_the_log_odds_but_for_the_penalty() -> None:
    # 3 : 1 right without a doubt, 1 : 3 with one, 400 finds each. With intercept a and weight w the gradient is 0 where
    # 400 s(a + w) = 100 - w and 400 s(a) = 300 + w (s: the logistic function): a = -a - w = ln(297.86 / 102.14) = 1.07,
    # w = -2.14; without the penalty they were ln 3 = 1.10 and -2 ln 3 = -2.20.
    model = fitted([*made(None, 300, 100), *made("owned", 100, 300)])
    assert (model.intercept, model.weights["owned"]) == (1.07, -2.14)
    assert model.weights["between"] == 0


def test_the_tables_count_by_hand() -> None:
    finds = [*made(None, 3, 1), *made("owned", 1, 3)]
    lines = list(report(finds, ConfidenceModel(0.0, dict.fromkeys(TERMS, 0.0))))
    assert lines[1].split()[:6] == ["all", "finds", "8", "100.0%", "4", "50.0%"]
    assert any(line.split()[:6] == ["confidence", "of", "at", "least", "0.5", "8"] for line in lines)
    assert any(line.split() == ["confidence", "of", "at", "least", "0.6", "0", "0.0%"] for line in lines)


def test_a_pattern_that_the_model_has_not_seen() -> None:
    # Fitted on pattern 11's 300 right of 400 alone; pattern 2's finds are of half B, and 1 of 4 right.
    unseen = [replace(each, pattern=name, half="B") for each in made(None, 1, 3) for name in ("2", "2-conjunct")]
    ((family, n, mean, right),) = unseen_patterns([*made(None, 300, 100), *unseen])
    assert (family, n, right) == ("2", 8, 0.25)
    assert mean == pytest.approx(0.75, abs=0.005)


def test_weights_are_written_as_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "confidence.toml"
    path.write_text("# Where from.\n\nintercept = 0\n", encoding="utf-8")
    write_weights(shipped_model(), path)
    shipped = Path("mtbias/mining/confidence.toml").read_text(encoding="utf-8")
    assert path.read_text(encoding="utf-8").partition("intercept")[2] == shipped.partition("intercept")[2]
    assert path.read_text(encoding="utf-8").startswith("# Where from.\n")


def test_the_labels_that_ship_agree_with_their_readings() -> None:
    rows = [line.split("\t") for line in LABELS.read_text(encoding="utf-8").splitlines()[1:]]
    assert len(rows) == 816
    assert all(label == (first if first == second else "unsure") for *_, first, second, label in rows)


def test_names_by_hand() -> None:
    # Three names: Paris, Ann Smith, and Jane behind a title. Both persons are masked; if persons alone were, Jane, who
    # stands behind "near" as a place does, would not be.
    sentence = tree(
        "In/2/case/IN Paris/6/obl/NNP ,/2/punct/, Ann/6/nsubj/NNP Smith/4/flat/NNP slept/0/root/VBD near/9/case/IN "
        "Lady/9/compound/NNP Jane/6/obl/NNP"
    )
    counts = counted(sentence, {"Ann Smith", "Lady Jane"}, frozenset())
    assert counts == {"names masked": 3, "mentions": 2, "all": 2, "persons alone": 1}


def test_overlap_by_hand() -> None:
    # In our tree the second possessive hangs on the verb: that find is the treebank's alone.
    ours = tree(
        "The/2/det/DT nurse/3/nsubj/NN lost/0/root/VBD her/5/nmod:poss/PRP$ pen/3/obj/NN and/8/cc/CC "
        "his/3/nmod:poss/PRP$ book/5/conj/NN"
    )
    counts = overlap([(LOST, ours), (LOST, LOST)], PATTERNS, frozenset({"nurse"}))
    assert counts == Counter({"both": 3, "treebank alone": 1, "ours alone": 0})


def test_shares_of_the_overlap() -> None:
    # Wilson's interval of 3 of 4 by its formula: (3 + z²/2 ± z √(3 · 1 / 4 + z²/4)) / (4 + z²), z = 1.96.
    assert share_of_both(3, 1) == "75.0 % are in both (95 % interval 30.1 to 95.4)"
    assert share_of_both(0, 0) == "no finds"


def test_overlap_of_a_file(tmp_path: Path, shared: Path, stanza_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (
        "1\tThe\t_\tDET\tDT\t_\t2\tdet\t_\t_\n2\tnurse\t_\tNOUN\tNN\tNumber=Sing\t3\tnsubj\t_\t_\n"
        "3\tlost\t_\tVERB\tVBD\t_\t0\troot\t_\t_\n4\ther\t_\tPRON\tPRP$\t_\t5\tnmod:poss\t_\t_\n"
        "5\tpen\t_\tNOUN\tNN\tNumber=Sing\t3\tobj\t_\tSpaceAfter=No\n6\t.\t_\tPUNCT\t.\t_\t3\tpunct\t_\t_\n\n"
    )
    (tmp_path / "a b.conllu").write_text(lines, encoding="utf-8")
    table = shared / "data/bug/inc_occ_gender.csv"
    overlap_main(conllu=[tmp_path / "a b.conllu"], occupations=table, stanza_dir=stanza_dir)
    assert capsys.readouterr().out.splitlines()[:2] == [
        "1 sentences, 1 with a listed noun and a pronoun",
        "both                 1",
    ]
    (tmp_path / "none.conllu").write_text("", encoding="utf-8")
    overlap_main(conllu=[tmp_path / "none.conllu"], occupations=table, stanza_dir=stanza_dir)
    assert capsys.readouterr().out.splitlines()[-1] == "of ours: no finds"
    with pytest.raises(MissingResourceError, match=r"resources\.json is missing"):
        overlap_main(conllu=[tmp_path / "none.conllu"], occupations=table, stanza_dir=tmp_path)


def test_confirmed_pairs_by_hand() -> None:
    rows = [Row(tuple(node.form for node in LOST.nodes), 1, at, 21, "wikipedia") for at in (3, 7)]  # her, then a "book"
    ((confidence, doubts),) = judged([(row, LOST) for row in rows], PATTERNS, frozenset({"nurse"}))
    assert doubts == ()
    assert confidence == shipped_model().confidence(term_values((), "her", 2))


def test_wikipedias_markup_goes() -> None:
    markup = (
        "'''Ann'''<ref name=a/> was a [[nurse|head nurse]]<ref>x</ref> {{born|{{year|1900}}}}in [http://a.b Paris]."
        "<!-- -->[[File:A.jpg|thumb|at [[work]]]]"
    )
    assert plain_text(markup) == "Ann was a head nurse in Paris."
