"""One factory per model."""

from __future__ import annotations

from datetime import timedelta

import factory
from django.utils import timezone
from factory.django import DjangoModelFactory

from annotation import models
from core.accounts.models.projects import choose_project
from judging import models as judging
from simulation import models as simulation


class ProjectFactory(DjangoModelFactory):
    """One more project. Where a test makes none, all is in the only one."""

    class Meta:
        model = models.Project

    name = factory.Sequence(lambda n: f"Project {n}")
    slug = factory.Sequence(lambda n: f"project-{n}")


class InProjectFactory(DjangoModelFactory):
    """Something of its maker's project, or of the only one."""

    class Meta:
        abstract = True

    project = factory.LazyAttribute(lambda row: choose_project(getattr(row, "created_by", None)))


class UserFactory(DjangoModelFactory):
    class Meta:
        model = models.User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"person{n}")
    password = factory.django.Password("pw")


class ResearcherFactory(UserFactory):
    """A researcher of the only project, as every account that is made one; see MembershipFactory for another."""

    is_researcher = True


class MembershipFactory(DjangoModelFactory):
    """A researcher of a project; `role="adjudicator"` for an account that only decides."""

    class Meta:
        model = models.Membership

    project = factory.SubFactory(ProjectFactory)
    user = factory.LazyAttribute(lambda one: UserFactory(is_researcher=one.role != "adjudicator"))
    role = "researcher"


class ProfileFactory(DjangoModelFactory):
    class Meta:
        model = models.Profile

    source = "test"
    external_id = factory.Sequence(lambda n: f"profile{n}")
    content_hash = "0" * 64
    name = factory.Sequence(lambda n: f"Alice {n}")
    preferences = {"Restaurants": {"Cuisine": ["Thai"]}}


class TaskFactory(DjangoModelFactory):
    class Meta:
        model = models.Task

    source = "test"
    external_id = factory.Sequence(lambda n: f"task{n}")
    content_hash = "0" * 64
    description = "The user wants a table for two."
    goal = "A table is booked."
    domains = ["Restaurants"]


class ScenarioFactory(DjangoModelFactory):
    class Meta:
        model = models.Scenario

    profile = factory.SubFactory(ProfileFactory)
    task = factory.SubFactory(TaskFactory)
    situation = {"Location": "Oslo"}


class DialogueFactory(DjangoModelFactory):
    class Meta:
        model = models.Dialogue

    source = "test"
    external_id = factory.Sequence(lambda n: f"dialogue{n}")
    content_hash = factory.Sequence(lambda n: f"{n:064x}")
    scenario = factory.SubFactory(ScenarioFactory)
    assistant_model = "assistant-a"
    condition = "base"
    turns = factory.Sequence(
        lambda n: [
            {"role": "user", "content": "Book me a table."},
            {"role": "assistant", "content": f"At the Thai place you like, at eight? {n}"},
        ]
    )


class ResponsePairFactory(DjangoModelFactory):
    class Meta:
        model = models.ResponsePair

    source = "test"
    external_id = factory.Sequence(lambda n: f"pair{n}")
    content_hash = factory.Sequence(lambda n: f"{n:064x}")
    profile = factory.SubFactory(ProfileFactory)
    question = "What shall I cook tonight?"
    response_1 = factory.Sequence(lambda n: f"A green curry, as you like Thai food. {n}")
    response_2 = factory.Sequence(lambda n: f"Anything you like. {n}")


class StudyFactory(InProjectFactory):
    """A study of dialogues; `StudyFactory(kind="pair")` for one of response pairs."""

    class Meta:
        model = models.Study

    name = factory.Sequence(lambda n: f"Study {n}")
    slug = factory.Sequence(lambda n: f"study-{n}")
    kind = models.Study.Kind.DIALOGUE


class ConsentTextFactory(DjangoModelFactory):
    class Meta:
        model = models.ConsentText

    study = factory.SubFactory(StudyFactory)
    text = factory.Sequence(lambda n: f"I take part freely. {n}")
    content_hash = factory.Sequence(lambda n: f"{n:064x}")


class IntakeFactory(DjangoModelFactory):
    """A study without consent; `consent_text=ConsentTextFactory(study=…)` asks for one."""

    class Meta:
        model = models.Intake

    study = factory.SubFactory(StudyFactory)


class InvitationFactory(DjangoModelFactory):
    """A link that nobody knows the token of."""

    class Meta:
        model = models.Invitation

    study = factory.SubFactory(StudyFactory)
    token_hash = factory.Sequence(lambda n: f"{n:064x}")


class ParticipationFactory(DjangoModelFactory):
    class Meta:
        model = models.Participation

    study = factory.SubFactory(StudyFactory)
    annotator = factory.SubFactory(UserFactory)


