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
    path("tokens/<own_number:pk>", api.TokenDetail.as_view(), name="api_token"),
    path("people", studies.PeopleList.as_view(), name="api_people"),
    path("acts", audit_api.ActList.as_view(), name="api_acts"),
    # projects
    path("projects", api.ProjectList.as_view(), name="api_projects"),
    path("projects/<project:slug>", api.ProjectDetail.as_view(), name="api_project"),
    path("projects/<project:slug>/choose", api.ProjectChoice.as_view(), name="api_project_choose"),
    path("projects/<project:slug>/members", api.Members.as_view(), name="api_members"),
    path("projects/<project:slug>/members/<within_text:username>", api.MemberDetail.as_view(), name="api_member"),
    # benchmarks
    path("benchmarks", benchmarks_api.BenchmarkList.as_view(), name="api_benchmarks"),
    path("benchmarks/<benchmark:slug>", benchmarks_api.BenchmarkDetail.as_view(), name="api_benchmark"),
    path("benchmarks/<benchmark:slug>/cases", benchmarks_api.BenchmarkCases.as_view(), name="api_benchmark_cases"),
    path(
        "benchmarks/<benchmark:slug>/cases/<within:pk>",
        benchmarks_api.BenchmarkCaseDetail.as_view(),
        name="api_benchmark_case",
    ),
    path("benchmarks/<benchmark:slug>/audit", benchmarks_api.BenchmarkAuditApi.as_view(), name="api_benchmark_audit"),
    path("benchmarks/<benchmark:slug>/clean", benchmarks_api.BenchmarkClean.as_view(), name="api_benchmark_clean"),
    path("benchmarks/<benchmark:slug>/datasheet", benchmarks_api.BenchmarkDatasheet.as_view(), name="api_datasheet"),
    path(
        "benchmarks/<benchmark:slug>/release", benchmarks_api.BenchmarkRelease.as_view(), name="api_benchmark_release"
    ),
    path(
        "benchmarks/<benchmark:slug>/release.zip", benchmarks_api.BenchmarkFolder.as_view(), name="api_benchmark_folder"
    ),
    path("studies/<study:slug>/filter-rounds", benchmarks_api.FilterRounds.as_view(), name="api_filter_rounds"),
    path("studies/<study:slug>/graded", benchmarks_api.Graded.as_view(), name="api_graded"),
    # webhooks
    path("webhooks", webhooks.WebhookList.as_view(), name="api_webhooks"),
    path("webhooks/<webhook:pk>", webhooks.WebhookDetail.as_view(), name="api_webhook"),
    path("webhooks/<webhook:pk>/ping", webhooks.WebhookPing.as_view(), name="api_webhook_ping"),
    path("webhooks/<webhook:pk>/deliveries", webhooks.WebhookDeliveries.as_view(), name="api_webhook_deliveries"),
    # material
    path("material", corpus_api.MaterialStocks.as_view(), name="api_material"),
    path("profiles", corpus_api.ProfileList.as_view(), name="api_profiles"),
    path("profiles/<library:pk>", corpus_api.ProfileDetail.as_view(), name="api_profile"),
    path("tasks", corpus_api.TaskList.as_view(), name="api_tasks"),
    path("tasks/<library:pk>", corpus_api.TaskDetail.as_view(), name="api_task"),
    path("dialogues", corpus_api.DialogueList.as_view(), name="api_dialogues"),
    path("dialogues/<library:pk>", corpus_api.DialogueDetail.as_view(), name="api_dialogue"),
    path("pairs", corpus_api.PairList.as_view(), name="api_pairs"),
    path("pairs/<library:pk>", corpus_api.PairDetail.as_view(), name="api_pair"),
    path("search", corpus_api.Search.as_view(), name="api_search"),
    # studies
    path("criteria", studies.CriterionTemplates.as_view(), name="api_criteria"),
    path("rubrics", studies.RubricTemplates.as_view(), name="api_rubrics"),
    path("rubrics/check", studies.RubricCheck.as_view(), name="api_rubric_check"),
    path("studies/<study:slug>/rubric", studies.StudyRubric.as_view(), name="api_study_rubric"),
    path("studies", studies.StudyList.as_view(), name="api_studies"),
    path("studies/<study:slug>", studies.StudyDetail.as_view(), name="api_study"),
    path(
        "studies/<study:slug>/criteria/<within_key:key>", studies.StudyCriterion.as_view(), name="api_study_criterion"
    ),
    path(
        "studies/<study:slug>/criteria/<within_key:key>/versions",
        studies.CriterionVersions.as_view(),
        name="api_versions",
    ),
    path("studies/<study:slug>/samples", studies.StudySamples.as_view(), name="api_study_samples"),
    path("studies/<study:slug>/clustering", studies.StudyClustering.as_view(), name="api_study_clustering"),
    path("studies/<study:slug>/open", studies.StudyOpen.as_view(), name="api_study_open"),
    path("studies/<study:slug>/close", studies.StudyClose.as_view(), name="api_study_close"),
    path("studies/<study:slug>/progress", studies.StudyProgress.as_view(), name="api_study_progress"),
    path("studies/<study:slug>/annotators", studies.StudyAnnotators.as_view(), name="api_study_annotators"),
    path(
        "studies/<study:slug>/annotators/<within_text:username>/release",
        studies.StudyRelease.as_view(),
        name="api_study_release",
    ),
    path(
        "studies/<study:slug>/annotators/<within_text:username>/readmit",
        agreement_api.StudyReadmission.as_view(),
        name="api_readmission",
    ),
    path("studies/<study:slug>/items", studies.StudyItems.as_view(), name="api_study_items"),
    path("studies/<study:slug>/items/<within:position>", studies.StudyItem.as_view(), name="api_study_item"),
    path("studies/<study:slug>/messages", item_actions.StudyMessages.as_view(), name="api_study_messages"),
    path(
        "studies/<study:slug>/items/<within:position>/messages",
        item_actions.ItemMessages.as_view(),
        name="api_item_messages",
    ),
    # queue
    path("studies/<study:slug>/queue", quality_api.StudyQueue.as_view(), name="api_queue"),
    path("studies/<study:slug>/queue/changes", quality_api.QueueChanges.as_view(), name="api_queue_changes"),
    path("studies/<study:slug>/known", quality_api.KnownItems.as_view(), name="api_known_items"),
    path("studies/<study:slug>/known/decided", quality_api.DecidedKnownItems.as_view(), name="api_known_decided"),
    path("studies/<study:slug>/known/<within:pk>", quality_api.KnownItemDetail.as_view(), name="api_known_item"),
    path("studies/<study:slug>/admissions", quality_api.Admissions.as_view(), name="api_admissions"),
    # coming in
    path("studies/<study:slug>/invitations", recruitment_api.Invitations.as_view(), name="api_invitations"),
    path(
        "studies/<study:slug>/invitations/<within:pk>",
        recruitment_api.InvitationDetail.as_view(),
        name="api_invitation",
    ),
    path("studies/<study:slug>/intake", recruitment_api.StudyIntake.as_view(), name="api_intake"),
    path("studies/<study:slug>/participants", recruitment_api.Participants.as_view(), name="api_participants"),
    path(
        "studies/<study:slug>/participants/<within_text:username>/withdraw",
        recruitment_api.ParticipantWithdrawal.as_view(),
        name="api_withdrawal",
    ),
    path("studies/<study:slug>/questions", recruitment_api.Questions.as_view(), name="api_questions"),
    path(
        "studies/<study:slug>/questions/<within_key:key>", recruitment_api.QuestionDetail.as_view(), name="api_question"
    ),
    # labels
    path("studies/<study:slug>/annotations", agreement_api.StudyAnnotations.as_view(), name="api_study_annotations"),
    path("studies/<study:slug>/exclusions", agreement_api.StudyExclusions.as_view(), name="api_study_exclusions"),
    path("studies/<study:slug>/quality", agreement_api.StudyQuality.as_view(), name="api_study_quality"),
    path("studies/<study:slug>/checks", agreement_api.StudyChecks.as_view(), name="api_checks"),
    path("studies/<study:slug>/disputes", agreement_api.StudyDisputes.as_view(), name="api_study_disputes"),
    path("adjudication", adjudication.ToDecide.as_view(), name="api_to_decide"),
    path(
        "studies/<study:slug>/items/<within:position>/dispute", adjudication.ItemDispute.as_view(), name="api_dispute"
    ),
    path("studies/<study:slug>/late", agreement_api.StudyLate.as_view(), name="api_study_late"),
    path("studies/<study:slug>/late/<within:pk>", agreement_api.LateAnswers.as_view(), name="api_late_answers"),
    path("studies/<study:slug>/gold", agreement_api.StudyGold.as_view(), name="api_study_gold"),
    path(
        "studies/<study:slug>/items/<within:position>/adjudications",
        agreement_api.ItemAdjudications.as_view(),
        name="api_item_adjudications",
    ),
    path("studies/<study:slug>/items/<within:position>/tier", agreement_api.ItemTier.as_view(), name="api_item_tier"),
    # my work
    path("work", work.MyStudies.as_view(), name="api_work"),
    path("work/<own:slug>/next", work.NextItem.as_view(), name="api_next"),
    path("work/items/<own:name>", work.MyAssignment.as_view(), name="api_assignment"),
    path("work/items/<own:name>/answers", work.MyAnswers.as_view(), name="api_answers"),
    path("work/items/<own:name>/draft", work.MyDraft.as_view(), name="api_draft"),
    path("work/items/<own:name>/skip", work.MySkip.as_view(), name="api_skip"),
    path("work/items/<own:name>/put-back", work.MyPutBack.as_view(), name="api_put_back"),
    path("work/items/<own:name>/decline", item_actions.MyDecline.as_view(), name="api_decline"),
    path("work/items/<own:name>/marks", item_actions.MyMarks.as_view(), name="api_marks"),
    path("work/items/<own:name>/messages", item_actions.MyMessages.as_view(), name="api_my_messages"),
    path("work/<own:slug>/items", item_actions.MyItems.as_view(), name="api_my_items"),
]
