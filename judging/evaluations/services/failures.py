"""Wrong answers, and what people see in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from django.db import IntegrityError, transaction

from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.options.model import check_options
from judging.evaluations.options import TAGS, Tagging
from judging.evaluations.queries import evaluations as queries
from judging.runs.models.evaluations import Evaluation, FailureTag
from judging.runs.models.runs import Judgment
from judging.stats.means import compute_means


@check_options(Tagging)
@audited("answer.tag", on="judgment", says=("evaluation", "tags"))
def tag(*, by: User, evaluation: Evaluation, judgment: Judgment, tags: Iterable[str], note: str = "") -> None:
    """Set what this person sees in a wrong answer, in place of what they said before. Others' tags stay."""
    wanted = list(dict.fromkeys(tags))
    if not queries.wrong(evaluation).filter(pk=judgment.pk).exists():
        raise InputError("This answer is not a wrong one of this evaluation.", field="judgment")
    try:
        with transaction.atomic():
            mine = FailureTag.objects.filter(judgment=judgment, tagged_by=by)
            mine.exclude(tag__in=wanted).delete()
            mine.update(note=note)
            there = set(mine.values_list("tag", flat=True))
            FailureTag.objects.bulk_create(
                FailureTag(judgment=judgment, tag=one, tagged_by=by, note=note) for one in wanted if one not in there
            )
    except IntegrityError as error:
        raise InputError("You tagged this answer twice at once: try again.", field="tags") from error


def counts(evaluation: Evaluation, *, bootstrap: int = 2000, seed: int = 0) -> list[dict[str, object]]:
    """Count by model the wrong answers and how many are tagged and by whom, with the share of each tag.

    Shares are of tagged answers, an answer counted once however many people gave it the tag; intervals over personas.
    """
    rows = list(
        FailureTag.objects.filter(judgment__in=queries.wrong(evaluation).values("pk"))
        .order_by("pk")
        .values_list(
            "judgment__run__judge__name",
            "judgment__run__judge__version",
            "judgment",
            "judgment__item__pair__profile",
            "judgment__item",
            "tag",
            "tagged_by__username",
        )
    )
    found = []
    for judge in sorted({row[:2] for row in rows}):
        mine = [row for row in rows if row[:2] == judge]
        name = judge[0] if judge[1] == 1 else f"{judge[0]} v{judge[1]}"
        found.append({"judge": name, **shares(mine, bootstrap=bootstrap, seed=seed)})
    return found


def shares(
    rows: Sequence[tuple[str, int, int, int | None, int, str, str]], *, bootstrap: int, seed: int
) -> dict[str, object]:
    """Compute of one model's tags: n tagged answers, who tagged, and the share of each tag."""
    tags: dict[int, set[str]] = {}
    for row in rows:
        tags.setdefault(row[2], set()).add(row[5])
    persona = {row[2]: f"profile {row[3]}" if row[3] else f"item {row[4]}" for row in rows}
    names = list(TAGS)
    values = np.array([[float(name in given) for name in names] for given in tags.values()])
    estimates = compute_means(
        values.T,
        items=[str(pk) for pk in tags],
        clusters=[persona[pk] for pk in tags],
        bootstrap=bootstrap,
        seed=seed,
        scale="share",
    )
    return {
        "n_tagged": len(tags),
        "tagged_by": sorted({row[6] for row in rows}),
        "tags": {
            name: {**estimate.to_json(), "n": int(column.sum())}
            for name, estimate, column in zip(names, estimates, values.T, strict=True)
        },
    }