class ConsentDecisionFactory(DjangoModelFactory):
    """Agreement to a new text."""

    class Meta:
        model = models.ConsentDecision

    text = factory.SubFactory(ConsentTextFactory)
    study = factory.SelfAttribute("text.study")
    annotator = factory.SubFactory(UserFactory)
    decision = "agreed"


class DemographicQuestionFactory(DjangoModelFactory):
    class Meta:
        model = models.DemographicQuestion

    study = factory.SubFactory(StudyFactory)
    key = factory.Sequence(lambda n: f"question-{n}")
    text = "How old are you?"
    options = ["18-44", "45+"]


class DemographicAnswerFactory(DjangoModelFactory):
    class Meta:
        model = models.DemographicAnswer

    question = factory.SubFactory(DemographicQuestionFactory)
    annotator = factory.SubFactory(UserFactory)
    value = "18-44"


def scale(*labels: str) -> list[dict[str, str]]:
    """Categories "1", "2", … with these labels."""
    return [{"value": str(n), "label": label, "guideline": ""} for n, label in enumerate(labels, start=1)]


class CriterionFactory(DjangoModelFactory):
    """An ordinal criterion of four steps; `yes_no=True` and `preference=True` make the other two common kinds."""

    class Meta:
        model = models.Criterion

    class Params:
        yes_no = factory.Trait(
            level=models.Criterion.Level.NOMINAL,
            question="Was the task completed?",
            categories=[{"value": v, "label": v, "guideline": ""} for v in ("no", "yes")],
        )
        preference = factory.Trait(
            level=models.Criterion.Level.NOMINAL,
            question="Which response suits this person better?",
            categories=[
                {"value": "1", "label": "Response 1", "guideline": ""},
                {"value": "2", "label": "Response 2", "guideline": ""},
                {"value": "tie", "label": "Tie", "guideline": ""},
            ],
        )

    study = factory.SubFactory(StudyFactory)
    key = factory.Sequence(lambda n: f"criterion-{n}")
    name = factory.Sequence(lambda n: f"Criterion {n}")
    question = "How well does the assistant use what it knows of the user?"
    guideline = "Look at what the assistant brings up by itself."
    level = models.Criterion.Level.ORDINAL
    categories = factory.LazyFunction(lambda: scale("not at all", "a little", "mostly", "fully"))
    position = factory.LazyAttribute(lambda criterion: criterion.study.criteria.count() + 1)


class SampleFactory(DjangoModelFactory):
    class Meta:
        model = models.Sample

    study = factory.SubFactory(StudyFactory)
    method = "all"
    frame_size = 10
    size = 10
    input_hash = "0" * 64


class ItemFactory(DjangoModelFactory):
    """The next item of a study: a dialogue or a pair, as the study's kind says."""

    class Meta:
        model = models.Item

    study = factory.SubFactory(StudyFactory)
    sample = factory.LazyAttribute(lambda item: item.study.samples.first() or SampleFactory(study=item.study))
    dialogue = factory.LazyAttribute(lambda item: DialogueFactory() if item.study.kind == "dialogue" else None)
    pair = factory.LazyAttribute(lambda item: ResponsePairFactory() if item.study.kind == "pair" else None)
    position = factory.LazyAttribute(lambda item: item.study.items.count() + 1)
    inclusion_probability = 1.0
    content_hash = factory.LazyAttribute(lambda item: (item.dialogue or item.pair).content_hash)


class AssignmentFactory(DjangoModelFactory):
    """An open slot; `leased=True`, `skipped=True` and `submitted=True` give it to an annotator."""

    class Meta:
        model = models.Assignment

    class Params:
        leased = factory.Trait(
            state=models.Assignment.State.LEASED,
            annotator=factory.SubFactory(UserFactory),
            started_at=factory.LazyFunction(timezone.now),
            leased_until=factory.LazyFunction(lambda: timezone.now() + timedelta(hours=1)),
        )
        skipped = factory.Trait(state=models.Assignment.State.SKIPPED, annotator=factory.SubFactory(UserFactory))
        submitted = factory.Trait(
            state=models.Assignment.State.SUBMITTED,
            annotator=factory.SubFactory(UserFactory),
            started_at=factory.LazyFunction(timezone.now),
            submitted_at=factory.LazyFunction(timezone.now),
        )

    item = factory.SubFactory(ItemFactory)
    study = factory.SelfAttribute("item.study")
    slot = factory.LazyAttribute(lambda assignment: assignment.item.assignments.count() + 1)
    rank = factory.SelfAttribute("item.position")
    order = factory.LazyAttribute(lambda assignment: "AB" if assignment.item.pair else "")


class AnnotationFactory(DjangoModelFactory):
    """A submitted answer to the first criterion of the assignment's study (made if there is none)."""

    class Meta:
        model = models.Annotation

    assignment = factory.SubFactory(AssignmentFactory, submitted=True)
    criterion = factory.LazyAttribute(
        lambda annotation: (
            annotation.assignment.study.criteria.first() or CriterionFactory(study=annotation.assignment.study)
        )
    )
    value = "1"


