"""The command line: one module a command; errors become exit codes here and nowhere else.

Exit codes: 0 done; 1 a data, model, plugin or dependency error, in one line; 2 wrong usage; 130 interrupted; 143
stopped by SIGTERM.
Results go to standard output, progress and logs to standard error.
"""

from __future__ import annotations

import argparse
import io
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module

from mtbias import __version__
from mtbias.errors import MtbiasError, UsageError
from mtbias.machine import network as offline

__all__ = ["build_parser", "main"]

COMMANDS = {
    "eval": "translate a corpus with a model, and say how biased the translations are",
    "score": "how biased given translations of WinoMT, BUG or your own sentences are",
    "compare": "whether systems differ, how sure that is, and how much is the data's doing",
    "validate": "how often the evaluator agrees with human labels",
    "report": "one page to look at, tables for papers, and plots, from finished runs",
    "corpora": "make the counterfactual version of a corpus, with twins that differ in gender alone",
    "coref": "score coreference systems on the data sets of gender bias",
    "sweep": "many models, languages and data sets on this machine, and the table of the paper",
    "submit": "the same as job arrays on a Slurm cluster",
    "status": "what is done of a sweep, what runs, what failed, what is left",
    "doctor": "what is here and what is missing: versions, devices, models, data; runs the demo",
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
        with _logging(everything=args.debug), _stopped_by_sigterm(), _network(args):
            args.run(args)
        if sys.stdout is not None:  # None where the caller closed it
            sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output left ("| head"): nothing is wrong
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Stopped:
        _say("stopped by SIGTERM; the same command goes on")
        return 143
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


class Stopped(KeyboardInterrupt):
    """SIGTERM came: all is left as after Ctrl-C, nothing half-written."""


@contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """Within the block SIGTERM is `Stopped`, unless the program around us has its own way with it."""

    def stop(*_: object) -> None:
        raise Stopped

    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if not ours:
        yield
        return
    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _network(args: argparse.Namespace) -> AbstractContextManager[None]:
    """Cut the network off where ``--offline`` or the environment asks for it."""
    if offline.asked_for():
        return offline.no_network(f"{offline.VARIABLE}={os.environ[offline.VARIABLE]}")
    return offline.no_network("--offline") if getattr(args, "offline", False) else nullcontext()


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
