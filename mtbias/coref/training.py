"""Training a coreference system: gender-swapped copies of its documents, and Stanza's trainer.

**Copies** of the documents of CoNLL-2012 files differ in what happens to names: *anonymised* gives each word of one an
id (E1, E2, …), the same throughout the file; *names* gives each first name its counterpart of the other gender; *words*
leaves them. Only the word column and the document's name change, so tags, parses and clusters stay as they are.

**The trainer** is Stanza's (``python -m stanza.models.wl_coref``), run as a process of its own. It knows mentions by
their head word: here the mention's last word, which is the head of "the construction worker" and of a pronoun, and not
of "the man who left".

Source: *anonymised* and *names* are a-CDA and n-CDA of Xie, Kocijan, Lukasiewicz and Camburu, *Counter-GAP* (EACL
2023), section 5, after Zhao et al. (2018) and Hall Maudslay et al. (2019); *words* is what Dawkins, *SoWinoBias* (2021)
trains on. D'Oosterlinck et al., *CAW-coref* (CRAC 2023); the keys are those of Stanza 1.15.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Literal

from mtbias.coref.documents import WORD, ConllDocument, read_conll, without_repeated
from mtbias.english.gender_swap import GenderedWords, match_case, read_swaps, swap_words
from mtbias.english.people import EXAMPLE_NAMES, MAX_NAMES, match_names, read_names
from mtbias.errors import DataError, DependencyError, ModelError
from mtbias.files.reading import parse_toml, read_text, refuse_special, split_lines
from mtbias.files.writing import explained, signature_line, write_atomic, write_json
from mtbias.machine.devices import require_device
from mtbias.settings import Settings, at_least, number_in
from mtbias.types import JsonDict, frozen

_SECTION = "mtbias"


@dataclass(frozen=True, kw_only=True)
class TrainingSettings(Settings):
    """What a user of the trainer chooses; all else is as Stanza has it."""

    encoder: str
    """A folder with a transformer encoder and its tokenizer, or its name on the Hub. The model remembers it: it must be
    there where the model is used."""
    epochs: int = at_least(1, 32)
    """Epochs; the model is the one that is best on the development documents."""
    learning_rate: float = number_in(0, 1, 3e-4)
    """Of all but the encoder."""
    encoder_learning_rate: float = number_in(0, 1, 1e-5)
    """Of the encoder."""
    hidden_size: int = at_least(1, 1024)
    """Of the scorers' layers."""
    dropout: float = number_in(0, 1, 0.3)
    """Share of units that are left out in training."""
    window: int = at_least(1, 512)
    """Word pieces that the encoder sees at once."""
    candidates: int = at_least(1, 50)
    """Antecedents of a word that are scored in full."""
    device: str = "cpu"
    """cpu, cuda, or cuda:1 for the second GPU."""
    seed: int = at_least(0, 2020, 2**32 - 1)
    """Of the random numbers."""


@frozen
class TrainingData:
    """Documents as the trainer takes them, and what could not go into them."""

    documents: tuple[JsonDict, ...]
    mentions: int
    across: int
    """Mentions that begin in one sentence and end in another: left out, since the trainer has none."""

    @property
    def alone(self) -> bool:
        """Whether entities of one mention are marked; in CoNLL-2012's own data they are not."""
        return any(len(cluster) == 1 for document in self.documents for cluster in document["span_clusters"])


def training_data(documents: Iterable[ConllDocument]) -> TrainingData:
    """The `documents` with their clusters.

    A mention that stands in a cluster already, and a cluster that has lost all its mentions, is left out.
    """
    found, mentions, across = [], 0, 0
    for document in documents:
        sentence_of = [n for n, sentence in enumerate(document.sentences) for _ in sentence]
        given = without_repeated(document.clusters)
        within = ([m for m in cluster if sentence_of[m[0]] == sentence_of[m[1]]] for cluster in given)
        clusters = [cluster for cluster in within if cluster]
        kept = [mention for cluster in clusters for mention in cluster]
        mentions += len(kept)
        across += sum(map(len, given)) - len(kept)
        n = len(sentence_of)
        found.append({
            "document_id": document.id, "part_id": 0, "lang": "en", "cased_words": document.words,
            "sent_id": sentence_of, "speaker": ["_"] * n, "pos": ["_"] * n, "deprel": ["_"] * n, "head": [None] * n,
            # The trainer's ends are excluded.
            "span_clusters": [[[start, end + 1] for start, end in cluster] for cluster in clusters],
            "word_clusters": [[end for _, end in cluster] for cluster in clusters],
            "head2span": sorted([end, start, end + 1] for start, end in kept), "is_zero": [0] * len(kept),
        })  # fmt: skip
    return TrainingData(tuple(found), mentions, across)


