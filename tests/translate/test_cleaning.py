"""Answers of language models, each kind of what is around a translation, and what is none."""

from __future__ import annotations

import re
import time
import unicodedata
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mtbias.files.text_repair import repair
from mtbias.translate.language_models.cleaning import KINDS, Cleaned, clean, needs_cleaning, tally
from mtbias.translate.language_models.prompt_files import AnswerForm, load_prompt
from tests.draws import crossed, sampled

SOURCE = "The doctor asked the nurse to help her with the procedure."
ES = "La doctora le pidió al enfermero que la ayudara con el procedimiento."
ES_MALE = "El doctor le pidió a la enfermera que lo ayudara con el procedimiento."
DE = "Die Ärztin bat den Pfleger, ihr bei dem Eingriff zu helfen."
RU = "Врач попросила медбрата помочь ей с процедурой."
HE = "הרופאה ביקשה מהאח לעזור לה בהליך."
AR = "طلبت الطبيبة من الممرض أن يساعدها في الإجراء."
CS = "Lékařka požádala ošetřovatele, aby jí pomohl se zákrokem."
UK = "Лікарка попросила медбрата допомогти їй із процедурою."
IT = "La dottoressa chiese all'infermiere di aiutarla con la procedura."
CLEAN = {"es": ES, "de": DE, "ru": RU, "he": HE, "ar": AR, "cs": CS, "uk": UK, "it": IT}
PLAIN = load_prompt("plain")

