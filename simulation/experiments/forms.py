"""Forms of the experiment pages. What they check beyond types, the services check, and say at which field."""

from __future__ import annotations

import json
from collections.abc import Mapping

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext as _, gettext_lazy, gettext_noop

from annotation.corpus.models import Profile
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.audit.log import audit_batch
from core.errors import InputError
from core.options.fields import JsonField, OptionsForm
from judging.judges.providers.keys import Keyring
from judging.judges.services.keys import load_keyring_for
from simulation.agents import services as agents_services, speakers
from simulation.agents.models import Agent
from simulation.agents.prompts import DAMAGED, PUBLISHED, STRATEGIES, USER_INFORMATION
from simulation.agents.prompts.roles import KINDS, ROLES, STEPS
from simulation.experiments.models import Experiment
from simulation.experiments.options import ForPeople, NewExperiment
from simulation.experiments.services import estimates, experiments, studies
from simulation.experiments.services.estimates import Estimate
from simulation.experiments.services.experiments import PUBLISHED_LIMITS, Plan
from simulation.experiments.services.grids import grid

MODEL = gettext_noop("Its name at the provider. The local model needs none.")
PARAMETERS = gettext_noop('JSON, such as {"concurrency": 8, "temperature": 0.5}. Leave empty for the defaults.')


def speaker_choices() -> list[tuple[str, str]]:
    return [(name, _(one.label)) for name, one in speakers.REGISTRY.items() if one.label]


NAMES = [
    gettext_noop("Vanilla"), gettext_noop("Chain of thought"), gettext_noop("State tracking"),
    gettext_noop("Faithful"), gettext_noop("Task preferences"),
    gettext_noop("Shortened"), gettext_noop("Irrelevant"), gettext_noop("Contradicted"),
]  # fmt: skip
"""What the form calls strategies, what the user agent is told, and kinds of damage."""


def explain(names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Choices that are said by their names and what each is."""
    return [(name, f"{_(name.replace('_', ' ').capitalize())}: {_(says)}") for name, says in names.items()]


def prompt_field(role: str) -> forms.CharField:
    """The text of a role; empty for Concord's own."""
    known = ", ".join(f"${name}" for name in ROLES[role].placeholders) or _("none")
    return forms.CharField(
        label=_(ROLES[role].name),
        required=False,
        strip=False,
        max_length=50_000,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text=_("Empty for Concord’s own. Placeholders: {known}.").format(known=known),
    )


class ExperimentForm(OptionsForm):
    """A new experiment: who plays, who is under test, what each is told, and how far it may go."""

    verb = NewExperiment
    asks = (
        *("name", "strategy", "user_information", "conditions", "source", "users", "tasks"),
        *("single_exchanges", "multi_exchanges", "passages", "embedder", "seed", "budget_usd"),
    )
    places = {"user": "user_model", "assistant": "assistants"}
    user_provider = forms.ChoiceField(label="User agent", choices=speaker_choices)
    user_model = forms.CharField(label="Model", max_length=120, required=False, help_text=MODEL)
    user_parameters = JsonField(label="Parameters", required=False, rows=2, help_text=PARAMETERS)
    assistants = forms.CharField(
        label="Assistants under test",
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="One per line: PROVIDER, PROVIDER:MODEL or a name that begins with claude or gpt; parameters as JSON "
        'may follow, as in openai_compatible:llama3 {"base_url": "http://gpu1:8000/v1"}.',
        initial="local",
    )
    history = forms.MultipleChoiceField(
        label="Quality of the history",
        choices=lambda: explain(KINDS),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=format_lazy(
            gettext_lazy("Past interactions spoiled in steps of {step} %, each step a condition of its own."),
            step=STEPS[0],
        ),
    )

    def __init__(self, *args: object, by: User, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.by = by
        sources = list(
            Profile.objects.filter(scenarios__task__isnull=False)
            .order_by("source")
            .values_list("source", flat=True)
            .distinct()
        )
        self.set("source", choices=[(name, name) for name in sources])
        if len(sources) < 2:
            del self.fields["source"]
        known = [(key, _(condition.name)) for key, condition in PUBLISHED.items()]
        self.set("conditions", choices=known, initial=["base", "base+I"], help_text="")
        told = explain({key: one.name for key, one in USER_INFORMATION.items()})
        usual = ("", _("Default: as PersonaLens for its scenarios, else what the task names"))
        self.set("user_information", choices=[usual, *told], widget=forms.RadioSelect(), help_text="")
        self.set("strategy", choices=explain(STRATEGIES))
        self.set("single_exchanges", initial=PUBLISHED_LIMITS.single)
        self.set("multi_exchanges", initial=PUBLISHED_LIMITS.multi)
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
        given, keys = self.cleaned_data, load_keyring_for(self.by)
        asked = self.arguments("users", "tasks", "seed", "source")
        limits = self.arguments("single_exchanges", "multi_exchanges")
        return self.done(
            lambda: experiments.plan(
                **self.arguments("name", "strategy", "user_information", "seed", "passages", "budget_usd"),
                user_agent=agents_services.build_agent(
                    side="user",
                    provider=given["user_provider"],
                    model=given["user_model"],
                    parameters=given["user_parameters"],
                    keys=keys,
                ),
                assistants=self.agents(keys),
                conditions=self.list_conditions(),
                grid=grid(**asked),
                prompts={role: given[f"prompts_{role}"].replace("\r\n", "\n") for role in ROLES},
                limits=experiments.build_limits(**limits),
                embedder=agents_services.embedder(given["embedder"], keys),
            )
        )

    def list_conditions(self) -> list[str]:
        """Those chosen, then the steps of every kind of damage."""
        given = self.cleaned_data
        return [*given["conditions"], *(key for key, one in DAMAGED.items() if one.damage in given["history"])]

    def agents(self, keys: Keyring) -> list[Agent]:
        lines = [line.strip() for line in self.cleaned_data["assistants"].splitlines() if line.strip()]
        return [agents_services.parse_agent(line, side="assistant", keys=keys) for line in lines]

    def refuse(self, error: InputError) -> None:
        """An error of the prompts stands at the prompt that it names."""
        wrong = error.field == "prompts" and [role for role, one in ROLES.items() if error.message.startswith(one.name)]
        super().refuse(InputError(error.message, field=f"prompts_{wrong[0]}") if wrong else error)

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
            self.refuse(error)
            return None


class PeopleForm(OptionsForm):
    """A sample of an experiment's dialogues for people."""

    verb = ForPeople

    def send(self, by: User, experiment: Experiment) -> Study | None:
        """The study; None if it was refused, with the reason at its field."""
        return self.done(lambda: studies.create_human_check(by=by, experiment=experiment, **self.arguments()))


def parameters_in_words(agent: Agent) -> str:
    return ", ".join(f"{name} {json.dumps(value)}" for name, value in agent.parameters.items()) or _("defaults")
