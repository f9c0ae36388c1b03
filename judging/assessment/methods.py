"""The methods paragraph of a report, with its references: a sentence for what was really run, and none else (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotation.agreement.result_types import DifficultyDocument
from judging.assessment.calibration_charts import list_parts
from judging.assessment.report_types import (
    DesignDescription,
    JudgeDescription,
    MethodsDocument,
    ReportPeopleDocument,
    StudyCascadeDocument,
)
from judging.assessment.result_types import (
    AuditDocument,
    CalibrationDocument,
    CriterionAuditDocument,
    CriterionFiguresDocument,
)
from judging.stats.audits.fitted import MODEL

REFERENCES = {
    "cohen": "Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological "
    "Measurement, 20, 37–46.",
    "cohen_weighted": "Cohen, J. (1968). Weighted kappa: Nominal scale agreement with provision for scaled "
    "disagreement or partial credit. Psychological Bulletin, 70, 213–220.",
    "krippendorff": "Krippendorff, K. (2004). Content analysis: An introduction to its methodology (2nd ed.). Sage.",
    "efron": "Efron, B. (1987). Better bootstrap confidence intervals. Journal of the American Statistical "
    "Association, 82, 171–185.",
    "calderon": "Calderon, N., Reichart, R., & Dror, R. (2025). The alternative annotator test for LLM-as-a-judge. "
    "arXiv:2501.10970.",
    "by": "Benjamini, Y., & Yekutieli, D. (2001). The control of the false discovery rate in multiple testing under "
    "dependency. Annals of Statistics, 29, 1165–1188.",
    "ppi": "Angelopoulos, A. N., Duchi, J. C., & Zrnic, T. (2023). PPI++: Efficient prediction-powered inference. "
    "arXiv:2311.01453.",
    "rogan": "Rogan, W. J., & Gladen, B. (1978). Estimating prevalence from the results of a screening test. American "
    "Journal of Epidemiology, 107, 71–76.",
    "lee": "Lee, C., et al. (2025). How to correctly report LLM-as-a-judge evaluations. arXiv:2511.21140.",
    "isotonic": "Barlow, R. E., Bartholomew, D. J., Bremner, J. M., & Brunk, H. D. (1972). Statistical inference under "
    "order restrictions. Wiley.",
    "ordinal-logistic": "McCullagh, P. (1980). Regression models for ordinal data. Journal of the Royal Statistical "
    "Society B, 42, 109–142.",
    "ece": "Naeini, M. P., Cooper, G. F., & Hauskrecht, M. (2015). Obtaining well calibrated probabilities using "
    "Bayesian binning. AAAI.",
    "chuang": "Chuang, C.-S., & Lai, T. L. (2000). Hybrid resampling methods for confidence intervals. Statistica "
    "Sinica, 10, 1–50.",
    "brier": "Brier, G. W. (1950). Verification of forecasts expressed in terms of probability. Monthly Weather "
    "Review, 78, 1–3.",
    "clopper": "Clopper, C. J., & Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the "
    "case of the binomial. Biometrika, 26, 404–413.",
    "betting": "Waudby-Smith, I., & Ramdas, A. (2024). Estimating means of bounded random variables by betting. "
    "Journal of the Royal Statistical Society B, 86, 1–27.",
    "bauer": "Bauer, P. (1991). Multiple testing in clinical trials. Statistics in Medicine, 10, 871–890.",
    "davidson": "Davidson, R. R. (1970). On extending the Bradley–Terry model to accommodate ties in paired comparison "
    "experiments. Journal of the American Statistical Association, 65, 317–328.",
    "passonneau": "Passonneau, R. J. (2006). Measuring agreement on set-valued items (MASI) for semantic and pragmatic "
    "annotation. LREC.",
    "kemeny": "Kemeny, J. G., & Snell, J. L. (1962). Mathematical models in the social sciences. Ginn.",
    "hripcsak": "Hripcsak, G., & Rothschild, A. S. (2005). Agreement, the F-measure, and reliability in information "
    "retrieval. Journal of the American Medical Informatics Association, 12, 296–298.",
    "turner": "Turner, H. L., van Etten, J., Firth, D., & Kosmidis, I. (2020). Modelling rankings in R: The "
    "PlackettLuce package. Computational Statistics, 35, 1027–1057.",
    "jung": "Jung, J., Brahman, F., & Choi, Y. (2024). Trust or escalate: LLM judges with provable guarantees for "
    "human agreement. arXiv:2407.18370.",
    "holm": "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of "
    "Statistics, 6, 65–70.",
    "benjamini-hochberg": "Benjamini, Y., & Hochberg, Y. (1995). Controlling the false discovery rate. Journal of the "
    "Royal Statistical Society B, 57, 289–300.",
    "johnson": "Johnson, V. E. (1996). On Bayesian analysis of multirater ordinal data: An application to automated "
    "essay grading. Journal of the American Statistical Association, 91, 42–51.",
    "bock": "Bock, R. D., & Aitkin, M. (1981). Marginal maximum likelihood estimation of item parameters: Application "
    "of an EM algorithm. Psychometrika, 46, 443–459.",
    "patterson": "Patterson, H. D., & Thompson, R. (1971). Recovery of inter-block information when block sizes are "
    "unequal. Biometrika, 58, 545–554.",
    "samejima": "Samejima, F. (1969). Estimation of latent ability using a response pattern of graded scores. "
    "Psychometrika Monograph Supplement, 34(17).",
    "whitehill": "Whitehill, J., Ruvolo, P., Wu, T., Bergsma, J., & Movellan, J. (2009). Whose vote should count more: "
    "Optimal integration of labels from labelers of unknown expertise. NeurIPS, 22, 2035–2043.",
    "dawid": "Dawid, A. P., & Skene, A. M. (1979). Maximum likelihood estimation of observer error-rates using the EM "
    "algorithm. Applied Statistics, 28, 20–28.",
}

KAPPA = (
    "A judge's agreement with people is the mean over annotators of {kappa} on the items that it scored, beside the "
    "same mean over pairs of annotators (the human ceiling); replies without a usable verdict are left out and counted"
)
PLAIN_KAPPA = "Cohen's kappa"
WEIGHTED_KAPPA = "Cohen's kappa, quadratically weighted on scales of several steps (on numbers Lin's concordance),"
ALT_TEST = (
    "Whether a judge may stand in for a person was tested by the alternative-annotator test (epsilon {epsilon}), "
    "corrected over annotators"
)
PPI = (
    "Means and rates over all items are corrected by prediction-powered inference (PPI++), with survey weights from "
    "the inclusion probabilities and errors by cluster"
)
MAPS = (
    "Scores are recalibrated by {maps} maps, cross-fitted in {folds} folds by cluster; reliability is "
    "summarised by the expected calibration error, estimated by hybrid resampling without the noise of its bins, and "
    "the Brier score, out of sample"
)
SELECTIVE = (
    "Thresholds of confidence are chosen by fixed-sequence testing with {bounds}, so that agreement among "
    "the verdicts that are kept reaches its target with the stated probability; a tie among people counts in part"
)
BOUNDS = {
    "Clopper-Pearson": ("exact binomial bounds", "clopper"),
    "betting": ("bounds by betting over clusters", "betting"),
}
CASCADE = (
    "In the cascade {judges} each judge keeps the verdicts of which it is sure enough and the next one gets the rest; "
    "the error probability of {delta:g} is split over them, so that the verdicts kept by any of them agree with people "
    "at the rate of {target:g}"
)
PROBES = "Judges were probed for {probes}, with p-values corrected for the number of probes of a judge on all criteria"
DIFFICULTY = (
    "The difficulty of an item is the probability that two fresh people disagree on it, by a model of people and "
    "items; tiers are cut at agreement of {cuts}"
)
FITTED = {
    "graded response": ("bock", "samejima"),
    "categories": ("bock", "whitehill"),
    "paired comparison": ("bock", "davidson"),
    "Plackett-Luce": ("bock", "turner"),
    "linear mixed model": ("patterson",),
}
"""By the difficulty model's method, its sources."""

