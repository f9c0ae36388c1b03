"""Where the scripts' texts are: `{% words_address language %}`."""

from urllib.parse import urlencode

from django.conf import settings
from django.template import Library
from django.urls import reverse

register = Library()


@register.simple_tag
def words_address(language: str) -> str:
    """The address of the texts of scripts in a language, which is another one after each change of them."""
    return f"{reverse('words')}?{urlencode({'language': language, 'version': settings.LOCALE_PATHS[0].name})}"
