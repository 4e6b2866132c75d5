"""Wrong command lines: options left out, repeated, contradictory; unknown names; numbers out of range; odd paths."""

from __future__ import annotations

from pathlib import Path

from mtbias.cli import COMMANDS

from .attack import Attack
from .attacks_files import GOOD

_SCORE = GOOD["corpus.tsv"]
_EVAL = "eval --model demo --lang de --out out"
NAMES = [
    f"{name} {part}".rstrip()
    for commands in COMMANDS.values()
    for name, inner in commands.items()
    for part in ([""] if isinstance(inner, str) else inner)
]
"""Every command."""
_NEEDS_NOTHING = {"doctor", "export", "corpora describe"}


def _usage(name: str, argv: str, code: int = 2) -> Attack:
    return Attack(f"usage: {name}", argv, None, code)


def _numbers() -> list[Attack]:
    rows = []
    values = {
        "beams": ("0", "-1", "1.5", "many", "1e3", "", "99999999999"),
        "length-penalty": ("nan", "inf", "-inf", "x", "1e999"),
        "max-length": ("0", "2", "-5", "99999999999999"),
        "batch-rows": ("0", "-1", "9" * 40),
        "seed": ("-1", "1.0", "18446744073709551616", "9" * 40, "9" * 5000, "nan", "x"),
        "resamples": ("-1", "1.5", "nan", "9" * 30),
        "processes": ("0", "-2", "9" * 30),
    }
    for option, value in ((option, value) for option, given in values.items() for value in given):
        rows.append(
            _usage(
                f"--{option} {value[:24] or 'nothing'}{'…' * (len(value) > 24)} of {len(value)}",
                f"{_EVAL} --{option} '{value}'",
            )
        )
    for option, value in (("seed", "-1"), ("seed", "9" * 40), ("resamples", "-1"), ("resamples", "9" * 30)):
        for base in (
            _SCORE,
            GOOD["labels.csv"],
            GOOD["bug.csv"],
            GOOD["gap.tsv"],
            GOOD["counter-gap.tsv"],
            "compare runs/a runs/b",
        ):
            argv = " ".join(word for word in base.replace("--resamples 200", "").split())
            words = argv.split()[: 3 if argv.startswith("coref") else 2]
            rows.append(_usage(f"{' '.join(words)} --{option} {value[:8]}", f"{argv} --{option} {value}"))
    embeddings = GOOD["vectors.txt"]
    for option, value in (
        ("c", "nan"), ("c", "inf"), ("c", "-1"), ("partitions", "0"), ("neighbours", "0"), ("theta", "nan"),
        ("theta", "inf"), ("train-share", "nan"), ("train-share", "0"), ("train-share", "1"), ("train-share", "2"),
        ("svm-c", "0"), ("svm-c", "nan"), ("svm-c", "inf"), ("svm-gamma", "nan"), ("svm-gamma", "-1"), ("limit", "0"),
        ("kmeans-starts", "0"), ("repeats", "0"), ("resamples", "-1"), ("selection", "all"), ("edgeless-weight", "2"),
        ("direction", "up"), ("measure", "all"), ("seed", "-1"),
    ):  # fmt: skip
        argv = embeddings.replace(" --measure direct", "")
        rows.append(_usage(f"embeddings measure --{option} {value}", f"{argv} --{option} {value}"))
    return rows


def _damaged_cache() -> None:
    for folder in Path("cache").iterdir():
        if folder.is_dir():
            (folder / "wrong").touch()
    path = Path("cache/datasets/bug")
    path.mkdir(parents=True)
    (path / "full_BUG.csv").write_bytes(b"x")


def _pins() -> None:
    Path("cache/models.json").write_text("[1]", encoding="utf-8")