OF_LEVELS = {
    "set": ("Sets of categories lie as far apart as their MASI distance says", ("passonneau",)),
    "ranking": ("Rankings lie as far apart as the pairs of responses that they order differently", ("kemeny",)),
    "spans": (
        "Agreement on marked spans is the F1 of the marked characters, averaged over pairs of people, and "
        "Krippendorff's alpha for unitizing",
        ("hripcsak", "krippendorff"),
    ),
}
"""By level of answers, what is said of their comparison, with its sources."""

TRAIT = (
    "Bias was told from noise by a cumulative probit model with one latent trait, fitted to all annotators' labels and "
    "the judge's, with errors by cluster"
)


@dataclass(frozen=True)
class Methods:
    """A paragraph, in which [1] stands for the first reference, and the references in the order of their naming."""

    text: str
    references: tuple[str, ...]
    keys: tuple[str, ...] = ()
    """Of the references, for BibTeX."""

    def to_json(self) -> MethodsDocument:
        """As JSON types."""
        return {"text": self.text, "references": list(self.references), "keys": list(self.keys)}


def methods(
    people: Mapping[str, ReportPeopleDocument],
    calibrations: Sequence[CalibrationDocument],
    audits: Sequence[AuditDocument],
    cascade: StudyCascadeDocument | None = None,
    difficulty: Mapping[str, DifficultyDocument] | None = None,
    design: DesignDescription | None = None,
) -> Methods:
    """The paragraph on the design, agreement and difficulty (by criterion), calibrations, audits and the cascade."""
    criteria = [found for result in calibrations for found in result["criteria"].values()]
    probes = [found for result in audits for found in result["criteria"].values()]
    said = [
        *_design(design, people),
        *_people(people),
        *_difficulty(difficulty or {}),
        *_judges(criteria),
        *_cascade(cascade),
        *_audits(probes),
    ]
    names = list(dict.fromkeys(name for _, names in said for name in names))
    place = {name: number for number, name in enumerate(names, start=1)}
    sentences = [f"{sentence}{_marks(place, used)}." for sentence, used in said]
    return Methods(" ".join(sentences), tuple(REFERENCES[name] for name in names), tuple(names))


