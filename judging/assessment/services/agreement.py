"""Agreement of a study: read, computed on every criterion, and kept.

One criterion gives one document; a study gives one per criterion and the table that sets judge and people side by
side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.agreement.services import agreement as among_people, tiers
from annotation.recruitment import queries
from annotation.stats.by_level import explain_missing
from annotation.stats.result_types import NoteDocument
from annotation.studies.models.labels import AgreementRun
from annotation.studies.models.studies import Study
from annotation.studies.queries import items, ratings as people
from annotation.studies.queries.dependence import read_dependence
from annotation.studies.queries.ratings import Annotator, PeoplesRatings, load_annotators
from core.accounts.models.users import User
from core.errors import InputError
from core.hashing import content_hash, digest
from judging.assessment.agreement_types import (
    AgreementDocument,
    AgreementRowDocument,
    CriterionAgreementDocument,
    LeftOutDocument,
    SelectedAgreement,
)
from judging.assessment.options import JudgedOptions
from judging.assessment.queries import ratings as judges
from judging.assessment.services import rules
from judging.assessment.services.comparison import JudgeColumn, document, note

TIER = "tier"
"""The grouping by how contested an item is on the criterion itself."""

NO_TIER = "(none)"

GROUPINGS = (TIER, *items.GROUPINGS)
"""Of items."""

ANNOTATOR = "annotator:"
"""Stands before the key of a question about people, by whose answers annotators are grouped. It may be left out where
no grouping of items is called so."""


@dataclass(frozen=True)
class StudyRatings:
    """All that agreement of a study is computed from.

    Attributes
    ----------
    criteria
        People's ratings, in the order of the criteria.
    judges
        By criterion key.
    annotators
        By username.
    groups
        By item position, where items are grouped by what they are.
    tiers
        By criterion key, the tier of each item of its table, where items are grouped by it.
    kinds
        What each username answered to the question that annotators are grouped by; None where they are not.
    """

    criteria: tuple[PeoplesRatings, ...]
    judges: Mapping[str, tuple[JudgeColumn, ...]]
    annotators: Mapping[str, Annotator]
    groups: Mapping[int, str] | None = None
    tiers: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    kinds: Mapping[str, str] | None = None

    @classmethod
    def from_options(cls, study: Study, options: JudgedOptions) -> StudyRatings:
        """What the options ask for. Raises InputError on what `check_options` refuses."""
        check_version(study, options.guideline_version)
        chosen = {"cluster": options.cluster, "strata": options.strata, "by": options.by}
        version = options.guideline_version
        return cls.read(study, **chosen, with_scores=options.with_scores, guideline_version=version)

    @classmethod
    def read(
        cls,
        study: Study,
        *,
        cluster: str = "",
        strata: str = "",
        by: str = "",
        with_scores: bool = False,
        guideline_version: int | None = None,
    ) -> StudyRatings:
        """In a constant number of queries. Raises InputError on an unknown clustering, stratification or grouping.

        With scores, judges' scores as means over the scale are read too. With a version, only the labels that were
        given under it.
        """
        named, kinds = load_grouping(study, by)
        dependence = read_dependence(study, cluster=cluster, strata=strata)
        criteria = people.load_study(study, guideline_version=guideline_version, dependence=dependence)
        said = judges.load_study(study, with_scores=with_scores)
        columns = {
            one.criterion.key: tuple(
                JudgeColumn.from_verdicts(judge, one.table, with_scores=with_scores)
                for judge in said.get(one.criterion.pk, ())
            )
            for one in criteria
        }
        held = {one.criterion.key: tiers.load_tiers(one) for one in criteria} if by == TIER else {}
        return cls(criteria, columns, load_annotators(study), named, held, kinds)

    def only(self, key: str) -> StudyRatings:
        """Those on one criterion. Raises InputError where there is no such criterion."""
        chosen = tuple(one for one in self.criteria if one.criterion.key == key)
        if not chosen:
            known = ", ".join(one.criterion.key for one in self.criteria)
            raise InputError(
                "no criterion is called {key!r}; there are {known}", field="criterion", key=key, known=known
            )
        return replace(self, criteria=chosen, judges={key: self.judges[key]})

    @property
    def is_empty(self) -> bool:
        """Whether nobody has rated anything."""
        return not any(one.table.n_ratings for one in self.criteria)

    def list_simulated(self) -> list[str]:
        """Usernames of those with a label that counts who are no people."""
        raters = {username for one in self.criteria for username in one.table.raters}
        return [name for name, annotator in self.annotators.items() if annotator.is_simulated and name in raters]

    def input_hash(self) -> str:
        """Of every label and verdict that the result depends on."""
        return content_hash(
            {
                "criteria": [_hashed_people(one) for one in self.criteria],
                "judges": {key: [_hashed_judge(column) for column in columns] for key, columns in self.judges.items()},
                "simulated": self.list_simulated(),
                **({} if self.groups is None else {"groups": sorted(self.groups.items())}),
                **({"tiers": self.tiers} if self.tiers else {}),
                **({} if self.kinds is None else {"kinds": sorted(self.kinds.items())}),
            }
        )


def check_options(study: Study, options: JudgedOptions) -> None:
    """Raise InputError on an unknown grouping, clustering or stratification, and on a version that no guideline has."""
    load_grouping(study, options.by)
    read_dependence(study, cluster=options.cluster, strata=options.strata)
    check_version(study, options.guideline_version)


def check_version(study: Study, version: int | None) -> None:
    """Raise InputError for a version that is newer than all guidelines and all labels, which imports bring along."""
    if version is None:
        return
    rows = study.criteria.aggregate(
        of_guideline=Max("guideline_version"), of_label=Max("annotations__guideline_version")
    )
    newest = max(one or 1 for one in rows.values())
    if version > newest:
        raise InputError(
            "No guideline has a version {version}; the newest is {newest}.",
            field="guideline_version",
            version=version,
            newest=newest,
        )


def load_grouping(study: Study, by: str) -> tuple[dict[int, str] | None, dict[str, str] | None]:
    """Return the group of each item, by position, or of each annotator, by username.

    Neither for no grouping and for tiers, which differ from criterion to criterion. Raises InputError for an
    unknown grouping.
    """
    if by in ("", TIER):
        return None, None
    key, asked = by.removeprefix(ANNOTATOR), queries.questions(study)
    if by not in items.GROUPINGS and key in asked:
        return None, queries.groups(study, key)
    try:
        return items.groups(study, by), None
    except InputError as error:
        people = _("; annotators by {keys}").format(keys=", ".join(ANNOTATOR + one for one in asked)) if asked else ""
        said = error.message.replace("choose one of ", f"choose one of {TIER}, ")
        raise InputError("{said}{people}", field="by", said=said, people=people) from error


def _hashed_people(one: PeoplesRatings) -> dict[str, object]:
    table = one.table
    return {
        "key": one.criterion.key,
        "name": one.criterion.name,
        "level": table.level,
        "categories": table.categories,
        "items": digest("\n".join(table.items).encode()),
        "raters": table.raters,
        "codes": digest(table.codes.tobytes()),
        "unscored": one.unscored,
        **({} if table.clusters is None else {"clusters": table.clusters}),
        **({} if table.strata is None else {"strata": table.strata}),
        **({} if table.weights is None else {"weights": digest(table.weights.tobytes())}),
    }


def _hashed_judge(column: JudgeColumn) -> list[object]:
    codes, unscored = digest(column.codes.tobytes()), digest(column.unscored.tobytes())
    hashed: list[object] = [column.name, column.run, column.finished, column.kind, column.stale, codes, unscored]
    hashed += [] if column.held_out is None else [digest(column.held_out.tobytes())]
    return hashed if column.scores is None else [*hashed, [str(score) for score in column.scores.tolist()]]


def load_or_compute(*, by: User | None, study: Study, options: JudgedOptions, ratings: StudyRatings) -> AgreementRun:
    """Agreement on every criterion of a study: the kept result where there is one, else a new one that is kept."""
    if any(ratings.judges.values()):
        rules.lock(by=by, study=study)  # it says how far judges agree with people
    return load_or_compute_unseen(by=by, study=study, options=options, ratings=ratings)


def load_or_compute_unseen(
    *, by: User | None, study: Study, options: JudgedOptions, ratings: StudyRatings
) -> AgreementRun:
    """The same for nobody who looks: the study's rules stay open."""
    return among_people.load_or_compute_run(
        by=by,
        study=study,
        parameters=options.to_json(),
        seed=options.seed,
        input_hash=ratings.input_hash(),
        compute=lambda: _computed(study, ratings, options),
    )


