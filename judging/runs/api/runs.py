"""Judge runs: reckoned, started, stopped, resumed; how far they are, and what they said."""

from __future__ import annotations

from dataclasses import asdict

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.studies.models.studies import Study
from annotation.studies.queries.items import GROUPINGS
from core.accounts.permissions import filter_visible
from core.api.base import LARGEST, Api, Document, Given, PageQuery, build_page_schema
from core.api.schema import says
from judging.assessment.options import SCORES, VERDICTS, NewProbe, ProbeOptions
from judging.assessment.queries.scores import DOMAIN
from judging.assessment.services import probes, rules, scores
from judging.judges.models import Judge
from judging.judges.services import judges
from judging.runs.api.judges import JudgeSerializer
from judging.runs.models.runs import EarlierReply, JudgeRun, Judgment
from judging.runs.options import NewPanel, NewRun, Resume
from judging.runs.queries import judgments, runs as queries
from judging.runs.services import estimates, panels, runs


class RunSerializer(serializers.ModelSerializer[JudgeRun]):
    """One judge over the items of one study."""

    study = serializers.CharField(source="study.slug")
    judge = JudgeSerializer()
    criteria: object = serializers.SlugRelatedField(slug_field="key", many=True, read_only=True)
    state = serializers.CharField(help_text="running, stopped or finished.")
    every_turn = serializers.BooleanField(help_text="Whether the unit is the turn.")

    class Meta:
        model = JudgeRun
        fields = [
            "id",
            "study",
            "judge",
            "criteria",
            "state",
            "kind",
            "repeats",
            "order_policy",
            "seed",
            "budget_usd",
            "use_cache",
            "unit",
            "every_turn",
            "in_bulk",
            "input_hash",
            "code_version",
            "stop_reason",
            "result",
            "created_at",
            "finished_at",
            "stopped_at",
        ]


def list_runs() -> QuerySet[JudgeRun]:
    """Runs with all that is said of them, in two queries."""
    return JudgeRun.objects.select_related("study", "judge__project").prefetch_related("criteria")


class RunsApi(Api):
    tag = "runs"

    def run(self, pk: int) -> JudgeRun:
        found: JudgeRun = get_object_or_404(list_runs(), pk=pk)
        return found

    def render_run(self, pk: int, status: int = 200) -> Response:
        """The run as it is now."""
        return Response(RunSerializer(self.run(pk)).data, status=status)


class RunQuery(PageQuery):
    study = serializers.CharField(required=False, help_text="Its slug.")
    judge = serializers.CharField(required=False, help_text="Its name.")


class RunList(RunsApi):
    @says("runs", "Runs", build_page_schema(RunSerializer), query=RunQuery)
    def get(self, request: Request) -> Response:
        asked = self.parse_query(RunQuery)
        paths = {"study": "study__slug", "judge": "judge__name"}
        return self.page(
            filter_visible(self.me, list_runs()).filter(
                **{path: asked[name] for name, path in paths.items() if name in asked}
            ),
            RunSerializer,
            query=asked,
        )


class OfStudy(RunsApi):
    """A run that is described in the body."""

    def plan_run(self, slug: str) -> runs.Plan:
        given = self.parse_body(NewRun)
        there = filter_visible(self.me, Judge.objects.all())
        study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(there, pk=given.pop("judge"))
        return runs.plan(study=study, judge=judge, **given)


class StudyRuns(OfStudy):
    def prepare(self, request: Request, **kwargs: object) -> None:
        """Ask the other side whether it would answer, which may take a while, before the database is locked."""
        judges.probe(self.plan_run(str(kwargs["slug"])).judge)

    @says("start_run", "Start a run", RunSerializer, body=NewRun, status=201)
    def post(self, request: Request, slug: str) -> Response:
        return self.render_run(runs.make(by=self.me, plan=self.plan_run(slug), queue=True).pk, status=201)


class EstimateSerializer(serializers.Serializer[object]):
    """What a run will take; null where it cannot be known, and `why` says why not."""

    requests = serializers.IntegerField()
    cached = serializers.IntegerField()
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    too_long = serializers.IntegerField()
    usd = serializers.DecimalField(max_digits=20, decimal_places=8, allow_null=True)
    seconds = serializers.FloatField(allow_null=True)
    basis = serializers.ListField(child=serializers.CharField())
    why = serializers.ListField(child=serializers.CharField())


class StudyRunEstimate(OfStudy):
    is_a_write = False

    @says("estimate_run", "What a run would take; nothing is made", EstimateSerializer, body=NewRun)
    def post(self, request: Request, slug: str) -> Response:
        found = asdict(estimates.estimate(self.plan_run(slug)))
        usd = found["usd"]
        return Response(EstimateSerializer({**found, "usd": None if usd is None else round(usd, 8)}).data)


