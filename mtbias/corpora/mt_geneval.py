"""MT-GenEval: sentences of Wikipedia, other ones for each language (Currey et al. 2022), in three
data sets.

- The counterfactual part: 300 sentences in a feminine and a masculine version, in four files with
  corresponding lines: ``geneval-sentences-{feminine,masculine}-test.en_LANG.{en,LANG}``.
- The contextual part: about 1,100 pairs of sentences, whose first one shows a gender that the
  second does not, in three files with corresponding lines:
  ``geneval-context-wikiprofessions-2to1-test.en_LANG.en`` with ``first <sep> second``, and
  references of the second sentence, in the gender of the source
  (``…-original-test.en_LANG.LANG``) and in the other gender (``…-flipped-test.en_LANG.LANG``).
- The persons of the counterfactual part, marked by hand (Garg et al. 2024): each row of
  ``geneval.en-LANG.tsv`` has a sentence in one of its two versions, the words that refer to each
  person, the head word among them, and the person's gender in the source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations, product
from pathlib import Path
from typing import Any

from mtbias.corpora import entity_place as locate
from mtbias.corpora.corpus import Corpus, Notes
from mtbias.corpora.corpus_kinds import AskedCorpus, CorpusKind
from mtbias.english.gender_swap import gendered_words
from mtbias.english.words import count_pronouns, pronouns_gender
from mtbias.errors import DataError, UsageError
from mtbias.files.reading import Record, TextFile, parse_tabs, read_text, refuse_long, split_lines
from mtbias.files.text_repair import AS_WORDS, repair
from mtbias.types import Gender, Instance, SourceSentence, Span, Stereotype, frozen

GENDERS: Mapping[Gender, str] = {Gender.FEMALE: "feminine", Gender.MALE: "masculine"}
"""The genders' names in the files, in the order of the corpus."""


MT_GENEVAL = "mt-geneval"
MT_GENEVAL_ENTITIES = "mt-geneval-entities"
MT_GENEVAL_CONTEXT = "mt-geneval-context"


@frozen
class ReferencedSentence(SourceSentence):
    """A sentence whose source shows a gender, with references in both genders."""

    gender: Gender
    """The gender in the source."""
    reference: str
    """The human translation."""
    other_reference: str
    """The human translation of the sentence in the other gender."""
    pair: str
    """Id of the sentence in the other gender."""


def read_mt_geneval(folder: Path, lang: str) -> Corpus[ReferencedSentence]:
    """Read the sentences of `lang` from the folder of the published files: all feminine ones, then
    all masculine ones.

    Ids are ``feminine-001`` and so on; line k of each file is sentence k.

    Raises:
        UsageError: the folder has no sentences of this language; lists the languages that it has.
        DataError: it is not a folder; a file is missing or empty, has another number of lines than
            the first, or an empty line.
    """
    files, texts = zip(*read_parallel(MT_GENEVAL, folder, lang, _sentence_files), strict=True)
    lines = dict(zip(product(GENDERS, ("en", lang)), texts, strict=True))
    instances: list[ReferencedSentence] = []
    for gender, other in permutations(GENDERS):
        texts_of_gender = (lines[gender, "en"], lines[gender, lang], lines[other, lang])
        for number, (source, reference, flipped) in enumerate(
            zip(*texts_of_gender, strict=True), start=1
        ):
            sentence = ReferencedSentence(
                id=f"{GENDERS[gender]}-{number:03d}",
                row=len(instances),
                source=source,
                gender=gender,
                reference=reference,
                other_reference=flipped,
                pair=f"{GENDERS[other]}-{number:03d}",
            )
            instances.append(sentence)
    beside = {file.path.name: file.sha256 for file in files}
    return Notes().corpus(MT_GENEVAL, files[0], instances, beside=beside, measure=MT_GENEVAL)


def _sentence_files(lang: str) -> list[str]:
    forms = product(GENDERS.values(), ("en", lang))
    return [f"geneval-sentences-{word}-test.en_{lang}.{side}" for word, side in forms]


