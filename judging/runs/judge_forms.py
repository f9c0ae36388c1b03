"""Forms of a judge's own pages: what it is, its limits, what its model costs, and keys of models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from django import forms
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from annotation.studies.models.studies import Study
from annotation.studies.queries.studies import everyday
from core.accounts.models.projects import Project, choose_project
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.options.fields import JsonField, OptionsForm
from judging.judges.models import Judge, ModelKey, Price
from judging.judges.options import Limits, NewKey, NewPrice
from judging.judges.providers import load
from judging.judges.services import judges, keys, quotas
from judging.runs import parameter_fields
from judging.runs.forms import DescribedJudge, provider_choices
from judging.runs.parameter_fields import FIRST
from judging.runs.services import trials
from judging.runs.services.trials import Preview, Trial, preview

Result = TypeVar("Result")
OTHERS = gettext_noop('As JSON, such as {"system": "…"}; never a key. Empty for none.')
MODEL_HELP = {
    "anthropic": gettext_noop("As Anthropic calls it, for example claude-haiku-4-5."),
    "openai_compatible": gettext_noop("As its server calls it."),
    "local": gettext_noop("A GGUF file on this machine; empty for SmolLM2."),
    "baseline": gettext_noop("longer, first or chance chooses between two responses; empty counts words."),
    "scorer": gettext_noop("embedding, endpoint, model, or a function of this site by its name."),
}


class JudgeForm(DescribedJudge):
    """A new judge, or another version of one."""

    template = forms.CharField(
        label="Template of your own",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 12, "spellcheck": "false"}),
        help_text="In place of Concord's words, with placeholders such as $conversation. Empty for Concord's own.",
    )
    templates = JsonField(
        label="Templates by criterion",
        required=False,
        rows=4,
        texts=True,
        help_text='As JSON, such as {"personalization": "… $conversation …"}. They go before the template above.',
    )
    keep_examples = forms.BooleanField(label="Keep its examples", required=False, initial=True)
    study = forms.ModelChoiceField(
        queryset=Study.objects.none(),
        required=False,
        label="Items of",
        empty_label=gettext_lazy("no study"),
    )

    def __init__(self, *args: object, by: User, provider: str, judge: Judge | None = None, **kwargs: object) -> None:
        """The form for one provider, whose parameters are its fields. With `judge`, a change of it: the name stays."""
        super().__init__(*args, **kwargs)
        self.judge, self.by, self.provider = judge, by, provider
        self.fields |= parameter_fields.build_fields(provider)
        self.set("provider", widget=forms.HiddenInput(), initial=provider)
        self.set("parameters", label="Other parameters", help_text=OTHERS)
        self.set("model", help_text=MODEL_HELP.get(provider, ""))
        self.fields["model"].widget.attrs |= {"list": "models", "autocomplete": "off"}
        if not load(provider).needs_prompt:
            del self.fields["template"], self.fields["templates"]
        study = self.fields["study"]
        assert isinstance(study, forms.ModelChoiceField)
        study.queryset = filter_visible(by, everyday().order_by("-created_at"))
        if judge is not None:
            del self.fields["name"]
        if judge is None or not judge.examples:
            del self.fields["keep_examples"]

    @property
    def shown(self) -> list[forms.BoundField]:
        """Parameters that most judges set."""
        return [self[name] for name in self.fields if name.removeprefix(parameter_fields.PREFIX) in FIRST]

    @property
    def folded(self) -> list[forms.BoundField]:
        """The other parameters, and JSON for what has no field."""
        others = [self[name] for name in self.fields if name.startswith(parameter_fields.PREFIX)]
        return [*(bound for bound in others if bound not in self.shown), self["parameters"]]

    @property
    def is_fold_open(self) -> bool:
        return any(bound.errors for bound in self.folded)

    @property
    def has_own_prompt(self) -> bool:
        return any(self[name].errors or self[name].value() for name in ("template", "templates") if name in self.fields)

    def build_parameters(self) -> dict[str, object]:
        """The same, with the parameters that are fields, and the template."""
        found, given = super().build_parameters(), self.cleaned_data
        named = parameter_fields.read_given(given)
        parameter_fields.check_once(named, given["parameters"])
        template, templates = given.get("template", ""), given.get("templates")
        own: dict[str, object] = {"template": template.replace("\r\n", "\n")} if template.strip() else {}
        if templates:
            own["templates"] = templates
        if self.judge and self.judge.examples and given["keep_examples"]:
            own["examples"] = self.judge.examples
        return {**found, **named, **own}

    def build(self, make: Callable[..., Judge]) -> Judge:
        """What is made of the judge as described."""
        given, parameters = self.cleaned_data, self.build_parameters()
        of, model = self.judge, given.get("model", "")
        name, project = (of.name, of.project) if of else (given["name"], None)
        return make(name=name, provider=given["provider"], model=model, parameters=parameters, project=project)

    def save(self, by: User) -> Judge | None:
        """The judge as described, which is the one that there is if nothing changed."""
        return self.done(lambda: self.build(partial(judges.define, by=by)))

    def test(self) -> str | None:
        """What is known of the judge as described, once it was asked whether it would answer. Nothing is saved."""
        return self.done(lambda: judges.test(self.build(partial(judges.build_judge, by=self.by))))

    def list_models(self) -> tuple[str, ...] | None:
        """The models of the server that is described so far, whatever else is still missing."""

        def ask() -> tuple[str, ...]:
            judge = self.build(Judge)
            judge.name = "unnamed"
            if self.judge is None:
                judge.project = choose_project(self.by)
            return judges.list_models(judge)

        return self.done(ask)

    def try_out(self) -> list[Trial] | None:
        """What it answers about real items. Nothing is stored but that they were sent."""
        return self.look_at_study(lambda judge, study: trials.try_out(by=self.by, judge=judge, study=study))

    def preview(self) -> Preview | None:
        """What it would ask about a real item. Nothing is saved."""
        return self.look_at_study(preview)

    def look_at_study(self, action: Callable[[Judge, Study], Result]) -> Result | None:
        study = self.cleaned_data["study"]
        if study is None:
            self.add_error("study", gettext("Choose the study whose first items are shown."))
            return None
        return self.done(lambda: action(self.build(partial(judges.build_judge, by=self.by)), study))


class LimitsForm(OptionsForm):
    """What a judge may cost in a day, and how fast its model may be asked."""

    verb = Limits

    def save(self, by: User, judge: Judge) -> bool:
        given = self.arguments()

        def set_all() -> bool:
            judges.set_daily_budget(by=by, judge=judge, usd=given.pop("daily_budget_usd", None))
            quotas.set_limits(by=by, provider=judge.provider, model=judge.model, **given)
            return True

        return bool(self.done(set_all))


class PriceForm(OptionsForm):
    """What a model costs from a day on."""

    verb = NewPrice

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.set("provider", choices=provider_choices())

    def save(self, by: User) -> Price | None:
        return self.done(lambda: judges.enter_price(by=by, **self.arguments()))


class KeyForm(OptionsForm):
    """A key and the address that it is for. What was entered is never put into a page again."""

    verb = NewKey

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.set("address", initial="https://api.openai.com")
        self.set("key", widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}))

    def save(self, by: User, project: Project) -> ModelKey | None:
        return self.done(lambda: keys.keep(by=by, project=project, **self.arguments()))