class BenchmarkFactory(InProjectFactory):
    """A draft without cases; `released=True` for one that does not change any more (make its cases first)."""

    class Meta:
        model = models.Benchmark

    class Params:
        released = factory.Trait(state="released", released_at=factory.LazyFunction(timezone.now))

    name = factory.Sequence(lambda n: f"Benchmark {n}")
    version = "1"
    slug = factory.Sequence(lambda n: f"benchmark-{n}-1")


class BenchmarkCaseFactory(DjangoModelFactory):
    """A hard case of nine votes whose gold is response 1."""

    class Meta:
        model = models.BenchmarkCase

    benchmark = factory.SubFactory(BenchmarkFactory)
    pair = factory.SubFactory(ResponsePairFactory)
    kind = "general"
    tier = "hard"
    gold = "1"
    votes_1 = 8
    votes_2 = 1
    votes_tie = 0
    kappa = 5 / 9
    content_hash = factory.SelfAttribute("pair.content_hash")


class JudgeFactory(InProjectFactory):
    class Meta:
        model = judging.Judge

    name = factory.Sequence(lambda n: f"judge{n}")
    provider = "baseline"


class JudgeRunFactory(DjangoModelFactory):
    """A run without parts, on all of the study's criteria unless `criteria=[…]` names some."""

    class Meta:
        model = judging.JudgeRun
        skip_postgeneration_save = True

    study = factory.SubFactory(StudyFactory)
    judge = factory.SubFactory(JudgeFactory)
    input_hash = "0" * 64
    code_version = "test"

    @factory.post_generation
    def criteria(self, create, extracted, **kwargs):
        if create:
            self.criteria.set(self.study.criteria.all() if extracted is None else extracted)


class JudgeChunkFactory(DjangoModelFactory):
    class Meta:
        model = judging.JudgeChunk

    run = factory.SubFactory(JudgeRunFactory)
    index = factory.LazyAttribute(lambda chunk: chunk.run.chunks.count())
    item_ids = factory.LazyAttribute(lambda chunk: list(chunk.run.study.items.values_list("pk", flat=True)))


class JudgmentFactory(DjangoModelFactory):
    """A verdict on an item of the run's study; `value="", unscored_reason="refusal"` for a reply without one."""

    class Meta:
        model = judging.Judgment

    run = factory.SubFactory(JudgeRunFactory)
    item = factory.LazyAttribute(lambda judgment: ItemFactory(study=judgment.run.study))
    criterion = factory.LazyAttribute(
        lambda judgment: judgment.run.study.criteria.first() or CriterionFactory(study=judgment.run.study)
    )
    order = factory.LazyAttribute(lambda judgment: "AB" if judgment.item.pair else "")
    value = "1"


class WorkerFactory(DjangoModelFactory):
    class Meta:
        model = judging.Worker

    name = factory.Sequence(lambda n: f"worker{n}")
    seen_at = factory.LazyFunction(timezone.now)


class AgentFactory(DjangoModelFactory):
    """A scripted speaker; `provider`, `model` and `parameters` make another."""

    class Meta:
        model = simulation.Agent

    provider = "scripted"
    model = factory.Sequence(lambda n: f"script{n}")
    settings_hash = factory.Sequence(lambda n: f"{n:064x}")


class ExperimentFactory(InProjectFactory):
    """An experiment without dialogues; `assistants=[…]` names who is under test."""

    class Meta:
        model = simulation.Experiment
        skip_postgeneration_save = True

    name = factory.Sequence(lambda n: f"Experiment {n}")
    user_agent = factory.SubFactory(AgentFactory)
    strategy = "vanilla"
    conditions = ["base"]
    single_turns = 20
    multi_turns = 30
    input_hash = "0" * 64
    code_version = "test"

    @factory.post_generation
    def assistants(self, create, extracted, **kwargs):
        if create:
            self.assistants.set(extracted or [AgentFactory()])


class SimulatedDialogueFactory(DjangoModelFactory):
    class Meta:
        model = simulation.SimulatedDialogue

    experiment = factory.SubFactory(ExperimentFactory)
    index = factory.LazyAttribute(lambda simulated: simulated.experiment.dialogues.count() + 1)
    scenario = factory.SubFactory(ScenarioFactory)
    assistant = factory.LazyAttribute(lambda simulated: simulated.experiment.assistants.first())
    condition = "base"


class TurnFactory(DjangoModelFactory):
    """The next turn of a dialogue."""

    class Meta:
        model = simulation.Turn

    simulated = factory.SubFactory(SimulatedDialogueFactory)
    number = factory.LazyAttribute(lambda turn: turn.simulated.turns.count() + 1)
    side = factory.LazyAttribute(lambda turn: "user" if turn.number % 2 else "assistant")
    text = factory.LazyAttribute(lambda turn: f"Something new: {turn.number}.")
