"""Charts of an experiment's tables."""

from __future__ import annotations

import xml.etree.ElementTree as ET

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
