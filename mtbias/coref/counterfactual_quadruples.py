"""The control and the two gender-swapped counterparts of an instance of GAP's kind, as in
Counter-GAP.

The original has a pronoun and two candidates A and B of one gender; C and D are two people of the
other gender, in the text or not. The control exchanges A with B and C with D. The first swap
exchanges A with C and B with D, the second A with D and B with C; both swap all gendered words of
the text too. Offsets are those of the new text.

Source: Xie, Kocijan, Lukasiewicz and Camburu, *Counter-GAP* (EACL 2023), section 3.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from mtbias.coref.augmentation import MadeFile
from mtbias.coref.counter_gap import ROLES
from mtbias.coref.gap_data import (
    GapFile,
    GapInstance,
    NameSpans,
    gender_of,
    read_instances,
    write_instances,
)
from mtbias.english.gender_swap import (
    Edit,
    GenderedWords,
    apply_edits,
    has_listed_words,
    read_swaps,
    swap_words,
    tokenize,
)
from mtbias.english.people import (
    EXAMPLE_NAMES,
    NameList,
    bare_name,
    people,
    proper_names,
    read_names,
)
from mtbias.errors import DataError, MissingResourceError
from mtbias.files.reading import sha256_of
from mtbias.files.writing import signature_line, write_atomic
from mtbias.morphology.stanza_models import (
    BREAKS,
    StanzaModels,
    find_package,
    lenient,
    load_pipeline,
)
from mtbias.types import Analysis, Gender, Span

_log = logging.getLogger(__name__)

OTHERS = ("C", "D")
"""Columns of the input that may name the two people of the other gender."""


class Named(NamedTuple):
    """The four people of an instance by name: A and B, and C and D of the other gender."""

    names: tuple[str, str, str, str]
    where: str
    """The source of C and D: ``given`` (the columns), ``text`` (both are named in it) or ``list``
    (one or both were chosen from the list of names)."""
    mentions: Mapping[Span, str]
    """The name of each mention in the text."""


class Rewritten(NamedTuple):
    """An instance rewritten from another, and the words that were swapped for it."""

    instance: GapInstance
    words: int
    """Gendered words that were swapped."""
    ambiguous: tuple[str, ...]
    """Each *her* whose reading was a guess, with a few characters around it."""


class MadeQuadruple(NamedTuple):
    """A quadruple: original, control, swap-1 and swap-2.

    Both swaps swap the same words, so one of them has the counts.
    """

    instances: tuple[GapInstance, ...]
    swap: Rewritten


def make_quadruple(
    instance: GapInstance, named: Named, table: GenderedWords | None = None
) -> MadeQuadruple:
    """The quadruple of an original; ids are the original's with -control, -swap-1, -swap-2.

    Where the file has the columns C and D, they are exchanged too. `table` are the words that are
    swapped, by default those that ship with mtbias.

    Raises:
        DataError: the pronoun is none of he, him, his, she, her, hers; the four names are not all
            different; A, B or the pronoun is not a word of its own at its offset.
    """
    gender_of(instance)
    a, b, c, d = named.names
    if len(set(named.names)) < 4 or not all(named.names):
        raise DataError(
            f"{instance.id}: expected four different names, got {a!r}, {b!r}, {c!r}, {d!r}"
        )
    exchanges = {a: b, b: a, c: d, d: c}, {a: c, b: d, c: a, d: b}, {a: d, b: c, c: b, d: a}
    rewritten = [
        rewrite(instance, named.mentions, names, table, swap_gender=n > 0)
        for n, names in enumerate(exchanges)
    ]
    rest = (
        replace(one.instance, id=instance.id + role)
        for one, role in zip(rewritten, ROLES[1:], strict=True)
    )
    return MadeQuadruple((instance, *rest), rewritten[1])


def write_quadruples(
    data: Path,
    out: Path,
    tagger: Callable[[Sequence[str]], Sequence[Analysis]],
    names: Path | None = None,
    swaps: Path | None = None,
    *,
    as_published: bool = False,
) -> MadeFile:
    """Write the quadruples of the `originals` in the file `data` to `out`, as Counter-GAP's file
    has them.

    Args:
        data: a file of GAP's columns.
        out: the file to write.
        tagger: gives the English analyses of texts, in which proper names are found.
        names: first names; None: the list that comes with mtbias.
        swaps: pairs of words (`read_swaps`); None: those that come with mtbias.
        as_published: swap pronouns and titles as Counter-GAP's texts do (`read_swaps`).

    Raises:
        DataError: what the readers raise; none can be made.
        OutputError: `out` is one of the files.
    """
    file = read_instances(data, labelled=False)
    listed = read_names(names or EXAMPLE_NAMES)
    table = read_swaps(swaps, as_published=as_published)

    quadruples: list[MadeQuadruple] = []
    sources: Counter[str] = Counter()
    failed: list[str] = []
    chosen = originals(file.instances)
    analyses = tagger([instance.text for instance in chosen])
    for instance, analysis in zip(chosen, analyses, strict=True):
        proper = proper_names(instance.text, proper_nouns(analysis))
        try:
            named = name_people(instance, listed, proper)
            quadruples.append(make_quadruple(instance, named, table.words))
        except DataError as error:
            failed.append(str(error))
        else:
            sources[named.where] += 1
    if not quadruples:
        raise DataError(f"no quadruple could be made; the first reason: {failed[0]}", path=data)

    instances = chain.from_iterable(quadruple.instances for quadruple in quadruples)
    write_atomic(out, write_instances(instances, file.columns).encode("utf-8"))
    if swaps and not has_listed_words(_words_of_originals(quadruples), table.words):
        _log.warning("%s: no word of %s is in it: pronouns alone are swapped", data, swaps)

    ambiguous: list[str] = []
    for quadruple in quadruples:
        original = quadruple.instances[0]
        ambiguous += [f"{original.id}: …{place}…" for place in quadruple.swap.ambiguous]
    swapped = sum(quadruple.swap.words for quadruple in quadruples)
    n = len(file.instances)
    counts = {
        "instances": n,
        "counterfactuals passed over": n - len(quadruples) - len(failed),
        "could not be made": len(failed),
        "quadruples written": len(quadruples),
        "  other people of the columns C and D": sources["given"],
        "  other people of the text": sources["text"],
        "  other people of the list": sources["list"],
        "gendered words swapped in each of two counterfactuals": swapped,
        "her or his that may be read either way": len(ambiguous),
    }

    options = {
        "list": "given" if names else "example",
        "swaps": "given" if swaps else "shipped",
    }
    options |= {"pronouns": "published"} if as_published else {}
    files = {
        "data": {data.name: file.sha256},
        "names": {"names": listed.sha256},
        "swaps": table.files,
    }
    signature = signature_line("coref:counterfactual", files, options)
    return MadeFile(counts, ambiguous, str(out), signature, failed)


def _words_of_originals(quadruples: Iterable[MadeQuadruple]) -> Iterator[str]:
    for quadruple in quadruples:
        yield from (token.text for token in tokenize(quadruple.instances[0].text))


def originals(instances: Sequence[GapInstance]) -> list[GapInstance]:
    """The instances without the counterfactuals (-control, -swap-1, -swap-2) of others among
    them.
    """
    counterfactuals: set[str] = set()
    for instance in instances:
        counterfactuals.update(instance.id + role for role in ROLES[1:])
    return [instance for instance in instances if instance.id not in counterfactuals]


def rewrite(
    instance: GapInstance,
    mentions: Mapping[Span, str],
    names: Mapping[str, str],
    table: GenderedWords | None = None,
    *,
    swap_gender: bool,
) -> Rewritten:
    """Replace each of `mentions` by the name that `names` has for it, and with `swap_gender` all
    gendered words.

    Names themselves are never swapped as words. A name is written as it is spelt, a word with its
    capitals; the "'s" behind a name stays, also where A or B has it as a part.

    Raises:
        DataError: A, B or (with `swap_gender`) the pronoun is not a word of its own at its offset.
    """
    text = instance.text
    named = [Edit(*span, names[name]) for span, name in mentions.items()]
    words, ambiguous = _gendered(text, named, table) if swap_gender else ([], [])
    edits = [*named, *words]
    new_text, moved = apply_edits(text, edits)

    def at(span: Span, what: str) -> Span:
        word = text[slice(*span)]
        end = span.start + len(bare_name(word))
        for place, (new, start) in moved.items():
            if place[0] <= span.start and end <= place[1]:
                return Span(start, start + len(new) + span.end - end)
        if what == "pronoun" and not swap_gender:  # it stays, and moves with the text
            by = sum(len(e.new) - (e.end - e.start) for e in edits if e.end <= span.start)
            return Span(span.start + by, span.end + by)
        where = f"{instance.id}: {what} {word!r} at {span.start}"
        raise DataError(f"{where} is part of a longer word or name; it cannot be replaced")

    a, b = instance.candidates
    candidates, pronoun = (at(a, "A"), at(b, "B")), at(instance.pronoun_at, "pronoun")
    others = {
        column: names.get(text, text) if column in OTHERS else text
        for column, text in instance.others.items()
    }
    new = replace(instance, text=new_text, pronoun_at=pronoun, candidates=candidates, others=others)
    return Rewritten(new, len(words), tuple(ambiguous))


def _gendered(
    text: str, named: Sequence[Edit], table: GenderedWords | None
) -> tuple[list[Edit], list[str]]:
    """The gendered words outside names; and the ambiguous ones with some of the text around."""
    tokens = tokenize(text)
    inside: set[int] = set()
    for name in named:
        inside.update(range(name.start, name.end))
    fixed = {n for n, token in enumerate(tokens) if token.start in inside}
    edits, ambiguous = [], []
    for swap in swap_words([token.text for token in tokens], fixed=fixed, table=table):
        token = tokens[swap.index]
        edits.append(Edit(token.start, token.end, swap.new))
        if swap.ambiguous:
            ambiguous.append(text[max(0, token.start - 15) : token.end + 25])
    return edits, ambiguous


def proper_nouns(analysis: Analysis) -> Iterator[tuple[Span, bool]]:
    """The span of each word of an analysis without its clitics, and whether it is a proper noun."""
    for token in analysis.tokens:
        first, start = token.words[0], token.span.start
        own = len(token.words) > 1 and analysis.text.startswith(first.text, start)
        yield Span(start, start + len(first.text) if own else token.span.end), first.upos == "PROPN"


def name_people(instance: GapInstance, names: NameList, proper: Iterable[Span] = ()) -> Named:
    """The four people of an instance.

    C and D are those of the columns C and D, where the file has them and they are filled; else the
    first two people of the gender that A and B do not have whom the text names
    (`mtbias.english.people`); what is lacking is chosen from the list (`NameList.like`).

    Raises:
        DataError: the list has no free name left; the pronoun has no gender.
    """
    own = gender_of(instance)
    other = Gender.FEMALE if own is Gender.MALE else Gender.MALE
    columns = (instance.others.get(column, "").strip() for column in OTHERS)
    a, b, c, d = map(bare_name, (*instance.names, *columns))
    known = {a: own, b: own}
    where = "text"
    if c and d:
        where = "given"
        known |= {c: other, d: other}

    in_text = people(instance.text, proper, names.gender, known)
    four = in_text[: len(known)]
    if where == "text":
        others = [person for person in in_text[len(known) :] if person.gender is other]
        four += others[:2]

    chosen = [c, d] if where == "given" else [person.name for person in four[len(known) :]]
    for person in (a, b)[len(chosen) :]:
        where = "list"
        name = names.like(person, other, " ".join([instance.text, *chosen]))
        if name is None:
            raise DataError(
                f"{instance.id}: the list has no {other} name that is not in the text; give a "
                "longer one"
            )
        chosen.append(name)

    mentions: dict[Span, str] = {}
    for someone in four:
        mentions |= dict.fromkeys(someone.mentions, someone.name)
    return Named((a, b, chosen[0], chosen[1]), where, mentions)


TAGGER = ("tokenize", "pos")
"""Stanza's processors that find parts of speech in words that are told apart already."""