REMOVED = [
    # thoughts
    ("es", f"<think>\nThe doctor is a woman (her).\n</think>\n\n{ES}", ES, ("thinking",)),
    ("es", f"The doctor is 'her', so doctora.\n</think>\n{ES}", ES, ("thinking",)),
    (
        "es",
        f"<|channel|>analysis<|message|>Her.<|end|><|channel|>final<|message|>{ES}",
        ES,
        ("thinking",),
    ),
    # special tokens and tags
    ("es", f"{ES}<|im_end|>\n<|im_start|>user\nAnother one", ES, ("tags",)),
    ("es", f"<|start_header_id|>assistant<|end_header_id|>\n\n{ES}<|eot_id|>", ES, ("tags",)),
    ("de", f"<s> [INST] {DE}</s>", DE, ("tags",)),
    ("es", f"<translation>{ES}</translation>", ES, ("tags",)),
    # announcements
    ("es", f"Here is the translation: {ES}", ES, ("introduction",)),
    ("es", f"Sure! Here's the Spanish translation of the sentence:\n\n{ES}", ES, ("introduction",)),
    ("es", f"Sure!\n{ES}", ES, ("introduction",)),
    ("es", f"Sure! {ES}", ES, ("introduction",)),
    ("es", f"Sure thing! {ES}", ES, ("introduction",)),
    ("es", f"¡Claro que sí! {ES}", ES, ("introduction",)),
    ("es", f"¡Claro! {ES}", ES, ("introduction",)),
    ("de", f"Sicher. {DE}", DE, ("introduction",)),
    ("es", f'Of course! "{ES}"', ES, ("introduction", "quotes")),
    (
        "es",
        "Sure! La doctora dijo: el enfermero me ayuda.",
        "La doctora dijo: el enfermero me ayuda.",
        ("introduction",),
    ),
    ("es", f"Aquí tienes la traducción al español:\n{ES}", ES, ("introduction",)),
    ("es", f"¡Claro! Aquí tienes:\n{ES}", ES, ("introduction",)),
    ("es", f"Spanish: {ES}", ES, ("introduction",)),
    ("es", f"ES: {ES}", ES, ("introduction",)),
    ("es", f"Español: {ES}", ES, ("introduction",)),
    ("de", f"Die Übersetzung lautet: {DE}", DE, ("introduction",)),
    ("ru", f"Перевод: {RU}", RU, ("introduction",)),
    ("uk", f"Переклад українською:\n{UK}", UK, ("introduction",)),
    ("cs", f"Překlad: {CS}", CS, ("introduction",)),
    ("ar", f"الترجمة إلى العربية:\n{AR}", AR, ("introduction",)),
    ("he", f"התרגום לעברית: {HE}", HE, ("introduction",)),
    ("it", f"Ecco la traduzione:\n\n{IT}", IT, ("introduction",)),
    # the source
    ("es", f"{SOURCE}\n{ES}", ES, ("echo",)),
    ("es", f"English: {SOURCE}\nSpanish: {ES}", ES, ("echo", "introduction")),
    # quotation marks and Markdown
    ("es", f'"{ES}"', ES, ("quotes",)),
    ("es", f"«{ES}»", ES, ("quotes",)),
    ("de", f"„{DE}“", DE, ("quotes",)),
    ("es", f'"{ES[:-1]}".', ES[:-1], ("quotes",)),
    ("it", f"«{IT[:-1]}».", IT[:-1], ("quotes",)),
    ("es", f'"{ES}', ES, ("quotes",)),
    ("de", f"„{DE}", DE, ("quotes",)),
    ("es", f"{ES}”", ES, ("quotes",)),
    ("es", f'{ES[:-1]}".', ES[:-1], ("quotes",)),
    ("es", f"**{ES}", ES, ("markdown",)),
    ("es", f"**{ES}**", ES, ("markdown",)),
    ("es", f"```\n{ES}\n```", ES, ("markdown",)),
    ("es", f"- {ES}", ES, ("markdown",)),
    ("es", f"1. {ES}", ES, ("markdown",)),
    ("es", ES.replace("doctora", "**doctora**"), ES, ("markdown",)),
    ("es", f"**Translation:** {ES}", ES, ("introduction", "markdown")),
    ("es", f"**Spanish translation:**\n\n> *{ES}*", ES, ("introduction", "markdown")),
    ("es", f'Here is the translation:\n\n"{ES}"', ES, ("introduction", "quotes")),
    # further lines
    ("es", f"{ES}\n\nNote: I used the feminine form because of 'her'.", ES, ("lines",)),
    ("es", f"{ES}\n\nThis translation assumes that the doctor is a woman.", ES, ("lines",)),
    ("es", f"{ES}\n\nNota: se usa el femenino.", ES, ("lines",)),
    (
        "es",
        f"{ES}\n\nExplanation:\n* 'doctora': feminine\n* 'enfermero': masculine",
        ES,
        ("lines",),
    ),
    ("ru", f"{RU}\n\n(Vrach poprosila medbrata pomoch yey s protseduroy.)", RU, ("lines",)),
    ("ru", f"{RU}\n\nПримечание: врач здесь женщина.", RU, ("lines",)),
    ("es", f"{ES}\n\n¡Espero que te ayude!", ES, ("lines",)),
    ("es", f"{ES}\nLo he escrito así porque era lo más natural en este caso.", ES, ("lines",)),
    (
        "es",
        f'The translation of "{SOURCE}" into Spanish is:\n\n"{ES}"',
        ES,
        ("introduction", "quotes"),
    ),
    ("es", f"I will translate it so that the doctor is a woman.\n{ES}", ES, ("note",)),
    ("es", f"The doctor is a woman, as her says.\n{ES}", ES, ("language",)),
    ("es", f"{ES}\n###", ES, ()),
    ("es", f"{ES}\nEnglish: The cook came.\nSpanish: Vino el cocinero.", ES, ("lines",)),
    # twice the same, but for punctuation and case
    ("es", f'{ES[:-1]}\n\nIn Spanish, the sentence translates to "{ES}"', ES[:-1], ("lines",)),
    ("es", f"{ES}\n{ES.lower()}", ES, ("lines",)),
    (
        "de",
        f'{DE}\n\nIn German, the translation is:\n\n"{DE[:-1]}"\n\nThis translation is a simplified one.',
        DE,
        ("lines",),
    ),
    # twice the same
    ("es", f"{ES}\n{ES}", ES, ("lines",)),
]

