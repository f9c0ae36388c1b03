"""How the items of a study depend on each other, read once for every figure: clusters, strata and weights.

Items of one user share what that user is; pairs without a user share their question. A study may name another
clustering: a grouping of its items, or a key that their source brought along. Weights are one over the probability
with which the draw took the item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db.models import Case, F, QuerySet, TextField, Value, When
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _, ngettext

from annotation.stats.dependence import ALONE, Design, can_keep_strata, drop_useless, fill_gaps, find_bad_weight
from annotation.stats.table import FloatArray, RatingTable
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.queries import items
from annotation.studies.queries.items import to_column_label
from core.errors import InputError

AUTOMATIC, NONE = "", "none"
"""The clustering of a study that names no other, and that of items which stand alone on purpose."""

PROFILE_OF_PAIR = ("pair__profile__source", "pair__profile__external_id")
CLUSTER_OF_PAIR = (*PROFILE_OF_PAIR, "pair__question", "pair__context")
CLUSTER_OF_DIALOGUE = (
    "dialogue__scenario__profile__source",
    "dialogue__scenario__profile__external_id",
    "dialogue__source",
    "dialogue__external_id",
)
"""What a cluster is named by: what an item keeps wherever its study is restored. Numbers of rows it does not keep."""

LONGEST = 60
PROBABILITY = "1 / inclusion probability"
NAMED = ("profile", "question", *(name for name in items.GROUPINGS if name != "profile"))
"""Clusterings besides these are keys among what the source brought along."""

ItemRow = tuple[int, float, str, *tuple[Any, ...]]
"""Position, probability and stratum of an item, and what its cluster is made of."""


@dataclass(frozen=True)
class Dependence:
    """Clusters, strata and weights of a study's items, each by position; None for what plays no part."""

    design: Design
    clusters: Mapping[int, str] | None
    strata: Mapping[int, str] | None
    weights: Mapping[int, float] | None

    def clusters_at(self, positions: Sequence[int]) -> tuple[str, ...]:
        """The cluster of each of these items; its own where all stand alone."""
        clusters = self.clusters
        return tuple(f"{ALONE}{position}" if clusters is None else clusters[position] for position in positions)

    def strata_at(self, positions: Sequence[int]) -> tuple[str, ...] | None:
        """The stratum of each of these items; None without any."""
        return None if self.strata is None else tuple(self.strata[position] for position in positions)

    def apply(self, table: RatingTable, positions: Sequence[int]) -> RatingTable:
        """The table with these; what its rows already share (turns of one dialogue, responses of one item) stays where
        nothing is named."""
        if not table.n_items:
            return table
        clusters = table.clusters if self.clusters is None else self.clusters_at(positions)
        strata = table.strata if self.strata is None else self.strata_at(positions)
        weights = table.weights if self.weights is None else np.array([self.weights[place] for place in positions])
        return drop_useless(replace(table, clusters=clusters, strata=strata, weights=weights))

    @property
    def in_words(self) -> str:
        """What is independent of each other: 20 clusters by profile, or each item."""
        n = 0 if self.clusters is None else len(set(self.clusters.values()))
        if not n:
            return _("each item alone")
        return ngettext("{n:,} cluster by {by}", "{n:,} clusters by {by}", n).format(n=n, by=self.design.by)

    def design_of(self, unit: str) -> Design:
        """The design of what a criterion is asked of (`Criterion.unit`): turns of one dialogue and responses of one
        item stay together although no clustering is named."""
        if unit == Criterion.Unit.ITEM:
            return self.design
        part, whole = ("response", "item") if unit == Criterion.Unit.RESPONSE else ("turn", "dialogue")
        return replace(self.design, part=part, by=self.design.by if self.clusters is not None else whole)


def read_dependence(
    study: Study, *, cluster: str = "", strata: str = "", among: QuerySet[Item] | None = None
) -> Dependence:
    """What the study knows, or the clustering and strata that are named instead; of some items. One query, or two.

    Strata that nobody names are those of a stratified draw, kept only where they can be (`can_keep_strata`). Raises
    InputError on an unknown clustering or stratification.
    """
    named = cluster or study.clustering
    rows = read_rows(study, named, study.items.all() if among is None else among)
    positions = [row[0] for row in rows]
    clusters, design = cluster_rows(study, named, rows)
    within = items.strata(study, strata) if strata else build_strata(rows, clusters)
    inclusion = np.array([row[1] for row in rows])
    weights = weigh(inclusion)
    if weights is not None and (bad := find_bad_weight(weights)) is not None:
        raise InputError(
            "item {positions} of {study} was drawn with the probability {inclusion:g}: too small to weigh by",
            positions=positions[bad],
            study=study,
            inclusion=inclusion[bad],
        )
    return Dependence(
        replace(
            design,
            within=strata.replace("_", " ") or ("stratum of the draw" if within else ""),
            weighted=PROBABILITY if weights is not None else "",
        ),
        None if clusters is None else dict(zip(positions, clusters, strict=True)),
        within,
        None if weights is None else dict(zip(positions, weights.tolist(), strict=True)),
    )


