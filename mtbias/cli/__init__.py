"""The command line: one module a command; errors become exit codes here and nowhere else.

Exit codes: 0 done; 1 a data, model, plugin or dependency error, in one line; 2 wrong usage, an
unknown name of anything included; 130 interrupted; 143 stopped by SIGTERM. Results go to standard
output, progress and logs to standard error.

Commands are functions whose parameters are the options; settings classes (`mtbias.settings`) become
groups of options. The library is cyclopts: it takes such classes, imports a command only when it is
used, shows groups, choices and defaults, suggests a name that was meant, and installs completion.
typer would need each setting once more as a parameter.
"""

from __future__ import annotations

import gc
import io
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from importlib import import_module
from inspect import signature
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

from cyclopts import (
    App,
    ArgumentCollection,
    CycloptsError,
    Group,
    MissingArgumentError,
    Parameter,
    UnusedCliTokensError,
)

from mtbias.errors import (
    STANDARD_INPUT,
    MtbiasError,
    OutputError,
    SettingError,
    UsageError,
    one_line,
)
from mtbias.files.file_ledger import one_command
from mtbias.machine import network
from mtbias.settings import ADVANCED
from mtbias.version import __version__

__all__ = ["COMMANDS", "main", "make_app"]

COMMANDS: dict[str, dict[str, str | dict[str, str]]] = {
    "Run": {
        "eval": "mtbias eval --model opus-mt --lang de --out runs/opus-de",
        "score": "mtbias score --translations winomt.de.txt --lang de --out runs/my-system-de",
        "validate": "mtbias validate --lang de --gold labels.csv --correct runs/opus-de "
        "--out validation.html",
        "explain": "mtbias explain --lang es --entity cook 'The cook left.' 'La cocinera salió.'",
    },
    "Compare and report": {
        "compare": "mtbias compare runs/opus-de runs/m2m100-de --rows differing.csv",
        "controlled": "mtbias controlled none=runs/de female=runs/women-de male=runs/men-de",
        "report": "mtbias report runs/opus-de runs/m2m100-de --out report.html",
        "publish": "mtbias publish runs/opus-de runs/m2m100-de --out site",
    },
    "Resources": {
        "fetch": "mtbias fetch --model opus-mt --dataset winomt --lang de",
        "list": "mtbias list datasets --cite",
        "export": "mtbias export --dataset winomt --out winomt.en.txt",
        "languages": {
            "new": "mtbias languages new pl --lexicon nouns.tsv unimorph --out mtbias-polish",
            "check": "mtbias languages check pl --challenge challenge/pl.tsv",
        },
        "corpora": {
            "counterfactual": "mtbias corpora counterfactual --dataset winomt --out pairs.tsv "
            "--controls",
            "mine": "mtbias corpora mine --text articles.txt.gz --out corpus.tsv",
            "describe": "mtbias corpora describe --dataset bug-gold --data gold_BUG.csv",
            "check": "mtbias corpora check --data corpus.tsv --out check.html",
            "balance": "mtbias corpora balance --dataset bug --data corpus.tsv --out balanced.tsv",
        },
        "align": {
            "tune": "mtbias align tune --encoder e5-small --pairs en-de.txt --out e5-small-de",
        },
        "doctor": "mtbias doctor --sweep paper.toml",
    },
    "Many runs, clusters": {
        "sweep": "mtbias sweep paper.toml --set languages=de,ru --set out=runs/paper",
        "submit": "mtbias submit paper.toml",
        "status": "mtbias status paper.toml",
    },
    "Coreference, word vectors, metrics of quality": {
        "coref": {
            "score": "mtbias coref score winobias --data winobias --predictions system.conll",
            "run": "mtbias coref run --system stanza --model model.pt --dataset bug "
            "--data BUG.csv --out bug.jsonl",
            "eval": "mtbias coref eval --system stanza --model model.pt --data coreference "
            "--out runs/ours",
            "export": "mtbias coref export winobias --data winobias --format conll "
            "--out winobias.conll",
            "train": "mtbias coref train --data train.conll --dev dev.conll "
            "--encoder bert-base-cased --out trained",
            "augment": "mtbias coref augment --data train.conll --kind names --out augmented.conll",
            "match-names": "mtbias coref match-names --names first_names.tsv --out pairs.tsv",
            "counterfactual": "mtbias coref counterfactual --data gap-development.tsv "
            "--out quadruples.tsv",
            "gap-weights": "mtbias coref gap-weights --data gap --out weights.json",
        },
        "embeddings": {
            "measure": "mtbias embeddings measure --vectors vectors.txt --debiased hard.txt "
            "--debiased inlp.txt",
            "debias": "mtbias embeddings debias --vectors vectors.txt --method hard --out hard.txt",
        },
        "metric": {
            "contrasts": "mtbias metric contrasts --lang de --out contrasts.tsv",
            "bias": "mtbias metric bias --contrasts contrasts.tsv --scores comet.tsv",
        },
    },
}
"""Every command with an example, by the groups of the help; some consist of commands."""

