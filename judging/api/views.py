"""Labels and agreement, read-only. Who may ask is decided by the API's default permission: researchers."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.errors import InputError
from annotation.models import Study, User
from annotation.services.exports import as_json
from judging.services import agreement, exports
from judging.services.agreement import StudyRatings
from judging.services.comparison import VERDICTS, JudgedOptions


class LabelPagination(LimitOffsetPagination):
    """Larger pages than elsewhere: rows are short."""

    default_limit = 1000
    max_limit = 10_000


class StudyLabels(APIView):
    """All labels of a study, in the rows of the export."""

    def get(self, request: Request, slug: str) -> Response:
        study = get_object_or_404(Study, slug=slug)
        pages = LabelPagination()
        page: list[Any] = pages.paginate_queryset(exports.labels_of(study), request, view=self) or []  # type: ignore[arg-type]
        return pages.get_paginated_response([as_json(row) for row in page])


class StudyAgreement(APIView):
    """What `agreement --study NAME --json` prints; `?criterion=KEY` for one criterion, `?read=score` as `--read`."""

    def get(self, request: Request, slug: str) -> Response:
        study = get_object_or_404(Study, slug=slug)
        by = request.user if isinstance(request.user, User) else None
        try:
            options = JudgedOptions(reads=request.query_params.get("read", VERDICTS))
            ratings = StudyRatings.read(study, with_scores=options.with_scores)
            run = agreement.of_study(by=by, study=study, options=options, ratings=ratings)
            return Response(agreement.for_criterion(run.result, request.query_params.get("criterion")))
        except InputError as error:
            raise ValidationError({error.field or "detail": error.message}) from error
