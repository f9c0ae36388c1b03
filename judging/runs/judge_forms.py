"""Forms of a judge's own pages: what it is, its limits, and what its model costs."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from judging.judges.models.judges import Judge
from judging.judges.models.limits import Price
from judging.judges.services import judges, prices, quotas
from judging.runs.forms import DescribedJudge, ParametersField, SayingForm, dollars, provider_choices
from judging.runs.services.previews import Preview, preview


class JudgeForm(DescribedJudge, SayingForm):
    """A new judge, or another version of one."""

    name = forms.CharField(label="Name", max_length=120, help_text="Tables and plots call it so.")
    template = forms.CharField(
        label="Template of your own",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 12, "spellcheck": "false"}),
        help_text="In place of Concord's words, with placeholders such as $conversation. Empty for Concord's own.",
    )
    templates = ParametersField(
        label="Templates by criterion",
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text='As JSON, such as {"personalization": "… $conversation …"}. They go before the template above.',
    )
    keep_examples = forms.BooleanField(label="Keep its examples", required=False, initial=True)
    study = forms.ModelChoiceField(
        queryset=Study.objects.none(),
        required=False,
        label="Preview on the first item of",
        empty_label="no study",
    )

    def __init__(self, *args: Any, by: User, judge: Judge | None = None, **kwargs: Any) -> None:
        """With `judge`, a change of it: the name stays."""
        super().__init__(*args, **kwargs)
        self.judge, self.by = judge, by
        study = self.fields["study"]
        assert isinstance(study, forms.ModelChoiceField)
        study.queryset = filter_visible(by, Study.objects.order_by("-created_at"))
        if judge is not None:
            del self.fields["name"]
        if judge is None or not judge.examples:
            del self.fields["keep_examples"]

    def clean_templates(self) -> dict[str, str]:
        found = self.cleaned_data["templates"] or {}
        if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
            raise forms.ValidationError("Templates are a JSON object of texts.")
        return found

    def settings(self) -> dict[str, Any]:
        """What `judges.define` takes. The template is one of the parameters."""
        given, described = self.cleaned_data, self.build_options()
        own: dict[str, Any] = {"template": given["template"].replace("\r\n", "\n")} if given["template"].strip() else {}
        if given["templates"]:
            own["templates"] = given["templates"]
        if self.judge and self.judge.examples and given["keep_examples"]:
            own["examples"] = self.judge.examples
        name = self.judge.name if self.judge else given["name"]
        parameters = {**described["parameters"], **own}
        return {**described, "name": name, "parameters": parameters, "project": self.judge and self.judge.project}

    def save(self, by: User) -> Judge | None:
        """The judge as described, which is the one that there is if nothing changed."""
        saved: Judge | None = self.done(lambda: judges.define(by=by, **self.settings()))
        return saved

    def test(self) -> str | None:
        """What is known of the judge as described, once it was asked whether it would answer. Nothing is saved."""
        found: str | None = self.done(lambda: judges.test(judges.build_judge(by=self.by, **self.settings())))
        return found

    def preview(self) -> Preview | None:
        """What it would ask about a real item. Nothing is saved."""
        study = self.cleaned_data["study"]
        if study is None:
            self.add_error("study", "Choose the study whose first item is shown.")
            return None
        shown: Preview | None = self.done(lambda: preview(judges.build_judge(by=self.by, **self.settings()), study))
        return shown


class LimitsForm(SayingForm):
    """What a judge may cost in a day, and how fast its model may be asked."""

    daily_budget_usd = dollars("Daily budget in US dollars", help_text="For all versions together. Empty: none.")
    requests_per_minute = forms.IntegerField(
        label="Requests a minute", required=False, help_text="To this model, by all judges and workers together."
    )
    tokens_per_minute = forms.IntegerField(label="Tokens a minute", required=False, help_text="Read and written.")

    def save(self, by: User, judge: Judge) -> bool:
        given = self.cleaned_data

        def set_all() -> bool:
            judges.set_daily_budget(by=by, judge=judge, usd=given["daily_budget_usd"])
            quotas.set_limits(
                by=by,
                provider=judge.provider,
                model=judge.model,
                requests_per_minute=given["requests_per_minute"],
                tokens_per_minute=given["tokens_per_minute"],
            )
            return True

        return bool(self.done(set_all))


class PriceForm(SayingForm):
    """What a model costs from a day on."""

    provider = forms.ChoiceField(label="Provider", choices=provider_choices)
    model = forms.CharField(label="Model", max_length=120, help_text="As judges name it.")
    valid_from = forms.DateField(label="From", widget=forms.DateInput(attrs={"type": "date"}))
    input = forms.DecimalField(label="Tokens read", max_digits=12, decimal_places=4, min_value=0)
    output = forms.DecimalField(label="Tokens written", max_digits=12, decimal_places=4, min_value=0)
    cache_read = dollars("Tokens read from the cache", min_value=0)
    cache_write = dollars("Tokens put into the cache", min_value=0)
    batch_input = dollars("Tokens read, in bulk", min_value=0)
    batch_output = dollars("Tokens written, in bulk", min_value=0)
    note = forms.CharField(label="Where it is published", max_length=200, required=False)

    def save(self, by: User) -> Price | None:
        saved: Price | None = self.done(lambda: prices.enter(by=by, **self.cleaned_data))
        return saved