_PARTS = {
    "languages": "Write the plugin of a new language, and check it.",
    "align": "Tune an encoder for word alignment.",
    "corpora": "Mine corpora from text, describe, pair, check and balance corpora.",
    "coref": "Score coreference systems on data sets of gender bias, and solve weights.",
    "embeddings": "Measure gender bias in word vectors, and debias them.",
    "metric": "Measure whether a metric of translation quality prefers one gender.",
}
"""Help of the commands that only consist of commands."""

_ADVANCED = Group("Advanced")  # without a place in the order: last

_EXAMPLES = """\
Examples:

- mtbias eval --model demo --lang de
- mtbias eval --model opus-mt --lang de --out runs/opus-de
- mtbias score --translations winomt.de.txt --lang de --out runs/my-system-de
- mtbias compare runs/opus-de runs/my-system-de

`mtbias COMMAND --help` explains a command and ends with an example of it; `--debug` with any
command shows the traceback of an error.
"""


class _Command(App):
    """A command, or a group of commands, whose help shows `ADVANCED` settings last."""

    def assemble_argument_collection(
        self,
        **options: Any,  # noqa: ANN401 - as of `App`
    ) -> ArgumentCollection:
        """See `App`."""
        arguments = super().assemble_argument_collection(**options)
        advanced = Parameter(group=_ADVANCED)
        for argument in arguments:
            if argument.name.lstrip("-").replace("-", "_") in ADVANCED:
                argument.parameter = Parameter.combine(argument.parameter, advanced)
        return arguments


def make_app(words: Sequence[str] | None = None) -> App:
    """The command line for `words`, with only the summaries of other commands; None for all."""
    app = _Command(
        name="mtbias",
        help="Measure gender bias in machine translation.",
        help_epilogue=_EXAMPLES,
        help_format="markdown",
        version=f"mtbias {__version__}",
        print_error=False,
        exit_on_error=False,
        suppress_keyboard_interrupt=False,
        result_action="return_none",
        group_commands=Group.create_ordered("Help"),  # after those above
        config=_refuse_fractions,
    )
    for title, commands in COMMANDS.items():
        group = Group.create_ordered(title)
        for name, example in commands.items():
            chosen = words is None or name in words[:1]
            if isinstance(example, str):
                # A module `list` would hide Python's.
                module = "listing" if name == "list" else name
                app.command(_command(name, module, example, group, chosen=chosen))
                continue
            part = _Command(
                name=name,
                help=_PARTS[name],
                group=group,
                group_commands="Commands",
                help_epilogue="",
            )
            for inner, inner_example in example.items() if chosen else ():
                module = f"{name}_{inner.replace('-', '_')}"
                is_chosen = words is None or inner in words[1:2]
                part.command(_command(inner, module, inner_example, None, chosen=is_chosen))
            app.command(part)
    app.register_install_completion_command(
        help="Install completion of commands and options in your shell."
    )
    return app


def _command(name: str, module: str, example: str, group: Group | None, *, chosen: bool) -> App:
    """A command; the module of its function is imported where it is `chosen`."""
    epilogue = f"Example: `{example}`\n"
    if not chosen:
        source = Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
        docstring = source.partition("\ndef command(")[2].partition('"""')[2]
        summary = docstring.partition("\n")[0].removesuffix('"""')
        return _Command(name=name, group=group, help=summary)
    # An option for several values takes them in a row, or one each time.
    each = Parameter(negative=(), consume_multiple=1)
    app = _Command(name=name, group=group, help_epilogue=epilogue, default_parameter=each)
    app.default(_with_outputs(import_module(f"mtbias.cli.{module}").command))
    return app


_STANDARD_OUTPUT = Path("/dev/stdout")
OUTPUTS = ("out", "plots", "report", "rows")
"""Parameters of commands that name what is written, where they are paths."""


def _with_outputs(command: Callable[..., None]) -> Callable[..., None]:
    """The command with a ledger, so that it overwrites no input (`mtbias.files.file_ledger`)."""

    @wraps(command)
    def checked(*words: Any, **options: Any) -> None:  # noqa: ANN401 - those of the command
        values = signature(command).bind(*words, **options).arguments
        outputs: dict[Path, str | None] = {_STANDARD_OUTPUT: None}  # it may be a file
        for name in OUTPUTS:
            if isinstance(values.get(name), Path):
                outputs[values[name]] = name
        runs: Sequence[Path] = values.get("runs") or []
        with one_command(outputs, page_of=runs[0] if len(runs) == 1 else None):
            command(*words, **options)

    return checked


