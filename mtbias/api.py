"""The Python API: what the commands do, as functions whose results are objects.

``mtbias.evaluate`` is ``mtbias eval``, ``mtbias.score`` is ``mtbias score``, ``mtbias.read_run``
reads the folder that either wrote; all three give a `Run`. ``mtbias.compare`` is ``mtbias
compare``. They take the settings that are the commands' options (`mtbias.settings`), run the same
code (`mtbias.evaluation`) and give the same numbers. Nothing is printed, unless `progress=True`,
and nothing exits: what is wrong is an error of `mtbias.errors`, all of them kinds of `MtbiasError`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from mtbias.corpora.corpus import Corpus
from mtbias.corpora.corpus_kinds import WINOMT
from mtbias.corpora.own_sentences import custom_corpus
from mtbias.errors import SettingError, UsageError
from mtbias.evaluation.preparation import prepare_eval, prepare_score, prepare_scores, refuse_unused
from mtbias.evaluation.stages import (
    Request,
    ShardReport,
    evaluate_given,
    planned,
    readable_store,
)
from mtbias.evaluation.stages import evaluate as evaluate_request
from mtbias.evaluation.stages import translate_shard as translate_request
from mtbias.files.file_ledger import REPORT, file_ledger
from mtbias.files.writing import write_atomic
from mtbias.language.source import source_language
from mtbias.machine.stage_progress import ProgressLine, RunsProgress, draws_bars
from mtbias.report.run_page import page_of_runs
from mtbias.report.run_table import headline_text
from mtbias.result_objects import AnyPath, ComparedRuns, Run, api_run
from mtbias.runs.finished_run import FinishedRun
from mtbias.runs.run_folder import RunFolder
from mtbias.runs.run_paths import run_folders
from mtbias.scoring.comparison import Comparison, compare_runs
from mtbias.settings import (
    LANG,
    BootstrapSettings,
    EvalSettings,
    EvaluatorSettings,
    ScoreSettings,
    combined,
)
from mtbias.translate.outputs import Shard
from mtbias.types import Instance, Progress, quiet

if TYPE_CHECKING:
    from mtbias.evaluation.reward import Reward
    from mtbias.translate.given_translations import GivenSystem
    from mtbias.translate.language_models.endpoint_system import RequestEstimate
    from mtbias.translate.shape_table import Selection

__all__ = [
    "EvalSettings",
    "Run",
    "ScoreSettings",
    "compare",
    "estimate_requests",
    "evaluate",
    "read_run",
    "reward",
    "rewards",
    "score",
    "score_systems",
    "translate_shard",
]


def evaluate(
    model: str,
    lang: str,
    *,
    out: AnyPath | None = None,
    settings: EvalSettings | None = None,
    progress: Progress | bool = False,
) -> Run:
    """Translate a corpus with a model and score the translations, as ``mtbias eval`` does.

    Args:
        model: short name (``mtbias list models`` lists them), hub id, folder with a checkpoint,
            ``openai:NAME`` of an endpoint, or ``SCHEME:NAME`` of a plugin.
        lang: code of the target language, such as ``de``.
        out: folder of the run, where an interrupted run resumes; None keeps everything in memory.
        settings: the options of ``mtbias eval``, such as ``EvalSettings(dataset="bug",
            preset="fast")``.
        progress: True shows the stages on standard error, a bar on a terminal, else a line every 30
            seconds; a function is called as ``progress(stage, done, total)``.

    Raises:
        UsageError: a value that cannot be, or two that exclude each other.
        MissingResourceError: something is missing and may not be downloaded.
        MtbiasError: any other fault of data, model, plugin or folder.
    """
    return _run(_prepared(model, lang, settings, progress), out, progress)


def translate_shard(
    model: str,
    lang: str,
    shard: str,
    out: AnyPath,
    *,
    settings: EvalSettings | None = None,
    progress: Progress | bool = False,
) -> ShardReport:
    """Translate a part of the run in a folder, as ``mtbias eval --shard`` does; `evaluate`
    completes the run.

    Args:
        model: as for `evaluate`.
        lang: as for `evaluate`.
        shard: ``K/N``, shard K of N.
        out: folder of the run; other processes may translate other shards meanwhile.
        settings: as for `evaluate`.
        progress: as for `evaluate`.

    Raises:
        UsageError: no such shard; else as `evaluate`.
        MtbiasError: as `evaluate`.
    """
    part = Shard.parse(shard)
    request = _prepared(model, lang, settings, progress)
    return translate_request(request, part, out=Path(out), progress=_shown(progress))


def estimate_requests(
    model: str, lang: str, *, out: AnyPath | None = None, settings: EvalSettings | None = None
) -> RequestEstimate:
    """How many requests, and about how many tokens, `evaluate` would send to an endpoint; nothing
    is sent.

    Args:
        model: ``openai:NAME``.
        lang: as for `evaluate`.
        out: folder of a run; answers already there are not requested again.
        settings: as for `evaluate`.

    Raises:
        UsageError: the model is not an endpoint; else as `evaluate`.
        MtbiasError: as `evaluate`.
    """
    from mtbias.translate.language_models import endpoint_system

    folder = None if out is None else Path(out)
    plan = planned(_prepared(model, lang, settings, progress=False), folder)
    if not isinstance(plan, endpoint_system.EndpointPlan):
        raise SettingError(
            "dry_run", "expected an endpoint (--model openai:NAME), which is asked one by one"
        )
    return endpoint_system.estimate_requests(plan, readable_store(plan, folder))


def score(
    translations: AnyPath | Sequence[str | None] | Mapping[str, str | None],
    lang: str,
    *,
    sources: Sequence[str] | None = None,
    entities: Sequence[str] | None = None,
    genders: Sequence[str] | None = None,
    stereotypes: Sequence[str] | None = None,
    system: str | None = None,
    out: AnyPath | None = None,
    allow_missing: bool = False,
    clean: bool = False,
    settings: ScoreSettings | None = None,
    progress: Progress | bool = False,
) -> Run:
    """Score given translations, as ``mtbias score`` does. Nothing is downloaded.

    The sentences are those of the settings' data set (WinoMT), or `sources` if given. Translations
    in memory count as a JSONL file with an object of ``id`` and ``target`` on each line, and
    sentences in memory as a file ``sentences.jsonl`` with an object of ``source``, ``entity``,
    ``gender`` (and ``stereotype``) on each line: ``mtbias score`` with these files yields the same
    numbers and the same fingerprint.

    Args:
        translations: the path of a file (a `str` is a path); or one text for each instance in the
            corpus's order; or texts by the id of the instance. None, or an id that is not there, is
            a missing translation.
        lang: code of the target language, such as ``de``.
        sources: sentences of one's own, with `entities` and `genders` of the same length.
        entities: the person of each, in words that occur once in the sentence: ``construction
            worker``.
        genders: of that person: male, female, neutral or unknown.
        stereotypes: whether the gender fits the stereotype: pro, anti or none; by default none.
        system: name of the system, for the signature; by default the file's name, or
            "translations".
        out: folder of the run; None keeps everything in memory.
        allow_missing: score even if less than 95 % of the corpus is translated.
        clean: the translations are answers of a language model: any text around them is removed,
            and such answers are counted.
        settings: the options of ``mtbias score``, such as ``ScoreSettings(dataset="bug")``.
        progress: as for `evaluate`.

    Raises:
        UsageError: an impossible value; sources, entities, genders or stereotypes of different
            length.
        DataError: the translations do not fit the corpus; an entity is not in its sentence.
        MissingResourceError: data set or Stanza's models are missing; the message names the command
            that downloads them.
        MtbiasError: any other fault of data, plugin or folder.
    """
    settings = settings or ScoreSettings()
    allow_missing = _may_lack(allow_missing, settings)
    system_given = _given_system(
        translations, system, _selection(settings, lang), allow_missing=allow_missing, clean=clean
    )
    columns = {"source": sources, "entity": entities, "gender": genders, "stereotype": stereotypes}
    return _run(
        prepare_score(system_given, lang, settings, _own_corpus(columns, settings)), out, progress
    )


def score_systems(
    translations: Mapping[str, AnyPath],
    langs: Sequence[str],
    out: AnyPath,
    *,
    allow_missing: bool = False,
    clean: bool = False,
    settings: ScoreSettings | None = None,
    progress: Progress | bool = False,
) -> tuple[list[Run], Comparison | None]:
    """Score several systems' translations, as ``mtbias score`` does with more than one file or
    language.

    Corpus, aligner and Stanza are loaded once per language. Each system and language has the run
    that `score` gives, in the folder ``SYSTEM-LANG`` of `out`; `out` also gets the page of all
    runs, ``report.html``.

    Args:
        translations: for each system the path of its file; ``{lang}`` in it stands for the
            language. A file with the translations of several systems or prompts counts as that many
            systems, ``NAME-PART``.
        langs: codes of the target languages.
        out: folder of the runs; those already finished there are read, not made again.
        allow_missing: as for `score`.
        clean: as for `score`.
        settings: as for `score`.
        progress: as for `score`.

    Returns:
        the runs, by language, and their comparison; None where no language has two systems.

    Raises:
        UsageError: several languages and a path without ``{lang}`` whose file lacks some of them,
            or names that cannot be names of folders.
        OutputError: `out` is the folder of a run.
        MtbiasError: as for `score`; files are looked for before anything is computed.
    """
    from mtbias.translate.file_shapes import tells_languages

    settings, folder = settings or ScoreSettings(), Path(out)
    file_ledger().refuse_loss(folder / REPORT)
    if not (translations and langs):
        raise UsageError(
            f"expected systems and languages, got {len(translations)} and {len(langs)}"
        )
    for name, path in translations.items():
        _check_folder_name(name, path)
        if len(langs) > 1 and LANG not in str(path) and not tells_languages(Path(path)):
            raise UsageError(
                f"expected {LANG} in the path where there are several languages, got {path}"
            )
    named: list[tuple[str, str, Path, str]] = []
    for lang in langs:
        systems = _systems_in(translations, _selection(settings, lang))
        named += [(name, lang, path, part) for name, path, part in systems]
    for (name, lang), times in Counter((name, lang) for name, lang, *_ in named).items():
        if times > 1:
            raise UsageError(f"expected a name for each system, got two of {name} in {lang}")
    systems_given = [
        _given_system(
            path,
            name,
            replace(_selection(settings, lang), part=part),
            allow_missing=_may_lack(allow_missing, settings),
            clean=clean,
        )
        for name, lang, path, part in named
    ]
    requests = prepare_scores(
        zip(systems_given, [lang for _, lang, *_ in named], strict=True), settings
    )
    folders = [folder / f"{name}-{lang}" for name, lang, *_ in named]
    shown = RunsProgress([each.name for each in folders]) if progress is True else None
    runs: list[Run] = []
    for _, group in groupby(zip(requests, folders, strict=True), lambda each: each[0].measure):
        for done in evaluate_given(group, progress=shown or _shown(progress)):
            runs.append(api_run(done))
            if shown is not None:
                shown.end_run(headline_text(done.metrics, done.numbers))
    bootstrap = BootstrapSettings(resamples=settings.resamples, seed=settings.seed)
    several = len(runs) > len(langs)
    compared = compare(*runs, settings=bootstrap) if several else None
    write_atomic(folder / REPORT, page_of_runs(runs, compared).encode())
    return runs, compared


def reward(
    source: str,
    translation: str,
    lang: str,
    *,
    entity: str | int,
    gender: str | None = None,
    settings: ScoreSettings | None = None,
) -> Reward:
    """Whether one translation shows its person's gender: 1, another: −1, or none: 0, with the
    reason.

    For those who train a system; see `rewards`, which takes many at a time.

    Args:
        source: the sentence in English.
        translation: its translation.
        lang: the translation's language.
        entity: the person's words as in the source, such as ``the doctor``; or, if they occur there
            twice, the position of the head among the words between blanks, from 0.
        gender: ``male``, ``female`` or ``neutral``; None: the gender of the sentence's pronouns.
        settings: the options of the evaluator among those of ``mtbias score``.

    Raises:
        MtbiasError: as `rewards`.
    """
    (result,) = rewards(
        [source], [translation], lang, entities=[entity], genders=[gender], settings=settings
    )
    return result


def rewards(
    sources: Sequence[str],
    translations: Sequence[str],
    lang: str,
    *,
    entities: Sequence[str | int],
    genders: Sequence[str | None] | None = None,
    settings: ScoreSettings | None = None,
) -> list[Reward]:
    """The reward of each translation (`reward`); it depends on that sentence alone.

    The statistical aligner learns nothing from the other sentences here, so a call may be another
    than in a run over a corpus. Stanza's models stay loaded between calls; no analysis is kept.

    Raises:
        UsageError: lists of different lengths.
        SettingError: a source tells no gender and none is given, or its entity is not found.
        MissingResourceError: Stanza's models are missing.
    """
    from mtbias.evaluation.reward import RewardedSentence, compute_rewards

    genders = [None] * len(sources) if genders is None else genders
    lengths = [len(each) for each in (sources, translations, entities, genders)]
    if len(set(lengths)) > 1:
        listed = ", ".join(map(str, lengths))
        raise UsageError(
            f"expected as many sources, translations, entities and genders, got {listed}"
        )
    settings = settings or ScoreSettings()
    sentences = list(map(RewardedSentence, sources, entities, genders))
    evaluator = combined(EvaluatorSettings, settings)
    return compute_rewards(sentences, translations, lang, evaluator, settings.device)


def read_run(path: AnyPath) -> Run:
    """Read the folder of a finished run, whether a command or a function wrote it.

    Raises:
        RunFolderError: there is no run, it is not finished, or a file of it was changed; the
            message says which.
        DataError: a file is damaged; with path and line.
    """
    return Run.read(RunFolder(Path(path)))


def compare(
    *compared: FinishedRun | AnyPath,
    weighted: bool | Sequence[str] = False,
    names: Sequence[str] | None = None,
    different_evaluators: bool = False,
    settings: BootstrapSettings | None = None,
) -> ComparedRuns:
    """Compare runs on one corpus in pairs within each language, as ``mtbias compare`` does.

    Args:
        compared: two runs or more, their folders, or folders that hold some; with `weighted` one is
            enough.
        weighted: weighted ΔG and ΔS too, balanced over these properties, or with True over all that
            vary.
        names: of the systems, one for each run, in place of those that the runs have.
        different_evaluators: compare runs of a language although different evaluators read them.
        settings: seed and resamples of bootstrap and randomisation.

    Raises:
        DataError: the runs cannot be compared, or the sentences cannot be balanced.
        RunFolderError: a folder has no finished run.
    """
    if not compared:
        raise UsageError("expected runs to compare, got none")
    bootstrap = settings or BootstrapSettings()
    runs: list[FinishedRun] = []
    for run in compared:
        if isinstance(run, FinishedRun):
            runs.append(run)
        else:
            runs += map(read_run, run_folders([Path(run)]))
    return ComparedRuns.from_comparison(
        compare_runs(
            runs,
            weighted=weighted,
            n_resamples=bootstrap.resamples,
            seed=bootstrap.seed,
            names=names,
            different_evaluators=different_evaluators,
        )
    )


def _own_corpus(
    columns: Mapping[str, Sequence[str] | None], settings: ScoreSettings
) -> Corpus[Instance] | None:
    """The corpus of sentences in memory; None where none are given."""
    columns_given = {name: list(values) for name, values in columns.items() if values is not None}
    if not columns_given:
        return None
    if settings.dataset is not None or settings.data is not None:
        raise UsageError(
            "expected sources, or settings with dataset or data, got both; leave one out"
        )
    lengths = {name: len(values) for name, values in columns_given.items()}
    if not {"source", "entity", "gender"} <= columns_given.keys() or len(set(lengths.values())) > 1:
        listing = ", ".join(f"{n} of {name}" for name, n in lengths.items())
        raise UsageError(
            f"expected sources, entities and genders of the same length, got {listing}"
        )
    rows = (
        dict(zip(columns_given, row, strict=True))
        for row in zip(*columns_given.values(), strict=True)
    )
    return custom_corpus(rows, source_language(settings.source_lang))


def _may_lack(allow_missing: bool, settings: ScoreSettings) -> bool:
    """Whether a file of translations may lack sentences of the corpus."""
    if settings.part and allow_missing:
        raise SettingError("allow_missing", "changes nothing with part; leave it out")
    return settings.part or allow_missing


def _selection(settings: ScoreSettings, lang: str) -> Selection:
    """Which translations of a file with those of several languages or data sets are meant."""
    from mtbias.translate.shape_table import Selection

    return Selection(lang, settings.source_lang, settings.dataset or WINOMT)


def _systems_in(
    translations: Mapping[str, AnyPath], selection: Selection
) -> Iterator[tuple[str, Path, str]]:
    """Name, file and part of each system; a file with several is that of several."""
    from mtbias.translate.file_shapes import parts_in

    for name, path in translations.items():
        file = Path(str(path).replace(LANG, selection.lang))
        for part in parts_in(file, selection) or [""]:
            own = f"{name}-{part}" if part else name
            _check_folder_name(own, path)
            yield own, file, part


def _check_folder_name(name: str, path: AnyPath) -> None:
    """Refuse a system's name that no folder can have."""
    if not name or name in {".", ".."} or "/" in name or "\0" in name:
        raise UsageError(
            f"{path}: expected a system's name that a folder can have, got {name!r:.60}; "
            "give NAME=FILE"
        )


