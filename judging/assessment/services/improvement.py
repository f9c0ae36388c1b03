"""Another version of a judge, and whether it is better than the one before: paired, on the development part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from django.utils.translation import gettext as _

from annotation.agreement.options import RESAMPLES
from annotation.stats.dependence import drop_useless
from annotation.stats.headline import choose_headline
from annotation.stats.table import MISSING
from annotation.studies.models.studies import Criterion, Study
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.options.model import check_options
from judging.assessment.agreement_types import CriterionChangeDocument, VersionChangeDocument
from judging.assessment.options import NewVersion
from judging.assessment.queries.assessment_data import JudgeData, StudyData
from judging.judges.models import Judge
from judging.judges.queries.study_items import HELD_OUT
from judging.judges.services import examples, judges
from judging.stats.assessment_data import AssessmentData
from judging.stats.differences import compare_judges
from judging.stats.mcnemar import McNemar, mcnemar
from judging.stats.observed import select_names

FIGURES = ("mean_cohen_kappa", "mean_weighted_cohen_kappa", "percent_agreement")


@check_options(NewVersion, but=("examples",))
@audited("judge.new_version", says=("judge", "study", "n", "criteria", "items", "seed"), prepares=True)
def new_version(
    *,
    by: User | None,
    judge: Judge,
    study: Study | None = None,
    n: int = 0,
    criteria: Sequence[str] = (),
    items: Sequence[int | str] = (),
    seed: int = 0,
    template: str | None = None,
    templates: Mapping[str, str] | None = None,
) -> Judge:
    """The next version of the judge: with ``n`` examples a criterion from the study, and other templates where given.

    ``template`` is for all criteria, ``templates`` are by criterion and leave those of others as they are; an empty one
    gives Concord's own back.

    Without a study the examples stay as they are. ``n`` 0 takes them away, unless ``items`` names them. The same judge
    comes back where nothing would change. Raises InputError where the judge is asked in no words, where the study has
    too few settled items in its development part, and where a template has no place for examples.
    """
    if not judge.is_runnable or not judges.build_provider(judge).needs_prompt:
        raise InputError(
            "{judge} is not asked in words: it has no prompt and takes no examples", field="judge", judge=judge
        )
    parameters = dict(judge.parameters)
    if template is not None:
        parameters = {name: value for name, value in parameters.items() if name != "template"}
        parameters |= {"template": template} if template.strip() else {}
    if templates:
        merged = {**parameters.pop("templates", {}), **templates}
        if kept := {key: text for key, text in merged.items() if text.strip()}:
            parameters["templates"] = kept
    if study is not None:
        parameters.pop("examples", None)
        if n or items:
            asked = _criteria(study, criteria)
            parameters["examples"] = examples.draw_examples(study, asked, n or len(items), seed=seed, items=items)
    return judges.define(
        by=by,
        project=judge.project,
        name=judge.name,
        provider=judge.provider,
        model=judge.model,
        parameters=parameters,
    )


def list_judged_criteria(study: Study) -> list[Criterion]:
    """The study's criteria that a judge can be asked about here: all but those of the user's turns."""
    return list(study.criteria.exclude(unit=Criterion.Unit.USER_TURN))


def _criteria(study: Study, keys: Sequence[str]) -> list[Criterion]:
    there = {criterion.key: criterion for criterion in list_judged_criteria(study)}
    if not there:
        raise InputError(
            "judges here rate the assistant's turns, {study} asks of the user's alone", field="criteria", study=study
        )
    for key in keys:
        if key not in there:
            raise InputError(
                "no criterion is called {key!r}; there are {there}", field="criteria", key=key, there=", ".join(there)
            )
    return [there[key] for key in keys] if keys else list(there.values())


def list_other_versions(evidence: StudyData, judge: Judge) -> list[Judge]:
    """The versions of the judge that have judged the study too, the newest first."""
    same = [one for one in evidence.judges() if one.name == judge.name and one.pk != judge.pk]
    return sorted(same, key=lambda one: -one.version)


def find_previous_version(evidence: StudyData, judge: Judge, wanted: str = "") -> Judge | None:
    """The version to compare with: the one named, else the one before, else the newest other. None without another.

    Raises InputError where the one that is named has not judged the study.
    """
    others = list_other_versions(evidence, judge)
    if wanted:
        named = [one for one in others if wanted in (str(one), str(one.version), f"v{one.version}")]
        if not named:
            known = ", ".join(f"v{one.version}" for one in others) or _("none")
            raise InputError(
                "{wanted!r} is no other version of {name} that has judged this study; there are: {known}",
                field="against",
                wanted=wanted,
                name=judge.name,
                known=known,
            )
        return named[0]
    older = [one for one in others if one.version < judge.version]
    return next(iter([*older, *others]), None)


def change(old: JudgeData, new: JudgeData, *, bootstrap: int = RESAMPLES, seed: int = 0) -> VersionChangeDocument:
    """How far the new version agrees better with people than the old one, per criterion, on the items of both.

    Figures are new minus old, from the same resamples of the development part; items of one profile or question are
    resampled together. Examples of either version are no items of both. Raises InputError for the held-out part: there
    each version is scored once, by a look on record, and none is tuned.
    """
    if HELD_OUT in (old.part, new.part):
        raise InputError("versions are compared on the development part", field="part")
    shared = [criterion for criterion in new.criteria if criterion.key in old.evidence]
    return {
        "study": new.study.name,
        "part": new.part,
        "old": str(old.judge),
        "new": str(new.judge),
        "bootstrap": bootstrap,
        "seed": seed,
        "criteria": {c.key: _of_criterion(c, old, new, bootstrap, seed) for c in shared},
    }


def _of_criterion(
    criterion: Criterion, old: JudgeData, new: JudgeData, bootstrap: int, seed: int
) -> CriterionChangeDocument:
    before, after = old.evidence[criterion.key], new.evidence[criterion.key]
    rated = after.table.ratings_per_item > 0
    table = drop_useless(after.table.subset_items(rated))
    codes = {"new": after.said.codes[rated], "old": before.said.codes[rated]}
    (found,) = compare_judges(table, codes, bootstrap=bootstrap, seed=seed)
    return {
        "criterion": criterion.key,
        "name": criterion.name,
        "n_items": found.n_items,
        "examples": {"old": old.examples.get(criterion.key, 0), "new": new.examples.get(criterion.key, 0)},
        "figure": choose_headline(table.level, table.n_categories).judge,
        "figures": {
            name: {"new": part["a"], "old": part["b"], "difference": part["difference"]}
            for name, part in ((name, found.figures[name].to_json()) for name in FIGURES)
        },
        "mcnemar": _right(before, after).to_json(),
    }


def _right(before: AssessmentData, after: AssessmentData) -> McNemar:
    """On the items with one value as people's label that both scored: is the verdict that value?"""
    label = after.people.consensus
    both = (label != MISSING) & (before.said.codes != MISSING) & (after.said.codes != MISSING)
    clusters = None if after.material.dependent is None else select_names(after.material.clusters, both)
    return mcnemar((before.said.codes == label)[both], np.asarray((after.said.codes == label)[both]), clusters)
