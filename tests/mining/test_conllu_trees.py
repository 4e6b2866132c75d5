"""Trees from CoNLL-U."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from mtbias.errors import DataError
from mtbias.mining.conllu_trees import read_trees
from mtbias.mining.matcher import is_singular_noun

TWO = """# sent_id = 1
# text = She can't go.
1\tShe\tshe\tPRON\tPRP\tGender=Fem|Number=Sing\t4\tnsubj\t_\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
2\tca\tcan\tAUX\tMD\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
3.1\tnever\tnever\tADV\tRB\t_\t_\t_\t4:advmod\t_
4\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_


1\tNurse\tnurse\tNOUN\t_\tNumber=Sing\t0\troot\t_\t_
"""


def write(folder: Path, text: str = TWO, name: str = "two.conllu") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["two.conllu", "two.conllu.gz"])
def test_words_spans_and_lines(tmp_path: Path, name: str) -> None:
    (first, she), (second, nurse) = read_trees(write(tmp_path, "\ufeff" + TWO.replace("\n", "\r\n"), name))
    assert (first, second) == (3, 12)
    assert she.text == "She can't go."
    # Both words of the token "can't" have its span.
    assert [she.text[n.span.start : n.span.end] for n in she.nodes] == ["She", "can't", "can't", "go", "."]
    assert [n.head for n in she.nodes] == [3, 3, 3, -1, 3]
    assert she.nodes[0].feat("Gender") == "Fem"
    assert nurse.text == "Nurse"
    assert nurse.nodes[0].xpos is None
    assert is_singular_noun(nurse.nodes[0])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("\troot\t_\tSpaceAfter=No", "\troot\t_"), r"two\.conllu:8: expected the 10 columns of CoNLL-U, got 9"),
        (("4\tgo", "5\tgo"), r"two\.conllu:8: expected the word 4, got the id '5'"),
        (("Number=Sing\t4", "Number=Sing\t6"), r"two\.conllu:3: expected a head from 0 to 5, got '6'"),
        (("Number=Sing\t4", "Number=Sing\t_"), r"two\.conllu:3: expected a head from 0 to 5, got '_'"),
    ],
)
def test_errors_say_the_line(tmp_path: Path, change: tuple[str, str], says: str) -> None:
    with pytest.raises(DataError, match=says):
        list(read_trees(write(tmp_path, TWO.replace(*change))))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        list(read_trees(tmp_path / "none.conllu"))
    with pytest.raises(DataError, match="expected a file, got a folder"):
        list(read_trees(tmp_path))
    (tmp_path / "latin.conllu").write_bytes(b"# text\n1\tcaf\xe9\n")
    with pytest.raises(DataError, match=r"latin\.conllu:2: the line is not UTF-8"):
        list(read_trees(tmp_path / "latin.conllu"))
    (tmp_path / "cut.conllu.gz").write_bytes(gzip.compress(TWO.encode() * 50)[:60])
    with pytest.raises(DataError, match=r"cut\.conllu\.gz: the file cannot be read"):
        list(read_trees(tmp_path / "cut.conllu.gz"))
