"""One of everything in a project, whatever an address may name of it: the permission tests look at two of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from annotation import models
from annotation.corpus import services
from annotation.recruitment.services import enrolment
from annotation.workbench.assignment_names import to_name
from core.accounts.services import tokens
from judging import models as judging
from simulation import models as simulation
from tests.support import factories
from tests.support.media import png

CHILDREN = {"annotators", "participants"}


@dataclass
class World:
    """A project with its people, and what each part of an address is called in it."""

    project: models.Project
    people: dict[str, models.User]
    parts: dict[str, Any]
    """The address up to a part -> its value (see core/accounts/permissions.py)."""
    made: dict[str, Any]


def world(tag: str) -> World:
    """Everything has `tag` in its name, so that a page which tells of it is found out."""
    project = factories.ProjectFactory(name=f"Project {tag}", slug=f"project-{tag}")
    people = {"annotator": factories.UserFactory(username=f"rater-of-{tag}")}
    for role in ("owner", "researcher", "adjudicator"):
        user = factories.UserFactory(username=f"{role}-of-{tag}")
        models.User.objects.filter(pk=user.pk).update(is_researcher=role != "adjudicator")
        user.refresh_from_db()
        factories.MembershipFactory(project=project, user=user, role=role)
        people[role] = user
    owner, annotator = people["owner"], people["annotator"]

    study = factories.StudyFactory(
        project=project, kind="pair", name=f"Study {tag}", slug=f"study-{tag}", state="open", created_by=owner
    )
    criterion = factories.CriterionFactory(study=study, preference=True, key="preference", name="Preference")
    items = [factories.ItemFactory(study=study) for _ in range(3)]
    study.annotators.add(annotator)
    mine = factories.AssignmentFactory(item=items[0], leased=True, leased__annotator=annotator)
    models.Assignment.objects.filter(pk=mine.pk).update(annotator=annotator)
    rated = factories.AssignmentFactory(item=items[1], submitted=True)
    factories.AnnotationFactory(assignment=rated, criterion=criterion, value="1")
    second = factories.AssignmentFactory(item=items[1], submitted=True)
    factories.AnnotationFactory(assignment=second, criterion=criterion, value="2")
    late = models.Draft.objects.create(
        assignment=rated, annotator=annotator, state="late", late_reason="too late", saved_at=timezone.now(),
        content={"preference": "1"},
    )  # fmt: skip
    factories.ParticipationFactory(study=study, annotator=annotator)
    question = factories.DemographicQuestionFactory(study=study, key="age")
    invited = enrolment.create(by=owner, study=study)
    store = factories.StudyFactory(
        project=project, kind="pair", name=f"Study {tag}: known answers", slug=f"study-{tag}-known", known_for=study
    )
    known = models.KnownItem.objects.create(
        study=study, item=factories.ItemFactory(study=store), purpose="check", position=1, origin="a test"
    )
    models.KnownAnswer.objects.create(known=known, criterion=criterion, value="1")

    benchmark = factories.BenchmarkFactory(
        project=project, name=f"Benchmark {tag}", slug=f"benchmark-{tag}", study=study, created_by=owner
    )
    case = factories.BenchmarkCaseFactory(benchmark=benchmark)
    hook = models.Webhook.objects.create(
        project=project, url=f"https://{tag}.example/", events=["ping"], nonce=f"nonce-{tag}", created_by=owner
    )
    mapping = models.SavedMapping.objects.create(
        project=project, name=f"Mapping {tag}", document={"format": "openai"}, created_by=owner
    )

    judge = factories.JudgeFactory(project=project, name=f"Judge {tag}", created_by=owner)
    run = factories.JudgeRunFactory(study=study, judge=judge)
    judgment = factories.JudgmentFactory(run=run, item=items[1], criterion=criterion)
    asked = factories.StudyFactory(
        project=project, kind="pair", name=f"Evaluated {tag}", slug=f"evaluated-{tag}", state="closed"
    )
    preference = factories.CriterionFactory(study=asked, preference=True, key="preference")
    evaluation = judging.Evaluation.objects.create(
        benchmark=benchmark, number=1, study=asked, input_hash="0" * 64, code_version="test", created_by=owner
    )
    answering = factories.JudgeRunFactory(
        study=asked, judge=judge, evaluation=evaluation, kind="evaluation", setting={"shows": "none"},
    )  # fmt: skip
    answer = factories.JudgmentFactory(
        run=answering, item=factories.ItemFactory(study=asked, pair=case.pair), criterion=preference, value="2"
    )
    certificate = judging.Certificate.objects.create(
        study=study, judge=judge, content={"format": "another", "about": tag, "rules": {}}, sha256=f"{len(tag):064x}"
    )
    model_key = judging.ModelKey.objects.create(project=project, origin=f"https://{tag}.example", sealed="sealed")
    price = judging.Price.objects.create(
        provider="openai_compatible", model=f"priced-{len(tag)}", valid_from="2026-01-01", input=1, output=1
    )

    agent = factories.AgentFactory(model=f"agent-{len(tag)}")
    experiment = factories.ExperimentFactory(
        project=project, name=f"Experiment {tag}", user_agent=agent, created_by=owner
    )
    simulated = factories.SimulatedDialogueFactory(experiment=experiment)
    making = simulation.Making.objects.create(
        project=project, kind="check", agent=agent, asked={"source": f"source {tag}"}, created_by=owner,
        profile=factories.ProfileFactory(),
    )  # fmt: skip
    conflict = simulation.Conflict.objects.create(
        making=making, profile=making.profile, label=f"Conflict {tag}", explanation="-", fields=[]
    )
    ordered = simulation.CandidateRun.objects.create(
        project=project, name=f"Candidates {tag}", agent=agent, levels=["none"], created_by=owner
    )

    picture = services.store_attachment(png(len(tag)), name="a.png")
    token, _ = tokens.make(by=owner, name=f"token {tag}", scopes=["read"])
    of_study = "studies/<study:slug>"
    parts = {
        of_study: study.slug,
        f"{of_study}/annotators/<within:pk>": annotator.pk,
        f"{of_study}/annotators/<within_text:username>": annotator.username,
        f"{of_study}/participants/<within:pk>": annotator.pk,
        f"{of_study}/queue/known/<within:pk>": known.pk,
        f"{of_study}/known/<within:pk>": known.pk,
        f"{of_study}/invitations/<within:pk>": invited.invitation.pk,
        f"{of_study}/participants/<within_text:username>": annotator.username,
        f"{of_study}/adjudication/late/<within:pk>": late.pk,
        f"{of_study}/late/<within:pk>": late.pk,
        f"{of_study}/coming-in/invitations/<within:pk>": invited.invitation.pk,
        f"{of_study}/coming-in/questions/<within:pk>": question.pk,
        f"{of_study}/calibration/<judge:pk>": judge.pk,
        f"{of_study}/results/<judge:pk>": judge.pk,
        f"{of_study}/judges/<judge:pk>": judge.pk,
        "benchmarks/<benchmark:slug>": benchmark.slug,
        "benchmarks/<benchmark:slug>/cases/<within:pk>": case.pk,
        "projects/<project:slug>": project.slug,
        "projects/<project:slug>/members/<within:pk>": people["adjudicator"].pk,
        "projects/<project:slug>/members/<within_text:username>": people["adjudicator"].username,
        "projects/<project:slug>/keys/<within:pk>": model_key.pk,
        "webhooks/<webhook:pk>": hook.pk,
        "mappings/<mapping:pk>": mapping.pk,
        "material/mappings/<mapping:pk>": mapping.pk,
        "profiles/<library:pk>": items[0].pair.profile.pk,
        "tasks/<library:pk>": simulated.scenario.task.pk,
        "dialogues/<library:pk>": factories.DialogueFactory().pk,
        "pairs/<library:pk>": items[0].pair.pk,
        "people/<site:pk>": annotator.pk,
        "people/<within_text:username>": annotator.username,
        "tokens/<own_number:pk>": token.pk,
        "attachments/<own:sha256>": picture.sha256,
        "work/<own:slug>": study.slug,
        "work/items/<slot:pk>": to_name(mine.pk),
        "work/items/<own:name>": to_name(mine.pk),
        "join/<own_text:token>": invited.token,
        "register/<own:slug>": study.slug,
        "judges/<judge:pk>": judge.pk,
        "prices/<site:pk>": price.pk,
        "judgments/<judgment:pk>": judgment.pk,
        "runs/<run:pk>": run.pk,
        "evaluations/<evaluation:pk>": evaluation.pk,
        "evaluations/<evaluation:pk>/failures/<within:judgment>": answer.pk,
        "certificates/<certificate:sha256>": certificate.sha256,
        "experiments/<experiment:pk>": experiment.pk,
        "making/<making:pk>": making.pk,
        "candidates/<candidates:pk>": ordered.pk,
        "candidates/runs/<candidates:pk>": ordered.pk,
        "conflicts/<conflict:pk>": conflict.pk,
        # names within what stands before them
        "key": criterion.key,
        "position": items[1].position,
        "index": simulated.index,
        # words
        "part": "verdict",
        "plot": "coverage",
        "tool": "hf",
        "format": "json",
        "form": "json",
    }
    made = {"study": study, "judge": judge, "benchmark": benchmark, "run": run, "ordered": ordered, "items": items,
            "evaluation": evaluation, "criterion": criterion}  # fmt: skip
    return World(project, people, parts, made)
