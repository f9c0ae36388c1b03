"""Addresses of `annotation`, one a line."""

from django.urls import URLPattern, URLResolver, path

from annotation.api import views as api
from annotation.views import gold, material, review, saving, search, studies, work

urlpatterns: list[URLPattern | URLResolver] = [
    # material
    path("material/", material.material, name="material"),
    path("profiles/<int:pk>/", material.profile_detail, name="profile_detail"),
    path("tasks/<int:pk>/", material.task_detail, name="task_detail"),
    path("dialogues/<int:pk>/", material.dialogue_detail, name="dialogue_detail"),
    path("pairs/<int:pk>/", material.pair_detail, name="pair_detail"),
    path("search/", search.search, name="search"),
    # studies
    path("studies/", studies.study_list, name="study_list"),
    path("studies/new/", studies.study_create, name="study_create"),
    path("studies/<slug:slug>/", studies.study_detail, name="study_detail"),
    path("studies/<slug:slug>/sample/", studies.study_sample, name="study_sample"),
    path("studies/<slug:slug>/open/", studies.study_open, name="study_open"),
    path("studies/<slug:slug>/close/", studies.study_close, name="study_close"),
    path("studies/<slug:slug>/annotators/", studies.study_assign, name="study_assign"),
    path("studies/<slug:slug>/annotators/<int:pk>/release/", studies.study_release, name="study_release"),
    path("studies/<slug:slug>/quality/", review.quality, name="quality"),
    path("studies/<slug:slug>/annotators/<int:pk>/exclusion/", review.exclusion, name="exclusion"),
    path("studies/<slug:slug>/annotators.json", review.quality_download, name="quality_download"),
    path("studies/<slug:slug>/gold/", gold.gold, name="gold"),
    path("studies/<slug:slug>/gold.<slug:format>", gold.gold_download, name="gold_download"),
    path("studies/<slug:slug>/adjudication/", review.adjudication, name="adjudication"),
    path("studies/<slug:slug>/adjudication/late/<int:pk>/", review.late_answers, name="late_answers"),
    path("studies/<slug:slug>/adjudication/<slug:key>/<int:position>/", review.adjudicate, name="adjudicate"),
    # work
    path("work/", work.my_work, name="my_work"),
    path("work/<slug:slug>/next/", work.next_item, name="next_item"),
    path("work/items/<int:pk>/", work.assignment, name="assignment"),
    path("work/items/<int:pk>/skip/", work.assignment_skip, name="assignment_skip"),
    path("work/<slug:slug>/ahead/", saving.ahead, name="next_ahead"),
    path("work/items/<int:pk>/save/", saving.save, name="assignment_save"),
    path("work/items/<int:pk>/draft/", saving.draft, name="assignment_draft"),
    path("work/items/<int:pk>/put-back/", saving.put_back, name="assignment_put_back"),
    # API
    path("api/studies/", api.StudyList.as_view(), name="api_studies"),
    path("api/studies/<slug:slug>/", api.StudyDetail.as_view(), name="api_study"),
    path("api/studies/<slug:slug>/items/", api.StudyItems.as_view(), name="api_study_items"),
]
