"""Forms of a study's results: a held-out part, more labels, probes, and the next version of a judge."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext as _, gettext_noop

from annotation.studies.models.studies import Criterion, Study
from core.accounts.models.users import User
from core.errors import InputError
from core.options.fields import OptionsForm
from core.options.model import Options
from judging.assessment import wording
from judging.assessment.models.assessment import Escalation, LabelPlan
from judging.assessment.options import NewEscalation, NewHoldOut, NewPlanned, NewVersion, PlanOptions, ProbeOptions
from judging.assessment.queries.assessment_data import JudgeData
from judging.assessment.services import escalation, improvement, labelling_plans, probes
from judging.assessment.services.assessment import Assessment
from judging.judges.models import Judge
from judging.judges.prompts import templates
from judging.judges.prompts.alterations import list_alterations
from judging.judges.services import judges
from judging.runs.models.runs import JudgeRun
from judging.runs.services import estimates, runs
from judging.runs.services.estimates import Estimate


class HoldOutForm(OptionsForm):
    """The share of the items to hold out."""

    verb, asks = NewHoldOut, ("share",)


class EscalationForm(OptionsForm):
    """What is escalated to people, and the name of its study. `left` are the items by target agreement."""

    verb = NewEscalation

    def __init__(self, *args: object, found: Assessment, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        targets = found.calibration.parameters["targets"]
        self.left = [(target, len(escalation.find_escalated(found, target).positions)) for target in targets]
        label = _("{target} %: {n} items")
        self.fields["target"] = forms.TypedChoiceField(
            coerce=float,
            choices=[(target, label.format(target=f"{100 * target:g}", n=f"{n:,}")) for target, n in self.left],
            initial=found.rules.target_agreement,
            **{part: getattr(self.fields["target"], part) for part in ("label", "help_text")},
        )
        self.set("name", required=True, initial=f"{found.study.name}, escalated to people"[:120])
        self.set("overlap", initial=found.study.overlap)

    @property
    def has_left(self) -> bool:
        """Whether there is anything to escalate at any target."""
        return any(n for _target, n in self.left)

    def make(self, by: User | None, found: Assessment) -> Escalation | None:
        """The study, made; None if something was refused, which is said at its field."""
        return self.done(lambda: escalation.escalate(by=by, found=found, **self.arguments()))


class VersionForm(OptionsForm):
    """Examples drawn from the development part, and a prompt."""

    verb, asks = NewVersion, ("examples", "criteria", "seed", "template")

    def __init__(self, *args: object, study: Study, judge: Judge, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.study, self.judge = study, judge
        keys = [(criterion.key, criterion.name) for criterion in improvement.list_judged_criteria(study)]
        self.set("criteria", choices=keys, initial=[key for key, _ in keys], help_text="")
        self.set("template", initial=judge.parameters.get("template", ""))
        self.set("examples", initial=self._shown(), required=True)

    def _shown(self) -> int:
        """How many examples of a criterion the judge shows now."""
        there = [one["criterion"] for one in self.judge.parameters.get("examples", ())]
        return max((there.count(key) for key in set(there)), default=0)

    @property
    def own_template(self) -> str:
        """Concord's own words for a criterion without a prompt of its own, to begin from."""
        return templates.template(self.study.kind, templates.FALLBACK)

    def save(self, by: User) -> Judge | None:
        """The new version; the judge itself where nothing changes; None if something is wrong, said at its field."""
        given = self.arguments("criteria", "seed", n="examples")
        template = self.cleaned_data["template"].replace("\r\n", "\n")
        return self.done(
            lambda: improvement.new_version(by=by, judge=self.judge, study=self.study, template=template, **given)
        )


class PlanForm(OptionsForm):
    """How narrow the mean of which criterion has to be."""

    verb: type[Options] = PlanOptions

    def __init__(self, *args: object, evidence: JudgeData, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.evidence = evidence
        keys = [(criterion.key, criterion.name) for criterion in evidence.criteria]
        self.set("criterion", choices=keys)
        self.set("by", choices=[("", _("no groups")), *wording.name_groupings(evidence.material.groups)])
        self.fields["criterion"].initial = keys[0][0]
        if self.is_bound:  # what was left empty has its default, and shows it
            left = {name: field.initial for name, field in self.fields.items() if not self.data.get(name)}
            given = {name: self.data[name] for name in self.data}
            self.data = {**given, **{name: value for name, value in left.items() if value is not None}}

    def plan_options(self) -> PlanOptions:
        """What is planned for."""
        return PlanOptions.check(self.arguments("criterion", "width", "by", "confidence", "seed"))


class PlanStudyForm(PlanForm):
    """The same, and what the study of the drawn items is called."""

    verb = NewPlanned

    def make(self, by: User | None) -> LabelPlan | None:
        """The study, made; None if something was refused, which is said at its field."""
        return self.done(lambda: self._make(by))

    def _make(self, by: User | None) -> LabelPlan:
        found = labelling_plans.build_plan(self.evidence, self.plan_options())
        given = self.arguments("name", "overlap")
        return labelling_plans.make_study(by=by, evidence=self.evidence, found=found, **given)


ASKED = ("alterations", "criteria", "n", "seed", "budget_usd")
NONE_TO_ASK = gettext_noop("Judges here rate the assistant’s turns, and the study asks of the user’s alone.")
BY_UNIT = {
    "turn": gettext_noop("Of whole items, or of turns: each in a run of its own."),
    "response": gettext_noop("Of whole items, or of responses: each in a run of its own."),
}
ASKED_ABOUT = gettext_noop("Each asks about one copy of every item; the item as it is is asked about twice.")


class ProbeForm(OptionsForm):
    """Which alterations, of how many items, on which criteria."""

    def __init__(self, *args: object, study: Study, judge: Judge, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.study, self.judge = study, judge
        self.add(ProbeOptions, *ASKED, use_cache="ask_anew")
        there = [(one.name, f"{one.name}: {_(one.label)}") for one in list_alterations(study.kind)]
        asked = improvement.list_judged_criteria(study)
        keys = [(criterion.key, criterion.name) for criterion in asked]
        whole = [criterion.key for criterion in asked if criterion.unit == Criterion.Unit.ITEM]
        part = next((one.part_noun for one in asked if one.key not in whole), "")
        for name, choices in (("alterations", there), ("criteria", keys)):
            self.set(name, required=True, choices=choices, initial=[value for value, _ in choices], help_text="")
        self.set("alterations", help_text=ASKED_ABOUT)
        if not keys or (whole and part):
            self.set("criteria", initial=whole, help_text=BY_UNIT[part] if keys else NONE_TO_ASK)

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
