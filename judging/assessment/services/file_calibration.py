"""Calibration of a judge: from a file of labels to the document of CLI.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from annotation.stats.dependence import Design, design_warnings, fill_gaps
from annotation.stats.labels import Label, infer_categories, parse_number
from annotation.stats.table import FloatArray, Level
from annotation.stats.warnings import StatWarning
from annotation.studies.parsing import label_files
from annotation.studies.parsing.label_files import LabelFile
from core import helper_process
from core.errors import InputError
from judging.assessment.options import CalibrationOptions
from judging.assessment.result_types import FileCalibrationDocument
from judging.stats.calibrate import Columns, calibrate
from judging.stats.second_opinion import recompute


@dataclass(frozen=True)
class FileColumns:
    """The names of a file's columns; None where there is none of the kind."""

    human: str
    judge: str
    confidence: str | None = None
    weight: str | None = None
    cluster: str | None = None

    @property
    def named(self) -> list[str]:
        """All that are given."""
        names = (self.human, self.judge, self.confidence, self.weight, self.cluster)
        return [name for name in names if name is not None]


def calibrate_file(
    path: Path,
    names: FileColumns,
    options: CalibrationOptions,
    *,
    level: Level | None = None,
    categories: Sequence[str] | None = None,
) -> FileCalibrationDocument:
    """The document of a file.

    Parameters
    ----------
    path, names
        The file and its columns. Rows without a human label are the unlabelled part.
    options
        How to calibrate.
    level
        Of the scale; by default interval where the labels are more than two numbers, otherwise nominal.
    categories
        The scale in order; by default the labels that occur.

    Raises
    ------
    InputError
        Where the file cannot be understood or a label does not fit.
    """
    if names.human == names.judge:
        raise InputError("people and judge cannot be the same column", field="judge")
    file = label_files.read(path, names.named)
    columns = _columns(file, names, level, categories)
    positive: Label | None = options.positive
    try:
        found = calibrate(
            columns,
            positive=positive,
            method=options.method,
            targets=options.targets,
            delta=options.delta,
            bootstrap=options.bootstrap,
            confidence=options.confidence,
            seed=options.seed,
        )
    except ValueError as error:
        raise InputError(str(error), file=str(path)) from error
    document = found.to_json()
    return {
        "human": names.human,
        "judge": names.judge,
        "level": columns.level,
        "categories": list(columns.categories),
        "seed": options.seed,
        "bootstrap": options.bootstrap,
        "confidence": options.confidence,
        **document,
        "second_opinion": helper_process.call(recompute, found, found.scores).to_json(),
        "warnings": [*document["warnings"], *(one.to_json() for one in _on_design(file, names, columns))],
    }


def _columns(file: LabelFile, names: FileColumns, level: Level | None, categories: Sequence[str] | None) -> Columns:
    human, judge = file.texts(names.human), file.texts(names.judge)
    if not any(label is not None for label in human):
        raise InputError("no row has a label", file=str(file.path), field=names.human)
    numeric = _all_numbers(categories if categories else [*human])
    if level == "ordinal" and not numeric and not categories:
        raise InputError("an ordinal scale of words needs its order, for example low,middle,high", field="categories")
    scale = _scale(human, judge, categories, numeric=numeric)
    if numeric or level in ("interval", "ratio"):
        _check_numbers(file, names, scale)
    return Columns(
        human=human,
        judge=judge,
        categories=scale,
        level=level or ("interval" if numeric and len(scale) > 2 else "nominal"),
        confidence=None if names.confidence is None else file.numbers(names.confidence),
        weights=None if names.weight is None else _weights(file, names.weight),
        clusters=None if names.cluster is None else _clusters(file, names.cluster),
    )


def _on_design(file: LabelFile, names: FileColumns, columns: Columns) -> list[StatWarning]:
    """What to know of gaps among the clusters, and of weights that lie far apart."""
    gaps = 0 if names.cluster is None else sum(not cell for cell in file.texts(names.cluster))
    return design_warnings(Design(by=names.cluster or "", alone=gaps), columns.weights)


def _clusters(file: LabelFile, column: str) -> tuple[str, ...]:
    """The rows' clusters; a row without one stands alone."""
    return fill_gaps(file.texts(column), [f"on line {row.line}" for row in file.rows])[0]


def _check_numbers(file: LabelFile, names: FileColumns, scale: Sequence[Label]) -> None:
    """Raise InputError where something is not a number, or a judge's lies outside a scale of two: the wrong column."""
    file.numbers(names.human)
    scores, ends = file.numbers(names.judge), [float(end) for end in scale]
    outside = np.flatnonzero((scores < min(ends)) | (scores > max(ends)))
    if len(scale) == 2 and outside.size:
        row = file.rows[outside[0]]
        message = f"{row.cells[names.judge]} lies outside people's labels, {scale[0]} and {scale[1]}"
        raise InputError(message, file=str(file.path), line=row.line, field=names.judge)


def _scale(
    human: Sequence[str | None], judge: Sequence[str | None], categories: Sequence[str] | None, *, numeric: bool
) -> tuple[Label, ...]:
    """The scale that is given, or what occurs: on numbers among the people's labels, otherwise on either side."""
    if categories:
        return tuple(categories)
    found = infer_categories(human if numeric else [*human, *judge])
    if len(found) > 1 or not numeric:
        return found
    return infer_categories([*human, *judge])


def _all_numbers(labels: Sequence[str | None]) -> bool:
    try:
        return all(parse_number(label) is not None for label in labels if label is not None)
    except ValueError:  # an infinite number: named with its line where the column is read
        return True


def _weights(file: LabelFile, column: str) -> FloatArray:
    weights = file.numbers(column)
    bad = np.flatnonzero(~(weights > 0))
    if bad.size:
        raise InputError("a weight must be above 0", file=str(file.path), line=file.rows[bad[0]].line, field=column)
    return weights
