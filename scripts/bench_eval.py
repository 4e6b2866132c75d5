"""A whole `mtbias eval` against the plain way, each as a process from its start to its end, with a
real checkpoint.

    OMP_NUM_THREADS=1 python scripts/bench_eval.py --model FOLDER --data WINOMT --stanza-dir DIR
        [--rounds 2]

The plain way is EasyNMT 2.0's: transformers, sentences sorted by length, batches of 16, beam 5,
fp32, every sentence translated, written to a file; nothing else. `mtbias eval` translates, keeps
every batch, aligns, analyses, decides, scores and writes the report; so `mtbias score` of the plain
way's file stands beside it, which makes the two equal in what they do. Stanza's analyses are new in
every run; the conversion for CTranslate2 is made before, and its seconds are printed. Processes
take turns, round by round; ratios are of the same round, in CPU seconds of all threads and
children, so that other work on the machine counts little. The checkpoint must be of M2M100's
architecture.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "languages"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.bench.scratch import scratch
from scripts.bench.work import BASELINE_BATCH

PLAIN, SCORED = "as EasyNMT 2.0, translations alone", "as EasyNMT 2.0, then mtbias score"
ENGINES = {
    "mtbias eval, CTranslate2 fp32": ("--engine", "ct2"),
    "mtbias eval, transformers fp32": (),
}


def plain(folder: Path, lang: str, data: Path, out: Path) -> None:
    """Translate without any code of mtbias; the file has WinoMT's form, ``source ||| target``."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    lines = (data / "en.txt").read_text(encoding="utf-8").splitlines()
    sources = [line.split("\t")[2] for line in lines if line.strip()]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer.src_lang = "en"
    order = sorted(range(len(sources)), key=lambda n: -len(sources[n]))
    targets = [""] * len(sources)
    for start in range(0, len(order), BASELINE_BATCH):
        rows = order[start : start + BASELINE_BATCH]
        inputs = tokenizer(
            [sources[n] for n in rows], truncation=True, padding=True, return_tensors="pt"
        )
        with torch.no_grad():
            made = model.generate(
                **inputs, num_beams=5, forced_bos_token_id=tokenizer.get_lang_id(lang)
            )
        for n, text in zip(
            rows, tokenizer.batch_decode(made, skip_special_tokens=True), strict=True
        ):
            targets[n] = text.strip()
    pairs = (f"{source} ||| {target}\n" for source, target in zip(sources, targets, strict=True))
    out.write_text("".join(pairs), encoding="utf-8")


def timed(command: Sequence[str | Path]) -> tuple[float, float]:
    """CPU seconds of a process with its children, and seconds; what it prints is thrown away.

    Raises:
        SystemExit: it ended with an error.
    """
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *map(str, command)], stdout=subprocess.DEVNULL, env=_environment()
    )
    try:
        _, status, used = os.wait4(process.pid, 0)
    except BaseException:  # Ctrl-C, SIGTERM
        process.kill()
        raise
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} ended with status {process.returncode}")
    return used.ru_utime + used.ru_stime, time.perf_counter() - began


def _environment() -> dict[str, str]:
    root = Path(__file__).resolve().parent.parent
    paths = [str(root), str(root / "languages"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "HF_HUB_OFFLINE": "1"}


def table(seconds: Mapping[str, Sequence[float]]) -> str:
    """CPU seconds of every round, and how many times as fast as the plain way, alone and with
    scoring.
    """
    lines = [
        "| process | CPU s, by round | × translations alone | × with mtbias score |",
        "|---|---|---:|---:|",
    ]
    for name, own in seconds.items():
        cells = [name, ", ".join(f"{one:.1f}" for one in own)]
        for baseline in (PLAIN, SCORED):
            ratios = [other / one for one, other in zip(own, seconds[baseline], strict=True)]
            cells.append(f"{median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def shares(run: Path) -> str:
    """How the seconds of a run divide, by its manifest."""
    execution = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["execution"]
    share = execution["translate_seconds"] / execution["seconds"]
    return f"translating is {share:.0%} of its seconds after loading"


def measure(args: argparse.Namespace, home: Path) -> dict[str, list[float]]:
    """All processes, round by round."""
    common = [
        "--lang",
        args.lang,
        "--data",
        args.data,
        "--stanza-dir",
        args.stanza_dir,
        "--cache-dir",
        home / "cache",
    ]
    seconds: dict[str, list[float]] = {name: [] for name in (PLAIN, SCORED, *ENGINES)}
    file = home / "plain.txt"

    def fresh(name: str) -> Path:
        for each in (home / "cache" / "analyses", home / name):
            shutil.rmtree(each, ignore_errors=True)
        return home / name

    for turn in range(args.rounds):
        own, wall = timed(
            [
                __file__,
                "--plain",
                file,
                "--model",
                args.model,
                "--lang",
                args.lang,
                "--data",
                args.data,
            ]
        )
        seconds[PLAIN].append(own)
        say(f"round {turn + 1}: {PLAIN}: {own:.1f} CPU s in {wall:.1f} s")
        scored, wall = timed(
            ["-m", "mtbias", "score", "--translations", file, *common, "--out", fresh("scored")]
        )
        seconds[SCORED].append(own + scored)
        say(f"round {turn + 1}: mtbias score: {scored:.1f} CPU s in {wall:.1f} s")
        for name, options in ENGINES.items():
            out = fresh("run")
            used, wall = timed(
                [
                    "-m",
                    "mtbias",
                    "eval",
                    "--model",
                    args.model,
                    "--device",
                    "cpu",
                    *options,
                    *common,
                    "--out",
                    out,
                ]
            )
            seconds[name].append(used)
            say(f"round {turn + 1}: {name}: {used:.1f} CPU s in {wall:.1f} s; {shares(out)}")
    return seconds


def say(line: str) -> None:
    """Tell at once what is done, since the whole takes long."""
    print(line, file=sys.stderr, flush=True)


def thinned(data: Path, every: int, home: Path) -> Path:
    """A folder with each `every`-th row of WinoMT."""
    (home / "winomt").mkdir()
    rows = (data / "en.txt").read_text(encoding="utf-8").splitlines(keepends=True)[::every]
    for name in ("en.txt", "en_pro.txt", "en_anti.txt"):
        known = set((data / name).read_text(encoding="utf-8").splitlines(keepends=True))
        (home / "winomt" / name).write_text(
            "".join(row for row in rows if row in known), encoding="utf-8"
        )
    return home / "winomt"


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True, help="folder of the checkpoint")
    parser.add_argument("--data", type=Path, required=True, help="WinoMT's folder")
    parser.add_argument("--stanza-dir", type=Path)
    parser.add_argument("--lang", default="de")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument(
        "--every", type=int, default=1, help="only each N-th row, to see whether it runs"
    )
    parser.add_argument("--plain", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.plain is not None:
        plain(args.model, args.lang, args.data, args.plain)
        return
    with scratch("bench-eval") as home:
        if args.every > 1:
            args.data = thinned(args.data, args.every, home)
        from mtbias.translate.seq2seq.ct2_conversion import convert

        began = time.process_time()
        convert(args.model, home / "cache")
        print(
            f"converted for CTranslate2 in {time.process_time() - began:.1f} CPU s, once",
            file=sys.stderr,
        )
        rows = len((args.data / "en.txt").read_text(encoding="utf-8").splitlines())
        print(
            f"{rows:,} sentences, {args.lang}, {args.rounds} rounds\n\n{table(measure(args, home))}"
        )


if __name__ == "__main__":
    main()
