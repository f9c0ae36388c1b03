"""Krippendorff's alpha for unitizing: do people find the same passages, of the same kind, in a text?

Krippendorff (2004), Content Analysis, 2nd edition, section 11.6, pages 251-256; Krippendorff (1995), "On the
reliability of unitizing continuous data", Sociological Methodology 25:47-76. Alpha is 1 - sum of D_o / sum of D_e over
categories. Units of two people that overlap differ by the squares of how far their beginnings and their ends lie apart;
a unit that lies whole in a gap of the other by its squared length.

An item's parts lie one behind the other on one continuum, gaps and units end with their part, and an item takes part
with the m people who answered it: its pairs weigh 1 / (m - 1), as in `annotation.stats.alpha`. With one part that the
same people rated this is his formula.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.resampling import SumStatistic, scale_to_effective
from annotation.stats.spans import Runs, Spans, find_marked_runs
from annotation.stats.table import FloatArray

Segment = tuple[int, int, bool]
"""Beginning, length, and whether it is a unit rather than a gap."""


def unitizing_alpha(
    answers: Sequence[Sequence[Spans]],
    texts: Sequence[Mapping[str, int]],
    categories: Sequence[str],
    item_weights: FloatArray | None = None,
) -> SumStatistic:
    """Alpha over all categories, then of each, as one statistic with 1 + k values.

    ``answers`` holds what people marked in each item, ``texts`` the number of characters of the item's parts. Marks of
    one person and category that touch are one unit. NaN where nobody marked anything. With ``item_weights`` (n_items,),
    those of all sums, the number of characters is the effective one (`scale_to_effective`).
    """
    segments = [
        [_segments_of(each, text, category) for category in categories]
        for each, text in zip(answers, texts, strict=True)
    ]
    lengths = [_unit_lengths(segments, k) for k in range(len(categories))]
    rows = [
        _row(of_item, len(each), sum(text.values()), lengths)
        for of_item, each, text in zip(segments, answers, texts, strict=True)
    ]
    width = 1 + sum(1 + 2 * len(of_category) for of_category in lengths)
    columns = np.array(rows, dtype=float).reshape(len(rows), width)
    statistic = SumStatistic(columns, partial(_values, lengths=[np.array(one, dtype=float) for one in lengths]))
    return scale_to_effective(statistic, columns[:, 0], item_weights)


def _segments_of(answers: Sequence[Spans], text: Mapping[str, int], category: str) -> list[list[list[Segment]]]:
    """By part and person, the units of a category and the gaps between them."""
    marked = [find_marked_runs((span for span in one if span.category == category), labelled=True) for one in answers]
    return [[_cut(runs, part, category, length) for runs in marked] for part, length in text.items()]


def _cut(runs: Runs, part: str, category: str, length: int) -> list[Segment]:
    found: list[Segment] = []
    before = 0
    for start, end in runs.get((part, category), []):
        if start > before:
            found.append((before, start - before, False))
        found.append((start, end - start, True))
        before = end
    return [*found, (before, length - before, False)] if before < length else found


def _unit_lengths(segments: Sequence[Sequence[Sequence[Sequence[Sequence[Segment]]]]], k: int) -> list[int]:
    """Lengths of the units of a category that occur, ascending."""
    found = {
        length
        for of_item in segments
        for of_part in of_item[k]
        for person in of_part
        for _, length, is_unit in person
        if is_unit
    }
    return sorted(found)


def _row(
    of_item: Sequence[Sequence[Sequence[Sequence[Segment]]]], m: int, length: int, lengths: Sequence[Sequence[int]]
) -> list[float]:
    """What an item adds: m times its length; by category its disagreement, units by length, and room in gaps."""
    width = 1 + sum(1 + 2 * len(one) for one in lengths)
    if m < 2:
        return [0.0] * width
    row = [float(m * length)]
    for of_category, known in zip(of_item, lengths, strict=True):
        everyone = [segment for of_part in of_category for person in of_part for segment in person]
        units = [size for _, size, is_unit in everyone if is_unit]
        gaps = np.array([size for _, size, is_unit in everyone if not is_unit], dtype=float)
        row.append(sum(map(_disagreement, of_category)) / (m - 1))
        row += [float(units.count(size)) for size in known]
        row += [float(np.maximum(gaps - size + 1, 0).sum()) for size in known]
    return row


def _disagreement(people: Sequence[Sequence[Segment]]) -> float:
    """Sum of the squared differences over ordered pairs of people, in one part."""
    return 2.0 * sum(
        difference(a, b)
        for number, first in enumerate(people)
        for second in people[number + 1 :]
        for a in first
        for b in second
    )


def difference(a: Segment, b: Segment) -> float:
    """Squared difference of a segment of one person and a segment of another."""
    (a_start, a_length, a_unit), (b_start, b_length, b_unit) = a, b
    apart = a_start - b_start
    if a_unit and b_unit:
        return float(apart**2 + (apart + a_length - b_length) ** 2) if -a_length < apart < b_length else 0.0
    if a_unit and 0 <= apart <= b_length - a_length:
        return float(a_length**2)
    if b_unit and 0 <= -apart <= a_length - b_length:
        return float(b_length**2)
    return 0.0


def _values(sums: FloatArray, *, lengths: Sequence[FloatArray]) -> FloatArray:
    """(…, 1 + k) from the sums of the rows."""
    n, place = sums[..., 0], 1
    observed, expected = [], []
    for of_category in lengths:
        q = len(of_category)
        units, room = sums[..., place + 1 : place + 1 + q], sums[..., place + 1 + q : place + 1 + 2 * q]
        observed.append(ratio(sums[..., place], n))
        expected.append(_expected(units, room, of_category, n))
        place += 1 + 2 * q
    if not lengths:
        return np.full((*sums.shape[:-1], 1), np.nan)
    found = np.stack([sum(observed), *observed], axis=-1), np.stack([sum(expected), *expected], axis=-1)
    return 1 - ratio(*found)


def _expected(units: FloatArray, room: FloatArray, lengths: FloatArray, n: FloatArray) -> FloatArray:
    """Expected disagreement of a category but for the factor 1 / L, which D_o lacks as well."""
    others = (units.sum(axis=-1) - 1) / 3
    beside_units = (units @ (2 * lengths**3 - 3 * lengths**2 + lengths)) * others
    within_gaps = (units * room) @ lengths**2
    pairs = n * (n - 1) - units @ (lengths * (lengths - 1))
    return ratio(2 * (beside_units + within_gaps), pairs)
