"""WinoMT: 3,888 sentences from WinoBias and Winogender (Stanovsky et al. 2019).

In the real file, the profession is at the index in all 3,888 rows if punctuation ("designer.", 18
rows), capitals ("Someone", 48 rows) and one doubled space (row 2551, counted from 0) are allowed
for; in 80 rows the index is that of the first word of *construction worker*. Six rows are repeated
word for word. Each of the 3,168 rows of WinoBias is in exactly one of ``en_pro.txt`` and
``en_anti.txt``; the 720 rows of Winogender are in neither.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from mtbias.corpora import entity_place as locate
from mtbias.corpora.corpus import Corpus, Notes, gender
from mtbias.corpora.corpus_kinds import AskedCorpus, CorpusKind
from mtbias.english.words import PRONOUN_ROLES
from mtbias.errors import DataError
from mtbias.files.reading import TextFile, integer, read_text, refuse_long, split_lines
from mtbias.language.source import ENGLISH, ENGLISH_CODE, SourceLanguage
from mtbias.types import Gender, Instance, Stereotype, frozen

_ROWS, _ROWS_OF_WINOBIAS = 3888, 3168
"""Rows of the whole corpus, and those of them in a stereotype file."""
_COLUMNS = "gold gender, token index, sentence, profession"


def _pronoun_slots() -> dict[str, str]:
    """The slot of each gendered pronoun, which it shares with its counterpart.

    His, her and hers are objects here: since her is both object and determiner, a sentence with her
    must have the same slot as its counterpart with him or with his.
    """
    slots: dict[str, str] = {}
    for role, pair in PRONOUN_ROLES.items():
        slot = f"<{role}>" if role in ("subject", "reflexive") else "<object>"
        slots |= dict.fromkeys(pair, slot)
    return slots


_SLOTS = _pronoun_slots()
_SOMEONE = re.compile(r"\bsomeone\b", re.IGNORECASE)
_PERSON = re.compile(r"\b(?:the|an?) \w+\b", re.IGNORECASE)
_GENDERED = re.compile(rf"\b(?:{'|'.join(_SLOTS)})\b", re.IGNORECASE)


@frozen
class _Row:
    row: int
    line: int
    gold: Gender
    index: int
    sentence: str
    profession: str

    @property
    def key(self) -> tuple[Gender, int, str, str]:
        """All columns of the file, by which two rows are the same."""
        return self.gold, self.index, self.sentence, self.profession


def read_winomt(path: Path, source: SourceLanguage = ENGLISH) -> Corpus[Instance]:
    """Read WinoMT from its folder (``en.txt``, ``en_pro.txt``, ``en_anti.txt``) or from one file.

    In another language, with its code in the files' names, pronouns are not counted, and there are
    no pairs or controls.

    A line has the gold gender, the 0-based whitespace token at which the entity starts, the
    sentence, and the profession. The stereotype of a row is that of the file beside it which has
    the whole row. A row in one of the two files is WinoBias. Winogender has no stereotype files: a
    row in neither is Winogender if the three files are whole, with 3,888 rows and twice 1,584;
    otherwise it has the domain ``winomt`` and is counted in the notes, since its row may be missing
    there. A file with another name than ``en.txt`` may be alone; then the stereotype is none, the
    domain ``winomt``, and a note says so.

    The head of *construction worker* is *worker*. A wrong index is corrected to the place of the
    profession, and counted; a row whose profession is not in the sentence is skipped with its
    reason. `Instance.pair` is the row that differs only in its gendered pronouns, with the same
    entity and the other gender, if each of the two is the only such row; in the real file 3,596
    rows have one. `Instance.control` is the row with the same entity and pronoun in which another
    person is "someone", or is not (The technician told the customer / someone that he …), if each
    is the only such row; in the real file 360 rows have one, all of Winogender, 240 of them in
    quadruples (120 are neutral).

    Raises:
        DataError: a file is missing, empty or not UTF-8; a line has not four columns; an index is
            not a number, or beyond the sentence; a gender is unknown; ``en.txt`` lacks a row of a
            stereotype file.
    """
    main = path / f"{source.code}.txt" if path.is_dir() else path
    notes = Notes()
    file = read_text(main)
    notes.add_file(file)
    rows = _rows(file)
    beside: dict[str, str] = {}
    stereotypes = _stereotypes(main, rows, notes, beside, source.code)
    instances, skipped = _instances(rows, stereotypes, main, notes, source)
    if source is ENGLISH:
        instances = _controlled(_paired(instances, {row.row: row for row in rows}, notes))
    return notes.corpus("winomt", file, instances, skipped, beside, source_lang=source.code)


class WinoMTKind(CorpusKind):
    """WinoMT, and sentences of its form in other languages."""

    def may_be_in(self, source: SourceLanguage, path: Path | None) -> bool:
        """See `CorpusKind`: the published ones are English."""
        return source.code == ENGLISH_CODE or path is not None

    def read(self, request: AskedCorpus) -> Corpus[Instance]:
        """See `CorpusKind`."""
        return read_winomt(request.file, request.source)


WINOMT_KIND = WinoMTKind()


def _rows(file: TextFile) -> list[_Row]:
    rows = []
    for row, content in enumerate(split_lines(file.text)):
        line = row + 1
        cells = content.split("\t")
        if len(cells) != 4:
            raise file.error(
                f"expected 4 columns separated by tabs ({_COLUMNS}), got {len(cells)}", line
            )
        gold = gender(cells[0], file.path, line)
        index = integer(cells[1].strip(), "token index", file.path, line)
        sentence, profession = cells[2].strip(), cells[3].strip()
        refuse_long(sentence, "sentence", file.path, line)
        length = len(sentence.split())
        if index >= length:
            raise file.error(
                f"token index {index} is beyond the sentence, "
                f"which has {length} tokens (counted from 0)",
                line,
            )
        rows.append(_Row(row, line, gold, index, sentence, profession))
    return rows


_Key = tuple[Gender, int, str, str]


def _stereotypes(
    main: Path, rows: list[_Row], notes: Notes, beside: dict[str, str], code: str
) -> Mapping[_Key, Stereotype] | None:
    """The stereotype of every row in a stereotype file, NONE for a row in both; None without
    files.
    """
    whole, pro, anti = f"{code}.txt", f"{code}_pro.txt", f"{code}_anti.txt"
    paths = {name: main.with_name(name) for name in (pro, anti)}
    absent = [name for name, path in paths.items() if not path.is_file()]
    if len(absent) == 2 and main.name != whole:
        notes.add("no stereotype files beside the corpus: stereotype none, domain winomt")
        return None
    if absent:
        message = (
            f"expected {pro} and {anti} beside {main.name}, with the rows that fit and oppose "
            f"the stereotype; got no {' and no '.join(absent)}"
        )
        if code == ENGLISH_CODE:
            message += "; fetch all three files (mtbias fetch --dataset winomt)"
        raise DataError(message, path=main.parent)
    counts = {}
    available = Counter(row.key for row in rows)
    for name, path in paths.items():
        file = read_text(path)
        beside[name] = file.sha256
        rows_of_file = _rows(file)
        counts[name] = Counter(row.key for row in rows_of_file)
        for row in rows_of_file:  # else the intended sentence would have no stereotype
            if main.name == whole and row.key not in available:
                raise file.error(
                    f"expected a row of {main.name}, got one that is not there: "
                    f"{row.sentence[:80]!r}; remove it, or get today's three files "
                    f"(a part of WinoMT may be there under another name than {whole})",
                    row.line,
                )
        notes.add(f"row of {name} that is not in {main.name}", (counts[name] - available).total())
    both = counts[pro] & counts[anti]
    notes.add("row in both stereotype files: stereotype none", sum(available[key] for key in both))
    fits = dict.fromkeys(counts[pro], Stereotype.PRO)
    opposes = dict.fromkeys(counts[anti], Stereotype.ANTI)
    return fits | opposes | dict.fromkeys(both, Stereotype.NONE)


def _instances(
    rows: list[_Row],
    stereotypes: Mapping[_Key, Stereotype] | None,
    path: Path,
    notes: Notes,
    source: SourceLanguage,
) -> tuple[list[Instance], int]:
    instances: list[Instance] = []
    skipped = 0
    seen: set[_Key] = set()
    unlisted = _domain_of_unlisted(rows, stereotypes)
    for row in rows:
        entity = row.profession.lower().removeprefix("the ").strip()
        spans = locate.tokens(row.sentence)
        id_ = f"winomt-{row.row + 1:05d}"
        if not entity:
            raise DataError("the profession (column 4) is empty", path=path, line=row.line)
        place = locate.locate(row.sentence, spans, row.index, entity, source)
        if place is None:
            notes.add("profession not in the sentence: row skipped")
            skipped += 1
            continue
        notes.add_place(row.sentence, place, row.profession)
        if row.key in seen:
            notes.add("row repeated word for word")
        seen.add(row.key)
        domain = unlisted
        if stereotypes is not None and row.key in stereotypes:
            domain = "winobias"
        elif stereotypes is not None and unlisted == "winomt":
            notes.add("row in neither stereotype file: stereotype none, domain winomt")
        instances.append(
            Instance(
                id=id_,
                row=row.row,
                source=row.sentence,
                head=place.head,
                entity=entity,
                gold=row.gold,
                stereotype=(stereotypes or {}).get(row.key, Stereotype.NONE),
                domain=domain,
                pronouns=source.pronouns(row.sentence),
            )
        )
    return instances, skipped


def _domain_of_unlisted(rows: list[_Row], stereotypes: Mapping[_Key, Stereotype] | None) -> str:
    """The sub-corpus of rows in neither stereotype file, which is known if WinoBias has no more
    rows.
    """
    listed = sum(row.key in stereotypes for row in rows) if stereotypes else 0
    is_whole = len(rows) == _ROWS and listed == _ROWS_OF_WINOBIAS
    return "winogender" if is_whole else "winomt"


def _paired(instances: list[Instance], rows: Mapping[int, _Row], notes: Notes) -> list[Instance]:
    """Link the male and the female row of a sentence where there is exactly one of each."""
    groups: defaultdict[tuple[str, int, str], list[Instance]] = defaultdict(list)
    for instance in instances:
        if instance.gold is not Gender.NEUTRAL:
            skeleton = _GENDERED.sub(lambda match: _SLOTS[match[0].lower()], instance.source)
            groups[skeleton, rows[instance.row].index, instance.entity].append(instance)
    pairs: dict[str, str] = {}
    for group in groups.values():
        genders = Counter(instance.gold for instance in group)
        if len(genders) == 2 and len(group) == 2:
            pairs |= {group[0].id: group[1].id, group[1].id: group[0].id}
            continue
        if len(genders) == 2:
            notes.add("more than one possible counterpart: pair none", len(group))
        else:
            notes.add("no counterpart of the other gender", len(group))
    return [replace(instance, pair=pairs.get(instance.id)) for instance in instances]


def _controlled(instances: list[Instance]) -> list[Instance]:
    """Link rows that differ only in another person, who is "someone" in one of them."""
    someone: defaultdict[tuple[Gender | None, str, str], list[str]] = defaultdict(list)
    for instance in instances:
        if instance.entity != "someone" and _SOMEONE.search(instance.source):
            someone[instance.gold, instance.entity, instance.source.lower()].append(instance.id)
    linked: defaultdict[str, set[str]] = defaultdict(set)
    for instance in instances:
        for person in set(_PERSON.findall(instance.source)):
            without = instance.source.replace(person, "someone").lower()
            for other in someone.get((instance.gold, instance.entity, without), ()):
                linked[instance.id].add(other)
                linked[other].add(instance.id)
    controls: dict[str, str] = {}
    for id_, others in linked.items():
        if len(others) == 1:
            (other,) = others
            if len(linked[other]) == 1:
                controls[id_] = other
    return [replace(instance, control=controls.get(instance.id)) for instance in instances]
