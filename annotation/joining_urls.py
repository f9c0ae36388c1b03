"""Addresses of coming into a study and leaving it, one a line."""

from django.urls import URLPattern, URLResolver, path

from annotation.views import incoming, joining, taking_part

urlpatterns: list[URLPattern | URLResolver] = [
    # the researcher's page of who comes in
    path("studies/<slug:slug>/coming-in/", incoming.coming_in, name="coming_in"),
    path("studies/<slug:slug>/coming-in/invitations/", incoming.invitation_create, name="invitation_create"),
    path(
        "studies/<slug:slug>/coming-in/invitations/<int:pk>/revoke/",
        incoming.invitation_revoke,
        name="invitation_revoke",
    ),
    path("studies/<slug:slug>/coming-in/consent/", incoming.consent_text, name="consent_text"),
    path("studies/<slug:slug>/coming-in/questions/", incoming.question_create, name="question_create"),
    path("studies/<slug:slug>/coming-in/questions/<int:pk>/remove/", incoming.question_remove, name="question_remove"),
    path("studies/<slug:slug>/coming-in/settings/", incoming.intake, name="intake"),
    path(
        "studies/<slug:slug>/participants.<slug:format>", incoming.participants_download, name="participants_download"
    ),
    path(
        "studies/<slug:slug>/participants/<int:pk>/withdraw/",
        incoming.participant_withdraw,
        name="participant_withdraw",
    ),
    # the way in
    path("join/<str:token>/", joining.join, name="join"),
    path("register/<slug:slug>/", joining.register, name="register"),
    # taking part
    path("work/<slug:slug>/consent/", taking_part.consent, name="consent"),
    path("work/<slug:slug>/about-me/", taking_part.about_me, name="about_me"),
    path("work/<slug:slug>/withdraw/", taking_part.withdraw, name="withdraw"),
]
