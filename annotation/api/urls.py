"""Addresses of `annotation` in the API, one a line."""

from django.urls import URLPattern, URLResolver, path

from annotation.agreement import api as agreement_api
from annotation.benchmarks import api as benchmarks_api
from annotation.corpus import api as corpus_api
from annotation.quality import api as quality_api
from annotation.recruitment import api as recruitment_api
from annotation.studies.api import studies, webhooks
from annotation.workbench.api import adjudication, item_actions, work
from core.accounts import api
from core.audit import api as audit_api

urlpatterns: list[URLPattern | URLResolver] = [
    # who is calling
    path("me", api.Me.as_view(), name="api_me"),
    path("tokens", api.TokenList.as_view(), name="api_tokens"),
    path("tokens/<int:pk>", api.TokenDetail.as_view(), name="api_token"),
    path("people", studies.PeopleList.as_view(), name="api_people"),
    path("acts", audit_api.ActList.as_view(), name="api_acts"),
    # projects
    path("projects", api.ProjectList.as_view(), name="api_projects"),
    path("projects/<slug:slug>", api.ProjectDetail.as_view(), name="api_project"),
    path("projects/<slug:slug>/choose", api.ProjectChoice.as_view(), name="api_project_choose"),
    path("projects/<slug:slug>/members", api.Members.as_view(), name="api_members"),
    path("projects/<slug:slug>/members/<str:username>", api.MemberDetail.as_view(), name="api_member"),
    # benchmarks
    path("benchmarks", benchmarks_api.BenchmarkList.as_view(), name="api_benchmarks"),
    path("benchmarks/<slug:slug>", benchmarks_api.BenchmarkDetail.as_view(), name="api_benchmark"),
    path("benchmarks/<slug:slug>/cases", benchmarks_api.BenchmarkCases.as_view(), name="api_benchmark_cases"),
    path(
        "benchmarks/<slug:slug>/cases/<int:pk>", benchmarks_api.BenchmarkCaseDetail.as_view(), name="api_benchmark_case"
    ),
    path("benchmarks/<slug:slug>/audit", benchmarks_api.BenchmarkAuditApi.as_view(), name="api_benchmark_audit"),
    path("benchmarks/<slug:slug>/clean", benchmarks_api.BenchmarkClean.as_view(), name="api_benchmark_clean"),
    path("benchmarks/<slug:slug>/datasheet", benchmarks_api.BenchmarkDatasheet.as_view(), name="api_datasheet"),
    path("benchmarks/<slug:slug>/release", benchmarks_api.BenchmarkRelease.as_view(), name="api_benchmark_release"),
    path("benchmarks/<slug:slug>/release.zip", benchmarks_api.BenchmarkFolder.as_view(), name="api_benchmark_folder"),
    path("studies/<slug:slug>/filter-rounds", benchmarks_api.FilterRounds.as_view(), name="api_filter_rounds"),
    path("studies/<slug:slug>/graded", benchmarks_api.Graded.as_view(), name="api_graded"),
    # webhooks
    path("webhooks", webhooks.WebhookList.as_view(), name="api_webhooks"),
    path("webhooks/<int:pk>", webhooks.WebhookDetail.as_view(), name="api_webhook"),
    path("webhooks/<int:pk>/ping", webhooks.WebhookPing.as_view(), name="api_webhook_ping"),
    path("webhooks/<int:pk>/deliveries", webhooks.WebhookDeliveries.as_view(), name="api_webhook_deliveries"),
    # material
    path("material", corpus_api.MaterialStocks.as_view(), name="api_material"),
    path("profiles", corpus_api.ProfileList.as_view(), name="api_profiles"),
    path("profiles/<int:pk>", corpus_api.ProfileDetail.as_view(), name="api_profile"),
    path("tasks", corpus_api.TaskList.as_view(), name="api_tasks"),
    path("tasks/<int:pk>", corpus_api.TaskDetail.as_view(), name="api_task"),
    path("dialogues", corpus_api.DialogueList.as_view(), name="api_dialogues"),
    path("dialogues/<int:pk>", corpus_api.DialogueDetail.as_view(), name="api_dialogue"),
    path("pairs", corpus_api.PairList.as_view(), name="api_pairs"),
    path("pairs/<int:pk>", corpus_api.PairDetail.as_view(), name="api_pair"),
    path("search", corpus_api.Search.as_view(), name="api_search"),
    # studies
    path("criteria", studies.CriterionTemplates.as_view(), name="api_criteria"),
    path("rubrics", studies.RubricTemplates.as_view(), name="api_rubrics"),
    path("rubrics/check", studies.RubricCheck.as_view(), name="api_rubric_check"),
    path("studies/<slug:slug>/rubric", studies.StudyRubric.as_view(), name="api_study_rubric"),
    path("studies", studies.StudyList.as_view(), name="api_studies"),
    path("studies/<slug:slug>", studies.StudyDetail.as_view(), name="api_study"),
    path("studies/<slug:slug>/criteria/<slug:key>", studies.StudyCriterion.as_view(), name="api_study_criterion"),
    path("studies/<slug:slug>/criteria/<slug:key>/versions", studies.CriterionVersions.as_view(), name="api_versions"),
    path("studies/<slug:slug>/samples", studies.StudySamples.as_view(), name="api_study_samples"),
    path("studies/<slug:slug>/clustering", studies.StudyClustering.as_view(), name="api_study_clustering"),
    path("studies/<slug:slug>/open", studies.StudyOpen.as_view(), name="api_study_open"),
    path("studies/<slug:slug>/close", studies.StudyClose.as_view(), name="api_study_close"),
    path("studies/<slug:slug>/progress", studies.StudyProgress.as_view(), name="api_study_progress"),
    path("studies/<slug:slug>/annotators", studies.StudyAnnotators.as_view(), name="api_study_annotators"),
    path(
        "studies/<slug:slug>/annotators/<str:username>/release",
        studies.StudyRelease.as_view(),
        name="api_study_release",
    ),
    path(
        "studies/<slug:slug>/annotators/<str:username>/readmit",
        agreement_api.StudyReadmission.as_view(),
        name="api_readmission",
    ),
    path("studies/<slug:slug>/items", studies.StudyItems.as_view(), name="api_study_items"),
    path("studies/<slug:slug>/items/<int:position>", studies.StudyItem.as_view(), name="api_study_item"),
    path("studies/<slug:slug>/messages", item_actions.StudyMessages.as_view(), name="api_study_messages"),
    path(
        "studies/<slug:slug>/items/<int:position>/messages",
        item_actions.ItemMessages.as_view(),
        name="api_item_messages",
    ),
    # queue
    path("studies/<slug:slug>/queue", quality_api.StudyQueue.as_view(), name="api_queue"),
    path("studies/<slug:slug>/queue/changes", quality_api.QueueChanges.as_view(), name="api_queue_changes"),
    path("studies/<slug:slug>/known", quality_api.KnownItems.as_view(), name="api_known_items"),
    path("studies/<slug:slug>/known/decided", quality_api.DecidedKnownItems.as_view(), name="api_known_decided"),
    path("studies/<slug:slug>/known/<int:pk>", quality_api.KnownItemDetail.as_view(), name="api_known_item"),
    path("studies/<slug:slug>/admissions", quality_api.Admissions.as_view(), name="api_admissions"),
    # coming in
    path("studies/<slug:slug>/invitations", recruitment_api.Invitations.as_view(), name="api_invitations"),
    path("studies/<slug:slug>/invitations/<int:pk>", recruitment_api.InvitationDetail.as_view(), name="api_invitation"),
    path("studies/<slug:slug>/intake", recruitment_api.StudyIntake.as_view(), name="api_intake"),
    path("studies/<slug:slug>/participants", recruitment_api.Participants.as_view(), name="api_participants"),
    path(
        "studies/<slug:slug>/participants/<str:username>/withdraw",
        recruitment_api.ParticipantWithdrawal.as_view(),
        name="api_withdrawal",
    ),
    path("studies/<slug:slug>/questions", recruitment_api.Questions.as_view(), name="api_questions"),
    path("studies/<slug:slug>/questions/<slug:key>", recruitment_api.QuestionDetail.as_view(), name="api_question"),
    # labels
    path("studies/<slug:slug>/annotations", agreement_api.StudyAnnotations.as_view(), name="api_study_annotations"),
    path("studies/<slug:slug>/exclusions", agreement_api.StudyExclusions.as_view(), name="api_study_exclusions"),
    path("studies/<slug:slug>/quality", agreement_api.StudyQuality.as_view(), name="api_study_quality"),
    path("studies/<slug:slug>/checks", agreement_api.StudyChecks.as_view(), name="api_checks"),
    path("studies/<slug:slug>/disputes", agreement_api.StudyDisputes.as_view(), name="api_study_disputes"),
    path("adjudication", adjudication.ToDecide.as_view(), name="api_to_decide"),
    path("studies/<slug:slug>/items/<int:position>/dispute", adjudication.ItemDispute.as_view(), name="api_dispute"),
    path("studies/<slug:slug>/late", agreement_api.StudyLate.as_view(), name="api_study_late"),
    path("studies/<slug:slug>/late/<int:pk>", agreement_api.LateAnswers.as_view(), name="api_late_answers"),
    path("studies/<slug:slug>/gold", agreement_api.StudyGold.as_view(), name="api_study_gold"),
    path(
        "studies/<slug:slug>/items/<int:position>/adjudications",
        agreement_api.ItemAdjudications.as_view(),
        name="api_item_adjudications",
    ),
    path("studies/<slug:slug>/items/<int:position>/tier", agreement_api.ItemTier.as_view(), name="api_item_tier"),
    # my work
    path("work", work.MyStudies.as_view(), name="api_work"),
    path("work/<slug:slug>/next", work.NextItem.as_view(), name="api_next"),
    path("work/items/<slug:name>", work.MyAssignment.as_view(), name="api_assignment"),
    path("work/items/<slug:name>/answers", work.MyAnswers.as_view(), name="api_answers"),
    path("work/items/<slug:name>/draft", work.MyDraft.as_view(), name="api_draft"),
    path("work/items/<slug:name>/skip", work.MySkip.as_view(), name="api_skip"),
    path("work/items/<slug:name>/put-back", work.MyPutBack.as_view(), name="api_put_back"),
    path("work/items/<slug:name>/decline", item_actions.MyDecline.as_view(), name="api_decline"),
    path("work/items/<slug:name>/marks", item_actions.MyMarks.as_view(), name="api_marks"),
    path("work/items/<slug:name>/messages", item_actions.MyMessages.as_view(), name="api_my_messages"),
    path("work/<slug:slug>/items", item_actions.MyItems.as_view(), name="api_my_items"),
]
