"""Experiments: reckoned, started, stopped, resumed; their dialogues, results, and studies made of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.accounts.permissions import filter_visible
from core.api.base import Api, Given, PageQuery, build_page_schema
from core.api.schema import says
from judging.judges.services.keys import load_keyring_for
from judging.runs.options import Resume
from simulation.agents import services as agents_services
from simulation.agents.parsing.endings import ENDINGS
from simulation.experiments import queries
from simulation.experiments.models import Experiment, SimulatedDialogue, Turn
from simulation.experiments.options import ForPeople, NewExperiment
from simulation.experiments.services import estimates, experiments, studies
from simulation.experiments.services.experiments import Plan
from simulation.experiments.services.grids import grid

LIMITS = ("single_exchanges", "multi_exchanges", "single_turns", "multi_turns")


class ExperimentSerializer(serializers.ModelSerializer[Experiment]):
    """A grid of scenarios, assistants and conditions, played by one user agent."""

    project = serializers.CharField(source="project.slug", read_only=True)
    user_agent = serializers.CharField()
    assistants = serializers.ListField(child=serializers.CharField(), source="assistants.all")
    state = serializers.CharField(help_text="running, stopped or finished.")

    class Meta:
        model = Experiment
        fields = [
            "id",
            "name",
            "project",
            "state",
            "user_agent",
            "assistants",
            "strategy",
            "user_information",
            "prompts",
            "conditions",
            "grid",
            "seed",
            "single_turns",
            "multi_turns",
            "limit_unit",
            "passages",
            "budget_usd",
            "input_hash",
            "code_version",
            "stop_reason",
            "created_at",
            "finished_at",
            "stopped_at",
        ]


class ExperimentsApi(Api):
    tag = "experiments"

    def experiment(self, pk: int) -> Experiment:
        found: Experiment = get_object_or_404(list_experiments(), pk=pk)
        return found

    def render_experiment(self, pk: int, status: int = 200) -> Response:
        return Response(ExperimentSerializer(self.experiment(pk)).data, status=status)

    def build_plan(self, given: dict[str, Any]) -> Plan:
        """The experiment as the body describes it, checked."""
        given = dict(given)
        keys = load_keyring_for(self.me, given.pop("project"))
        asked = {name: given.pop(name) for name in ("users", "tasks", "source")}
        limits = {name: given.pop(name, None) for name in LIMITS}
        return experiments.plan(
            **{
                **given,
                "limits": experiments.build_limits(**limits),
                "user_agent": agents_services.build_agent(side="user", **given["user_agent"], keys=keys),
                "assistants": [
                    agents_services.build_agent(side="assistant", **one, keys=keys) for one in given["assistants"]
                ],
                "embedder": agents_services.embedder(given["embedder"], keys),
                "grid": grid(**asked, seed=given["seed"]),
            }
        )


def list_names(shape: type[serializers.Serializer[object]]) -> list[str]:
    return list(dict(shape().fields))


def list_experiments() -> QuerySet[Experiment]:
    return Experiment.objects.select_related("user_agent", "project").prefetch_related("assistants")


class ExperimentList(ExperimentsApi):
    @says("experiments", "Experiments", build_page_schema(ExperimentSerializer), query=PageQuery)
    def get(self, request: Request) -> Response:
        return self.page(filter_visible(self.me, list_experiments()), ExperimentSerializer)

    def prepare(self, request: Request, **kwargs: object) -> None:
        """Ask everybody whether they would answer, before the database is locked."""
        described = self.resolve_project(self.parse_body(NewExperiment))
        keys = load_keyring_for(self.me, described["project"])
        for agent in self.build_plan(described).agents:
            agents_services.probe(agent, keys)

    @says("start_experiment", "Start an experiment", ExperimentSerializer, body=NewExperiment, status=201)
    def post(self, request: Request) -> Response:
        described = self.resolve_project(self.parse_body(NewExperiment))
        plan = self.build_plan(described)
        made = experiments.make(by=self.me, plan=plan, queue=True, project=described["project"])
        return self.render_experiment(made.pk, status=201)


class ExperimentEstimateSerializer(serializers.Serializer[object]):
    """What an experiment will take; null where it cannot be known."""

    dialogues = serializers.IntegerField()
    turns = serializers.IntegerField()
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    usd = serializers.DecimalField(max_digits=20, decimal_places=8, allow_null=True)
    seconds = serializers.FloatField(allow_null=True)
    masked = serializers.IntegerField(help_text="Pairs of user and task left out by the user's interests.")
    absent = serializers.IntegerField(help_text="Pairs of user and task that no scenario is about.")
    without_goal = serializers.IntegerField(help_text="Tasks that do not say when they are done.")


class ExperimentEstimate(ExperimentsApi):
    is_a_write = False

    @says(
        "estimate_experiment",
        "What an experiment would take; nothing is made",
        ExperimentEstimateSerializer,
        body=NewExperiment,
    )
    def post(self, request: Request) -> Response:
        found = estimates.estimate(self.build_plan(self.resolve_project(self.parse_body(NewExperiment))))
        usd = found.usd
        content = {name: getattr(found, name) for name in list_names(ExperimentEstimateSerializer)}
        return Response(ExperimentEstimateSerializer({**content, "usd": None if usd is None else round(usd, 8)}).data)


class ExperimentDetail(ExperimentsApi):
    @says("experiment", "An experiment", ExperimentSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return self.render_experiment(pk)


class EndedSerializer(serializers.Serializer[object]):
    key = serializers.CharField()
    name = serializers.CharField()
    regular = serializers.BooleanField()
    n = serializers.IntegerField()


class ExperimentProgressSerializer(serializers.Serializer[object]):
    """An experiment, counted."""

    state = serializers.CharField()
    total = serializers.IntegerField()
    begun = serializers.IntegerField()
    ended = serializers.IntegerField()
    endings = EndedSerializer(many=True)
    turns = serializers.IntegerField()
    cut = serializers.IntegerField(help_text="Turns that went on for the other side, which was cut.")
    cut_off = serializers.IntegerField(help_text="Turns asked for again because a reply met the limit of tokens.")
    rate = serializers.FloatField(allow_null=True, help_text="Turns a second.")
    workers = serializers.IntegerField()
    needs_worker = serializers.BooleanField()
    can_resume = serializers.BooleanField()
    error = serializers.CharField(allow_blank=True)
    spent_usd = serializers.DecimalField(max_digits=20, decimal_places=8)


class ExperimentProgress(ExperimentsApi):
    @says("experiment_progress", "How far an experiment is", ExperimentProgressSerializer)
    def get(self, request: Request, pk: int) -> Response:
        experiment = self.experiment(pk)
        found = queries.progress(experiment)
        own = ("endings", "error", "spent_usd")
        names = [name for name in list_names(ExperimentProgressSerializer) if name not in own]
        content = {name: getattr(found, name) for name in names}
        content |= {
            "endings": [asdict(one) for one in found.endings],
            "error": experiment.error,
            "spent_usd": round(queries.load_spending(experiment).usd, 8),
        }
        return Response(ExperimentProgressSerializer(content).data)


class ExperimentStop(ExperimentsApi):
    @says("stop_experiment", "Stop an experiment; every turn is kept", ExperimentSerializer)
    def post(self, request: Request, pk: int) -> Response:
        experiments.stop(by=self.me, experiment=self.experiment(pk))
        return self.render_experiment(pk)


class ExperimentResume(ExperimentsApi):
    @says("resume_experiment", "Go on with an experiment", ExperimentSerializer, body=Resume)
    def post(self, request: Request, pk: int) -> Response:
        experiments.resume(by=self.me, experiment=self.experiment(pk), **self.parse_body(Resume))
        return self.render_experiment(pk)


class SimulatedSerializer(serializers.ModelSerializer[SimulatedDialogue]):
    """One cell of an experiment; `dialogue` is the material that it became."""

    assistant = serializers.CharField()
    profile = serializers.IntegerField(source="scenario.profile_id", allow_null=True)
    task = serializers.IntegerField(source="scenario.task_id", allow_null=True)

    class Meta:
        model = SimulatedDialogue
        fields = ["index", "assistant", "condition", "profile", "task", "ending", "error", "dialogue"]


class SimulatedQuery(PageQuery):
    ending = serializers.ChoiceField(list(ENDINGS), required=False)


class ExperimentDialogues(ExperimentsApi):
    @says(
        "simulated_dialogues",
        "The dialogues of an experiment, by their place in it",
        build_page_schema(SimulatedSerializer),
        query=SimulatedQuery,
    )
    def get(self, request: Request, pk: int) -> Response:
        asked = self.parse_query(SimulatedQuery)
        rows = get_object_or_404(Experiment, pk=pk).dialogues.select_related("assistant", "scenario")
        if "ending" in asked:
            rows = rows.filter(ending=asked["ending"])
        return self.page(rows, SimulatedSerializer, key="index", query=asked)


class SimulatedTurnSerializer(serializers.ModelSerializer[Turn]):
    """One turn, and what it took."""

    class Meta:
        model = Turn
        fields = [
            *("number", "side", "text", "thought", "raw_reply", "cut_off", "ended", "cut", "problem", "retrieved"),
            *("seed", "prompt", "latency_ms", "input_tokens", "output_tokens", "cost_usd", "created_at"),
        ]


class SimulatedWhole(SimulatedSerializer):
    """With its turns so far."""

    turns = SimulatedTurnSerializer(many=True)

    class Meta(SimulatedSerializer.Meta):
        fields = [*SimulatedSerializer.Meta.fields, "turns"]


class ExperimentDialogue(ExperimentsApi):
    @says("simulated_dialogue", "A dialogue of an experiment, turn by turn", SimulatedWhole)
    def get(self, request: Request, pk: int, index: int) -> Response:
        rows = SimulatedDialogue.objects.select_related("assistant", "scenario").prefetch_related("turns")
        return Response(SimulatedWhole(get_object_or_404(rows, experiment=pk, index=index)).data)


class MadeStudy(serializers.Serializer[object]):
    study = serializers.CharField(help_text="Its slug.")


class ExperimentPeople(ExperimentsApi):
    @says(
        "create_people_study",
        "Send a sample of the dialogues to people, as a study",
        MadeStudy,
        body=ForPeople,
        status=201,
    )
    def post(self, request: Request, pk: int) -> Response:
        made = studies.create_human_check(by=self.me, experiment=self.experiment(pk), **self.parse_body(ForPeople))
        return Response({"study": made.slug}, status=201)


class ForJudges(Given):
    user_checks = serializers.BooleanField(default=False, help_text="Ask whether the user agent is true to its part.")


class ExperimentJudge(ExperimentsApi):
    @says("create_judge_study", "All dialogues as a study for judges", MadeStudy, body=ForJudges, status=201)
    def post(self, request: Request, pk: int) -> Response:
        made = studies.create_judge_study(by=self.me, experiment=self.experiment(pk), **self.parse_body(ForJudges))
        return Response({"study": made.slug}, status=201)
