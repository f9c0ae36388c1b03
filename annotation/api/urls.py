"""Addresses of `annotation` in the API, one a line."""

from django.urls import URLPattern, URLResolver, path

from annotation.api import account, acts, benchmarks, coming_in, labels, material, queue, studies, webhooks, work

urlpatterns: list[URLPattern | URLResolver] = [
    # who is calling
    path("me", account.Me.as_view(), name="api_me"),
    path("tokens", account.TokenList.as_view(), name="api_tokens"),
    path("tokens/<int:pk>", account.TokenDetail.as_view(), name="api_token"),
    path("people", studies.PeopleList.as_view(), name="api_people"),
    path("acts", acts.ActList.as_view(), name="api_acts"),
    # benchmarks
    path("benchmarks", benchmarks.BenchmarkList.as_view(), name="api_benchmarks"),
    path("benchmarks/<slug:slug>", benchmarks.BenchmarkDetail.as_view(), name="api_benchmark"),
    path("benchmarks/<slug:slug>/cases", benchmarks.BenchmarkCases.as_view(), name="api_benchmark_cases"),
    path("benchmarks/<slug:slug>/audit", benchmarks.BenchmarkAuditApi.as_view(), name="api_benchmark_audit"),
    path("benchmarks/<slug:slug>/clean", benchmarks.BenchmarkClean.as_view(), name="api_benchmark_clean"),
    path("benchmarks/<slug:slug>/datasheet", benchmarks.BenchmarkDatasheet.as_view(), name="api_datasheet"),
    path("benchmarks/<slug:slug>/release", benchmarks.BenchmarkRelease.as_view(), name="api_benchmark_release"),
    path("benchmarks/<slug:slug>/release.zip", benchmarks.BenchmarkFolder.as_view(), name="api_benchmark_folder"),
    path("studies/<slug:slug>/filter-rounds", benchmarks.FilterRounds.as_view(), name="api_filter_rounds"),
    path("studies/<slug:slug>/graded", benchmarks.Graded.as_view(), name="api_graded"),
    # webhooks
    path("webhooks", webhooks.WebhookList.as_view(), name="api_webhooks"),
    path("webhooks/<int:pk>", webhooks.WebhookDetail.as_view(), name="api_webhook"),
    path("webhooks/<int:pk>/ping", webhooks.WebhookPing.as_view(), name="api_webhook_ping"),
    path("webhooks/<int:pk>/deliveries", webhooks.WebhookDeliveries.as_view(), name="api_webhook_deliveries"),
    # material
    path("material", material.MaterialStocks.as_view(), name="api_material"),
    path("profiles", material.ProfileList.as_view(), name="api_profiles"),
    path("profiles/<int:pk>", material.ProfileDetail.as_view(), name="api_profile"),
    path("tasks", material.TaskList.as_view(), name="api_tasks"),
    path("tasks/<int:pk>", material.TaskDetail.as_view(), name="api_task"),
    path("dialogues", material.DialogueList.as_view(), name="api_dialogues"),
    path("dialogues/<int:pk>", material.DialogueDetail.as_view(), name="api_dialogue"),
    path("pairs", material.PairList.as_view(), name="api_pairs"),
    path("pairs/<int:pk>", material.PairDetail.as_view(), name="api_pair"),
    path("search", material.Search.as_view(), name="api_search"),
    # studies
    path("criteria", studies.CriterionTemplates.as_view(), name="api_criteria"),
    path("studies", studies.StudyList.as_view(), name="api_studies"),
    path("studies/<slug:slug>", studies.StudyDetail.as_view(), name="api_study"),
    path("studies/<slug:slug>/criteria/<slug:key>", studies.StudyCriterion.as_view(), name="api_study_criterion"),
    path("studies/<slug:slug>/samples", studies.StudySamples.as_view(), name="api_study_samples"),
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
        labels.StudyReadmission.as_view(),
        name="api_readmission",
    ),
    path("studies/<slug:slug>/items", studies.StudyItems.as_view(), name="api_study_items"),
    path("studies/<slug:slug>/items/<int:position>", studies.StudyItem.as_view(), name="api_study_item"),
    # queue
    path("studies/<slug:slug>/queue", queue.StudyQueue.as_view(), name="api_queue"),
    path("studies/<slug:slug>/queue/changes", queue.QueueChanges.as_view(), name="api_queue_changes"),
    path("studies/<slug:slug>/known", queue.KnownItems.as_view(), name="api_known_items"),
    path("studies/<slug:slug>/known/decided", queue.DecidedKnownItems.as_view(), name="api_known_decided"),
    path("studies/<slug:slug>/known/<int:pk>", queue.KnownItemDetail.as_view(), name="api_known_item"),
    path("studies/<slug:slug>/admissions", queue.Admissions.as_view(), name="api_admissions"),
    # coming in
    path("studies/<slug:slug>/invitations", coming_in.Invitations.as_view(), name="api_invitations"),
    path("studies/<slug:slug>/invitations/<int:pk>", coming_in.InvitationDetail.as_view(), name="api_invitation"),
    path("studies/<slug:slug>/intake", coming_in.StudyIntake.as_view(), name="api_intake"),
    path("studies/<slug:slug>/participants", coming_in.Participants.as_view(), name="api_participants"),
    path(
        "studies/<slug:slug>/participants/<str:username>/withdraw",
        coming_in.ParticipantWithdrawal.as_view(),
        name="api_withdrawal",
    ),
    path("studies/<slug:slug>/questions", coming_in.Questions.as_view(), name="api_questions"),
    path("studies/<slug:slug>/questions/<slug:key>", coming_in.QuestionDetail.as_view(), name="api_question"),
    # labels
    path("studies/<slug:slug>/annotations", labels.StudyAnnotations.as_view(), name="api_study_annotations"),
    path("studies/<slug:slug>/exclusions", labels.StudyExclusions.as_view(), name="api_study_exclusions"),
    path("studies/<slug:slug>/quality", labels.StudyQuality.as_view(), name="api_study_quality"),
    path("studies/<slug:slug>/disputes", labels.StudyDisputes.as_view(), name="api_study_disputes"),
    path("studies/<slug:slug>/late", labels.StudyLate.as_view(), name="api_study_late"),
    path("studies/<slug:slug>/late/<int:pk>", labels.LateAnswers.as_view(), name="api_late_answers"),
    path("studies/<slug:slug>/gold", labels.StudyGold.as_view(), name="api_study_gold"),
    path(
        "studies/<slug:slug>/items/<int:position>/adjudications",
        labels.ItemAdjudications.as_view(),
        name="api_item_adjudications",
    ),
    path("studies/<slug:slug>/items/<int:position>/tier", labels.ItemTier.as_view(), name="api_item_tier"),
    # my work
    path("work", work.MyStudies.as_view(), name="api_work"),
    path("work/<slug:slug>/next", work.NextItem.as_view(), name="api_next"),
    path("work/items/<slug:name>", work.MyAssignment.as_view(), name="api_assignment"),
    path("work/items/<slug:name>/answers", work.MyAnswers.as_view(), name="api_answers"),
    path("work/items/<slug:name>/draft", work.MyDraft.as_view(), name="api_draft"),
    path("work/items/<slug:name>/skip", work.MySkip.as_view(), name="api_skip"),
    path("work/items/<slug:name>/put-back", work.MyPutBack.as_view(), name="api_put_back"),
]
