"""Small inputs that every command takes: the attacks damage copies of them. Every sentence is the
demo's or ours."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

from mtbias.coref.sowinobias import generate, parse_vocabulary
from mtbias.demo import model_folder_of_demo
from mtbias.files.reading import read_text
from mtbias.mining.corpus_check import read_corpus
from tests.coref.small_corpora import (
    ANTI_SENTENCES,
    PRO_SENTENCES,
    conll,
    write_winobias,
    write_winogender,
)

DEMO = model_folder_of_demo().parent
ROWS = 6
"""Of the demo's corpus: three pairs."""


_WITH_NAMES = """\
#begin document (nw/names//0); part 000
nw/names//0\t0\t0\tAnn\tNNP\t(1)
nw/names//0\t0\t1\tcalled\tVBD\t-
nw/names//0\t0\t2\tTom\tNNP\t(2)

#end document
"""
"""A document whose tags tell names."""


def write_good_inputs(folder: Path) -> None:
    """Write all of them but the runs, which `mtbias score` makes of them."""
    _write_corpora(folder)
    _write_translations(folder)
    _write_labels(folder)
    _write_sweep(folder)
    _write_clusters(folder)
    _write_gap(folder)
    _write_vectors(folder)
    (folder / "women.tsv").write_text(
        "entity\tshare\npilot\t0.05\nnurse\t0.9\ndoctor\t0.4\n", encoding="utf-8"
    )


def _table(path: Path) -> list[dict[str, str]]:
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1 : 1 + ROWS]]


