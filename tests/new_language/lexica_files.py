"""Small lexica of Portuguese in each format, written by hand."""

from __future__ import annotations

from pathlib import Path

# UniMorph has a woman's noun under the lemma of the man's (professor) or as one of its own (médica).
UNIMORPH = """\
professor	professor	N;MASC;SG
professor	professores	N;MASC;PL
professor	professora	N;FEM;SG
professor	professoras	N;FEM;PL

médico	médico	N;MASC;SG
médico	médicos	N;MASC;PL
médica	médica	N;FEM;SG
médica	médicas	N;FEM;PL
artista	artista	N;MASC;SG
artista	artista	N;FEM;SG
artista	artistas	N;MASC;PL
artista	artistas	N;FEM;PL
vítima	vítima	N;FEM;SG
vítima	vítimas	N;FEM;PL
falar	falo	V;PRS;1;SG
"""
# "O artista do rio viu a professora." with the contraction "do" (de + o) as a token of two words.
TREEBANK = """\
# text = O artista do rio viu a professora.
1	O	o	DET	_	Gender=Masc|Number=Sing	2	det	_	_
2	artista	artista	NOUN	_	Gender=Masc|Number=Sing	6	nsubj	_	_
3-4	do	_	_	_	_	_	_	_	_
3	de	de	ADP	_	_	5	case	_	_
4	o	o	DET	_	Gender=Masc|Number=Sing	5	det	_	_
5	rio	rio	NOUN	_	Gender=Masc|Number=Sing	2	nmod	_	_
6	viu	ver	VERB	_	Number=Sing	0	root	_	_
6.1	viu	ver	VERB	_	_	_	_	_	_
7	a	o	DET	_	Gender=Fem|Number=Sing	8	det	_	_
8	professora	professor	NOUN	_	Animacy=Hum|Gender=Fem|Number=Sing	6	obj	_	_
9	.	.	PUNCT	_	_	6	punct	_	_

1	as	o	DET	_	Gender=Fem|Number=Plur	2	det	_	_
2	professoras	professor	NOUN	_	Gender=Fem|Number=Plur	0	root	_	_
"""
LIST = """\
english	noun
# of a dictionary of our own
teacher|Professor	professor
doctor	médico
artist	artista
victim	vítima
police officer	policial
"""


def write(folder: Path, **texts: str) -> list[Path]:
    """Files of these names (with `.txt`) and contents in `folder`."""
    paths = []
    for name, text in texts.items():
        path = folder / f"{name}.txt"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths
