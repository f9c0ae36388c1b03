"""Who rated each criterion of a study, as its labels or a kept result name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.stats.by_level import explain_missing
from annotation.studies.models.labels import AgreementRun
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries.ratings import Annotator, load_annotators
from judging.assessment.agreement_types import CriterionAgreementDocument
from judging.assessment.services.agreement import StudyRatings, load_document


@dataclass(frozen=True)
class RatedCriterion:
    """A criterion with those who rated it, as far as a kept result names them."""

    criterion: Criterion
    raters: tuple[str, ...]


@dataclass(frozen=True)
class StudyRaters:
    """The criteria that have a coefficient, and the annotators by username."""

    criteria: tuple[RatedCriterion, ...]
    annotators: Mapping[str, Annotator]

    @classmethod
    def from_ratings(cls, ratings: StudyRatings) -> StudyRaters:
        told = [one for one in ratings.criteria if explain_missing("agreement", one.table.level) is None]
        return cls(tuple(RatedCriterion(one.criterion, one.table.raters) for one in told), ratings.annotators)

    @classmethod
    def from_run(cls, study: Study, run: AgreementRun) -> StudyRaters:
        """The same without reading a label."""
        documents = load_document(run)["criteria"]
        criteria = [criterion for criterion in study.criteria.all() if criterion.key in documents]
        found = tuple(RatedCriterion(one, _list_raters(documents[one.key])) for one in criteria)
        return cls(found, load_annotators(study))

    @property
    def simulated(self) -> list[str]:
        """Names of those who rated any criterion and are no people."""
        who = self._raters
        return [one.name for username, one in self.annotators.items() if one.is_simulated and username in who]

    @property
    def _raters(self) -> set[str]:
        return {username for one in self.criteria for username in one.raters}

    def count_raters(self) -> tuple[int, int]:
        """How many rated any criterion, and how many of them are simulated."""
        return len(self._raters), len(self.simulated)

    def name_raters(self, one: RatedCriterion) -> str:
        """What a plot calls those who rated a criterion: people, unless none of them is one."""
        who = [self.annotators[username] for username in one.raters]
        return "simulated annotators" if who and all(annotator.is_simulated for annotator in who) else "annotators"


def _list_raters(document: CriterionAgreementDocument) -> tuple[str, ...]:
    """Who is named in a document. One rater alone is in no pair, and is not."""
    return tuple(dict.fromkeys(pair[side] for pair in document["pairs"] for side in ("a", "b")))
