"""Addresses of `simulation`, one a line."""

from django.urls import URLPattern, URLResolver, path

from simulation.experiments import views as experiments_views
from simulation.generation import views
from simulation.results.views import measures, results

urlpatterns: list[URLPattern | URLResolver] = [
    path("making/", views.generation_list, name="making_list"),
    path("making/<making:pk>/", views.generation_detail, name="making_detail"),
    path("making/<making:pk>/again/", views.generation_retry, name="making_again"),
    path("candidates/", views.candidate_list, name="candidate_list"),
    path("candidates/new/", views.candidate_create, name="candidate_create"),
    path("candidates/seeds/", views.candidate_seeds, name="candidate_seeds"),
    path("candidates/import/", views.candidate_import, name="candidate_import"),
    path("candidates/pairs/", views.candidate_pairs, name="candidate_pairs"),
    path("candidates/<candidates:pk>/", views.candidate_run, name="candidate_run"),
    path("candidates/<candidates:pk>/progress/", views.candidate_progress, name="candidate_progress"),
    path("candidates/<candidates:pk>/stop/", views.candidate_stop, name="candidate_stop"),
    path("candidates/<candidates:pk>/again/", views.candidate_again, name="candidate_again"),
    path("conflicts/", views.conflict_list, name="conflict_list"),
    path("conflicts/<conflict:pk>/", views.conflict_decide, name="conflict_decide"),
    path("measures/", measures.dataset_measures, name="material_measures"),
    path("measures/compute/", measures.measures_compute, name="measures_compute"),
    path("measures.<word:format>", measures.measures_download, name="measures_download"),
    path("studies/<study:slug>/human-check/", measures.human_check, name="human_check"),
    path("experiments/", experiments_views.experiment_list, name="experiment_list"),
    path("experiments/new/", experiments_views.experiment_create, name="experiment_create"),
    path("experiments/<experiment:pk>/", experiments_views.experiment_detail, name="experiment_detail"),
    path("experiments/<experiment:pk>/progress/", experiments_views.experiment_progress, name="experiment_progress"),
    path("experiments/<experiment:pk>/stop/", experiments_views.experiment_stop, name="experiment_stop"),
    path("experiments/<experiment:pk>/resume/", experiments_views.experiment_resume, name="experiment_resume"),
    path(
        "experiments/<experiment:pk>/differences/",
        experiments_views.experiment_differences,
        name="experiment_differences",
    ),
    path("experiments/<experiment:pk>/ranks/", results.experiment_ranks, name="experiment_ranks"),
    path("experiments/<experiment:pk>/people/", experiments_views.experiment_people, name="experiment_people"),
    path("experiments/<experiment:pk>/judge/", experiments_views.experiment_judge, name="experiment_judge"),
    path(
        "experiments/<experiment:pk>/dialogues/<within:index>/",
        experiments_views.dialogue_detail,
        name="simulated_detail",
    ),
    path(
        "experiments/<experiment:pk>/dialogues/<within:index>/turns/",
        experiments_views.dialogue_turns,
        name="simulated_turns",
    ),
    path("experiments/<experiment:pk>/results/", results.experiment_results, name="experiment_results"),
    path(
        "experiments/<experiment:pk>/results/compute/",
        results.experiment_results_compute,
        name="experiment_results_compute",
    ),
    path("experiments/<experiment:pk>/results.<word:format>", results.results_download, name="results_download"),
]