def read_parallel(
    dataset: str, folder: Path, lang: str, names: Callable[[str], Sequence[str]]
) -> list[tuple[TextFile, list[str]]]:
    """The files `names(lang)` of the folder, in their order.

    Raises:
        UsageError: the folder has no sentences of this language; lists the languages that it has.
        DataError: it is not a folder; a file is missing or empty, has another number of lines than
            the first, or an empty line.
    """
    file_names = names(lang)
    first = file_names[0]
    if not folder.is_dir():
        family = "-".join(first.split("-")[:2])
        raise DataError(
            f"expected the folder with the files of {dataset} ({family}-…)", path=folder
        )
    if not (folder / first).is_file():
        present = [path.name for path in folder.glob(names("*")[0])]
        codes = sorted(name.split(".en_")[1].removesuffix(".en") for name in present)
        known = f"there are {', '.join(codes)}" if codes else f"expected files like {first} there"
        raise UsageError(f"no sentences of {dataset} for {lang} in {folder}; {known}")
    files = [read_text(folder / name) for name in file_names]
    parallel = [(file, _sentences(file)) for file in files]
    expected = len(parallel[0][1])
    for file, lines in parallel:
        if len(lines) != expected:
            raise file.error(
                f"expected {expected} lines, as {first} has, got {len(lines)}; "
                "line k of each file is sentence k"
            )
    return parallel


def _sentences(file: TextFile) -> list[str]:
    lines = [line.strip() for line in split_lines(file.text)]
    if file.path.suffix != ".en":
        # Like translations, so that the same words are equal.
        lines = [repair(line, AS_WORDS).text for line in lines]
    for number, line in enumerate(lines, start=1):
        if not line:
            raise file.error("expected a sentence, got an empty line", number)
        refuse_long(line, "sentence", file.path, number)
    return lines


SEPARATOR = "<sep>"
"""Separator of the two sentences of a line."""


@frozen
class ContextualSentence(SourceSentence):
    """A sentence whose gender shows in the sentence before it; `source` is both, with the
    separator.
    """

    context: str
    """The first sentence; empty in the few lines that begin with the separator."""
    second: str
    told: Gender | None
    """The gender of the context's pronouns (`mtbias.english.words.pronouns_gender`)."""
    reference: str
    """The human translation of the second sentence."""
    other_reference: str
    """The human translation in the other gender."""


def read_mt_geneval_context(folder: Path, lang: str) -> Corpus[ContextualSentence]:
    """Read the sentences of `lang` from the folder of the published files.

    Ids are ``context-0001`` and so on; line k of each file is sentence k. A system gets both
    sentences with a blank in place of the separator (`Corpus.inputs`).

    Raises:
        UsageError: the folder has no sentences of this language; lists the languages that it has.
        DataError: it is not a folder; a file is missing or empty, has another number of lines than
            the first, or an empty line; a line of the sources does not have one separator, or
            nothing after it.
    """
    files, texts = zip(
        *read_parallel(MT_GENEVAL_CONTEXT, folder, lang, _context_files), strict=True
    )
    notes = Notes()
    instances = []
    for row, (source, reference, other) in enumerate(zip(*texts, strict=True)):
        context, second = _parts(source, files[0], row + 1)
        id_ = f"context-{row + 1:04d}"
        if not context:
            notes.add("sentence without a context")
        gender = pronouns_gender(context)
        instances.append(
            ContextualSentence(id_, row, source, context, second, gender, reference, other)
        )
    inputs = {each.id: f"{each.context} {each.second}".strip() for each in instances}
    beside = {file.path.name: file.sha256 for file in files[1:]}
    return notes.corpus(
        MT_GENEVAL_CONTEXT,
        files[0],
        instances,
        beside=beside,
        measure=MT_GENEVAL_CONTEXT,
        inputs=inputs,
    )


def _context_files(lang: str) -> list[str]:
    kinds = {"2to1": "en", "original": lang, "flipped": lang}
    return [
        f"geneval-context-wikiprofessions-{kind}-test.en_{lang}.{side}"
        for kind, side in kinds.items()
    ]


