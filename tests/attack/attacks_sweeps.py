"""Sweeps with bad values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .attack import Attack

_BASE = {
    "out": "'out'",
    "models": "['demo']",
    "languages": "['de']",
    "datasets": "['demo']",
}


def _sweep(more: str = "", **values: str) -> Callable[[], object]:
    """Write a sweep with other values (TOML), or further lines."""
    text = "".join(f"{key} = {value}\n" for key, value in {**_BASE, **values}.items() if value) + more
    return lambda: Path("sweep.toml").write_bytes(text.encode("utf-8", errors="surrogatepass"))


def _row(what: str, more: str = "", code: int = 1, **values: str) -> Attack:
    return Attack(f"sweep: {what}", "sweep sweep.toml --dry-run", _sweep(more, **values), code)


def _set(what: str, change: str) -> Attack:
    return Attack(f"sweep --set: {what}", ["sweep", "sweep.toml", "--dry-run", "--set", change], _sweep(), 2)


SWEEPS = (
    # Unknown names: as the call itself was wrong.
    _row("an unknown model", models="['opus']", code=2),
    _row("an unknown model among known ones", models="['demo', 'opus']", code=2),
    _row("a folder of a model that is not there", models="['/no/such/folder']", code=2),
    _row("a scheme that no plugin has", models="['nobody:gpt']", code=2),
    _row("an unknown language", languages="['tlh']", code=2),
    _row("a language that the demo lacks", languages="['de', 'fr']", code=2),
    _row("a language in capitals", languages="['DE']", code=2),
    _row("an unknown data set", datasets="['winobias']", code=2),
    _row("the custom data set without data", datasets="['custom']", code=2),
    _row("an unknown engine", engine="'onnx'"),
    _row("an unknown preset", presets="['quick']"),
    _row("an unknown aligner", aligner="'giza'"),
    _row("an unknown device", device="'tpu'"),
    _row("an unknown type of weights", dtype="'int4'"),
    _row("an unknown type of weights, with ct2", dtype="'int4'", engine="'ct2'"),
    # Names that reach sbatch.
    _row("a name with an escape", name='"a\\u001b[31m"'),
    _row("a name with a line", name='"a\\nb"'),
    _row("a name with a space", name="'a b'"),
    _row("a name with a slash", name="'../a'"),
    _row("a name that is an option", name="'--wrap=x'"),
    _row("a name with a quotation mark", name='"a\'b"'),
    _row("a name of 1000 letters", name=f"'{'a' * 1000}'"),
    _row("a folder of runs with a line", out='"out\\ntouch evil"'),
    _row("a folder of runs with an escape", out='"out\\u001b"'),
    _row("an option of sbatch with a line", '[slurm.extra]\n"qos=a\\ntouch evil\\n#" = "b"\n'),
    _row("an option of sbatch with a value in its name", '[slurm.extra]\n"qos=a --wrap" = "b"\n'),
    _row("an option of sbatch without a name", '[slurm.extra]\n"" = "b"\n'),
    _row("a name that is a number", name="5"),
    # Numbers.
    _row("not a number", length_penalty="nan"),
    _row("infinity", length_penalty="inf"),
    _row("minus infinity", length_penalty="-inf"),
    _row("beams 0", beams="0"),
    _row("beams -1", beams="-1"),
    _row("beams 1.5", beams="1.5"),
    _row("beams as text", beams="'5'"),
    _row("beams true", beams="true"),
    _row("a million beams", beams="1000000"),
    _row("a billion beams", beams="1000000000"),
    _row("max_length 0", max_length="0"),
    _row("max_length huge", max_length="1000000000000"),
    _row("a seed of 65 bits", seed="18446744073709551616"),
    _row("a negative seed", seed="-1"),
    _row("negative resamples", resamples="-1"),
    _row("resamples huge", resamples="1000000000000"),
    _row("shards 0", shards="0"),
    _row("shards huge", shards="1000000000000"),
    _row("processes 0", processes="0"),
    _row("batch_rows huge", batch_rows="1000000000000000000000000000000000000000000000"),
    _row("sentences_per_shard 0", sentences_per_shard="0"),
    # Shapes.
    _row("no models", models=""),
    _row("an empty list", models="[]"),
    _row("an empty name", models="['']"),
    _row("a model twice", models="['demo', 'demo']"),
    _row("text for a list", models="'demo'"),
    _row("a number in a list", models="[1]"),
    _row("a list in a list", models="[['demo']]"),
    _row("an unknown key", beems="5"),
    _row("a key twice", "beams = 5\nbeams = 4\n"),
    _row("no out", out=""),
    _row("out is a number", out="5"),
    _row("out is a date", out="2020-01-01"),
    _row("data is a time", "[data]\ndemo = 10:00:00\n"),
    _row("a date in a list", models="['demo', 2020-01-01]"),
    _row("a table for text", engine="{a = 1}"),
    _row("data of another data set", "[data]\nwinomt = 'winomt'\n"),
    _row("data that is not there", "[data]\ndemo = 'nowhere.tsv'\n"),
    _row("nested without end", f"x = {'[' * 20_000}"),
    _row(
        "a number of thousands of digits",
        f"beams = {'9' * 5000}\n",
    ),
    _row("memory in words", "[slurm]\nmem = 'much'\n"),
    _row("negative minutes", "[slurm]\nminutes = -5\n"),
    _row("a huge number of GPUs", "[slurm]\ngpus = 1000000000000000000000\n"),
    _row("a partition with a line", '[slurm]\npartition = "a\\nb"\n'),
    _row("an unknown key of Slurm", "[slurm]\nmemory = '5G'\n"),
    _row("slurm is text", slurm="'yes'"),
    _row("models that share a folder", models="['a/b', 'a--b']"),
    # Changes beside a file.
    _set("an unknown model", "models=opus"),
    _set("an unknown language", "languages=tlh"),
    _set("an unknown data set", "datasets=x"),
    _set("an unknown preset", "presets=quick"),
    _set("an unknown engine", "engine=onnx"),
    _set("an empty model", "models="),
    _set("no language", "languages=[]"),
    _set("an unknown key", "modles=demo"),
    _set("an unknown key of a table", "slurm.memory=5G"),
    _set("a table for text", "engine.x=1"),
    _set("text for a table", "slurm=5G"),
    _set("no value", "models"),
    _set("no key", "=demo"),
    _set("nothing", ""),
    _set("a line in a key", "a\nb=1"),
    _set("a key that is no key", "a b=1"),
    _set("not a number", "length_penalty=nan"),
    _set("a fraction", "seed=1.5"),
    _set("a date", "out=2020-01-01"),
    _set("a time", "out=10:00:00"),
    _set("a number of thousands of digits", f"seed={'9' * 5000}"),
    _set("a folder's name with a line", "out=out\nb"),
    Attack("sweep: standard input", "sweep - --dry-run"),
    Attack("sweep: an unknown task", "sweep sweep.toml --task score:fr", code=2),
    Attack("sweep: jobs 0", "sweep sweep.toml --jobs 0", code=2),
    Attack("sweep: GPUs that are not here", "sweep sweep.toml --gpus 99", code=2),
    Attack("submit: an unknown model", "submit sweep.toml --dry-run", _sweep(models="['opus']"), code=2),
    Attack("submit: an unknown language", "submit sweep.toml --dry-run", _sweep(languages="['tlh']"), code=2),
    Attack("submit: max-parallel 0", "submit sweep.toml --max-parallel 0", code=2),
    Attack("sweep: tasks of an unknown model", "sweep sweep.toml --tasks", _sweep(models="['opus']"), code=2),
    Attack("sweep: tasks of an unknown language", "sweep sweep.toml --tasks", _sweep(languages="['tlh']"), code=2),
    Attack("status: an unknown data set", "status sweep.toml", _sweep(datasets="['x']"), code=2),
)
