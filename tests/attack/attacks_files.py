"""Damaged files of every format, to every command that reads them."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from .attack import Attack

_OUT = "--out out"
_SCORE = f"score --lang de --stanza-dir mtbias:demo --resamples 200 {_OUT}"
_CUSTOM = f"{_SCORE} --dataset custom"
_VALIDATE = f"validate --lang de --stanza-dir mtbias:demo --resamples 200 {_OUT}.html"
_FEW = "--resamples 200"

GOOD: Mapping[str, str] = {
    "corpus.tsv": f"{_CUSTOM} --data corpus.tsv --translations target.tsv",
    "corpus.csv": f"{_CUSTOM} --data corpus.csv --translations target.tsv",
    "corpus.jsonl": f"{_CUSTOM} --data corpus.jsonl --translations target.tsv",
    "target.tsv": f"{_CUSTOM} --data corpus.tsv --translations target.tsv",
    "target.csv": f"{_CUSTOM} --data corpus.tsv --translations target.csv",
    "target.jsonl": f"{_CUSTOM} --data corpus.tsv --translations target.jsonl",
    "target.txt": f"{_CUSTOM} --data corpus.tsv --translations target.txt",
    "lines.txt": f"{_CUSTOM} --data corpus.tsv --translations lines.txt",
    "winomt/en.txt": f"{_SCORE} --dataset winomt --data winomt --translations target.txt",
    "winomt/en_pro.txt": f"{_SCORE} --dataset winomt --data winomt --translations target.txt",
    "labels.csv": f"{_VALIDATE} --gold labels.csv",
    "labels.jsonl": f"{_VALIDATE} --gold labels.jsonl",
    "women.tsv": f"report runs/a runs/b --women women.tsv {_OUT}.html",
    "sweep.toml": "sweep sweep.toml --dry-run",
    "bug.csv": f"coref score bug --data bug.csv --predictions bug.jsonl {_FEW}",
    "bug.jsonl": f"coref score bug --data bug.csv --predictions bug.jsonl {_FEW}",
    "winobias/dev_type1_pro_stereotype.v4_auto_conll": (
        f"coref score winobias --data winobias --predictions system.conll {_FEW}"
    ),
    "winobias/male_occupations.txt": f"coref score winobias --data winobias --baseline first {_FEW}",
    "system.conll": f"coref score winobias --data winobias --predictions system.conll {_FEW}",
    "system.jsonl": f"coref score winobias --data winobias --predictions system.jsonl {_FEW}",
    "winogender/all_sentences.tsv": f"coref score winogender --data winogender --predictions winogender.jsonl {_FEW}",
    "winogender/occupations-stats.tsv": (
        f"coref score winogender --data winogender --predictions winogender.jsonl {_FEW}"
    ),
    "winogender.jsonl": f"coref score winogender --data winogender --predictions winogender.jsonl {_FEW}",
    "gap/gap-test.tsv": f"coref score gap --data gap/gap-test.tsv --predictions gap.tsv {_FEW}",
    "gap.tsv": f"coref score gap --data gap --predictions gap.tsv {_FEW}",
    "gap/gap-test-name-spans.json": (
        "coref score gap --data gap/gap-test.tsv --name-spans gap/gap-test-name-spans.json --baseline dist-1 "
        f"--baseline random {_FEW}"
    ),
    "weights.json": f"coref score gap --data gap --predictions gap.tsv --weights weights.json {_FEW}",
    "counter-gap.tsv": f"coref score counter-gap --data counter-gap.tsv --predictions counter-gap-labels.tsv {_FEW}",
    "counter-gap-labels.tsv": (
        f"coref score counter-gap --data counter-gap.tsv --predictions counter-gap-labels.tsv {_FEW}"
    ),
    "names.tsv": f"coref augment --data train.conll --kind names --names names.tsv {_OUT}.conll",
    "train.conll": f"coref augment --data train.conll --kind names --names names.tsv {_OUT}.conll",
    "vocabulary.toml": f"coref export sowinobias --data vocabulary.toml --format jsonl {_OUT}.jsonl",
    "sowinobias.jsonl": f"coref score sowinobias --data vocabulary.toml --predictions sowinobias.jsonl {_FEW}",
    "judgements.tsv": "corpora check --data bug.csv --judgements judgements.tsv",
    "vectors.txt": "embeddings measure --vectors vectors.txt --words words.toml --measure direct",
    "words.toml": "embeddings measure --vectors vectors.txt --words words.toml --measure direct",
}
"""A command for each input file that it reads; all of them succeed."""

ALSO: Mapping[str, tuple[str, ...]] = {
    "corpus.tsv": (
        f"corpora counterfactual --dataset custom --data corpus.tsv {_OUT}.tsv",
        f"export --dataset custom --data corpus.tsv {_OUT}.txt",
        f"eval --model demo --lang de --dataset custom --data corpus.tsv --stanza-dir mtbias:demo {_OUT}",
    ),
    "bug.csv": (
        f"{_SCORE} --dataset bug --data bug.csv --translations lines.txt",
        f"corpora counterfactual --dataset bug --data bug.csv {_OUT}.tsv",
        f"corpora balance --dataset bug --data bug.csv {_OUT}.csv",
        f"corpora check --data bug.csv {_OUT}.html",
        "corpora check --data bug.csv --judgements judgements.tsv",
    ),
    "winomt/en.txt": (f"corpora counterfactual --data winomt {_OUT}.tsv",),
    "sweep.toml": (
        "submit sweep.toml --dry-run",
        "status sweep.toml",
        "doctor --sweep sweep.toml",
        "fetch --sweep sweep.toml",
        "sweep sweep.toml --tasks",
    ),
    "target.txt": (f"{_VALIDATE} --gold labels.csv --translations target.txt",),
    "gap/gap-test.tsv": (
        f"coref gap-weights --data gap/gap-test.tsv --name-spans gap/gap-test-name-spans.json {_OUT}.json",
        f"coref counterfactual --data gap/gap-test.tsv {_OUT}.tsv",
    ),
    "gap/gap-test-name-spans.json": (
        f"coref gap-weights --data gap/gap-test.tsv --name-spans gap/gap-test-name-spans.json {_OUT}.json",
    ),
    "vectors.txt": (f"embeddings debias --vectors vectors.txt --words words.toml --method hard {_OUT}.vectors.txt",),
}
"""Further commands that read the same files."""

Damage = Callable[[Path], object]


def _rewrite(change: Callable[[bytes], bytes], path: Path) -> None:
    path.write_bytes(change(path.read_bytes()))


def _instead(make: Callable[[Path], object], path: Path) -> None:
    path.unlink()
    make(path)


def _binary(_: bytes) -> bytes:
    return random.Random(0).randbytes(3000)


def _latin_1(content: bytes) -> bytes:
    middle = content.find(b"a", len(content) // 2)
    return content[:middle] + "é".encode("latin-1") + content[middle:]


def _half(content: bytes) -> bytes:
    """Cut within a word of the line in the middle, as a download that broke off."""
    lines = content.rstrip(b"\n").split(b"\n")
    whole, cut = lines[: len(lines) // 2], lines[len(lines) // 2]
    return b"\n".join([*whole, cut[: max(1, len(cut) // 3)]])


DAMAGES: Mapping[str, Damage] = {
    "absent": lambda path: path.unlink(),
    "a folder": partial(_instead, Path.mkdir),
    "a named pipe": partial(_instead, os.mkfifo),  # which nobody writes into
    "a dangling link": partial(_instead, lambda path: path.symlink_to("nowhere")),
    "a link to itself": partial(_instead, lambda path: path.symlink_to(path.name)),
    "unreadable": partial(_instead, lambda path: path.symlink_to("/proc/self/mem")),  # EIO for everybody, root too
    "empty": partial(_rewrite, lambda _: b""),
    "blank": partial(_rewrite, lambda _: b"\n  \n\n"),
    "only a byte-order mark": partial(_rewrite, lambda _: "\ufeff".encode()),
    "binary": partial(_rewrite, _binary),
    "zeros": partial(_rewrite, lambda _: bytes(5000)),
    "UTF-16": partial(_rewrite, lambda content: content.decode().encode("utf-16")),
    "Latin-1": partial(_rewrite, _latin_1),
    "a web page": partial(_rewrite, lambda _: b"<!DOCTYPE html>\n<html><title>404: Not Found</title></html>\n"),
    "half": partial(_rewrite, _half),
}
"""What befalls files of any format; all are to be refused."""


def _generic() -> list[Attack]:
    rows = []
    for file, command in GOOD.items():
        for damage, apply in DAMAGES.items():
            for n, argv in enumerate((command, *ALSO.get(file, ()))):
                if n and damage not in {"absent", "a folder", "binary", "Latin-1", "half", "empty"}:
                    continue  # the same reader: only what a command may meet before it
                name = f"{file}: {damage}" + (f" ({' '.join(argv.split()[:2])} {n})" if n else "")
                code, why = TAKEN.get((file, damage), (1, ""))
                rows.append(Attack(name, argv, partial(apply, Path(file)), code, why))
    return rows


TAKEN: Mapping[tuple[str, str], tuple[int, str]] = {
    ("winobias/male_occupations.txt", "half"): (0, "a list of words, which nothing tells from a shorter one"),
}
"""Files that are acceptable all the same, with the reason."""


def _marks() -> list[Attack]:
    """A byte-order mark and Windows' line ends, as Excel and Notepad write them, change nothing."""
    why = "a byte-order mark is dropped and CRLF ends a line"
    return [
        Attack(f"{file}: byte-order mark and CRLF", command, partial(_rewrite, _from_windows, Path(file)), 0, why)
        for file, command in GOOD.items()
    ]


