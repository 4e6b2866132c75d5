"""``mtbias coref run``."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from mtbias.cli.shared import Flag, Json, Parts, show
from mtbias.coref.coref_datasets import open_dataset
from mtbias.coref.documents import DatasetName, Format, Spans
from mtbias.coref.systems import CorefSystem, open_system, run_system
from mtbias.errors import UsageError
from mtbias.files.writing import signature_line
from mtbias.machine.stage_progress import ProgressLine


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """What files of clusters do not say themselves."""

    ids: Annotated[
        list[Path] | None,
        Parameter(
            help="Which document is which, where ids do not say it: a file with a line for each "
            "document, the system's id, a tab and the data's id; or the word order, where these "
            "are all of the data's in its order. Once for all systems, or once for each."
        ),
    ] = None
    spans: Annotated[
        list[Spans] | None,
        Parameter(
            help="What mentions `[start, end]` count, where the format does not say it: tokens "
            "with the last one included (default), tokens with the end excluded, or characters "
            "with the end excluded. Once for all systems, or once for each."
        ),
    ] = None

    def of_systems(self, n: int) -> list[tuple[Path | None, Spans | None]]:
        """Of each of `n` systems.

        Raises:
            UsageError: an option is given neither once nor as often as there are systems.
        """
        for name, values in (("ids", self.ids), ("spans", self.spans)):
            if values and (not n or len(values) not in {1, n}):
                expected = "with --predictions" if n == 0 else "once"
                if n > 1:
                    expected = f"once, or once for each of {n} systems"
                raise UsageError(f"--{name}: expected it {expected}, got it {len(values)} times")
        ids = self.ids and [self.ids[at % len(self.ids)] for at in range(n)]
        spans = self.spans and [self.spans[at % len(self.spans)] for at in range(n)]
        return list(zip(ids or repeat(None, n), spans or repeat(None, n), strict=True))


Reading = Annotated[ReadingOptions, Parameter(name="*")]


@dataclass(frozen=True, kw_only=True)
class SystemOptions:
    """Which system is run, and how."""

    system: Annotated[
        Literal["stanza", "command"],
        Parameter(
            help="stanza: Stanza's coreference processor (`pip install 'mtbias[coref]'`) with "
            "--model; command: any system, by --command."
        ),
    ]
    model: Annotated[
        Path | None,
        Parameter(
            help="With stanza: the file of the model (Stanza's own, or of `mtbias coref train`)."
        ),
    ] = None
    program: Annotated[
        str | None,
        Parameter(
            name="--command",
            help="With command: how to run it, with {in} for the file of documents and {out} for "
            "the file that it writes, in any form that --predictions reads.",
        ),
    ] = None
    in_format: Annotated[
        Format | None,
        Parameter(
            help="With command: the form of {in}, as `mtbias coref export` writes it "
            "(default: jsonl)."
        ),
    ] = None
    device: Annotated[
        str | None,
        Parameter(
            help="With stanza: cpu, cuda, or cuda:1 for the second GPU "
            "(default: a GPU where there is one)."
        ),
    ] = None
    reading: Reading = ReadingOptions()

    def open(self) -> CorefSystem:
        """The system; errors as in `open_system`."""
        ((ids, spans),) = self.reading.of_systems(1)
        return open_system(
            self.system,
            model=self.model,
            command=self.program,
            form=self.in_format,
            device=self.device,
            ids=ids,
            spans=spans,
        )


SystemChoice = Annotated[SystemOptions, Parameter(name="*")]


def command(
    *,
    system: SystemChoice,
    dataset: DatasetName,
    out: Path,
    data: Path | None = None,
    part: Parts = None,
    titles_without_stop: Flag = False,
    json: Json = False,
) -> None:
    """Run a coreference system on a data set; `mtbias coref score DATASET --predictions OUT` scores
    its clusters.

    A run that was stopped resumes: clusters are kept beside OUT, one document at a time (for a
    command, all at once). --ids and --spans are for what a command writes.

    Parameters
    ----------
    dataset
        The data set.
    out
        The file to write: JSON lines with id, tokens and clusters.
    data
        Where the data set is, as `mtbias coref score` takes it.
    part
        Of winobias: this split and type alone; one or several.
    titles_without_stop
        As for `mtbias coref score`.
    """
    chosen = system.open()
    loaded = open_dataset(dataset, data, part=part, titles_without_stop=titles_without_stop)
    before = run_system(chosen, loaded.texts, out, ProgressLine())
    options = {"dataset": dataset, "system": chosen.signature.replace("|", ",")}
    result = {
        "dataset": dataset,
        "documents": len(loaded.texts),
        "resumed_at": before,
        "out": str(out),
        "notes": chosen.notes,
        "signature": signature_line("coref:run", {"data": loaded.files}, options),
    }
    show(result, json=json)
