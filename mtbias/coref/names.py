"""The names that commands, sweeps and the library have in common; imports nothing."""

from __future__ import annotations

from typing import Literal, get_args

DatasetName = Literal["winobias", "winogender", "gap", "counter-gap", "bug", "sowinobias"]
DATASETS: tuple[DatasetName, ...] = get_args(DatasetName)

Format = Literal["conll", "jsonl", "text"]
"""In which a data set is written for a system."""

Spans = Literal["included", "excluded", "characters"]
"""What mentions count: the values of `mtbias.coref.system_output.SpanCounting`."""
