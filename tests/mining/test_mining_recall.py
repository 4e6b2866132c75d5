"""The script that measures the patterns on Gold BUG."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import pytest

from mtbias.mining.confidence import TERMS, shipped_model
from mtbias.mining.patterns import read_patterns
from scripts.mining_recall import NUMBERS, confirmed, counts, parses, pattern_sets, usable_rows
from tests.mining.small_trees import tree

HEADER = "sentence_text,profession,g,profession_first_index,g_first_index,predicted gender,stereotype,corpus,data_index\n"
# The index of the second row's profession is one too many; the third row's query is one that the
# paper dropped.
ROWS = """The nurse lost her book .,nurse,her,1,3,Female,1,wikipedia,21
The clerk said he left .,clerk,he,2,3,Male,0,pubmed,4
The clerk said he left .,clerk,he,1,3,Male,0,pubmed,16
"""
TREES = [
    "The/2/det/DT nurse/3/nsubj/NN lost/0/root/VBD her/5/nmod:poss/PRP$ book/3/obj/NN ./3/punct/.",
    "The/2/det/DT clerk/3/nsubj/JJ said/0/root/VBD he/5/nsubj/PRP left/3/conj/VBD ./3/punct/.",
]


def test_columns_by_hand(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text(HEADER + ROWS, encoding="utf-8")
    kept = tmp_path / "gold.json"
    kept.write_text(json.dumps([asdict(tree(text)) for text in TREES]), encoding="utf-8")
    rows = list(usable_rows(tmp_path / "gold.csv"))
    assert [(row.profession, row.pronoun, row.query) for row in rows] == [(1, 3, 21), (1, 3, 4)]
    sentences = parses(rows, None, kept)
    nurse, clerk = (
        counts(r, s, pattern_sets(read_patterns())) for r, s in zip(rows, sentences, strict=True)
    )
    # The nurse's book is pattern 11, which query 21 stands for, in the basic tree.
    assert nurse == {"rows": 1, "NN": 1, "basic": 1, "+ edges": 1, "all": 1, "all, NN": 1, "any": 1}
    # The clerk's parse has conj for ccomp and JJ for NN: 8 finds the pair, and the query's own
    # pattern 4 does not.
    assert +clerk == {"rows": 1, "any": 1}
    # The clerk, who is no NN, is found by none as the text has it.
    (confidence,) = confirmed(
        zip(rows, sentences, strict=True), read_patterns(), frozenset({"nurse", "clerk"})
    )
    values = dict.fromkeys(TERMS, 0.0) | {"distance": math.log(2)}
    assert confidence == shipped_model().confidence(tuple(values.values()))


@pytest.mark.slow
def test_gold_bug_in_numbers(shared: Path, stanza_dir: Path, tmp_path: Path) -> None:
    # BUG_MINING.md, section 2: 1,424 rows, 1,345 tagged NN, and 41 % found in the basic tree by the
    # appendix's order.
    rows = list(usable_rows(shared / "data" / "bug" / "gold_BUG.csv"))
    assert len(rows) == 1424
    assert Counter(row.query for row in rows).keys() == NUMBERS.keys()
    sentences = parses(rows, stanza_dir, tmp_path / "gold.json")
    assert parses(rows, None, tmp_path / "gold.json") == sentences
    found, half_b = Counter[str](), Counter[str]()
    sets = pattern_sets(read_patterns())
    for row, sentence in zip(rows, sentences, strict=True):
        of_row = counts(row, sentence, sets)
        found += of_row
        half_b += of_row if row.half == "B" else Counter()
    # docs/mining.md: of the half that nobody looked at, 71.0 %.
    assert half_b["rows"] == 720
    assert 100 * half_b["all"] / 720 == pytest.approx(71.0, abs=0.05)
    assert found["NN"] == pytest.approx(1345, abs=5)
    assert found["basic"] == pytest.approx(585, abs=15)
