"""A judge's labels from a table, as a finished run."""

from __future__ import annotations

from django.db import transaction

from annotation.corpus.parsing.mappings import ColumnMapping
from annotation.studies.imports.ratings import Resolved, read_table, resolve
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.files.input_files import InputFile, OnError, Problems
from core.files.outcome import Outcome, explain_refusal
from judging.runs.imports import judgments

NO_VALUE = "no value"


@audited("judgments.import", says=("file", "judge", "on_error"))
def load(
    *,
    by: User | None,
    file: InputFile,
    study: str,
    judge: str,
    on_error: OnError = "stop",
    mapping: ColumnMapping | None = None,
    project: Project | None = None,
) -> Outcome:
    """Import what `judge` said of the items of the study of that name, which is made if there is none.

    The columns are those that the mapping names; without one the file is CSV and its columns are called as the fields.
    """
    if not judge or len(judge) > 120:
        raise InputError("a judge needs a name of at most 120 characters", field="judge")
    problems, outcome = Problems(on_error), Outcome(("judges", "judgments"))
    with explain_refusal(file), transaction.atomic():
        table = read_table(file, mapping, problems, outcome, of_judge=True)
        found, rows = resolve(
            by=by,
            project=project,
            file=file,
            name=study,
            table=table,
            problems=problems,
            outcome=outcome,
            of_judge=True,
        )
        judgments.save(by=by, study=found, judge=judge, judgments=[to_judgment(row) for row in rows], outcome=outcome)
    outcome.set_aside(problems, beside=file.path)
    return outcome


def to_judgment(row: Resolved) -> judgments.ImportedJudgment:
    rating = row.rating
    return judgments.ImportedJudgment(
        item=row.item,
        criterion=row.criterion,
        value=row.value,
        content=row.content,
        unscored_reason="" if row.value else rating.reason or NO_VALUE,
        explanation=rating.explanation,
        order=rating.order,
        repeat=rating.repeat,
        turn=rating.turn,
    )
