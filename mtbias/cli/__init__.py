"""The command line: one module a command; errors become exit codes here and nowhere else.

Exit codes: 0 done; 1 a data, model, plugin or dependency error, in one line; 2 wrong usage; 130 interrupted.
Results go to standard output, progress and logs to standard error.
"""

from __future__ import annotations

import argparse
import io
import logging
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

from mtbias import __version__
from mtbias.errors import MtbiasError, UsageError

__all__ = ["build_parser", "main"]

COMMANDS = {
    "eval": "translate a corpus with a model, and say how biased the translations are",
    "score": "how biased given translations of WinoMT, BUG or your own sentences are",
    "validate": "how often the evaluator agrees with human labels",
    "coref": "score coreference systems on the data sets of gender bias",
    "fetch": "bring models, data sets and Stanza resources, for machines without network",
    "models": "the translation models that have a short name, and whether they are here",
    "languages": "the target languages that are installed",
    "datasets": "the data sets, their licences and citations",
}
_EPILOG = """\
examples:
  mtbias eval --model demo --dataset demo --lang de
  mtbias eval --model opus-mt --lang de --out runs/opus-de
  mtbias fetch --dataset winomt --lang de
  mtbias score --translations winomt.de.txt --lang de --out runs/my-system-de
  mtbias validate --lang de --gold labels.csv --translations winomt.de.txt
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands. The commands' own modules load nothing heavy."""
    parser = argparse.ArgumentParser(
        prog="mtbias",
        description="Measures gender bias in machine translation.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"mtbias {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        module = import_module(f"mtbias.cli.{name}")
        command = commands.add_parser(
            name, help=summary, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        module.add_arguments(command)
        command.add_argument("--debug", action="store_true", help="show the traceback of an error")
        command.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    args = build_parser().parse_args(argv)
    _make_writable()
    try:
        with _logging(everything=args.debug):
            args.run(args)
        if sys.stdout is not None:  # None where the caller closed it
            sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output left ("| head"): nothing is wrong
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        _say("interrupted")
        return 130
    except (MtbiasError, OSError) as error:
        if args.debug:
            traceback.print_exc()
        if isinstance(error, OSError):
            _say(f"{error.filename or 'the system'}: {error.strerror or error}")
        else:
            _say(str(error))
        return 2 if isinstance(error, UsageError) else 1
    return 0


@contextmanager
def _logging(*, everything: bool) -> Iterator[None]:
    """Our warnings on standard error, a line each; those of other libraries only where `everything` is wanted."""
    shown = logging.StreamHandler()
    shown.setFormatter(logging.Formatter("mtbias: %(message)s"))
    # A handler at the root keeps Stanza from setting up its own.
    handlers = {None: shown} if everything else {"mtbias": shown, None: logging.NullHandler()}
    for name, handler in handlers.items():
        logging.getLogger(name).addHandler(handler)
    try:
        yield
    finally:
        for name, handler in handlers.items():
            logging.getLogger(name).removeHandler(handler)


def _make_writable() -> None:
    """UTF-8 into files and pipes, whatever the locale; on a terminal that cannot show a character, another for it."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        if sys.stdout.isatty():
            sys.stdout.reconfigure(errors="replace")
        else:
            sys.stdout.reconfigure(encoding="utf-8")


def _say(message: str) -> None:
    if sys.stderr is not None:  # None where the caller closed it
        print("mtbias: " + " ".join(message.splitlines()), file=sys.stderr)