def find_proper_nouns(
    sentences: Sequence[Sequence[str]],
    folder: Path,
) -> tuple[list[set[int]], str]:
    """Which words of sentences are proper nouns, by Stanza's English tagger; and which tagger.

    Raises:
        MissingResourceError: `folder` has no tagger, or Stanza cannot load it.
    """
    try:
        package = find_package("en", folder, TAGGER)
    except MissingResourceError as error:
        why = "the file has no parts of speech, and names are found by Stanza's English tagger then"
        raise MissingResourceError(f"{why}: {error}") from None
    with lenient():
        pipeline = load_pipeline(package, None, tokenize_pretokenized=True)
        document = pipeline([list(words) for words in sentences])
    return list(map(_places_of_proper_nouns, document.sentences)), package.analyses_signature


def _places_of_proper_nouns(sentence: Any) -> set[int]:  # noqa: ANN401 - stanza has no types
    return {n for n, word in enumerate(sentence.words) if word.upos == "PROPN"}


NAMED_ENTITIES = ("tokenize", "mwt", "ner")
"""Stanza's processors that find persons."""
_BEFORE_OTHERS = re.compile(r"\b(?:the|in|at|near|on|an?)[ ]+$", re.IGNORECASE)
"""Words before names of places and things."""
_WORD = re.compile(r"[^\W\d_]{2,}")


