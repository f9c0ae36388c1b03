from django.urls import path

from config.pages import views
from core.accounts import views as accounts

urlpatterns = [
    path("", views.home, name="home"),
    path("gallery/", views.gallery, name="gallery"),
    path("account/", views.account, name="account"),
    path("language/", views.choose_language, name="language"),
    path("language/texts.js", views.load_script_texts, name="script_texts"),
    path("people/<site:pk>/erase/", views.person_erase, name="person_erase"),
    path("studies/<study:slug>/archive.zip", views.study_archive, name="study_archive"),
    path("system/", views.system, name="system"),
    path("first-account/<within_text:key>/", accounts.create_first_account, name="first_account"),
    path("healthz", views.health, name="health"),
    path("readyz", views.ready, name="ready"),
    path("metrics", views.metrics, name="metrics"),
]