def configuration(settings: TrainingSettings, folder: Path, *, alone: bool) -> str:
    """The trainer's configuration: data and model in `folder`; `alone`: entities of one mention are to be found too."""
    values: dict[str, object] = {
        "data_dir": str(folder),
        "save_dir": str(folder),
        "save_name": "model",
        "train_data": str(folder / "train.json"),
        "dev_data": str(folder / "dev.json"),
        "test_data": str(folder / "dev.json"),
        "conll_log_dir": str(folder / "logs"),
        "device": settings.device,
        "bert_model": settings.encoder,
        "bert_window_size": settings.window,
        "hidden_size": settings.hidden_size,
        "rough_k": settings.candidates,
        "singletons": alone,
        "dropout_rate": settings.dropout,
        "learning_rate": settings.learning_rate,
        "bert_learning_rate": settings.encoder_learning_rate,
        "train_epochs": settings.epochs,
    }
    values |= parse_toml(read_text(Path(str(resources.files("mtbias.coref"))) / "training.toml"))
    # JSON's text, numbers, booleans and lists are TOML's too.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "\n".join(["[DEFAULT]", *lines, "[DEFAULT.tokenizer_kwargs]", f"[{_SECTION}]", ""])


def train(
    train_data: TrainingData, dev_data: TrainingData, settings: TrainingSettings, out: Path, weights: Path | None = None
) -> Path:
    """Write data and configuration to the new folder `out`, run Stanza's trainer, and give the best model's file.

    Args:
        train_data: to train on.
        dev_data: to choose the best epoch by.
        settings: see there.
        out: gets train.json, dev.json, config.toml, settings.json, training.log and model.pt.
        weights: a model to begin with, of the same encoder and sizes.

    Raises:
        DataError: nothing to train on; `out` is there already; no such folder of an encoder.
        DependencyError: peft is not installed.
        ModelError: the trainer failed; its log says why.
        SettingError: no such device.
    """
    from importlib.util import find_spec

    if find_spec("peft") is None:
        raise DependencyError("Stanza's trainer needs peft: pip install 'mtbias[coref]'")
    for name, data in (("train", train_data), ("dev", dev_data)):
        if not data.mentions:
            raise DataError(f"expected documents with clusters to {name} on, got none")
    if out.exists():
        raise DataError("expected a new folder, this is there already: choose another --out", path=out)
    encoder = Path(settings.encoder)
    if encoder.is_dir():
        refuse_special(encoder)
        settings = replace(settings, encoder=str(encoder.resolve()))  # the model remembers it, from wherever it is used
    elif encoder.is_absolute() or settings.encoder.startswith((".", "~")):  # no name on the Hub
        raise DataError("expected a folder with an encoder, got none", path=encoder)
    require_device(settings.device)
    with explained(out, "make"):
        out.mkdir(parents=True)
    for name, data in (("train", train_data), ("dev", dev_data)):
        write_atomic(out / f"{name}.json", [json.dumps(data.documents, ensure_ascii=False)])
    write_atomic(out / "config.toml", configuration(settings, out.resolve(), alone=train_data.alone).encode())
    write_json(out / "settings.json", asdict(settings))
    command = [sys.executable, "-m", "stanza.models.wl_coref", "train", _SECTION]
    command += ["--config_file", str(out / "config.toml"), "--seed", str(settings.seed), "--save_name", "model"]
    command += [] if weights is None else ["--weights", str(weights)]
    log = out / "training.log"
    with log.open("wb") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False)
    model = out / "model.pt"
    if done.returncode or not model.is_file():
        last = log.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2].strip()
        raise ModelError(f"Stanza's trainer ended with {done.returncode}; its last words: {last[:200]} ({log})")
    return model


TAG = 4
"""The column of the part-of-speech tag."""
ENTITY = 10
"""The column of named entities."""
NAME_TAGS = frozenset({"NNP", "NNPS"})
_UNTAGGED = frozenset({"-", "_", "*"})
_COLUMN = re.compile(r"\S+")
_BEGIN = re.compile(r"(\s*#\s*begin document\s+\(?)(.*?)((?:\);.*)?\s*)")


Kind = Literal["anonymised", "names", "words"]
"""What becomes of names: ids (E1, E2, … in the order in which their words first occur in the file), counterparts of the
other gender, or nothing."""

_SUFFIX = "_a"
"""Behind the name of each copy, so that ids differ."""


@frozen
class MadeFile:
    """A file of data that was made from another one."""

    counts: Mapping[str, int]
    ambiguous: Sequence[str]
    """Each *her* and *his* whose reading is a guess: where, and the words around."""
    out: str
    signature: str
    failed: Sequence[str] = ()
    """Why something could not be made, a reason each."""