def _refuse_fractions(_app: App, _commands: Sequence[str], arguments: ArgumentCollection) -> None:
    """Refuse 1.5 for a whole number, which cyclopts would round to 2.

    Raises:
        UsageError: an option for whole numbers has a fraction.
    """
    for argument in arguments:
        if int not in {argument.hint, *get_args(argument.hint)}:
            continue
        for token in argument.tokens:
            if "." in token.value:
                raise UsageError(f"{argument.name}: expected a whole number, got {token.value!r}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words  # for every command, before or behind its name
    words = _with_named_streams([word for word in words if word != "--debug"])
    _make_writable()
    try:
        guard: AbstractContextManager[None] = nullcontext()
        if network.is_forbidden():
            guard = network.no_network(f"{network.VARIABLE}={os.environ[network.VARIABLE]}")
        with _logging(everything=debug), _stopped_by_sigterm(), _seldom_collecting(), guard:
            make_app(None if words[:1] == ["--install-completion"] else words)(words)
        if sys.stdout is not None:  # None where the caller closed it
            sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output left ("| head"): nothing is wrong
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Stopped:
        _say("stopped by SIGTERM; the same command resumes")
        return 143
    except KeyboardInterrupt:
        _say("interrupted; the same command resumes")
        return 130
    except (MtbiasError, CycloptsError, OSError) as error:
        if debug:
            traceback.print_exc()
        _say(_in_words(error))
        return 2 if isinstance(error, UsageError | CycloptsError) else 1
    return 0


def _with_named_streams(words: Sequence[str]) -> list[str]:
    """The words with a file name for `-`, which cyclopts takes for an option without a name."""
    renamed: list[str] = []
    for before, word in pairwise(["", *words]):
        option, _, value = word.partition("=") if word.startswith("--") else ("", "", word)
        stream = str(_STANDARD_OUTPUT) if (option or before) == "--out" else STANDARD_INPUT
        renamed.append(f"{option}={stream}".removeprefix("=") if value == "-" else word)
    return renamed


def _in_words(error: Exception) -> str:
    """An error in one line, in which a setting is named as an option."""
    if isinstance(error, SettingError | OutputError) and error.setting is not None:
        return f"--{error.setting.replace('_', '-')}: {error.message}"
    if isinstance(error, OSError):
        return f"{error.filename or 'the system'}: {error.strerror or error}"
    advice = "(--help lists what there is)"
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        return f"expected an option or nothing more, got {error.unused_tokens[0]!r} {advice}"
    if isinstance(error, MissingArgumentError) and error.argument:
        name, choices = error.argument.name, error.argument.get_choices()
        missing = f"a value after {name}" if error.keyword else f"the option {name}"
        among = f", one of {', '.join(choices)}" if choices else ""
        if not name.startswith("-"):
            return f"expected {name}{among}, in front of the options {advice}"
        return f"expected {missing}{among} {advice}"
    if isinstance(error, CycloptsError):
        return f"{str(error).rstrip('.')} {advice}"
    return str(error)


class Stopped(KeyboardInterrupt):
    """The process got SIGTERM; as after Ctrl-C, nothing is left half-written."""


@contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """Raise `Stopped` on SIGTERM within the block, unless the surrounding program handles it."""

    def stop(*_: object) -> None:
        raise Stopped

    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if not ours:
        yield
        return
    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


_NEW_OBJECTS = 50_000
"""New objects, less the freed ones, after which the garbage collector looks for cycles."""


@contextmanager
def _seldom_collecting() -> Iterator[None]:
    """Let the garbage collector run less often in the block: commands build analyses and calls by
    the million, without cycles, and it would go through all of them again and again.
    """
    before = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class _LineFormatter(logging.Formatter):
    """Shows each message in one line, since it may quote the content of files."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        return one_line(super().formatMessage(record))


@contextmanager
def _logging(*, everything: bool) -> Iterator[None]:
    """Log to standard error, a line for each message; with `everything`, also the warnings of other
    libraries.
    """
    printer = logging.StreamHandler()
    printer.setFormatter(_LineFormatter("mtbias: %(message)s"))
    # A handler at the root keeps Stanza from setting up its own.
    handlers = {None: printer} if everything else {"mtbias": printer, None: logging.NullHandler()}
    ours = logging.getLogger("mtbias")
    level = ours.level
    ours.setLevel(logging.INFO)
    for name, handler in handlers.items():
        logging.getLogger(name).addHandler(handler)
    try:
        yield
    finally:
        ours.setLevel(level)
        for name, handler in handlers.items():
            logging.getLogger(name).removeHandler(handler)


def _make_writable() -> None:
    """Write UTF-8 into files and pipes, whatever the locale; a terminal shows a substitute for
    characters that it lacks.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        if sys.stdout.isatty():
            sys.stdout.reconfigure(errors="replace")
        else:
            # A file name need not be UTF-8: its other bytes become escapes, which JSON allows too.
            sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")


def _say(message: str) -> None:
    if sys.stderr is not None:  # None where the caller closed it
        print(f"mtbias: {one_line(message)}", file=sys.stderr)
