"""Forms of the judge pages. What they check beyond types, the services check, and say at which field."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from annotation.benchmarks.imports import personafeedback
from annotation.corpus.exchange.registry import EXCHANGES
from annotation.corpus.imports.records import SOURCE
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.audit.log import audit_batch
from core.errors import InputError
from core.files import archives
from core.files.input_files import MEGABYTE, InputFile
from core.files.json_text import parse_json
from core.files.outcome import Outcome
from judging.judges.models.judges import NOT_RUN_HERE, Judge
from judging.judges.providers import REGISTRY
from judging.judges.services import judges
from judging.runs.imports.formats import Format
from judging.runs.models.runs import JudgeRun
from judging.runs.services import estimates, runs
from judging.runs.services.estimates import Estimate

PROVIDERS = {
    "baseline": "Baseline: counts of words, no model",
    "local": "Local: a model on this machine, no key and no network",
    "anthropic": "Anthropic: a Claude model, key in ANTHROPIC_API_KEY",
    "openai_compatible": "OpenAI-compatible: OpenAI, vLLM, Ollama, llama.cpp and others",
}
NOT_OFFERED = ("scripted",)
DESCRIBING = ("model", "base_url", "parameters")
"""Fields that only a new judge has."""

ORDERS = [
    ("random", "One order for each pair, randomised"),
    ("both", "Both orders, which shows whether the judge leans to a side"),
    ("AB", "Response 1 always first"),
    ("BA", "Response 2 always first"),
]
UNITS = [
    ("dialogue", "The whole dialogue"),
    ("turn", "Every turn of the assistant, each with what was said before it"),
]


class JudgeChoice(forms.ModelChoiceField[Judge]):
    """Judges with what is behind their names."""

    def label_from_instance(self, obj: Any) -> str:
        return f"{obj} · {'baseline, no model' if obj.is_baseline else obj.model or obj.provider}"


class Decoder(JSONDecoder):
    """How fields of JSON are read."""

    def decode(self, s: str) -> Any:  # type: ignore[override] # json's own has a private argument more
        try:
            return parse_json(s)
        except InputError as error:
            raise JSONDecodeError(error.message, s, 0) from error


class ParametersField(forms.JSONField):
    """JSON, or nothing: an empty field is shown empty, not as null."""

    default_error_messages = {"invalid": "This is not JSON, is nested more than 200 deep, or holds a NUL character."}

    def __init__(self, **options: Any) -> None:
        super().__init__(decoder=Decoder, **options)

    def prepare_value(self, value: Any) -> Any:
        return "" if value is None else super().prepare_value(value)


def provider_choices() -> list[tuple[str, str]]:
    """The providers that there are, the known ones first and in words."""
    known = [(name, label) for name, label in PROVIDERS.items() if name in REGISTRY]
    return known + [(name, name) for name in REGISTRY if name not in PROVIDERS and name not in NOT_OFFERED]


def dollars(label: str, **options: Any) -> forms.DecimalField:
    return forms.DecimalField(label=label, required=False, max_digits=12, decimal_places=4, **options)


class DescribedJudge(forms.Form):
    """What a new judge is: where its verdicts come from, and with what."""

    provider = forms.ChoiceField(label="Where its verdicts come from", choices=provider_choices)
    model = forms.CharField(
        label="Model",
        max_length=120,
        required=False,
        help_text="As its server calls it, for example claude-haiku-4-5. For a local one a GGUF file on this machine; "
        "empty for SmolLM2. The baseline has none.",
    )
    base_url = forms.CharField(
        label="Address",
        max_length=300,
        required=False,
        help_text="Of an OpenAI-compatible server, such as http://localhost:8000/v1. Empty for the one that "
        "OPENAI_BASE_URL names, or OpenAI itself.",
    )
    parameters = ParametersField(
        label="Parameters",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text='JSON, such as {"concurrency": 8, "max_tokens": 1000}. Leave empty for the defaults.',
    )

    def build_options(self) -> dict[str, Any]:
        """Provider, model and parameters as `judges.define` takes them. The address is one of the parameters."""
        given = self.cleaned_data
        parameters = {} if given["parameters"] is None else given["parameters"]
        if not isinstance(parameters, dict):
            raise InputError("Parameters are a JSON object, in braces.", field="parameters")
        if given["base_url"] and given["provider"] != "openai_compatible":
            raise InputError("Only an OpenAI-compatible judge has an address.", field="base_url")
        if given["base_url"] and not given["base_url"].startswith(("http://", "https://")):
            raise InputError("An address begins with http:// or https://.", field="base_url")
        address = {"base_url": given["base_url"]} if given["base_url"] else {}
        return {"provider": given["provider"], "model": given["model"], "parameters": {**parameters, **address}}


class RunForm(DescribedJudge):
    """A run of a known judge or of a new one."""

    judge = JudgeChoice(
        queryset=Judge.objects.none(),
        required=False,
        label="Judge",
        empty_label="A new judge, described below",
        widget=forms.Select(attrs={"data-empty-opens": "new-judge"}),
    )
    name = forms.CharField(
        label="Name",
        max_length=120,
        required=False,
        help_text="With a name, this judge is used. Tables and plots call it so.",
    )
    criteria = forms.MultipleChoiceField(label="Criteria", widget=forms.CheckboxSelectMultiple)
    order_policy = forms.ChoiceField(
        label="Order of the responses", choices=ORDERS, widget=forms.RadioSelect, initial="random", required=False
    )
    unit = forms.ChoiceField(
        label="What is judged",
        choices=UNITS,
        widget=forms.RadioSelect,
        initial="dialogue",
        required=False,
        help_text="Of single turns, criteria about the user are left out, and people's ratings are not compared.",
    )
    repeats = forms.IntegerField(
        label="Repeats",
        min_value=1,
        max_value=runs.MOST_REPEATS,
        initial=1,
        help_text="How often each question is asked. Two or more show how steady the judge is.",
    )
    seed = forms.IntegerField(
        label="Seed", min_value=0, max_value=runs.LARGEST_SEED, initial=0, help_text="Of everything that is randomised."
    )

    in_bulk = forms.BooleanField(
        label="Use the batch API",
        required=False,
        help_text="Half the price, answered within a day. For judges of provider Anthropic.",
    )
    budget_usd = dollars("Budget in US dollars", help_text="The run stops itself before it costs more. Empty for none.")
    ask_anew = forms.BooleanField(
        label="Ignore the cache",
        required=False,
        help_text="Otherwise the same question about the same item is not paid for twice.",
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        self.fields["provider"].required = False
        self.keys = keys = [(criterion.key, criterion.name) for criterion in study.criteria.all()]
        known = latest_judges(study.project_id)
        choice = self.fields["judge"]
        assert isinstance(choice, JudgeChoice)
        choice.queryset, choice.initial = known, known.order_by("-created_at").first()
        self.fields["criteria"].choices = keys  # type: ignore[attr-defined]
        self.fields["criteria"].initial = [key for key, _ in keys]
        if study.kind != Study.Kind.PAIR:
            del self.fields["order_policy"]
        else:
            del self.fields["unit"]

    def clean(self) -> dict[str, Any]:
        """What is described under a name is a new judge, whatever is chosen above it."""
        cleaned = super().clean() or {}
        if cleaned.get("name"):
            cleaned["judge"] = None
        elif any(cleaned.get(field) for field in DESCRIBING):
            self.add_error("name", "A new judge needs a name.")
        elif not cleaned.get("judge") and "judge" not in self.errors:
            self.add_error("name", "Choose a judge above, or name a new one.")
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
                return runs.start(by=by, study=self.study, judge=self.choose_judge(by), **self.options())
        except InputError as error:
            self.add_error(self.place_of(error), error.message)
            return None

    def estimate(self) -> Estimate | None:
        """What the run would take. Nothing is made, not even a judge; None if something stands in its way."""
        try:
            return estimates.estimate(self.build_plan())
        except InputError as error:
            self.add_error(self.place_of(error), error.message)
            return None

    def build_plan(self) -> runs.Plan:
        """The run as it would be, of a judge that is not saved yet."""
        return runs.plan(study=self.study, judge=self.choose_judge(None, define=judges.build_judge), **self.options())

    def choose_judge(self, by: User | None, *, define: Callable[..., Judge] | None = None) -> Judge:
        given = self.cleaned_data
        if given["judge"]:
            judge: Judge = given["judge"]
            return judge
        make = define or partial(judges.define, by=by)
        return make(name=given["name"], project=self.study.project, **self.build_options())

    def options(self) -> dict[str, Any]:
        given = self.cleaned_data
        return {
            "criteria": None if len(given["criteria"]) == len(self.keys) else given["criteria"],
            "repeats": given["repeats"],
            "order_policy": given.get("order_policy") or "random",
            "seed": given["seed"],
            "budget_usd": given.get("budget_usd"),
            "use_cache": not given.get("ask_anew"),
            "every_turn": given.get("unit") == "turn",
            "in_bulk": given["in_bulk"],
        }

    def place_of(self, error: InputError) -> str | None:
        """The field where the reader can do something about it."""
        if error.field == "judge" and not self.cleaned_data["judge"]:
            return "provider"
        if error.field == "every_turn":
            return "unit"
        return error.field if error.field in self.fields else None


def latest_judges(project: int) -> Any:
    """The newest version of every judge of a project that can be run here."""
    latest = Judge.objects.filter(project=project).order_by("name", "-version")
    newest: dict[str, int] = {}
    for pk, name in latest.exclude(provider__in=NOT_RUN_HERE).values_list("pk", "name"):
        newest.setdefault(name, pk)
    return Judge.objects.filter(pk__in=newest.values()).order_by("name")


class SayingForm(forms.Form):
    """A form whose service says at which field something is wrong."""

    def done(self, action: Callable[[], Any]) -> Any:
        """What the action returns; None if it refused, which is then said at its field."""
        try:
            with audit_batch():
                return action()
        except InputError as error:
            self.add_error(error.field if error.field in self.fields else None, error.message)
            return None


class ResumeForm(forms.Form):
    """Going on with a run, perhaps with a higher budget."""

    budget_usd = dollars("Budget in US dollars", help_text="Including what is spent.")


class UploadForm(forms.Form):
    """A file of one format, and what must be known besides."""

    file = forms.FileField(label="File", allow_empty_file=True)
    source = forms.CharField(
        label="Source",
        max_length=40,
        initial=SOURCE,
        help_text="Whose ids these are. The same ids of the same source are updated in place.",
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
        help_text=f"{personafeedback.NAME} if you give none. A release has a name of its own.",
    )
    skip = forms.BooleanField(
        label="Keep the good records if some are bad",
        required=False,
        help_text="Otherwise one bad record means that nothing of the file is kept.",
    )

    def __init__(self, *args: Any, chosen: Format, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.chosen = chosen
        self.fields["file"].help_text = f"At most {settings.MAX_UPLOAD_BYTES // MEGABYTE} MB; a command takes more."
        for name in {"source", "study", "judge", "benchmark"} - set(chosen.fields):
            del self.fields[name]
        if chosen.key in EXCHANGES:
            self.fields["source"].initial = chosen.key

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        if file.size and file.size > settings.MAX_UPLOAD_BYTES:
            raise forms.ValidationError(
                f"{file.name} has more than {settings.MAX_UPLOAD_BYTES // MEGABYTE} MB: "
                "import it with the command of the same name, which has no such limit."
            )
        return file

    def load(self, by: User) -> Outcome | None:
        """What the import did; None if it was refused, with the reason at its field."""
        more = {name: self.cleaned_data[name] for name in self.chosen.fields}
        upload: UploadedFile = self.cleaned_data["file"]
        with TemporaryDirectory(prefix="concord-upload-") as folder:
            path = Path(folder) / "upload"
            with path.open("wb") as stream:
                stream.writelines(upload.chunks())
            file = InputFile(path, upload.name or "the file")
            on_error = "skip" if self.cleaned_data["skip"] else "stop"
            try:
                if self.chosen.folder:
                    return self.load_folder(file, Path(folder) / "folder", by=by, on_error=on_error, **more)
                return self.chosen.load(by=by, file=file, on_error=on_error, **more)
            except InputError as error:
                self.refuse(error)
                return None

    def load_folder(self, file: InputFile, place: Path, **more: Any) -> Outcome:
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
