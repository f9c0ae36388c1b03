"""How well three people, or features alone, tell a known difficulty: `make bench ARGS=difficulty_predicted`.

    python scripts/bench_difficulty_predicted.py [tiers] [predicted] [simulated] [demo] [--draws 20]
        [--repeats 60] [--raters 3]

`tiers`: DICES-350, three raters (or more) drawn: tiers and ranks of the model and of counted kappa against all 123.
`predicted`: PandaLM and DICES, difficulty predicted from features, out of sample, beside guessing the mean.
`simulated`: how often features that mean nothing are said to predict, and what is found of those that mean something.
`demo`: both demo studies through the database; their people are simulated.

The data lie in ../shared/data; what is absent is said and passed over.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from annotation.stats.bands import DEFAULT_CUTS, tier_places  # noqa: E402
from annotation.stats.difficulty.features import (  # noqa: E402
    FeatureTable,
    ItemFacts,
    Opinions,
    build_features,
    judge_columns,
    vector_columns,
)
from annotation.stats.difficulty.items import AGREEMENT_CUTS, difficulty  # noqa: E402
from annotation.stats.difficulty.latent import NoConvergenceError  # noqa: E402
from annotation.stats.difficulty.predicted import PredictedDifficulty, predict_difficulty  # noqa: E402
from annotation.stats.difficulty.prediction_error import compute_disagreement  # noqa: E402
from annotation.stats.estimate import Estimate  # noqa: E402
from annotation.stats.table import Level, RatingTable  # noqa: E402
from annotation.stats.tiers import chance_agreement, item_kappas  # noqa: E402
from core import vectors  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
ANSWERS = ("N", "U", "Y")
PREFERENCES = ("tie", "1", "2")
"""By PandaLM's code."""
SPREAD = (2.5, 50, 97.5)


