"""Material that models make, conflicts that they found, and candidates for a benchmark to be."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.agreement.api import drop_file
from annotation.benchmarks.api import BenchmarksApi
from annotation.corpus.models import Profile, Task
from annotation.studies.api.serializers import Counts
from core.accounts.permissions import filter_visible
from core.api.base import Api, Document, Given, PageQuery, build_page_schema, find_named
from core.api.problems import refuse_too_large
from core.api.schema import says
from core.errors import InputError
from core.files.staging import save_upload
from judging.judges.services.keys import load_keyring_for
from judging.runs.options import Resume
from simulation.agents import services as agents_services
from simulation.generation import queries
from simulation.generation.models import Candidate, CandidateRun, Conflict, ConflictReview, Making
from simulation.generation.options import ConflictDecision, NewCandidateRun, NewMaking, NewPairs, NewSeedRun
from simulation.generation.services import candidates, generation, seed_estimates, seed_runs
from simulation.generation.services.candidates import Question
from simulation.generation.services.seed_runs import SeedPlan


class MakingSerializer(serializers.ModelSerializer[Making]):
    """An order of material, with every reply and the field that did not fit."""

    project = serializers.CharField(source="project.slug", read_only=True)
    agent = serializers.CharField()
    state = serializers.CharField(help_text="running, failed or done.")

    class Meta:
        model = Making
        fields = [
            *("id", "project", "kind", "agent", "asked", "state", "replies", "problem", "made", "created_at"),
            "finished_at",
        ]


class MakingApi(Api):
    tag = "making"


class MakingList(MakingApi):
    @says("generations", "Orders of material", build_page_schema(MakingSerializer), query=PageQuery)
    def get(self, request: Request) -> Response:
        return self.page(filter_visible(self.me, queries.orders()).select_related("project"), MakingSerializer)

    @says("start_generation", "Order material from a model", MakingSerializer, body=NewMaking, status=201)
    def post(self, request: Request) -> Response:
        given = self.parse_body(NewMaking)
        for name, kind in (("profile", Profile), ("task", Task)):
            given[name] = find_named(kind, name, pk=given[name]) if given.get(name) else None
        described = self.resolve_project(given)
        keys = load_keyring_for(self.me, described["project"])
        described["agent"] = agents_services.build_agent(side="assistant", **given["agent"], keys=keys)
        made = generation.order(by=self.me, replaced=described.pop("prompts"), **described)
        return Response(MakingSerializer(made).data, status=201)


class MakingDetail(MakingApi):
    @says("generation", "An order of material", MakingSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return Response(MakingSerializer(get_object_or_404(queries.orders(), pk=pk)).data)


class MakingAgain(MakingApi):
    @says("retry_generation", "Try an order that failed once more", MakingSerializer)
    def post(self, request: Request, pk: int) -> Response:
        order = get_object_or_404(queries.orders(), pk=pk)
        generation.retry(by=self.me, making=order)
        order.refresh_from_db()
        return Response(MakingSerializer(order).data)


class ConflictSerializer(serializers.ModelSerializer[Conflict]):
    """What a model found to be in conflict, and what a person decided last."""

    class ReviewSerializer(serializers.ModelSerializer[ConflictReview]):
        decided_by = serializers.CharField(source="decided_by.username", default=None, allow_null=True)

        class Meta:
            model = ConflictReview
            fields = ["decision", "note", "decided_by", "decided_at"]

    reviews = ReviewSerializer(many=True)

    class Meta:
        model = Conflict
        fields = ["id", "profile", "label", "explanation", "fields", "is_between_domains", "reviews"]


class ConflictList(MakingApi):
    @says("conflicts", "Conflicts in profiles", build_page_schema(ConflictSerializer), query=PageQuery)
    def get(self, request: Request) -> Response:
        return self.page(filter_visible(self.me, queries.conflicts()), ConflictSerializer)


class ConflictReviews(MakingApi):
    @says("decide_conflict", "Decide whether it is a conflict", ConflictSerializer, body=ConflictDecision, status=201)
    def post(self, request: Request, pk: int) -> Response:
        generation.decide(by=self.me, conflict=get_object_or_404(Conflict, pk=pk), **self.parse_body(ConflictDecision))
        return Response(ConflictSerializer(get_object_or_404(queries.conflicts(), pk=pk)).data, status=201)


class CandidateSerializer(serializers.ModelSerializer[Candidate]):
    """A response to a question of a profile at a stated level of personalization."""

    class Meta:
        model = Candidate
        fields = ["id", "profile", "question", "kind", "level", "provider", "model", "text", "extra", "created_at"]


class CandidateRunSerializer(serializers.ModelSerializer[CandidateRun]):
    """Candidates ordered together: how many questions, how many answered at every level, how many failed."""

    project = serializers.CharField(source="project.slug", read_only=True)
    agent = serializers.CharField()
    n_total = serializers.IntegerField()
    n_done = serializers.IntegerField()
    n_failed = serializers.IntegerField()

    class Meta:
        model = CandidateRun
        fields = [
            "id",
            "name",
            "project",
            "agent",
            "levels",
            "seed",
            "budget_usd",
            "created_at",
            "stopped_at",
            "n_total",
            "n_done",
            "n_failed",
        ]


class CandidateQuery(PageQuery):
    level = serializers.ChoiceField(Candidate.Level.choices, required=False)
    kind = serializers.CharField(required=False)


class CandidateList(BenchmarksApi):
    @says(
        "candidates",
        "Candidates, ordered here or imported",
        build_page_schema(CandidateSerializer),
        query=CandidateQuery,
    )
    def get(self, request: Request) -> Response:
        asked = self.parse_query(CandidateQuery)
        wanted = {name: asked[name] for name in ("level", "kind") if name in asked}
        return self.page(Candidate.objects.filter(**wanted), CandidateSerializer, query=asked)


class NewCandidates(Given):
    file = serializers.FileField(
        allow_empty_file=True,
        help_text="JSONL: profile_id, question, level, text; optionally kind, provider, model.",
    )
    on_error = serializers.ChoiceField(["stop", "skip"], default="stop")


class CandidateImports(BenchmarksApi):
    parser_classes = [MultiPartParser]

    @says("import_candidates", "Bring a file of candidates in", Counts, body={"multipart/form-data": NewCandidates})
    def post(self, request: Request) -> Response:
        """Sending the same file again changes nothing. An error names file, line and field."""
        given = self.parse_body(NewCandidates)
        if refusal := refuse_too_large(given["file"]):
            return refusal
        with save_upload(given["file"]) as file:
            outcome = candidates.load(by=self.me, path=file.path, name=file.name, on_error=given["on_error"])
        return Response(drop_file(outcome.to_document()))


class CandidateRuns(BenchmarksApi):
    @says("candidate_runs", "Runs of candidates", build_page_schema(CandidateRunSerializer), query=PageQuery)
    def get(self, request: Request) -> Response:
        return self.page(filter_visible(self.me, queries.runs()).select_related("project"), CandidateRunSerializer)

    @says("order_candidates", "Order candidates", CandidateRunSerializer, body=NewCandidateRun, status=201)
    def post(self, request: Request) -> Response:
        given = self.parse_body(NewCandidateRun)
        asked = [(one["profile"], one["question"], one["kind"]) for one in given["questions"]]
        given["questions"] = build_questions(asked)
        described = self.resolve_project(given)
        keys = load_keyring_for(self.me, described["project"])
        described["agent"] = agents_services.build_agent(side="assistant", **given["agent"], keys=keys)
        run = candidates.begin(by=self.me, **described)
        return Response(CandidateRunSerializer(queries.runs().get(pk=run.pk)).data, status=201)


def build_questions(asked: list[tuple[int, str, str]]) -> list[Question]:
    """With their profiles, each question once."""
    people = Profile.objects.in_bulk({pk for pk, _, _ in asked})
    if missing := [pk for pk, _, _ in asked if pk not in people]:
        raise InputError("There is no profile {missing}.", field="questions", missing=missing[0])
    return list(dict.fromkeys(Question(people[pk], text, kind) for pk, text, kind in asked))


OF_PLAN = ("seeds", "personas", "specific", "general", "questions", "memories", "against")


class SeedRuns(BenchmarksApi):
    @says("start_from_seeds", "Begin with seeds, or say what that would take", Document, body=NewSeedRun, status=201)
    def post(self, request: Request) -> Response:
        """The same body again is the run that is there already."""
        described = self.resolve_project(self.parse_body(NewSeedRun))
        keys = load_keyring_for(self.me, described["project"])
        plan = SeedPlan(**{name: described.pop(name) for name in OF_PLAN})
        for side in ("agent", "checker"):
            if described.get(side):
                described[side] = agents_services.build_agent(side="assistant", **described[side], keys=keys)
        if described.pop("estimate"):
            agent, checker, levels = described["agent"], described.get("checker"), described["levels"]
            found = seed_estimates.estimate(plan, agent=agent, checker=checker, levels=levels)
            return Response(found, status=201)
        run = seed_runs.begin(by=self.me, plan=plan, **described)
        return Response(seed_runs.document(run), status=201)


class Stopped(serializers.Serializer[object]):
    n = serializers.IntegerField(help_text="Orders that were not begun.")


class CandidateRunStop(BenchmarksApi):
    @says("stop_candidates", "Ask for no more; what came is kept", Stopped)
    def post(self, request: Request, pk: int) -> Response:
        return Response({"n": candidates.stop(by=self.me, run=get_object_or_404(CandidateRun, pk=pk))})


class Resumed(serializers.Serializer[object]):
    n = serializers.IntegerField(help_text="Orders that go on.")


class CandidateRunResume(BenchmarksApi):
    @says("resume_candidates", "Go on with a stopped run, and try again what failed", Resumed, body=Resume)
    def post(self, request: Request, pk: int) -> Response:
        run, given = get_object_or_404(CandidateRun, pk=pk), self.parse_body(Resume)
        return Response({"n": candidates.resume(by=self.me, run=run, **given)})


class OrderFailureSerializer(serializers.Serializer[object]):
    """Orders that failed at one level for one reason; `making` is one of them."""

    level = serializers.CharField()
    reason = serializers.CharField()
    n = serializers.IntegerField()
    making = serializers.IntegerField()


class CandidateRunWholeSerializer(CandidateRunSerializer):
    """A run of candidates with what it cost, what came by level, and what failed."""

    spent_usd = serializers.CharField()
    candidates = serializers.DictField(child=serializers.IntegerField(), help_text="By level.")
    failures = OrderFailureSerializer(many=True)
    from_seeds = serializers.DictField(required=False, help_text="Of a run that began with seeds: its plan and stages.")

    class Meta(CandidateRunSerializer.Meta):
        fields = [*CandidateRunSerializer.Meta.fields, "spent_usd", "candidates", "failures", "from_seeds"]


class CandidateRunDetail(BenchmarksApi):
    @says(
        "candidate_run",
        "A run of candidates: what came by level, and what failed with its reason",
        CandidateRunWholeSerializer,
    )
    def get(self, request: Request, pk: int) -> Response:
        run = get_object_or_404(queries.runs(), pk=pk)
        progress = queries.progress(run)
        return Response(
            {
                **CandidateRunSerializer(run).data,
                "spent_usd": str(progress.spent),
                "candidates": queries.group_by_level(queries.list_left(run)),
                "failures": [
                    {"level": one.level, "reason": one.reason, "n": one.n, "making": one.example}
                    for one in queries.failures(run)
                ],
                **({"from_seeds": seed_runs.document(run)} if run.plan else {}),
            }
        )


class PairRuleSerializer(serializers.Serializer[object]):
    """Which levels stood against which, and how alike two responses had to be."""

    against = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    length = serializers.FloatField()
    same_form = serializers.BooleanField()
    near = serializers.FloatField()
    each = serializers.IntegerField()


class MadePairsSerializer(serializers.Serializer[object]):
    """Pairs that the candidates give: how many, how many are new, and what was left out."""

    pairs = serializers.IntegerField()
    created = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    levels = serializers.DictField(child=serializers.IntegerField())
    left_out = serializers.DictField(child=serializers.IntegerField(), help_text="Candidates or pairs, by reason.")
    rule = PairRuleSerializer()
    seed = serializers.IntegerField()
    source = serializers.CharField()  # type: ignore[assignment]


class CandidatePairs(BenchmarksApi):
    @says(
        "pair_candidates",
        "Make pairs of levels; the same rule and seed give the same pairs",
        MadePairsSerializer,
        body=NewPairs,
    )
    def post(self, request: Request) -> Response:
        given = self.parse_body(NewPairs)
        run = filter_visible(self.me, CandidateRun.objects.filter(pk=given["run"])).first() if "run" in given else None
        if run is None and "run" in given:
            raise InputError("There is no run {given}.", field="run", given=given["run"])
        names = ("length", "same_form", "near", "each", "seed")
        rule = candidates.build_rule(given["against"], **{name: given[name] for name in names})
        return Response(candidates.make_pairs(by=self.me, rule=rule, kind=given["kind"], run=run))
