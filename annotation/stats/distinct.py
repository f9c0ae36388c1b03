"""Items with the same ratings, counted once.

Five raters and five categories leave 7,776 ways to answer. A hundred thousand items repeat them, and all that
a coefficient sees of an item is its row of ratings.
"""

from dataclasses import dataclass, replace

import numpy as np

from annotation.stats.table import IntArray, RatingTable

LARGEST_KEY = 2**62


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct rows of a table.

    Attributes
    ----------
    table
        One item for each row of ratings, stratum and weight that occurs.
    copies
        How many items of the original table are like it.
    """

    table: RatingTable
    copies: IntArray


def distinct_items(table: RatingTable) -> Distinct:
    """The table's distinct rows in an order that does not depend on that of its items.

    A table with clusters stays as it is: its items are not drawn one by one. So does one of spans, whose texts differ.
    """
    if table.clusters is not None or table.texts is not None or not table.n_items:
        return Distinct(table, np.ones(table.n_items, dtype=np.int64))
    first, copies = _first_of_each(_columns(table))
    kept = replace(
        table,
        codes=table.codes[first],
        items=tuple(map(table.items.__getitem__, first.tolist())),
        strata=None if table.strata is None else tuple(map(table.strata.__getitem__, first.tolist())),
        weights=None if table.weights is None else table.weights[first],
    )
    return Distinct(kept, copies)


def _columns(table: RatingTable) -> list[tuple[IntArray, int]]:
    """Everything that tells items apart: columns of whole numbers from 0, with the number of their values."""
    columns = [(codes + 1, table.n_categories + 1) for codes in table.codes.T]
    for entries in (table.strata, table.weights):
        if entries is not None:
            values, place = np.unique(np.asarray(entries), return_inverse=True)
            columns.append((place.astype(np.int64), len(values)))
    return columns


def _first_of_each(columns: list[tuple[IntArray, int]]) -> tuple[IntArray, IntArray]:
    """Index of the first item of each kind, and how many items are of that kind."""
    key, size = np.zeros(len(columns[0][0]), dtype=np.int64), 1
    for column, n_values in columns:
        if size * n_values > LARGEST_KEY:
            values, key = np.unique(key, return_inverse=True)
            size = len(values)
        key = key * n_values + column
        size *= n_values
    _, first, copies = np.unique(key, return_index=True, return_counts=True)
    order = np.argsort(copies, kind="stable")  # neighbours of the same number of copies are drawn together
    return first[order].astype(np.int64), copies[order].astype(np.int64)