class RunDetail(RunsApi):
    @says("run", "A run", RunSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return self.render_run(pk)


class RunStop(RunsApi):
    @says("stop_run", "Stop a run; what was judged is kept", RunSerializer)
    def post(self, request: Request, pk: int) -> Response:
        runs.stop(by=self.me, run=self.run(pk))
        return self.render_run(pk)


class RunResume(RunsApi):
    @says("resume_run", "Go on with what is left of a run", RunSerializer, body=Resume)
    def post(self, request: Request, pk: int) -> Response:
        runs.resume(by=self.me, run=self.run(pk), **self.parse_body(Resume))
        return self.render_run(pk)


class RunAskAgain(RunsApi):
    @says(
        "retry_unscored", "Ask again for the items of a run whose replies held no verdict", RunSerializer, body=Resume
    )
    def post(self, request: Request, pk: int) -> Response:
        runs.ask_again(by=self.me, run=self.run(pk), **self.parse_body(Resume))
        return self.render_run(pk)


class RunProgressSerializer(serializers.Serializer[object]):
    """A run, counted."""

    state = serializers.CharField()
    expected = serializers.IntegerField()
    judged = serializers.IntegerField()
    scored = serializers.IntegerField()
    unscored = serializers.DictField(child=serializers.IntegerField(), help_text="By reason.")
    missing = serializers.IntegerField()
    troubles = serializers.ListField(child=serializers.CharField(), help_text="Why parts ended early or wait.")
    rate = serializers.FloatField(allow_null=True, help_text="Judgments per second.")
    seconds_left = serializers.FloatField(allow_null=True)
    workers = serializers.IntegerField()
    needs_worker = serializers.BooleanField()
    can_resume = serializers.BooleanField()
    can_ask_again = serializers.IntegerField(help_text="Replies without a verdict that can be asked for again.")
    again_usd = serializers.DecimalField(
        max_digits=20, decimal_places=8, allow_null=True, help_text="Estimated cost; null if not known."
    )
    spent_usd = serializers.DecimalField(max_digits=20, decimal_places=8)


class RunProgress(RunsApi):
    @says("run_progress", "How far a run is, and what went wrong", RunProgressSerializer)
    def get(self, request: Request, pk: int) -> Response:
        run = self.run(pk)
        found = queries.progress(run)
        named = ("state", "expected", "judged", "scored", "missing", "rate", "seconds_left", "workers")
        content = {
            **{name: getattr(found, name) for name in (*named, "needs_worker", "can_resume", "can_ask_again")},
            "again_usd": None if found.again_usd is None else round(found.again_usd, 8),
            "unscored": {one.reason: one.n for one in found.unscored},
            "troubles": [one.message for one in found.troubles],
            "spent_usd": round(found.spent.usd, 8),
        }
        return Response(RunProgressSerializer(content).data)


class JudgmentSerializer(serializers.ModelSerializer[Judgment]):
    """One verdict of a judge, or the reason why its reply held none."""

    position = serializers.IntegerField(source="item.position")
    criterion = serializers.CharField(source="criterion.key")

    class Meta:
        model = Judgment
        fields = [
            "id",
            "run",
            "position",
            "criterion",
            "repeat",
            "order",
            "turn",
            "alteration",
            "value",
            "content",
            "unscored_reason",
            "score",
            "explanation",
            "latency_ms",
            "input_tokens",
            "output_tokens",
            "cost_usd",
            "created_at",
        ]


class JudgmentQuery(PageQuery):
    criterion = serializers.CharField(required=False)
    position = serializers.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    unscored_reason = serializers.CharField(required=False)


class RunJudgments(RunsApi):
    @says("judgments", "What a run said, oldest first", build_page_schema(JudgmentSerializer), query=JudgmentQuery)
    def get(self, request: Request, pk: int) -> Response:
        run, asked = get_object_or_404(JudgeRun.objects.select_related("study"), pk=pk), self.parse_query(JudgmentQuery)
        rules.lock_rules(by=self.me, study=run.study)
        rows = run.judgments.select_related("item", "criterion").defer("raw_reply", "details")
        if "criterion" in asked:
            rows = rows.filter(criterion__key=asked["criterion"])
        if "position" in asked:
            rows = rows.filter(item__study=run.study_id, item__position=asked["position"])
        if reason := asked.get("unscored_reason"):
            rows = rows.filter(value="", unscored_reason=reason)
        return self.page(rows, JudgmentSerializer, query=asked)


class EarlierReplySerializer(serializers.ModelSerializer[EarlierReply]):
    """A reply that held no verdict, after which the judge was asked again."""

    class Meta:
        model = EarlierReply
        fields = ["number", "unscored_reason", "explanation", "raw_reply", "cost_usd", "created_at"]


class JudgmentWhole(JudgmentSerializer):
    """With the reply, those before it, and what the provider measured."""

    earlier = EarlierReplySerializer(many=True, read_only=True)

    class Meta(JudgmentSerializer.Meta):
        fields = [*JudgmentSerializer.Meta.fields, "raw_reply", "details", "item_hash", "earlier"]


class PromptSerializer(serializers.Serializer[object]):
    """What the judge was asked, made again from the item as it is now."""

    system = serializers.CharField(allow_blank=True)
    user = serializers.CharField(allow_blank=True)
    version = serializers.CharField(help_text="Hash of the templates.")
    is_same = serializers.BooleanField(help_text="Whether neither item nor templates have changed since.")


class JudgmentPrompt(RunsApi):
    @says("prompt", "The prompt of a judgment; 404 where it was asked in no words", PromptSerializer)
    def get(self, request: Request, pk: int) -> Response:
        judgment = get_object_or_404(judgments.whole(), pk=pk)
        prompt = judgments.rebuild_prompt(judgment)
        if prompt is None:
            raise Http404
        found = {name: getattr(prompt, name) for name in ("system", "user", "version")}
        return Response(PromptSerializer({**found, "is_same": judgments.is_same_prompt(judgment, prompt)}).data)


class JudgmentDetail(RunsApi):
    @says("judgment", "A judgment with the reply", JudgmentWhole)
    def get(self, request: Request, pk: int) -> Response:
        judgment = get_object_or_404(judgments.whole(), pk=pk)
        rules.lock_rules(by=self.me, study=judgment.run.study)
        return Response(JudgmentWhole(judgment).data)


class ScoresQuery(Given):
    by = serializers.ChoiceField(list(GROUPINGS), default=DOMAIN)
    read = serializers.ChoiceField([VERDICTS, SCORES], default=VERDICTS)


class RunScores(RunsApi):
    @says(
        "run_scores", "Means and distributions of a run, by group and by turn or response", Document, query=ScoresQuery
    )
    def get(self, request: Request, pk: int) -> Response:
        asked = self.parse_query(ScoresQuery)
        return Response(scores.compute_run(self.run(pk), by=asked["by"], reads=asked["read"]))


class StudyPanels(RunsApi):
    @says("create_panel", "Combine finished runs of a study into a panel", RunSerializer, body=NewPanel, status=201)
    def post(self, request: Request, slug: str) -> Response:
        study, given = get_object_or_404(Study, slug=slug), self.parse_body(NewPanel)
        found = {run.pk: run for run in list_runs().filter(study=study, pk__in=given["runs"])}
        if missing := [pk for pk in given["runs"] if pk not in found]:
            raise serializers.ValidationError({"runs": f"{study} has no run {missing[0]}."})
        chosen = list(found.values())
        made = panels.combine(by=self.me, **{**given, "runs": chosen})
        return self.render_run(made.pk, status=201)


class ProbeQuery(PageQuery):
    judge = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST, help_text="Its id.")


class ProbeSerializer(RunSerializer):
    """A run on altered copies, with what was altered."""

    class Meta(RunSerializer.Meta):
        fields = [*RunSerializer.Meta.fields, "probe"]


class StudyProbes(RunsApi):
    @says("probes", "Runs on altered copies of items", build_page_schema(ProbeSerializer), query=ProbeQuery)
    def get(self, request: Request, slug: str) -> Response:
        study, asked = get_object_or_404(Study, slug=slug), self.parse_query(ProbeQuery)
        wanted = {"judge": asked["judge"]} if "judge" in asked else {}
        rows = list_runs().filter(pk__in=study.judge_runs.probes().filter(**wanted).values("pk"))
        return self.page(rows, ProbeSerializer, query=asked)

    @says("start_probe", "Start a run on altered copies of items, for audits", RunSerializer, body=NewProbe, status=201)
    def post(self, request: Request, slug: str) -> Response:
        study, given = get_object_or_404(Study, slug=slug), self.parse_body(NewProbe)
        judge = get_object_or_404(filter_visible(self.me, Judge.objects.all()), pk=given.pop("judge"))
        run = probes.start(by=self.me, study=study, judge=judge, options=ProbeOptions.check(given))
        return self.render_run(run.pk, status=201)
