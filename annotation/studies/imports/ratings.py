"""Labels from a table: found or made for them are a study, its items and its criteria.

People's labels are saved here; `judging` saves a judge's, which it reads with the same functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_noop

from annotation.corpus.imports.references import References
from annotation.corpus.imports.tables import open_checked
from annotation.corpus.models import Dialogue, ResponsePair
from annotation.corpus.parsing.mapped_rows import build_cells
from annotation.corpus.parsing.mappings import ColumnMapping
from annotation.studies.criteria import TEMPLATES
from annotation.studies.imports import labelled
from annotation.studies.imports.stored_answers import OF_TEXTS, match_scale, read_stored
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.parsing import ratings as parsing
from annotation.studies.parsing.answers import Answer
from annotation.studies.parsing.ratings import Rating
from annotation.studies.queries.items import list_texts
from annotation.studies.queries.sampling_frame import Record, list_records
from core.accounts.models.projects import Project, check_project
from core.accounts.models.users import User
from core.accounts.permissions import unless_taken
from core.audit.log import audited
from core.batches import iterate_batches
from core.errors import InputError
from core.files.input_files import InputFile, InputRows, OnError, Problems, Source
from core.files.json_text import parse_json
from core.files.outcome import Outcome, explain_refusal

TIE = "tie"
KINDS = ("annotators", "annotations")


@dataclass(frozen=True, slots=True)
class Resolved:
    """A rating with the item and criterion that it is about, and its value as the scale spells it."""

    rating: Rating
    item: int
    criterion: int
    value: str
    content: object = None


@audited("labels.import", says=("file", "on_error"))
def load(
    *,
    by: User | None,
    file: InputFile,
    study: str,
    on_error: OnError = "stop",
    mapping: ColumnMapping | None = None,
    project: Project | None = None,
) -> Outcome:
    """Import people's labels into the study of that name, which is made if there is none.

    The columns are those that the mapping names; without one the file is CSV and its columns are called as the fields.
    """
    outcome = Outcome(KINDS)
    with resolve(file, study, mapping, on_error, outcome, by=by, project=project) as (found, rows):
        save(study=found, rows=rows, outcome=outcome)
    return outcome


@audited("labels.add", on="study", says=("on_error",))
def add(
    *,
    by: User | None,  # noqa: ARG001
    study: Study,
    ratings: Iterable[Rating],
    source: InputRows,
    on_error: OnError = "stop",
) -> Outcome:
    """The same for rows of a request, whose `line` is their place in it."""
    problems, outcome = Problems(on_error), Outcome(KINDS, study=study.name)
    with explain_refusal(source), transaction.atomic():
        finder = Finder(source, study, of_judge=False)
        rows = finder.resolve_all(parsing.drop_seconds(source, ratings, problems), problems)
        save(study=study, rows=rows, outcome=outcome)
    outcome.skipped = problems.to_json()
    return outcome


def save(*, study: Study, rows: Iterable[Resolved], outcome: Outcome) -> None:
    """Save people's labels; a row with neither a value nor a reason is none."""
    labels = [
        labelled.ImportedLabel(
            item=row.item,
            annotator=row.rating.rater,
            criterion=row.criterion,
            value=row.value,
            unscored_reason="" if row.value else row.rating.reason,
            order=row.rating.order,
            turn=row.rating.turn,
            content=row.content,
        )
        for row in rows
        if row.value or row.rating.reason
    ]
    labelled.save_labels(study=study, labels=labels, outcome=outcome)


def read_table(
    file: InputFile, mapping: ColumnMapping | None, problems: Problems, outcome: Outcome, *, of_judge: bool
) -> parsing.Table:
    """The labels of a file, read by a mapping or as CSV with our own names of columns."""
    if mapping is None:
        return parsing.read_ratings(file, problems, of_judge=of_judge)
    with open_checked(file, mapping, problems) as table:
        rows = build_cells(mapping, table.rows)
        found = parsing.read_ratings(file, problems, of_judge=of_judge, rows=rows)
        outcome.warnings += table.notes.to_sentences()
    return found