@dataclass(frozen=True)
class Dices:
    """DICES-350: (350, 123) answers as places in `ANSWERS`, and the expert's answer to each conversation."""

    codes: np.ndarray
    names: tuple[str, ...]
    expert: np.ndarray

    @classmethod
    def read(cls) -> Dices:
        lines = (DATA / "dices" / "dices350_labels.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        codes = np.array([[ANSWERS.index(letter) for letter in row["labels"]] for row in rows])
        expert = np.array([ANSWERS.index(row["expert"][0]) if row["expert"] else -1 for row in rows])
        return cls(codes, tuple(str(row["id"]) for row in rows), expert)

    def table(self, raters: np.ndarray, level: Level, rows: np.ndarray | None = None) -> RatingTable:
        which = np.arange(len(self.names)) if rows is None else rows
        names = tuple(self.names[k] for k in which)
        return RatingTable(self.codes[np.ix_(which, raters)], ANSWERS, level, names, tuple(map(str, raters)))


def bench_tiers(draws: int, raters: int) -> None:
    """What a few raters tell of the tiers that all 123 see."""
    data = Dices.read()
    everybody = np.arange(data.codes.shape[1])
    for level in ("ordinal", "nominal"):
        print(f"\nDICES-350, {level}: {raters} of {len(everybody)} raters, {draws} draws, seeds 0 to {draws - 1}")
        whole = data.table(everybody, level)
        truth = compute_disagreement(whole)
        places = np.searchsorted(AGREEMENT_CUTS, 1 - truth, side="left")
        kappas = tier_places(item_kappas(whole, chance_agreement(whole, "uniform")), DEFAULT_CUTS)
        print("  items per tier by all, contested to easy: model's cuts", np.bincount(places, minlength=4), end="")
        print(", kappa's cuts", np.bincount(kappas, minlength=4))
        found, failed = [], {}
        for seed in range(draws):
            drawn = np.random.default_rng(seed).choice(everybody, raters, replace=False)
            try:
                found.append(compare_tiers(data.table(drawn, level), truth, places, kappas))
            except NoConvergenceError as why:
                failed[seed] = str(why)
        say_fitted(len(found), failed)
        for name in found[0] if found else ():
            say_spread(name, [one[name] for one in found])


def compare_tiers(
    table: RatingTable, truth: np.ndarray, places: np.ndarray, kappa_places: np.ndarray
) -> dict[str, float]:
    fitted = difficulty(table)
    kappa = item_kappas(table, chance_agreement(table, "uniform"))
    likeliest, counted = np.argmax(fitted.tiers, axis=1), tier_places(kappa, DEFAULT_CUTS)
    shares = np.bincount(places, minlength=4) / len(places)
    return {
        "rank correlation with true disagreement, model": spearman(fitted.value, truth),
        "rank correlation with true disagreement, counted kappa": spearman(-kappa, truth),
        "share of items in their tier, model's likeliest": float((likeliest == places).mean()),
        "share of items in their tier, counted": float((counted == kappa_places).mean()),
        "share of items in their tier, all in the commonest (model's cuts)": float(shares.max()),
        "share of items in their tier, all in the commonest (kappa's cuts)": commonest(kappa_places),
        "weighted kappa of tiers, model's likeliest": weighted_kappa(likeliest, places),
        "weighted kappa of tiers, counted": weighted_kappa(counted, kappa_places),
        "mean probability of the true tier, model": float(fitted.tiers[np.arange(len(places)), places].mean()),
        "Brier score of tier probabilities, model": brier(fitted.tiers, places),
        "Brier score, true shares for every item": brier(np.tile(shares, (len(places), 1)), places),
        "share of true disagreements in their 95 % interval": inside(fitted.low, fitted.high, truth),
        "mean probability of the likeliest tier": float(fitted.tiers.max(axis=1).mean()),
    }


def bench_predicted(draws: int) -> None:
    """Features on real data."""
    texts, judged = read_pandalm()
    facts, table = texts
    near = {} if vectors.explain_missing() else vector_columns(facts, vectors.embed)
    print(vectors.explain_missing() or f"With word vectors ({vectors.NAME}).")
    for name, columns in (("texts", near), ("texts and verdicts of two judges", {**near, **judged})):
        found = predict_difficulty(difficulty(table), table, build_features(facts, columns))
        print(f"\nPandaLM, 999 pairs, 3 annotators, {name}; clusters by instruction: {len(set(table.clusters or ()))}")
        say_prediction(found)
    bench_dices_halves(draws)


def bench_dices_halves(draws: int) -> None:
    """Three raters on half of the items; the other half by the expert's answer, the other 120 raters as truth."""
    data = Dices.read()
    print(f"\nDICES-350, ordinal: 3 raters on 175 conversations, the other 175 predicted, {draws} draws, seeds from 0")
    print("  labels only: the one feature is what one expert said")
    said = Opinions(data.expert, data.expert >= 0, data.expert[:, None], np.full(len(data.expert), np.nan))
    features = FeatureTable.from_columns(data.names, judge_columns([said], ANSWERS))
    found, failed = [], {}
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        raters = rng.permutation(data.codes.shape[1])
        rated = rng.permutation(len(data.names))[: len(data.names) // 2]
        table = data.table(raters[:3], "ordinal", np.sort(rated))
        try:
            made = predict_difficulty(difficulty(table), table, features, bootstrap=400, seed=seed)
        except NoConvergenceError as why:
            failed[seed] = str(why)
            continue
        truth = dict(zip(data.names, compute_disagreement(data.table(raters[3:], "ordinal")), strict=True))
        found.append(compare_prediction(made, np.array([truth[name] for name in made.items])))
    say_fitted(len(found), failed)
    for name in found[0] if found else ():
        say_spread(name, [one[name] for one in found])


def compare_prediction(found: PredictedDifficulty, truth: np.ndarray) -> dict[str, float]:
    """Of the predicted items, beside their true disagreement."""
    off, off_mean = float(((found.value - truth) ** 2).mean()), float(((truth.mean() - truth) ** 2).mean())
    places = np.searchsorted(found.cuts, 1 - truth, side="left")
    return {
        "said to be predictable": float(found.error.predicts),
        "rank correlation with true disagreement": spearman(found.value, truth),
        "squared error / that of the true mean": off / off_mean,
        "true mean - predicted mean": float(truth.mean() - found.value.mean()),
        "slope of truth on prediction": slope(found.value, truth),
        "share of true disagreements in their 95 % interval": inside(found.low, found.high, truth),
        "Brier score of tier probabilities": brier(found.tiers, places),
        "Brier score, true shares for every item": brier(
            np.tile(np.bincount(places, minlength=4) / len(places), (len(places), 1)), places
        ),
    }


def bench_simulated(repeats: int) -> None:
    """A world of five features, the first of which moves difficulty so much; 300 items rated by three, 500 not."""
    print(f"\nSimulated: 300 items rated by 3 people, 500 predicted, {repeats} repeats, seeds from 0")
    for strength in (0.0, 0.5, 0.9):
        found = []
        for seed in range(repeats):
            values, truth, codes = simulate(np.random.default_rng(seed), 800, strength)
            names = tuple(map(str, range(800)))
            table = RatingTable(codes[:300], (0, 1), "nominal", names[:300], ("a", "b", "c"))
            made = predict_difficulty(
                difficulty(table), table, FeatureTable(names, tuple("abcde"), values), bootstrap=400, seed=seed
            )
            found.append(compare_prediction(made, truth[300:]))
        print(f"  correlation of the feature with the trait {strength}")
        for name in found[0]:
            say_spread(name, [one[name] for one in found])


def simulate(rng: np.random.Generator, n: int, strength: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features (n, 5), probabilities that two people disagree (n,), answers of three people (n, 3)."""
    values = rng.normal(size=(n, 5))
    clear = strength * values[:, 0] + np.sqrt(1 - strength**2) * rng.normal(size=n)
    yes = scipy.special.expit(2.5 * rng.choice([-1, 1], n) * np.exp(0.7 * clear))
    return values, 2 * yes * (1 - yes), (rng.random((n, 3)) < yes[:, None]).astype(np.int64)


def bench_demo() -> None:
    """The demo's two studies, through the database. Their people are simulated."""
    folder = tempfile.TemporaryDirectory(prefix="concord bench ")
    os.environ |= {"CONCORD_DATA_DIR": folder.name, "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "config.settings"}
    import django

    django.setup()
    from django.core.management import call_command

    from annotation.studies.models.studies import Study
    from config import demo
    from judging.assessment.services import predicted_difficulty

    call_command("migrate", verbosity=0)
    demo.load()
    for study in Study.objects.filter(name__in=[demo.DIALOGUES, demo.PAIRS]):
        for criterion in study.criteria.all():
            if not criterion.of_turns:
                found = predicted_difficulty.compute_criterion(study, criterion)
                print(f"\n{study.name} (simulated people), {criterion.name}: {predicted_difficulty.summarise(found)}")
                if found["error"] is None:
                    continue
                slope = found["error"]["slope"]
                print(f"  slope {slope['value']}, 95 % interval {slope['low']} to {slope['high']}")


def read_pandalm() -> tuple[tuple[list[ItemFacts], RatingTable], Mapping[str, np.ndarray]]:
    """Texts and labels, and what the two judges say."""
    people, gpt, own = (
        json.loads((DATA / "pandalm" / f"{name}testset-v1.json").read_text(encoding="utf-8"))
        for name in ("", "gpt-3.5-turbo-", "pandalm-7b-")
    )
    prompts = [f"{row['instruction']}\n{row['input']}" for row in people]
    facts = [
        ItemFacts(str(row["idx"]), (str(row["response1"]), str(row["response2"])), prompt, {"models": row["cmp_key"]})
        for row, prompt in zip(people, prompts, strict=True)
    ]
    ratings = [[PREFERENCES[row[f"annotator{k}"]] for k in (1, 2, 3)] for row in people]
    table = RatingTable.from_wide(
        ratings, items=[one.name for one in facts], categories=PREFERENCES, clusters=tuple(prompts)
    )
    places = {"0": 0, "1": 1, "2": 2, "Tie": 0}
    replies = ([row["gpt_result"] for row in gpt], [row["pandalm_result"] for row in own])
    verdicts = [np.array([places.get(str(reply), -1) for reply in each]) for each in replies]
    unknown, asked = np.full(len(facts), np.nan), np.ones(len(facts), dtype=bool)
    said = [Opinions(codes, asked, codes[:, None], unknown) for codes in verdicts]
    return (facts, table), judge_columns(said, table.categories)


def say_prediction(found: PredictedDifficulty) -> None:
    error = found.error
    print(f"  said to be predictable: {error.predicts}; {found.reason or ''}")
    for name in ("rank_correlation", "squared_error", "squared_error_of_mean", "gain", "slope"):
        print(f"  {name.replace('_', ' '):24} {interval(getattr(error, name))}")
    for one in error.bins:
        seen = interval(one["observed"])
        hard = f"hard or contested {one['hard_predicted']:.3f}, by their ratings {interval(one['hard_fitted'])}"
        print(f"    predicted {one['predicted']:.3f}: disagreement seen {seen} on {one['n_items']} items; {hard}")


def interval(one: Estimate) -> str:
    around = f"({one.reason})" if one.method == "none" else f"[{one.low:.4f}, {one.high:.4f}]"
    return f"{one.value:.4f} {around}"


def say_fitted(fitted: int, failed: Mapping[int, str]) -> None:
    print(f"  fitted in {fitted} of {fitted + len(failed)} draws")
    for why in dict.fromkeys(failed.values()):
        print(f"    {why}: seeds {', '.join(str(seed) for seed, said in failed.items() if said == why)}")


def say_spread(name: str, values: Sequence[float]) -> None:
    known = [value for value in values if not np.isnan(value)]
    if not known:
        print(f"    {name:66} undefined: every item has the same prediction")
        return
    low, middle, high = np.percentile(known, SPREAD)
    print(f"    {name:66} mean {np.mean(known):.3f}, median {middle:.3f} [{low:.3f}, {high:.3f}] over {len(known)}")


def spearman(x: np.ndarray, y: np.ndarray) -> float:
    return float(scipy.stats.spearmanr(x, y)[0]) if np.ptp(x) > 1e-9 else np.nan


def slope(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.polyfit(x, y, 1)[0]) if np.ptp(x) > 1e-9 else np.nan


def inside(low: np.ndarray, high: np.ndarray, truth: np.ndarray) -> float:
    return float(((low <= truth) & (truth <= high)).mean())


def brier(shares: np.ndarray, places: np.ndarray) -> float:
    return float(((shares - np.eye(4)[places]) ** 2).sum(axis=1).mean())


def commonest(places: np.ndarray) -> float:
    return float(np.bincount(places).max() / len(places))


def weighted_kappa(one: np.ndarray, two: np.ndarray) -> float:
    from sklearn.metrics import cohen_kappa_score

    return float(cohen_kappa_score(one, two, labels=range(4), weights="quadratic"))


PARTS = ("tiers", "predicted", "simulated", "demo")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all by default")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--raters", type=int, default=3, help="drawn for `tiers`")
    given = parser.parse_args()
    for part in given.parts or PARTS:
        if part in ("tiers", "predicted") and not DATA.is_dir():
            print(f"{part}: ../shared/data is not there")
            continue
        {
            "tiers": lambda: bench_tiers(given.draws, given.raters),
            "predicted": lambda: bench_predicted(given.draws),
            "simulated": lambda: bench_simulated(given.repeats),
            "demo": bench_demo,
        }[part]()


if __name__ == "__main__":
    main()