def _from_windows(content: bytes) -> bytes:
    return "\ufeff".encode() + content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def _replaced(file: str, old: str, new: str, count: int = 1) -> Callable[[], object]:
    """Another text in the place of one that must be there."""

    def change() -> None:
        text = Path(file).read_text(encoding="utf-8")
        assert old in text, (file, old)
        Path(file).write_bytes(text.replace(old, new, count).encode("utf-8", errors="surrogatepass"))

    return change


def _edit(file: str, what: str, old: str, new: str, code: int = 1, why: str = "", count: int = 1) -> Attack:
    return Attack(f"{file}: {what}", GOOD[file], _replaced(file, old, new, count), code, why)


DEEP = "[" * 100_000
LONG = "9" * 5000
EDITS = (
    _edit("corpus.tsv", "no column of sources", "\tsource\t", "\tsentence\t"),
    _edit("corpus.tsv", "a column twice", "\tdomain\t", "\tsource\t"),
    _edit("corpus.tsv", "an id twice", "demo-0002\tThe", "demo-0001\tThe"),
    _edit("corpus.tsv", "no id", "demo-0002\tThe", "\tThe"),
    _edit("corpus.tsv", "an unknown gender", "\tmale\t", "\tking\t"),
    _edit("corpus.tsv", "an entity that is not in the sentence", "\tpilot\t", "\tdriver\t"),
    _edit("corpus.tsv", "a negative offset", "\t4\t9\t", "\t-4\t9\t"),
    _edit("corpus.tsv", "an offset beyond the sentence", "\t4\t9\t", "\t4\t900\t"),
    _edit("corpus.tsv", "an offset that is no number", "\t4\t9\t", "\tnan\t9\t"),
    _edit(
        "corpus.tsv",
        "an offset of thousands of digits",
        "\t4\t9\t",
        f"\t{LONG}\t9\t",
    ),
    _edit("corpus.tsv", "an unknown stereotype", "\tpro\t", "\tmaybe\t"),
    _edit("corpus.tsv", "a pair that is not there", "\tdemo-0001\n", "\tdemo-9999\n"),
    _edit("corpus.tsv", "its own pair", "\tdemo-0002\n", "\tdemo-0001\n"),
    _edit("corpus.tsv", "a field less", "\tpro\twork\t", "\tpro\t"),
    _edit("corpus.tsv", "a field more", "\tpro\twork\t", "\tpro\twork\tx\t"),
    _edit("corpus.tsv", "an empty sentence", "The pilot talked with his colleagues yesterday.", ""),
    _edit("corpus.tsv", "commas for tabs", "\t", ",", count=1000),
    Attack(
        "corpus.tsv: the header alone",
        GOOD["corpus.tsv"],
        partial(_rewrite, lambda content: content.split(b"\n")[0], Path("corpus.tsv")),
    ),
    _edit("corpus.csv", "a quotation mark without its partner", "demo-0003,", 'demo-0003,"'),
    _edit("corpus.csv", "a field of 200,000 characters", "The young pilot", "x" * 200_000),
    _edit("corpus.jsonl", "a list in a line", '{"id": "demo-0002"', '[]\n{"id": "demo-0002"'),
    _edit(
        "corpus.jsonl", "a nested value", '"source": "The pilot talked with her', '"domain": {"a": 1}, "x": [1], "y": "'
    ),
    _edit("corpus.jsonl", "nested without end", '{"id": "demo-0002"', f'{DEEP}\n{{"id": "demo-0002"'),
    _edit("corpus.jsonl", "a number of thousands of digits", '"entity_start": "4"', f'"entity_start": {LONG}'),
    _edit("corpus.jsonl", "NaN", '"entity_start": "4"', '"entity_start": NaN'),
    _edit("corpus.jsonl", "infinity", '"entity_start": "4"', '"entity_start": Infinity'),
    _edit("corpus.jsonl", "true for a number", '"entity_start": "4"', '"entity_start": true'),
    _edit("corpus.jsonl", "half of a surrogate pair", "The pilot talked with his", "The pilot \\ud800 talked with his"),
    _edit(
        "corpus.jsonl",
        "a key twice",
        '{"id": "demo-0002"',
        '{"id": "x", "id": "demo-0002"',
    ),
    _edit("target.jsonl", "a key twice", '{"id": "demo-0002"', '{"id": "demo-0001", "id": "demo-0002"'),
    _edit("bug.jsonl", "a key twice", '{"id": 1', '{"id": 2, "id": 1'),
    _edit("target.tsv", "no column of targets", "id\ttarget", "id\twording"),
    _edit("target.tsv", "an id twice", "demo-0002\t", "demo-0001\t"),
    _edit("target.tsv", "an unknown id", "demo-0002\t", "demo-9999\t"),
    _edit("target.tsv", "no id", "demo-0002\t", "\t"),
    _edit("target.jsonl", "a target of a wrong type", '"target": "Der Pilot', '"target": 5, "x": "'),
    _edit("target.jsonl", "a target that is a list", '"target": "Der Pilot', '"target": ["a"], "x": "'),
    _edit("target.txt", "a line without separator", " ||| ", " | "),
    _edit("target.txt", "sources of another corpus", "The ", "A ", count=100),
    _edit("lines.txt", "a line too many", "Der Pilot", "Noch etwas.\nDer Pilot"),
    _edit("lines.txt", "a line too few", "\nDie", " Die"),
    _edit("winomt/en.txt", "an unknown gender", "male\t", "king\t"),
    _edit("winomt/en.txt", "a word index beyond the sentence", "\t1\t", "\t99\t"),
    _edit("winomt/en.txt", "a negative word index", "\t1\t", "\t-1\t"),
    _edit("winomt/en.txt", "three columns", "\tpilot\n", "\n"),
    _edit(
        "winomt/en_pro.txt",
        "a row that en.txt does not have",
        "his colleagues",
        "his friends",
    ),
    _edit("labels.csv", "an unknown label", ",m,1,1", ",x,1,1"),
    _edit("labels.csv", "no column of labels", "label,", "labels,"),
    _edit("labels.csv", "a head beyond the target", ",N,1,", ",N,77,"),
    _edit(
        "labels.csv",
        "an unknown basis",
        ",N,1,",
        ",Q,1,",
    ),
    _edit(
        "labels.csv",
        "an unknown mark of use",
        ",m,1,1",
        ",m,7,1",
    ),
    _edit("labels.csv", "a mark of use in words", ",m,1,1", ",m,yes,1"),
    _edit("labels.csv", "another language", "de,S", "fr,S", count=100),
    _edit("labels.csv", "a negative head", ",N,1,", ",N,-1,"),
    _edit(
        "women.tsv",
        "a share above 1",
        "0.05",
        "1.5",
    ),
    _edit("women.tsv", "per cent beside shares", "0.05", "5"),
    _edit("women.tsv", "a negative share", "0.05", "-0.5"),
    _edit("women.tsv", "NaN", "0.05", "nan"),
    _edit("women.tsv", "infinity", "0.05", "inf"),
    _edit("women.tsv", "text for a share", "0.05", "many"),
    _edit("women.tsv", "an occupation twice", "nurse\t", "pilot\t"),
    _edit("women.tsv", "no column of shares", "entity\tshare", "entity\twomen"),
    _edit("bug.csv", "a column twice", "stereotype", "profession"),
    _edit("bug.csv", "no column of sentences", "sentence_text", "text"),
    _edit("bug.csv", "an unknown gender", "Male", "King"),
    _edit("bug.csv", "a negative distance", ",wikipedia,2,", ",wikipedia,-2,"),
    _edit("bug.csv", "NaN for a distance", ",wikipedia,2,", ",wikipedia,nan,"),
    _edit("bug.jsonl", "an id twice", '"id": 1', '"id": 0'),
    _edit("bug.jsonl", "no id", '"id": 1, ', ""),
    _edit("bug.jsonl", "an unknown id", '"id": 1', '"id": 77'),
    _edit("bug.jsonl", "an index that is text", "[0, 1]", '["0", 1]'),
    _edit("bug.jsonl", "a negative index", "[0, 1]", "[-1, 1]"),
    _edit("bug.jsonl", "an end before its start", "[0, 1]", "[1, 0]"),
    _edit("bug.jsonl", "an index beyond the sentence", "[0, 1]", "[0, 100]"),
    _edit("bug.jsonl", "an index that is NaN", "[0, 1]", "[0, NaN]"),
    _edit("bug.jsonl", "true for an index", "[0, 1]", "[0, true]"),
    _edit("bug.jsonl", "nested without end", "[[[0, 1], [3, 3]]]", DEEP),
    _edit("bug.jsonl", "a mention of three", "[0, 1]", "[0, 1, 2]"),
    _edit("system.conll", "a document twice", "nw/pro//1", "nw/pro//0", count=100),
    _edit("system.conll", "an unknown document", "nw/pro//1", "nw/pro//7", count=100),
    _edit("system.conll", "a mention without end", "1)", "-"),
    _edit("system.conll", "a mention without start", "(1\n", "-\n"),
    _edit("system.conll", "other words", "plumber", "driver"),
    _edit("system.conll", "no end of a document", "#end document\n#begin", "#begin"),
    _edit("system.jsonl", "clusters that are no list", "[[[0, 1], [6, 6]]]", '"all"'),
    _edit(
        "system.jsonl", "predicted clusters of one document alone", '"clusters"', '"clusters": [], "predicted_clusters"'
    ),
    _edit(
        "system.jsonl", "fastcoref's clusters that are no lists", "[[[0, 1], [6, 6]]]", '[3], "clusters_strings": []'
    ),
    _edit("winogender/occupations-stats.tsv", "a share above 100", "60.5", "160.5"),
    _edit("winogender/occupations-stats.tsv", "NaN", "60.5", "nan"),
    _edit("winogender/occupations-stats.tsv", "an occupation twice", "plumber", "florist"),
    _edit("winogender/occupations-stats.tsv", "an occupation less", "clerk", "judge"),
    _edit("gap/gap-test.tsv", "an offset that does not fit", "\t19\tAnn\t0", "\t19\tAnn\t5"),
    _edit("gap/gap-test.tsv", "a negative offset", "\t19\tAnn\t0", "\t19\tAnn\t-1"),
    _edit("gap/gap-test.tsv", "an unknown truth", "\tTRUE", "\tperhaps"),
    _edit("gap/gap-test.tsv", "an id twice", "t-1\t", "t-0\t"),
    _edit("gap/gap-test.tsv", "an unknown pronoun", "\the\t", "\tit\t"),
    _edit("gap/gap-test.tsv", "no column of texts", "\tText\t", "\tSentence\t"),
    _edit("gap/gap-test-name-spans.json", "an id twice", '"t-1":', '"t-0":'),
    _edit("gap/gap-test-name-spans.json", "an id less", '"t-1":', '"t-99":'),
    _edit("gap/gap-test-name-spans.json", "a list", "{", "[{"),
    _edit("gap/gap-test-name-spans.json", "nested without end", "[[0, 3", f"{DEEP}[[0, 3"),
    _edit("gap/gap-test-name-spans.json", "an offset beyond the text", "[0, 3", "[0, 3000"),
    _edit("gap/gap-test-name-spans.json", "an offset that is text", "[0, 3", '["0", 3'),
    _edit("gap/gap-test-name-spans.json", "NaN", "[0, 3", "[NaN, 3"),
    _edit("weights.json", "a negative weight", '"t-4a": 1.0', '"t-4a": -1.0'),
    _edit("weights.json", "NaN", '"t-4a": 1.0', '"t-4a": NaN'),
    _edit("weights.json", "infinity", '"t-4a": 1.0', '"t-4a": Infinity'),
    _edit("weights.json", "a number beyond floating point", '"t-4a": 1.0', '"t-4a": 1e999'),
    _edit("weights.json", "text", '"t-4a": 1.0', '"t-4a": "one"'),
    _edit("weights.json", "true", '"t-4a": 1.0', '"t-4a": true'),
    _edit("weights.json", "an id less", '"t-4a": 1.0, ', ""),
    _edit("weights.json", "an id twice", '"t-4a": 1.0', '"t-2a": 1.0'),
    _edit("counter-gap.tsv", "an instance less", "q-0-swap-2", "q-9-swap-2"),
    _edit("counter-gap-labels.tsv", "an id twice", "q-0-control", "q-0"),
    _edit("counter-gap-labels.tsv", "an unknown label", "TRUE", "perhaps"),
    _edit("counter-gap-labels.tsv", "a row less", "q-1\tTRUE\tFALSE\n", ""),
    _edit("names.tsv", "an unknown gender", "\tfemale\t", "\tqueen\t"),
    _edit("names.tsv", "a negative frequency", "\t3\t1", "\t-3\t1"),
    _edit("names.tsv", "NaN", "\t3\t1", "\tnan\t1"),
    _edit("names.tsv", "infinity", "\t3\t1", "\tinf\t1"),
    _edit("names.tsv", "no column of genders", "gender", "sex"),
    _edit("train.conll", "two columns", "\t0\t0\tThe\t(1", ""),
    _edit("vocabulary.toml", "a list less", "male_occupations", "men"),
    _edit("vocabulary.toml", "an empty list", '["kind", "sweet"]', "[]"),
    _edit("vocabulary.toml", "numbers for words", '["kind", "sweet"]', "[1, 2]"),
    _edit("vocabulary.toml", "a word twice", '["kind", "sweet"]', '["kind", "kind"]'),
    _edit("vocabulary.toml", "text for a list", '["kind", "sweet"]', '"kind"'),
    _edit("sowinobias.jsonl", "an unknown id", "pro-positive-pilot-nurse-kind", "pro-positive-pilot-nurse-cruel"),
    _edit("vectors.txt", "NaN", "1.000", "nan"),
    _edit("vectors.txt", "infinity", "1.000", "inf"),
    _edit("vectors.txt", "beyond floating point", "1.000", "1e999"),
    _edit("vectors.txt", "text for a number", "1.000", "x"),
    _edit("vectors.txt", "a number less", "she 1.000 ", "she "),
    _edit("vectors.txt", "a wrong count of dimensions", "10 3", "10 4"),
    _edit("vectors.txt", "a huge count of words", "10 3", "99999999999999 3"),
    _edit("vectors.txt", "a huge count of dimensions", "10 3", "10 99999999999999"),
    _edit("vectors.txt", "negative counts", "10 3", "-10 -3"),
    Attack(
        "words.toml: a measure without its section",
        GOOD["words.toml"].replace("--measure direct", "--measure weat"),
    ),
    _edit("words.toml", "a date", '["nurse", "pilot", "cook"]', "2020-01-01"),
    _edit("words.toml", "an unknown section", "[direct]", "[directly]"),
    _edit("words.toml", "pairs of three", '["she", "he"]', '["she", "he", "they"]'),
    _edit("words.toml", "words that are a table", 'words = ["nurse", "pilot", "cook"]', "words = {a = 1}"),
    _edit("words.toml", "words without vector", '["nurse", "pilot", "cook"]', '["x", "y"]'),
)

FILES = (*_generic(), *_marks(), *EDITS)
