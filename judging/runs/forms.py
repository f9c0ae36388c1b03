"""Forms of the judge pages. What they check beyond types, the services check, and say at which field."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy as _

from annotation.benchmarks.imports import personafeedback
from annotation.corpus.exchange.registry import EXCHANGES
from annotation.corpus.formats.registry import CHAT_FORMATS
from annotation.corpus.imports.records import SOURCE
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.audit.log import audit_batch
from core.errors import InputError
from core.files import archives
from core.files.input_files import MEGABYTE, InputFile
from core.files.outcome import Outcome
from core.files.staging import save_upload
from core.options.fields import OptionsForm
from judging.judges.models import NOT_RUN_HERE, Judge
from judging.judges.options import NewJudge
from judging.judges.providers import REGISTRY
from judging.judges.services import judges
from judging.runs.imports.formats import Format
from judging.runs.models.runs import JudgeRun
from judging.runs.options import NewPanel, NewRun, Resume
from judging.runs.services import estimates, panels, runs
from judging.runs.services.estimates import Estimate

RUN_OPTIONS = ("criteria", "order_policy", "unit", "repeats", "seed", "budget_usd", "in_bulk")
DESCRIBING = ("model", "base_url", "parameters")
"""Fields that only a new judge has."""

ORDERS = {
    "random": _("One order for each pair, randomised"),
    "both": _("Both orders, to measure position bias"),
    "AB": _("Response 1 always first"),
    "BA": _("Response 2 always first"),
}
UNITS = {
    "item": _("The whole item"),
    "turn": _("Every turn of the assistant, each with what was said before it"),
    "response": _("Every response, each without the others"),
}
OF_UNITS = {
    Study.Kind.DIALOGUE: _("Of single turns, criteria about the user are left out."),
    Study.Kind.PAIR: _("Criteria of each response are for runs on responses, all others for runs on whole items."),
}


class JudgeChoice(forms.ModelChoiceField[Judge]):
    """Judges with what is behind their names."""

    def label_from_instance(self, obj: Judge) -> str:
        return f"{obj} · {_('baseline, no model') if obj.is_baseline else obj.model or obj.provider}"


def provider_choices() -> list[tuple[str, str]]:
    """The providers that a new judge may have, with what each is."""
    return [(name, gettext(one.label)) for name, one in REGISTRY.items() if one.label]


class DescribedJudge(OptionsForm):
    """What a new judge is: where its verdicts come from, and with what."""

    verb = NewJudge
    base_url = forms.CharField(
        label="Address",
        max_length=300,
        required=False,
        help_text="An OpenAI-compatible server, such as http://localhost:8000/v1. Empty for the one that "
        "OPENAI_BASE_URL names, or OpenAI itself.",
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.set("provider", choices=provider_choices())

    def build_parameters(self) -> dict[str, object]:
        """The parameters as `judges.define` takes them. The address is one of them."""
        given = self.cleaned_data
        if given["base_url"] and given["provider"] != "openai_compatible":
            raise InputError("Only an OpenAI-compatible judge has an address.", field="base_url")
        if given["base_url"] and not given["base_url"].startswith(("http://", "https://")):
            raise InputError("An address begins with http:// or https://.", field="base_url")
        address = {"base_url": given["base_url"]} if given["base_url"] else {}
        return {**given["parameters"], **address}


class RunForm(DescribedJudge):
    """A run of a known judge or of a new one."""

    judge = JudgeChoice(
        queryset=Judge.objects.none(),
        required=False,
        label="Judge",
        empty_label=_("A new judge, described below"),
        widget=forms.Select(attrs={"data-empty-opens": "new-judge"}),
    )

    def __init__(self, *args: object, study: Study, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        self.add(NewRun, *RUN_OPTIONS, use_cache="ask_anew")
        self.set("provider", required=False)
        self.set("name", required=False, help_text="Enter a name to use this new judge. Shown in tables and plots.")
        self.set("repeats", required=True)
        criteria = list(study.criteria.all())
        self.keys = keys = [(criterion.key, criterion.name) for criterion in criteria]
        known = latest_judges(study.project_id)
        choice = self.fields["judge"]
        assert isinstance(choice, JudgeChoice)
        choice.queryset, choice.initial = known, known.order_by("-created_at").first()
        self.set("criteria", required=True, choices=keys, initial=[key for key, _ in keys], help_text="")
        self.set("order_policy", choices=list(ORDERS.items()))
        if study.kind != Study.Kind.PAIR:
            del self.fields["order_policy"]
        self.offer_units([criterion.of_responses for criterion in criteria])

    def offer_units(self, of_responses: Sequence[bool]) -> None:
        """What a run can rate: turns of dialogues, and responses where a criterion is asked of each."""
        parts = "response" if any(of_responses) else "" if self.study.kind == Study.Kind.PAIR else "turn"
        there = [(unit, label) for unit, label in UNITS.items() if unit in ("item", parts)]
        initial = parts if of_responses and all(of_responses) else "item"
        self.set("unit", choices=there, initial=initial, help_text=OF_UNITS[Study.Kind(self.study.kind)])
        if not parts:
            del self.fields["unit"]

    def clean(self) -> dict[str, object]:
        """What is described under a name is a new judge, whatever is chosen above it."""
        cleaned = super().clean() or {}
        if cleaned.get("name"):
            cleaned["judge"] = None
        elif any(cleaned.get(field) for field in DESCRIBING):
            self.add_error("name", _("A new judge needs a name."))
        elif not cleaned.get("judge") and "judge" not in self.errors:
            self.add_error("name", _("Choose a judge above, or name a new one."))
        return cleaned

    @property
    def is_new(self) -> bool:
        """Whether the part for a new judge matters: one is being described, or there is none to choose."""
        if self.is_bound:
            return not self.data.get("judge") or any(self.data.get(field) for field in ("name", *DESCRIBING))
        return self.fields["judge"].initial is None

    def start(self, by: User) -> JudgeRun | None:
        """The run, started; None if something stands in its way, which is then said at its field."""
        try:
            judges.probe(self.build_plan().judge)  # may wait on the network, so before the database is locked
            with audit_batch():
                return runs.make(by=by, plan=self.build_plan(self.choose_judge(by)), queue=True)
        except InputError as error:
            self.refuse(error)
            return None

    def estimate(self) -> Estimate | None:
        """What the run would take. Nothing is made, not even a judge; None if something stands in its way."""
        return self.done(lambda: estimates.estimate(self.build_plan()))

    def build_plan(self, judge: Judge | None = None) -> runs.Plan:
        """Plan the run of this judge; without one, of the judge that the form describes, which is not saved."""
        chosen = judge or self.choose_judge(None, define=judges.build_judge)
        given = self.arguments(*RUN_OPTIONS, use_cache="ask_anew")
        if len(given["criteria"]) == len(self.keys):
            del given["criteria"]
        return runs.plan(study=self.study, judge=chosen, **given)

    def choose_judge(self, by: User | None, *, define: Callable[..., Judge] | None = None) -> Judge:
        given = self.cleaned_data
        if given["judge"]:
            judge: Judge = given["judge"]
            return judge
        make = define or partial(judges.define, by=by)
        described = {name: given[name] for name in ("name", "provider", "model")}
        return make(**described, project=self.study.project, parameters=self.build_parameters())

    def refuse(self, error: InputError) -> None:
        is_of_new = error.field == "judge" and not self.cleaned_data["judge"]
        super().refuse(InputError(error.message, field="provider") if is_of_new else error)


def latest_judges(project: int) -> QuerySet[Judge]:
    """The newest version of every judge of a project that can be run here."""
    latest = Judge.objects.filter(project=project).order_by("name", "-version")
    newest: dict[str, int] = {}
    for pk, name in latest.exclude(provider__in=NOT_RUN_HERE).values_list("pk", "name"):
        newest.setdefault(name, pk)
    return Judge.objects.filter(pk__in=newest.values()).order_by("name")


class ResumeForm(OptionsForm):
    """Going on with a run, perhaps with a higher budget."""

    verb = Resume


class UploadForm(OptionsForm):
    """A file of one format, and what must be known besides."""

    file = forms.FileField(label="File", allow_empty_file=True)
    source = forms.CharField(
        label="Source",
        max_length=40,
        initial=SOURCE,
        help_text="Where the ids come from. Importing an id of the same source again updates its record.",
    )
    study = forms.CharField(
        label="Study",
        max_length=120,
        help_text="Its name. If there is none of this name, one is made of the items that the file names.",
    )
    judge = forms.CharField(label="Judge", max_length=120, help_text="The name under which its ratings are compared.")
    benchmark = forms.CharField(
        label="Name of the benchmark",
        max_length=120,
        required=False,
        help_text=format_lazy(
            _("{name} if you give none. A release has a name of its own."), name=personafeedback.NAME
        ),
    )
    skip = forms.BooleanField(
        label="Keep the good records if some are bad",
        required=False,
        help_text="Otherwise one bad record means that nothing of the file is kept.",
    )

    def __init__(self, *args: object, chosen: Format, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.chosen = chosen
        self.fields["file"].help_text = gettext("At most {most} MB; a command takes more.").format(
            most=settings.MAX_UPLOAD_BYTES // MEGABYTE
        )
        for name in {"source", "study", "judge", "benchmark"} - set(chosen.fields):
            del self.fields[name]
        if chosen.key in EXCHANGES or chosen.key in CHAT_FORMATS:
            self.fields["source"].initial = chosen.key

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        if file.size and file.size > settings.MAX_UPLOAD_BYTES:
            said = gettext(
                "{file} has more than {most} MB: import it with the command of the same name, which has no such limit."
            )
            raise forms.ValidationError(said.format(file=file.name, most=settings.MAX_UPLOAD_BYTES // MEGABYTE))
        return file

    def load(self, by: User) -> Outcome | None:
        """What the import did; None if it was refused, with the reason at its field."""
        more = {name: self.cleaned_data[name] for name in self.chosen.fields}
        with save_upload(self.cleaned_data["file"]) as file:
            on_error = "skip" if self.cleaned_data["skip"] else "stop"
            try:
                if self.chosen.folder:
                    return self.load_folder(file, file.path.parent / "folder", by=by, on_error=on_error, **more)
                return self.chosen.load(by=by, file=file, on_error=on_error, **more)
            except InputError as error:
                self.refuse(error)
                return None

    def load_folder(self, file: InputFile, place: Path, **more: object) -> Outcome:
        """Load what is packed in the file. Whatever is said of it names the file, not the place where it lay."""
        place.mkdir()
        try:
            folder = archives.unpack(file, place)
            outcome = self.chosen.load(file=InputFile.from_path(folder), **more)
        except InputError as error:
            raise archives.name_error(error, place, file) from error
        for one in outcome.skipped:
            one["file"] = archives.to_given(one.get("file"), place, file)
        return outcome

    def refuse(self, error: InputError) -> None:
        """What is wrong in the file is said at the file, with its line; the rest at its own field."""
        if error.file is None and error.field in self.fields:
            self.add_error(error.field, error.message)
        else:
            self.add_error("file", str(error))


class RunChoices(forms.ModelMultipleChoiceField[JudgeRun]):
    """Runs with what is behind their numbers."""

    def label_from_instance(self, obj: JudgeRun) -> str:
        n = f"{vars(obj)['n_judged']:,}"
        said = gettext("{judge}, run {run}: {n} judgments").format(judge=obj.judge, run=obj.pk, n=n)
        if obj.repeats > 1:
            said += gettext(", {n} repeats").format(n=obj.repeats)
        if obj.unit != JudgeRun.Unit.ITEM:
            said += f", {obj.get_unit_display()}"
        return f"{said} · {obj.created_at:%Y-%m-%d}"


class PanelForm(OptionsForm):
    """Some of a study's finished runs, combined."""

    verb, asks = NewPanel, ("name", "method")
    runs = RunChoices(queryset=JudgeRun.objects.none(), label="Members", widget=forms.CheckboxSelectMultiple)

    def __init__(self, *args: object, runs: QuerySet[JudgeRun], **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        choices = self.fields["runs"]
        assert isinstance(choices, RunChoices)
        choices.queryset = runs

    def save(self, by: User) -> JudgeRun | None:
        return self.done(lambda: panels.combine(by=by, runs=list(self.cleaned_data["runs"]), **self.arguments()))
