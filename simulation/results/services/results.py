"""What an experiment found, as tables: computed once, and by a worker where its dialogues are many.

Pages, files, charts, command and API read one document. It is kept under the hash of what it was made of, in the cache
that web and workers share; where that is emptied, the same rows give the same document again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from django.core.cache import cache
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.agreement.options import IntervalOptions
from core.accounts.models.users import User
from core.errors import InputError
from core.hashing import content_hash
from core.jobs import waiting
from core.jobs.waiting import take_turn
from core.version import code_version
from judging.judges.models import Judge
from simulation.experiments.models import Experiment
from simulation.results.queries import judgments
from simulation.results.result_types import ExperimentDocument, RanksDocument
from simulation.results.services.data import Data, Filters, choices, filter_data, list_judged_turns, load_data
from simulation.results.services.tables import OF_WHOLE_DIALOGUES, TABLES, Tables

TASK = "simulation.experiment_results"
AT_ONCE = 1000
"""Dialogues whose results are computed while somebody waits: some seconds."""

KEPT = 30 * 24 * 3600


def describe_left() -> str:
    """What is not computed while somebody waits."""
    return _("with more than {n:,} dialogues, a worker computes results on request").format(n=AT_ONCE)


def document(
    experiment: Experiment, judge: Judge | None, options: IntervalOptions | None = None, filters: Filters | None = None
) -> ExperimentDocument:
    """Compute all tables now, as JSON types. Raises InputError for a filter that no dialogue meets."""
    chosen, asked = options or IntervalOptions(), filters or Filters()
    whole = load_data(experiment, judge)
    data = filter_data(whole, asked)
    keys = [key for key in TABLES if not (asked.turn and key in OF_WHOLE_DIALOGUES)]
    sheet = Tables(experiment, data, chosen)
    tables = [sheet.build(key) for key in keys]
    there = [table for table in tables if table["rows"]]
    return {
        "experiment": experiment.pk,
        "name": experiment.name,
        "state": experiment.state,
        "judge": data.verdicts.judge if data.verdicts else None,
        "judge_kind": data.verdicts.kind if data.verdicts else None,
        "unscored": dict(data.verdicts.unscored) if data.verdicts else {},
        "filters": asdict(asked),
        "choices": choices(whole.played),
        "turns": list_judged_turns(whole),
        "dialogues": len(data.played),
        "regular": int(data.played.is_regular.sum()),
        "not_judged": not_judged(data),
        "resampled": "profiles",
        "bootstrap": chosen.bootstrap,
        "confidence": chosen.confidence,
        "seed": chosen.seed,
        "input_hash": experiment.input_hash,
        "code_version": code_version(),
        "computed_at": timezone.now().isoformat(timespec="seconds"),
        "numbers": {table["number"]: table["key"] for table in there if table["number"]},
        "tables": {table["key"]: table for table in there},
    }


def not_judged(data: Data) -> dict[str, int]:
    """By criterion, dialogues that ended normally and that the judge has not been asked about yet."""
    asked = data.verdicts.is_asked if data.verdicts else {}
    counts = {key: int((data.played.is_regular & ~there).sum()) for key, there in asked.items()}
    return {key: n for key, n in counts.items() if n}


def load_or_compute(
    experiment: Experiment, judge: Judge | None, options: IntervalOptions, filters: Filters, *, patient: bool
) -> ExperimentDocument | None:
    """The kept document, or one made now; None where who is not patient would wait for a worker."""
    key = build_key(experiment, judge, options, filters, judgments.fingerprint(experiment))
    found: ExperimentDocument | None = cache.get(key)
    if found:
        return found
    if not patient and is_large(experiment):
        return None
    with take_turn(f"{key}-turn"):
        found = cache.get(key)
        if not found:
            found = document(experiment, judge, options, filters)
            cache.set(key, found, KEPT)
            cache.set(build_key(experiment, judge, options, filters), key, KEPT)
    return found


def find_last(
    experiment: Experiment, judge: Judge | None, options: IntervalOptions, filters: Filters
) -> ExperimentDocument | None:
    """The newest document with these options, whatever dialogues and verdicts there were."""
    key = cache.get(build_key(experiment, judge, options, filters))
    return cache.get(key) if key else None


def is_large(experiment: Experiment) -> bool:
    """Whether it is more than somebody waits for."""
    return experiment.dialogues.exclude(ending="").count() > AT_ONCE


def build_key(
    experiment: Experiment, judge: Judge | None, options: IntervalOptions, filters: Filters, fingerprint: str = ""
) -> str:
    """What a document is kept under; without a fingerprint, what leads to the newest one."""
    made_of = [judge.pk if judge else None, options.model_dump(), asdict(filters), fingerprint, code_version()]
    return f"results-{experiment.pk}-{content_hash(made_of)[:40]}"


def find_request(
    experiment: Experiment, judge: Judge | None, options: IntervalOptions, filters: Filters
) -> waiting.DeferredRequest | None:
    """What stands of a computation; None where nobody has asked, or it is done."""
    return waiting.find_request(f"{build_key(experiment, judge, options, filters)}-asked")


def ask(experiment: Experiment, judge: Judge | None, options: IntervalOptions, filters: Filters, *, by: User) -> None:
    """Leave it to a worker. Raises InputError where none can be reached, or the filters name what is not there."""
    key = f"{build_key(experiment, judge, options, filters)}-asked"
    chosen = [options.model_dump(), asdict(filters)]
    waiting.ask(by=by, key=key, task=TASK, args=[experiment.pk, judge.pk if judge else None, *chosen, by.username])


def compute(
    experiment_id: int, judge_id: int | None, options: Mapping[str, object], filters: Mapping[str, object], reader: str
) -> None:
    """What a worker does: compute and keep, unless it is kept or another one is at it."""
    experiment = Experiment.objects.get(pk=experiment_id)
    judge = Judge.objects.filter(pk=judge_id).first() if judge_id else None
    chosen, asked = IntervalOptions.model_validate(options), Filters.parse(filters)
    waiting.compute(
        f"{build_key(experiment, judge, chosen, asked)}-asked",
        reader,
        lambda: load_or_compute(experiment, judge, chosen, asked, patient=True),
    )


def judge_called(judges: Sequence[tuple[Judge, int]], name: str) -> Judge | None:
    """The one of an experiment's judges with this name or number, else the one that said most; None where none has.

    Raises InputError where no judge of this name has judged the experiment.
    """
    known = {str(judge): judge for judge, _ in judges}
    named = known | {str(judge.pk): judge for judge in known.values()}
    if name and name not in named:
        raise InputError(
            "{name!r} has not judged it; there are: {known}.",
            field="judge",
            name=name,
            known=", ".join(known) or "none",
        )
    return named[name] if name else next(iter(known.values()), None)


CSV = ("value", "low", "high", "n_items", "n_raters", "reason", "method")


def csv_rows(found: ExperimentDocument | RanksDocument) -> Iterable[list[object]]:
    """Every figure of the document as one flat row, the first row their names."""
    yield [
        *("number", "table", "group", "row", "measure"),
        *("value", "low", "high", "n_dialogues", "n_profiles", "reason", "method"),
    ]
    for table in found["tables"].values():
        for row in table["rows"]:
            for column in table["columns"]:
                cell: Mapping[str, object] | None = row["cells"].get(column["key"])
                if cell:
                    names = [table["number"], table["key"], row["group"], row["name"], column["key"]]
                    yield [*names, *(cell[name] for name in CSV)]
