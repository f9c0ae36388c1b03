"""Charts of an experiment's tables."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from annotation.quality.charts import Point, course
from core.charts import PHONE
from judging.evaluations import charts as evaluation_charts
from simulation.results import charts

NAME = "base+D+I+S with the history of all conversations, cut at 4,096 tokens"


def test_a_long_name_of_a_condition_is_read_whole() -> None:
    cell = {"value": 2.0, "low": 1.8, "high": 2.2}
    rows = [{"key": n, "name": n, "group": "several domains", "cells": {"p": cell}} for n in ("vanilla", NAME)]
    table = {"key": "ablation", "columns": [{"key": "p", "name": "P", "low": 1, "high": 4}], "rows": rows}
    drawn = charts.svg(charts.table_chart, table, charts.FILE)
    texts = ["".join(node.itertext()) for node in ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    whole = f"{NAME} (several domains)"
    assert whole.replace(" ", "") in [text.replace(" ", "") for text in texts]
    assert not any("…" in text for text in texts)


CELL = {"value": 2.0, "low": 1.8, "high": 2.2}
TABLE = {
    "key": "ablation",
    "columns": [{"key": key, "name": key.upper(), "low": 1, "high": 4} for key in ("p", "q", "r")],
    "rows": [{"key": n, "name": n, "group": "", "cells": dict.fromkeys("pqr", CELL)} for n in ("vanilla", "base")],
}
TURNS = {
    "key": "turns",
    "columns": [{"key": "personalization", "name": "P", "low": 1, "high": 4}],
    "rows": [
        {"key": f"{g}{n}", "name": str(n), "group": f"group {g}", "cells": {"personalization": CELL}}
        for g in range(7)
        for n in (1, 2)
    ],
}
FIELDS = [{"field": f, "shares": [{"value": v, "n": 4} for v in ("one", "two")]} for f in ("gender", "age", "region")]
ACCURACY = [{"name": "gpt", "kind": "judge", "cases": c, "value": 0.7, "low": 0.6, "high": 0.8} for c in "abc"]
BINS = [{"confidence": 0.8, "accuracy": 0.7, "accuracy_low": 0.6, "accuracy_high": 0.8}]
COURSE = [Point("bob", "gold accuracy", n, 0.8, 0.6, 0.9, 10) for n in (10, 20)]


@pytest.mark.parametrize(
    ("chart", "rows"),
    [
        (charts.table_chart, TABLE),
        (charts.table_chart, TURNS),
        (charts.bars, FIELDS),
        (evaluation_charts.accuracy, ACCURACY),
        (evaluation_charts.reliability, BINS),
        (course, COURSE),
    ],
)
def test_panels_stand_below_each_other_on_a_phone(chart: Callable[..., Any], rows: Sequence[Any]) -> None:
    drawn = ET.fromstring(charts.svg(chart, rows, PHONE))
    assert float(drawn.attrib["width"]) <= 358
