r"""Phrases that show both genders: *Ärzte und Ärztinnen*, *el/la jefe/a*, *Lehrer/-innen*, *los y
las docentes*, *niñes*, *ragazz\**.

Whichever of the two forms the aligner found, and whichever comes first, such a phrase is neutral:
both are meant, and half of it would be a gender that is not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import chain, product
from unicodedata import combining, normalize

from mtbias.language.definition import Language
from mtbias.language.grammar import Agreement, NounKind
from mtbias.reading.agreement import PERSONAL
from mtbias.reading.words import SentenceWord
from mtbias.types import Evidence, Gender, Span

# es "el jefe o la jefa de sala": a conjunction and an article. With more, somebody else may be
# between.
MAX_BETWEEN = 2
"""Words that may come between the two nouns."""
MAX_PREPOSITION = 2
"""Letters of a preposition beside which an article is written apart where its contraction is not:
*de*, *à*, *a*."""
_WRITTEN_ON = re.compile(
    r"""(?: /-?         # Lehrer/in, Lehrer/-innen, soldador/a, учитель/ница
          | -?\(-?      # médico(a), Lehrer(innen), Lehrer-(innen), Lehrer(-innen), Student(inn)en
          | [*:·•]      # soldador*a, étudiant·e, étudiant•e
          # étudiant.e; only `_written_ending` tells it from a sentence that ends without a blank
          | \.(?=[^\W\d_]) )
        # The other gender's ending: up to -innen, -trice, учитель/ница; a longer one is a word.
        (\w{1,7})
        (?:\)(?:\w|en)?|·\w|•\w)?  # étudiant(e)s, étudiant·e·s: the plural that both share
        (?!\w)          # the whole of what is written there, or none of it
    """,
    re.VERBOSE,
)
_BETWEEN_ARTICLES = re.compile(r"\s*/\s*|\s?\(|[·•.*:-]")
"""Signs that join two articles instead of a conjunction: *der/die*, *le (la)*, *le·la*,
``der*die``; not a sentence's end."""
_BETWEEN = re.compile(r"\s*[/(]?\s*")
"""Separators between two words of one phrase: blanks, a slash or an opening bracket."""
_NEUTRAL = re.compile(r"[\w@*]+")
r"""A word with the signs of endings for both genders, which `Language.tokens` leaves outside
(*niñ@s*, *ragazz\**)."""
# es "rey": -o and -a behind two letters make other words.
_MIN_STEM = 3
"""Letters that must come before an ending for both genders, and that two forms of one noun have in
common."""
_MAX_CUT = 4
"""Letters that a written-on ending may replace (it *direttore/trice* for *direttrice*: four)."""


def both_forms(
    words: Sequence[SentenceWord],
    head: int,
    text: str,
    language: Language,
    translations: Sequence[Span],
) -> Evidence | None:
    """The evidence that the phrase around ``words[head]`` means both genders, or None.

    Args:
        words: those of the translation.
        head: index of the entity's noun.
        text: the translation.
        language: its tables.
        translations: words of it that the tables know as translations of the entity.
    """
    word = words[head]
    other = _other_form(words, head, text, language.determiners, translations)
    if other is not None:
        first, second = (words[n] for n in sorted((head, other)))
        pair = f"{first.text} / {second.text}"
        span = Span(first.span.start, second.span.end)
        return _neutral("both_nouns", "noun", pair, span, "lexicon")
    written = _written_ending(word, text, language)
    if written:
        span = Span(word.span.start, word.span.end + len(written))
        return _neutral("ending_written_on", "noun", word.text + written, span)
    neutral = _neutral_word(word, text, language)
    if neutral:
        span = Span(word.span.start, word.span.start + len(neutral))
        return _neutral("neutral_ending", "noun", neutral, span)
    articles = _joined_articles(words, head, text, language)
    if articles is not None:
        return _neutral("both_articles", "determiner", text[slice(*articles)], articles)
    sexes = _both_sexes(words, head, language)
    if sexes:
        span = Span(sexes[0].span.start, sexes[-1].span.end)
        pair = " ".join(word.text for word in sexes)
        return _neutral("both_sexes", "adjective", pair, span)
    return None


def _neutral(rule: str, kind: str, word: str, span: Span, source: str = "form") -> Evidence:
    return Evidence(rule, kind, word, span, Gender.NEUTRAL, source)


