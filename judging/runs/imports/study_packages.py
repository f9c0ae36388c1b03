"""A study from another tool's files: items, people's labels, and judges' as finished runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime

from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, make_aware

from annotation.corpus.exchange.dataset import ExchangedAnswer, Naming, Package, Rated, Scale
from annotation.corpus.exchange.registry import exchange_named
from annotation.corpus.imports import records
from annotation.corpus.imports.references import References
from annotation.corpus.models import Dialogue, Profile, ResponsePair, Task
from annotation.corpus.parsing.responses import gather
from annotation.studies.criteria import TEMPLATES
from annotation.studies.imports import labelled
from annotation.studies.imports.stored_answers import Texts, list_record_texts, read_stored
from annotation.studies.models.studies import Criterion
from annotation.studies.parsing.answers import Answer
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.audit.log import audit_transaction, audited
from core.batches import iterate_batches
from core.errors import InputError
from core.files.input_files import InputFile, OnError, Problems
from core.files.outcome import Outcome, explain_refusal
from judging.runs.imports import judgments

LONGEST_JUDGE, LONGEST_REASON = 120, 40
REFERENCES: tuple[tuple[str, type[Profile | Task], str], ...] = (
    ("profile_id", Profile, "profile"),
    ("task_id", Task, "task"),
)


@audited("labels.import", says=("file", "format", "source", "on_error"), prepares=True)
def load(
    *,
    by: User | None,
    file: InputFile,
    format: str,
    study: str,
    source: str = "",
    naming: Naming | None = None,
    on_error: OnError = "stop",
    project: Project | None = None,
) -> Outcome:
    """Import a file of another tool into the study of that name, which is made if there is none.

    `source` says whose ids the items' are, where the file does not; the format by itself. All or nothing, unless bad
    records are skipped. InputError names the file and the record.
    """
    exchange = exchange_named(format)
    problems = Problems(on_error)
    known = {key: template_scale(key) for key in TEMPLATES}
    package = exchange.read(file, problems, naming or Naming(), known)
    outcome = Outcome((f"{package.head.kind}s", "annotators", "annotations", "judges", "judgments"))
    outcome.warnings += package.notes
    with explain_refusal(file), audit_transaction() as done:
        done.result = outcome
        save(by, project, file, study or package.head.name, source or format, package, problems, outcome)
    outcome.set_aside(problems, beside=file.path)
    return outcome


def template_scale(key: str) -> Scale:
    one = TEMPLATES[key]
    categories = tuple(asdict(category) for category in one.categories)
    return Scale(one.key, one.name, one.question, one.level, categories, one.guideline)


def save(
    by: User | None,
    project: Project | None,
    file: InputFile,
    name: str,
    source: str,
    package: Package,
    problems: Problems,
    outcome: Outcome,
) -> None:
    """Items, then people's labels, then a run for each judge."""
    found = save_dataset(file, package, source, outcome)
    criteria = [
        {**asdict(scale), "categories": list(scale.categories), "examples": list(scale.examples)}
        for scale in package.head.scales
    ]
    if not criteria:
        left = "".join(f"; {note}" for note in package.notes)
        raise file.error(f"holds no answers to any criterion{left}. Import its items as material instead")
    study = labelled.find_or_create_study(
        by=by,
        name=name,
        kind=package.head.kind,
        criteria=criteria,
        description=package.head.description,
        project=project,
    )
    outcome.study = study.name
    items = labelled.add_items(by=by, study=study, material=found.values())
    rows = {criterion.key: criterion for criterion in study.criteria.all()}
    people: list[labelled.ImportedLabel] = []
    by_judge: dict[str, list[judgments.ImportedJudgment]] = defaultdict(list)
    for item in package.items:
        pk = items[found[build_key(item.record, source)].pk]
        for answer, given in iterate_scaled(file, item, rows, problems):
            criterion = rows[answer.criterion].pk
            if answer.of_judge:
                by_judge[answer.rater].append(judgment(pk, criterion, answer, given))
            else:
                people.append(label(pk, criterion, answer, given))
    if people:
        labelled.save_labels(study=study, labels=people, outcome=outcome)
    for judge, said in by_judge.items():
        judgments.save(by=by, study=study, judge=judge[:LONGEST_JUDGE], judgments=said, outcome=outcome)


def iterate_scaled(
    file: InputFile, item: Rated, rows: Mapping[str, Criterion], problems: Problems
) -> Iterator[tuple[ExchangedAnswer, Answer]]:
    """Each answer as the study's criterion takes it; nothing where there is a reason in its place."""
    texts = list_record_texts(item.record)
    for answer in item.answers:
        try:
            yield answer, Answer("") if answer.reason else read_answer(rows[answer.criterion], answer, texts)
        except InputError as error:
            place = f"{item.record['id']}: {answer.criterion}"
            problems.add(file.error(error.message, field=place), repr(answer))


def read_answer(criterion: Criterion, answer: ExchangedAnswer, texts: Texts) -> Answer:
    """What was said, by a person or a judge."""
    return read_stored(criterion, answer.value, answer.content, texts=texts, turn=answer.turn)


