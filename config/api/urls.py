"""Version 1 of the API: what the apps offer, its document, and a page that reads it."""

from django.urls import include, path, re_path

from config.api import system, views
from core.accounts.api import Nothing

urlpatterns = [
    path("schema", views.Schema.as_view(), name="api_schema"),
    path("docs", views.docs, name="api_docs"),
    path("system", system.System.as_view(), name="api_system"),
    path("studies/<study:slug>/archive.zip", system.StudyArchive.as_view(), name="api_study_archive"),
    path("people/<within_text:username>/erase", system.Erasure.as_view(), name="api_erasure"),
    path("", include("annotation.api.urls")),
    path("", include("judging.api.urls")),
    path("", include("simulation.api.urls")),
    re_path("", Nothing.as_view()),
]