def _both_sexes(
    words: Sequence[SentenceWord], head: int, language: Language
) -> Sequence[SentenceWord]:
    """Words that mean a man and a woman, joined by a conjunction right beside the head (es *médicos
    hombres y mujeres*, de *männliche und weibliche Lehrkräfte*), or none.
    """
    known = language.sex_adjectives
    # ar "الذكور والإناث": two words, the conjunction is written on.
    for start, end in ((max(head - 3, 0), head), (head + 1, head + 3), (head + 1, head + 4)):
        sexes, phrase = words[start:end], words[min(start, head) + 1 : max(end, head + 1)]
        conjunction = any("CCONJ" in word.tags for word in sexes[1:])
        bases = chain.from_iterable(word.facts.bases for word in sexes)
        genders = {known[base] for base in bases if base in known}
        if conjunction and genders == {"m", "f"} and all(word.joined for word in phrase):
            return sexes
    return ()


def _other_form(
    words: Sequence[SentenceWord],
    head: int,
    text: str,
    determiners: Collection[str],
    translations: Sequence[Span],
) -> int | None:
    """Index of the entity's noun of the other gender, joined to the head by *and*, *or*, a slash or
    a bracket.

    Both must translate the entity: de "Könige und Königinnen" are two kinds of persons for *kings*,
    es "hermanos y hermanas" one for *siblings* and two for *brothers*.
    """
    if words[head].span not in translations:
        return None
    for step in (1, -1):
        adjectives: list[SentenceWord] = []
        for n in range(head + step, head + step * (MAX_BETWEEN + 2), step):
            if not 0 <= n < len(words) or _is_parted(words, min(n, n - step), text):
                break
            if _genders(words[n]):
                other = words[n].span in translations and _is_other_form(words, head, n, text)
                # pt "queridas alunas e queridos alunos": an adjective of both.
                before = words[max(min(head, n) - 1, 0)]
                if other and all(_one_stem(adjective, before) for adjective in adjectives):
                    return n
                break
            if "CCONJ" in words[n].tags or words[n].form in determiners:
                continue
            if "ADJ" not in words[n].tags:
                break
            adjectives.append(words[n])
    return None


def _is_parted(words: Sequence[SentenceWord], n: int, text: str) -> bool:
    """A mark that is not a slash or bracket follows the n-th word, or the full stop of an
    abbreviated conjunction (de *bzw.*).
    """
    end = words[n].span.end
    end += "CCONJ" in words[n].tags and text.startswith(".", end)
    return not _BETWEEN.fullmatch(text, end, words[n + 1].span.start)


def _is_other_form(words: Sequence[SentenceWord], head: int, n: int, text: str) -> bool:
    """The n-th word is the noun at `head` in the other gender, joined to it."""
    noun, other = words[head], words[n]
    genders = _genders(noun)
    # ru "Тренер и преподавательница" may both render *teacher*, and are a coach and a teacher.
    if noun.form == other.form or not _one_stem(noun, other):
        return False
    if not genders:
        # es "el cliente o la clienta": beside a feminine of its own a form for both is a man's.
        common = any(r.kind is NounKind.COMMON for r in noun.readings)
        if not common or not other.form.startswith(noun.form[:-1]):
            return False
        genders = {Gender.MALE}
    several = len(genders | _genders(other)) > 1
    return several and _joined(words, min(head, n), max(head, n), text)


def _one_stem(one: SentenceWord, other: SentenceWord) -> bool:
    """Whether the first letters of one are in the other, but for marks (*Arzt*, *Ärztin*; ar
    *المعلم والمعلمة*).
    """
    # Three letters: es "actor / actriz", de "Krankenpfleger und Krankenschwestern".
    first, second = _plain(one.form), _plain(other.form)
    return first[:_MIN_STEM] in second or second[:_MIN_STEM] in first


def _plain(form: str) -> str:
    """Without marks above and below letters."""
    return "".join(letter for letter in normalize("NFKD", form) if not combining(letter))


def _joined(words: Sequence[SentenceWord], first: int, second: int, text: str) -> bool:
    """Between two words is a conjunction, a slash or a bracket; or the second has its
    conjunction written on (ar *المعلم والمعلمة*).
    """
    if any("CCONJ" in words[n].tags for n in range(first + 1, second + 1)):
        return True
    between = text[words[first].span.end : words[second].span.start]
    return "/" in between or "(" in between


def _written_ending(word: SentenceWord, text: str, language: Language) -> str:
    """The ending behind the word that makes it a noun of the other gender (*soldador* + *a*), with
    its sign, or nothing.
    """
    written = _WRITTEN_ON.match(text, word.span.end)
    # "Er war Lehrer.In Wien …": a sentence begins with a capital.
    if not written or (written[0].startswith(".") and not written[1].islower()):
        return ""
    ending = language.fold(written[1] + ("en" if written[0].endswith(")en") else ""))
    other = Gender.MALE if _genders(word) == {Gender.FEMALE} else Gender.FEMALE
    for base in word.facts.bases:
        for cut in range(min(_MAX_CUT, len(base) - _MIN_STEM) + 1):
            readings = language.nouns.get(base[: len(base) - cut] + ending, ())
            if any(reading.kind.gender is other for reading in readings):
                return written[0]
    return ""


