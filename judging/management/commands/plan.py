"""`manage.py plan`: how many items and ratings a study needs, which tiers it reaches, what its verdict is worth.

Of a study under way: how many more ratings would settle the tiers that are unclear, and of which items first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypedDict, final

from django.core.management.base import CommandParser

from annotation.agreement.result_types import CriterionMoreRatingsDocument
from annotation.agreement.services import more_ratings
from annotation.agreement.services.difficulty import parse_model_cuts
from annotation.management.base import ConcordCommand, format_columns
from annotation.stats.bands import DEFAULT_CUTS, TIERS
from annotation.stats.difficulty.more import AHEAD
from annotation.stats.planning import StudyPlan, StudyPlanDocument, plan_study
from annotation.studies.models.studies import Study
from annotation.studies.queries import ratings
from annotation.studies.queries.studies import study_called
from annotation.workbench.services.overlap import ask_more
from core.errors import InputError
from judging.management.commands.agreement import choose_criteria
from judging.management.commands.audit import power_line
from judging.stats.power import PowerDesign, power_document, power_of_replace
from judging.stats.result_types import PowerDocument

STUDIES = 200
"""Simulated for each line of the power table."""

USUAL: dict[str, object] = {
    "raters": 3,
    "categories": 2,
    "kappa": 0.6,
    "width": 0.1,
    "confidence": 0.95,
    "shares": None,
    "cuts": ",".join(map(str, DEFAULT_CUTS)),
    "items": "50,100,200,500",
    "per_cluster": 1,
    "simulations": 40,
    "seed": 0,
}
"""Options of a plan for a new study, and what they are by default."""

OF_STUDY = ("ask", "criterion", "agreement_cuts", "ahead")
"""Options that belong to --settle-tiers."""

MODEL_CUTS = "0.6,0.75,0.9"

MOST_ITEMS = 20
"""Items that are named on a terminal; the document holds all."""


class MoreRatingsDocument(TypedDict):
    """What more ratings would tell, by criterion, and of how many items one more was asked for; None without --ask."""

    study: str
    criteria: dict[str, CriterionMoreRatingsDocument]
    asked: int | None


@final
class PowerPlanDocument(StudyPlanDocument):
    """The plan of a new study, and a row of the power table for each number of items."""

    replace: list[PowerDocument]


class Command(ConcordCommand[MoreRatingsDocument | PowerPlanDocument]):
    help = (
        "Items and ratings that a study needs for an interval of a given width around kappa, found by simulation, "
        "the tiers that its number of ratings per item can reach, and how often a judge as good as people, and one "
        "clearly worse, would get the verdict replace. Needs no database. With --study and --settle-tiers: how many "
        "more ratings would settle the unclear tiers of a study, and which items to ask about first."
    )
    example = (
        "plan --raters 3 --categories 2 --kappa 0.6 --width 0.1\n"
        '  python manage.py plan --study "My study" --settle-tiers'
    )
    requires_system_checks: list[str] = []

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--raters", type=int, help="ratings per item (3)")
        parser.add_argument("--categories", type=int, help="categories of the scale (2)")
        parser.add_argument("--kappa", type=float, help="kappa that you expect (0.6)")
        parser.add_argument("--width", type=float, help="wanted width of its interval (0.1)")
        parser.add_argument("--confidence", type=float, help="of the interval (0.95)")
        parser.add_argument("--shares", help="expected share of each category, such as 0.9,0.1; equal by default")
        parser.add_argument("--cuts", help="of the tiers (0.4,0.6,0.8)")
        parser.add_argument("--items", help="sizes for the verdict (50,100,200,500)")
        parser.add_argument("--per-cluster", type=int, help="items of one profile or question (1)")
        parser.add_argument("--simulations", type=int, help="simulated studies per size tried (40)")
        parser.add_argument("--seed", type=int, help="of the simulation (0)")
        parser.set_defaults(**USUAL)
        parser.add_argument("--study", help="name or address of a study, for --settle-tiers")
        parser.add_argument("--settle-tiers", action="store_true", help="what more ratings would tell of its items")
        parser.add_argument("--criterion", metavar="KEY", help="of the study; all by default")
        parser.add_argument(
            "--agreement-cuts", metavar="A,B,C", help=f"of the difficulty model, as of `tiers` ({MODEL_CUTS})"
        )
        parser.add_argument("--ahead", type=int, help=f"further ratings per item looked at ({AHEAD})")
        parser.add_argument("--ask", action="store_true", help="ask for one more rating of the items named")

    def run(self, **options: Any) -> MoreRatingsDocument | PowerPlanDocument:
        if options["settle_tiers"] != bool(options["study"]):
            raise InputError("--study and --settle-tiers go together", field="study")
        if options["settle_tiers"]:
            _refuse([name for name in USUAL if options[name] != USUAL[name]], "a plan for a new study")
            study = study_called(options["study"])
            criteria = _settle_tiers(study, options["criterion"], options["agreement_cuts"], options["ahead"])
            wanted = sorted({position for one in criteria.values() for position in one["ask"]})
            asked = ask_more(by=None, study=study, positions=wanted) if options["ask"] and wanted else 0
            return {"study": study.name, "criteria": criteria, "asked": asked if options["ask"] else None}
        _refuse(
            [name for name in OF_STUDY if options[name] is not None and options[name] is not False], "--settle-tiers"
        )
        first, second, third = numbers(options["cuts"], "cuts", 3)
        shares = numbers(options["shares"], "shares") if options["shares"] else None
        try:
            plan = plan_study(
                n_raters=options["raters"],
                n_categories=options["categories"],
                kappa=options["kappa"],
                width=options["width"],
                confidence=options["confidence"],
                shares=shares,
                cuts=(first, second, third),
                simulations=options["simulations"],
                seed=options["seed"],
            )
            power = _power(plan, shares, options["items"], options["per_cluster"])
            return {**plan.to_json(), "replace": power}
        except InputError:
            raise
        except ValueError as error:
            raise InputError(str(error)) from error

    def write_text(self, document: MoreRatingsDocument | PowerPlanDocument) -> None:
        if "criteria" in document:
            self._write_more_ratings(document)
        else:
            self._write_plan(document)

    def _write_plan(self, plan: PowerPlanDocument) -> None:
        wanted = f"a {100 * plan['confidence']:.0f} % interval {plan['width']:g} wide around kappa {plan['kappa']:g}"
        if plan["items"] is None:
            self.stdout.write(f"No affordable number of items gives {wanted}.")
        else:
            self.stdout.write(
                f"{plan['items']:,} items with {plan['raters']} ratings each, {plan['ratings']:,} ratings in all, "
                f"give {wanted}."
            )
        self.stdout.write("\nRatings per item   items   ratings")
        for size in plan["alternatives"]:
            self.stdout.write(f"{size['raters']:>16} {size['items'] or '-':>7} {size['ratings'] or '-':>9}")
        self._write_tiers(plan)
        self.stdout.write("\nHow often the verdict is replace, if no probe finds anything:")
        self.stdout.write("\n".join(f"  {power_line(one)}" for one in plan["replace"]))

    def _write_more_ratings(self, document: MoreRatingsDocument) -> None:
        for key, found in document["criteria"].items():
            self.stdout.write(f"{key}: {found['sentence']}")
            rows = [
                [row["item"], f"{100 * row['chance']:.0f} %", f"{row['ratings']:.1f}" if row["likely"] else "-"]
                for row in found["items"][:MOST_ITEMS]
            ]
            if rows:
                self.stdout.write(format_columns([["item", "becomes clear", "ratings expected"], *rows]))
        if document["asked"] is not None:
            self.stdout.write(f"Asked for one more rating of {document['asked']:,} items.")

    def _write_tiers(self, plan: PowerPlanDocument) -> None:
        self.stdout.write("\nKappas that an item can have, by tier:")
        for tier in reversed(TIERS):
            values = plan["tiers"]["bands"][tier]
            self.stdout.write(f"  {tier:<10}{', '.join(f'{value:.2f}' for value in values) or 'none'}")
        for warning in plan["warnings"]:
            self.stdout.write(f"\n{warning['message']}")


def _refuse(foreign: Sequence[str], owner: str) -> None:
    """Raise InputError on the first of these options, which belong to the other kind of plan."""
    for name in foreign:
        raise InputError("--{name} belongs to {owner}", field=name, name=name.replace("_", "-"), owner=owner)


def _settle_tiers(
    study: Study, key: str | None, cuts: str | None, ahead: int | None
) -> dict[str, CriterionMoreRatingsDocument]:
    """What more ratings would tell, by criterion."""
    found = {one.criterion.key: one for one in ratings.load_study(study)}
    model_cuts, most = parse_model_cuts(cuts or MODEL_CUTS, "agreement-cuts"), AHEAD if ahead is None else ahead
    return {
        one: more_ratings.compute_criterion(study, found[one], cuts=model_cuts, ahead=most)
        for one in choose_criteria(found, key)
    }


def _power(plan: StudyPlan, shares: Sequence[float] | None, sizes: str, per_cluster: int) -> list[PowerDocument]:
    """The power table: a row for each number of items."""
    if per_cluster < 1:
        raise InputError("must be at least 1", field="per-cluster")
    found = []
    for n in sorted(int(one) for one in numbers(sizes, "items")):
        design = PowerDesign(
            n_items=n,
            n_clusters=max(n // per_cluster, 1),
            n_raters=plan.n_raters,
            n_categories=plan.n_categories,
            kappa=plan.kappa,
            shares=None if shares is None else tuple(shares),
        )
        found.append(power_document(design, power_of_replace(design, studies=STUDIES, seed=plan.seed)))
    return found


def numbers(text: str, field: str, n: int | None = None) -> list[float]:
    """Numbers as they are typed, 0.9,0.1. Raises InputError where they are not numbers, or not ``n`` of them."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = [math.nan]
    if not all(map(math.isfinite, found)):
        raise InputError("{text!r} is not a list of numbers such as 0.9,0.1", field=field, text=text)
    if n is not None and len(found) != n:
        raise InputError("{text!r} has {n_found} numbers, not {n}", field=field, text=text, n_found=len(found), n=n)
    return found