@contextmanager
def resolve(
    file: InputFile,
    name: str,
    mapping: ColumnMapping | None,
    on_error: OnError,
    outcome: Outcome,
    *,
    by: User | None,
    project: Project | None,
    of_judge: bool = False,
) -> Iterator[tuple[Study, list[Resolved]]]:
    """The study, and the file's ratings with their items and criteria, to be saved in the same transaction.

    What does not fit is set aside beside the file.
    """
    problems = Problems(on_error)
    with explain_refusal(file), transaction.atomic():
        table = read_table(file, mapping, problems, outcome, of_judge=of_judge)
        if table.unused:
            outcome.warnings.append(f"columns that were not read: {', '.join(table.unused)}")
        study = unless_taken(by, Study.objects.filter(Q(name=name) | Q(slug=name)).first(), field="study")
        if study is None:
            study = create_study(by, project, file, name, table.ratings, problems)
        check_project(study, project)
        outcome.study = study.name
        yield study, Finder(file, study, of_judge=of_judge).resolve_all(table.ratings, problems)
    outcome.set_aside(problems, beside=file.path)


class Finder:
    """Finds items and criteria of a study by what a table calls them."""

    def __init__(self, source: Source, study: Study, *, of_judge: bool) -> None:
        self.source, self.study, self.of_judge = source, study, of_judge
        self.criteria = {criterion.key: criterion for criterion in study.criteria.all()}
        self.items: dict[str, list[int]] = {}
        self.last: tuple[int, dict[str, str]] | None = None
        self.n_responses: dict[int, int] = {}
        rows = study.items.values_list("pk", f"{study.kind}__external_id", f"{study.kind}__source", "pair__n_responses")
        for pk, external_id, source, n_responses in rows.iterator():
            self.n_responses[pk] = n_responses or 0
            self.items.setdefault(external_id, []).append(pk)
            self.items.setdefault(f"{source}:{external_id}", []).append(pk)

    def resolve_all(self, ratings: Iterable[Rating], problems: Problems) -> list[Resolved]:
        resolved = []
        for rating in ratings:
            try:
                resolved.append(self.resolve(rating))
            except InputError as error:
                problems.add(error, repr(rating))
        return resolved

    def resolve(self, rating: Rating) -> Resolved:
        items = self.items.get(rating.item, [])
        if len(items) != 1:
            says = gettext_noop("there is no item {item!r} in {study}")
            if items:
                says = gettext_noop("several items of {study} have this id; write source:id")
            raise self.source.error(says, line=rating.line, field="item", item=rating.item, study=self.study)
        criterion = self.criterion(rating)
        self.check_turn(rating, criterion, items[0])
        try:
            answer = self.read(criterion, rating, items[0]) if rating.value else Answer("")
        except InputError as error:
            raise self.source.error(error.message, line=rating.line, field="value") from error
        return Resolved(rating, items[0], criterion.pk, answer.value, answer.content)

    def read(self, criterion: Criterion, rating: Rating, item: int) -> Answer:
        """The answer; a judge's is looked at as one of a scale."""
        if criterion.type == Criterion.Type.CHOICE:
            return Answer(match_scale(criterion, rating.value))
        content = parse_json(rating.content) if rating.content else None
        names = (f"response-{number}" for number in range(1, self.n_responses[item] + 1))
        texts = self.texts(item) if criterion.type in OF_TEXTS else dict.fromkeys(names, "")
        return read_stored(criterion, rating.value, content, texts=texts, turn=rating.turn)

    def texts(self, item: int) -> dict[str, str]:
        """The texts of an item; the last one's are kept, as its labels stand together."""
        if self.last is None or self.last[0] != item:
            row = Item.objects.select_related("dialogue", "pair").get(pk=item)
            self.last = item, list_texts(row)
        return self.last[1]

    def check_turn(self, rating: Rating, criterion: Criterion, item: int) -> None:
        """A person rates what the criterion is asked of; a judge may also rate single turns of what is not."""
        if not rating.turn and not (criterion.of_turns or criterion.of_responses):
            return
        wrong = ""
        if criterion.of_responses:
            if not 1 <= rating.turn <= self.n_responses[item]:
                said = gettext_noop("{name} is asked of responses: say which, from 1")
                raise self.source.error(said, line=rating.line, field="turn", name=criterion.name)
            return
        if not rating.turn:
            wrong = gettext_noop("{name} is asked of turns: say which")
        elif not criterion.of_turns and not self.of_judge:
            wrong = gettext_noop("{name} is asked of the whole item")
        elif not 1 <= rating.turn <= len(self.roles.get(item, ())):
            wrong = gettext_noop("the item has no turn {turn}")
        elif criterion.of_turns and f"{self.roles[item][rating.turn - 1]}_turn" != criterion.unit:
            wrong = gettext_noop("{name} is asked of {unit}, which turn {turn} is not")
        if wrong:
            parts = {"name": criterion.name, "turn": rating.turn, "unit": criterion.get_unit_display()}
            raise self.source.error(wrong, line=rating.line, field="turn", **parts)

    @cached_property
    def roles(self) -> dict[int, list[str]]:
        """By item, who speaks in each turn; nothing for pairs."""
        rows = self.study.items.filter(dialogue__isnull=False).values_list("pk", "dialogue__turns")
        return {pk: [turn["role"] for turn in turns] for pk, turns in rows.iterator(chunk_size=500)}

    def criterion(self, rating: Rating) -> Criterion:
        """The criterion named; the study's only one if none is named."""
        if not rating.criterion and len(self.criteria) == 1:
            return next(iter(self.criteria.values()))
        if rating.criterion in self.criteria:
            return self.criteria[rating.criterion]
        says = gettext_noop("name the criterion; there are: {known}")
        if rating.criterion:
            says = gettext_noop("{study} has no criterion {criterion!r}; there are: {known}")
        parts = {"study": self.study, "criterion": rating.criterion, "known": ", ".join(self.criteria)}
        raise self.source.error(says, line=rating.line, field="criterion", **parts)


