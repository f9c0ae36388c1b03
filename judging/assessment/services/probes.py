"""Probe runs: some items of a study as they are, and altered copies of them, before one judge.

Where criteria are asked of turns or responses, each of them is altered and asked about, of the items that are drawn.

The runs go through the ordinary machinery of judge runs; only what is asked is another. Agreement, calibration and
exports leave them out, audits alone read them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.utils.translation import gettext as _

from annotation.stats.table import MISSING
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.hashing import content_hash
from judging.assessment.options import ProbeOptions
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.queries.ratings import find_unit
from judging.judges.models import Judge
from judging.judges.prompts.alterations import choose_alterations
from judging.judges.services import judges
from judging.runs.models.runs import JudgeRun
from judging.runs.queries.probing import ProbeSettings
from judging.runs.queries.requests import Frame, build_requests
from judging.runs.services import runs
from judging.runs.services.run_criteria import choose_criteria
from judging.runs.services.runs import Plan


def find_judge(study: Study, name: str) -> Judge:
    """The judge called so that has judged the study, its newest version there; else the newest of its project."""
    there = StudyData.load(study)
    return (
        there.judge(name)
        if any(name in (str(one), one.name) for one in there.judges())
        else judges.find(name, project=study.project)
    )


def plan(*, study: Study, judge: Judge, options: ProbeOptions) -> Plan:
    """Check what is asked for, draw the items, and count what can be altered in them; no row is written.

    Raises InputError where the judge cannot be asked, an alteration is unknown, or none changes anything.
    """
    whole = runs.plan(
        study=study,
        judge=judge,
        criteria=options.criteria,
        unit=choose_unit(study, options.criteria),
        seed=options.seed,
        budget_usd=options.budget_usd,
        use_cache=options.use_cache,
        in_bulk=options.in_bulk,
    )
    try:
        alterations = choose_alterations(options.alterations, study.kind)
    except ValueError as error:
        raise InputError("{error}.", field="alterations", error=error) from error
    items = draw_items(whole.item_ids, options.n, options.seed)
    favoured = choose_favoured(study, items, options.seed) if whole.unit == JudgeRun.Unit.ITEM else {}
    probing = ProbeSettings(alterations, options.seed, favoured)
    frame = Frame(judge, study.shown, whole.criteria, 1, whole.order_policy, options.seed, whole.unit, probing)
    requests = build_requests(frame, items, with_prompt=False)
    counts = Counter(one.item_id for one in requests)
    changed = Counter(name for name, *_ in {(one.alteration, one.item_id, one.turn) for one in requests})
    n_units = sum(whole.units[pk] for pk in items)
    if not any(changed[one.name] for one in alterations):
        raise InputError("Nothing in these items can be altered so.", field="alterations")
    left_out = {one.name: n_units - changed[one.name] for one in alterations if changed[one.name] < n_units}
    kept = {**probing.to_json(), "n_items": n_units, "left_out": left_out}
    return replace(
        whole,
        units={pk: counts[pk] for pk in items},
        probe=kept,
        input_hash=content_hash([whole.input_hash, items, kept]),
    )


def choose_unit(study: Study, keys: Sequence[str] | None) -> str:
    """What is altered: that which the criteria are asked of, whole items where none is named and some are of these.

    InputError where those that are named are asked of both.
    """
    chosen = choose_criteria(study, keys)
    units = {find_unit(one): one.name for one in chosen}
    if len(units) > 1 and keys is not None:
        each = _("{name} of {unit}")
        of = _(" and ").join(each.format(name=name, unit=JudgeRun.Unit(unit).label) for unit, name in units.items())
        raise InputError("{of}: probe each in a run of its own.", field="criteria", of=of)
    return JudgeRun.Unit.ITEM if JudgeRun.Unit.ITEM in units else next(iter(units))


@audited("probe.start", says=("judge", "options"), prepares=True)
def start(*, by: User | None, study: Study, judge: Judge, options: ProbeOptions) -> JudgeRun:
    """Make a probe run and send its parts to the workers."""
    return runs.make(by=by, plan=plan(study=study, judge=judge, options=options), queue=True)


def draw_items(item_ids: Sequence[int], n: int, seed: int) -> list[int]:
    """Items of the sample, in the study's order; all of them where there are no more."""
    if n >= len(item_ids):
        return list(item_ids)
    places = random.Random(f"probe/{seed}").sample(range(len(item_ids)), n)  # noqa: S311 — a lot, no secret
    return [item_ids[place] for place in sorted(places)]


def choose_favoured(study: Study, items: Sequence[int], seed: int) -> dict[int, str]:
    """By item of a study of pairs, the response that altered copies favour: the one that people find worse.

    Where people's labels are not known or may not be looked at, a lot decides.
    """
    if study.kind != Study.Kind.PAIR:
        return {}
    worse, position = _worse(study), dict(study.items.values_list("pk", "position"))
    lot = random.Random(f"favoured/{seed}")  # noqa: S311 — a lot, no secret
    by_lot = {pk: lot.choice(("1", "2")) for pk in items}
    return {pk: worse.get(str(position[pk]), by_lot[pk]) for pk in items}


def _worse(study: Study) -> Mapping[str, str]:
    """By item position, the response that people do not prefer, on the first criterion that asks for a preference."""
    evidence = StudyData.load(study)
    for criterion in evidence.criteria:
        codes = evidence.people[criterion.pk].consensus
        values = criterion.values
        if criterion.is_preference:
            other = {"1": "2", "2": "1"}
            said = zip(evidence.material.names, codes, strict=True)
            known = {name: values[code] for name, code in said if code != MISSING}
            return {name: other[value] for name, value in known.items() if value in other}
    return {}
