"""Forms of the experiment pages. What they check beyond types, the services check, and say at which field."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from annotation.corpus.models import Profile, Task
from core.accounts.models.users import User
from core.audit.log import audit_batch
from core.errors import InputError
from judging.judges.providers.keys import Keyring
from judging.judges.services.keys import load_keyring_for
from judging.runs.forms import ParametersField, SayingForm, dollars
from simulation.agents import services as agents_services
from simulation.agents import speakers
from simulation.agents.models import Agent
from simulation.agents.prompts import DAMAGED, PUBLISHED, STRATEGIES, USER_INFORMATION
from simulation.agents.prompts.generation import GENERATORS
from simulation.agents.prompts.history import KINDS, STEPS
from simulation.agents.prompts.roles import ROLES
from simulation.experiments.models.experiments import Experiment
from simulation.experiments.models.schemas import PreferenceType
from simulation.experiments.services import estimates, experiments, studies
from simulation.experiments.services.estimates import Estimate
from simulation.experiments.services.experiments import (
    LARGEST_SEED,
    MOST_PASSAGES,
    MOST_TURNS,
    PUBLISHED_LIMITS,
    Plan,
)
from simulation.experiments.services.grids import grid
from simulation.generation.models.orders import ConflictReview, Making
from simulation.generation.services import generation

SPEAKERS = {
    "local": "Local: a small model on this machine, no key and no network",
    "anthropic": "Anthropic: a Claude model, needs a key",
    "openai_compatible": "OpenAI-compatible: vLLM, Ollama, llama.cpp and others, needs an address",
    "callable": "Your own: a Python callable that CONCORD_ASSISTANTS names",
}
NOT_OFFERED = ("scripted",)
MODEL = "Its name at the provider. The local one has none."
PARAMETERS = 'JSON, such as {"concurrency": 8, "temperature": 0.5}. Leave empty for the defaults.'


def speaker_choices() -> list[tuple[str, str]]:
    known = [(name, label) for name, label in SPEAKERS.items() if name in speakers.REGISTRY]
    return known + [(name, name) for name in speakers.REGISTRY if name not in SPEAKERS and name not in NOT_OFFERED]


def json_field() -> ParametersField:
    return ParametersField(
        label="Parameters",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        help_text=PARAMETERS,
    )


def prompt_field(role: str) -> forms.CharField:
    """The text of a role; empty for Concord's own."""
    known = ", ".join(f"${name}" for name in ROLES[role].placeholders)
    return forms.CharField(
        label=ROLES[role].name,
        required=False,
        strip=False,
        max_length=50_000,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text=f"Empty for Concord’s own. Placeholders: {known or 'none'}.",
    )


