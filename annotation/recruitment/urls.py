"""Addresses of coming into a study and leaving it, one a line."""

from django.urls import URLPattern, URLResolver, path

from annotation.recruitment.views import join, recruitment

urlpatterns: list[URLPattern | URLResolver] = [
    # the researcher's page of who comes in
    path("studies/<slug:slug>/coming-in/", recruitment.recruitment, name="coming_in"),
    path("studies/<slug:slug>/coming-in/invitations/", recruitment.invitation_create, name="invitation_create"),
    path(
        "studies/<slug:slug>/coming-in/invitations/<int:pk>/revoke/",
        recruitment.invitation_revoke,
        name="invitation_revoke",
    ),
    path("studies/<slug:slug>/coming-in/consent/", recruitment.consent_text, name="consent_text"),
    path("studies/<slug:slug>/coming-in/questions/", recruitment.question_create, name="question_create"),
    path(
        "studies/<slug:slug>/coming-in/questions/<int:pk>/remove/", recruitment.question_remove, name="question_remove"
    ),
    path("studies/<slug:slug>/coming-in/settings/", recruitment.intake, name="intake"),
    path(
        "studies/<slug:slug>/participants.<slug:format>",
        recruitment.participants_download,
        name="participants_download",
    ),
    path(
        "studies/<slug:slug>/participants/<int:pk>/withdraw/",
        recruitment.participant_withdraw,
        name="participant_withdraw",
    ),
    # the way in
    path("join/<str:token>/", join.join, name="join"),
    path("register/<slug:slug>/", join.register, name="register"),
    # taking part
    path("work/<slug:slug>/consent/", join.consent, name="consent"),
    path("work/<slug:slug>/about-me/", join.answer_demographics, name="about_me"),
    path("work/<slug:slug>/withdraw/", join.withdraw, name="withdraw"),
]
