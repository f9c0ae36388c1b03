"""Severity, compression, length, own kind and position: by the fitted model, else by counted differences.

The model (`fitted`) tells bias from noise. Where it does not converge the counted figures of all people stand in, and
the name of the test says so. Where nothing could tell the two apart (one person an item, few items) no probe is made.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from annotation.stats.table import FloatArray
from judging.stats.audits.central_tendency import central_tendency
from judging.stats.audits.columns import PairColumns, ScoreColumns, row_means
from judging.stats.audits.design import SIMPLE, SamplingDesign
from judging.stats.audits.fitted import POINTS, FitRequest, FittedModel, NotIdentifiedError, fit_judge
from judging.stats.audits.length import UNIT as LENGTH_UNIT, length, win_rates
from judging.stats.audits.position import UNIT as POSITION_UNIT, position_both_orders, position_one_order
from judging.stats.audits.probe import LEAST, Probe, mean_probe, not_made
from judging.stats.audits.self_preference import self_preference_pairs, self_preference_scores
from judging.stats.audits.trait_fit import NoConvergenceError

SHARES = "share of preferences moved towards its own kind"
Probes = Mapping[str, Callable[[], Probe]]
"""By name, how a probe is made."""


def probe_scale(scores: ScoreColumns) -> tuple[list[Probe], FloatArray]:
    """Leniency, central tendency, length and self-preference of scores; and (n,) the judge's departures from people."""
    judge, people, by = scores.judge[:, 0], scores.people[:, :, 0], scores.design
    person = row_means(people)
    length_of, own = scores.length, scores.own
    counted: dict[str, Callable[[], Probe]] = {
        "leniency": lambda: leniency(judge, person, design=by),
        "central_tendency": lambda: central_tendency(judge, people, design=by),
    }
    if length_of is not None:
        counted["length"] = lambda: length(judge, person, length_of, design=by)
    if own is not None:
        counted["self_preference"] = lambda: self_preference_scores(judge, person, own, design=by)
    covariates = _usable(scores.length, None if own is None else own.astype(float), judge, person)
    asked = FitRequest(people, judge, True, covariates, tuple(covariates), by)
    units = {"leniency": POINTS, "central_tendency": "", "length": LENGTH_UNIT, "self_preference": POINTS}

    def fitted(model: FittedModel) -> Probes:
        more = {name: _covariate(model, name, units[name]) for name in covariates}
        return {"leniency": model.leniency, "central_tendency": model.central_tendency, **more}

    made, model = _fitted_or_counted(asked, counted, fitted, units)
    return made, judge - person if model is None else model.differences(len(judge))


def probe_preference(pairs: PairColumns) -> list[Probe]:
    """Position, length and self-preference of a judge of pairs."""
    judge, person, by = pairs.judge, row_means(pairs.people), pairs.design
    length_of, own = pairs.length, pairs.own
    one_order = _in_one_order(pairs)
    counted: dict[str, Callable[[], Probe]] = {}
    covariates = _usable(pairs.length, own, judge, person)
    if one_order is not None:
        known = ~np.isnan(one_order)
        first = [np.where(known, np.where(one_order > 0, column, 1 - column), np.nan) for column in (judge, person)]
        counted["position"] = lambda: position_one_order(*first, design=by)
        covariates |= _varying("position", one_order, judge, person)
    if length_of is not None:
        counted["length"] = lambda: length(judge, person, length_of, paired=True, design=by)
    if own is not None:
        counted["self_preference"] = lambda: self_preference_pairs(judge, person, own, design=by)
    of_trait = tuple(name for name in covariates if name != "position")
    units = {"length": LENGTH_UNIT, "self_preference": SHARES, "position": POSITION_UNIT}
    made: list[Probe] = []
    if one_order is None:
        made.append(position_both_orders(pairs.judge_ab, pairs.judge_ba, design=by))
    if not counted:
        return made

    def fitted(model: FittedModel) -> Probes:
        return {name: _covariate(model, name, units[name]) for name in covariates}

    asked = FitRequest(pairs.people, judge, False, covariates, of_trait, by)
    made += _fitted_or_counted(asked, counted, fitted, units)[0]
    return [_with_win_rates(one, pairs) if one.name == "length" and one.effect.defined else one for one in made]


def _fitted_or_counted(
    asked: FitRequest, counted: Probes, fitted: Callable[[FittedModel], Probes], units: Mapping[str, str]
) -> tuple[list[Probe], FittedModel | None]:
    try:
        model = fit_judge(asked)
    except NotIdentifiedError as why:
        return [not_made(name, units[name], str(why), _n_items(asked)) for name in counted], None
    except NoConvergenceError as why:
        return [_add_reason(probe(), str(why)) for probe in counted.values()], None
    by_model = fitted(model)
    return [by_model.get(name, probe)() for name, probe in counted.items()], model


def _add_reason(probe: Probe, why: str) -> Probe:
    """The counted probe; its test says why it is not the model's."""
    return replace(probe, test=f"{probe.test}, counted: {why}") if probe.effect.defined else probe


def _covariate(model: FittedModel, name: str, unit: str) -> Callable[[], Probe]:
    return lambda: model.covariate(name, unit)


def _n_items(asked: FitRequest) -> int:
    return int((~np.isnan(asked.judge) & (~np.isnan(asked.people)).any(axis=1)).sum())


def _usable(
    lengths: FloatArray | None, own: FloatArray | None, judge: FloatArray, person: FloatArray
) -> dict[str, FloatArray]:
    """The covariates that vary enough to be fitted: length in standard deviations, own kind as it is."""
    found: dict[str, FloatArray] = {}
    if lengths is not None:
        found |= _varying("length", lengths, judge, person)
    if "length" in found:
        there = ~np.isnan(judge) & ~np.isnan(person) & ~np.isnan(found["length"])
        found["length"] = found["length"] / found["length"][there].std()
    if own is not None:
        found |= _varying("self_preference", own, judge, person)
    return found


def _varying(name: str, column: FloatArray, judge: FloatArray, person: FloatArray) -> dict[str, FloatArray]:
    known = column[~np.isnan(column) & ~np.isnan(judge) & ~np.isnan(person)]
    counts = np.unique(known, return_counts=True)[1]
    return {name: column} if len(known) and counts.sum() - counts.max() >= LEAST else {}


def _in_one_order(pairs: PairColumns) -> FloatArray | None:
    """(n,) half where A was shown first, minus half where B; None where both orders tell more, or none is known."""
    both = int((~np.isnan(pairs.judge_ab) & ~np.isnan(pairs.judge_ba)).sum())
    if both >= LEAST or pairs.shown_first is None or np.isnan(pairs.shown_first).all():
        return None
    return pairs.shown_first - 0.5


def _with_win_rates(probe: Probe, pairs: PairColumns) -> Probe:
    lengths = np.full(len(pairs.judge), np.nan) if pairs.length is None else pairs.length
    return replace(probe, details=win_rates(pairs.judge, lengths, design=pairs.design))


def leniency(judge: npt.ArrayLike, person: npt.ArrayLike, *, design: SamplingDesign = SIMPLE) -> Probe:
    """Mean of judge − person in units of the scale; above 0 the judge is kinder.

    ``judge`` and ``person`` are (n,) scores, NaN where missing.
    """
    d = np.asarray(judge, dtype=float) - np.asarray(person, dtype=float)
    return mean_probe("leniency", d, unit="units of the scale", design=design, why_few="items with both scores")
