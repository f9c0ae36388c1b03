"""The rating table: who said what about which item, as one array of codes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Self, TypedDict, Unpack, get_args

import numpy as np
import numpy.typing as npt

from annotation.stats.labels import KEYS, Coder, Label, infer_scale, parse_number

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Level = Literal["nominal", "ordinal", "interval", "ratio", "ranking", "set", "spans", "text"]

NO_SCORES: dict[Level, str] = {
    "nominal": "the scale is nominal: its categories have no distances",
    "ranking": "a ranking is not a number",
    "set": "a set of categories is not a number",
    "spans": "marked spans are not numbers",
    "text": "a text is not a number",
}
"""By level whose categories do not lie on a line, why they have no scores."""

MISSING = -1

LARGEST = 1e15
"""Scores and means of larger numbers, either side of 0, are refused: whole numbers beyond are not exact, and fourth
powers, which degrees of freedom are made of, would overflow long before the numbers do."""


class TableExtras(TypedDict, total=False):
    """What a table may have besides its ratings (see `RatingTable`)."""

    clusters: tuple[str, ...] | None
    strata: tuple[str, ...] | None
    weights: FloatArray | None
    texts: tuple[Mapping[str, int], ...] | None
    is_open: bool


@dataclass(frozen=True, eq=False)
class RatingTable:
    """Ratings of items by raters on one scale.

    Parameters
    ----------
    codes
        (n_items, n_raters) positions on the scale, 0 … q - 1; -1 where the rater did not rate the item.
    categories
        The q labels of the scale in scale order. They belong to the criterion: unused ones count too.
    level
        ``nominal``, ``ordinal``, ``interval`` or ``ratio``; ``ranking``: a category is then a ranking of an item's
        responses, such as ``B>A=C``, and all are of the same responses; ``set``: a category is a set such as
        ``accuracy|style``, and ``-`` the empty one; ``spans``: a category is what one person marked in one item
        (`annotation.stats.spans`); ``text``: there is one category, for whatever was written.
    items, raters
        Names of the rows and of the columns.
    values
        Numeric score of each category. Without it: the labels themselves where all are numbers,
        otherwise the positions 1 … q (see `scores`).
    clusters
        One label per item; items of one cluster (one dialogue, one profile) are resampled together.
    strata
        One label per item; resampling keeps the number of units of each stratum.
    weights
        Positive survey weight of each item, for example one over its inclusion probability.
    texts
        Of spans: by item, the number of characters of each part in which they may lie.
    is_open
        Whether the categories are those that occur rather than a scale: numbers without steps.

    Raises
    ------
    ValueError
        If shapes disagree, a code is off the scale, a name stands twice, a weight is not positive and
        finite, a score is beyond `LARGEST`, or the level needs numbers that the categories do not have.
    """

    codes: IntArray
    categories: tuple[Label, ...]
    level: Level
    items: tuple[str, ...]
    raters: tuple[str, ...]
    values: FloatArray | None = None
    clusters: tuple[str, ...] | None = None
    strata: tuple[str, ...] | None = None
    weights: FloatArray | None = None
    texts: tuple[Mapping[str, int], ...] | None = None
    is_open: bool = False

    def __post_init__(self) -> None:
        self._freeze("codes", np.array(self.codes, dtype=np.int64))
        self._freeze("values", None if self.values is None else np.array(self.values, dtype=float))
        self._freeze("weights", None if self.weights is None else np.array(self.weights, dtype=float))
        _check_shape(self)
        _check_scale(self)
        _check_weights(self.weights)

    def _freeze(self, field: str, array: FloatArray | IntArray | None) -> None:
        if array is not None:
            array.setflags(write=False)
        object.__setattr__(self, field, array)

    @classmethod
    def from_long(
        cls,
        items: Iterable[object],
        raters: Iterable[object],
        values: Iterable[object],
        *,
        categories: Sequence[Label] | None = None,
        level: Level = "nominal",
        **more: Unpack[TableExtras],
    ) -> Self:
        """A table from one row per rating; items and raters keep the order of first appearance.

        Parameters
        ----------
        items, raters, values
            Equally long columns. None, "" and NaN are missing ratings (their item still counts as a row).
        categories
            The scale; inferred from the values where it is not given.
        level, more
            As in the class; ``clusters``, ``strata`` and ``weights`` are one entry per item, in the order
            of first appearance.

        Raises
        ------
        ValueError
            On empty input, columns of unequal length, a value off the scale, an infinite value, or a
            second rating of one item by one rater. The message names the item and the rater.
        """
        rows = [(str(item), str(rater), value) for item, rater, value in zip(items, raters, values, strict=True)]
        if not rows:
            raise ValueError("no ratings: the table is empty")
        item_row = {item: row for row, item in enumerate(dict.fromkeys(item for item, _, _ in rows))}
        rater_column = {rater: col for col, rater in enumerate(dict.fromkeys(rater for _, rater, _ in rows))}
        scale = tuple(categories) if categories is not None else infer_scale((v for _, _, v in rows), level)
        codes = _codes_of(rows, item_row, rater_column, Coder(scale, level))
        return cls(codes, scale, level, tuple(item_row), tuple(rater_column), **more)

    @classmethod
    def from_wide(
        cls,
        matrix: Iterable[Iterable[object]],
        *,
        raters: Sequence[object] | None = None,
        items: Sequence[object] | None = None,
        categories: Sequence[Label] | None = None,
        level: Level = "nominal",
        **more: Unpack[TableExtras],
    ) -> Self:
        """A table from one row per item and one column per rater; None, "" and NaN are missing.

        Names default to ``1 … n`` for items and ``r1 … rk`` for raters. Raises ``ValueError`` as the class
        does, and on rows of unequal length.
        """
        rows = [list(row) for row in matrix]
        if not rows or not rows[0]:
            raise ValueError("no ratings: the table is empty")
        if any(len(row) != len(rows[0]) for row in rows):
            raise ValueError("rows of unequal length: every item needs one cell per rater")
        scale = tuple(categories) if categories is not None else infer_scale((v for row in rows for v in row), level)
        coder = Coder(scale, level)
        codes = np.array([[coder.code(value) for value in row] for row in rows], dtype=np.int64)
        item_names = tuple(str(i) for i in (items if items is not None else range(1, len(rows) + 1)))
        columns = raters if raters is not None else [f"r{j}" for j in range(1, len(rows[0]) + 1)]
        return cls(codes, scale, level, item_names, tuple(str(r) for r in columns), **more)

    @property
    def n_items(self) -> int:
        """Number of rows, rated or not."""
        return len(self.items)

    @property
    def n_categories(self) -> int:
        """q, the number of categories of the scale."""
        return len(self.categories)

    @cached_property
    def n_raters(self) -> int:
        """Number of raters who rated at least one item."""
        return int((self.codes != MISSING).any(axis=0).sum())

    @cached_property
    def n_ratings(self) -> int:
        """Number of ratings."""
        return int((self.codes != MISSING).sum())

    @cached_property
    def counts(self) -> FloatArray:
        """(n_items, q) array r_ik: how many raters put item i in category k."""
        q = self.n_categories + 1  # missing ratings first
        flat = self.codes + (np.arange(self.n_items)[:, None] * q - MISSING)
        counted = np.bincount(flat.ravel(), minlength=self.n_items * q).reshape(self.n_items, q)
        return counted[:, 1:].astype(float)

    @cached_property
    def ratings_per_item(self) -> FloatArray:
        """(n_items,) array r_i: how many raters rated item i."""
        size: FloatArray = (self.codes != MISSING).sum(axis=1).astype(float)
        return size

    @cached_property
    def pairable(self) -> BoolArray:
        """(n_items,) mask of the items with at least two ratings, the only ones that speak of agreement."""
        return np.asarray(self.ratings_per_item >= 2)

    @cached_property
    def n_used(self) -> int:
        """Number of categories that occur among the ratings."""
        return int((self.counts.sum(axis=0) > 0).sum())

    @property
    def has_scores(self) -> bool:
        """Whether the categories lie on a line; those of a nominal scale, rankings, sets and the like do not."""
        return self.level not in NO_SCORES

    @property
    def has_scale(self) -> bool:
        """Whether the categories are a scale that was given, so that chance may go by their number."""
        return not self.is_open and self.level not in KEYS

    @property
    def is_ordered(self) -> bool:
        """Whether the categories lie on a line, as any two of a scale do."""
        return self.has_scores or (self.has_scale and self.n_categories == 2)

    @cached_property
    def scores(self) -> FloatArray:
        """(q,) numeric score of each category: `values`, else numeric labels, else 1 … q."""
        if self.values is not None:
            return self.values
        numbers = [parse_number(category) for category in self.categories]
        known = [number for number in numbers if number is not None]
        return np.array(known) if len(known) == len(numbers) else np.arange(1.0, self.n_categories + 1)

    @cached_property
    def rated_scores(self) -> FloatArray:
        """(n_items, n_raters) scores of the ratings, NaN where missing."""
        if not self.n_categories:
            return np.full(self.codes.shape, np.nan)
        return np.where(self.codes == MISSING, np.nan, self.scores[self.codes])

    def subset_items(self, mask: npt.ArrayLike) -> Self:
        """The table of the items where ``mask`` (n_items booleans) is true; raters and scale stay."""
        keep = np.asarray(mask, dtype=bool)
        if keep.shape != (self.n_items,):
            raise ValueError(f"the mask has shape {keep.shape}, the table {self.n_items} items")
        return replace(
            self,
            codes=self.codes[keep],
            items=_select_names(self.items, keep),
            clusters=None if self.clusters is None else _select_names(self.clusters, keep),
            strata=None if self.strata is None else _select_names(self.strata, keep),
            weights=None if self.weights is None else self.weights[keep],
            texts=None
            if self.texts is None
            else tuple(one for one, kept in zip(self.texts, keep, strict=True) if kept),
        )

    def select_raters(self, names: Iterable[str]) -> Self:
        """The table of the named raters, in the order given; items stay, even those left without a rating.

        Raises ``ValueError`` naming a rater whom the table does not have.
        """
        column = {rater: col for col, rater in enumerate(self.raters)}
        wanted = tuple(names)
        unknown = [name for name in wanted if name not in column]
        if unknown:
            raise ValueError(f"no rater named {unknown[0]!r}; the table has {', '.join(self.raters)}")
        return replace(self, codes=self.codes[:, [column[name] for name in wanted]], raters=wanted)

    def replace_codes(self, codes: IntArray) -> Self:
        """The same items, raters and scale with other ratings."""
        return replace(self, codes=codes)


def _select_names(names: Sequence[str], keep: BoolArray) -> tuple[str, ...]:
    return tuple(name for name, kept in zip(names, keep, strict=True) if kept)


def _codes_of(
    rows: Sequence[tuple[str, str, object]], item_row: dict[str, int], rater_column: dict[str, int], coder: Coder
) -> IntArray:
    codes = np.full((len(item_row), len(rater_column)), MISSING, dtype=np.int64)
    seen: set[tuple[int, int]] = set()
    for item, rater, value in rows:
        cell = (item_row[item], rater_column[rater])
        if cell in seen:
            raise ValueError(f"item {item!r} is rated twice by rater {rater!r}")
        seen.add(cell)
        try:
            codes[cell] = coder.code(value)
        except ValueError as error:
            raise ValueError(f"item {item!r}, rater {rater!r}: {error}") from None
    return codes


def _check_shape(table: RatingTable) -> None:
    expected = (len(table.items), len(table.raters))
    if table.codes.shape != expected:
        raise ValueError(f"codes have shape {table.codes.shape}, names say {expected}")
    for kind, names in (("item", table.items), ("rater", table.raters)):
        if len(set(names)) != len(names):
            raise ValueError(f"{kind} names are not unique")
    for kind in ("clusters", "strata", "weights", "texts"):
        entries = getattr(table, kind)
        if entries is not None and len(entries) != len(table.items):
            raise ValueError(f"{kind} have {len(entries)} entries for {len(table.items)} items")


def _check_scale(table: RatingTable) -> None:
    q = len(table.categories)
    if table.level not in get_args(Level):
        raise ValueError(f"level is {table.level!r}; it must be one of {', '.join(get_args(Level))}")
    if table.codes.size and (table.codes.min() < MISSING or table.codes.max() >= q):
        raise ValueError(f"a code is off the scale of {q} categories")
    Coder(table.categories, table.level)
    if table.values is not None and table.values.shape != (q,):
        raise ValueError(f"values need one number per category: {q}, not {table.values.size}")
    if table.values is not None and not np.isfinite(table.values).all():
        raise ValueError("values must be finite numbers")
    if table.level in ("interval", "ratio"):
        _check_numeric(table)
    if table.has_scores:
        check_numbers(table.scores)


def _check_numeric(table: RatingTable) -> None:
    if table.values is None and any(parse_number(category) is None for category in table.categories):
        raise ValueError(f"level {table.level} needs numbers: give values for the categories")
    if table.level == "ratio" and table.n_categories and table.scores.min() < 0:
        raise ValueError("level ratio needs values that are not negative")


def check_numbers(values: FloatArray, most: float = LARGEST) -> None:
    """Raise ``ValueError`` where any of the numbers is beyond ``most``; NaN and infinity stand for what is missing."""
    beyond = np.isfinite(values) & (np.abs(values) > most)
    if beyond.any():
        raise ValueError(f"{values[beyond].flat[0]:g} is too large: numbers go from {-most:g} to {most:g}")


def _check_weights(weights: FloatArray | None) -> None:
    if weights is not None and not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ValueError("weights must be positive and finite")
