"""Judges beside people on one criterion, from a file of ratings in which some raters are judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from annotation.stats.dependence import Design, fill_gaps, find_bad_weight
from annotation.stats.table import FloatArray, RatingTable
from annotation.studies.parsing.rating_files import RatingsFile
from core.errors import InputError
from judging.assessment.agreement_types import CriterionAgreementDocument
from judging.assessment.options import JudgedOptions
from judging.assessment.services.comparison import JudgeColumn, document


def compare_file(
    file: RatingsFile, judge_names: Sequence[str], options: JudgedOptions, *, weight: str = ""
) -> CriterionAgreementDocument:
    """The document of a file in which some raters are judges, items weighted by the column ``weight``.

    Raises InputError where it has no such rater, or a weight is not a positive number.
    """
    table = file.table
    for name in judge_names:
        if name not in table.raters:
            raise InputError(
                "no rater is called {name!r}; there are {raters}",
                field="judge",
                name=name,
                raters=", ".join(table.raters),
            )
    annotators = table.select_raters([rater for rater in table.raters if rater not in judge_names])
    annotators, design = _designed(file, annotators, options, weight)
    columns = [_column(file, name) for name in dict.fromkeys(judge_names)]
    return document(annotators, columns, options, file.column(options.by) if options.by else None, design=design)


def _designed(file: RatingsFile, table: RatingTable, options: JudgedOptions, weight: str) -> tuple[RatingTable, Design]:
    """The table with the file's clusters, strata and weights, and what they are called."""
    design = Design(by=options.cluster, within=options.strata, weighted=weight)
    clusters = None
    if options.cluster:
        clusters, alone = fill_gaps(file.column(options.cluster), table.items)
        design = replace(design, alone=alone)
    weights = _weights(file, weight) if weight else None
    strata = file.column(options.strata) if options.strata else None
    return replace(table, clusters=clusters, strata=strata, weights=weights), design


def _weights(file: RatingsFile, column: str) -> FloatArray:
    """Raises InputError naming the first item whose weight is not a positive number."""
    given = []
    for item, text in zip(file.table.items, file.column(column), strict=True):
        try:
            given.append(float(text))
        except ValueError as error:
            raise InputError("item {item}: {text!r} is not a number", field=column, item=item, text=text) from error
    weights = np.array(given)
    if (place := find_bad_weight(weights)) is not None:
        name, value = file.table.items[place], weights[place]
        raise InputError(
            "item {name}: the weight is {value:g}; it must be a finite number above 0",
            field=column,
            name=name,
            value=value,
        )
    return weights


def _column(file: RatingsFile, name: str) -> JudgeColumn:
    table = file.table
    codes = table.codes[:, table.raters.index(name)]
    return JudgeColumn(name, codes, np.array([(item, name) in file.empty for item in table.items], dtype=bool))