USAGE = (
    Attack("usage: no command", "evaluate", code=2),
    *(_usage(f"{command}: nothing given", command) for command in NAMES if command not in _NEEDS_NOTHING),
    *(_usage(f"{command}: an unknown option", f"{command} --wrong 5") for command in NAMES),
    *(
        _usage(f"{command}: a word too many", f"{command} x y z")
        for command in NAMES
        if command not in {"report", "compare"}
    ),
    *_numbers(),
    # Unknown names.
    _usage("eval: an unknown model", "eval --model opus --lang de"),
    _usage("eval: an empty model", "eval --model '' --lang de"),
    _usage("eval: a model that is a path above", "eval --model ../../x --lang de"),
    _usage("eval: an unknown scheme", "eval --model nobody:gpt --lang de"),
    _usage("eval: an unknown language", "eval --model demo --lang tlh"),
    _usage("eval: a language that the demo lacks", "eval --model demo --lang fr --stanza-dir mtbias:demo"),
    _usage("list: models of a language without a code", "list models --lang German"),
    _usage("eval: an empty language", "eval --model demo --lang ''"),
    _usage("eval: a language that is a path", "eval --model demo --lang ../de"),
    _usage("eval: an unknown data set", f"{_EVAL} --dataset x"),
    _usage("eval: an empty data set", f"{_EVAL} --dataset ''"),
    _usage("eval: custom without data", f"{_EVAL} --dataset custom"),
    _usage("eval: an unknown engine", f"{_EVAL} --engine onnx"),
    _usage("eval: an unknown preset", f"{_EVAL} --preset quick"),
    _usage("eval: an unknown aligner", f"{_EVAL} --aligner giza"),
    _usage("eval: an unknown reader", f"{_EVAL} --evidence lexicon"),
    _usage("eval: a reader where no entity is read", f"{_EVAL} --dataset gest --evidence stanza"),
    _usage("eval: an unknown device", f"{_EVAL} --device tpu"),
    _usage("eval: a device that is not here", f"{_EVAL} --device cuda:99"),
    _usage("eval: an unknown type of weights", f"{_EVAL} --dtype int3"),
    _usage("eval: an unknown type of weights with ct2", f"{_EVAL} --engine ct2 --dtype int3"),
    _usage("eval: an unknown target code", f"{_EVAL} --target-code xx"),
    _usage("eval: a revision of the demo", f"{_EVAL} --revision main"),
    _usage("eval: a shard without out", "eval --model demo --lang de --shard 1/2"),
    *(
        _usage(f"eval: --shard {shard}", f"{_EVAL} --shard {shard}")
        for shard in ("0/2", "3/2", "1", "a/b", "1/0", "-1/2", "1/2/3", "1.5/2", f"1/{'9' * 40}", "''")
    ),
    _usage("eval: a model twice", f"{_EVAL} --model demo"),
    _usage("eval: an option without its value", "eval --model demo --lang"),
    _usage("eval: an option for a value", "eval --model --lang de"),
    _usage("score: json twice", f"{_SCORE} --json=perhaps"),
    _usage("eval: a hub model that is not here", "eval --model no/such --lang de --offline", code=1),
    _usage("score: an unknown language", _SCORE.replace("--lang de", "--lang tlh")),
    _usage("score: no translations", _SCORE.replace("--translations target.tsv", "")),
    _usage("score: no Stanza models", _SCORE.replace("mtbias:demo", "nowhere"), code=1),
    _usage("score: Stanza's folder is a file", _SCORE.replace("mtbias:demo", "women.tsv"), code=1),
    _usage("score: the cache is a file", f"{_SCORE} --cache-dir women.tsv", code=1),
    _usage("validate: an unknown annotator", f"{GOOD['labels.csv']} --annotator 9", code=1),
    _usage("validate: an unknown basis", f"{GOOD['labels.csv']} --basis Z"),
    _usage("validate: an unknown language", GOOD["labels.csv"].replace("--lang de", "--lang tlh")),
    _usage("validate: a basis of no label", f"{GOOD['labels.csv']} --basis P", code=1),
    _usage("compare: one run", "compare runs/a"),
    _usage("compare: names too few", "compare runs/a runs/b --name x"),
    _usage("compare: json and csv", "compare runs/a runs/b --json --format csv"),
    _usage("compare: an unknown format", "compare runs/a runs/b --format xml"),
    _usage("compare: an unknown property", "compare runs/a runs/b --weighted colour"),
    _usage("compare: rows in a file of no form", "compare runs/a runs/b --rows -"),
    _usage("compare: rows into a folder", "compare runs/a runs/b --rows runs"),
    _usage("report: neither page nor table", "report runs/a"),
    _usage("report: women in a table", "report runs/a --format csv --women women.tsv"),
    _usage("report: a column without a file", "report runs/a --women-column share --out out.html"),
    _usage("report: an unknown column", "report runs/a --women women.tsv --women-column x --out out.html", code=1),
    _usage("fetch: an unknown data set", "fetch --dataset x"),
    _usage("fetch: the custom data set", "fetch --dataset custom"),
    _usage("fetch: an unknown language", "fetch --lang tlh"),
    _usage("fetch: an unknown model", "fetch --model opus"),
    _usage("fetch: a model for each language without one", "fetch --model opus-mt"),
    _usage("fetch: a sweep and a model", "fetch --sweep sweep.toml --model demo"),
    _usage("fetch: a hash that is none", "fetch --dataset winomt --sha256 xyz"),
    _usage("fetch: a hash that is none, behind a model", "fetch --model opus-mt --lang de --dataset bug --sha256 xyz"),
    _usage("fetch: a hash of what is known", f"fetch --model opus-mt --lang de --dataset winomt --sha256 {'0' * 64}"),
    _usage("fetch: a hash of no data set", f"fetch --model opus-mt --lang de --sha256 {'0' * 64}"),
    _usage("fetch: no network", "fetch --dataset winomt", code=1),
    _usage("fetch: no network for a model", "fetch --model opus-mt --lang de", code=1),
    _usage("fetch: no network for Stanza", "fetch --lang de", code=1),
    _usage("corpora: no command", "corpora wrong"),
    _usage("corpora: an unknown form", "export --data winomt --format xml"),
    _usage("corpora: export into a folder", "export --data winomt --out winomt", code=1),
    _usage("corpora: an unknown suffix", "corpora counterfactual --data winomt --out out.xlsx"),
    _usage("corpora: out is a folder", "corpora counterfactual --data winomt --out winomt.tsv/x.tsv", code=1),
    _usage(
        "corpora balance: quarters and a property",
        "corpora balance --data winomt --out out.tsv --quarters --over length",
    ),
    _usage("corpora balance: an unknown property", "corpora balance --data winomt --out out.tsv --over colour"),
    _usage("corpora balance: a sample as a spreadsheet", "corpora balance --data winomt --out out.xlsx"),
    _usage(
        "corpora balance: a property of no sentence",
        "corpora balance --data winomt --out out.tsv --over distance",
        code=1,
    ),
    _usage("corpora check: no page", "corpora check --data bug.csv --out out.tsv"),
    _usage("corpora check: no rows", "corpora check --data bug.csv --out out.html --rows 0"),
    _usage("corpora check: another corpus", "corpora check --data winomt/en.txt --out out.html", code=1),
    _usage(
        "corpora check: a page and judgements",
        "corpora check --data bug.csv --judgements judgements.tsv --out out.html",
    ),
    _usage(
        "corpora check: three readers",
        "corpora check --data bug.csv --judgements judgements.tsv judgements.tsv judgements.tsv",
    ),
    _usage("corpora describe: other sentences for each language", "corpora describe --dataset mt-geneval"),
    _usage("corpora mine: no text", "corpora mine --out out.tsv"),
    _usage("corpora mine: out is a spreadsheet", "corpora mine --text lines.txt --out out.xlsx"),
    _usage("corpora mine: no processes", "corpora mine --text lines.txt --out out.tsv --processes 0"),
    _usage("corpora mine: too far", "corpora mine --text lines.txt --out out.tsv --max-distance 0"),
    _usage("corpora mine: no confidence", "corpora mine --text lines.txt --out out.tsv --min-confidence 2"),
    _usage(
        "corpora mine: no models",
        "corpora mine --text lines.txt --occupations occupations.csv --out out.tsv --stanza-dir winomt",
        code=1,
    ),
    _usage("corpora mine: no occupations", "corpora mine --text lines.txt --out out.tsv", code=1),
    _usage("coref: no command", "coref wrong"),
    _usage("coref score: an option of another data set", "coref score bug --data bug.csv --baseline first"),
    _usage("coref winobias: an unknown baseline", "coref score winobias --data winobias --baseline best"),
    _usage("coref winobias: a folder without data", "coref score winobias --data winogender --baseline first", code=1),
    _usage(
        "coref winogender: a folder without data",
        "coref score winogender --data winobias --predictions winogender.jsonl",
        code=1,
    ),
    _usage("coref conll: no file", "coref score conll --baseline perfect", code=1),
    *(
        _usage(f"coref gap: --baseline {name}", f"coref score gap --data gap --baseline {name}")
        for name in ("best", "dist-0", "dist--1", "dist-99999", "''")
    ),
    _usage("coref gap: a baseline without names", "coref score gap --data gap/gap-test.tsv --baseline dist-1"),
    _usage(
        "coref gap: weights twice",
        "coref score gap --data gap --predictions gap.tsv --weights weights.json --weights weights.json",
    ),
    _usage("coref gap-weights: no names", "coref gap-weights --data gap/gap-test.tsv"),
    _usage(
        "coref gap-weights: no models to find names",
        "coref gap-weights --data gap/gap-test.tsv --name-spans auto --stanza-dir winomt",
        code=1,
    ),
    _usage("coref augment: an unknown kind", "coref augment --data train.conll --kind all --out out.conll"),
    _usage("coref augment: names 0", "coref augment --data train.conll --kind names --max-names 0 --out out.conll"),
    _usage("coref augment: onto a folder", "coref augment --data train.conll --kind names --out gap", code=1),
    # Odd paths: what is printed of them must not move the cursor of a terminal.
    *(
        Attack(
            f"path with {what}: {' '.join(argv[:2])}",
            [*argv, odd],
            code=1,
        )
        for what, odd in (
            ("a line", "no\nsuch"),
            ("an escape", "no\x1b[31msuch"),
            ("a carriage return", "no\rsuch"),
            ("a bell", "no\x07such"),
        )
        for argv in (
            ["status"],
            ["sweep"],
            ["report", "--out", "out.html"],
            ["score", "--lang", "de", "--translations"],
            ["validate", "--lang", "de", "--gold"],
            ["coref", "score", "bug", "--predictions", "bug.jsonl", "--data"],
            ["embeddings", "measure", "--vectors"],
        )
    ),
    *(
        Attack(f"a path of a name too long: {argv[0]}", [*argv, "n" * 300], code=1)
        for argv in (
            ["status"],
            ["report", "--out", "out.html"],
            ["score", "--lang", "de", "--translations"],
            ["doctor", "--sweep"],
        )
    ),
    *(
        Attack(
            f"an unknown name with an escape: {option}",
            ["eval", "--model", "demo", "--lang", "de", option, "no\x1b[31m\nx"],
            code=2,
        )
        for option in ("--dataset", "--engine", "--device", "--dtype", "--preset", "--shard", "--target-code")
    ),
    Attack("a model with an escape", ["eval", "--model", "no\x1b[31m\nx", "--lang", "de"], code=2),
    Attack("a language with an escape", ["eval", "--model", "demo", "--lang", "no\x1b[31m\nx"], code=2),
    Attack("a command with an escape", ["no\x1b[31m\nx"], code=2),
    Attack("an option with an escape", ["eval", "--no\x1b[31mx"], code=2),
    Attack(
        "a run's folder with a line",
        [*_SCORE.replace("--out out", "").split(), "--out", "out\nb"],
        None,
        0,
        "a folder may be named so",
    ),
    Attack("rows onto a run", "compare runs/a runs/b --rows runs/a --resamples 200", code=2),
    Attack(
        "a corpus in a cache that is damaged",
        "score --lang de --dataset bug --translations lines.txt",
        _damaged_cache,
    ),
    Attack(
        "pins that are damaged",
        "eval --model facebook/x --lang de --dataset custom --data corpus.tsv --stanza-dir mtbias:demo",
        _pins,
    ),
)
