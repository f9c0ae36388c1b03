from django.urls import path

from config.pages import archives, erasure, views

urlpatterns = [
    path("", views.home, name="home"),
    path("gallery/", views.gallery, name="gallery"),
    path("account/", views.account, name="account"),
    path("people/<int:pk>/erase/", erasure.person_erase, name="person_erase"),
    path("studies/<slug:slug>/archive.zip", archives.study_archive, name="study_archive"),
    path("system/", views.system, name="system"),
    path("healthz", views.health, name="health"),
    path("readyz", views.ready, name="ready"),
    path("metrics", views.metrics, name="metrics"),
]