def weigh(inclusion: FloatArray) -> FloatArray | None:
    """One over the inclusion probabilities; None where all are equal, so that weights change nothing."""
    equal = not inclusion.size or np.ptp(inclusion) == 0
    with np.errstate(over="ignore"):
        return None if equal else np.asarray(1 / inclusion)


def read_rows(study: Study, named: str, among: QuerySet[Item]) -> list[ItemRow]:
    """Return what says which items are dependent, by position. One query."""
    fields = ("position", "inclusion_probability", "stratum", *source_fields(study, named))
    return list(among.order_by("position").annotate(**build_fields(study, named)).values_list(*fields))


def build_fields(study: Study, named: str) -> dict[str, F | Case]:
    """The text of a question is read only where no profile says who asked."""
    if study.kind != Study.Kind.PAIR or named not in (AUTOMATIC, "question"):
        return {}
    if named == "question":
        return {"asked": F("pair__question"), "beside": F("pair__context")}
    unknown = {"pair__profile_id__isnull": True}
    return {
        "asked": Case(When(**unknown, then=F("pair__question")), default=Value(""), output_field=TextField()),
        "beside": Case(When(**unknown, then=F("pair__context")), default=Value(""), output_field=TextField()),
    }


def source_fields(study: Study, named: str) -> tuple[str | Coalesce, ...]:
    """What the clusters of a clustering are made of."""
    pair = study.kind == Study.Kind.PAIR
    if named == NONE:
        return ()
    if named in (AUTOMATIC, "question") and pair:
        return (*PROFILE_OF_PAIR, "asked", "beside")
    if named == AUTOMATIC or named == "profile":
        return PROFILE_OF_PAIR if pair else CLUSTER_OF_DIALOGUE
    if named in items.GROUPINGS:
        return (items.GROUPINGS[named],)
    return (f"{study.kind}__extra",)


def cluster_rows(study: Study, named: str, rows: Sequence[ItemRow]) -> tuple[tuple[str, ...] | None, Design]:
    """The cluster of each row, None where all stand alone, and what it is called."""
    if named == NONE or not rows:
        return None, Design()
    if named == AUTOMATIC:
        return automatic_clusters(study, rows)
    labels = build_labels(study, named, rows)
    if not any(labels):
        known = ", ".join(NAMED)
        raise InputError(
            "no item of {study} has a {named!r} to be clustered by; choose none, one of {known}, or a key that "
            "the source of the items brought along",
            field="cluster",
            study=study,
            named=named,
            known=known,
        )
    clusters, alone = fill_gaps(labels, [str(row[0]) for row in rows])
    return clusters, Design(by=named, alone=alone)


def automatic_clusters(study: Study, rows: Sequence[ItemRow]) -> tuple[tuple[str, ...] | None, Design]:
    """Those of one user, else of one question; a dialogue without a user stands alone."""
    pair = study.kind == Study.Kind.PAIR
    name = name_cluster_of_pair if pair else name_cluster_of_dialogue
    clusters = tuple(name(row[3], row[4], row[5], row[6]) for row in rows)
    if len(set(clusters)) == len(clusters):
        return None, Design()
    profiles = sum(row[4] is not None for row in rows)
    other = "question" if pair else "dialogue"
    by = "profile" if profiles == len(rows) else f"profile or {other}" if profiles else other
    return clusters, Design(by=by)


def build_labels(study: Study, named: str, rows: Sequence[ItemRow]) -> list[str]:
    """What each row says of a clustering; empty where it says nothing."""
    if named == "profile":
        return ["" if row[4] is None else name_profile(row[3], row[4]) for row in rows]
    if named == "question":
        pair = study.kind == Study.Kind.PAIR
        return [name_question(row[5], row[6]) for row in rows] if pair else [""] * len(rows)
    if named in items.GROUPINGS:
        groups = (items.group_name(row[3]) for row in rows)
        return ["" if group == items.NONE else group for group in groups]
    return [to_column_label(row[3], named) for row in rows]


def build_strata(rows: Sequence[ItemRow], clusters: Sequence[str] | None) -> dict[int, str] | None:
    """The strata of a stratified draw; None where there was none, or they cannot be kept."""
    strata = [row[2] for row in rows]
    units = clusters or [str(row[0]) for row in rows]
    if not all(strata) or not can_keep_strata(strata, units):
        return None
    return {row[0]: stratum for row, stratum in zip(rows, strata, strict=True)}


def name_cluster_of_dialogue(profile_source: str | None, profile: str | None, source: str, name: str) -> str:
    """What a dialogue stays together with: those of its user, else nothing."""
    return f"dialogue {source}\n{name}" if profile is None else name_profile(profile_source, profile)


def name_cluster_of_pair(profile_source: str | None, profile: str | None, question: str, context: str) -> str:
    """What a pair stays together with: those of its user, else those of its question."""
    return name_question(question, context) if profile is None else name_profile(profile_source, profile)


def name_profile(source: str | None, name: str) -> str:
    return f"profile {source}\n{name}"


def name_question(question: str, context: str) -> str:
    return f"question {question}\n{context}"


def check_clustering(named: str) -> str:
    """The name of a clustering, checked. Raises InputError where it is too long to be kept."""
    if len(named.strip()) > LONGEST:
        raise InputError("the name of a clustering has at most {longest} letters", field="cluster", longest=LONGEST)
    return named.strip()