NONE = [
    ("es", "", "empty"),
    ("es", " \n\t", "empty"),
    ("es", "<think>The doctor is", "thinking"),
    ("es", "<think>The doctor is her.</think>", "empty"),
    ("es", "I'm sorry, but I can't help with that.", "refusal"),
    ("es", "Lo siento, no puedo ayudarte con eso.", "refusal"),
    ("es", "No es posible dar una traducción exacta de este texto.", "note"),
    ("de", "Es tut mir leid, dabei kann ich nicht helfen.", "refusal"),
    ("ru", "Извините, я не могу помочь с этим запросом.", "refusal"),
    ("es", SOURCE, "echo"),
    ("es", f'"{SOURCE}"', "echo"),
    ("es", "The physician asked a male nurse for some help with an operation.", "language"),
    ("es", "Die Ärztin bat den Pfleger, ihr bei dem Eingriff zu helfen.", "language"),
    ("es", "Here is the translation:", "introduction"),
    ("es", f"{ES}\n{ES_MALE}", "alternatives"),
    ("es", f'{ES}\nIn Spanish, this translates to "{ES_MALE}"', "alternatives"),
    ("es", f'{ES}\nIt may be translated as "{ES}" or "{ES_MALE}"', "alternatives"),
    ("es", f"1. {ES}\n2. {ES_MALE}", "alternatives"),
    ("es", f"Masculine: {ES_MALE}\nFeminine: {ES}", "alternatives"),
    ("es", f"{ES} / {ES_MALE}", "alternatives"),
    ("es", f"{ES} ({ES_MALE})", "alternatives"),
    ("es", f"{ES}\n\nNote: if the doctor is a man:\n{ES_MALE}", "alternatives"),
    ("es", f"{ES[:-1]} (o «{ES_MALE}» si es un hombre).", "alternatives"),
    ("es", ES.replace("La doctora", "La (el) doctora"), "alternatives"),
    ("es", f"{ES} (Note: the feminine form is used because of 'her'.)", "note"),
    ("es", f"{ES} Note: the feminine form is used.", "note"),
    ("es", f"{ES} This translation assumes that the doctor is a woman.", "note"),
    ("es", f"{ES} ({SOURCE})", "note"),
    ("es", f"{ES} English: The cook came. Spanish: Vino el cocinero.", "note"),
    ("es", " ".join([ES] * 10), "overlong"),
    # other shapes
    ("es", f'{{"translation": "{ES}"}}', "shape"),
    ("es", f'```json\n{{"translation": "{ES}"}}\n```', "shape"),
    ("es", f"[Spanish] {ES}", "shape"),
    ("es", f"{SOURCE} → {ES}", "echo"),
    ("es", f'The Spanish translation is "{ES}".', "note"),
    ("es", f"La traducción sería «{ES}»", "note"),
    ("es", f'"{SOURCE}" → "{ES}"', "echo"),
    ("es", f"{ES}\nEnglish: The cook came.\nSpanish: {ES_MALE}", "alternatives"),
]


@pytest.mark.parametrize(("lang", "answer", "text", "kinds"), REMOVED)
def test_what_is_around_a_translation_is_removed_and_counted(
    lang: str, answer: str, text: str, kinds: tuple[str, ...]
) -> None:
    assert clean(answer, SOURCE, PLAIN, lang) == Cleaned(text, kinds)


@pytest.mark.parametrize(("lang", "answer", "reason"), NONE)
def test_what_is_no_translation_is_none(lang: str, answer: str, reason: str) -> None:
    found = clean(answer, SOURCE, PLAIN, lang)
    assert (found.text, found.reason) == (None, reason)
    assert reason in found.kinds


def _is_whole(answer: str) -> bool:
    ends = answer.endswith(("*", '"', "»", ")"))
    return ("\n" in answer.strip() or ends) and SOURCE not in answer


CASES = [(row[0], row[1]) for row in REMOVED] + [(row[0], row[1]) for row in NONE]
WHOLE_ANSWERS = [(lang, answer) for lang, answer in CASES if _is_whole(answer)]


