"""The sampling frame: the material that a draw may take, with the stratum of each record."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from django.db.models import QuerySet

from annotation.corpus.models import Dialogue, ResponsePair
from annotation.studies.models.studies import Item, Study
from annotation.studies.queries.items import LOOKED_AT, MOST_VALUES, group_name, list_column_values, to_column_label
from core.errors import InputError
from core.hashing import content_hash

JUDGE_SCORE, PREDICTED_TIER = "judge_score", "predicted_tier"
FILTERS: dict[str, tuple[str, ...]] = {
    "dialogue": ("source", "assistant_model", "condition", "domain"),
    "pair": ("source", "kind", "source_tier"),
}
STRATA: dict[str, tuple[str, ...]] = {kind: (*fields, JUDGE_SCORE, PREDICTED_TIER) for kind, fields in FILTERS.items()}
BALANCED = {"dialogue": "domain", "pair": "kind"}
"""What the order of a study's queue is balanced by."""

NOT_PREDICTED = "not predicted"
LONGEST_STRATUM = 200

Scores = Mapping[int, str | float]
Tiers = Mapping[int, str]
Filters = Mapping[str, str | Sequence[str] | None]
Record = Dialogue | ResponsePair


@dataclass(frozen=True, slots=True)
class Eligible:
    """A dialogue or pair that may be drawn. `key` is the same in every database, `id` is not.

    `domain` is what the queue of a study is balanced by: a dialogue's domain, a pair's kind. `probability` is the
    chance with which it came into the corpus.
    """

    key: tuple[str, str]
    id: int
    stratum: str
    content_hash: str
    domain: str = ""
    probability: float = 1.0


def eligible(
    study: Study,
    *,
    strata: Sequence[str] = (),
    filters: Filters | None = None,
    scores: Scores | None = None,
    tiers: Tiers | None = None,
) -> list[Eligible]:
    """What of the corpus matches `filters` and is not in the study yet, ordered by source and id there.

    What annotators of the study are checked or trained with is not eligible: they know it.

    `scores` maps the id of a dialogue or pair to a judge's score, for the stratum `judge_score`; `tiers` to its tier as
    predicted from another study, for the stratum `predicted_tier`.
    """
    wanted = {field: to_values(given) for field, given in (filters or {}).items() if given}
    own = check_fields(study.kind, strata, wanted)
    if JUDGE_SCORE in strata and scores is None:
        raise InputError("Strata by judge score need a judge's scores.", field="strata")
    if PREDICTED_TIER in strata and tiers is None:
        raise InputError("Strata by predicted tier need a study to predict from.", field="strata")
    rows = iterate_matching(study, wanted, own)
    given: dict[str, Scores] = {JUDGE_SCORE: scores or {}, PREDICTED_TIER: tiers or {}}
    found = (
        Eligible(
            key=(row["source"], row["external_id"]),
            id=row["pk"],
            stratum=build_stratum(row, strata, given),
            content_hash=row["content_hash"],
            domain=stratum_value(row, BALANCED[study.kind], {}),
            probability=row["inclusion_probability"],
        )
        for row in rows
    )
    return sorted(found, key=attrgetter("key"))