def _given_system(
    translations: AnyPath | Sequence[str | None] | Mapping[str, str | None],
    system: str | None,
    selection: Selection,
    *,
    allow_missing: bool,
    clean: bool,
) -> GivenSystem:
    from mtbias.translate.given_translations import GivenSystem, given_file, join_texts

    if isinstance(translations, (str, PathLike)):
        outputs = given_file(
            Path(translations), name=system, allow_missing=allow_missing, selection=selection
        )
    else:
        texts = translations
        outputs = GivenSystem(
            system or "translations",
            lambda corpus: join_texts(texts, corpus.instances, allow_missing=allow_missing),
        )
    if not clean:
        return outputs
    from mtbias.translate.language_models.answers import cleaned_system

    return cleaned_system(outputs, selection.lang)


def _prepared(
    model: str, lang: str, settings: EvalSettings | None, progress: Progress | bool
) -> Request:
    settings = settings or EvalSettings()
    request = prepare_eval(model, lang, settings, bars=progress is True and draws_bars(sys.stderr))
    refuse_unused(model, request.system, settings)
    return request


def _shown(progress: Progress | bool) -> Progress:
    if isinstance(progress, bool):
        return ProgressLine() if progress else quiet
    return progress


def _run(request: Request, out: AnyPath | None, progress: Progress | bool) -> Run:
    return api_run(
        evaluate_request(request, out=None if out is None else Path(out), progress=_shown(progress))
    )