@pytest.mark.parametrize(("lang", "answer"), WHOLE_ANSWERS)
def test_whole_answers_need_cleaning(lang: str, answer: str) -> None:
    assert needs_cleaning(answer, SOURCE, lang)


@pytest.mark.parametrize("lang", CLEAN)
def test_a_translation_alone_needs_none(lang: str) -> None:
    assert not needs_cleaning(CLEAN[lang], SOURCE, lang)


@pytest.mark.parametrize("lang", CLEAN)
def test_a_translation_alone_is_kept(lang: str) -> None:
    assert clean(CLEAN[lang], SOURCE, PLAIN, lang) == Cleaned(CLEAN[lang])


@pytest.mark.parametrize(
    ("lang", "source", "text"),
    [
        ("es", '"I can\'t help her," said the doctor.', '"No puedo ayudarla", dijo la doctora.'),
        ("es", '"Help her!"', '"¡Ayúdala!"'),
        (
            "es",
            "I'm sorry that I cannot help you with this.",
            "Lo siento, no puedo ayudarte con esto.",
        ),
        ("es", "The doctor said: the nurse helped her.", "La doctora dijo: el enfermero la ayudó."),
        ("es", "The note says: here is the nurse.", "Nota: aquí está la enfermera."),
        ("es", "The doctor told everybody the truth.", "La doctora dijo a todos: es la verdad."),
        ("es", "The translator asked the doctor for help.", "La traductora pidió ayuda al médico."),
        (
            "es",
            "The interpreter helped the doctor (her sister).",
            "La traductora ayudó a la médica (su hermana).",
        ),
        (
            "es",
            "The doctor left and the nurse stayed.",
            "La doctora se fue. El enfermero se quedó.",
        ),
        ("es", "The doctor left. The doctor came.", "La doctora se fue. La doctora vino."),
        ("es", "The doctor helped the patient.", "El/la médico/a ayudó al/a la paciente."),
        ("es", "The doctor helped the patient.", "El (la) médico(a) ayudó al paciente."),
        (
            "es",
            "The doctor helped the patient (her).",
            "La médica (el médico) ayudó a la paciente.",
        ),
        ("es", "The CEO helped the doctor.", "La directora (CEO) ayudó a la doctora."),
        ("es", "The janitor helped the doctor.", "El conserje (portero) ayudó a la doctora."),
        (
            "es",
            "The students helped the doctor.",
            "Lxs estudiantes ayudaron a lx niñ_s del_ doctor.",
        ),
        ("de", "The teachers helped the pupils.", "Die Lehrer*innen halfen den Schüler*innen."),
        ("de", "The teacher helped.", "Die Lehrer_in half."),
        ("he", "The CEO asked the nurse to help her.", 'המנכ"לית ביקשה מהאח לעזור לה.'),
        ("it", "The worker helped the editor.", "L'operaia aiutò l'editore."),
        ("it", "3. The worker helped the editor.", "3. L'operaia aiutò l'editore."),
        ("de", "- The doctor came.", "- Die Ärztin kam."),
        ("ru", "The doctor came.", "Врач пришла."),
        ("ru", "Here is the doctor who helped her.", "Вот врач, которая ей помогла."),
        ("nl", "In the morning the doctor came.", "'s Morgens kwam de dokter."),
        ("es", "The doctor paid 3 per cent.", "La doctora pagó el 3 %*"),
        ("es", 'The pipe of 3" broke.', 'El tubo de 3" se rompió.'),
        ("es", "The pipe had three inches.", 'El tubo era de 3"'),
        (
            "es",
            "The doctor left and the nurse left.",
            "La doctora «se fue». El enfermero «también».",
        ),
        ("es", 'The doctor called it "help".', 'La doctora lo llamó "ayuda".'),
        ("es", "Right! The doctor came.", "¡Claro! La doctora vino."),
        ("es", "Sure, the doctor came!", "¡Claro! La doctora vino."),
        ("fr", "The doctor asked her to wait.", "La médecin lui demanda : attendez."),
        ("xx", "The doctor asked her to wait.", "Abc def ghi jkl mno."),
    ],
)
def test_what_only_looks_like_it_stays(lang: str, source: str, text: str) -> None:
    assert clean(text, source, PLAIN, lang) == Cleaned(text)


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("es", ES.replace("La doctora", "La doctora (el doctor)")),
        ("es", ES.replace("La doctora", "La doctora (o doctor)")),
        ("es", ES.replace("La doctora", "La doctora/El doctor")),
        ("es", ES.replace("La doctora", "La doctora / El doctor")),
        ("de", DE.replace("Die Ärztin", "Der Arzt (die Ärztin)")),
        ("de", DE.replace("Die Ärztin", "Der/Die Arzt/Ärztin")),
        ("ar", AR.replace("الطبيبة", "الطبيبة (الطبيب)")),
        ("he", HE.replace("הרופאה", "הרופא/הרופאה")),
    ],
)
def test_both_forms_of_a_word_stay(lang: str, text: str) -> None:
    """The evaluator reads them as neutral (tests/policy); removing one would choose a gender."""
    assert clean(text, SOURCE, PLAIN, lang) == Cleaned(text)


