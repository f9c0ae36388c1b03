"""A judge's labels from a table, as a finished run."""

from __future__ import annotations

from annotation.corpus.parsing.mappings import ColumnMapping
from annotation.studies.imports.ratings import Resolved, resolve
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.files.input_files import InputFile, OnError
from core.files.outcome import Outcome
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
    outcome = Outcome(("judges", "judgments"))
    with resolve(file, study, mapping, on_error, outcome, by=by, project=project, of_judge=True) as (found, rows):
        judgments.save(by=by, study=found, judge=judge, judgments=[to_judgment(row) for row in rows], outcome=outcome)
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
