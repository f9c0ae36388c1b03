"""Addresses of `judging`, one a line."""

from django.urls import URLPattern, URLResolver, path

from judging.api import views as api
from judging.views import (
    agreement,
    certificates,
    comparison,
    escalations,
    exports,
    imports,
    items,
    judges,
    judgments,
    panels,
    reports,
    runs,
    scores,
    tiers,
    trust,
)

urlpatterns: list[URLPattern | URLResolver] = [
    # imports
    path("material/import/", imports.import_upload, name="import_upload"),
    # judges and runs
    path("judges/", runs.judge_list, name="judge_list"),
    path("judges/new/", judges.judge_create, name="judge_create"),
    path("judges/<int:pk>/", judges.judge_detail, name="judge_detail"),
    path("judges/<int:pk>/limits/", judges.judge_limits, name="judge_limits"),
    path("judges/<int:pk>/delete/", judges.judge_delete, name="judge_delete"),
    path("prices/", judges.price_list, name="price_list"),
    path("prices/<int:pk>/remove/", judges.price_remove, name="price_remove"),
    path("judgments/<int:pk>/", judgments.judgment_detail, name="judgment_detail"),
    path("studies/<slug:slug>/judges/", runs.run_create, name="run_create"),
    path("studies/<slug:slug>/panels/", panels.panel_create, name="panel_create"),
    path("runs/<int:pk>/", runs.run_detail, name="run_detail"),
    path("runs/<int:pk>/scores/", scores.run_scores, name="run_scores"),
    path("runs/<int:pk>/scores.<slug:format>", scores.run_scores_download, name="run_scores_download"),
    path("runs/<int:pk>/progress/", runs.run_progress, name="run_progress"),
    path("runs/<int:pk>/stop/", runs.run_stop, name="run_stop"),
    path("runs/<int:pk>/resume/", runs.run_resume, name="run_resume"),
    # results
    path("studies/<slug:slug>/agreement/", agreement.agreement, name="agreement"),
    path("studies/<slug:slug>/agreement.<slug:format>", agreement.agreement_download, name="agreement_download"),
    path("studies/<slug:slug>/tiers/", tiers.tiers, name="tiers"),
    path("studies/<slug:slug>/tiers.<slug:format>", tiers.tiers_download, name="tiers_download"),
    path("studies/<slug:slug>/calibration/", comparison.calibration, name="calibration"),
    path("studies/<slug:slug>/calibration.<slug:format>", comparison.calibration_download, name="calibration_download"),
    path("studies/<slug:slug>/calibration/<int:pk>/", trust.judge_verdict, name="judge_verdict"),
    path("studies/<slug:slug>/calibration/<int:pk>/compute/", comparison.judge_assess, name="judge_assess"),
    path("studies/<slug:slug>/calibration/<int:pk>/escalate/", escalations.judge_escalate, name="judge_escalate"),
    path("studies/<slug:slug>/calibration/<int:pk>/hold-out/", escalations.study_hold_out, name="study_hold_out"),
    path("studies/<slug:slug>/calibration/<int:pk>/look/", escalations.judge_look, name="judge_look"),
    path("studies/<slug:slug>/calibration/<int:pk>/maps/", escalations.judge_recalibrate, name="judge_recalibrate"),
    path(
        "studies/<slug:slug>/calibration/<int:pk>/certificate/",
        certificates.certificate_issue,
        name="certificate_issue",
    ),
    path(
        "studies/<slug:slug>/calibration/<int:pk>/<slug:part>.<slug:format>",
        trust.judge_verdict_download,
        name="judge_verdict_download",
    ),
    path(
        "studies/<slug:slug>/calibration/<int:pk>/<slug:key>/<slug:plot>.<slug:format>",
        trust.judge_plot,
        name="judge_plot",
    ),
    path("studies/<slug:slug>/report/", reports.report, name="report"),
    path("studies/<slug:slug>/report.<slug:format>", reports.report_download, name="report_download"),
    path("certificates/<slug:sha256>/", certificates.certificate_detail, name="certificate_detail"),
    path("certificates/<slug:sha256>.json", certificates.certificate_download, name="certificate_download"),
    path("studies/<slug:slug>/items/", items.item_list, name="item_list"),
    path("studies/<slug:slug>/items/<int:position>/", items.item_detail, name="item_detail"),
    path("studies/<slug:slug>/labels.<slug:format>", exports.export, name="export"),
    # API
    path("api/studies/<slug:slug>/labels/", api.StudyLabels.as_view(), name="api_study_labels"),
    path("studies/<slug:slug>/items/<int:position>/tier/<slug:key>/", items.item_tier, name="item_tier"),
    path("api/studies/<slug:slug>/agreement/", api.StudyAgreement.as_view(), name="api_study_agreement"),
]