Said = Iterator[tuple[str, tuple[str, ...]]]
"""Sentences without their full stop, each with the keys of what it refers to."""


def _marks(place: Mapping[str, int], names: tuple[str, ...]) -> str:
    return f" [{', '.join(str(place[name]) for name in names)}]" if names else ""


SAMPLING = {
    "all": "All {size:,} eligible {items} were taken",
    "simple": "{size:,} of {frame_size:,} eligible {items} were drawn at random (seed {seed})",
    "stratified": "{size:,} of {frame_size:,} eligible {items} were drawn at random within strata "
    "by {strata} (seed {seed})",
    "active": "{size:,} of {frame_size:,} eligible {items} were chosen by a judge's uncertainty (seed {seed})",
}
"""By method of a draw, what is said of it."""


def _design(design: DesignDescription | None, people: Mapping[str, ReportPeopleDocument]) -> Said:
    """Items, raters, levels of agreement, judges and software, as they were in this study."""
    if not design:
        return
    for one in design["samples"]:
        strata = ", ".join(one["strata"])
        yield SAMPLING[one["method"]].format(**{**one, "items": design["items"], "strata": strata}), ()
    yield from _raters(design, people)
    levels = [f"{found['name']} ({found['level']})" for found in people.values()]
    if levels:
        yield f"The level of measurement of each criterion is: {', '.join(levels)}", ()
    for unit, names in design["asked_of"].items():
        yield f"Asked of {unit}, which counts by itself: {', '.join(names)}", ()
    yield from ((_describe_judge(one), ()) for one in design["judges"])
    yield f"Intervals count as independent: {design['clusters']}", ()
    yield f"All figures were computed by Concord {design['code_version']}", ()


def _raters(design: DesignDescription, people: Mapping[str, ReportPeopleDocument]) -> Said:
    n = sum(found["n_ratings"] for found in people.values())
    if not n:
        return
    dates = " to ".join(dict.fromkeys(design["labelled"]))
    who = [f"{design['n_people']} people"] if design["n_people"] else []
    if design["n_simulated"]:
        who.append(f"{design['n_simulated']} simulated annotators, whose labels are drawn by a program")
    yield f"{' and '.join(who)}, gave {n:,} labels ({dates})".replace("people, gave", "people gave"), ()
    if design["n_simulated"] and not design["n_people"]:
        yield "Where this text says people, it means the simulated annotators", ()


def _describe_judge(one: JudgeDescription) -> str:
    model = ", ".join(filter(None, [one["kind"], one["provider"], one["model"], f"version {one['version']}"]))
    if not one["judged"]:
        return f"The judge {one['name']} ({model}) had given no verdict yet"
    said = f"The judge {one['name']} ({model}) gave its verdicts {' to '.join(dict.fromkeys(one['judged']))}"
    if one["prompts"]:
        said += f", asked with the prompts of hash {', '.join(one['prompts'])}"
    return f"{said}; its intervals rest on {one['resamples']:,} resamples"


