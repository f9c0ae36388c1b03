"""Write the generated tables of docs/methods.md: `python scripts/methods_tables.py`. A test keeps them true.

Each table stands between two comments, `<!-- generated: NAME -->` and `<!-- end: NAME -->`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from annotation.stats.agreement import agreement
from annotation.stats.analytic import cohen_error, fleiss_chance_test
from annotation.stats.attainable import plan_tiers
from annotation.stats.bands import TIERS
from annotation.stats.dawid_skene import dawid_skene
from annotation.stats.table import RatingTable
from annotation.stats.weighting import identity_weights, linear_weights

ROOT = Path(__file__).resolve().parents[1]
METHODS = ROOT / "docs" / "methods.md"
REFERENCE = ROOT / "fixtures" / "reference" / "agreement.json"


def reference() -> list[dict[str, Any]]:
    """The published tables."""
    entries: list[dict[str, Any]] = json.loads(REFERENCE.read_text(encoding="utf-8"))
    return entries


def table_of(entry: Mapping[str, Any]) -> RatingTable:
    """The ratings of an entry."""
    if "ratings" in entry:
        return RatingTable.from_wide(entry["ratings"], categories=entry["categories"], level=entry["level"])
    counts = np.array(entry["crosstab"])
    rows, columns = np.nonzero(counts)
    times = counts[rows, columns]
    codes = np.column_stack([np.repeat(rows, times), np.repeat(columns, times)])
    items = tuple(str(i) for i in range(len(codes)))
    return RatingTable(codes, tuple(range(len(counts))), entry["level"], items, ("a", "b"))


def computed(entry: Mapping[str, Any]) -> dict[str, float]:
    """Everything that could be printed of an entry."""
    table = table_of(entry)
    found = agreement(table, bootstrap=0)
    values = {name: estimate.value for name, estimate in found.coefficients.items()}
    values |= {f"category_kappa_{one.category}": one.fleiss_kappa.value for one in found.per_category}
    if "crosstab" in entry:
        values |= _of_two(found.pairs[0], np.array(entry["crosstab"], dtype=float))
    if "distances" in entry:
        distances = np.array(entry["distances"], dtype=float)
        own = cohen_error(np.array(entry["crosstab"]), 1 - distances / distances.max())
        values["cohen_kappa_own_weights"] = own.kappa
    if len(np.unique(table.ratings_per_item)) == 1:
        values["fleiss_z"] = fleiss_chance_test(table.counts).z
    if "same_rater" in entry:
        shares = dawid_skene(table, same_rater=entry["same_rater"]).prevalence.tolist()
        values |= {f"prevalence_{c}": share for c, share in zip(entry["categories"], shares, strict=True)}
    return values


def _of_two(pair: Any, crosstab: np.ndarray) -> dict[str, float]:
    q = len(crosstab)
    plain, linear = (
        cohen_error(crosstab, identity_weights(q)),
        cohen_error(crosstab, linear_weights(np.arange(float(q)))),
    )
    return {
        "cohen_kappa": pair.cohen_kappa.value,
        "linear_cohen_kappa": linear.kappa,
        "scott_pi": pair.scott_pi.value,
        "cohen_kappa_se": plain.se,
        "cohen_kappa_se_chance": plain.se_chance,
        "linear_cohen_kappa_se": linear.se,
        "linear_cohen_kappa_se_chance": linear.se_chance,
    }


def digits(printed: str) -> int:
    """Decimals of a number as it is printed."""
    return len(printed.partition(".")[2])


def reference_table() -> str:
    lines = ["| table | quantity | printed | Concord |", "|---|---|---:|---:|"]
    for entry in reference():
        values = computed(entry)
        for quantity, printed in entry["printed"].items():
            lines.append(f"| {entry['name']} | {quantity} | {printed} | {values[quantity]:.{digits(printed) + 2}f} |")
    citations = dict.fromkeys(f"- {entry['citation']}." for entry in reference())
    return "\n".join([*lines, "", *citations])


def tier_table() -> str:
    lines = ["| raters | categories | attainable kappas, chance 1/q | tiers without a value | overlap that fills all |"]
    lines.append("|---:|---:|---|---|---:|")
    for q in (2, 3, 4, 5):
        for r in (2, 3, 5, 7, 9):
            plan = plan_tiers(r, q)
            values = ", ".join(f"{value:.2f}" for value in plan.values[-8:])
            shown = values if len(plan.values) <= 8 else f"…, {values}"
            empty = ", ".join(tier for tier in TIERS if tier in plan.empty_bands) or "none"
            lines.append(f"| {r} | {q} | {shown} | {empty} | {plan.overlap or '-'} |")
    return "\n".join(lines)


TABLES = {"reference": reference_table, "tiers": tier_table}


def filled(text: str) -> str:
    """The text with every generated table written anew. Raises ``ValueError`` where one has no place."""
    for name, make in TABLES.items():
        start, end = f"<!-- generated: {name} -->", f"<!-- end: {name} -->"
        pattern = re.compile(re.escape(start) + ".*?" + re.escape(end), re.DOTALL)
        if not pattern.search(text):
            raise ValueError(f"{METHODS.name} has no place for the table {name!r}")
        block = f"{start}\n\n{make()}\n\n{end}"
        text = pattern.sub(block.replace("\\", r"\\"), text)
    return text


if __name__ == "__main__":
    METHODS.write_text(filled(METHODS.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote the tables of {METHODS.relative_to(ROOT)}")
