"""What the difficulty model says of each item, to be put beside its labels in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.agreement.services import stored_difficulty
from annotation.stats.bands import TIERS
from annotation.stats.difficulty.items import Difficulty
from annotation.studies.models.studies import Study
from annotation.studies.queries import ratings
from annotation.studies.queries.labels import LabelRow
from annotation.studies.queries.units import unit
from core.errors import NotComputedError


@dataclass(frozen=True, eq=False)
class ItemTiers:
    """By criterion key, the fitted model, and where each item, or turn of one, stands in it.

    Criteria that the model could not be fitted to are not among them.
    """

    fits: Mapping[str, tuple[Difficulty, Mapping[str, int]]]

    @classmethod
    def read(cls, study: Study, *, patient: bool) -> ItemTiers:
        """Of all criteria. Raises NotComputedError where somebody is not patient and a worker has yet to fit one."""
        rated = [one for one in ratings.load_study(study) if one.table.n_ratings]
        fits = stored_difficulty.load_or_fit_all(rated, patient=patient)
        if any(fit.is_left for fit in fits):
            raise NotComputedError(
                "{left}: ask for it on the page Tiers.", field="tiers", left=stored_difficulty.LEFT.capitalize()
            )
        return cls(
            {
                one.criterion.key: (fit.found, {name: row for row, name in enumerate(one.table.items)})
                for one, fit in zip(rated, fits, strict=True)
                if fit.found is not None
            }
        )

    def add_tier(self, label: LabelRow) -> LabelRow:
        """The label with the tier that its item has on its criterion; as it was where it has none."""
        found, rows = self.fits.get(label.criterion, (None, {}))
        row = rows.get(unit(label.position, label.turn or 0))
        if found is None or row is None or not found.fitted[row]:
            return label
        contested, hard, medium, easy = found.tiers[row].tolist()
        best = TIERS[int(found.tiers[row].argmax())]
        return label._replace(
            model_tier=best, difficulty=float(found.value[row]),
            p_easy=easy, p_medium=medium, p_hard=hard, p_contested=contested,
        )  # fmt: skip