def _people(people: Mapping[str, ReportPeopleDocument]) -> Said:
    if not people:
        return
    levels = {found["level"] for found in people.values()}
    names = dict.fromkeys(found["headline"]["name"] for found in people.values() if found["level"] != "spans")
    if names:
        said = ", ".join(names).replace("’", "'")
        sources = ("cohen", "krippendorff") if "kappa" in said else ("krippendorff",)
        yield f"Agreement among people is the {said} over pairs of people, and Krippendorff's alpha", sources
    yield from (said for level, said in OF_LEVELS.items() if level in levels)
    resamples = max(found["bootstrap"] for found in people.values())
    if resamples:
        yield (
            "Intervals are Student's t intervals of the jackknife, and from 200 independent units on BCa bootstrap "
            f"intervals over {resamples:,} resamples",
            ("efron",),
        )


def _difficulty(by_criterion: Mapping[str, DifficultyDocument]) -> Said:
    made = [(found["method"], found["cuts"]) for found in by_criterion.values() if found["method"]]
    if made:
        sources = dict.fromkeys(one for method, _ in made for one in FITTED[method])
        cuts = ", ".join(f"{cut:g}" for cut in made[0][1])
        yield DIFFICULTY.format(cuts=cuts), tuple(sources)


def _judges(criteria: Sequence[CriterionFiguresDocument]) -> Said:
    if not criteria:
        return
    if any(found["kappa"] == "weighted_cohen_kappa" for found in criteria):
        yield KAPPA.format(kappa=WEIGHTED_KAPPA), ("cohen", "cohen_weighted")
    else:
        yield KAPPA.format(kappa=PLAIN_KAPPA), ("cohen",)
    yield from _alt_test(criteria)
    yield from _corrected(criteria)
    yield from _recalibrated(criteria)
    kept = {one["method"] for found in criteria for one in found["selective"] if one["guaranteed"]}
    if kept:
        used = [one for method, one in BOUNDS.items() if method in kept]
        bounds = " and ".join(text for text, _ in used)
        yield SELECTIVE.format(bounds=bounds), (*(reference for _, reference in used), "bauer")
    if any(found["leaderboard"] for found in criteria):
        yield "Strengths of assistants follow the Bradley–Terry model with ties", ("davidson",)


def _cascade(found: StudyCascadeDocument | None) -> Said:
    if found and any(one["guaranteed"] for one in found["criteria"].values()):
        judges = ", then ".join(found["judges"])
        said = CASCADE.format(judges=judges, delta=found["delta"], target=found["target_agreement"])
        yield said, ("jung", "clopper", "bauer")


def _alt_test(criteria: Sequence[CriterionFiguresDocument]) -> Said:
    made = [found["alt_test"] for found in criteria if found["alt_test"] and found["alt_test"]["passes"] is not None]
    if made:
        epsilons = sorted({found["epsilon"] for found in made})
        yield ALT_TEST.format(epsilon=", ".join(f"{value:g}" for value in epsilons)), ("calderon", "by")


def _corrected(criteria: Sequence[CriterionFiguresDocument]) -> Said:
    parts = [part for found in criteria for part in list_parts(found).values()]
    if any(part["ppi"]["value"] is not None for part in parts):
        yield PPI, ("ppi",)
    if any(found["rogan_gladen"] and found["rogan_gladen"]["value"] is not None for found in criteria):
        yield "Rates are cross-checked by the Rogan–Gladen estimator with a smoothed interval", ("rogan", "lee")


def _recalibrated(criteria: Sequence[CriterionFiguresDocument]) -> Said:
    made = [found["scores"] for found in criteria if found["scores"] and not found["scores"]["reason"]]
    if made:
        kinds = tuple(sorted({found["method"] for found in made}))
        yield MAPS.format(maps=" and ".join(kinds), folds=made[0]["folds"]), (*kinds, "ece", "chuang", "brier")


def _audits(audits: Sequence[CriterionAuditDocument]) -> Said:
    made = sorted({one["name"] for found in audits for one in found["probes"] if one["found"] is not None})
    if made:
        corrections = tuple(sorted({found["correction"] for found in audits} & set(REFERENCES)))
        yield PROBES.format(probes=_listed(made)), corrections
    if any(one["test"].startswith(MODEL) for found in audits for one in found["probes"]):
        yield TRAIT, ("johnson",)
    if any(found["labels"]["annotators"] for found in audits):
        yield "The noise of each annotator's labels is estimated after Dawid and Skene", ("dawid",)


def _listed(names: Sequence[str]) -> str:
    words = [name.replace("_", " ").replace(":", " by ") for name in names]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