def _computed(study: Study, ratings: StudyRatings, options: JudgedOptions) -> AgreementDocument:
    told = [one for one in ratings.criteria if explain_missing("agreement", one.table.level) is None]
    documents = {one.criterion.key: _of_criterion(one, ratings, options) for one in told}
    names = {one.criterion.key: one.criterion.name for one in told}
    found: AgreementDocument = {
        "study": study.name,
        "criteria": documents,
        "table": side_by_side(documents, names),
    }
    if left_out := [entry for one in ratings.criteria for entry in _left_out(one)]:
        found["left_out"] = left_out
    return found


def load_document(run: AgreementRun) -> AgreementDocument:
    """The result of a run, in the shape in which it was made."""
    return cast("AgreementDocument", run.result)


def _left_out(one: PeoplesRatings) -> Iterator[LeftOutDocument]:
    """What is said of a criterion whose answers have no coefficient."""
    table = one.table
    if reason := explain_missing("agreement", table.level):
        yield {
            "criterion": one.criterion.key,
            "name": one.criterion.name,
            "level": table.level,
            "reason": reason,
            "n_items": table.n_items,
            "n_raters": table.n_raters,
            "n_ratings": table.n_ratings,
        }


def _of_criterion(one: PeoplesRatings, ratings: StudyRatings, options: JudgedOptions) -> CriterionAgreementDocument:
    kinds = None if ratings.kinds is None else [ratings.kinds.get(rater) for rater in one.table.raters]
    columns = ratings.judges[one.criterion.key]
    found = document(one.table, columns, options, _groups(one, ratings, options), kinds, design=one.design)
    return {**found, "unscored_by_people": one.unscored, "warnings": [*found["warnings"], *_on_people(one, ratings)]}