def _write(path: Path, rows: Sequence[dict[str, str]]) -> None:
    """The same rows as .tsv, .csv and .jsonl."""
    lines = ["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)]
    path.with_suffix(".tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with path.with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    objects = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.with_suffix(".jsonl").write_text(objects, encoding="utf-8")


def _write_corpora(folder: Path) -> None:
    rows = _table(DEMO / "corpus.tsv")
    _write(folder / "corpus", rows)
    winomt = folder / "winomt"
    winomt.mkdir()
    lines = [f"{row['gender']}\t1\t{row['source']}\t{row['entity']}\n" for row in rows]
    (winomt / "en.txt").write_text("".join(lines), encoding="utf-8")
    for name in ("pro", "anti"):
        known = [line for line, row in zip(lines, rows, strict=True) if row["stereotype"] == name]
        (winomt / f"en_{name}.txt").write_text("".join(known), encoding="utf-8")
    header = (
        ",sentence_text,profession,g,profession_first_index,g_first_index,predicted gender,stereotype,corpus,distance,"
        "num_of_pronouns"
    )
    bug = [
        '0,"The baker sold his shop .",baker,his,1,3,Male,-1,wikipedia,2,1',
        '1,"The baker sold her shop .",baker,her,1,3,Female,1,wikipedia,2,1',
        '2,"The pilot who came late said that he slept .",pilot,he,1,7,Male,1,pubmed,6,1',
    ]
    (folder / "bug.csv").write_text("\n".join([header, *bug]) + "\n", encoding="utf-8")
    (folder / "occupations.csv").write_text(
        "entities,M_workers,F_workers\nbaker,40,60\npilot,95,5\n", encoding="utf-8"
    )
    checked = zip(read_corpus(folder / "bug.csv").rows, ("right", "wrong", "unsure"), strict=True)
    judgements = ["key\tjudgement", *(f"{row.key}\t{judgement}" for row, judgement in checked)]
    (folder / "judgements.tsv").write_text("\n".join(judgements) + "\n", encoding="utf-8")
    clusters = [
        {"id": 0, "clusters": [[[0, 1], [3, 3]]]},
        {"id": 1, "clusters": []},
        {"id": 2, "clusters": []},
    ]
    (folder / "bug.jsonl").write_text(
        "".join(json.dumps(one) + "\n" for one in clusters), encoding="utf-8"
    )


def _write_translations(folder: Path) -> None:
    rows = _table(DEMO / "references" / "de.tsv")
    sources = [row["source"] for row in _table(DEMO / "corpus.tsv")]
    _write(folder / "target", rows)
    pairs = "".join(
        f"{source} ||| {row['target']}\n" for source, row in zip(sources, rows, strict=True)
    )
    (folder / "target.txt").write_text(pairs, encoding="utf-8")
    (folder / "target.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    (folder / "lines.txt").write_text(
        "".join(row["target"] + "\n" for row in rows), encoding="utf-8"
    )


def _write_labels(folder: Path) -> None:
    rows = [
        {
            "lang": "de", "system": "S", "winomt_index": str(n), "entity": "The pilot", "source": source["source"],
            "target": target["target"], "label": source["gender"][0], "usable": "1", "annotator": "1", "basis": "N",
            "head_index": "1" if source["entity_start"] == "4" else "2",
            "word_index": "1" if source["entity_start"] == "4" else "2",
        }
        for n, (source, target) in enumerate(
            zip(_table(DEMO / "corpus.tsv"), _table(DEMO / "references" / "de.tsv"), strict=True)
        )
    ]  # fmt: skip
    _write(folder / "labels", rows)
    of_winomt = [
        {name: text for name, text in row.items() if name not in {"entity", "word_index"}}
        for row in rows
    ]
    _write(folder / "winomt-labels", of_winomt)


def _write_sweep(folder: Path) -> None:
    text = (
        "out = 'out'\nmodels = ['demo']\nlanguages = ['de']\ndatasets = ['demo']\nresamples = 200\n"
    )
    (folder / "sweep.toml").write_text(text, encoding="utf-8")
    (folder / "swept").mkdir()
    (folder / "swept" / "sweep.toml").write_text(text.replace("'out'", "'.'"), encoding="utf-8")


def _write_answers(path: Path, ids: Iterable[str]) -> None:
    """Answers of a system that links words 0 and 1 with word 6 in every document."""
    lines = [json.dumps({"id": id_, "clusters": [[[0, 1], [6, 6]]]}) + "\n" for id_ in ids]
    path.write_text("".join(lines), encoding="utf-8")


def _write_clusters(folder: Path) -> None:
    winobias = folder / "winobias"
    winobias.mkdir()
    write_winobias(winobias)
    texts = {"pro": conll(PRO_SENTENCES, "pro"), "anti": conll(ANTI_SENTENCES, "anti")}
    (folder / "system.conll").write_text("".join(texts.values()), encoding="utf-8")
    _write_answers(
        folder / "system.jsonl", [f"nw/{name}//{n}" for name, n in product(texts, range(3))]
    )
    (folder / "train.conll").write_text(texts["pro"] + _WITH_NAMES, encoding="utf-8")
    (folder / "swaps.tsv").write_text("actor\tactress\nking\tqueen\n", encoding="utf-8")
    (folder / "ids.tsv").write_text("".join(f"{n}\t{n}\n" for n in range(3)), encoding="utf-8")

    winogender = folder / "winogender"
    winogender.mkdir()
    ids = write_winogender(winogender)
    found = [{"id": id_, "clusters": [[[0, 1], [3, 3]]]} for id_ in ids]
    (folder / "winogender.jsonl").write_text(
        "".join(json.dumps(one) + "\n" for one in found), encoding="utf-8"
    )


def _write_gap(folder: Path) -> None:
    gap = folder / "gap"
    gap.mkdir()
    columns = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL"
    row = "{}\tAnn met Cora. Then {} left.\t{}\t19\tAnn\t0\t{}\tCora\t8\t{}\thttp://example.org"
    rows, names, answers = [columns], {}, ""
    weights: dict[str, float] = {}
    for n in range(12):
        pronoun = "she" if n % 2 else "he"
        truths = ("TRUE", "FALSE") if n % 3 else ("FALSE", "TRUE")
        rows.append(row.format(f"t-{n}", pronoun, pronoun, *truths))
        names[f"t-{n}"] = [[0, 3, "Ann"], [8, 12, "Cora"]]
        answers += f"t-{n}\tTRUE\tFALSE\n"
        weights |= {
            f"t-{n}{side}": float(truth == "TRUE") for side, truth in zip("ab", truths, strict=True)
        }
    (gap / "gap-test.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (gap / "gap-test-name-spans.json").write_text(json.dumps(names), encoding="utf-8")
    (folder / "gap.tsv").write_text(answers, encoding="utf-8")
    (folder / "weights.json").write_text(json.dumps(weights), encoding="utf-8")
    quadruples, labels = [columns], ""
    for n, suffix in product(range(2), ("", "-control", "-swap-1", "-swap-2")):
        own, other = ("she", "he") if n else ("he", "she")
        pronoun = other if "swap" in suffix else own
        quadruples.append(row.format(f"q-{n}{suffix}", pronoun, pronoun, "TRUE", "FALSE"))
        labels += f"q-{n}{suffix}\tTRUE\tFALSE\n"
    (folder / "counter-gap.tsv").write_text("\n".join(quadruples) + "\n", encoding="utf-8")
    (folder / "counter-gap-labels.tsv").write_text(labels, encoding="utf-8")
    ids = (line.partition("\t")[0] for line in labels.splitlines())
    marks = "".join(f"{id_}\t0-3\t\n" for id_ in ids)
    (folder / "marks.tsv").write_text(f"ID\tspans\tproblem\n{marks}", encoding="utf-8")
    names_of = [
        "name\tgender\tEnglish\tGerman",
        "Ann\tfemale\t3\t1",
        "Cora\tfemale\t2\t2",
        "Jane\tfemale\t1\t1",
    ]
    names_of += ["Tom\tmale\t3\t1", "Ben\tmale\t2\t2", "Jim\tmale\t1\t1"]
    (folder / "names.tsv").write_text("\n".join(names_of) + "\n", encoding="utf-8")


def _write_vectors(folder: Path) -> None:
    words = ["she", "he", "woman", "man", "nurse", "pilot", "cook", "clerk", "guard", "judge"]
    lines = [f"{len(words)} 3"]
    for n, word in enumerate(words):
        sign = -1 if n % 2 else 1
        lines.append(f"{word} {sign * (1 + n / 10):.3f} {0.3 + n * n / 50:.3f} {(n % 3) / 3:.3f}")
    (folder / "vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    direct = '[direction]\npairs = [["she", "he"], ["woman", "man"]]\n\n[direct]\nwords = ["nurse", "pilot", "cook"]\n'
    (folder / "words.toml").write_text(direct, encoding="utf-8")
    (folder / "hard.txt.json").write_text(direct, encoding="utf-8")
    lists = {
        "male_occupations": ["pilot", "plumber"], "female_occupations": ["nurse", "nanny"],
        "positive_adjectives": ["kind", "sweet"], "negative_adjectives": ["vain", "fussy"],
    }  # fmt: skip
    (folder / "contrasts.tsv").write_text(
        "source\tfeminine\tmasculine\nThe doctor left.\tDie Ärztin ging.\tDer Arzt ging.\n",
        encoding="utf-8",
    )
    (folder / "vocabulary.toml").write_text(
        "".join(f"{key} = {json.dumps(values)}\n" for key, values in lists.items()),
        encoding="utf-8",
    )
    sentences = generate(parse_vocabulary(read_text(folder / "vocabulary.toml")))
    _write_answers(folder / "sowinobias.jsonl", [sentence.id for sentence in sentences])
