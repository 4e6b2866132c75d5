"""Small inputs that every command takes: the attacks damage copies of them. Every sentence is the demo's or ours."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from mtbias.demo import model_folder_of_demo

DEMO = model_folder_of_demo().parent
ROWS = 6
"""Of the demo's corpus: three pairs."""
_WORDS = {"male": ("he", "his"), "female": ("she", "her"), "neutral": ("they", "their")}


def write_good_inputs(folder: Path) -> None:
    """Write all of them but the runs, which `mtbias score` makes of them."""
    _write_corpora(folder)
    _write_translations(folder)
    _write_labels(folder)
    _write_sweep(folder)
    _write_clusters(folder)
    _write_gap(folder)
    _write_vectors(folder)
    (folder / "women.tsv").write_text("entity\tshare\npilot\t0.05\nnurse\t0.9\ndoctor\t0.4\n", encoding="utf-8")


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
    clusters = [{"id": 0, "clusters": [[[0, 1], [3, 3]]]}, {"id": 1, "clusters": []}, {"id": 2, "clusters": []}]
    (folder / "bug.jsonl").write_text("".join(json.dumps(one) + "\n" for one in clusters), encoding="utf-8")


def _write_translations(folder: Path) -> None:
    rows = _table(DEMO / "references" / "de.tsv")
    sources = [row["source"] for row in _table(DEMO / "corpus.tsv")]
    _write(folder / "target", rows)
    pairs = "".join(f"{source} ||| {row['target']}\n" for source, row in zip(sources, rows, strict=True))
    (folder / "target.txt").write_text(pairs, encoding="utf-8")
    (folder / "lines.txt").write_text("".join(row["target"] + "\n" for row in rows), encoding="utf-8")


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


def _write_sweep(folder: Path) -> None:
    text = "out = 'out'\nmodels = ['demo']\nlanguages = ['de']\ndatasets = ['demo']\nresamples = 10\n"
    (folder / "sweep.toml").write_text(text, encoding="utf-8")


def _conll(sentences: Sequence[tuple[str, list[tuple[int, int]]]], name: str) -> str:
    parts = []
    for number, (text, mentions) in enumerate(sentences):
        document = f"nw/{name}//{number}"
        parts.append(f"#begin document ({document}); part 000")
        for at, word in enumerate(text.split()):
            links = ["(1)" if a == b else "(1" if at == a else "1)" for a, b in mentions if at in {a, b}]
            parts.append("\t".join([document, "0", str(at), word, "|".join(links) or "-"]))
        parts += ["", "#end document"]
    return "\n".join(parts) + "\n"


