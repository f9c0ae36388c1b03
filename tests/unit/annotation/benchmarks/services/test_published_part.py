"""The audit of the published part of PersonaFeedback equals the figures that came with the data."""

from __future__ import annotations

import json

from annotation.stats.benchmarks import audit as audits
from annotation.stats.benchmarks.audit import Persona
from annotation.stats.benchmarks.cases import Case


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def by_tier(found):
    return {one.tier: one for one in found if not one.kind}


def test_the_published_part(shared_data):
    """reference.json of the data: 385 of the hard pairs recur, 120 of them flipped; .7742, .7391, .7625."""
    root = shared_data / "personafeedback"
    reference = json.loads((root / "reference.json").read_text())
    cases = [
        Case(f"{tier}{k}", "general", tier, row["user_id"], row["question"], row["chosen"], row["reject"], "1")
        for tier in ("easy", "medium", "hard")
        for k, row in enumerate(rows_of(root / "general" / f"{tier}.jsonl"))
    ]
    people = [Persona(path.stem, json.loads(path.read_text()), 0) for path in sorted((root / "persona").glob("*.json"))]
    found = audits.audit(cases, people, bootstrap=200)
    rows = by_tier(found.recurring)
    assert {tier: rows[tier].n for tier in reference["rows"]} == reference["rows"]
    assert rows["hard"].recurring == reference["hard_pairs_also_in_easy_or_medium"] == 385
    assert rows["hard"].opposite == reference["of_those_with_flipped_label"] == 120
    longer = {one.tier: one.accuracy for one in found.shortcuts if one.rule == "the longer response"}
    assert {t: round(longer[t].value, 4) for t in reference["rows"]} == reference["accuracy_of_choosing_the_longer"]
    assert all(longer[tier].low < longer[tier].value < longer[tier].high for tier in reference["rows"])
    assert found.n_personas == reference["personas"]