def test_a_translation_is_cut_off_only_where_the_answer_is_cut_within_it() -> None:
    assert clean(ES[:-8], SOURCE, PLAIN, "es", finish="length") == Cleaned(
        None, ("truncated",), "truncated"
    )
    assert clean(f"{ES}\n\nNote: her means", SOURCE, PLAIN, "es", finish="length") == Cleaned(
        ES, ("lines",)
    )
    assert clean("<think>The doctor", SOURCE, PLAIN, "es", finish="length").reason == "truncated"
    assert clean(ES, SOURCE, PLAIN, "es", finish="stop") == Cleaned(ES)


LOOP = " de la manera" * 12


@pytest.mark.parametrize(
    ("answer", "finish", "reason"),
    [
        (f"La doctora{LOOP}", "loop", "loop"),
        (f"La doctora{LOOP}", "length", "loop"),  # a server's, which cuts it off at its most tokens
        (f"La doctora{LOOP}", None, None),  # a translation that anybody may have written
        ("", "loop", "loop"),
        (f"{ES[:-8]}", "loop", "loop"),
        (f"<think>The doctor{LOOP}", "loop", "loop"),
        (f"{ES}\n\nNota: se dice{LOOP}", "loop", None),
        (f"{ES}\n{ES}\n{ES}\n{ES}", "loop", None),  # the translation again and again
        (f"{ES}\n{ES}\n{ES}\n{ES}", "length", None),
        (f"{ES}\n{ES}\n{ES[:-8]}", "loop", None),
        (f"{ES}\n{ES[:-8]}", "length", None),
        (f"{ES}\n{ES_MALE[:-8]}", "length", "truncated"),  # another translation
    ],
)
def test_an_answer_that_repeats_itself_has_no_translation_unless_it_stands_before(
    answer: str, finish: str | None, reason: str | None
) -> None:
    found = clean(answer, SOURCE, PLAIN, "es", finish=finish)
    assert (found.reason, found.text is None) == (reason, reason is not None)
    assert ("loop" in found.kinds) == (reason == "loop")
    if reason is None and finish is not None:
        assert found.text == ES


def test_what_the_server_withheld_is_a_refusal() -> None:
    assert clean(ES, SOURCE, PLAIN, "es", finish="content_filter") == Cleaned(
        None, ("refusal",), "refusal"
    )


def test_what_several_lines_are_depends_on_the_prompt() -> None:
    first = replace(PLAIN, answer=AnswerForm(lines="first"))
    assert clean(f"{ES}\n{ES_MALE}", SOURCE, first, "es") == Cleaned(ES, ("lines",))
    other = "Algo distinto que también se podría decir."
    assert clean(f"{ES}\n{other}", SOURCE, PLAIN, "es") == Cleaned(ES, ("lines",))
    assert (
        clean(f"{ES}\n{other}", SOURCE, load_prompt("alternatives"), "es").reason == "alternatives"
    )
    assert clean(ES, SOURCE, load_prompt("alternatives"), "es") == Cleaned(ES)