def augment(
    data: Path,
    kind: Kind,
    out: Path,
    *,
    names: Path | None = None,
    swaps: Path | None = None,
    max_names: int = MAX_NAMES,
    only_copies: bool = False,
) -> MadeFile:
    """Write the CoNLL-2012 file `data` with a gender-swapped copy of each of its documents to `out`.

    Names are the words of the file's PERSON entities, of which those of `names` (in this spelling) are first names. In
    a file without such entities a word is a first name where it is one of `names` and its tag is NNP or NNPS, or where
    the file has no tag for it and it has a capital; other names stay. *her* and *his* are read by their tag PRP or
    PRP$, or without one by the words around; where both readings are usual, that is a guess. The white space between
    columns stays as it is.

    Args:
        data: the file.
        kind: what becomes of names.
        out: the file to write.
        names: first names, as `read_names` takes them; None: the list that comes with mtbias.
        swaps: pairs of words (`read_swaps`); None: those that come with mtbias.
        max_names: of each gender that are matched (`match_names`), for the kind *names*.
        only_copies: without the documents themselves.

    Raises:
        DataError: what `read_conll`, `read_names` and `read_swaps` raise; a copy would have the name of a document in
            the file.
        OutputError: `out` is one of the files.
    """
    listed, parsed = read_names(names or EXAMPLE_NAMES), read_conll(data)
    ids = {document.name for document in parsed.documents}
    if clash := sorted(name + _SUFFIX for name in ids if name + _SUFFIX in ids):
        raise DataError(f"the copy would be named {clash[0]!r}, as a document is already; rename it", path=data)
    matched = kind == "names"
    counterparts = match_names(listed.names, max_names=max_names) if matched else {}
    table = read_swaps(swaps)
    rows = (row for document in parsed.documents for sentence in document.sentences for row in sentence)
    has_entities = any(_entity(row).startswith(_PERSON) for row in rows)
    work = _Work(kind, set(listed.gender), counterparts, table.words, has_entities)
    original = split_lines(parsed.file.text)
    copies: list[str] = []
    document = ""
    for is_sentence, part in groupby(original, lambda line: bool(line.strip()) and not line.lstrip().startswith("#")):
        if is_sentence:
            copies += work.sentence(list(part), document)
            continue
        for line in part:
            header = _BEGIN.fullmatch(line)
            document = header[2] if header else document
            copies.append(f"{header[1]}{document}{_SUFFIX}{header[3]}" if header else line)
    write_atomic(out, [*([] if only_copies else original), *copies])
    counts = {
        "documents": len(parsed.documents),
        "gendered words swapped": work.swapped,
        "words of names replaced": work.replaced,
        "first names without counterpart": work.alone,
        "her or his that may be read either way": len(work.ambiguous),
    }
    options = {"kind": kind, "list": "given" if names else "example", "copies": "only" if only_copies else "added"}
    signature = signature_line(
        "coref:augment",
        {"data": parsed.file.hashes, "names": {"names": listed.sha256}, "swaps": table.files},
        {**options, **({"max-names": max_names} if matched else {})},
    )
    return MadeFile(counts, work.ambiguous, str(out), signature)


_PERSON = "(PERSON"


def _entity(row: Sequence[str]) -> str:
    """What the column of named entities has in a row: the last column is that of clusters."""
    return row[ENTITY] if len(row) > ENTITY + 1 else ""


@dataclass(slots=True)
class _Work:
    """The file's running totals, and the ids that words of names have got."""

    kind: Kind
    names: Collection[str]
    counterparts: Mapping[str, str]
    table: GenderedWords
    has_entities: bool
    ids: dict[str, str] = field(default_factory=dict)
    swapped: int = 0
    replaced: int = 0
    alone: int = 0
    ambiguous: list[str] = field(default_factory=list)

    def sentence(self, lines: list[str], document: str) -> Iterator[str]:
        """The lines of a sentence with their words replaced."""
        columns = [list(_COLUMN.finditer(line)) for line in lines]
        rows = [[column[0] for column in row] for row in columns]
        words = [row[WORD] for row in rows]
        tags = [row[TAG] if len(row) > TAG + 1 else "-" for row in rows]
        are_names = set(self._names_in(rows, tags))
        new = {n: self._name(words[n]) for n in sorted(are_names)}
        for swap in swap_words(words, tags=tags, fixed=are_names, table=self.table):
            new[swap.index] = swap.new
            self.swapped += 1
            if swap.ambiguous:
                around = words[max(0, swap.index - 3) : swap.index + 4]
                self.ambiguous.append(f"{document}: {' '.join(around)}")
        for n, (line, row) in enumerate(zip(lines, columns, strict=True)):
            first, word = row[0], row[WORD]
            head = f"{line[: first.end()]}{_SUFFIX}{line[first.end() : word.start()]}"
            yield f"{head}{new.get(n, word[0])}{line[word.end() :]}"

    def _names_in(self, rows: Sequence[Sequence[str]], tags: Sequence[str]) -> Iterator[int]:
        """The words of names; without entities first names alone."""
        inside = False
        for n, (row, tag) in enumerate(zip(rows, tags, strict=True)):
            word, entity = row[WORD], _entity(row)
            inside = inside or entity.startswith(_PERSON)
            is_name = word in self.names and (tag in NAME_TAGS or (tag in _UNTAGGED and word[:1].isupper()))
            if inside and word[:1].isalpha() if self.has_entities else is_name:
                yield n
            inside = inside and not entity.endswith(")")

    def _name(self, word: str) -> str:
        if self.kind == "words" or (self.kind == "names" and word not in self.names):
            return word
        if self.kind == "names" and word not in self.counterparts:
            self.alone += 1
            return word
        self.replaced += 1
        if self.kind == "names":
            return match_case(self.counterparts[word], word)
        return self.ids.setdefault(word, f"E{len(self.ids) + 1}")