def create_study(
    by: User | None, project: Project | None, file: InputFile, name: str, ratings: Sequence[Rating], problems: Problems
) -> Study:
    """A study of all that the table names, with criteria from the templates of the same keys."""
    kind, material = find_subjects(file, ratings, problems)
    criteria = [template_fields(file, kind, key, ratings) for key in dict.fromkeys(each.criterion for each in ratings)]
    study = labelled.create_study(
        by=by,
        project=project,
        name=name,
        kind=kind,
        criteria=criteria,
        description=f"Made from the labels in {file.name}.",
    )
    labelled.add_items(by=by, study=study, material=material)
    return study


def find_subjects(file: InputFile, ratings: Sequence[Rating], problems: Problems) -> tuple[str, list[Record]]:
    """The kind of the items, and the dialogues or pairs that the ratings name, in the order of the file."""
    first: dict[str, int] = {}
    for rating in ratings:
        first.setdefault(rating.item, rating.line)
    known: dict[str, References] = {
        Study.Kind.DIALOGUE: References(Dialogue, None, "dialogue"),
        Study.Kind.PAIR: References(ResponsePair, None, "pair"),
    }
    for references in known.values():
        for names in iterate_batches(first, 500):
            references.prepare(names)
    kind = next((kind for kind, references in known.items() if any(references.found.values())), "")
    if not kind:
        item, line = next(iter(first.items()))
        raise file.error("neither a dialogue nor a pair has the id {item!r}", line=line, field="item", item=item)
    ids: list[int] = []
    for item, line in first.items():
        try:
            ids.append(known[kind].find(item))
        except InputError as error:
            # With `skip`, each of the item's ratings is set aside once the study is there.
            if problems.on_error == "stop":
                raise file.error(error.message, line=line, field="item") from error
    rows = list_records(kind).only(*labelled.ITEM_COLUMNS).in_bulk(ids)
    return kind, [rows[pk] for pk in dict.fromkeys(ids)]


def template_fields(file: InputFile, kind: str, key: str, ratings: Iterable[Rating]) -> dict[str, object]:
    """Fields of a criterion made from the template called `key`; with a tie where the labels hold one."""
    mine = [rating for rating in ratings if rating.criterion == key]
    template = TEMPLATES.get(key)
    if template is None or template.kind != kind:
        known = ", ".join(name for name, one in TEMPLATES.items() if one.kind == kind)
        says = gettext_noop("a new study needs this column; templates are: {known}")
        if key:
            says = gettext_noop("there is no template {key!r} for items of this kind; templates are: {known}")
        raise file.error(says, line=mine[0].line, field="criterion", key=key, known=known)
    with_tie = any(rating.value.casefold() == TIE for rating in mine)
    of_turns = any(rating.turn for rating in mine)
    unit = f"{template.turn}_turn" if of_turns else Criterion.Unit.ITEM
    return {**(template.allow_tie() if with_tie else template).fields(), "unit": unit}