def to_values(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else [str(value) for value in given]


def check_fields(kind: str, strata: Sequence[str], filters: Mapping[str, object]) -> set[str]:
    """Return which of them are columns of the source. Raises InputError for what no record has."""
    own = set()
    for name, given, known in (("strata", strata, STRATA[kind]), ("filters", filters, FILTERS[kind])):
        for field in set(given) - set(known):
            if not list_records(kind).filter(extra__has_key=field).exists():
                there = ", ".join([*known, *list_own_columns(kind)])
                raise InputError("{name!r} is not one of {there}.", field=name, name=field, there=there)
            own.add(field)
    return own


def list_own_columns(kind: str) -> dict[str, list[str]]:
    """Values of the columns of the source, as far as the first records tell; without columns of very many values."""
    extras = list_records(kind).order_by("pk").values_list("extra", flat=True)[:LOOKED_AT]
    return {name: values for name, values in list_column_values(extras).items() if len(values) <= MOST_VALUES}


def iterate_matching(study: Study, wanted: Mapping[str, list[str]], own: Collection[str]) -> Iterator[dict[str, Any]]:
    """The material as plain rows, streamed; with `extra` where columns of the source are needed."""
    taken = Item.objects.filter(study=study).values(study.kind)
    known = study.known_items.filter(retired_at=None).values(f"item__{study.kind}")
    there = list_records(study.kind).exclude(pk__in=taken).exclude(pk__in=known)
    return match_rows(study.kind, there, wanted, own)


def match_rows(
    kind: str, there: QuerySet[Record], wanted: Mapping[str, list[str]], own: Collection[str]
) -> Iterator[dict[str, object]]:
    """Those of the records that have one of the wanted values in each field."""
    rows = filter_columns(there, wanted, own)
    for row in columns(kind, rows, "extra" if own else "pk").iterator(chunk_size=2000):
        if "domain" in wanted and not set(wanted["domain"]) & set(list_domains(row)):
            continue
        if all(to_column_label(row["extra"], field) in wanted[field] for field in own if field in wanted):
            yield row


def filter_columns(there: QuerySet[Record], wanted: Mapping[str, list[str]], own: Collection[str]) -> QuerySet[Record]:
    """The records by what is a column of their table."""
    return there.filter(**{f"{field}__in": values for field, values in wanted.items() if field not in ("domain", *own)})


def count_matching(kind: str, filters: Filters) -> tuple[int, Record | None]:
    """How many records a draw could take into a new study, and the first of them; (0, None) where there is none."""
    wanted = {field: to_values(given) for field, given in filters.items() if given}
    own = check_fields(kind, (), wanted)
    there = list_records(kind).order_by("source", "external_id")
    if own or "domain" in wanted:
        found = [row["pk"] for row in match_rows(kind, there, wanted, own)]
        return len(found), there.filter(pk__in=found[:1]).first()
    rows = filter_columns(there, wanted, own)
    return rows.count(), rows.first()


def list_records(kind: str) -> QuerySet[Record]:
    return Dialogue.objects.all() if kind == Study.Kind.DIALOGUE else ResponsePair.objects.all()


def columns(kind: str, rows: QuerySet[Record], more: str = "pk") -> QuerySet[Record, dict[str, object]]:
    own = [field for field in FILTERS[kind] if field != "domain"]
    joined = ["scenario__task__domains"] if kind == Study.Kind.DIALOGUE else []
    return rows.values("pk", more, "external_id", "content_hash", "inclusion_probability", *own, *joined)


def list_domains(row: Mapping[str, object]) -> list[str]:
    domains = row.get("scenario__task__domains")
    return domains if isinstance(domains, list) else []


def build_stratum(row: Mapping[str, object], strata: Sequence[str], given: Mapping[str, Scores]) -> str:
    """The row's values of the fields, for example `Hotels / base`."""
    label = " / ".join(stratum_value(row, field, given) for field in strata)
    if len(label) <= LONGEST_STRATUM:
        return label
    return f"{label[: LONGEST_STRATUM - 17]}…{content_hash(label)[:16]}"


def stratum_value(row: Mapping[str, Any], field: str, given: Mapping[str, Scores]) -> str:
    if field == PREDICTED_TIER:
        return str(given[field].get(row["pk"], NOT_PREDICTED))
    if field == JUDGE_SCORE:
        score = given[field].get(row["pk"], "unscored")
        return f"{score:g}" if isinstance(score, float | int) else score
    if field == "domain":
        return group_name(list_domains(row))
    return group_name(row[field] if field in row else to_column_label(row["extra"], field))


def choices(kind: str, field: str) -> list[str]:
    """The values that a filter of the corpus can take."""
    if field == "domain":
        found = Dialogue.objects.order_by().values_list("scenario__task__domains", flat=True).distinct()
        return sorted({domain for domains in found for domain in domains or []})
    return sorted(list_records(kind).order_by().exclude(**{field: ""}).values_list(field, flat=True).distinct())
