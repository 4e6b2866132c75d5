"""Small lexica of Portuguese in each format, written by hand."""

from __future__ import annotations

from pathlib import Path

# UniMorph has a woman's noun under the lemma of the man's (professor) or as one of its own
# (médica).
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
