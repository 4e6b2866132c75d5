"""The part of a sweep's file on coreference: systems × data sets of `mtbias coref eval`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mtbias.coref.names import DATASETS, DatasetName, Format, Spans
from mtbias.errors import SettingError
from mtbias.settings import Settings

if TYPE_CHECKING:
    from mtbias.coref.running import CorefSystem

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, kw_only=True)
class CorefSystemSettings(Settings):
    """A system: Stanza's coreference processor with a model, or a command."""

    model: Path | None = None
    """File of a model of Stanza's."""
    command: str | None = None
    """How a system is run, with {in} and {out} for its files; their paths and its own are the command's."""
    in_format: Format = "jsonl"
    """Of {in}."""
    ids: Path | None = None
    """As ``--ids`` of `mtbias coref run`; so is `spans`."""
    spans: Spans | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.model is None) == (self.command is None):
            raise SettingError("model", "expected either a model (of Stanza's) or a command")
        if self.model is not None and (self.ids, self.spans, self.in_format) != (None, None, "jsonl"):
            raise SettingError("model", "expected no ids, spans or in_format with it: they go with a command")

    def open(self, device: str) -> CorefSystem:
        """The system, on ``cpu`` or ``cuda``.

        Raises:
            DataError: no such file of a model or of ids.
            UsageError: the command names no file to read or to write.
        """
        if self.model is not None:
            from mtbias.coref.stanza_coref import StanzaCoref

            return StanzaCoref(self.model, device=device)
        from mtbias.coref.command_system import CommandSystem
        from mtbias.coref.system_output import SpanCounting

        spans = None if self.spans is None else SpanCounting(self.spans)
        return CommandSystem(self.command or "", self.in_format, ids=self.ids, spans=spans)


@dataclass(frozen=True, kw_only=True)
class CorefSettings(Settings):
    """Coreference systems, and the data sets that each of them is run on."""

    systems: Mapping[str, CorefSystemSettings]
    """By name, which is that of a folder; others are compared with the first."""
    datasets: tuple[DatasetName, ...] = ()
    """None: all that are found."""
    data: Mapping[str, Path] = field(default_factory=dict)
    """Where a data set is, by its name, as ``--data NAME=PATH`` of `mtbias coref eval` says it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.systems:
            raise SettingError("systems", "expected a table for each system, such as [coref.systems.ours], got none")
        for name in self.systems:
            if not _NAME.fullmatch(name):
                raise SettingError(
                    f"systems.{name}", "expected up to 100 letters (a to z), digits, '.', '_' and '-' as its name"
                )
        for name in self.data:
            if name not in DATASETS:
                raise SettingError(f"data.{name}", f"expected one of {', '.join(DATASETS)}")

    def resolved(self, base: Path) -> CorefSettings:
        """The same with its paths absolute; relative ones count from `base`."""

        def absolute(path: Path | None) -> Path | None:
            return None if path is None else (base / path.expanduser()).resolve()

        systems = {
            name: replace(one, model=absolute(one.model), ids=absolute(one.ids)) for name, one in self.systems.items()
        }
        data = {name: (base / path.expanduser()).resolve() for name, path in self.data.items()}
        return replace(self, systems=systems, data=data)