class ExperimentForm(forms.Form):
    """A new experiment: who plays, who is under test, what each is told, and how far it may go."""

    name = forms.CharField(label="Name", max_length=120)
    user_provider = forms.ChoiceField(label="Who plays the users", choices=speaker_choices)
    user_model = forms.CharField(label="Model", max_length=120, required=False, help_text=MODEL)
    user_parameters = json_field()
    strategy = forms.ChoiceField(
        label="How it thinks",
        choices=[(key, f"{key.replace('_', ' ').capitalize()}: {says}") for key, says in STRATEGIES.items()],
        widget=forms.RadioSelect,
        initial="vanilla",
    )
    user_information = forms.ChoiceField(
        label="What it is told",
        choices=[
            ("", "Default: as PersonaLens for its scenarios, else what the task names"),
            *((key, f"{key.replace('_', ' ').capitalize()}: {one.name}") for key, one in USER_INFORMATION.items()),
        ],
        widget=forms.RadioSelect,
        required=False,
    )
    assistants = forms.CharField(
        label="Assistants under test",
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="One a line: PROVIDER, PROVIDER:MODEL or a name that begins with claude or gpt; parameters as JSON "
        'may follow, as in openai_compatible:llama3 {"base_url": "http://gpu1:8000/v1"}.',
        initial="local",
    )
    conditions = forms.MultipleChoiceField(
        label="What the assistant is told of the user",
        choices=[(key, condition.name) for key, condition in PUBLISHED.items()],
        widget=forms.CheckboxSelectMultiple,
        initial=["base", "base+I"],
    )
    history = forms.MultipleChoiceField(
        label="What the quality of the history is worth",
        choices=[(kind, f"{kind.capitalize()}: {says}") for kind, says in KINDS.items()],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=f"Past interactions spoiled in steps of {STEPS[0]} %, each step a condition of its own.",
    )
    source = forms.ChoiceField(label="Dataset", required=False, help_text="Whose profiles and tasks.")
    users = forms.CharField(label="Users", initial="10", help_text="A number to draw, ids with commas, or all.")
    tasks = forms.CharField(
        label="Tasks",
        initial="single 4, multi 1",
        help_text="A number to draw, ids with commas, all, single or multi; the last two also with a number. What a "
        "user does not care for is left out.",
    )
    single_exchanges = forms.IntegerField(
        label="Most exchanges, one domain",
        required=False,
        min_value=1,
        max_value=MOST_TURNS,
        initial=PUBLISHED_LIMITS.single,
        help_text="An exchange is a reply of the assistant and one of the user, after the user’s first message.",
    )
    multi_exchanges = forms.IntegerField(
        label="Most exchanges, several domains",
        required=False,
        min_value=1,
        max_value=MOST_TURNS,
        initial=PUBLISHED_LIMITS.multi,
    )
    passages = forms.IntegerField(
        label="Passages retrieved for a turn",
        min_value=1,
        max_value=MOST_PASSAGES,
        initial=3,
        help_text="Under the condition that retrieves.",
    )
    embedder = forms.CharField(
        label="Who makes embeddings",
        required=False,
        help_text="Only where passages are found by embeddings: openai_compatible:MODEL, parameters as JSON behind.",
    )
    seed = forms.IntegerField(
        label="Seed", min_value=0, max_value=LARGEST_SEED, initial=0, help_text="Of everything that is randomised."
    )
    budget_usd = dollars(
        "Budget in US dollars", help_text="The experiment stops itself before it costs more. Empty for none."
    )

    def __init__(self, *args: Any, by: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.by = by
        sources = list(
            Profile.objects.filter(scenarios__task__isnull=False)
            .order_by("source")
            .values_list("source", flat=True)
            .distinct()
        )
        self.fields["source"].choices = [(name, name) for name in sources]  # type: ignore[attr-defined]
        if len(sources) < 2:
            del self.fields["source"]
        self.fields |= {f"prompts_{role}": prompt_field(role) for role in ROLES}

    @property
    def prompt_fields(self) -> list[forms.BoundField]:
        return [self[f"prompts_{role}"] for role in ROLES]

    @property
    def has_prompts(self) -> bool:
        """Whether a prompt was given, so that its errors are not folded away."""
        return any(field.value() for field in self.prompt_fields)

    def plan(self) -> Plan | None:
        """The experiment as described; None if something is wrong with it, which is then said at its field."""
        given = self.cleaned_data
        try:
            keys = load_keyring_for(self.by)
            return experiments.plan(
                name=given["name"],
                user_agent=agents_services.build_agent(
                    side="user",
                    provider=given["user_provider"],
                    model=given["user_model"],
                    parameters=given["user_parameters"] or {},
                    keys=keys,
                ),
                assistants=self.agents(keys),
                conditions=self.list_conditions(),
                grid=grid(
                    users=given["users"], tasks=given["tasks"], seed=given["seed"], source=given.get("source", "")
                ),
                strategy=given["strategy"],
                user_information=given["user_information"],
                prompts={role: given[f"prompts_{role}"].replace("\r\n", "\n") for role in ROLES},
                seed=given["seed"],
                limits=experiments.build_limits(
                    single_exchanges=given["single_exchanges"], multi_exchanges=given["multi_exchanges"]
                ),
                passages=given["passages"],
                embedder=agents_services.embedder(given["embedder"], keys),
                budget_usd=given["budget_usd"],
            )
        except InputError as error:
            self.add_error(self.place_of(error), error.message)
            return None

    def list_conditions(self) -> list[str]:
        """Those chosen, then the steps of every kind of damage."""
        given = self.cleaned_data
        return [*given["conditions"], *(key for key, one in DAMAGED.items() if one.damage in given["history"])]

    def agents(self, keys: Keyring) -> list[Agent]:
        lines = [line.strip() for line in self.cleaned_data["assistants"].splitlines() if line.strip()]
        return [agents_services.parse_agent(line, side="assistant", keys=keys) for line in lines]

    def place_of(self, error: InputError) -> str | None:
        """The field where the reader can do something about it."""
        field = {"user": "user_model", "assistant": "assistants"}.get(error.field or "", error.field)
        if field == "prompts":
            field = next((f"prompts_{role}" for role, one in ROLES.items() if error.message.startswith(one.name)), None)
        return field if field in self.fields else None

    def clean_user_parameters(self) -> dict[str, Any]:
        found = self.cleaned_data["user_parameters"]
        if found is not None and not isinstance(found, dict):
            raise forms.ValidationError("Parameters are a JSON object, in braces.")
        return found or {}

    def estimate(self) -> Estimate | None:
        found = self.plan()
        return estimates.estimate(found) if found else None

    def start(self) -> Experiment | None:
        """The experiment, sent to the workers."""
        found = self.plan()
        try:
            if found is None:
                return None
            keys = load_keyring_for(self.by)
            for agent in found.agents:
                agents_services.probe(agent, keys)
            with audit_batch():
                return experiments.make(by=self.by, plan=found, queue=True)
        except InputError as error:
            self.add_error(self.place_of(error), error.message)
            return None


class ResumeForm(forms.Form):
    """Going on with an experiment, perhaps with a higher budget."""

    budget_usd = dollars("Budget in US dollars", help_text="Including what is spent.")


class GenerationForm(SayingForm):
    """An order of material. What each kind needs, the service says."""

    kind = forms.ChoiceField(
        label="What is made", choices=[one for one in Making.Kind.choices if one[0] not in Making.OF_CANDIDATES]
    )
    agent = forms.CharField(
        label="Who makes it",
        initial="local",
        help_text="PROVIDER, PROVIDER:MODEL or a name that begins with claude or gpt; parameters as JSON may follow.",
    )
    source = forms.ChoiceField(label="Whose preference types hold", help_text="As import_schema brought them in.")
    domains = forms.CharField(
        label="Domains",
        required=False,
        help_text="With commas between. Without any, a profile gets those of its mask, and each task is of several.",
    )
    demographics = ParametersField(
        label="Demographics",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        help_text='Of a whole profile, as JSON such as {"age": "35-44", "country": "Norway"}.',
    )
    profile = forms.CharField(label="Profile", max_length=200, required=False, help_text="Its id, for the other kinds.")
    task = forms.CharField(label="Task", max_length=200, required=False, help_text="Its id, for a situation.")
    n = forms.IntegerField(label="How many tasks", min_value=1, max_value=generation.MOST_TASKS, initial=1)
    prompts = ParametersField(
        label="Prompts of your own",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        help_text=f"As JSON, name to text, in place of Concord’s own: {', '.join(GENERATORS)}.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = PreferenceType.objects.order_by("source").values_list("source", flat=True).distinct()
        self.fields["source"].choices = [(name, name) for name in known] or [  # type: ignore[attr-defined]
            ("personalens", "none imported yet")
        ]

    def clean_demographics(self) -> dict[str, Any]:
        found = self.cleaned_data["demographics"]
        if found is not None and not isinstance(found, dict):
            raise forms.ValidationError("Demographics are a JSON object, in braces.")
        return found or {}

    def clean_prompts(self) -> dict[str, str]:
        found = self.cleaned_data["prompts"] or {}
        if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
            raise forms.ValidationError("Prompts are a JSON object of texts.")
        return found

    def order(self, by: User) -> Making | None:
        """The order, sent to the workers; None if it was refused, with the reason at its field."""
        found: Making | None = self.done(lambda: self.create_order(by))
        return found

    def create_order(self, by: User) -> Making:
        given = self.cleaned_data
        try:
            agent = agents_services.parse_agent(given["agent"], side="assistant", keys=load_keyring_for(by))
        except InputError as error:
            raise InputError(error.message, field="agent") from error
        return generation.order(
            by=by,
            kind=given["kind"],
            agent=agent,
            source=given["source"],
            domains=[domain.strip() for domain in given["domains"].split(",") if domain.strip()],
            demographics=given["demographics"],
            profile=self.find_record(Profile, "profile"),
            task=self.find_record(Task, "task"),
            n=given["n"],
            replaced=given["prompts"],
        )

    def find_record(self, kind: type[Any], field: str) -> Any:
        """The record of this id; None where none is named."""
        name = self.cleaned_data[field].strip()
        if not name:
            return None
        found = kind.objects.filter(external_id=name).order_by("source").first()
        if found is None:
            raise InputError(f"There is no {field} {name!r}.", field=field)
        return found


class ReviewForm(SayingForm):
    """What a person decides of a conflict."""

    decision = forms.ChoiceField(label="Decision", choices=ConflictReview.Decision.choices, widget=forms.RadioSelect)
    note = forms.CharField(label="Note", required=False, max_length=1000)


class PeopleForm(SayingForm):
    """A sample of an experiment's dialogues for people."""

    n = forms.IntegerField(
        label="Dialogues for people",
        min_value=1,
        initial=studies.PUBLISHED_SAMPLE,
        help_text="Three people rate each.",
    )
    draw = forms.ChoiceField(
        label="How they are drawn",
        choices=[
            (studies.RANDOM, "At random: the human check of PersonaLens"),
            (studies.STRATIFIED, "Spread over the judge's scores, and weighted"),
        ],
        required=False,
    )

    def send(self, by: User, experiment: Experiment) -> Any:
        """The study; None if it was refused, with the reason at its field."""
        n, draw = self.cleaned_data["n"], self.cleaned_data["draw"] or studies.RANDOM
        return self.done(lambda: studies.create_human_check(by=by, experiment=experiment, n=n, draw=draw))


def parameters_in_words(agent: Agent) -> str:
    return ", ".join(f"{name} {json.dumps(value)}" for name, value in agent.parameters.items()) or "defaults"
