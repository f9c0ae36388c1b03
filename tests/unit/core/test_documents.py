"""Documents with a million rows are written piece by piece, as the same text."""

from __future__ import annotations

import json

import numpy as np
import pytest

from core.documents import AT_ONCE, Rows, build_numbered_rows, drop_nan, pieces


def made(which: np.ndarray) -> list[dict[str, object]]:
    return [{"n": n, "text": f'é "{n}"\n', "half": n / 2, "of": {"by": None, "at": [n]}} for n in which.tolist()]


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        None,
        "é",
        float("nan"),
        {"a": [], "b": {}, "c": (1, 2.5, True, None), "d": {"e": [{"f": float("inf")}]}, 3: "key", "ü": -1e-300},
        [{"a": 1}, {"a": [1, [2, []]]}],
        {
            "rows": build_numbered_rows(3, made),
            "none": build_numbered_rows(0, made),
            "in": {"rows": build_numbered_rows(1, made)},
        },
        build_numbered_rows(2, made),
    ],
)
def test_the_text_is_that_of_json(document):
    assert "".join(pieces(document)) == json.dumps(drop_nan(document), ensure_ascii=False, indent=1)


def test_rows_are_made_some_thousand_at_a_time():
    asked = []

    def noted(which: np.ndarray) -> list[dict[str, object]]:
        asked.append(which.size)
        return made(which)

    rows = build_numbered_rows(2 * AT_ONCE + 1, noted)
    assert [row["n"] for row in rows] == list(range(2 * AT_ONCE + 1))
    assert asked == [AT_ONCE, AT_ONCE, 1]
    assert rows[3]["n"] == 3
    assert [row["n"] for row in rows[5:7]] == [5, 6]
    assert rows[-1]["n"] == 2 * AT_ONCE


def test_rows_in_another_order():
    kappa = np.array([0.5, np.nan, 0.1, 0.5])
    rows = Rows(np.arange(4), made, {"kappa": kappa})
    assert [row["n"] for row in rows.sort_by("kappa")] == [2, 0, 3, 1]
    assert [row["n"] for row in rows.sort_by("kappa", descending=True)] == [1, 0, 3, 2]
    assert [row["n"] for row in rows.take(np.array([3, 1])).sort_by("kappa")] == [3, 1]
    assert rows.take(np.array([2])) == [made(np.array([2]))[0]]
    assert rows != [made(np.array([2]))[0]]