def test_a_first_line_that_may_be_a_part_of_the_translation_is_none() -> None:
    two = "Her mother was a teacher. She herself became a doctor."
    lines = "Ihre Mutter war Lehrerin.\nSie selbst wurde Ärztin."
    assert clean(lines, two, PLAIN, "de") == Cleaned(None, ("shape",), "shape")
    one = "Ihre Mutter war Lehrerin, und sie selbst wurde Ärztin."
    assert clean(
        f"{one}\n\nNote: I joined the two sentences into one.", two, PLAIN, "de"
    ) == Cleaned(one, ("lines",))
    whole = lines.replace("\n", " ")
    assert clean(f"{whole}\n\nAnmerkung: weiblich.", two, PLAIN, "de") == Cleaned(whole, ("lines",))
    assert (
        clean(lines, two, replace(PLAIN, answer=AnswerForm(lines="first")), "de").text
        == lines.partition("\n")[0]
    )


def test_a_translation_between_the_marks_that_the_prompt_asks_for() -> None:
    marked = replace(PLAIN, answer=AnswerForm(between=("<es>", "</es>")))
    assert clean(f"The doctor is a woman.\n<es>{ES}</es>\nDone.", SOURCE, marked, "es") == Cleaned(
        ES
    )
    assert clean(ES, SOURCE, marked, "es") == Cleaned(None, ("unmarked",), "unmarked")


def test_the_counts_are_of_answers_and_the_examples_first_those_without_a_translation() -> None:
    rows = [
        ("a", Cleaned(ES)),
        ("b", Cleaned(ES, ("note", "quotes"))),
        ("c", Cleaned(None, ("refusal",), "refusal")),
        ("d", Cleaned(None, ("note",), "note")),
    ]
    assert tally(rows) == {
        "cleaned": {"refusal": 1, "note": 2, "quotes": 1},
        "untranslated": {"refusal": 1, "note": 1},
        "examples": {"refusal": ["c"], "note": ["d", "b"], "quotes": ["b"]},
    }


PARTS = [
    *CLEAN.values(), ES_MALE, SOURCE, SOURCE.upper(), "Sure!", "Here is the translation:", "Note:", "Nota: ", "(",
    ")", " (", ") ", "[", "]", '"', "“", "”", "„", "«", "»", "'", "*", "**", "_", "`", "```", "\n", "\n\n", "- ", "1. ",
    "> ", "# ", " / ", "|", " ||| ", " → ", ": ", ". ", "! ", "<think>", "</think>", "<|im_end|>", "<t>", "</t>",
    "</s>", "English: ", "Spanish: ", "\u2028", "\ufeff", "\u200f", "I'm sorry", "Lo siento", "doctora", "la", "{", "}",
]  # fmt: skip
ANSWERS = st.lists(st.sampled_from(PARTS) | st.text(max_size=8), max_size=12).map("".join)
MARKS = re.compile("[*_`]")


@example(answer="Here is the translation:```doctora", lang="es", finish=None)
@example(answer="</think><think>", lang="es", finish=None)
@example(answer="Here is the translation:<think>", lang="es", finish=None)
@given(
    answer=ANSWERS,
    lang=st.sampled_from(sorted(CLEAN)),
    finish=st.sampled_from([None, "stop", "length", "loop"]),
)
@settings(max_examples=400, deadline=None)
def test_the_translation_is_a_part_of_the_answer_and_clean_itself(
    answer: str, lang: str, finish: str | None
) -> None:
    found = clean(answer, SOURCE, PLAIN, lang, finish=finish)
    assert (found.text is None) == (found.reason is not None)
    assert set(found.kinds) <= set(KINDS)
    if found.text is None:
        assert found.reason in found.kinds
    else:
        assert found.text.strip()
        composed = unicodedata.normalize("NFC", answer)
        assert found.text in composed or MARKS.sub("", found.text) in MARKS.sub("", composed)
        assert clean(found.text, SOURCE, PLAIN, lang) == Cleaned(found.text)


