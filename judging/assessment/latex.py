"""Tables of a report in LaTeX, for the packages booktabs and longtable (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from judging.assessment import calibration_figures, wording
from judging.assessment.charts import TIERS

Document = Mapping[str, Any]

SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
    "’": "'",
    "−": "$-$",
    "λ": r"$\lambda$",
    "ω": r"$\omega$",
    "ε": r"$\varepsilon$",
}


def escape(text: object) -> str:
    """Text as LaTeX prints it, on one line."""
    return "".join(SPECIAL.get(letter, letter) for letter in " ".join(str(text).split()))


def format_number(value: float | None, digits: int = 3) -> str:
    """A number in a formula, so that its minus is one; a dash where there is none."""
    return "--" if value is None else f"${value:.{digits}f}$"


def estimate(found: Document | None, digits: int = 3) -> str:
    """Value and interval; a dash where it is undefined."""
    if found is None or found["value"] is None:
        return "--"
    if found["low"] is None or found["high"] is None:
        return format_number(found["value"], digits)
    value, low, high = (format_number(found[key], digits) for key in ("value", "low", "high"))
    return f"{value} [{low}, {high}]"


def table(caption: str, label: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are LaTeX already; the first column is text, the others too."""
    body = [" & ".join(row) + r" \\" for row in rows]
    lines = [
        r"\begin{longtable}{" + "l" * len(header) + "}",
        rf"\caption{{{escape(caption)}}}\label{{tab:{label}}}\\",
        r"\toprule",
        " & ".join(escape(name) for name in header) + r" \\",
        r"\midrule",
        r"\endhead",
        *body,
        r"\bottomrule",
        r"\end{longtable}",
    ]
    return "\n".join(lines)


SIMULATED = "Simulated annotators, not people: {names}."
SAME_MODELS = "One model has several parts: {lines} A model may favour what it wrote itself."


def report(document: Document) -> str:
    """All tables of a report, and its methods paragraph."""
    study = document["study"]["name"]
    head = [
        f"% Tables of the study {escape(study)}. Needs \\usepackage{{booktabs,longtable}}.",
        f"% Computed {document['generated_at']} by Concord {document['code_version']}.",
        *(escape(SIMULATED.format(names=", ".join(names))) for names in [document["simulated"]] if names),
        *(escape(SAME_MODELS.format(lines=" ".join(lines))) + r"\par" for lines in [document["same_models"]] if lines),
        escape(document["methods"]["text"]),
        "",
        *(escape(change["sentence"]) + r"\par" for change in document["rules_on_record"]["changes"]),
    ]
    references = [
        rf"\item[{{[{k}]}}] {escape(one)}" for k, one in enumerate(document["methods"]["references"], start=1)
    ]
    listed = [r"\begin{description}", *references, r"\end{description}"] if references else []
    return "\n".join([*head, *listed, "", *tables(document)]) + "\n"


def tables(document: Document) -> Iterator[str]:
    """People, tiers, verdicts, the cascade, corrected figures, recalibration, probes, boards."""
    header = ["Criterion", "Agreement", "Coefficient", "Krippendorff's alpha", "Items"]
    yield table("Inter-annotator agreement", "people", header, (
        [
            escape(found["name"]),
            estimate(found["coefficients"][found["headline"]["people"]]),
            escape(found["headline"]["name"]),
            estimate(found["coefficients"]["krippendorff_alpha"]),
            str(found["n_items"]),
        ]
        for found in document["people"].values()
    ))  # fmt: skip
    yield from _difficulty(document["difficulty"])
    yield _verdicts(document)
    if document["cascade"]:
        yield _cascade(document["cascade"])
    for name, found in document["judges"].items():
        for key, one in found["calibration"]["criteria"].items():
            yield from _of_criterion(name, key, one, found["audit"]["criteria"][key])


PERSONAL = {"paired comparison": ("order", "Drawn to the first response")}
"""By the difficulty model's method, what it says of a person in place of severity."""


def _difficulty(by_criterion: Document) -> Iterator[str]:
    """Expected items of each tier, and people, of the criteria that the difficulty model was fitted to."""
    made = {key: found for key, found in by_criterion.items() if found["method"]}
    if made:
        rows = (
            [
                escape(found["name"]),
                *(_expected(found, tier) for tier in TIERS),
                str(found["clear"]),
                str(found["n_items"]),
            ]
            for found in made.values()
        )
        yield table("Expected items per tier", "tiers", ["Criterion", *TIERS, "Clear", "Items"], rows)
    for key, found in made.items():
        figure, title = PERSONAL.get(found["method"], ("severity", "Severity"))
        rows = (
            [
                escape(one["name"]),
                estimate(one[figure]),
                estimate(one["consistency"]),
                *(format_number(one[name], 2) for name in ("infit", "outfit")),
                str(one["n_ratings"]),
            ]
            for one in found["people"]
        )
        header = ["Annotator", title, "Consistency", "Infit", "Outfit", "Ratings"]
        yield table(f"{found['name']}: annotators by the difficulty model", f"annotators-{key}", header, rows)


def _expected(found: Document, tier: str) -> str:
    low, high = found["count_intervals"][tier]
    return f"{format_number(found['expected_counts'][tier], 1)} [{format_number(low, 0)}, {format_number(high, 0)}]"