def _neutral_word(word: SentenceWord, text: str, language: Language) -> str:
    r"""The word as it is written (*niñ@s*, *ragazz\**, *niñes*) if with other endings it is a man's
    and a woman's, else nothing; also where an article says that it is another word (pt *a morte*).
    """
    written = _NEUTRAL.match(text, word.span.start)
    if not written or not language.with_neutral_ending(written[0]):
        return ""
    another = written[0] == word.text and word.form.isalpha() and not word.is_inclusive
    return "" if another else written[0]


def _joined_articles(
    words: Sequence[SentenceWord], head: int, text: str, language: Language
) -> Span | None:
    """Articles of a man and of a woman in one case and number before the head (*los y las*
    docentes, *der/die* Angestellte), as they are written; else nothing.
    """
    second = head - 1
    # es "los y las jóvenes docentes". Beyond another noun they are somebody else's: "el y la
    # directora con su médico". fr "tous/toutes les journalistes": an article of both genders is
    # passed over.
    while second > 0 and _silent_modifier(words[second], language):
        second -= 1
    split = _split_article(words, head, text, language)
    if split:
        return split
    before = second - 1
    split_contraction = before > 0 and _may_be_preposition(words[before], language)
    before -= split_contraction
    sign = before >= 0 and _BETWEEN_ARTICLES.fullmatch(
        text, words[before].span.end, words[before + 1].span.start
    )
    first = before if sign else before - 1
    if first < 0 or not (sign or "CCONJ" in words[before].tags):
        return None
    prepositions = all("ADP" in words[n].tags for n in (first, second - 1))
    if split_contraction and not sign and not prepositions:
        return None
    one, other = (language.determiners.get(words[n].form, ()) for n in (first, second))
    if words[first].form == words[second].form or not _show_both_genders(one, other):
        return None
    end = words[second].span.end
    between = text[words[first].span.end : words[second].span.start]
    # uk "Я прибираю сама, а мій партнер": behind a comma somebody else begins; so in a bracket, fr
    # "il le (la journaliste) voit", but not in "le (la) journaliste".
    bracket = "(" in between
    if "," in between or (bracket and text[end : end + 1] != ")"):
        return None
    return Span(words[first].span.start, end + bracket)


def _silent_modifier(word: SentenceWord, language: Language) -> bool:
    """An adjective, or a determiner that comes before both genders alike (fr *les*, *l'*)."""
    shown = language.determiners.get(word.form)
    if shown is None:
        return word.is_modifier
    return {a[1:] for a in shown if a.gender == "m"} == {a[1:] for a in shown if a.gender == "f"}


def _may_be_preposition(word: SentenceWord, language: Language) -> bool:
    """Whether the word may be a preposition that is written apart from its article, where the other
    gender has a contraction (fr *du/de la* journaliste, es *al/a la* periodista). Around a slash
    taggers call it anything.
    """
    short = len(word.form) <= MAX_PREPOSITION and "CCONJ" not in word.tags
    return ("ADP" in word.tags or short) and word.form not in language.determiners


def _split_article(
    words: Sequence[SentenceWord], head: int, text: str, language: Language
) -> Span | None:
    """An article with the other gender's ending written on, right before the head (*un(e)*
    journaliste, *ein/e* Angestellte), as it is written; else nothing.
    """
    for article in words[max(0, head - 2) : head]:
        own = language.determiners.get(article.form, ())
        written = _WRITTEN_ON.match(text, article.span.end) if own else None
        if written is None or text[written.end() : words[head].span.start].strip():
            continue
        ending = language.fold(written[1])
        stems = (article.form[: len(article.form) - cut] for cut in range(len(article.form)))
        others = (language.determiners.get(stem + ending, ()) for stem in stems)
        if any(_show_both_genders(own, other) for other in others):
            return Span(article.span.start, written.end())
    return None


def _show_both_genders(one: Sequence[Agreement], other: Sequence[Agreement]) -> bool:
    """An agreement of one is a man's, of the other a woman's, in the same case and number."""
    for first, second in product(one, other):
        if {first.gender, second.gender} == {"m", "f"} and first[1:] == second[1:]:
            return True
    return False


def _genders(word: SentenceWord) -> set[Gender]:
    """The genders that the table knows the form to show, if it shows any."""
    return {r.kind.gender for r in word.readings if r.kind.gender in PERSONAL}
