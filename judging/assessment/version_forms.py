"""The form that makes the next version of a judge from a study: examples, and the words of the prompt."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.studies.models.studies import Criterion, Study
from core.accounts.models.users import User
from judging.assessment.services import improvement
from judging.judges.models.judges import Judge
from judging.judges.prompts import templates
from judging.judges.services import examples
from judging.runs.forms import SayingForm


class VersionForm(SayingForm):
    """Examples drawn from the development part, and a prompt."""

    examples = forms.IntegerField(
        label="Examples for each criterion",
        min_value=0,
        max_value=examples.MOST,
        help_text="Adjudicated items of the development part, values of the scale in turn. 0 for none.",
    )
    criteria = forms.MultipleChoiceField(label="On", widget=forms.CheckboxSelectMultiple, required=False)
    seed = forms.IntegerField(label="Seed", min_value=0, initial=0, help_text="Of the draw.")
    template = forms.CharField(
        label="Prompt",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 14, "spellcheck": "false"}),
        help_text="Empty for Concord’s own, one for each criterion. $examples stands for the examples; the item goes "
        "first and what is asked last, so that what an item’s requests share is read once.",
    )

    def __init__(self, *args: Any, study: Study, judge: Judge, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study, self.judge = study, judge
        keys = [(criterion.key, criterion.name) for criterion in study.criteria.filter(unit=Criterion.Unit.ITEM)]
        self.fields["criteria"].choices = keys  # type: ignore[attr-defined]
        self.fields["criteria"].initial = [key for key, _ in keys]
        self.fields["template"].initial = judge.parameters.get("template", "")
        self.fields["examples"].initial = self._shown()

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
        given = self.cleaned_data

        def make() -> Judge:
            return improvement.new_version(
                by=by,
                judge=self.judge,
                study=self.study,
                n=given["examples"],
                criteria=given["criteria"],
                seed=given["seed"],
                template=given["template"].replace("\r\n", "\n"),
            )

        made: Judge | None = self.done(make)
        return made
