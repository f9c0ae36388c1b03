"""Names of figures and probes, for people."""

import pytest

from judging.assessment.agreement_figures import drop_codes, name_biases


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("biases found: central_tendency, self_preference", "biases found: central tendency, self-preference"),
        ("injection:note, subgroups:user_age", "injection (note), subgroups (user age)"),
        ("icc_2_1; mean_pairwise_cohen_kappa", "ICC(2,1); Mean Cohen’s kappa of pairs"),
        ("leniency", "leniency"),
        ("bob_smith and gwet_acid: listed as they are", "bob_smith and gwet_acid: listed as they are"),
    ],
)
def test_codes_become_words_and_names_of_people_stay(text, said):
    assert drop_codes(text) == said


@pytest.mark.parametrize(
    ("probes", "said"),
    [
        ({"length": True, "position": False, "central_tendency": True}, "length, central tendency"),
        ({"length": False, "position": None}, "none"),
        ({"length": None}, "not run"),
        ({}, "not run"),
    ],
)
def test_biases_in_words(probes, said):
    assert name_biases(probes) == said
