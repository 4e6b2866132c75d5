"""The table of what would be lost names every output of every command."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Annotated, Union, get_args, get_origin, get_type_hints

from mtbias.cli import OUTPUTS

from .tables import commands, lost_files

INPUTS = {
    "against", "analyses", "cache_dir", "challenge", "contrasts", "correct", "data", "debiased", "dev", "file", "gold",
    "judgements", "own", "people", "run",
    "lexicon", "name_spans", "names", "occupations", "pairs", "patterns", "predictions", "runs", "scores", "stanza_dir",
    "swaps", "sweep", "text", "translations", "vectors", "weights", "women", "words",
}  # fmt: skip
"""Parameters that are paths and name nothing that is written, but for folders of caches."""
NO_FILE = {"eval", "publish", "languages new", "coref train", "align tune"}
"""Commands whose output is a folder that is empty, or has files of their own."""


def paths() -> Iterator[tuple[str, str]]:
    """Every command with each of its parameters that is a path."""
    for name in commands():
        module = {"list": "listing"}.get(name, name.replace(" ", "_").replace("-", "_"))
        hints = get_type_hints(import_module(f"mtbias.cli.{module}").command, include_extras=True)
        yield from ((name, parameter) for parameter, hint in hints.items() if _is_path(hint))


def _is_path(hint: object) -> bool:
    parts = get_args(hint)[:1] if get_origin(hint) is Annotated else get_args(hint)
    return hint is Path or (
        get_origin(hint) in {Annotated, Union, UnionType, list} and any(map(_is_path, parts))
    )


def test_every_path_is_read_or_written() -> None:
    assert {parameter for _, parameter in paths()} <= {*OUTPUTS, *INPUTS}


def test_every_output_is_in_the_table() -> None:
    outputs = {
        (command, name) for command, name in paths() if name in OUTPUTS and command not in NO_FILE
    }
    assert len(outputs) >= 17
    begun = [row.argv for row in lost_files()]
    lacking = [
        (command, name)
        for command, name in sorted(outputs)
        if not any(argv.startswith(f"{command} ") and f" --{name} " in argv for argv in begun)
    ]
    assert lacking == []
