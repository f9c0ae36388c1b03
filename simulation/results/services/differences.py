"""What differs between an experiment and those of PersonaLens: its settings against the ones as published, row by row.

Nothing here is written for one experiment: every row compares a declaration (`published_settings`,
`prompts.information`) with what the experiment, its agents and its judges hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Count
from django.utils.translation import gettext as _

from annotation.corpus.imports.personalens import SOURCE
from annotation.studies.models.studies import Study
from core.jobs.backoff import PermanentError
from judging.judges.models import NO_MODELS, Judge
from judging.judges.prompts import templates
from judging.judges.services import judges
from judging.runs.models.runs import JudgeRun
from simulation.agents import speakers
from simulation.agents.models import Agent
from simulation.agents.prompts import CONDITIONS, FAITHFUL, USER_INFORMATION, roles
from simulation.agents.prompts.information import HERE, PUBLISHED, UserKnowledge, select_knowledge
from simulation.experiments.models import Experiment
from simulation.experiments.services.studies import CRITERIA
from simulation.results import published as paper
from simulation.results.queries.judgments import list_experiment_judges
from simulation.results.result_types import SettingDocument, SettingsDocument

NONE = "none"
TURN_LEVEL = "a call for each turn, with the dialogue up to it"


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting as published and here. `same` is None where one of the two is not known."""

    setting: str
    paper: str
    here: str
    same: bool | None

    def to_json(self) -> SettingDocument:
        return {"setting": self.setting, "paper": self.paper, "here": self.here, "same": self.same}


def differences(experiment: Experiment) -> list[Difference]:
    """All settings that are compared, those that agree too, in the order of the flow."""
    rated_by = [judge for judge, _ in list_experiment_judges(experiment)]
    return [
        *list_sample(experiment),
        *list_user(experiment),
        *list_assistants(experiment),
        *list_dialogues(experiment),
        *list_judges(experiment, rated_by),
    ]


def equal(setting: str, printed: object, here: object) -> Difference:
    return Difference(setting, str(printed), str(here), printed == here)


def list_sample(experiment: Experiment) -> Iterator[Difference]:
    sources = {str(one) for one in experiment.dialogues.values_list("scenario__profile__source", flat=True).distinct()}
    yield equal("Dataset", SOURCE, ", ".join(sorted(sources)) or NONE)
    yield equal("Users", paper.USERS, len(experiment.grid.get("users", [])))
    n = count_scenarios(experiment)
    yield equal("Scenarios of one domain", paper.SINGLE_SCENARIOS, n[False])
    yield equal("Scenarios of several domains", paper.MULTI_SCENARIOS, n[True])


def count_scenarios(experiment: Experiment) -> dict[bool, int]:
    """How many scenarios have a task of one domain (False) and of several (True). One query."""
    rows = experiment.dialogues.order_by().values_list("scenario__task__domains", "scenario__task__is_multi_domain")
    found = {True: 0, False: 0}
    for domains, is_multi, n in rows.annotate(n=Count("scenario", distinct=True)):
        found[is_multi or len(domains or ()) > 1] += n
    return found


def list_user(experiment: Experiment) -> Iterator[Difference]:
    yield from list_agents("User agent", [experiment.user_agent], paper.USER)
    yield equal("User agent: thinking", paper.STRATEGY, experiment.strategy)
    for role in ("user_opening", "user_later"):
        words = roles.list_placeholders(role, experiment.user_information, experiment.prompts)
        yield describe_setting(
            f"{roles.ROLES[role].name}: told", PUBLISHED[role], select_knowledge(words, dialogue=role == "user_later")
        )
    ends = [USER_INFORMATION[information].mark for information in (FAITHFUL, experiment.user_information)]
    yield equal("User agent: ends with", *ends)


def list_assistants(experiment: Experiment) -> Iterator[Difference]:
    yield from list_agents("Assistants", list(experiment.assistants.all()), paper.ASSISTANT)
    for key in experiment.conditions:
        printed = PUBLISHED[key].list_parts() if key in paper.CONDITIONS else NONE
        here = HERE[key].list_parts() if key in HERE else CONDITIONS[key].name
        yield Difference(f"Assistant under {key}: told", printed, here, printed == here)
    missing = [key for key in paper.CONDITIONS if key not in experiment.conditions]
    yield Difference("Conditions", ", ".join(paper.CONDITIONS), ", ".join(experiment.conditions), not missing)


def list_agents(name: str, agents: Sequence[Agent], printed: paper.Side) -> Iterator[Difference]:
    """Models and parameters of one side. The same models are those printed, and all of them."""
    models = [agent.model or agent.provider for agent in agents]
    found = [one for one in printed.models if any(paper.is_model(model, one) for model in models)]
    strange = [model for model in models if not any(paper.is_model(model, one) for one in printed.models)]
    is_same = len(found) == len(printed.models) and not strange
    yield Difference(f"{name}: model", ", ".join(printed.models), ", ".join(models), is_same)
    for parameter in ("temperature", "max_tokens"):
        values = [effective(agent, parameter) for agent in agents]
        yield load_values(f"{name}: {PARAMETERS[parameter]}", getattr(printed, parameter), values)


PARAMETERS = {"temperature": "temperature", "max_tokens": "most tokens of a reply"}


def load_values(setting: str, printed: float, values: Sequence[float | None]) -> Difference:
    shown = dict.fromkeys("not sent" if value is None else f"{value:g}" for value in values)
    return Difference(setting, f"{printed:g}", ", ".join(shown), all(value == printed for value in values))


