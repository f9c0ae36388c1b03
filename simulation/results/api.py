"""Results of an experiment: tables by one judge, ranks, settings beside those published; and measures of datasets."""

from __future__ import annotations

from typing import ClassVar

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.agreement.options import IntervalOptions
from core.accounts.permissions import filter_visible
from core.api.base import LARGEST, Api, Document, Given
from core.api.schema import says
from core.errors import InputError, NotComputedError
from judging.assessment.api.documents import Queued
from judging.judges.models import Judge
from simulation.experiments.api import ExperimentsApi, list_experiments
from simulation.experiments.models import Experiment
from simulation.results.queries.judgments import list_experiment_judges
from simulation.results.services import differences, measures, results
from simulation.results.services.data import Filters
from simulation.results.services.published_rows import add_published
from simulation.results.services.ranks import ranks_on_request


class AskedResults(Given):
    judge = serializers.CharField(required=False, default="", help_text="Its name; if not given, who said most.")
    assistant = serializers.CharField(required=False, default="", help_text="Only dialogues with this assistant.")
    condition = serializers.CharField(required=False, default="", help_text="Only dialogues under this condition.")
    tasks = serializers.ChoiceField(["single", "multi"], required=False, help_text="Of one domain, or of several.")
    domain = serializers.CharField(required=False, default="", help_text="Only tasks that are about this domain.")
    turn = serializers.IntegerField(
        required=False, min_value=1, max_value=LARGEST, help_text="Verdicts on this reply of the assistant."
    )


class ResultsQuery(AskedResults):
    published = serializers.BooleanField(default=False, help_text="With the numbers that PersonaLens printed.")
    whole = serializers.BooleanField(default=False, help_text="Compute it now, however large the experiment is.")


class ExperimentResults(ExperimentsApi):
    left_to_a_worker = True

    @says(
        "experiment_results",
        "All tables of an experiment by one judge, which a worker computes where it is large",
        Document,
        query=ResultsQuery,
    )
    def get(self, request: Request, pk: int) -> Response:
        given = self.parse_query(ResultsQuery)
        asked = self.parse_results_query(pk, given)
        found = results.load_or_compute(*asked, patient=given["whole"]) or results.find_last(*asked)
        if found is None:
            waiting = results.find_request(*asked)
            told = waiting.error or waiting.says if waiting else "POST here, or insist with ?whole=true."
            raise NotComputedError("Not computed yet: {left}. {told}", left=results.describe_left(), told=told)
        return Response(add_published(found) if given["published"] else found)

    @says(
        "compute_experiment_results",
        "Leave the results of an experiment to a worker",
        Queued,
        body=AskedResults,
        status=202,
    )
    def post(self, request: Request, pk: int) -> Response:
        results.ask(*self.parse_results_query(pk, self.parse_body(AskedResults)), by=self.me)
        return Response({"queued": True}, status=202)

    def parse_results_query(
        self, pk: int, given: dict[str, object]
    ) -> tuple[Experiment, Judge | None, IntervalOptions, Filters]:
        experiment = self.experiment(pk)
        judge = results.judge_called(list_experiment_judges(experiment), str(given["judge"]))
        return experiment, judge, IntervalOptions(), Filters.parse(given)


class RanksQuery(AskedResults):
    against = serializers.IntegerField(
        required=False, max_value=LARGEST, help_text="Another experiment; if not given, the same one."
    )
    against_judge = serializers.CharField(required=False, default="", help_text="Whose verdicts on that one.")


class ExperimentRanks(ExperimentsApi):
    @says("experiment_ranks", "How ranks change by another judge, or in another experiment", Document, query=RanksQuery)
    def get(self, request: Request, pk: int) -> Response:
        given, first = self.parse_query(RanksQuery), self.experiment(pk)
        second = (
            get_object_or_404(filter_visible(self.me, list_experiments()), pk=given["against"])
            if "against" in given
            else first
        )
        pairs = ((first, given["judge"]), (second, given["against_judge"]))
        rated = [(one, results.judge_called(list_experiment_judges(one), name)) for one, name in pairs]
        return Response(ranks_on_request(rated[0], rated[1], Filters.parse(given)))


class ComparedSettingSerializer(serializers.Serializer[object]):
    """A setting as published and here; `same` is null where one of the two is not known."""

    setting = serializers.CharField()
    paper = serializers.CharField()
    here = serializers.CharField()
    same = serializers.BooleanField(allow_null=True)


class ComparedSettingsSerializer(serializers.Serializer[object]):
    settings = ComparedSettingSerializer(many=True)
    warnings = serializers.ListField(child=serializers.CharField(), help_text="Where one model has several parts.")


class ExperimentDifferences(ExperimentsApi):
    @says(
        "experiment_differences",
        "The settings of an experiment beside those of PersonaLens",
        ComparedSettingsSerializer,
    )
    def get(self, request: Request, pk: int) -> Response:
        return Response(ComparedSettingsSerializer(differences.document(self.experiment(pk))).data)


class MeasuresQuery(Given):
    source = serializers.CharField()  # type: ignore[assignment]


class Measures(Api):
    tag = "making"
    kind: ClassVar[str]

    def read(self) -> Response:
        source = find_source(self.kind, self.parse_query(MeasuresQuery)["source"])
        return Response(measures.measures(self.kind, source))

    def leave(self) -> Response:
        measures.ask(
            by=self.me, kind=self.kind, source=find_source(self.kind, self.parse_body(MeasuresQuery)["source"])
        )
        return Response({"queued": True}, status=202)


class ProfileMeasures(Measures):
    kind = "profiles"

    @says(
        "profile_measures", "Domains, demographics and evenness of one source's profiles", Document, query=MeasuresQuery
    )
    def get(self, request: Request) -> Response:
        return self.read()

    @says(
        "compute_profile_measures",
        "Leave the measures of a source's profiles to a worker",
        Queued,
        body=MeasuresQuery,
        status=202,
    )
    def post(self, request: Request) -> Response:
        return self.leave()


class DialogueMeasures(Measures):
    kind = "dialogues"

    @says("dialogue_measures", "Turns, words and variety of one source's dialogues", Document, query=MeasuresQuery)
    def get(self, request: Request) -> Response:
        return self.read()

    @says(
        "compute_dialogue_measures",
        "Leave the measures of a source's dialogues to a worker",
        Queued,
        body=MeasuresQuery,
        status=202,
    )
    def post(self, request: Request) -> Response:
        return self.leave()


def find_source(kind: str, source: str) -> str:
    there = dict(measures.KINDS[kind].sources())
    if source not in there:
        names = ", ".join(there) or "none"
        raise InputError(
            "There is nothing of {source!r}; there are: {names}.", field="source", source=source, names=names
        )
    return source