def _verdicts(document: Document) -> str:
    header = ["Criterion", "Judge", "Verdict", "Judge–human agreement", "Human ceiling", "Biases"]
    rows = (
        [
            escape(verdict["name"]),
            escape(name),
            verdict["decision"],
            estimate(verdict["kappa"]),
            estimate(verdict["human_ceiling"]),
            escape(", ".join(found["audit"]["criteria"][key]["found"]) or "none"),
        ]
        for name, found in document["judges"].items()
        for key, verdict in found["verdicts"].items()
    )
    return table("Judges", "judges", header, rows)


def _cascade(document: Document) -> str:
    """Judges one after the other, and each alone; the rest is escalated to people."""
    rows = (
        [
            escape(found["name"]),
            escape(", then ".join(one["judges"])),
            estimate(one["coverage"]),
            estimate(one["agreement"]),
            estimate(one["human_share"]),
            format_number(one["cost_per_item_usd"], 4),
        ]
        for found in document["criteria"].values()
        for one in (found, *found["alone"])
    )
    promise = f"agreement {document['target_agreement']:g}, failing with probability {document['delta']:g}"
    header = [
        "Criterion",
        "Judges",
        "Accepted without review",
        "Agreement",
        "Escalated to people",
        "Cost per item (USD)",
    ]
    return table(f"Cascade: {promise}", "cascade", header, rows)


def _of_criterion(judge: str, key: str, found: Document, audit: Document) -> Iterator[str]:
    about, label = f"{found['name']}, {judge}", f"{key}-{judge}"
    corrected = (
        [
            escape(" ".join(filter(None, (row["of"], row["label"])))),
            estimate(row["estimate"]),
            str(row["estimate"]["n_items"]),
            escape(row["note"]),
        ]
        for row in calibration_figures.correction(found)
    )
    header = ["By", "Estimate", "Items", "Note"]
    yield table(f"{about}: {found['estimand']}", f"correction-{label}", header, corrected)
    if found["scores"]:
        sides = (found["scores"]["before"]["intervals"], found["scores"]["after"]["intervals"])
        rows = ([name, *(estimate(side[name]) for side in sides)] for name in ("ece", "brier", "mae", "sharpness"))
        yield table(f"{about}: scores", f"scores-{label}", ["Error", "Original", "Recalibrated"], rows)
    yield from _by_difficulty(about, label, found["tiers"]["by_difficulty"])
    probes = (
        [
            escape(one["name"]),
            estimate(one["effect"]),
            escape(one["test"]),
            format_number(one["adjusted_p_value"]),
            {True: "found", False: "no", None: "not run"}[one["found"]],
            format_number(one["minimum_detectable_effect"]),
        ]
        for one in audit["probes"]
    )
    header = ["Probe", "Effect", "Test", "p, adjusted", "Found", "Minimum detectable effect (80 % power)"]
    tiers = f" (tiers: {wording.item_tiers(audit['tiers'])})" if audit["tiers"] else ""
    yield table(f"{about}: probes{tiers}", f"probes-{label}", header, probes)
    yield from _data(about, label, audit)
    if boards := calibration_figures.leaderboards(found):
        header = ["Assistant", "People", "Judge", "Corrected"]
        rows = (
            [escape(row["assistant"]), *(_strength(row[board]) for board in ("people", "judge", "corrected"))]
            for row in boards
        )
        yield table(f"{about}: strengths of assistants", f"board-{label}", header, rows)


def _by_difficulty(about: str, label: str, found: Document) -> Iterator[str]:
    """Agreement with people's label by tier; every item counts in each tier by its probability of being there."""
    if found["by_tier"]:
        rows = (
            [tier, format_number(one["items"], 1), estimate(one["accuracy"])] for tier, one in found["by_tier"].items()
        )
        header = ["Tier", "Expected items", "Agreement with people's label"]
        yield table(f"{about}: agreement by difficulty", f"difficulty-{label}", header, rows)


def _data(about: str, label: str, audit: Document) -> Iterator[str]:
    """The audits of the data: trivial baselines, annotators, copies, polarity."""
    rules = ([escape(one["name"]), estimate(one["accuracy"]), estimate(one["judge"])] for one in audit["baselines"])
    yield table(f"{about}: trivial baselines", f"rules-{label}", ["Rule", "Right", "The judge there"], rules)
    noise = (
        [escape(one["annotator"]), format_number(one["accuracy"]), str(one["n"])]
        for one in audit["labels"]["annotators"]
    )
    header = ["Annotator", "Accuracy", "Ratings"]
    yield table(f"{about}: annotators after Dawid and Skene", f"noise-{label}", header, noise)
    copies = audit["duplicates"]
    facts = [
        ["Items that are copies of others", str(copies["n_items"])],
        ["Groups of copies with other labels", str(copies["n_contradictory"])],
        ["Annotators who read the scale backwards", escape(", ".join(audit["labels"]["backwards"]) or "none")],
        ["Judge–human correlation", estimate(audit["polarity"])],
    ]
    yield table(f"{about}: the data", f"data-{label}", ["Audit", "Found"], facts)


def _strength(place: Document | None) -> str:
    return "--" if place is None else estimate(place["strength"])
