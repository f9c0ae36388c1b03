"""Addresses of `simulation` in the API, one a line."""

from django.urls import URLPattern, URLResolver, path

from simulation.experiments import api as experiments_api
from simulation.generation import api
from simulation.results import api as results_api

urlpatterns: list[URLPattern | URLResolver] = [
    path("experiments", experiments_api.ExperimentList.as_view(), name="api_experiments"),
    path("experiments/estimate", experiments_api.ExperimentEstimate.as_view(), name="api_experiment_estimate"),
    path("experiments/<experiment:pk>", experiments_api.ExperimentDetail.as_view(), name="api_experiment"),
    path(
        "experiments/<experiment:pk>/progress",
        experiments_api.ExperimentProgress.as_view(),
        name="api_experiment_progress",
    ),
    path("experiments/<experiment:pk>/stop", experiments_api.ExperimentStop.as_view(), name="api_experiment_stop"),
    path(
        "experiments/<experiment:pk>/resume", experiments_api.ExperimentResume.as_view(), name="api_experiment_resume"
    ),
    path(
        "experiments/<experiment:pk>/dialogues",
        experiments_api.ExperimentDialogues.as_view(),
        name="api_experiment_dialogues",
    ),
    path(
        "experiments/<experiment:pk>/dialogues/<within:index>",
        experiments_api.ExperimentDialogue.as_view(),
        name="api_simulated",
    ),
    path("experiments/<experiment:pk>/results", results_api.ExperimentResults.as_view(), name="api_experiment_results"),
    path("experiments/<experiment:pk>/ranks", results_api.ExperimentRanks.as_view(), name="api_experiment_ranks"),
    path(
        "experiments/<experiment:pk>/differences", results_api.ExperimentDifferences.as_view(), name="api_differences"
    ),
    path(
        "experiments/<experiment:pk>/people", experiments_api.ExperimentPeople.as_view(), name="api_experiment_people"
    ),
    path("experiments/<experiment:pk>/judge", experiments_api.ExperimentJudge.as_view(), name="api_experiment_judge"),
    path("making", api.MakingList.as_view(), name="api_making_list"),
    path("making/<making:pk>", api.MakingDetail.as_view(), name="api_making"),
    path("making/<making:pk>/again", api.MakingAgain.as_view(), name="api_making_again"),
    path("candidates", api.CandidateList.as_view(), name="api_candidates"),
    path("candidates/imports", api.CandidateImports.as_view(), name="api_candidate_imports"),
    path("candidates/pairs", api.CandidatePairs.as_view(), name="api_candidate_pairs"),
    path("candidates/runs", api.CandidateRuns.as_view(), name="api_candidate_runs"),
    path("candidates/seeds", api.SeedRuns.as_view(), name="api_candidate_seeds"),
    path("candidates/runs/<candidates:pk>", api.CandidateRunDetail.as_view(), name="api_candidate_run"),
    path("candidates/runs/<candidates:pk>/stop", api.CandidateRunStop.as_view(), name="api_candidate_stop"),
    path("candidates/runs/<candidates:pk>/resume", api.CandidateRunResume.as_view(), name="api_candidate_resume"),
    path("conflicts", api.ConflictList.as_view(), name="api_conflicts"),
    path("conflicts/<conflict:pk>/reviews", api.ConflictReviews.as_view(), name="api_conflict_reviews"),
    path("measures/profiles", results_api.ProfileMeasures.as_view(), name="api_profile_measures"),
    path("measures/dialogues", results_api.DialogueMeasures.as_view(), name="api_dialogue_measures"),
]
