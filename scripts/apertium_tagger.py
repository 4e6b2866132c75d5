"""Apertium's tagger of Portuguese in the place of Stanza's, whose Portuguese models are not at
hand.

It needs Debian's package apertium-por-cat: an analyser with rules, and a hidden Markov model. What
it gives is no reading of Stanza's, and figures that rest on it must say so.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from mtbias.errors import MissingResourceError
from mtbias.morphology.conllu_analyses import ConlluAnalyser

DATA = Path("/usr/share/apertium/apertium-por-cat")
STAGES = (
    ["lt-proc", "-w", "por-cat.automorf.bin"],
    ["cg-proc", "-w", "por-cat.rlx.bin"],
    ["apertium-tagger", "-g", "-p", "por-cat.prob"],
)
UPOS = {
    "n": "NOUN", "np": "PROPN", "adj": "ADJ", "det": "DET", "pr": "ADP", "adv": "ADV", "preadv": "ADV", "prn": "PRON",
    "rel": "PRON", "vblex": "VERB", "vbmod": "VERB", "vbser": "AUX", "vbhaver": "AUX", "num": "NUM", "cnjcoo": "CCONJ",
    "cnjsub": "SCONJ", "cnjadv": "SCONJ", "ij": "INTJ", "sent": "PUNCT", "cm": "PUNCT", "lpar": "PUNCT",
    "rpar": "PUNCT", "lquest": "PUNCT", "guio": "PUNCT", "apos": "PUNCT",
}  # fmt: skip
FEATURES = {
    "m": "Gender=Masc",
    "f": "Gender=Fem",
    "sg": "Number=Sing",
    "pl": "Number=Plur",
    "pp": "VerbForm=Part",
    "rel": "PronType=Rel",
}
PERSONS = {"p1": "Person=1", "p2": "Person=2", "p3": "Person=3"}


def analyser(texts: Iterable[str]) -> ConlluAnalyser:
    """The analyses of `texts`, each one line.

    Raises:
        MissingResourceError: Apertium or its Portuguese data are not installed.
    """
    if not (DATA.is_dir() and all(shutil.which(stage[0]) for stage in STAGES)):
        raise MissingResourceError(
            "Apertium's tagger of Portuguese is not here: apt-get install apertium-por-cat cg3"
        )
    texts = list(dict.fromkeys(texts))
    found = "".join(re.sub(r"([][{}^$/\\@<>])", r"\\\1", text) + "\n" for text in texts)
    for stage in STAGES:
        found = subprocess.run(
            stage, input=found, cwd=DATA, capture_output=True, text=True, check=True
        ).stdout
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pt.conllu"
        lines = (
            line
            for text, row in zip(texts, found.splitlines(), strict=False)
            for line in _sentence(text, row)
        )
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return ConlluAnalyser(path)


def _sentence(text: str, row: str) -> Iterator[str]:
    """CoNLL-U of a line such as ``^A/o<det><def><f><sg>$ ^pela/por<pr>+o<det><def><f><sg>$``."""
    yield f"# text = {text}"
    place = 0
    for unit in re.finditer(r"\^((?:\\.|[^\\$])+)\$", row):
        cells = re.split(r"(?<!\\)/", unit[1])
        surface = re.sub(r"\\(.)", r"\1", cells[0])
        words = re.findall(r"\+?([^<+]+)((?:<[^>]+>)+)", cells[1])
        if len(words) > 1:
            yield f"{place + 1}-{place + len(words)}\t{surface}" + "\t_" * 8
        for lemma, tags in words or [(surface, "<np>" if surface[0].isupper() else "<n>")]:
            place += 1
            names = re.findall("<([^>]+)>", tags)
            features = sorted(FEATURES[n] for n in names if n in FEATURES)
            if names[0] in ("vblex", "vbser", "vbhaver", "vbmod"):
                persons = [PERSONS[n] for n in names if n in PERSONS]
                features += [*persons, *(["VerbForm=Fin"] if persons else [])]
            upos = UPOS.get(names[0], "X")
            form = surface if len(words) <= 1 else lemma
            yield "\t".join(
                (str(place), form, lemma, upos, "_", "|".join(features) or "_", *"____")
            )
    yield ""
