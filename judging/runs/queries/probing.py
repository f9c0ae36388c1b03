"""What a probe run asks about: an item as it is, twice, and altered copies of it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.stats.table import NO_SCORES
from annotation.studies.models.studies import Item
from annotation.studies.queries.units import unit
from judging.judges.prompts.alterations import ALTERATIONS, INJECTION, LENGTH, ORIGINAL, Aim, Alteration, alter
from judging.judges.providers.requests import Content, CriterionSpec
from judging.runs.models.runs import JudgeRun

ORIGINALS = 2
"""How often the item is asked about as it is."""

YES = ("yes", "true")

AIMED = (INJECTION, LENGTH)
"""Families of alterations that ask for a value, or work towards one."""


@dataclass(frozen=True)
class ProbeSettings:
    """How a probe run alters items.

    Attributes
    ----------
    alterations
        In the order in which they are asked about.
    seed
        Of what is drawn by lot.
    favoured
        By item, the response ("1" or "2") in whose favour a pair is altered.
    """

    alterations: tuple[Alteration, ...]
    seed: int
    favoured: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def from_run(cls, run: JudgeRun) -> ProbeSettings | None:
        """As the run alters; None for a run that alters nothing."""
        if run.kind != JudgeRun.Kind.PROBE:
            return None
        return cls.from_stored(run.probe, run.seed)

    @classmethod
    def from_stored(cls, kept: Mapping[str, Any], seed: int) -> ProbeSettings:
        """From what a run keeps. An alteration that is no longer known is left out."""
        there = tuple(ALTERATIONS[name] for name in kept["alterations"] if name in ALTERATIONS)
        return cls(there, seed, {int(pk): response for pk, response in kept["favoured"].items()})

    def to_json(self) -> dict[str, object]:
        """What a run keeps: the alterations with their versions, and the favoured responses."""
        return {
            "alterations": {one.name: one.version for one in self.alterations},
            "favoured": {str(pk): response for pk, response in self.favoured.items()},
        }

    @property
    def copies(self) -> Sequence[tuple[str, int]]:
        """Names of the copies of an item, with how often each is asked about."""
        return [(ORIGINAL, ORIGINALS), *((one.name, 1) for one in self.alterations)]

    def content(
        self, name: str, content: Content, item: Item, criterion: CriterionSpec, order: str, turn: int = 0
    ) -> Content | None:
        """The copy of this name, of the item or of its `turn` or response; None where nothing in it changes."""
        if name == ORIGINAL:
            return content
        one = ALTERATIONS[name]
        favoured = self.favoured.get(item.pk, "")
        if one.family in AIMED and choose_target(criterion.level, criterion.values, favoured) is None:
            return None
        place = unit(item.position, turn)
        lot = random.Random(f"{one.name}/{one.version}/{self.seed}/{place}")  # noqa: S311 — a lot, no secret
        return alter(content, one, self.aim(item, criterion, order), lot)

    def aim(self, item: Item, criterion: CriterionSpec, order: str) -> Aim:
        """What is favoured, as it is shown."""
        favoured = self.favoured.get(item.pk, "")
        side = {"1": "A", "2": "B"} if order != "BA" else {"1": "B", "2": "A"}
        value = choose_target(criterion.level, criterion.values, favoured) or ""
        return Aim(side=side.get(favoured, ""), value=value, names=list_names(item))


def choose_target(level: str, values: Sequence[str], favoured: str = "") -> str | None:
    """The value that an alteration is to bring about; None where there is none on the criterion.

    Of a preference, the favoured response; else the highest of a scale with an order, or the yes of one without.
    """
    if favoured:
        return favoured if level == "nominal" and {"1", "2"} <= set(values) else None
    if level in NO_SCORES and level != "nominal":
        return None
    if level == "nominal":
        return next((value for value in values if value.lower() in YES), None)
    return values[-1] if values else None


def list_names(item: Item) -> tuple[str, ...]:
    """What the item's user is called, as far as the corpus knows."""
    if item.pair is not None:
        profile = item.pair.profile
    else:
        scenario = item.dialogue.scenario if item.dialogue else None
        profile = scenario.profile if scenario else None
    return (profile.name,) if profile and profile.name else ()


def list_changed(run: JudgeRun) -> list[str]:
    """The run's alterations that read otherwise today, or are gone: a run does not mix two versions of one."""
    kept = run.probe.get("alterations", {})
    return [name for name, was in kept.items() if name not in ALTERATIONS or ALTERATIONS[name].version != was]