@given(sources=ANSWERS, answer=ANSWERS)
@settings(max_examples=100, deadline=None)
def test_any_source_and_any_answer_are_taken(sources: str, answer: str) -> None:
    found = clean(answer, sources, PLAIN, "es")
    assert found.text is None or clean(found.text, sources, PLAIN, "es").text == found.text


REPEATED = [
    "(", " (a", "a) ", '"', "“", "*", " *a", "**a ", "_a_ ", "`", "<think>", "</think>", "<|a|>", "<a>", "</a>", "\n",
    "a\n", "- ", " ", ": ", "a: ", "Note: ", "Nota:\n", "a / ", ". ", "A b c d e. ", "1. ", "English: a\n", f"{ES}\n",
    f"{ES} ", f"{SOURCE}\n", f"{SOURCE} → ", "״", "-", "```\n", "! ", "Sure! ", "[", "á", "ا",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("part", sampled(zip(REPEATED, REPEATED)))
def test_the_time_is_linear_in_the_answers_length(part: str) -> None:
    answer = part * (50_000 // len(part))
    begin = time.process_time()
    for text in (
        answer,
        f"{ES} {answer}",
        f"{ES}\n{answer}",
        f"{answer}{ES}",
        f"({answer})",
        f'"{answer}"',
    ):
        clean(text, SOURCE, PLAIN, "es")
        repair(text)
    assert (
        time.process_time() - begin < 60
    )  # 0.05 to 1 s where it is linear, many minutes where it is not


SYSTEMS = [
    *(f"{name}/en-{lang}" for name in ("google", "bing") for lang in CLEAN if lang != "cs"),
    "2025-opus/en-fr",
]


@pytest.mark.parametrize("file", SYSTEMS)
def test_what_translation_systems_write_stays_as_it_is(file: str, winomt: Path) -> None:
    for line in (
        (winomt / "translations" / f"{file}.txt").read_text(encoding="utf-8").splitlines()[::10]
    ):
        source, _, target = line.partition(" ||| ")
        assert clean(target, source, PLAIN, file[-2:]) == Cleaned(target.strip())


@pytest.mark.parametrize(
    ("lang", "version"), crossed(["ar", "de", "es", "fr", "it", "ru"], ["feminine", "masculine"])
)
def test_what_translators_write_of_wikipedia_stays_as_it_is(
    lang: str, version: str, shared: Path
) -> None:
    """Quotations, brackets, colons, names in Latin letters."""
    file = f"data/mtgeneval/sentences/geneval-sentences-{version}-test.en_{lang}"
    sources, targets = (
        (shared / f"{file}.{code}").read_text(encoding="utf-8").splitlines()
        for code in ("en", lang)
    )
    for source, target in zip(sources, targets, strict=True):
        # NFC: some write the marks of one Arabic letter in another order.
        assert clean(target, source, PLAIN, lang) == Cleaned(
            unicodedata.normalize("NFC", target.strip())
        )


@pytest.mark.parametrize(
    ("file", "reasons"),
    [
        # Read by eye. A block of 100 lines of the French file is Italian.
        ("gpt/en-fr", {"language": 100}),
        ("llama-inst/en-es", {"refusal": 1, "note": 1, "echo": 1}),
        *(
            pytest.param(file, reasons, marks=pytest.mark.exhaustive)
            for file, reasons in {
                "gpt/en-es": {},
                "gpt/en-it": {},
                "llama-inst/en-fr": {"refusal": 1},
                "llama-inst/en-it": {"introduction": 1},
            }.items()
        ),
    ],
)
def test_what_two_language_models_wrote(file: str, reasons: dict[str, int], winomt: Path) -> None:
    lines = (winomt / "translations" / f"2025-{file}.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.partition(" ||| ") for line in lines]
    found = [(target, clean(target, source, PLAIN, file[-2:])) for source, _, target in rows]
    assert Counter(cleaned.reason for _, cleaned in found if cleaned.reason) == reasons
    assert all(
        cleaned == Cleaned(target.strip()) for target, cleaned in found if cleaned.text is not None
    )
