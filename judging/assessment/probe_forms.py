"""The form that sets probes of a judge going."""

from __future__ import annotations

from typing import Any

from annotation.studies.models.studies import Criterion, Study
from core.accounts.models.users import User
from core.errors import InputError
from core.options.fields import OptionsForm
from judging.assessment.options import ProbeOptions
from judging.assessment.services import probes
from judging.judges.models.judges import Judge
from judging.judges.prompts.alterations import list_alterations
from judging.judges.services import judges
from judging.runs.models.runs import JudgeRun
from judging.runs.services import estimates, runs
from judging.runs.services.estimates import Estimate

ASKED = ("alterations", "criteria", "n", "seed", "budget_usd")
NONE_OF_ITEMS = "Probes alter whole items, and the study has no criterion that is asked of them."
ASKED_ABOUT = "Each asks about one copy of every item; the item as it is is asked about twice."


class ProbeForm(OptionsForm):
    """Which alterations, of how many items, on which criteria."""

    def __init__(self, *args: Any, study: Study, judge: Judge, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study, self.judge = study, judge
        self.add(ProbeOptions, *ASKED, use_cache="ask_anew")
        there = [(one.name, f"{one.name}: {one.label}") for one in list_alterations(study.kind)]
        whole = study.criteria.filter(unit=Criterion.Unit.ITEM)
        keys = [(criterion.key, criterion.name) for criterion in whole]
        for name, choices in (("alterations", there), ("criteria", keys)):
            self.set(name, required=True, choices=choices, initial=[value for value, _ in choices], help_text="")
        self.set("alterations", help_text=ASKED_ABOUT)
        self.set("criteria", help_text="" if keys else NONE_OF_ITEMS)

    def estimate(self) -> Estimate | None:
        """What the run would take; None if something stands in its way, which is then said at its field."""
        return self.done(lambda: estimates.estimate(self.build_plan()))

    def start(self, by: User) -> JudgeRun | None:
        """The run, started; None if something stands in its way."""
        try:
            judges.probe(self.judge)  # may wait on the network, so before the database is locked
        except InputError as error:
            self.add_error(None, error.message)
            return None
        return self.done(lambda: runs.make(by=by, plan=self.build_plan(), queue=True))

    def build_plan(self) -> runs.Plan:
        """The run as it would be."""
        options = ProbeOptions.check(self.arguments(*ASKED, use_cache="ask_anew"))
        return probes.plan(study=self.study, judge=self.judge, options=options)