def _parts(source: str, file: TextFile, line: int) -> tuple[str, str]:
    """Both sentences of a line."""
    parts = [part.strip() for part in source.split(SEPARATOR)]
    if len(parts) != 2:
        raise file.error(
            f"expected two sentences with one {SEPARATOR} between them, got {len(parts) - 1}", line
        )
    context, second = parts
    if not second:
        raise file.error(f"expected a sentence after {SEPARATOR}, got nothing", line)
    return context, second


MARKED = "source with entity referring words"
GROUPS, HEADS, LABELS = (
    "entity referring words grouped",
    "headword in each group",
    "gender labels of headwords",
)
REFERENCE = "vanilla translation"

_FILE = "geneval.en-{}.tsv"
_NAMED = re.compile(r"geneval\.en-([a-z]+)\.tsv")
_MARK = re.compile(r"\[\[(.*?)\]\]")
_GROUP = re.compile(r"\[([^\]]*)\]")
_NOBODY = "na"
"""Value of groups, heads and labels in a sentence without marked persons."""

GENDER_LABELS: Mapping[str, Gender | None] = {
    "Male": Gender.MALE,
    "Female": Gender.FEMALE,
    "Amb": None,
}
"""Genders by label; None where the source shows none."""

_PRONOUNS = """
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves themself
who whom whose which that this these those one ones another other others
each both all some many few none two three former latter first second
"""
PRONOUNS = frozenset(_PRONOUNS.split())
"""English pronouns, and the numerals, ordinals and quantifiers that stand for a noun: a closed
class. Their translation is a pronoun, which never decides a call."""

_INNER_WORDS = "at by da de del della der di for from in la of on to van von with"
_PREPOSITIONS = frozenset(_INNER_WORDS.split())
"""Words after which the head of a noun phrase cannot follow (*Duchess of Newcastle*), and particles
of names (*de Baas*)."""


def read_entities(path: Path, lang: str) -> Corpus[Instance]:
    """Read the persons whose gender the source shows, one instance each, from the file or its
    folder.

    The entity is the marked head word; in a title with a name (*Baron Saken*) it is the title.
    These are left out, and counted in the notes: persons without a gender in the source; persons
    whose head word is a name or a pronoun, whose translations show no gender by their form; and a
    word that already is another person's. A name is a word with a capital that shows no gender and
    that the human translation has too. Ids are ``geneval-4-2``: the second person of the file's
    sentence 4.

    Raises:
        UsageError: the folder has no file for `lang`, or the file has another language.
        DataError: a column is missing, or a row's marks, groups, heads and labels do not fit
            together; with the line.
    """
    file = read_text(_file(path, lang))
    table = parse_tabs(file, quoted=True)
    table.require("id", "source", MARKED, GROUPS, HEADS, LABELS, REFERENCE)
    notes, instances = Notes(), []
    for record in table.records:
        source, reference, taken = record.get("source"), record.get(REFERENCE), set[Span]()
        if not source:
            raise record.error("source: expected a sentence, got nothing")
        refuse_long(source, "source", record.path, record.line)
        for number, (phrase, gender) in enumerate(_persons(record, source), start=1):
            if gender is None:
                notes.add("person left out: the source leaves the gender open")
            elif (head := _head(source, reference, phrase)) is None:
                notes.add("person left out: a name or a pronoun")
            elif head in taken:
                notes.add("person left out: the word was taken for another person")
            else:
                taken.add(head)
                start = locate.core(source, phrase).start
                instances.append(
                    Instance(
                        id=f"geneval-{record.get('id')}-{number}",
                        row=record.row,
                        source=source,
                        head=head,
                        entity=source[start : head.end].lower(),
                        gold=gender,
                        stereotype=Stereotype.NONE,
                        domain="wikipedia",
                        pronouns=count_pronouns(source),
                    )
                )
    notes.add_file(file)
    return notes.corpus(MT_GENEVAL_ENTITIES, file, instances)