def _groups(one: PeoplesRatings, ratings: StudyRatings, options: JudgedOptions) -> list[str] | None:
    """The group of each item of a criterion's table."""
    if options.by == TIER:
        return [tier or NO_TIER for tier in ratings.tiers[one.criterion.key]]
    if ratings.groups is None:
        return None
    return [ratings.groups[position] for position in one.positions]


def _on_people(one: PeoplesRatings, ratings: StudyRatings) -> Iterable[NoteDocument]:
    if one.unscored:
        n = sum(one.unscored.values())
        yield note("could_not_judge", f"Annotators could not judge {n} times; these are not ratings.")
    if simulated := [name for name in one.table.raters if name in ratings.list_simulated()]:
        who = ", ".join(ratings.annotators[name].name for name in simulated)
        yield note("simulated_annotators", f"Simulated, not people: {who}.")


def side_by_side(
    documents: Mapping[str, CriterionAgreementDocument], names: Mapping[str, str]
) -> list[AgreementRowDocument]:
    """A criterion and a judge a row: agreement of the judge with people and of people, by one coefficient."""
    return [
        row
        for key, found in documents.items()
        for row in ([_row(key, names[key], found, judge) for judge in found["judges"] or [None]])
    ]


def _row(key: str, name: str, found: CriterionAgreementDocument, judge: str | None) -> AgreementRowDocument:
    return {
        "criterion": key,
        "name": name,
        "judge": judge,
        "kind": found["judges"][judge]["kind"] if judge else None,
        "coefficient": found["headline"]["name"],
        "judge_agreement": found["judges"][judge][found["headline"]["judge"]] if judge else None,
        "people_agreement": found["coefficients"][found["headline"]["people"]],
        "n_items": found["n_items"],
        "n_raters": found["n_raters"],
        "n_ratings": found["n_ratings"],
    }


def select_criterion(result: AgreementDocument, key: str | None) -> SelectedAgreement:
    """What a reader asked for of a study's result: one criterion's document, or all where there are several."""
    documents, left_out = result["criteria"], {one["criterion"]: one for one in result.get("left_out", ())}
    known = list(map(str, documents)) + list(left_out)
    if key is None and len(known) == 1:
        key = known[0]
    if key is None:
        return result
    if key in left_out:
        return {"study": result["study"], **left_out[key]}
    if key not in documents:
        raise InputError(
            "no criterion is called {key!r}; there are {known}", field="criterion", key=key, known=", ".join(known)
        )
    return {"study": result["study"], "criterion": key, **documents[key]}
