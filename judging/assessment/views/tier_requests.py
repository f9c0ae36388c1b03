"""What the address of the page *Tiers* asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext_noop

from annotation.agreement.services.difficulty import parse_model_cuts
from annotation.agreement.services.tiers import TierOptions, parse_chance, parse_cuts
from annotation.stats.bands import TIERS, Cuts
from annotation.stats.difficulty.items import AGREEMENT_CUTS
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries import items
from core.errors import InputError
from judging.assessment.services.items import ItemFilter, find_criterion

CUTS = "0.4,0.6,0.8"
COUNTED = "counted"
"""The mode that counts each item's own ratings; the other one is the difficulty model."""

UNCLEAR, ALL = gettext_noop("unclear"), gettext_noop("all")
SHOWN = (UNCLEAR, ALL, *reversed(TIERS))
"""Items that the page lists: those without a clear tier, all, or those of one likeliest tier."""


@dataclass(frozen=True)
class TierRequest:
    """What the address asks for.

    Attributes
    ----------
    criterion
        None where the study has none.
    cuts
        Of the counted tiers, as they were typed.
    by
        A grouping, or empty.
    options
        How counted tiers are made.
    agreeing
        Cuts of the difficulty model.
    mode
        Counted, or empty.
    shown
        Which items are listed by the model.
    """

    criterion: Criterion | None
    cuts: str
    by: str
    options: TierOptions
    agreeing: Cuts = AGREEMENT_CUTS
    mode: str = ""
    shown: str = UNCLEAR

    @classmethod
    def from_query(cls, study: Study, query: Mapping[str, str]) -> TierRequest:
        """Raises InputError where the query makes no sense."""
        cuts, chance = query.get("cuts") or CUTS, query.get("chance") or "uniform"
        options = TierOptions(parse_cuts(cuts), parse_chance(chance))
        text, by, shown = query.get("agreement_cuts", ""), query.get("by", ""), query.get("items") or UNCLEAR
        if by and by not in items.GROUPINGS:
            raise InputError(
                "items cannot be grouped by {by!r}; choose one of {groupings}",
                field="by",
                by=by,
                groupings=", ".join(items.GROUPINGS),
            )
        if shown not in SHOWN:
            raise InputError("{shown!r} is not one of {known}", field="items", shown=shown, known=", ".join(SHOWN))
        agreeing = parse_model_cuts(text) if text else AGREEMENT_CUTS
        mode = COUNTED if query.get("mode") == COUNTED else ""
        return cls(find_criterion(study, query.get("criterion", "")), cuts, by, options, agreeing, mode, shown)

    def to_query(self) -> str:
        """For an address."""
        given = {
            "criterion": self.criterion.key if self.criterion else "",
            "cuts": "" if self.cuts == CUTS else self.cuts,
            "by": self.by,
            "agreement_cuts": self.agreeing_text,
            "mode": self.mode,
            "items": "" if self.shown == UNCLEAR else self.shown,
            "chance": "" if self.options.chance == "uniform" else self.options.chance,
        }
        return urlencode({key: value for key, value in given.items() if value})

    @property
    def agreeing_text(self) -> str:
        """Cuts of the model as they are typed; empty for the usual ones."""
        return "" if self.agreeing == AGREEMENT_CUTS else format_cuts(self.agreeing)

    def set_mode(self, mode: str) -> str:
        """The same in another mode, as an address."""
        return f"?{replace(self, mode=mode).to_query()}"

    def set_cuts(self, cuts: Sequence[float] | None) -> str:
        """The same with other counted cuts, as an address; empty for none."""
        return "" if cuts is None else f"?{replace(self, cuts=format_cuts(cuts)).to_query()}"

    def set_agreeing(self, cuts: Cuts) -> str:
        """The same with other cuts of the model, as an address."""
        return f"?{replace(self, agreeing=cuts).to_query()}"

    def set_shown(self, shown: str) -> str:
        """The same with other items listed, as an address."""
        return f"?{replace(self, shown=shown).to_query()}#items"

    def items_address(self, study: Study, tier: str) -> str:
        """Where the items of a counted tier are listed."""
        wanted = ItemFilter(
            criterion=self.criterion.key if self.criterion else "",
            tier=tier,
            cuts=self.cuts,
            chance=self.options.chance,
        )
        return f"{reverse('item_list', args=[study.slug])}?{urlencode(wanted.to_query())}"


def format_cuts(cuts: Sequence[float]) -> str:
    """As they are typed."""
    return ",".join(f"{cut:g}" for cut in cuts)
