"""Addresses of `judging` in the API, one a line."""

from django.urls import URLPattern, URLResolver, path

from judging.assessment.api import certificates, exports, plans, reading, results
from judging.evaluations import api as evaluations_api
from judging.runs.api import judges, mappings, runs

urlpatterns: list[URLPattern | URLResolver] = [
    # files (REST framework leaves addresses that end with a `format` out of its document)
    path("imports", exports.Imports.as_view(), name="api_imports"),
    path("imports/formats", exports.ImportFormats.as_view(), name="api_import_formats"),
    path("imports/guess", mappings.MappingGuess.as_view(), name="api_mapping_guess"),
    path("mappings", mappings.MappingList.as_view(), name="api_mappings"),
    path("mappings/<mapping:pk>", mappings.MappingDetail.as_view(), name="api_mapping"),
    path("studies/<study:slug>/labels.<word:form>", exports.StudyLabels.as_view(), name="api_study_labels"),
    # judges
    path("judges", judges.JudgeList.as_view(), name="api_judges"),
    path("judges/<judge:pk>", judges.JudgeDetail.as_view(), name="api_judge"),
    path("judges/<judge:pk>/limits", judges.JudgeLimits.as_view(), name="api_judge_limits"),
    path("judges/<judge:pk>/test", judges.JudgeTest.as_view(), name="api_judge_test"),
    path("projects/<project:slug>/keys", judges.KeyList.as_view(), name="api_keys"),
    path("projects/<project:slug>/keys/<within:pk>", judges.KeyDetail.as_view(), name="api_key"),
    path("prices", judges.PriceList.as_view(), name="api_prices"),
    path("prices/published", judges.PublishedPrices.as_view(), name="api_published_prices"),
    path("prices/<site:pk>", judges.PriceDetail.as_view(), name="api_price"),
    # evaluations of benchmarks
    path(
        "benchmarks/<benchmark:slug>/evaluations",
        evaluations_api.BenchmarkEvaluations.as_view(),
        name="api_of_benchmark",
    ),
    path("evaluations", evaluations_api.EvaluationList.as_view(), name="api_evaluations"),
    path("evaluations/<evaluation:pk>", evaluations_api.EvaluationDetail.as_view(), name="api_evaluation"),
    path("evaluations/<evaluation:pk>/runs", evaluations_api.EvaluationRuns.as_view(), name="api_evaluation_runs"),
    path(
        "evaluations/<evaluation:pk>/results",
        evaluations_api.EvaluationResults.as_view(),
        name="api_evaluation_results",
    ),
    path("evaluations/<evaluation:pk>/failures", evaluations_api.EvaluationFailures.as_view(), name="api_failures"),
    path("evaluations/<evaluation:pk>/tags", evaluations_api.EvaluationTags.as_view(), name="api_failure_counts"),
    path(
        "evaluations/<evaluation:pk>/failures/<within:judgment>/tags",
        evaluations_api.FailureTags.as_view(),
        name="api_failure_tags",
    ),
    # runs
    path("runs", runs.RunList.as_view(), name="api_runs"),
    path("runs/<run:pk>", runs.RunDetail.as_view(), name="api_run"),
    path("runs/<run:pk>/progress", runs.RunProgress.as_view(), name="api_run_progress"),
    path("runs/<run:pk>/stop", runs.RunStop.as_view(), name="api_run_stop"),
    path("runs/<run:pk>/resume", runs.RunResume.as_view(), name="api_run_resume"),
    path("runs/<run:pk>/ask-again", runs.RunAskAgain.as_view(), name="api_run_ask_again"),
    path("runs/<run:pk>/judgments", runs.RunJudgments.as_view(), name="api_run_judgments"),
    path("runs/<run:pk>/scores", runs.RunScores.as_view(), name="api_run_scores"),
    path("judgments/<judgment:pk>", runs.JudgmentDetail.as_view(), name="api_judgment"),
    path("judgments/<judgment:pk>/prompt", runs.JudgmentPrompt.as_view(), name="api_prompt"),
    path("studies/<study:slug>/runs", runs.StudyRuns.as_view(), name="api_study_runs"),
    path("studies/<study:slug>/runs/estimate", runs.StudyRunEstimate.as_view(), name="api_study_run_estimate"),
    path("studies/<study:slug>/panels", runs.StudyPanels.as_view(), name="api_study_panels"),
    path("studies/<study:slug>/probes", runs.StudyProbes.as_view(), name="api_study_probes"),
    # results
    path("studies/<study:slug>/agreement", results.StudyAgreement.as_view(), name="api_study_agreement"),
    path("studies/<study:slug>/tiers/predicted", results.StudyTiersPredicted.as_view(), name="api_tiers_predicted"),
    path("studies/<study:slug>/tiers", results.StudyTiers.as_view(), name="api_study_tiers"),
    path("studies/<study:slug>/tiers/more", plans.TiersMore.as_view(), name="api_tiers_more"),
    path("studies/<study:slug>/calibration", results.StudyCalibration.as_view(), name="api_study_calibration"),
    path("studies/<study:slug>/hold-out", results.StudyHoldOut.as_view(), name="api_study_hold_out"),
    path("studies/<study:slug>/report.<word:form>", results.StudyReport.as_view(), name="api_study_report"),
    path(
        "studies/<study:slug>/judges/<judge:pk>/calibration", results.JudgeCalibration.as_view(), name="api_calibration"
    ),
    path("studies/<study:slug>/judges/<judge:pk>/audit", results.JudgeAudit.as_view(), name="api_audit"),
    path("studies/<study:slug>/judges/<judge:pk>/compute", results.JudgeCompute.as_view(), name="api_compute"),
    path(
        "studies/<study:slug>/judges/<judge:pk>/certificates",
        certificates.JudgeCertificates.as_view(),
        name="api_certificates",
    ),
    path("studies/<study:slug>/judges/<judge:pk>/versions", results.JudgeVersions.as_view(), name="api_judge_versions"),
    path("studies/<study:slug>/judges/<judge:pk>/look", results.JudgeLook.as_view(), name="api_look"),
    path(
        "studies/<study:slug>/judges/<judge:pk>/escalations", results.JudgeEscalations.as_view(), name="api_escalations"
    ),
    path("studies/<study:slug>/judges/<judge:pk>/maps", results.JudgeMaps.as_view(), name="api_maps"),
    path("studies/<study:slug>/judges/<judge:pk>/plan", plans.JudgePlan.as_view(), name="api_plan"),
    path("studies/<study:slug>/cascade", plans.StudyCascade.as_view(), name="api_cascade"),
    path(
        "studies/<study:slug>/cascade/escalations", plans.CascadeEscalations.as_view(), name="api_cascade_escalations"
    ),
    path("studies/<study:slug>/progress/details", reading.StudyProgressDetails.as_view(), name="api_progress_details"),
    path("studies/<study:slug>/rated-items", reading.RatedItemList.as_view(), name="api_rated_items"),
    path(
        "studies/<study:slug>/items/<within:position>/judgments",
        reading.ItemJudgments.as_view(),
        name="api_item_judgments",
    ),
    path("studies/<study:slug>/against-majority", reading.AgainstMajority.as_view(), name="api_against_majority"),
    path(
        "studies/<study:slug>/judges/<judge:pk>/disagreements",
        reading.JudgeDisagreements.as_view(),
        name="api_disagreements",
    ),
    path("studies/<study:slug>/judges/<judge:pk>/differing", reading.JudgeDiffering.as_view(), name="api_differing"),
    path("studies/<study:slug>/judges/<judge:pk>/change", reading.JudgeChange.as_view(), name="api_change"),
    path(
        "studies/<study:slug>/judges/<judge:pk>/escalations/newest",
        reading.JudgeReturn.as_view(),
        name="api_newest_escalation",
    ),
    path("studies/<study:slug>/exports", reading.StudyExports.as_view(), name="api_exports"),
    path("studies/<study:slug>/exports/<word:tool>.zip", reading.StudyExport.as_view(), name="api_export"),
    path("studies/<study:slug>/rules", certificates.StudyRules.as_view(), name="api_study_rules"),
    path("certificates/verify", certificates.CertificateCheck.as_view(), name="api_certificate_check"),
    path("certificates/keys", certificates.SigningKeys.as_view(), name="api_signing_keys"),
    path("certificates/<certificate:sha256>", certificates.CertificateDetail.as_view(), name="api_certificate"),
    path(
        "certificates/<certificate:sha256>/revocation", certificates.RevocationCreate.as_view(), name="api_revocation"
    ),
]
