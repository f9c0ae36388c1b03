"""What a researcher's pages change and show, the API does too; what it does not is listed here with the reason."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from django.urls import get_resolver

COUNTERPARTS = {
    "agreement_compute": "api_study_agreement",
    "benchmark_audit": "api_benchmark_audit",
    "benchmark_create": "api_benchmarks",
    "benchmark_release": "api_benchmark_release",
    "adjudicate": "api_item_adjudications",
    "admission": "api_admissions",
    "candidate_import": "api_candidate_imports",
    "candidate_again": "api_candidate_resume",
    "candidate_create": "api_candidate_runs",
    "candidate_pairs": "api_candidate_pairs",
    "candidate_seeds": "api_candidate_seeds",
    "candidate_stop": "api_candidate_stop",
    "cascade_escalate": "api_cascade_escalations",
    "certificate_issue": "api_certificates",
    "certificate_revoke": "api_revocation",
    "conflict_decide": "api_conflict_reviews",
    "consent_text": "api_intake",
    "evaluation_detail": "api_evaluation_runs",
    "evaluation_list": "api_of_benchmark",
    "exclusion": "api_study_exclusions",
    "experiment_create": "api_experiments",
    "experiment_judge": "api_experiment_judge",
    "experiment_people": "api_experiment_people",
    "experiment_results_compute": "api_experiment_results",
    "experiment_resume": "api_experiment_resume",
    "experiment_stop": "api_experiment_stop",
    "failure_tag": "api_failure_tags",
    "filter_rounds": "api_filter_rounds",
    "graded": "api_graded",
    "guideline": "api_study_criterion",
    "import_table": "api_imports",
    "import_upload": "api_imports",
    "intake": "api_intake",
    "invitation_create": "api_invitations",
    "invitation_revoke": "api_invitation",
    "item_tier": "api_item_tier",
    "judge_assess": "api_compute",
    "judge_create": "api_judges",
    "judge_delete": "api_judge",
    "judge_detail": "api_judge_test",
    "judge_escalate": "api_escalations",
    "judge_limits": "api_judge_limits",
    "judge_look": "api_look",
    "judge_plan_study": "api_plan",
    "judge_probes": "api_study_probes",
    "judge_recalibrate": "api_maps",
    "judge_version": "api_judge_versions",
    "key_add": "api_keys",
    "key_remove": "api_key",
    "item_answer": "api_item_messages",
    "known_add": "api_known_items",
    "known_from": "api_known_decided",
    "known_retire": "api_known_item",
    "late_answers": "api_late_answers",
    "making_again": "api_making_again",
    "making_list": "api_making_list",
    "measures_compute": "api_profile_measures",  # and api_dialogue_measures
    "mapping_delete": "api_mapping",
    "member_add": "api_members",
    "member_change": "api_member",
    "member_remove": "api_member",
    "panel_create": "api_study_panels",
    "participant_withdraw": "api_withdrawal",
    "price_list": "api_prices",
    "price_remove": "api_price",
    "project_choose": "api_project_choose",
    "project_list": "api_projects",
    "question_create": "api_questions",
    "question_remove": "api_question",
    "queue": "api_queue",
    "rubric": "api_study_rubric",
    "run_ask_again": "api_run_ask_again",
    "run_create": "api_study_runs",
    "run_resume": "api_run_resume",
    "run_stop": "api_run_stop",
    "study_assign": "api_study_annotators",
    "study_close": "api_study_close",
    "study_clustering": "api_study_clustering",
    "study_create": "api_studies",
    "study_hold_out": "api_study_hold_out",
    "study_open": "api_study_open",
    "study_release": "api_study_release",
    "study_rules": "api_study_rules",
    "study_sample": "api_study_samples",
    "tiers_ask_more": "api_tiers_more",
    "tiers_compute": "api_study_tiers",
}
"""Page -> address of the API that writes the same."""

WITHOUT: dict[str, str] = {"rubric_try": "stores nothing: answers are checked, and shown as they would be stored"}
"""Pages that change something which the API does not, with the reason."""


READS = {
    "act_list": "api_acts",
    "acts_download": "api_acts",
    "adjudicate": "api_dispute",
    "adjudication": "api_study_disputes",
    "against_majority": "api_against_majority",
    "agreement": "api_study_agreement",
    "agreement_download": "api_study_agreement",
    "benchmark_audit": "api_benchmark_audit",
    "benchmark_audit_download": "api_benchmark_audit",
    "benchmark_case": "api_benchmark_case",
    "benchmark_cases": "api_benchmark_cases",
    "benchmark_datasheet": "api_datasheet",
    "benchmark_detail": "api_benchmark",
    "benchmark_list": "api_benchmarks",
    "benchmark_release": "api_benchmark",
    "calibration": "api_study_calibration",
    "calibration_download": "api_study_calibration",
    "old_agreement": "api_study_agreement",
    "old_calibration": "api_study_calibration",
    "old_judge_verdict": "api_audit",
    "results": "api_study_calibration",  # and api_study_agreement
    "candidate_list": "api_candidates",
    "candidate_progress": "api_candidate_run",
    "candidate_run": "api_candidate_run",
    "certificate_detail": "api_certificate",
    "certificate_download": "api_certificate",
    "checks_download": "api_checks",
    "coming_in": "api_intake",
    "conflict_list": "api_conflicts",
    "datasheet_download": "api_datasheet",
    "dialogue_detail": "api_dialogue",
    "evaluation_detail": "api_evaluation",
    "evaluation_download": "api_evaluation_results",
    "evaluation_failures": "api_failures",
    "evaluation_index": "api_evaluations",
    "evaluation_list": "api_of_benchmark",
    "evaluation_progress": "api_evaluation_runs",
    "evaluation_results": "api_evaluation_results",
    "experiment_detail": "api_experiment",
    "experiment_list": "api_experiments",
    "experiment_progress": "api_experiment_progress",
    "experiment_differences": "api_differences",
    "experiment_ranks": "api_experiment_ranks",
    "experiment_results": "api_experiment_results",
    "export": "api_study_labels",
    "export_for": "api_export",
    "filter_rounds": "api_filter_rounds",
    "gold": "api_study_gold",
    "gold_download": "api_study_gold",
    "graded": "api_graded",
    "graded_download": "api_graded",
    "guideline": "api_versions",
    "item_detail": "api_item_judgments",  # and of people api_study_annotations, of tiers api_item_tier
    "item_list": "api_rated_items",
    "judge_detail": "api_judge_limits",  # and api_judge
    "judge_disagreement": "api_disagreements",  # leads to the item
    "judge_improve": "api_change",  # and api_disagreements
    "judge_list": "api_judges",
    "judge_plan": "api_plan",
    "judge_probes": "api_study_probes",
    "criterion_verdict": "api_audit",  # and api_calibration
    "judge_verdict": "api_audit",  # and api_calibration, api_certificates, api_newest_escalation, api_study_hold_out
    "judge_verdict_download": "api_audit",
    "judgment_detail": "api_prompt",  # and api_judgment
    "making_detail": "api_making",
    "key_list": "api_keys",
    "making_list": "api_making_list",
    "material": "api_material",
    "human_check": "api_study_agreement",
    "material_measures": "api_profile_measures",
    "measures_download": "api_dialogue_measures",
    "pair_detail": "api_pair",
    "participants_download": "api_participants",
    "price_list": "api_published_prices",  # and api_prices
    "profile_detail": "api_profile",
    "progress": "api_progress_details",
    "progress_download": "api_progress_details",
    "project_detail": "api_members",
    "project_list": "api_projects",
    "quality": "api_study_quality",
    "quality_download": "api_study_quality",
    "queue": "api_queue",
    "release_download": "api_benchmark_folder",
    "report": "api_study_report",
    "report_download": "api_study_report",
    "results_download": "api_experiment_results",
    "rubric": "api_study_rubric",
    "rubric_download": "api_study_rubric",
    "run_detail": "api_run",
    "run_progress": "api_run_progress",
    "run_scores": "api_run_scores",
    "run_scores_download": "api_run_scores",
    "search": "api_search",
    "simulated_detail": "api_simulated",
    "simulated_turns": "api_simulated",
    "study_archive": "api_study_archive",
    "study_detail": "api_study",
    "study_files": "api_exports",
    "study_list": "api_studies",
    "study_messages": "api_study_messages",
    "study_rules": "api_study_rules",
    "study_sample": "api_study_samples",
    "system": "api_system",
    "task_detail": "api_task",
    "tiers": "api_study_tiers",
    "tiers_download": "api_study_tiers",
    "tiers_predicted": "api_tiers_predicted",
    "tiers_predicted_download": "api_tiers_predicted",
    "to_decide": "api_to_decide",
}
"""Page -> address of the API that reads what it shows."""

A_FORM = "a form: the OpenAPI document says what its address takes"
A_PLOT = "drawn from a document that the API gives"
NOT_READ = {
    "benchmark_create": A_FORM,
    "candidate_create": A_FORM,
    "candidate_import": A_FORM,
    "candidate_pairs": A_FORM,
    "candidate_seeds": A_FORM,
    "experiment_create": A_FORM,
    "import_mapping": "api_mapping_guess",
    "import_table": A_FORM,
    "gallery": "components in every state, with made-up content",
    "import_upload": A_FORM,
    "mapping_download": "api_mapping",
    "judge_create": A_FORM,
    "judge_plot": A_PLOT,
    "panel_create": A_FORM,
    "participant_withdraw": "asks whether one means it",
    "progress_plot": A_PLOT,
    "rubric_try": "a try-out of the rating page, on one item",
    "run_create": A_FORM,
    "study_create": A_FORM,
}
"""Pages that show something which no address of the API reads, with the reason."""


def views(patterns: Any, before: str = "") -> Iterator[tuple[str, str, Any]]:
    for one in patterns:
        route = before + str(one.pattern)
        if hasattr(one, "url_patterns"):
            yield from views(one.url_patterns, route)
        else:
            yield one.name or "", route, one.callback


DOORS = ("researcher", "adjudicator", "owner")
ALL = list(views(get_resolver().url_patterns))


def writing_pages() -> set[str]:
    """Pages for researchers, adjudicators and owners that take a POST."""
    pages = {name: view for name, _, view in ALL if getattr(view, "access", "") in DOORS}
    return {name for name, view in pages.items() if "POST" in inspect.getsource(inspect.unwrap(view))}


def reading_pages() -> set[str]:
    """Pages for researchers, adjudicators and owners that take a GET."""
    pages = {name: view for name, _, view in ALL if getattr(view, "access", "") in DOORS}
    return {name for name, view in pages.items() if "@require_POST" not in inspect.getsource(inspect.unwrap(view))}


def reading_addresses() -> set[str]:
    return {name for name, _, view in ALL if name.startswith("api_") and hasattr(getattr(view, "cls", None), "get")}


def writing_addresses() -> set[str]:
    methods = ("post", "put", "patch", "delete")
    return {name for name, _, view in ALL if any(hasattr(getattr(view, "cls", None), one) for one in methods)}


def test_every_page_that_changes_something_has_an_address_of_the_api_or_a_reason():
    pages = writing_pages()
    assert len(pages) > 50
    assert pages == {*COUNTERPARTS, *WITHOUT}
    assert not {*COUNTERPARTS} & {*WITHOUT}


def test_what_stands_for_a_page_is_there_and_writes():
    assert set(COUNTERPARTS.values()) - writing_addresses() == set()


def test_every_page_that_shows_something_has_an_address_of_the_api_or_a_reason():
    pages = reading_pages()
    assert len(pages) > 90
    assert pages == {*READS, *NOT_READ}
    assert not {*READS} & {*NOT_READ}


def test_what_stands_for_a_page_is_there_and_reads():
    assert set(READS.values()) - reading_addresses() == set()