def find_names(data: GapFile, folder: Path) -> tuple[NameSpans, str]:
    """The names of texts by Stanza, and how: persons where `folder` has its English recogniser,
    else `likely_persons`.

    Raises:
        MissingResourceError: `folder` has not even the tagger; Stanza cannot load the models.
    """
    texts = [instance.text for instance in data.instances]
    try:
        package = find_package("en", folder, NAMED_ENTITIES)
    except MissingResourceError:
        package = find_package("en", folder)
        how = "proper nouns that may be of persons; no recogniser is there"
        analyses = StanzaModels(package, None).analyse(texts)
        runs = [proper_names(one.text, proper_nouns(one)) for one in analyses]
        first_names = {name.text for name in read_names(EXAMPLE_NAMES).names}
        names = [
            likely_persons(instance, run, first_names)
            for instance, run in zip(data.instances, runs, strict=True)
        ]
    else:
        how = "persons by Stanza's recogniser"
        with lenient():
            pipeline = load_pipeline(package, None)
            documents = pipeline.bulk_process([text.translate(BREAKS) for text in texts])
        names = list(map(persons, documents))

    ids = [instance.id for instance in data.instances]
    spans = dict(zip(ids, names, strict=True))
    return NameSpans(spans, sha256_of(package.analyses_signature), 0), how


def likely_persons(
    instance: GapInstance, names: Iterable[Span], first_names: Collection[str] = ()
) -> tuple[Span, ...]:
    """Those of the `names` of a text that may be of persons.

    No article, *in*, *at*, *near* or *on* is before them; and they have several words, or share
    a word with one that has, with a candidate, or with `first_names`.
    """
    text = instance.text
    left = [span for span in names if not _BEFORE_OTHERS.search(text, 0, span.start)]
    words = {span: set(_WORD.findall(text, *span)) for span in left}
    known = set(first_names).union(*map(_WORD.findall, instance.names))
    known = known.union(*(own for span, own in words.items() if " " in text[slice(*span)]))
    return tuple(span for span in left if words[span] & known)


def persons(document: Any) -> tuple[Span, ...]:  # noqa: ANN401 - stanza has no types
    """Where Stanza's `document` names persons."""
    return tuple(
        Span(one.start_char, one.end_char) for one in document.ents if one.type in {"PERSON", "PER"}
    )
