"""What an evaluation found: read as columns, computed in one pass over the draws, and kept by a hash of its input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from annotation.agreement.options import IntervalOptions
from annotation.stats.bands import TIERS
from annotation.stats.estimate import number_or_none
from annotation.stats.result_types import EstimateDocument
from core.version import code_version
from judging.evaluations.queries import evaluations as queries
from judging.evaluations.queries.evaluations import EvaluationColumns, EvaluationData
from judging.evaluations.result_types import (
    ConfidenceDocument,
    CutsRow,
    EvaluationDocument,
    EvaluationTables,
    RunFacts,
    UnsolvedDocument,
)
from judging.runs.models.evaluations import Evaluation, EvaluationResult
from judging.stats import benchmark as stats
from judging.stats.answer_confidence import calibrate_confidence
from judging.stats.benchmark import Answers, Sheet

MOST_LISTED = 200
"""Cases that no model gets, by name; their number is told whole."""

MOST_COMPARED = 8
"""Judges of which every two are compared in each setting, the first by name: 28 pairs."""

CONVENTIONS = (
    "A case's score is the share of its scored answers, in one or two orders, that name what people chose. Accuracy "
    "is the mean over cases. A reply without a verdict is unscored: neither right nor wrong.",
    "Intervals resample personas, since cases of one persona are alike. Differences are within the same case and use "
    "the same draws.",
    "Human, leave one out: what one annotator's vote is worth against the majority of the others; a half where they "
    "are tied.",
    "By likely tier: each case counts in every tier with the probability that the difficulty model gives it; a tier "
    "set by hand counts whole. Cases that the benchmark leaves out, such as contested ones, are in none.",
    "Confidence is the probability of the verdict among the two, where the model tells it.",
)


def load_or_compute(evaluation: Evaluation, options: IntervalOptions | None = None) -> EvaluationDocument:
    """Return the document of all figures: the kept one where nothing has changed since, else a new one.

    It is kept once no run goes on any more, so that a page looked at meanwhile leaves nothing behind.
    """
    chosen = options or IntervalOptions()
    asked = queries.runs_that_speak(evaluation)
    digest = queries.fingerprint(evaluation, asked)
    there = EvaluationResult.objects.filter(
        evaluation=evaluation, input_hash=digest, seed=chosen.seed, code_version=code_version()
    )
    kept = next((row for row in there.order_by("-pk") if row.parameters == chosen.model_dump()), None)
    if kept is not None:
        return add_states(kept.result, asked)
    found = document(queries.load_answers(evaluation, asked), chosen)
    if asked and all(one.run.state != "running" for one in asked):
        EvaluationResult.objects.create(
            evaluation=evaluation,
            parameters=chosen.model_dump(),
            seed=chosen.seed,
            input_hash=digest,
            code_version=code_version(),
            result=found,
        )
    return add_states(found, asked)


def keep(evaluation_id: int) -> None:
    """Compute and keep the results, if they are not kept already and no run goes on."""
    found = Evaluation.objects.select_related("benchmark", "study").filter(pk=evaluation_id).first()
    if found and not found.runs.filter(finished_at__isnull=True, stopped_at__isnull=True).exists():
        load_or_compute(found)


def add_states(found: EvaluationDocument, asked: Sequence[EvaluationColumns]) -> EvaluationDocument:
    """Add to the document how the runs are doing now."""
    states = {one.key: one.run.state for one in asked}
    runs: list[RunFacts] = [{**run, "state": states.get(run["key"], run["state"])} for run in found["runs"]]
    return {**found, "runs": runs}


def document(examined: EvaluationData, options: IntervalOptions) -> EvaluationDocument:
    """Compute all figures, as JSON types."""
    made = Figures(examined, options)
    evaluation = examined.evaluation
    return {
        "evaluation": evaluation.pk,
        "number": evaluation.number,
        "benchmark": str(evaluation.benchmark),
        "n_cases": examined.cases.n,
        "n_personas": examined.cases.n_personas - examined.n_without_persona,
        "n_cases_without_persona": examined.n_without_persona,
        "n_personas_with_made_memories": examined.without_memories,
        "drawn": evaluation.drawn,
        "cells": list(examined.cases.cells()),
        "runs": [run_facts(one, examined) for one in examined.asked],
        "bootstrap": options.bootstrap,
        "confidence": options.confidence,
        "seed": options.seed,
        "resampled": "personas",
        "conventions": list(CONVENTIONS),
        **made.tables(),
    }


def run_facts(one: EvaluationColumns, examined: EvaluationData) -> RunFacts:
    """Say who answered in which setting, and how many answers could be read."""
    answers, run = examined.answers[one.key], one.run
    orders = 2 if run.order_policy == run.OrderPolicy.BOTH else 1
    return {
        "key": one.key,
        "run": run.pk,
        "judge": one.judge,
        "kind": run.judge.kind,
        "model": run.judge.model,
        "setting": run.setting,
        "setting_name": one.setting.name,
        "state": run.state,
        "expected": orders * examined.cases.n,
        "answers": int(answers.asked.sum()),
        "scored": int((answers.said > 0).sum()),
        "unscored": int(answers.unscored.sum()),
        "nothing_found": examined.nothing_found.get(one.key),
        "reasons": dict(sorted(examined.reasons[one.key].items())),
    }


class Figures:
    """The tables of an evaluation. What is to be estimated is collected first and estimated at once."""

    def __init__(self, examined: EvaluationData, options: IntervalOptions) -> None:
        self.cases, self.asked, self.answers = examined.cases, examined.asked, examined.answers
        self.examined = examined
        self.sheet = Sheet(examined.cases, options.bootstrap, options.confidence, options.seed)
        self.scores = {one.key: self.answers[one.key].scores(self.cases) for one in self.asked}
        self.lines = stats.lines(self.cases)
        self.likely = stats.likely_tiers(self.cases)
        self.whole = [one for one in self.asked if not one.setting.without]
        self.there = {one.key for one in self.asked if self.answers[one.key].asked.any()}
        self.compared = [pair for pair in self.pairs() if {pair[1].key, pair[2].key} <= self.there]

    def tables(self) -> EvaluationTables:
        self.collect()
        found = {key: estimate.to_json() for key, estimate in self.sheet.estimates().items()}
        cells = list(self.cases.cells())
        tiers = ["all", *(cell for cell in cells if cell in TIERS)]
        return {
            "accuracy": [{"key": one.key, "cells": {c: found[one.key, c] for c in cells}} for one in self.asked],
            "accuracy_by_likely_tier": [
                {"key": one.key, "tiers": {tier: found[one.key, f"likely {tier}"] for tier in self.likely}}
                for one in self.asked
                if self.likely
            ],
            "lines": [{"name": name, "cells": {c: found[f"line {name}", c] for c in cells}} for name in self.lines],
            "orders": [
                {
                    "key": one.key,
                    "consistency": found[one.key, "consistency"],
                    "both_right": found[one.key, "both_right"],
                    "first": found[one.key, "first"],
                }
                for one in self.asked
            ],
            "differences": [
                {"what": what, "a": a.key, "b": b.key, "cells": {c: found[f"{a.key}-{b.key}", c] for c in tiers}}
                for what, a, b in self.compared
            ],
            "groups": [
                {
                    "field": name,
                    "value": value,
                    "n_cases": int(mask.sum()),
                    "figures": {one.key: found[one.key, f"group {name} {value}"] for one in self.whole},
                }
                for name, value, mask in stats.demographic_groups(self.cases)
            ],
            "confidence_in_verdicts": {one.key: self.confidence(self.answers[one.key]) for one in self.asked},
            "cuts": self.cuts(found),
            "warnings": self.warnings(),
            "nobody": self.list_unsolved(),
        }

    # collecting

    def collect(self) -> None:
        tiers = {name: mask for name, mask in self.cases.cells().items() if name == "all" or name in TIERS}
        for one in self.asked:
            self.add_run(one)
        for name, (values, reason) in self.lines.items():
            stats.add_cell_columns(self.sheet, f"line {name}", values, reason=reason)
        for _, a, b in self.compared:
            difference = self.scores[a.key] - self.scores[b.key]
            for cell, mask in tiers.items():
                key = (f"{a.key}-{b.key}", cell)
                self.sheet.add(key, difference, where=mask, reason=stats.NO_PAIR, scale="plain")

    def add_run(self, one: EvaluationColumns) -> None:
        answers, scores = self.answers[one.key], self.scores[one.key]
        stats.add_cell_columns(self.sheet, one.key, scores)
        for tier, odds in self.likely.items():
            self.sheet.add((one.key, f"likely {tier}"), scores, where=odds, reason=stats.NO_ANSWER)
        orders = {
            "consistency": (stats.consistent(answers), stats.NO_BOTH),
            "both_right": (stats.mark_both_right(answers, self.cases), stats.NO_BOTH),
            "first": (stats.mark_first_shown(answers), stats.NO_ANSWER),
        }
        for name, (values, reason) in orders.items():
            self.sheet.add((one.key, name), values, reason=reason)
        if not one.setting.without:
            for name, value, mask in stats.demographic_groups(self.cases):
                self.sheet.add((one.key, f"group {name} {value}"), scores, where=mask, reason=stats.NO_ANSWER)
        for moved, bands in stats.iterate_shifted_tiers(self.cases):
            for tier, mask in bands.items():
                self.sheet.add((one.key, f"cuts {moved} {tier}"), scores, where=mask, reason=stats.NO_KAPPA)

    def pairs(self) -> Iterator[tuple[str, EvaluationColumns, EvaluationColumns]]:
        """List what is compared: the settings of a judge, judges in a setting, and a setting without some field."""
        judges = list(dict.fromkeys(one.judge for one in self.whole))
        for judge in judges:
            mine = {one.key: one for one in self.whole if one.judge == judge}
            yield from (("settings", mine[a], mine[b]) for a, b in stats.build_differences(list(mine)))
        settings = {one.setting.name + one.setting.answers: one.setting for one in self.whole}
        for setting in settings.values():
            there = {one.key: one for one in self.whole if one.setting == setting}
            yield from (("models", there[a], there[b]) for a, b in stats.build_differences(list(there)[:MOST_COMPARED]))
        for one in self.asked:
            yield from (("fields", one, base) for base in self.whole if one.setting.without and is_whole(one, base))

    # what is no mean of columns

    def confidence(self, answers: Answers) -> ConfidenceDocument:
        found = calibrate_confidence(answers, self.sheet)
        return {
            "ece": found.ece.to_json(),
            "plain_ece": number_or_none(found.plain_ece),
            "brier": found.brier.to_json(),
            "excess": found.excess.to_json(),
            "bins": [
                {"low": one.low, "high": one.high, "confidence": one.confidence, "accuracy": one.accuracy.to_json()}
                for one in found.bins
            ],
        }

    def cuts(self, found: Mapping[tuple[str, ...], EstimateDocument]) -> list[CutsRow]:
        return [
            {
                "cuts": list(moved),
                "n_cases": {tier: int(mask.sum()) for tier, mask in bands.items()},
                "figures": {
                    one.key: {tier: found[one.key, f"cuts {moved} {tier}"] for tier in bands} for one in self.whole
                },
            }
            for moved, bands in stats.iterate_shifted_tiers(self.cases)
        ]

    def warnings(self) -> list[str]:
        """Say in words what a figure cannot say."""
        return [
            f"Human, leave one out, is 1 in the tier {tier} by construction: all {n} of its cases with votes are "
            "unanimous, since a dissenting vote would put a case into another tier. It is no ceiling for models there."
            for tier, n in stats.unanimous_tiers(self.cases).items()
        ]

    def list_unsolved(self) -> UnsolvedDocument:
        """List the cases that no model got right in any setting or order. Baselines get some by luck: not counted."""
        models = [one for one in self.asked if not one.run.judge.is_baseline]
        places = stats.find_unsolved(self.cases, [self.answers[one.key] for one in models])
        return {
            "n": len(places),
            "n_models": len({one.judge for one in models}),
            "cases": [
                {
                    "case": int(self.cases.ids[place]),
                    "position": int(self.examined.positions[place]),
                    "tier": str(self.cases.tier[place]),
                    "kind": str(self.cases.kind[place]),
                }
                for place in places[:MOST_LISTED].tolist()
            ],
        }


def is_whole(one: EvaluationColumns, base: EvaluationColumns) -> bool:
    """Return whether `base` asks the same of the same judge without leaving a field out."""
    return one.judge == base.judge and {**one.setting.to_json(), "without": []} == base.setting.to_json()
