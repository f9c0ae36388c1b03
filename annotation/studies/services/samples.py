"""Samples: one seeded draw from the corpus into the items of a study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from django.db import transaction
from django.db.models import Max

from annotation.stats.queueing import draw_balanced_order
from annotation.stats.sampling import Allocation, DrawnItem, draw_stratified_sample, simple_sample
from annotation.studies.models.studies import Criterion, Item, Sample, Study
from annotation.studies.options import NewSample
from annotation.studies.queries.items import NONE
from annotation.studies.queries.sampling_frame import Eligible, Filters, Scores, eligible, to_values
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.hashing import content_hash
from core.options.model import check_options

BATCH = 2000
POSITION_STREAM = 2  # tells the draw of positions from other draws with the same seed


@check_options(NewSample, but=("filters", "predicted_from", "predicted_criterion"))
@audited("sample.draw", says=("method", "size", "strata", "filters", "seed", "allocation", "predicted_from"))
def draw(
    *,
    by: User | None,
    study: Study,
    method: str | None = None,
    size: int | None = None,
    strata: Sequence[str] = (),
    filters: Filters | None = None,
    seed: int = 0,
    allocation: Allocation = "proportional",
    scores: Scores | None = None,
    predicted_from: Criterion | None = None,  # noqa: ARG001 - on record
    tiers: Mapping[int, str] | None = None,
) -> Sample:
    """Draw items into a draft, each with its stratum and the chance that it had: n_h / N_h, times that with which it
    came into the corpus.

    Eligible is what matches `filters` (field -> value or values) and is not in the study yet. The same material,
    filters and seed give the same items in any database. Without `method` it is stratified where strata are named,
    simple with a size, else all. `scores` (id of a dialogue or pair -> a judge's score) are needed for the stratum
    `judge_score` only; `tiers` (the same ids -> a tier) for the stratum `predicted_tier` only, with the criterion of a
    rated study that they are predicted from.
    """
    assert method is not None  # NewSample says which where none is named
    check(study, method, size, strata)
    filters = {field: to_values(given) for field, given in (filters or {}).items() if given}
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk)
        frame = eligible(locked, strata=strata, filters=filters, scores=scores, tiers=tiers)
        if not frame:
            raise InputError("Nothing in the corpus matches that is not in the study yet.", field="filters")
        check_strata(frame, strata)
        drawn = draw_from(frame, method, size, seed, allocation)
        sample = Sample.objects.create(
            study=study,
            method=method,
            strata=list(strata),
            filters=filters,
            frame_size=len(frame),
            size=len(drawn),
            seed=seed,
            input_hash=content_hash([one.key if tiers is None else (*one.key, one.stratum) for one in frame]),
            created_by=by,
        )
        Item.objects.bulk_create(items(sample, frame, drawn), batch_size=BATCH)
    return sample


def check(study: Study, method: str, size: int | None, strata: Sequence[str]) -> None:
    if study.state != Study.State.DRAFT:
        raise InputError(
            "{study} is {state}: items can be drawn into a draft only.", field="study", study=study, state=study.state
        )
    if method != "all" and size is None:
        raise InputError("Say how many items to draw.", field="size")
    if method == "stratified" and not strata:
        raise InputError("Say what to stratify by.", field="strata")
    if method != "stratified" and strata:
        raise InputError("Strata have no meaning with the method {method!r}.", field="strata", method=method)


def check_strata(frame: Sequence[Eligible], strata: Sequence[str]) -> None:
    """Refuse strata of which no item has a value: the draw would be a simple one under another name."""
    if strata and {part for one in frame for part in one.stratum.split(" / ")} == {NONE}:
        raise InputError("No eligible item has a value of {strata}.", field="strata", strata=" or ".join(strata))


def draw_from(
    frame: Sequence[Eligible], method: str, size: int | None, seed: int, allocation: Allocation
) -> list[DrawnItem[tuple[str, str]]]:
    """The draw by the keys of the material, which are the same in every database."""
    keys = [one.key for one in frame]
    wanted = len(frame) if method == "all" or size is None else size
    check_size(wanted, len(frame))
    if method == "stratified":
        return list(draw_stratified_sample(keys, [one.stratum for one in frame], wanted, seed, allocation).drawn)
    return list(simple_sample(keys, wanted, seed).drawn)


def check_size(wanted: int, n_frame: int) -> None:
    """Refuse a draw of none, or of more than is eligible."""
    if not 1 <= wanted <= n_frame:
        raise InputError(
            "Cannot draw {wanted} of {n_frame} eligible items.", field="size", wanted=wanted, n_frame=n_frame
        )


def items(sample: Sample, frame: Iterable[Eligible], drawn: Sequence[DrawnItem[tuple[str, str]]]) -> Iterable[Item]:
    """The drawn material as items, after those that are there already, in an order drawn with the study's seed.

    Domains are mixed evenly (`stats.queueing.balanced_order`): what is rated first looks like the whole.
    """
    material = {one.key: one for one in frame}
    study, last = sample.study, sample.study.items.aggregate(last=Max("position"))["last"] or 0
    rng = np.random.default_rng([study.seed, POSITION_STREAM, last])
    order = draw_balanced_order([material[one.id].domain for one in drawn], rng)
    for position, index in enumerate(order, start=last + 1):
        one = drawn[index]
        found = material[one.id]
        yield Item(
            study=study,
            sample=sample,
            position=position,
            stratum=found.stratum,
            inclusion_probability=one.probability * found.probability,
            content_hash=found.content_hash,
            **{f"{study.kind}_id": found.id},
        )
