"""The persons of MT-GenEval's counterfactual sentences, marked by hand (Garg et al. 2024), for morphology to read.

Each row of ``geneval.en-LANG.tsv`` has a sentence in one of its two versions, the words that refer to each person, the
head word among them, and the gender that the source tells of that person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mtbias.corpora import entity_place as locate
from mtbias.corpora.corpus import Corpus, Notes
from mtbias.english.gender_swap import gendered_words
from mtbias.english.pronouns import count_pronouns
from mtbias.errors import UsageError
from mtbias.files.reading import Record, TextFile, parse_tabs, read_text, refuse_long
from mtbias.types import Gender, Instance, Span, Stereotype

NAME = "mt-geneval-entities"

MARKED = "source with entity referring words"
GROUPS, HEADS, LABELS = "entity referring words grouped", "headword in each group", "gender labels of headwords"
REFERENCE = "vanilla translation"

_FILE = "geneval.en-{}.tsv"
_NAMED = re.compile(r"geneval\.en-([a-z]+)\.tsv")
_MARK = re.compile(r"\[\[(.*?)\]\]")
_GROUP = re.compile(r"\[([^\]]*)\]")
_NOBODY = "na"
"""In place of groups, heads and labels: the sentence marks no person."""

GENDERS: Mapping[str, Gender | None] = {"Male": Gender.MALE, "Female": Gender.FEMALE, "Amb": None}
"""The labels; None: the source leaves it open."""

_PRONOUNS = """
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves themself who whom whose which that this these those one ones another
other others each both all some many few none two three former latter first second
"""
PRONOUNS = frozenset(_PRONOUNS.split())
"""English pronouns, and the numerals, ordinals and quantifiers that stand for a noun: a closed class. Their translation
is a pronoun, which never decides a call."""

_INNER_WORDS = "at by da de del della der di for from in la of on to van von with"
_PREPOSITIONS = frozenset(_INNER_WORDS.split())
"""What follows one in a noun phrase is no head of it, *Duchess of Newcastle*; and the particles of names, *de Baas*."""


@dataclass(frozen=True, slots=True)
class MarkedPerson:
    """A person of a sentence."""

    number: int
    """From 1 in the sentence."""
    phrase: Span
    """What is marked as the head of the words that refer to the person; it may be several words (*Baron Saken*)."""
    gender: Gender | None
    """Which the source tells; None: it leaves it open."""


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    """A sentence with its persons."""

    id: str
    """``geneval-4``: as the file numbers it."""
    row: int
    source: str
    reference: str
    """The human translation."""
    persons: tuple[MarkedPerson, ...]


def read_marked_sentences(file: TextFile) -> Iterator[MarkedSentence]:
    """The sentences of a file, in its order.

    Raises:
        DataError: a column is missing, or a row's marks, groups, heads and labels do not fit together; with the line.
    """
    table = parse_tabs(file, quoted=True)
    table.require("id", "source", MARKED, GROUPS, HEADS, LABELS, REFERENCE)
    for record in table.records:
        source = record.get("source")
        if not source:
            raise record.error("source: expected a sentence, got nothing")
        refuse_long(source, "source", record.path, record.line)
        persons = tuple(_persons(record, source))
        yield MarkedSentence(f"geneval-{record.get('id')}", record.row, source, record.get(REFERENCE), persons)


def read_entities(path: Path, lang: str) -> Corpus[Instance]:
    """Read the persons whose gender the source tells, an instance each, from the file, or the folder that has it.

    The entity is the head word that is marked. Where that is a title with a name (*Baron Saken*) it is the title. Left
    out, with their number in the notes: persons whose gender the source leaves open; persons whose head word is a name
    or a pronoun, whose translations show no gender by their form; and a word that was taken for another person already.
    A name is a word with a capital, none that tells a gender, that the human translation has, too. Ids are
    ``geneval-4-2``: the second person of the file's sentence 4.

    Raises:
        UsageError: the folder has no file for `lang`, or the file is that of another language.
        DataError: as `read_marked_sentences`.
    """
    file = read_text(_file(path, lang))
    notes, instances = Notes(), []
    for sentence in read_marked_sentences(file):
        taken: set[Span] = set()
        for person in sentence.persons:
            id_ = f"{sentence.id}-{person.number}"
            if person.gender is None:
                notes.add("person left out: the source leaves the gender open", id_)
            elif (head := _head(sentence, person.phrase)) is None:
                notes.add("person left out: a name or a pronoun", id_)
            elif head in taken:
                notes.add("person left out: the word was taken for another person", id_)
            else:
                taken.add(head)
                instances.append(_instance(sentence, person.phrase, head, person.gender, id_))
    notes.add_file(file)
    return notes.corpus(NAME, file, instances)


def _instance(sentence: MarkedSentence, phrase: Span, head: Span, gold: Gender, id_: str) -> Instance:
    start = locate.core(sentence.source, phrase).start
    return Instance(
        id=id_,
        row=sentence.row,
        source=sentence.source,
        head=head,
        entity=sentence.source[start : head.end].lower(),
        gold=gold,
        stereotype=Stereotype.NONE,
        domain="wikipedia",
        pronouns=count_pronouns(sentence.source),
    )


def _head(sentence: MarkedSentence, phrase: Span) -> Span | None:
    """The last word of the phrase, before any preposition in it, that is no name; None where there is none."""
    inside = sentence.source[slice(*phrase)]
    words = [locate.core(inside, span) for span in locate.tokens(inside)]
    found = None
    for start, end in words:
        word = inside[start:end]
        if word.lower() in _PREPOSITIONS:
            if found is not None:
                break
        elif word.lower() not in PRONOUNS and not _is_name(word, sentence.reference):
            found = Span(phrase.start + start, phrase.start + end)
    return found


def _is_name(word: str, reference: str) -> bool:
    """Whether it has a capital, tells no gender, and the human translation has it, maybe with an ending (*Alves's*)."""
    if word.islower() or word.lower() in gendered_words().swaps:
        return False
    return re.search(rf"(?<!\w){re.escape(word)}", reference) is not None


def _persons(record: Record, source: str) -> Iterator[MarkedPerson]:
    if record.get(LABELS) == _NOBODY:
        return
    marks = _marks(record, source)
    groups, labels = _GROUP.findall(record.get(GROUPS)), record.get(LABELS).split(",")
    heads = record.get(HEADS).split(",")
    if not len(groups) == len(labels) == len(heads):
        raise record.error(
            f"expected a head and a label for each group of words, got {len(groups)} groups, {len(heads)} heads and "
            f"{len(labels)} labels"
        )
    for number, (head, label) in enumerate(zip(heads, labels, strict=True), start=1):
        if label not in GENDERS:
            raise record.error(f"{LABELS}: expected {', '.join(GENDERS)} or {_NOBODY}, got {label!r}")
        if not (head.isdecimal() and int(head) < len(marks)):
            raise record.error(f"{HEADS}: expected the number of one of {len(marks)} marked words, got {head!r}")
        yield MarkedPerson(number, marks[int(head)], GENDERS[label])


def _marks(record: Record, source: str) -> Sequence[Span]:
    """The places of the marked words in the source.

    Some sources have brackets of their own that the marked text lacks, so places are counted in all that is no bracket.
    """
    marked = record.get(MARKED)
    letters = [place for place, char in enumerate(source) if char not in "[]"]
    if "".join(source[place] for place in letters) != _bare(marked):
        raise record.error(f"{MARKED}: expected the source with marked words, got another sentence")
    found = []
    for match in _MARK.finditer(marked):
        start = len(_bare(marked[: match.start()]))
        end = start + len(_bare(match[1]))
        if start == end:
            raise record.error(f"{MARKED}: expected words between [[ and ]], got none")
        found.append(Span(letters[start], letters[end - 1] + 1))
    return found


def _bare(text: str) -> str:
    return text.replace("[", "").replace("]", "")


def _file(path: Path, lang: str) -> Path:
    if path.is_dir():
        file = path / _FILE.format(lang)
        if not file.is_file():
            there = sorted(match[1] for each in path.iterdir() if (match := _NAMED.fullmatch(each.name)))
            known = f"there are {', '.join(there)}" if there else f"expected files like {_FILE.format('de')} there"
            raise UsageError(f"no persons of {NAME} for {lang} in {path}; {known}")
        return file
    named = _NAMED.fullmatch(path.name)
    if named and named[1] != lang:
        raise UsageError(f"expected the persons of {lang}, got the file of {named[1]}, {path}; give --lang {named[1]}")
    return path
