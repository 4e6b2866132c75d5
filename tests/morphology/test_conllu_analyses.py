"""Analyses in CoNLL-U that somebody else made."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.errors import DataError
from mtbias.morphology.conllu_analyses import ConlluAnalyser
from mtbias.types import Span, Token, Word

FILE = """\
# sent_id = 1
# text = Gosto do médico.
1\tGosto\tgostar\tVERB\t_\tNumber=Sing|Person=1\t0\troot\t_\t_
2-3\tdo\t_\t_\t_\t_\t_\t_\t_\t_
2\tde\tde\tADP\t_\t_\t4\tcase\t_\t_
3\to\to\tDET\t_\tGender=Masc|Number=Sing\t4\tdet\t_\t_
4\tmédico\tmédico\tNOUN\t_\tGender=Masc|Number=Sing\t1\tobj\t_\tSpaceAfter=No
5\t.\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_

# text = Sim.
1\tSim\tsim\tINTJ\t_\t_\t0\troot\t_\t_
2\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_
"""
MASCULINE = (("Gender", "Masc"), ("Number", "Sing"))


def _analyser(folder: Path, text: str) -> ConlluAnalyser:
    path = folder / "given.conllu"
    path.write_text(text, encoding="utf-8")
    return ConlluAnalyser(path)


def test_tokens_stand_in_the_text_and_a_contraction_is_of_two_words(tmp_path: Path) -> None:
    analyser = _analyser(tmp_path, FILE)
    assert analyser.analysis("Gosto do médico.").tokens == (
        Token(
            Span(0, 5),
            "Gosto",
            (Word("Gosto", "gostar", "VERB", (("Number", "Sing"), ("Person", "1"))),),
        ),
        Token(Span(6, 8), "do", (Word("de", "de", "ADP"), Word("o", "o", "DET", MASCULINE))),
        Token(Span(9, 15), "médico", (Word("médico", "médico", "NOUN", MASCULINE),)),
        Token(Span(15, 16), ".", (Word(".", None, "PUNCT"),)),
    )
    analyser.prepare(["Sim."])
    assert len(analyser.analysis("Sim.").tokens) == 2
    assert analyser.signature.startswith("conllu(")


def test_a_sentence_without_analysis_is_named(tmp_path: Path) -> None:
    analyser = _analyser(tmp_path, FILE)
    with pytest.raises(
        DataError, match=r"given.conllu: expected an analysis of each sentence, got none of 'Não.'"
    ):
        analyser.prepare(["Sim.", "Não."])


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("# text = Sim.\n", "", 10, "expected '# text =' and the sentence above its words"),
        ("2-3\tdo", "2-3\tda", 4, "expected a token of 'Gosto do médico.', got 'da' at 2-3"),
        ("2-3\tdo", "2-x\tdo", 4, "got 'do' at 2-x"),
        ("1\tSim\tsim", "1\tSim", 11, "expected the 10 columns of CoNLL-U, got 9"),
    ],
)
def test_what_is_no_analysis_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    with pytest.raises(DataError, match=message) as caught:
        _analyser(tmp_path, FILE.replace(old, new, 1))
    assert caught.value.line == line