def build_key(record: Mapping[str, object], source: str) -> tuple[str, str]:
    return str(record.get("source") or source), str(record["id"])


def save_dataset(
    file: InputFile, package: Package, source: str, outcome: Outcome
) -> dict[tuple[str, str], Dialogue | ResponsePair]:
    """The dialogues or pairs by source and id; those that are not there yet are made, no other is changed."""
    kind = f"{package.head.kind}s"
    model: type[Dialogue] | type[ResponsePair] = ResponsePair if kind == "pairs" else Dialogue
    given = {build_key(item.record, source): item.record for item in package.items}
    found: dict[tuple[str, str], Dialogue | ResponsePair] = {}
    for name in dict.fromkeys(place for place, _ in given):
        records.check_source(name)
        ids = [identity for place, identity in given if place == name]
        for some in iterate_batches(ids, records.BATCH):
            found |= load_by_source(model, name, some)
        for identity in ids:
            if (name, identity) in found:
                refuse_other_text(file, found[name, identity], given[name, identity])
        new = [given[name, identity] for identity in ids if (name, identity) not in found]
        outcome.add(kind, unchanged=len(ids) - len(new))
        add_records(file, kind, name, new, outcome)
        for some in iterate_batches((str(one["id"]) for one in new), records.BATCH):
            found |= load_by_source(model, name, some)
    return {key: found[key] for key in given}


def load_by_source(
    model: type[Dialogue] | type[ResponsePair], source: str, ids: Iterable[str]
) -> dict[tuple[str, str], Dialogue | ResponsePair]:
    rows = model.objects.filter(source=source, external_id__in=list(ids))
    return {(row.source, row.external_id): row for row in rows}


def refuse_other_text(file: InputFile, row: Dialogue | ResponsePair, record: Mapping[str, object]) -> None:
    """Raise where another text has the id already: labels would come to stand at a text that nobody rated."""
    if isinstance(row, Dialogue):
        is_other = row.turns != record["turns"]
    else:
        given = gather(dict(record))
        texts = [given["response_1"], given["response_2"], *(one["text"] for one in given.get("further", ()))]
        is_other = row.question != given["question"] or [one.text for one in row.responses] != texts[: row.n_responses]
    if is_other:
        raise file.error(
            f"{row.source}:{row.external_id} is there with another text; import under another --source", field="id"
        )


def add_records(file: InputFile, kind: str, source: str, given: list[Mapping[str, object]], outcome: Outcome) -> None:
    """Save new material. Profiles and tasks that are not there cannot be named, and a note says how many."""
    lookup = {model: References(model, source, noun) for _, model, noun in REFERENCES}
    context = records.Context(file, source, Problems("stop"), lookup[Profile], lookup[Task])
    missing: dict[str, int] = defaultdict(int)
    for start in range(0, len(given), records.BATCH):
        batch = [dict(one) for one in given[start : start + records.BATCH]]
        for name, model, noun in REFERENCES:
            lookup[model].prepare(str(one[name]) for one in batch if one.get(name))
            for one in batch:
                if one.get(name) and not lookup[model].found[str(one[name])]:
                    del one[name]
                    missing[noun] += 1
        for one in batch:
            if not (one.get("profile_id") or one.get("task_id")):
                one.pop("situation", None)
        schema = records.KINDS[kind].schema
        plain = [{name: value for name, value in one.items() if name != "source"} for one in batch]
        lines = ((n, schema.model_validate(one)) for n, one in enumerate(plain, start=start + 1))
        records.save(kind, list(records.store_attached(lines, context)), context, outcome)
    for noun, n in missing.items():
        outcome.warnings.append(f"{n} {kind} name a {noun} that is not there; import the {noun}s first to keep it")


def label(item: int, criterion: int, answer: ExchangedAnswer, said: Answer) -> labelled.ImportedLabel:
    beside = {"note": answer.note, "strength": answer.strength if said.value else "", "evidence": list(answer.evidence)}
    return labelled.ImportedLabel(
        item=item,
        annotator=answer.rater,
        criterion=criterion,
        value=said.value,
        content=said.content,
        unscored_reason=answer.reason,
        order=answer.order,
        turn=answer.turn,
        beside=beside,
        submitted_at=parse_time(answer.submitted_at),
        active_seconds=answer.active_seconds,
    )


def parse_time(text: str) -> datetime | None:
    """The point in time, UTC where no zone is named; None where the text is none."""
    try:
        found = parse_datetime(text)
    except ValueError:
        return None
    return make_aware(found) if found and is_naive(found) else found


def judgment(item: int, criterion: int, answer: ExchangedAnswer, said: Answer) -> judgments.ImportedJudgment:
    return judgments.ImportedJudgment(
        item=item,
        criterion=criterion,
        value=said.value,
        content=said.content,
        unscored_reason=answer.reason[:LONGEST_REASON],
        explanation=answer.note,
        order=answer.order,
        repeat=answer.repeat,
        turn=answer.turn,
    )