def _head(source: str, reference: str, phrase: Span) -> Span | None:
    """The last word of the phrase, before any preposition in it, that is not a name; None if there
    is none.
    """
    text = source[slice(*phrase)]
    words = [locate.core(text, span) for span in locate.tokens(text)]
    head = None
    for start, end in words:
        word = text[start:end]
        if word.lower() in _PREPOSITIONS:
            if head is not None:
                break
        elif word.lower() not in PRONOUNS and not _is_name(word, reference):
            head = Span(phrase.start + start, phrase.start + end)
    return head


def _is_name(word: str, reference: str) -> bool:
    """Whether a word has a capital, shows no gender, and is in the human translation, perhaps with
    an ending (*Alves's*).
    """
    if word.islower() or word.lower() in gendered_words().swaps:
        return False
    return re.search(rf"(?<!\w){re.escape(word)}", reference) is not None


def _persons(record: Record, source: str) -> Iterator[tuple[Span, Gender | None]]:
    """For each person the words that are marked as head (*Baron Saken*), and the gender in the
    source.
    """
    if record.get(LABELS) == _NOBODY:
        return
    marks = _marks(record, source)
    groups, labels = _GROUP.findall(record.get(GROUPS)), record.get(LABELS).split(",")
    heads = record.get(HEADS).split(",")
    if not len(groups) == len(labels) == len(heads):
        raise record.error(
            "expected a head and a label for each group of words, "
            f"got {len(groups)} groups, {len(heads)} heads and {len(labels)} labels"
        )
    for head, label in zip(heads, labels, strict=True):
        if label not in GENDER_LABELS:
            raise record.error(
                f"{LABELS}: expected {', '.join(GENDER_LABELS)} or {_NOBODY}, got {label!r}"
            )
        if not (head.isdecimal() and int(head) < len(marks)):
            raise record.error(
                f"{HEADS}: expected the number of one of {len(marks)} marked words, got {head!r}"
            )
        yield marks[int(head)], GENDER_LABELS[label]


def _marks(record: Record, source: str) -> Sequence[Span]:
    """The places of the marked words in the source.

    Some sources have brackets that the marked text lacks, so places are counted without brackets.
    """
    marked = record.get(MARKED)
    letters = [place for place, char in enumerate(source) if char not in "[]"]
    if "".join(source[place] for place in letters) != _bare(marked):
        raise record.error(f"{MARKED}: expected the source with marked words, got another sentence")
    spans = []
    for match in _MARK.finditer(marked):
        start = len(_bare(marked[: match.start()]))
        end = start + len(_bare(match[1]))
        if start == end:
            raise record.error(f"{MARKED}: expected words between [[ and ]], got none")
        spans.append(Span(letters[start], letters[end - 1] + 1))
    return spans


def _bare(text: str) -> str:
    return text.replace("[", "").replace("]", "")


def _file(path: Path, lang: str) -> Path:
    if path.is_dir():
        file = path / _FILE.format(lang)
        if not file.is_file():
            matches = [_NAMED.fullmatch(each.name) for each in path.iterdir()]
            codes = sorted(match[1] for match in matches if match)
            known = f"expected files like {_FILE.format('de')} there"
            if codes:
                known = f"there are {', '.join(codes)}"
            raise UsageError(f"no persons of {MT_GENEVAL_ENTITIES} for {lang} in {path}; {known}")
        return file
    match = _NAMED.fullmatch(path.name)
    if match and match[1] != lang:
        raise UsageError(
            f"expected the persons of {lang}, got the file of {match[1]}, {path}; "
            f"give --lang {match[1]}"
        )
    return path


@frozen
class ByLanguageKind(CorpusKind):
    """A data set of MT-GenEval, with other sentences for each language."""

    read_language: Callable[[Path, str], Corpus[Any]]
    """Reads the sentences of a language from the folder of the files."""
    by_language = True

    def read(self, request: AskedCorpus) -> Corpus[Any]:
        """See `CorpusKind`."""
        lang = request.language
        return self.read_language(request.path or request.file.parent, lang)


MT_GENEVAL_KIND = ByLanguageKind(read_mt_geneval)
MT_GENEVAL_CONTEXT_KIND = ByLanguageKind(read_mt_geneval_context)
MT_GENEVAL_ENTITIES_KIND = ByLanguageKind(read_entities)
