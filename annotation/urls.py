"""Addresses of `annotation`, one a line."""

from django.urls import URLPattern, URLResolver, include, path

from annotation.agreement.views import gold
from annotation.benchmarks import views as benchmarks
from annotation.corpus import views as corpus_views
from annotation.quality.views import quality, queue
from annotation.studies.views import new_study, rubrics, studies
from annotation.workbench.assignment_names import AssignmentConverter
from annotation.workbench.views import attachments, item_actions, rating_api, review, work
from core.accounts import permissions, views
from core.accounts.permissions import AddressPart, RouteObject
from core.audit import views as audit_views

permissions.register(ways={}, parts={"slot": AddressPart(AssignmentConverter, RouteObject.OWN)})

urlpatterns: list[URLPattern | URLResolver] = [
    # work: asked for most often, and therefore found first
    path("attachments/<own:sha256>/", attachments.attachment, name="attachment"),
    path("work/", work.my_work, name="my_work"),
    path("work/<own:slug>/next/", work.next_item, name="next_item"),
    path("work/<own:slug>/qualification/", work.qualification, name="qualification"),
    path("work/items/<slot:pk>/answer/", work.show_training_answer, name="training_answer"),
    path("work/items/<slot:pk>/", work.assignment, name="assignment"),
    path("work/items/<slot:pk>/skip/", work.assignment_skip, name="assignment_skip"),
    path("work/items/<slot:pk>/flag/", item_actions.assignment_flag, name="assignment_flag"),
    path("work/items/<slot:pk>/later/", item_actions.assignment_later, name="assignment_later"),
    path("work/items/<slot:pk>/message/", item_actions.assignment_message, name="assignment_message"),
    path("work/items/<slot:pk>/decline/", item_actions.assignment_decline, name="assignment_decline"),
    path("work/<own:slug>/items/", item_actions.my_items, name="my_items"),
    path("work/<own:slug>/ahead/", rating_api.prefetch, name="next_ahead"),
    path("work/items/<slot:pk>/save/", rating_api.save, name="assignment_save"),
    path("work/items/<slot:pk>/draft/", rating_api.draft, name="assignment_draft"),
    path("work/items/<slot:pk>/put-back/", rating_api.put_back, name="assignment_put_back"),
    path("", include("annotation.recruitment.urls")),
    # material
    path("material/", corpus_views.dataset_list, name="material"),
    path("profiles/<library:pk>/", corpus_views.profile_detail, name="profile_detail"),
    path("tasks/<library:pk>/", corpus_views.task_detail, name="task_detail"),
    path("dialogues/<library:pk>/", corpus_views.dialogue_detail, name="dialogue_detail"),
    path("pairs/<library:pk>/", corpus_views.pair_detail, name="pair_detail"),
    path("search/", studies.search, name="search"),
    # studies
    path("studies/", studies.study_list, name="study_list"),
    path("studies/new/", new_study.study_create, name="study_create"),
    path("studies/<study:slug>/", studies.study_detail, name="study_detail"),
    path("studies/<study:slug>/sample/", studies.study_sample, name="study_sample"),
    path("studies/<study:slug>/open/", studies.study_open, name="study_open"),
    path("studies/<study:slug>/close/", studies.study_close, name="study_close"),
    path("studies/<study:slug>/clustering/", studies.study_clustering, name="study_clustering"),
    path("studies/<study:slug>/annotators/", studies.study_assign, name="study_assign"),
    path("studies/<study:slug>/annotators/<within:pk>/release/", studies.study_release, name="study_release"),
    path("studies/<study:slug>/guidelines/<within_key:key>/", rubrics.guideline, name="guideline"),
    path("studies/<study:slug>/rubric/", rubrics.rubric, name="rubric"),
    path("studies/<study:slug>/rubric/try/", rubrics.rubric_try, name="rubric_try"),
    path("studies/<study:slug>/rubric.<word:format>", rubrics.rubric_download, name="rubric_download"),
    path("studies/<study:slug>/queue/", queue.queue, name="queue"),
    path("studies/<study:slug>/queue/known/", queue.gold_question_add, name="known_add"),
    path("studies/<study:slug>/queue/known/many/", queue.gold_questions_add, name="known_from"),
    path("studies/<study:slug>/queue/known/<within:pk>/retire/", queue.gold_question_retire, name="known_retire"),
    path("studies/<study:slug>/annotators/<within:pk>/admission/", queue.admission, name="admission"),
    path("studies/<study:slug>/quality/", quality.quality, name="quality"),
    path("studies/<study:slug>/annotators/<within:pk>/exclusion/", quality.exclusion, name="exclusion"),
    path("studies/<study:slug>/checks.<word:format>", quality.checks_download, name="checks_download"),
    path("studies/<study:slug>/annotators.json", quality.quality_download, name="quality_download"),
    path("studies/<study:slug>/gold/", gold.gold, name="gold"),
    path("studies/<study:slug>/gold.<word:format>", gold.gold_download, name="gold_download"),
    path("studies/<study:slug>/adjudication/", review.adjudication, name="adjudication"),
    path("studies/<study:slug>/adjudication/late/<within:pk>/", review.late_answers, name="late_answers"),
    path("studies/<study:slug>/adjudication/<within_key:key>/<within:position>/", review.adjudicate, name="adjudicate"),
    path("studies/<study:slug>/messages/", item_actions.study_messages, name="study_messages"),
    path("studies/<study:slug>/items/<within:position>/answer/", item_actions.item_answer, name="item_answer"),
    path("studies/<study:slug>/filter/", benchmarks.filter_rounds, name="filter_rounds"),
    path("studies/<study:slug>/graded/", benchmarks.grades_page, name="graded"),
    path("studies/<study:slug>/graded.json", benchmarks.grades_download, name="graded_download"),
    # benchmarks
    path("benchmarks/", benchmarks.benchmark_list, name="benchmark_list"),
    path("benchmarks/new/", benchmarks.benchmark_create, name="benchmark_create"),
    path("benchmarks/<benchmark:slug>/", benchmarks.benchmark_detail, name="benchmark_detail"),
    path("benchmarks/<benchmark:slug>/cases/", benchmarks.benchmark_cases, name="benchmark_cases"),
    path("benchmarks/<benchmark:slug>/cases/<within:pk>/", benchmarks.benchmark_case, name="benchmark_case"),
    path("benchmarks/<benchmark:slug>/audit/", benchmarks.benchmark_audit, name="benchmark_audit"),
    path("benchmarks/<benchmark:slug>/audit.json", benchmarks.audit_download, name="benchmark_audit_download"),
    path("benchmarks/<benchmark:slug>/datasheet/", benchmarks.benchmark_datasheet, name="benchmark_datasheet"),
    path(
        "benchmarks/<benchmark:slug>/datasheet.<word:format>", benchmarks.datasheet_download, name="datasheet_download"
    ),
    path("benchmarks/<benchmark:slug>/release/", benchmarks.benchmark_release, name="benchmark_release"),
    path("benchmarks/<benchmark:slug>/release.zip", benchmarks.release_download, name="release_download"),
    # what was done
    path("acts/", audit_views.event_list, name="act_list"),
    path("acts.csv", audit_views.events_download, name="acts_download"),
    # projects
    path("projects/", views.project_list, name="project_list"),
    path("projects/<project:slug>/", views.project_detail, name="project_detail"),
    path("projects/<project:slug>/choose/", views.project_choose, name="project_choose"),
    path("projects/<project:slug>/members/", views.member_add, name="member_add"),
    path("projects/<project:slug>/members/<within:pk>/", views.member_change, name="member_change"),
    path("projects/<project:slug>/members/<within:pk>/remove/", views.member_remove, name="member_remove"),
    path("adjudication/", review.to_decide, name="to_decide"),
    # tokens
    path("tokens/", views.token_list, name="token_list"),
    path("tokens/<own_number:pk>/revoke/", views.token_revoke, name="token_revoke"),
]
