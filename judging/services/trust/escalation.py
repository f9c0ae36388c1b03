"""Escalation: what a judge cannot be relied upon for becomes a study of its own, and what people say there comes back.

Labels from there are of the doubtful items alone. They say what the judge was worth on those, and they take its place
there; mixed with the labels of a sample they would make the judge look worse than it is, so they are kept apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import transaction

from annotation.errors import InputError
from annotation.hashing import content_hash
from annotation.models import Criterion, Item, Sample, Study, User
from annotation.services import studies
from annotation.stats.estimate import number_or_none
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray
from judging.models import Escalation, Judge
from judging.queries.evidence import JudgeEvidence, StudyEvidence
from judging.services.trust.trusting import Trusted
from judging.stats.asymptotic import share
from judging.stats.evidence import Evidence, scored

BATCH = 2000
Document = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Left:
    """Which items are left to people at one target.

    Attributes
    ----------
    thresholds
        By criterion key, the least confidence that is kept; None where nothing is guaranteed.
    of_criterion
        By criterion key, (n,) items without a label whose verdict is not kept.
    """

    thresholds: Mapping[str, float | None]
    of_criterion: Mapping[str, BoolArray]

    @property
    def items(self) -> BoolArray:
        """(n,) items left on any criterion."""
        return np.asarray(np.any(list(self.of_criterion.values()), axis=0))


def left(found: Trusted, target: float) -> Left:
    """What selective judging at this target leaves. Raises InputError where it was not computed for the target."""
    thresholds, of_criterion = {}, {}
    for key, evidence in found.evidence.evidence.items():
        chosen = _selection(found.calibration.result["criteria"][key]["selective"], target)
        threshold = chosen["threshold"] if chosen["guaranteed"] else None
        thresholds[key] = threshold
        of_criterion[key] = evidence.usable & ~evidence.labelled & ~kept(evidence, threshold)
    return Left(thresholds, of_criterion)


def kept(evidence: Evidence, threshold: float | None) -> BoolArray:
    """(n,) verdicts that are sure enough; without a confidence all verdicts are equally sure."""
    given = evidence.said.codes != MISSING
    if threshold is None:
        return np.zeros_like(given)
    sure = evidence.said.confidence if evidence.said.confidence_from else np.where(given, 1.0, np.nan)
    return np.asarray(given & (sure >= threshold))


def _selection(selective: list[Document], target: float) -> Document:
    for one in selective:
        if np.isclose(one["target_agreement"], target):
            return one
    known = ", ".join(f"{one['target_agreement']:g}" for one in selective)
    raise InputError(f"{target:g} is none of the agreements that were tried: {known}", field="target")


def escalate(*, by: User | None, found: Trusted, name: str, target: float = 0.9, overlap: int = 3) -> Escalation:
    """A draft of the items that are left to people, with the same criteria. Raises InputError where none are left."""
    chosen = left(found, target)
    if not chosen.items.any():
        raise InputError("nothing is left to people: every verdict is kept or has a label", field="target")
    studies.check_numbers(overlap, found.study.seed)
    with transaction.atomic():
        made = _study(by, found.study, name, overlap)
        names = found.evidence.material.names
        positions = [int(name) for name, is_left in zip(names, chosen.items, strict=True) if is_left]
        _items(by, found.study, made, positions)
        return Escalation.objects.create(
            study=found.study,
            judge=found.judge,
            calibration=found.calibration,
            target=made,
            target_agreement=target,
            thresholds=dict(chosen.thresholds),
            created_by=by,
        )


def _study(by: User | None, source: Study, name: str, overlap: int) -> Study:
    """A draft that asks the same of its people."""
    made = Study(
        name=studies.checked_name(name),
        slug=studies.free_slug(name),
        kind=source.kind,
        overlap=overlap,
        shown=source.shown,
        asks_strength=source.asks_strength,
        instructions=source.instructions,
        description=f"What a judge left to people in {source.name}.",
        seed=source.seed,
        created_by=by,
    )
    studies.save_new(made)
    fields = ("key", "name", "question", "guideline", "level", "categories", "position", "guideline_version")
    Criterion.objects.bulk_create(
        Criterion(study=made, **{field: getattr(criterion, field) for field in fields})
        for criterion in source.criteria.all()
    )
    return made


def _items(by: User | None, source: Study, made: Study, positions: Sequence[int]) -> None:
    """The chosen items in an order of their own, so that nobody can tell by it how doubtful they are."""
    there = list(source.items.filter(position__in=positions).order_by("position"))
    sample = Sample.objects.create(
        study=made,
        method="all",
        filters={"left_to_people_in": [source.slug]},
        frame_size=len(there),
        size=len(there),
        seed=made.seed,
        input_hash=content_hash([item.content_hash for item in there]),
        created_by=by,
    )
    order = np.random.default_rng([made.seed, made.pk]).permutation(len(there))
    Item.objects.bulk_create(
        (
            Item(
                study=made,
                sample=sample,
                dialogue_id=there[index].dialogue_id,
                pair_id=there[index].pair_id,
                position=position,
                stratum=there[index].stratum,
                inclusion_probability=1.0,
                content_hash=there[index].content_hash,
            )
            for position, index in enumerate(order, start=1)
        ),
        batch_size=BATCH,
    )


def newest(study: Study, judge: Judge) -> Escalation | None:
    """The newest escalation of the judge on the study."""
    return (
        Escalation.objects.filter(study=study, judge=judge)
        .select_related("target")
        .order_by("-created_at", "-pk")
        .first()
    )


def came_back(escalation: Escalation, evidence: JudgeEvidence) -> Document:
    """What people have said so far of what was left to them, by criterion; of the items in this part of the study."""
    target = StudyEvidence.read(escalation.target)
    rows = _rows(escalation, evidence)
    there = rows >= 0
    people = {criterion.key: target.people[criterion.pk] for criterion in target.criteria}
    return {
        "study": escalation.target.name,
        "target_agreement": escalation.target_agreement,
        "items": int(there.sum()),
        "criteria": {
            key: _of_criterion(
                one,
                escalation.thresholds.get(key),
                people[key].consensus[there],
                people[key].mean[there],
                rows[there],
            )
            for key, one in evidence.evidence.items()
            if key in people
        },
    }


def _rows(escalation: Escalation, evidence: JudgeEvidence) -> IntArray:
    """(m,) for each item of the new study its row among those of the old one; -1 where it is in another part."""
    column = f"{escalation.study.kind}_id"
    row = {int(name): k for k, name in enumerate(evidence.material.names)}
    position = dict(escalation.study.items.values_list(column, "position"))
    theirs = escalation.target.items.order_by("position").values_list(column, flat=True)
    return np.array([row.get(position[pk], -1) for pk in theirs], dtype=np.int64)


def _of_criterion(
    evidence: Evidence, threshold: float | None, consensus: IntArray, mean: FloatArray, rows: IntArray
) -> Document:
    judged = evidence.said.codes[rows]
    both = (consensus != MISSING) & (judged != MISSING)
    confirmed = share(
        int((consensus == judged)[both].sum()), int(both.sum()), reason="people have not decided any of them yet"
    )
    return {
        "labelled": int((~np.isnan(mean)).sum()),
        "confirmed": confirmed.as_json(),
        "combined": number_or_none(_combined(evidence, threshold, consensus, mean, rows)),
    }


def _combined(
    evidence: Evidence, threshold: float | None, consensus: IntArray, mean: FloatArray, rows: IntArray
) -> float:
    """Mean over all items: people's label where there is one, else the judge's where its verdict is kept.

    NaN on a scale without a mean, and while any item has neither.
    """
    if evidence.people.counted and evidence.table.n_categories > 2:
        return float("nan")
    column, _ = evidence.scores()
    here = scored(consensus, evidence.numbers) if evidence.people.counted else mean
    column[rows] = np.where(np.isnan(here), column[rows], here)
    verdicts = np.where(kept(evidence, threshold), scored(evidence.said.codes, evidence.numbers), np.nan)
    whole = np.where(np.isnan(column), verdicts, column)[evidence.usable]
    weights = np.ones(len(whole)) if evidence.material.weights is None else evidence.material.weights[evidence.usable]
    return float((weights * whole).sum() / weights.sum()) if len(whole) else float("nan")