def effective(agent: Agent, parameter: str) -> float | None:
    """The agent's parameter, given or by default; None where it has none."""
    try:
        field = speakers.find_class(agent.provider).Parameters.model_fields.get(parameter)
    except PermanentError:
        field = None
    value: float | None = agent.parameters.get(parameter, field.default if field else None)
    return value


def list_dialogues(experiment: Experiment) -> Iterator[Difference]:
    unit = experiment.limit_unit
    for kind, words in (("single", "one domain"), ("multi", "several domains")):
        here = f"{getattr(experiment, f'{kind}_turns')} {unit}"
        yield equal(f"Limit, tasks of {words}", f"{paper.EXCHANGES[kind]} exchanges", here)
    replaced = [roles.ROLES[role].name for role in experiment.prompts]
    whose = f"Concord's own; replaced: {', '.join(replaced)}" if replaced else "Concord's own"
    yield Difference("Words of the prompts", "the authors' own", whose, same=False)
    stopped = "a side repeats itself, refuses, says nothing or falls out of its part"
    yield Difference("Dialogues end early where", "never", stopped, same=False)


def list_judges(experiment: Experiment, found: Sequence[Judge]) -> Iterator[Difference]:
    """Judges that rated the experiment's dialogues, each with its settings."""
    if not found:
        yield Difference("Judge: model", ", ".join(paper.JUDGE.models), "no judge has rated them", None)
    for judge in found:
        model = judge.model or judge.provider
        is_same = any(paper.is_model(model, one) for one in paper.JUDGE.models)
        yield Difference(f"{judge}: model", ", ".join(paper.JUDGE.models), model, is_same)
        if not judge.is_runnable:  # how it was asked elsewhere is not known here
            continue
        for parameter, words in PARAMETERS.items():
            yield load_values(f"{judge}: {words}", getattr(paper.JUDGE, parameter), [load_judge(judge, parameter)])
        runs = JudgeRun.objects.filter(judge=judge, study__items__dialogue__simulated__experiment=experiment)
        if runs.filter(unit=JudgeRun.Unit.TURN).exists():
            yield Difference(f"{judge}: turns of the assistant", paper.TURN_LEVEL, TURN_LEVEL, same=False)
        repeats = sorted(set(runs.order_by().values_list("repeats", flat=True)))
        yield load_values(f"{judge}: judgments of each item", paper.REPEATS, repeats)
        for key in CRITERIA:
            yield find_question(judge, key)


def find_question(judge: Judge, key: str) -> Difference:
    """What the judge is told for a criterion. Of a template of its own that is not known from here."""
    setting, printed = f"{judge} on {key}: told", PUBLISHED[key].list_parts()
    if own := templates.find_template(key, **judge.parameters):
        return Difference(setting, printed, f"a template of its own, {templates.digest(own)}", None)
    return describe_setting(setting, PUBLISHED[key], HERE[key])


def load_judge(judge: Judge, parameter: str) -> float | None:
    """The judge's parameter, given or by default; None where it has none."""
    try:
        value: float | None = getattr(judges.build_provider(judge).parameters, parameter, None)
    except PermanentError:
        value = judge.parameters.get(parameter)
    return value


def describe_setting(setting: str, printed: UserKnowledge, here: UserKnowledge) -> Difference:
    return equal(setting, printed.list_parts(), here.list_parts())


def document(experiment: Experiment) -> SettingsDocument:
    """All settings beside those published, and warnings, as JSON types."""
    return {
        "experiment": experiment.pk,
        "name": experiment.name,
        "settings": [one.to_json() for one in differences(experiment)],
        "warnings": list_shared_models(experiment),
    }


def list_shared_models(experiment: Experiment, rated_by: Sequence[Judge] | None = None) -> list[str]:
    """Warnings, in sentences, where one model has two parts: what it writes, it also answers or rates.

    `rated_by` are the experiment's judges, where they are known.
    """
    known = [judge for judge, _ in list_experiment_judges(experiment)] if rated_by is None else rated_by
    found = [judge for judge in known if judge.is_runnable and judge.provider not in NO_MODELS]
    assistants = [one for one in experiment.assistants.all() if not one.is_scripted]
    user = None if experiment.user_agent.is_scripted else find_model(experiment.user_agent)
    both = [one.name for one in assistants if find_model(one) == user]
    warnings = [_("{name} plays the users and is an assistant under test.").format(name=name) for name in both]
    for judge in found:
        plays, is_tested = find_model(judge) == user, find_model(judge) in map(find_model, assistants)
        if words := describe_parts(plays=plays, is_tested=is_tested):
            warnings.append(words.format(name=judge.model or judge.provider, judge=judge))
    return warnings


def describe_parts(*, plays: bool, is_tested: bool) -> str:
    """The warning of a judge that plays the users, or is an assistant under test, or both; empty for neither."""
    if plays and is_tested:
        return _("{name} plays the users and is an assistant under test, and rates the dialogues as the judge {judge}.")
    if plays:
        return _("{name} plays the users, and rates the dialogues as the judge {judge}.")
    if is_tested:
        return _("{name} is an assistant under test, and rates the dialogues as the judge {judge}.")
    return ""


def warn_of_study(study: Study, judges: Sequence[Judge]) -> list[str]:
    """The warnings of every experiment whose dialogues the study rates, each once, for these judges of the study."""
    found = Experiment.objects.filter(dialogues__dialogue__items__study=study).distinct().order_by("pk")
    return list(dict.fromkeys(line for experiment in found for line in list_shared_models(experiment, judges)))


def find_model(one: Agent | Judge) -> tuple[str, str]:
    return one.provider, one.model