def _write_clusters(folder: Path) -> None:
    winobias = folder / "winobias"
    winobias.mkdir()
    (winobias / "male_occupations.txt").write_text("plumber\nnight guard\n", encoding="utf-8")
    (winobias / "female_occupations.txt").write_text("florist\nnanny\n", encoding="utf-8")
    sentences = {
        "pro": [
            ("The plumber called the florist because he was late .", [(0, 1), (6, 6)]),
            ("The plumber called the florist because she was late .", [(3, 4), (6, 6)]),
        ],
        "anti": [
            ("The plumber called the florist because she was late .", [(0, 1), (6, 6)]),
            ("The plumber called the florist because he was early .", [(3, 4), (6, 6)]),
        ],
    }
    texts = {name: _conll(part, name) for name, part in sentences.items()}
    for name, text in texts.items():
        (winobias / f"dev_type1_{name}_stereotype.v4_auto_conll").write_text(text, encoding="utf-8")
    (folder / "system.conll").write_text("".join(texts.values()), encoding="utf-8")
    found = [{"id": f"nw/{name}//{n}", "clusters": [[[0, 1], [6, 6]]]} for name, n in product(texts, range(2))]
    (folder / "system.jsonl").write_text("".join(json.dumps(one) + "\n" for one in found), encoding="utf-8")
    (folder / "train.conll").write_text(texts["pro"], encoding="utf-8")

    winogender = folder / "winogender"
    winogender.mkdir()
    occupations = [("florist", "caller", 80.0, 60.5), ("plumber", "tenant", 5.0, 1.25), ("clerk", "guest", 50.0, 40.0)]
    rows, answers = ["sentid\tsentence"], ["sentid\tprediction"]
    for (occupation, participant, _, _), answer, other, pronoun in product(occupations, "01", ("", "someone"), _WORDS):
        subject, possessive = _WORDS[pronoun]
        ends = f"{subject} couldn't stay" if answer == "0" else f"{possessive} bell rang"
        id_ = f"{occupation}.{other or participant}.{answer}.{pronoun}.txt"
        rows.append(f"{id_}\tThe {occupation} rang {other or f'the {participant}'}, but {ends}.")
        answers.append(f"{id_}\toccupation")
    (winogender / "all_sentences.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    stats = ["occupation\tbergsma_pct_female\tbls_pct_female\tbls_year"]
    stats += [f"{name}\t{bergsma}\t{bls}\t2015" for name, _, bls, bergsma in occupations]
    (winogender / "occupations-stats.tsv").write_text("\n".join(stats) + "\n", encoding="utf-8")
    (folder / "winogender.tsv").write_text("\n".join(answers) + "\n", encoding="utf-8")
    found = [{"id": line.split("\t")[0], "clusters": [[[0, 1]]]} for line in rows[1:]]
    (folder / "winogender.jsonl").write_text("".join(json.dumps(one) + "\n" for one in found), encoding="utf-8")


def _write_gap(folder: Path) -> None:
    gap = folder / "gap"
    gap.mkdir()
    columns = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL"
    row = "{}\tAnn met Cora. Then {} left.\t{}\t19\tAnn\t0\t{}\tCora\t8\t{}\thttp://example.org"
    rows, names, answers, weights = [columns], {}, "", {}
    for n in range(12):
        pronoun = "she" if n % 2 else "he"
        truths = ("TRUE", "FALSE") if n % 3 else ("FALSE", "TRUE")
        rows.append(row.format(f"t-{n}", pronoun, pronoun, *truths))
        names[f"t-{n}"] = [[0, 3, "Ann"], [8, 12, "Cora"]]
        answers += f"t-{n}\tTRUE\tFALSE\n"
        weights[f"t-{n}"] = [0.5, 0.5]
    (gap / "gap-test.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (gap / "gap-test-name-spans.json").write_text(json.dumps(names), encoding="utf-8")
    (folder / "gap.tsv").write_text(answers, encoding="utf-8")
    table = ["id\tgroup\tsize", *(f"{n}\t{'fm'[n % 2]}\t{'small' if n % 3 else 'large'}" for n in range(12))]
    (folder / "table.tsv").write_text("\n".join(table) + "\n", encoding="utf-8")
    (folder / "weights.json").write_text(json.dumps({str(n): 1.0 for n in range(12)}), encoding="utf-8")
    quadruples, labels = [columns], ""
    for n, suffix in product(range(2), ("", "-control", "-swap-1", "-swap-2")):
        own, other = ("she", "he") if n else ("he", "she")
        pronoun = other if "swap" in suffix else own
        quadruples.append(row.format(f"q-{n}{suffix}", pronoun, pronoun, "TRUE", "FALSE"))
        labels += f"q-{n}{suffix}\tTRUE\tFALSE\n"
    (folder / "counter-gap.tsv").write_text("\n".join(quadruples) + "\n", encoding="utf-8")
    (folder / "counter-gap-labels.tsv").write_text(labels, encoding="utf-8")
    names_of = ["name\tgender\tEnglish\tGerman", "Ann\tfemale\t3\t1", "Cora\tfemale\t2\t2", "Jane\tfemale\t1\t1"]
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
    lists = {
        "male_occupations": ["pilot", "plumber"], "female_occupations": ["nurse", "nanny"],
        "positive_adjectives": ["kind", "sweet"], "negative_adjectives": ["vain", "fussy"],
    }  # fmt: skip
    (folder / "vocabulary.toml").write_text(
        "".join(f"{key} = {json.dumps(values)}\n" for key, values in lists.items()), encoding="utf-8"
    )
    ids = [
        f"{way}-{sign}-{first}-{second}-{word}"
        for way, firsts, seconds in (
            ("pro", ("pilot", "plumber"), ("nurse", "nanny")),
            ("anti", ("nurse", "nanny"), ("pilot", "plumber")),
        )
        for sign, adjectives in (("positive", ("kind", "sweet")), ("negative", ("vain", "fussy")))
        for first, second, word in product(firsts, seconds, adjectives)
    ]
    found = [{"id": id_, "clusters": [[[0, 1], [6, 6]]]} for id_ in ids]
    (folder / "sowinobias.jsonl").write_text("".join(json.dumps(one) + "\n" for one in found), encoding="utf-8")
