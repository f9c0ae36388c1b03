"""What more ratings would tell of items whose tier is unclear, and asking for them."""

from __future__ import annotations

from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.agreement.api import CriterionQuery
from annotation.agreement.services import more_ratings
from annotation.agreement.services.difficulty import parse_model_cuts
from annotation.stats.difficulty.more import AHEAD
from annotation.studies.api import serializers as shapes
from annotation.studies.queries import ratings
from annotation.workbench.services.overlap import ask_more
from core.api.base import Document, Given
from core.api.schema import says
from judging.assessment.api.results import ResultsApi
from judging.assessment.services.items import find_criterion


class MoreQuery(CriterionQuery):
    agreement_cuts = serializers.CharField(
        default="0.6,0.75,0.9", help_text="Probability that two people agree: ends of contested, hard and medium."
    )
    ahead = serializers.IntegerField(min_value=1, max_value=AHEAD, default=AHEAD)


class MoreOf(Given):
    positions = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**31 - 1), min_length=1, help_text="Of items."
    )


class TiersMore(ResultsApi):
    @says(
        "more_ratings",
        "What `plan --study NAME --settle-tiers --json` prints of one criterion",
        Document,
        query=MoreQuery,
    )
    def get(self, request: Request, slug: str) -> Response:
        study, asked = self.study(slug), self.parse_query(MoreQuery)
        criterion = find_criterion(study, asked["criterion"])
        if criterion is None:
            raise Http404
        people, cuts = ratings.load_criterion(criterion), parse_model_cuts(asked["agreement_cuts"])
        return Response(more_ratings.compute_criterion(study, people, cuts=cuts, ahead=asked["ahead"]))

    @says(
        "request_ratings",
        "Ask for one more rating of each of these items; of how many it is",
        shapes.Changed,
        body=MoreOf,
    )
    def post(self, request: Request, slug: str) -> Response:
        return Response({"n": ask_more(by=self.me, study=self.study(slug), **self.parse_body(MoreOf))})
