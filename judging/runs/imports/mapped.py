"""Any table, by a mapping: what its rows become says which import reads them."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.corpus.imports import surveys, tables
from annotation.corpus.imports.surveys import Survey
from annotation.corpus.imports.tables import TABLE_SOURCE
from annotation.corpus.parsing.mapped_fields import JUDGMENTS, RATINGS
from annotation.corpus.parsing.mapped_rows import build_cells
from annotation.corpus.parsing.mappings import ColumnMapping
from annotation.studies.imports import ratings
from annotation.studies.parsing.ratings import read_ratings
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.errors import InputError
from core.files.input_files import InputFile, OnError, Problems
from core.files.outcome import Outcome
from core.files.tables.rows import TableRow
from core.options.model import check_options
from judging.runs.imports import ratings as judge_ratings
from judging.runs.options import ImportItems


@check_options(ImportItems)
def load_mapped(
    *,
    by: User | None,
    file: InputFile,
    mapping: ColumnMapping,
    source: str = TABLE_SOURCE,
    study: str = "",
    judge: str = "",
    on_error: OnError = "stop",
    project: Project | None = None,
) -> Outcome:
    """Import a file by a mapping: material under `source`, or labels into the study of that name.

    InputError names what is missing, or file, line and field.
    """
    if mapping.kind not in (RATINGS.key, JUDGMENTS.key):
        return tables.load(by=by, file=file, mapping=mapping, source=source or TABLE_SOURCE, on_error=on_error)
    if mapping.draw is not None:
        raise InputError("only dialogues and response pairs can be drawn from", field="draw")
    if not study:
        raise InputError("Labels belong to a study: give its name.", field="study")
    if mapping.kind == RATINGS.key:
        return ratings.load(by=by, file=file, study=study, on_error=on_error, mapping=mapping, project=project)
    return judge_ratings.load(
        by=by, file=file, study=study, judge=judge, on_error=on_error, mapping=mapping, project=project
    )


def survey(file: InputFile, mapping: ColumnMapping) -> Survey:
    """What an import of the file by the mapping would do and refuse, as far as that follows from the file alone."""
    return surveys.survey(file, mapping, check_labels)


def check_labels(file: InputFile, mapping: ColumnMapping, rows: Iterator[TableRow], problems: Problems) -> int:
    """Read labels as an import does; whether their items and criteria are there shows only then."""
    of_judge = mapping.kind == JUDGMENTS.key
    cells = build_cells(mapping, rows)
    return len(read_ratings(file, problems, of_judge=of_judge, rows=cells).ratings)
