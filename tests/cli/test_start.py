"""Start-up: fast, without heavy libraries, with the exit codes and streams that scripts rely on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest
from cyclopts import App

from mtbias import __version__
from mtbias.cli import COMMANDS, main, make_app
from mtbias.demo import demo_file, reference_file
from tests.draws import crossed

from .machine import Machine

NAMES = [name for commands in COMMANDS.values() for name in commands]
SCORE = ["score", "--lang", "de", "--translations", "x"]
HEAVY = ("torch", "transformers", "stanza", "matplotlib", "pandas", "sklearn", "scipy")
LISTING = f"import sys; print(*[name for name in {HEAVY} + ('numpy',) if name in sys.modules])"


def _loaded(code: str, **more: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{LISTING}"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | more,
    )
    return done.stdout.splitlines()[-1].split()


def test_importing_loads_nothing_heavy() -> None:
    assert _loaded("import mtbias, mtbias.cli, mtbias.corpora, mtbias.runs, mtbias.plugin") == []


def test_importing_what_computes_loads_numpy_at_most() -> None:
    modules = ("scoring", "evaluation.stages", "align", "reading", "morphology", "report.run_table")
    assert set(_loaded(f"import {', '.join(f'mtbias.{name}' for name in modules)}")) <= {"numpy"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["coref", "--help"],
        ["list", "languages"],
        ["list", "datasets", "--cite"],
    ],
)
def test_commands_that_compute_nothing_load_nothing(arguments: list[str], tmp_path: Path) -> None:
    code = f"from mtbias.cli import main; main({arguments!r})"
    assert _loaded(code, MTBIAS_CACHE=str(tmp_path)) == []


def test_help_of_a_command_that_computes_loads_numpy_at_most() -> None:
    commands = (
        "eval",
        "score",
        "compare",
        "coref score",
        "fetch",
        "doctor",
        "sweep",
        "submit",
        "status",
    )
    code = f"from mtbias.cli import main\nfor name in {commands}: main([*name.split(), '--help'])"
    assert set(_loaded(code)) <= {"numpy"}


def test_help_imports_no_command() -> None:
    code = "from mtbias.cli import main; main(['--help']); import sys; print(*[m for m in sys.modules if '.cli.' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""


def _first_line(command: App) -> str:
    return (
        (command.default_command.__doc__ or "").splitlines()[0]
        if command.default_command
        else str(command.help)
    )


def test_a_summary_is_the_first_line_of_the_docstring() -> None:
    whole, listed = make_app(), make_app([])
    for name in NAMES:
        assert listed[name].help == _first_line(whole[name])
        parts = make_app([name])[name]
        for part in whole[name]:
            if not part.startswith("-"):
                assert parts[part].help == _first_line(whole[name][part])


def test_eval_shows_at_most_18_options_before_the_advanced_ones() -> None:
    arguments = [a for a in make_app(["eval"])["eval"].assemble_argument_collection() if a.show]
    advanced = {a.name for a in arguments if "Advanced" in str(a.parameter.group)}
    assert {"--aligner-layer", "--processes", "--target-code", "--max-requests"} <= advanced
    assert len(arguments) - len(advanced) <= 18


def test_help_goes_to_standard_output_and_names_every_command(bare: Machine) -> None:
    done = bare.run("--help")
    assert done.stderr == ""
    for title, commands in COMMANDS.items():
        group = done.stdout[done.stdout.index(title) :].partition("╰")[0]
        for name in commands:
            assert re.search(rf"^│ {name}\b +\w", group, re.MULTILINE), name
    done = bare.run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"mtbias {__version__}\n", "")


def test_without_a_command_there_is_help(bare: Machine) -> None:
    done = bare.run()
    assert (done.returncode, done.stdout) == (0, bare.run("--help").stdout)
    assert "--debug" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evla"], 'Unknown command "evla". Did you mean "eval"?'),
        (["coref", "scores"], 'Unknown command "scores". Did you mean "score"?'),
        (["score", "--lang", "de"], "expected the option --translations (--help"),
        (["eval", "--lang", "de", "--model"], "expected a value after --model (--help"),
        (
            ["score", "--lang", "de", "--translations", "x", "--seed", "-1"],
            "--seed: expected a whole number of at least 0",
        ),
        ([*SCORE, "--seed", "1.5"], "--seed: expected a whole number, got '1.5'"),
        (
            [*SCORE, "--resamples", "many"],
            'Invalid value for --resamples: unable to convert "many" into int',
        ),
        (
            ["eval", "--model", "demo", "--lang", "de", "--beams", "2.5"],
            "--beams: expected a whole number, got '2.5'",
        ),
        (
            ["eval", "--model", "demo", "--lang", "de", "--batch-rows", "0"],
            "--batch-rows: expected a whole number of at least 1",
        ),
        (
            ["eval", "--model", "demo", "--lang", "de", "--preset", "slow"],
            'Choose from: "paper", "fast"',
        ),
        (["list", "languages", "--nope"], "Unknown option: --nope"),
        (
            ["eval", "--model", "demo", "--lang", "de", "es"],
            "expected an option or nothing more, got 'es'",
        ),
        (
            ["eval", "--model", "demo", "--lang", "fr"],
            "the model demo translates into ar, cs, de, es, he, it, ru, uk ",
        ),
        (["list", "models", "--lang", "German"], "did you mean de? there are ar"),
        (["compare", "--name", "a", "b"], "expected RUN, in front of the options"),
        (
            ["list"],
            "expected WHAT, one of models, languages, datasets, prompts, presets, in front of the options",
        ),
        (["fetch", "--lang"], "expected a value after --lang (--help"),
        (["fetch", "--lang", "de", "tlh", "--dataset", "x", "y"], "no language 'tlh' is installed"),
        (["eval", "--model", "-", "--lang", "de"], "got '/dev/stdin'"),
        (["fetch"], "nothing to download: give --model MODEL, --dataset NAME or --lang CODE"),
    ],
)
def test_wrong_usage_ends_with_2_and_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("mtbias: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["eval", "--model", "demo", "--lang", "xx"],
        ["eval", "--model", "demo", "--lang", "de", "--dataset", "nonsense"],
        ["eval", "--model", "demo", "--lang", "de", "--aligner", "nonsense"],
        ["eval", "--model", "demo", "--lang", "de", "--engine", "nonsense"],
        ["eval", "--model", "demo", "--lang", "de", "--target-code", "nonsense"],
        ["eval", "--model", "demo", "--lang", "de", "--device", "nonsense"],
        ["eval", "--model", "no-such-model", "--lang", "de", "--dataset", "demo"],
        ["fetch", "--dataset", "nonsense"],
        ["fetch", "--lang", "xx"],
        ["validate", "--lang", "xx", "--gold", "labels.csv"],
    ],
)
def test_an_unknown_name_of_anything_ends_with_2(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MTBIAS_CACHE", str(tmp_path))
    monkeypatch.setenv("MTBIAS_NO_NETWORK", "1")
    assert main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_debug_shows_the_traceback_and_keeps_line_and_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["fetch", "--debug"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Traceback (most recent call last):\n")
    assert (
        err.splitlines()[-1]
        == "mtbias: nothing to download: give --model MODEL, --dataset NAME or --lang CODE"
    )


def test_debug_may_stand_before_the_command_too(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ["--debug", "fetch"],
        ["--debug", "coref", "score", "gap", "--data", "nowhere.tsv"],
    ):
        assert main(arguments) > 0
        assert capsys.readouterr().err.startswith("Traceback (most recent call last):\n")


@pytest.mark.parametrize(
    ("arguments", "where"),
    crossed(
        [["compare", "--help"], ["list", "datasets"]],
        [*product(["latin-1", "ascii"], [False, True])],
    ),
)
def test_an_encoding_that_lacks_characters_stops_nothing(
    arguments: list[str], where: tuple[str, bool], bare: Machine
) -> None:
    encoding, terminal = where
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    more = {"PYTHONIOENCODING": encoding} if encoding != "ascii" else {}
    ours, theirs = os.openpty() if terminal else os.pipe()
    with subprocess.Popen(
        [sys.executable, "-m", "mtbias", *arguments],
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE, env=bare.environment(**locale, **more),
    ) as process:  # fmt: skip
        os.close(theirs)
        written = b""
        with suppress(OSError):  # a terminal that nobody writes to any more is an error on Linux
            while part := os.read(ours, 4096):
                written += part
        os.close(ours)
        assert process.stderr is not None
        assert (process.stderr.read(), process.wait()) == (b"", 0)
    assert len(written) > 100
    if not terminal:
        written.decode("utf-8")


def test_a_device_that_is_not_here_is_refused_although_nothing_would_use_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    data = tmp_path / "few.tsv"
    data.write_text(
        "".join(demo_file().read_text(encoding="utf-8").splitlines(keepends=True)[:9]),
        encoding="utf-8",
    )
    own = [
        "--lang",
        "de",
        "--dataset",
        "demo",
        "--data",
        str(data),
        "--stanza-dir",
        "mtbias:demo",
        "--cache-dir",
        str(tmp_path / "cache"),
    ]
    score = ["score", "--translations", str(_references(tmp_path)), *own, "--out", str(out)]
    assert main(score) == 0
    assert main(score) == 0  # complete: only read
    capsys.readouterr()
    assert main([*score, "--device", "cuda:99"]) == 2
    assert capsys.readouterr().err.startswith(
        "mtbias: --device: expected a GPU of this machine, got cuda:99; torch sees "
    )


def _references(folder: Path) -> Path:
    path = folder / "references.tsv"
    path.write_bytes(reference_file("de").read_bytes())
    return path


def test_interrupted_ends_with_130_and_one_line(bare: Machine, tmp_path: Path) -> None:
    # The labels are a pipe that does not end: the process waits there until we interrupt it.
    labels = tmp_path / "labels.csv"
    labels.symlink_to("/dev/stdin")
    # A process started in the background may have been told to ignore interrupts, and would pass
    # that on.
    code = (
        "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "runpy.run_module('mtbias', run_name='__main__')"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, "validate", "--lang", "de", "--gold", str(labels)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=bare.environment(),
    ) as process:
        try:
            assert process.stdin is not None
            process.stdin.write(
                b"x" * 2**20
            )  # more than a pipe holds: done when the process is reading
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=600)
        finally:
            process.kill()
    assert (process.returncode, out, err) == (
        130,
        b"",
        b"mtbias: interrupted; the same command resumes\n",
    )


def test_a_reader_that_leaves_is_no_error(bare: Machine) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "mtbias", "list", "datasets", "--cite"],
            stdout=writing,
            stderr=subprocess.PIPE,
            env=bare.environment(),
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written_is_an_error(bare: Machine) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mtbias", "list", "datasets"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=bare.environment(),
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, b"mtbias: the system: No space left on device\n")


def test_a_closed_standard_output_is_no_error(bare: Machine) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", '"$0" -m mtbias list datasets >&-', sys.executable],
        capture_output=True,
        env=bare.environment(),
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_closed_standard_error_does_not_matter(bare: Machine) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", '"$0" -m mtbias fetch 2>&-', sys.executable],
        capture_output=True,
        env=bare.environment(),
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
